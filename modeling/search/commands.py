"""`opinion embed`, `ask`, `align` and `axis`: a collection of texts embedded once, and asked any number of statements.

What is cheap to check, such as paths, columns, numbers and names, is checked before torch is imported.
"""

from __future__ import annotations

import os
import time
import warnings
from collections.abc import Iterable, Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any, Literal

import typer
from huggingface_hub.utils import disable_progress_bars

from dataset_scripts.base import cli
from dataset_scripts.base.files import write_json
from dataset_scripts.base.tables import OUTPUTS, check_output, markdown, write_table
from modeling.base.names import check_model, check_runtime
from modeling.base.recipe import axis_values

if TYPE_CHECKING:
    import pandas as pd

    from modeling.search.index import Index
    from modeling.search.questions import Axis

THRESHOLDS = "0.3:0.9:0.05"
WIDTH = 100  # characters of a text on the terminal
EXPLAINED = (  # scores of a stated axis, and of a learned one
    "score: above 0 nearer to the side for, in [-1, 1]",
    "score: distance from the learned boundary, above 0 on the side for",
)
PICTURES = (".png", ".pdf", ".svg")

app = cli.app("Texts that are embedded once, and asked any number of statements.")

Folder = Annotated[Path, typer.Argument(metavar="INDEX", help="Folder written by opinion embed.")]
Model = Annotated[
    str | None,
    typer.Option(callback=check_model, help="Where the model of the index is now, if it was moved.", metavar="MODEL"),
]
Lens = Annotated[
    Literal["both", "side", "topic"] | None,
    typer.Option(help="What counts: the topic (the base's cosine), the side (the model's), or both, if the index can."),
]
Statements = Annotated[list[str] | None, typer.Argument(metavar="STATEMENT", help="Each in quotes.")]
StatementFile = Annotated[
    Path | None,
    typer.Option("-f", "--file", help=".txt with a statement a line, or a table with 'statement' (and 'target')."),
]
Table = Annotated[str | None, typer.Option("-o", "--out", help="Table to write (.csv, .parquet).")]

CodedFile = Annotated[
    Path | None, typer.Option(exists=True, dir_okay=False, help="Table of texts coded by hand as for or against.")
]
TextColumn = Annotated[str | None, typer.Option(help="Of --coded (default: 'text', or the index's).")]
LabelColumn = Annotated[str, typer.Option(help="Of --coded.")]


@app.command()
def embed(
    source: Annotated[
        str,
        typer.Argument(
            help="CSV, TSV, JSONL (each also .gz) or Parquet file, a folder of Parquet files or one written by opinion "
            "corpus build, 'demo', or a data set on the Hub."
        ),
    ],
    out: Annotated[Path, typer.Option("-o", "--out", metavar="INDEX", help="Folder to write.")],
    text: Annotated[str | None, typer.Option(help="Column of the texts (default: 'text', or the only one).")] = None,
    group: Annotated[str | None, typer.Option(help="Column of the groups to compare, such as a party.")] = None,
    id: Annotated[str | None, typer.Option(help="Column of the ids (default: 'id', if there is one).")] = None,
    model: Annotated[
        str | None,
        typer.Option(
            callback=check_model,
            metavar="MODEL",
            help="A released model, 'bundled', a folder or a Hub id (default: stance-minilm; with --add: the index's).",
        ),
    ] = None,
    config: Annotated[str | None, typer.Option(help="Configuration of a data set (default: its default).")] = None,
    split: Annotated[str | None, typer.Option(help="Split of a data set (default: all).")] = None,
    encoding: Annotated[str, typer.Option(help="Of a CSV or TSV.")] = "utf-8-sig",
    max_characters: Annotated[
        int, typer.Option(min=1, help="Longer texts are cut; 512 tokens are about 2,500.")
    ] = 10_000,
    batch_size: Annotated[int, typer.Option(min=1, help="Texts at once.")] = 128,
    add: Annotated[bool, typer.Option("--add", help="Add to the index, with its model; known texts are kept.")] = False,
    lens: Annotated[
        Literal["both", "side"],
        typer.Option(help="side: the model alone, in half the time and space, without its base for the topic."),
    ] = "both",
    backend: Annotated[
        str, typer.Option(help="What computes the model, also when asked: torch, or the faster onnx and openvino.")
    ] = "torch",
    precision: Annotated[
        str, typer.Option(help="fp32, or int8 of onnx and bf16 of openvino: faster still, less exact.")
    ] = "fp32",
    overwrite: Annotated[
        bool, typer.Option("--overwrite", help="Discard an index of other texts or another model.")
    ] = False,
    engine: Annotated[
        Literal["native", "ray"] | None,
        typer.Option(help="Embed by workers on this machine or a Ray cluster, in half precision."),
    ] = None,
    address: Annotated[
        str | None, typer.Option(help="Of the head of the cluster, host:6379, or auto; none starts one here.")
    ] = None,
    workers: Annotated[
        int | None, typer.Option(min=1, help="Of the engine (default: one for each GPU, or else each core).")
    ] = None,
) -> None:
    """Embed a collection of texts, once. The same command continues what was interrupted."""
    check_runtime(backend, precision)
    if add and backend != "torch":
        raise ValueError("--backend: rows are added by the one that the index was made with")
    from modeling.search.index import MODEL, Index
    from modeling.search.texts import Counts

    quiet()
    if engine:
        _start(engine, address, add)
    elif address or workers:
        raise ValueError("--address and --workers are the engine's: name it with --engine")
    start = time.perf_counter()
    options: dict[str, Any] = {"text": text, "group": group, "id": id, "config": config, "split": split}
    options |= {"encoding": encoding, "batch_size": batch_size}
    if add:
        old = Index.open(out, model)
        index = old.add(source, **options)
        if index.facts == old.facts:
            print(f"\n{out} has these rows already: nothing to do")
            return
    else:
        options |= {"max_characters": max_characters, "overwrite": overwrite, "lens": lens}
        options |= {"engine": engine is not None, "workers": workers}
        options |= {"backend": backend, "precision": precision}
        index = Index.build(source, out, model=model or MODEL, **options)
    part = index.facts["parts"][-1]
    print(f"\n{Counts(**part['counts']).describe(part['source'])}")
    if add:
        print(f"  {part['known']:>9,} x known already, not embedded again")
    seconds = time.perf_counter() - start
    model = f"{index.facts['model']}{' and its base' if index.lenses == 2 else ''}"
    print(
        f"\n{out} is complete: {len(index):,} texts, {index.vectors.shape[1]} dimensions of {model}, "
        f'{seconds:.0f} s\n    opinion ask {out} "A statement."'
    )


