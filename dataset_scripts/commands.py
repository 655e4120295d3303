"""Commands on corpora: what there is, and building one for training and for the Hub.

opinion corpus list
opinion corpus build kialo ~/kialo-exports -o data/kialo
"""

import sys
from collections.abc import Iterable, Mapping
from pathlib import Path
from typing import Annotated, Any

import typer

# `datasets` takes seconds to import, so whatever needs it is imported where a build has begun
from dataset_scripts.base import cli
from dataset_scripts.base.metadata import Metadata, get_corpus, list_corpora, load_metadata
from dataset_scripts.base.splits import SEED
from dataset_scripts.base.tables import markdown_rows


class Corpora(cli.Group):
    """One command for each corpus, with the options of its record."""

    def list_commands(self, ctx: typer.Context) -> list[str]:
        return list_corpora()

    def get_command(self, ctx: typer.Context, name: str) -> Any:
        name = name.replace("-", "_")
        return _command(load_metadata(name)) if name in list_corpora() else None


app = cli.app("Corpora: what there is, and building one into a folder that loads as a data set.")
app.add_typer(cli.app("Builds a corpus. `CORPUS --help` shows its configurations and options.", Corpora), name="build")


@app.command("list")
def print_list() -> None:
    """Shows all corpora with their licence and configurations."""
    records = map(load_metadata, list_corpora())
    rows = ((record.name, record.summary, record.licence, ", ".join(record.configs)) for record in records)
    print(markdown_rows(("corpus", "summary", "licence", "configurations"), rows))


def build(
    ctx: typer.Context,
    options: dict[str, Any],
    raw: Annotated[list[Path] | None, typer.Argument(metavar="RAW...", help="the raw corpus")] = None,
    out: Annotated[
        Path | None,
        typer.Option("-o", "--out", metavar="DIR", help="folder to write; a build that is there is replaced"),
    ] = None,
    config: Annotated[
        list[str] | None, typer.Option(callback=cli.split_commas, metavar="NAME,...", help="only these configurations")
    ] = None,
) -> None:
    """Builds the corpus that the command is named after."""
    record = load_metadata(ctx.info_name.replace("-", "_"))
    if not raw or out is None:
        raise ValueError(f"building {record.name} needs RAW and -o DIR; RAW is {record.raw}")
    if unknown := [name for name in config or () if name not in record.configs]:
        hint = cli.suggest(unknown[0], record.configs) or f"; choose from {', '.join(record.configs)}"
        raise ValueError(f"{record.name} has no configuration {unknown[0]!r}{hint}")
    values = cli.validate(record.options_model, options).model_dump(include={"seed", *options})
    from dataset_scripts.base.build import build

    summary = build(get_corpus(record.name), raw, out, values, config)
    _report(record, summary)
    print(f"Written: {out.expanduser()}\nTerms: {record.terms}")


def _command(record: Metadata) -> Any:
    """`build` with the options of a corpus."""
    configs = "\n".join(f"  {name:13} {text}" for name, text in record.configs.items())
    help = f"{record.title}: {record.summary}.\n\nRAW is {record.raw}.\n\n\b\nConfigurations:\n{configs}"
    single = typer.Typer(rich_markup_mode=None, add_completion=False)
    single.command(record.name, help=help, short_help=record.summary)(cli.with_options(record.options_model)(build))
    return typer.main.get_command(single)


def _report(record: Metadata, summary: Mapping[str, Any]) -> None:
    """Prints what was kept and dropped, and a warning where a build with default options differs from the record."""
    for name, built in summary["configs"].items():
        print(f"{name}: " + ", ".join(f"{split} {count:,}" for split, count in built["rows"].items()))
        if built["classes"]:
            print("  of which " + ", ".join(f"{count:,} {label}" for label, count in built["classes"].items()))
        _print_lines(" x", sorted(built["dropped"].items()), summary["first"])
        _print_lines("", built["facts"].items(), summary["first"])
        rows, facts = record.expected.get(name), record.expected_facts.get(name, {})  # only of facts that it names
        differences = _differences(rows, built["rows"]) if rows else []
        differences += _differences(facts, {fact: built["facts"].get(fact, 0) for fact in facts})
        if differences and summary["options"] == {"seed": SEED}:
            print(
                f"warning: {name} differs from the reference build: {'; '.join(differences)}. "
                "That is as it should be if your raw data are others.",
                file=sys.stderr,
            )
    for name, dropped in summary["empty"].items():
        print(f"{name}: no rows")
        _print_lines(" x", sorted(dropped.items()), summary["first"])


def _print_lines(times: str, counts: Iterable[tuple[str, int]], first: Mapping[str, str]) -> None:
    for reason, count in counts:
        print(f"  {count:>9,}{times} {reason}" + (f", first in {first[reason]}" if reason in first else ""))


def _differences(expected: Mapping[str, int], counts: Mapping[str, int]) -> list[str]:
    return [
        f"{name} {counts.get(name, 0):,} instead of {expected.get(name, 0):,}"
        for name in dict.fromkeys([*expected, *counts])
        if counts.get(name, 0) != expected.get(name, 0)
    ]


if __name__ == "__main__":
    app(prog_name="opinion corpus")