@app.command()
def ask(
    index: Folder,
    statements: Statements = None,
    file: StatementFile = None,
    top: Annotated[int, typer.Option("-n", "--top", min=1, help="Matches per statement.")] = 10,
    threshold: Annotated[float | None, typer.Option(min=-1, max=1, help="Lowest similarity of a match.")] = None,
    near_duplicates: Annotated[
        Literal["fold", "keep"],
        typer.Option(help="Near-identical texts, such as retweets: as one match with their number, or each."),
    ] = "fold",
    judge: Annotated[
        str | None,
        typer.Option(
            callback=check_model,
            metavar="MODEL",
            help="A cross-encoder that says of each match whether it agrees; --coded, for or against the statement, "
            "measures and calibrates it.",
        ),
    ] = None,
    coded: CodedFile = None,
    text_column: TextColumn = None,
    label_column: LabelColumn = "label",
    lens: Lens = None,
    model: Model = None,
    out: Table = None,
) -> None:
    """Find the texts most similar to statements."""
    from modeling.search import duplicates
    from modeling.search.coded import read_coded

    path = check_output(out)
    asked = list(dict.fromkeys(text for text, _ in read_given(statements, file)))
    if coded and (judge is None or len(asked) > 1):
        raise ValueError("--coded calibrates a --judge on one statement, which its texts are coded for or against")
    opened = _open(index, model, lens)
    texts = read_coded(opened, coded, text_column, label_column) if coded else None
    fold = near_duplicates == "fold"
    hits = duplicates.ask(opened, asked, top, threshold) if fold else opened.ask(asked, top, threshold)
    judged = []
    if judge:
        from modeling.search.judge import Judge

        judging = Judge(judge)
        if texts:
            found = judging.calibrate(texts, asked[0]).iloc[0]
            interval = f"[{found['low']:.2f}, {found['high']:.2f}]"
            print(f"judge on {found['texts']} coded texts: AUROC {found['auroc']:.2f} {interval}")
        hits = hits.reset_index(drop=True).join(judging(hits["text"].tolist(), hits["statement"].tolist()))
        judged = ["verdict", "probability"]
    table = shown(hits, opened.groups, judged)
    for statement in asked:
        found = table[table["statement"] == statement].drop(columns="statement")
        nothing = f"nothing is as similar as {threshold}: lower --threshold"
        print(f"\n{statement}\n{nothing if found.empty else markdown(found, WIDTH)}")
    if "texts" in table:
        print("\ntexts: near-identical ones, shown as one; --near-duplicates keep shows each")
    if path:
        write(hits, path)


@app.command()
def align(
    index: Folder,
    statements: Statements = None,
    side: Annotated[str | None, typer.Option(metavar="GROUP", help="Group whose view the statements state.")] = None,
    file: StatementFile = None,
    thresholds: Annotated[
        str, typer.Option(metavar="START:STOP:STEP", help="Lowest similarities of a match, also as A,B,C.")
    ] = THRESHOLDS,
    lens: Lens = None,
    model: Model = None,
    out: Table = None,
) -> None:
    """Whose texts a statement finds: alignment precision over thresholds."""
    path = check_output(out)
    given = read_given(statements, file)
    if homeless := next((statement for statement, target in given if not (target or side)), None):
        raise ValueError(f"{homeless!r} has no side: name the group whose view it is with --side GROUP")
    queries = list(dict.fromkeys((statement, target or side) for statement, target in given))
    try:
        values = [float(value) for value in axis_values(thresholds)]
    except ValueError as error:
        raise ValueError(f"--thresholds: {error}; e.g. {THRESHOLDS} or 0.6,0.7") from None
    opened = _open(index, model, lens)
    table = opened.align(queries, values)
    for (statement, target), part in table.groupby(["statement", "target"], sort=False):
        print(f"\n{statement} ({target}, {part['base_rate'].iloc[0]:.1%} of all rows with a group)")
        print(markdown(part.drop(columns=["statement", "target", "base_rate"]), WIDTH))
    print("\nprecision: share of the side among the rows retrieved; low, high: its 95 % interval (Wilson)\n")
    if path:
        write(table, path)


@app.command()
def axis(
    index: Folder,
    positive: Annotated[list[str], typer.Option("--for", metavar="STATEMENT", help="One side; wordings by repeating.")],
    negative: Annotated[list[str], typer.Option("--against", metavar="STATEMENT", help="The other side, likewise.")],
    min_similarity: Annotated[
        float | None, typer.Option(min=-1, max=1, help="Keep texts at least this similar to one of the sides.")
    ] = None,
    coded: CodedFile = None,
    text_column: TextColumn = None,
    label_column: LabelColumn = "label",
    learn: Annotated[bool, typer.Option("--learn", help="Learn the axis from the coded texts.")] = False,
    lens: Annotated[
        Literal["side", "topic"] | None,
        typer.Option(help="What counts: the side (the model's cosine; default), or the topic (its base's)."),
    ] = None,
    model: Model = None,
    out: Annotated[
        list[str] | None,
        typer.Option(
            "-o", "--out", help="Table (.csv, .parquet) or picture (.png, .pdf, .svg) to write; may be repeated."
        ),
    ] = None,
) -> None:
    """Place texts and groups between two opposite statements, and measure by coded texts how far to trust it.

    Beside a table NAME.csv of the texts come NAME-groups.csv and NAME.json.
    """
    from modeling.search.coded import read_coded

    paths = [path for name in out or () if (path := check_output(name, [*OUTPUTS, *PICTURES]))]
    opened = _open(index, model, lens)
    texts = read_coded(opened, coded, text_column, label_column) if coded else None
    result = opened.axis(positive, negative, min_similarity, texts, learn)
    facts = result.facts
    print(f"{result.verdict}\n")
    if coded:
        _print_measured(result)
    print(f"{facts['kept']:,} of {facts['rows']:,} rows; cosine between the two sides {facts['side_cosine']:.2f}")
    if min_similarity is None:
        print("All rows are scored, those on other matters too: --min-similarity 0.4 keeps those on the topic.")
    print(f"\n{markdown(result.groups, WIDTH)}\n")
    print("\n".join([*result.warnings, f"share: of a group's rows, those that are kept; {EXPLAINED[learn]}"]))
    if result.difference is not None:
        names = {"first": facts["first"], "second": facts["second"]}
        print(f"\n{result.separation}\n\n{markdown(result.difference.rename(columns=names), WIDTH)}\n")
        print(f"estimate: {names['first']} - {names['second']}; low, high: its 95 % interval (bootstrap of texts)")
    if result.wordings is not None:
        pair = f" (AUROC of {names['first']} above {names['second']})" if result.difference is not None else ""
        print(f"\nsingle wordings: auroc_groups{pair}, auroc_coded (of coded texts for above those against)")
        print(markdown(result.wordings, WIDTH))
    ends = result.texts.drop_duplicates("text").sort_values("score", ascending=False, kind="stable")
    for side, part in (("for", ends.head(5)), ("against", ends.tail(5)[::-1])):
        print(f"\nnearest to the side {side}\n{markdown(part[['score', 'relevance', 'group', 'text']], WIDTH)}")
    print("\nrelevance: the larger of a text's mean cosines to the wordings of either side\n")
    for path in paths:
        if path.suffix.lower() in OUTPUTS:
            write(result.texts, path)
            write(result.groups, path.with_name(f"{path.stem}-groups{path.suffix}"))
            sides = {"positive": result.positive, "negative": result.negative, "model": opened.facts["model"]}
            tables = {name: getattr(result, name) for name in ("difference", "measured", "wordings")}
            records = {name: table.to_dict("records") for name, table in tables.items() if table is not None}
            write_json(path.with_suffix(".json"), sides | facts | {"usable": result.usable} | records)
        else:
            from modeling.search.plots import plot_axis

            title = f"{index.resolve().name}, {Path(opened.facts['model'] or 'a model').name}"
            plot_axis(result, path, f"{title}: two opposite statements")
            print(f"drawn to {path}")


def _start(engine: str, address: str | None, add: bool) -> None:
    """Starts the engine, or says what it lacks."""
    if add:
        raise ValueError("--add embeds in this process: leave out --engine, or embed all sources into another folder")
    if address and engine != "ray":
        raise ValueError("--address is that of a Ray cluster: it needs --engine ray")
    try:
        from dataset_scripts.base.engine import start_engine

        start_engine(engine, address)
    except ImportError as error:
        raise ValueError(f"--engine needs {error.name}: pip install 'opinion-transformers[scale]'") from error


def _print_measured(result: Axis) -> None:
    """What the coded texts say of an axis, and whether the stated one would be the better."""
    facts = result.facts["coded_texts"]
    left_out = "".join(f"; left out, {reason}: {count}" for reason, count in facts["left_out"].items())
    print(f"coded texts, {facts['source']}{left_out}\n{markdown(result.measured, WIDTH)}\n")
    print(
        f"of those for, {facts['right_for']} of {facts['texts_for']} lie above {facts['cut']:.3f}, the middle of both "
        f"sides; of those against, {facts['right_against']} of {facts['texts_against']} below\n"
    )
    if facts["learned"]:
        stated, (gain, low, high) = facts["stated"], facts["advantage"]
        seems = "looks" if low <= 0 <= high else "is"
        better = f"learned axis {seems} better" if gain > 0 else f"stated axis {seems} better: leave out --learn"
        print(
            f"on the same texts the stated axis has {stated['auroc']:.2f} [{stated['low']:.2f}, {stated['high']:.2f}]: "
            f"the {better} (by {abs(gain):.2f}; learned - stated: {low:+.2f} to {high:+.2f})\n"
        )


def _open(folder: Path, model: str | None, lens: str | None = None) -> Index:
    from modeling.search.index import Index

    quiet()
    return Index.open(folder, model, lens)


def shown(hits: pd.DataFrame, groups: Iterable[str], judged: Sequence[str] = ()) -> pd.DataFrame:
    """Hits as they are read: scores, how many rows of which groups, near-identical texts where some were folded."""
    names = list(groups)
    counts = hits[[f"rows_{name}" for name in names]].to_numpy()
    sizes = [sorted((-count, name) for count, name in zip(row, names, strict=True) if count) for row in counts]
    carriers = [", ".join(f"{name} {-less:,}" for less, name in each) for each in sizes]
    scores = [name for name in ("similarity", "topic", "side") if name in hits]
    folded = ["texts"] if "texts" in hits and (hits["texts"] > 1).any() else []
    columns = ["statement", "rank", *scores, *judged, *folded, "rows"]
    return hits[columns].assign(groups=carriers, text=hits["text"])


def quiet() -> None:
    """Silences what libraries say that are yet to be imported; the bars of long work stay."""
    os.environ.setdefault("HF_DATASETS_DISABLE_PROGRESS_BARS", "1")
    disable_progress_bars()  # of weights that are loaded: transformers asks the Hub's library
    warnings.filterwarnings("ignore", category=FutureWarning, module="transformers")


def read_given(words: list[str] | None, file: Path | None, name: str = "statement") -> list[tuple[str, str | None]]:
    """All statements of a command, each with its side where it is said; `name` is what they and their column are."""
    given: list[tuple[str, str | None]] = [(word, None) for word in words or ()]
    if file:
        from modeling.search.texts import read_statements

        given += read_statements(file, name)
    if not given:
        raise ValueError(f"there is no {name}: give one in quotes, or -f FILE")
    return given


def write(frame: pd.DataFrame, path: Path) -> None:
    """Writes a table and says where."""
    write_table(frame, path)
    print(f"written to {path}")
