"""`opinion train`, `models`, `overlap` and `publish`: what there is, how it is trained and tested, how it goes out.

Light: imports no torch, so that --help answers at once.
"""

from __future__ import annotations

import os
import re
import sys
from collections.abc import Iterator, Mapping, Sequence
from pathlib import Path
from typing import Annotated, Any

import typer
from pydantic.fields import FieldInfo

from dataset_scripts.base import cli
from dataset_scripts.base.files import read_json
from dataset_scripts.base.metadata import check_folder
from dataset_scripts.base.tables import check_output, markdown, markdown_rows, write_table
from modeling.base.names import RELEASED, RUNTIMES_EXTRA, measure_title, missing_runtimes, released_models
from modeling.base.recipe import SHARED, Recipe, expand_grid, list_recipes, load_recipe, load_run, spell
from modeling.base.rooms import DEFAULT_RECIPE

LIMITS = {"gt": ">", "ge": "at least", "lt": "<", "le": "at most"}  # as pydantic names them
CACHE = SHARED["cache_dir"].default
LONGEST, WIDTH = 20, 60  # rows of a list that are printed, and characters of a text

app = cli.app("Models that come with the suite, and publishing.")
publish = cli.app(
    "Publish on the Hugging Face Hub: staged, searched for secrets and training texts, sent in one commit."
)
app.add_typer(publish, name="publish")

Repository = Annotated[str, typer.Argument(metavar="ORG/NAME", help="Repository, made if there is none.")]
Private = Annotated[bool, typer.Option("--private", help="In a private repository; refuse a public one.")]
Sources = list[str] | None
TRAINED, TESTED = (f"Corpora {done} on. (default: RECIPE's)" for done in ("trained", "tested"))
DryRun = Annotated[bool, typer.Option("--dry-run", help="Stage, search and prove, list the files, send nothing.")]

TRAIN = """Trains, evaluates and publishes a model, as train.py does, which accelerate and torchrun launch.

    opinion train RECIPE [--quick] [--data FOLDER] [--OPTION VALUE ...] [--push-to-hub ORG/NAME]

An interrupted run continues where it stopped when the same command is given again."""


@app.command(
    "train",
    add_help_option=False,  # that of the recipe is shown
    context_settings={"ignore_unknown_options": True, "allow_extra_args": True, "allow_interspersed_args": False},
)
def train(context: typer.Context) -> None:
    """Train a model by a recipe, evaluate it and, if asked, publish it."""
    run_command_line(TRAIN, context.args)


def run_command_line(description: str, words: Sequence[str]) -> None:
    """Runs `[RECIPE] [--option value ...] [--grid OPTION=VALUES ...]`; `--help` begins with the description."""
    with cli.friendly_errors():
        recipe, points = parse(description, words)
        # torch's threads wait for each other by spinning: beside another busy process steps took 3 to 10 times as long
        os.environ.setdefault("OMP_WAIT_POLICY", "PASSIVE")

        from modeling.base.run import run, run_grid  # after parsing: importing torch takes seconds, --help must not

        if points:
            run_grid(recipe, points)
        else:
            run(recipe)


def parse(description: str, words: Sequence[str]) -> tuple[Recipe, list[tuple[dict[str, Any], Recipe]]]:
    """Reads a command line: the recipe, and the points of the grid (empty without --grid).

    `--help` prints the options with the recipe's values and ends the program; ValueErrors name option and cure.
    """
    name, *words = words if words and not words[0].startswith("-") else [DEFAULT_RECIPE, *words]
    if {"-h", "--help"} & set(words):
        print(_help(description, load_recipe(name)))
        sys.exit()
    options: dict[str, str] = {}
    grid: list[str] = []
    while words:
        word = words.pop(0)
        if not word.startswith("--"):
            raise ValueError(f"unexpected {word!r}: the recipe comes first, options look like --name value")
        key, equals, value = word[2:].partition("=")
        key = key.replace("-", "_")
        if not equals and key.startswith("no_"):  # --no-x is --x false
            key, value = key.removeprefix("no_"), "false"
        elif not equals:  # a flag needs no value; a negative number is a value, another option is not
            value = "true" if not words or words[0].startswith("--") else words.pop(0)
        if key == "grid":
            grid.append(value)
        else:  # data are a list: by commas, or repeated
            options[key] = f"{options[key]},{value}" if key == "data" and key in options else value
    recipe = load_recipe(name, options)
    if grid and (recipe.push_to_hub or recipe.release):
        raise ValueError("--grid excludes --push-to-hub and --release: publish the run that you choose")
    return recipe, expand_grid(recipe, grid)


def _help(description: str, recipe: Recipe) -> str:
    """All options, with the values that the recipe gives them."""
    own = _lines(type(recipe.options).model_fields, recipe)
    head = f"{description.strip()}\n\nrecipes: {', '.join(list_recipes())}\n\noptions, as set by {recipe.name}:"
    lines = [head, *_lines(SHARED, recipe), f"\noptions of the system {recipe.system!r}:", *own]
    grid = "  --grid OPTION=START:STOP:STEP or OPTION=A,B,C; may be repeated, the last is in the columns"
    return "\n".join([*lines, "", grid])


def _lines(fields: Mapping[str, FieldInfo], recipe: Recipe) -> Iterator[str]:
    for key, field in fields.items():
        marks = [(sign, getattr(mark, name, None)) for mark in field.metadata for name, sign in LIMITS.items()]
        limits = ", ".join(f"{sign} {limit:g}" for sign, limit in marks if limit is not None)
        text = " ".join(field.description.split()) + (f" ({limits})" if limits else "")
        yield f"  {cli.flag(key) + ' ' + spell(recipe[key]):38} {text}"


@app.command("models")
def list_models() -> None:
    """List the models that come with the suite: for what, how they compare with their base, size, licence."""
    rows, figures = [], []
    for name in released_models():
        facts = read_json(RELEASED / name / "results.json")
        prose = (RELEASED / facts["system"] / "README.md").read_text(encoding="utf-8")
        purpose = re.split(r"[:;.]\s", prose.partition("## Intended use")[2].strip(), maxsplit=1)[0]
        size = sum(path.stat().st_size for path in (RELEASED / name).glob("*.safetensors"))
        licence = facts["evaluation_options"]["license"].replace("other", "research only")
        rows.append((name, purpose, facts["base_model"].rpartition("/")[2], f"{size / 1e6:.1f} MB", licence))
        evaluations = {each["name"]: each for each in facts["evaluations"]}
        # what it is for, and what it should not forget
        for each in (facts["evaluations"][0], evaluations.get("similarity", facts["evaluations"][-1])):
            metric, label = each["headline"][0], name if each is facts["evaluations"][0] else ""
            figures.append(
                (label, measure_title(each, metric), each["dataset"], each["base"][metric], each["trained"][metric])
            )
    print(markdown_rows(["model", "for", "adapter on", "size", "licence"], rows))
    heads = ["model", "measure (the higher, the better)", "data it was not trained on", "base", "adapted"]
    print(f"\n{markdown_rows(heads, figures)}")
    print("\nAll figures, where each fails, an example: model_cards/NAME/README.md. Ask your texts with one:")
    print("    opinion embed FILE --model NAME")


@app.command("overlap")
def overlap(
    recipe: Annotated[str | None, typer.Argument(metavar="[RECIPE]", help="Whose data; or name them all.")] = None,
    train: Annotated[Sources, typer.Option(metavar="SOURCE,...", callback=cli.split_commas, help=TRAINED)] = None,
    test: Annotated[Sources, typer.Option(metavar="SOURCE,...", callback=cli.split_commas, help=TESTED)] = None,
    near: Annotated[
        float,
        typer.Option(min=-1, max=1, metavar="COSINE", help="The bundled encoder's, above which motions are near."),
    ] = 0.65,
    out: Annotated[
        Path | None, typer.Option("-o", "--out", metavar="FILE", help=".csv of all debates on near motions.")
    ] = None,
    cache_dir: Annotated[str, typer.Option(help="Where vectors and prepared data are kept.")] = CACHE,
) -> None:
    """Compare train and test splits: texts in common (status 1 if there are any), debates on motions that are near.

    opinion eval --without-motions FILE leaves the debates out that -o FILE lists.
    """
    if not (recipe or (train and test)):
        raise ValueError("name a RECIPE, or both --train and --test")
    named = load_recipe(recipe) if recipe else None
    path = check_output(out, (".csv",))
    from modeling.base.models import load_model  # imports torch
    from modeling.base.overlap import LISTED, Side, near_motions, recipe_sources, shared_texts, summary
    from modeling.base.run import quiet
    from modeling.base.vectors import Vectors

    quiet()
    (trained, tested), configs = (recipe_sources(named), named.options.configs) if named else (([], []), None)
    cache = Path(cache_dir).expanduser()
    ours, theirs = Side(train or trained, "train", cache, configs), Side(test or tested, "test", cache, configs)
    shared = shared_texts(ours, theirs)
    close = near_motions(ours, theirs, Vectors(load_model("bundled"), cache / "embeddings"), near)
    print(f"trained on {len(ours.texts):,} texts of {', '.join(ours.texts['corpus'].unique())}\n")
    print(markdown(summary(theirs, shared, close)))
    for title, frame in (("texts in common", shared), (f"debates on motions with a cosine above {near:g}", close)):
        if len(frame):
            more = f"\n... and {len(frame) - LONGEST:,} more" if len(frame) > LONGEST else ""
            print(f"\n{title}\n{markdown(frame.head(LONGEST), WIDTH)}{more}")
    if path:
        write_table(close[LISTED], path)
        print(f"\nwritten to {path}")
    if len(shared):
        raise typer.Exit(1)


@publish.command("model")
def publish_model(
    path: Annotated[str, typer.Argument(metavar="RUN|NAME", help="Folder of a run, or a released model's name.")],
    repo_id: Repository,
    private: Private = False,
    dry_run: DryRun = False,
    forbidden_texts: Annotated[
        Path | None, typer.Option(exists=True, dir_okay=False, help="More texts, one a line, that must not go out.")
    ] = None,
    without_text_scan: Annotated[
        bool, typer.Option("--without-text-scan", help="Do not search the files for the texts that were trained on.")
    ] = False,
    without_runtimes: Annotated[
        bool, typer.Option("--without-runtimes", help="Leave out the files for ONNX Runtime and OpenVINO.")
    ] = False,
) -> None:
    """Publish merged/ of a run as ORG/NAME and its adapter/ as ORG/NAME-adapter, or a model of the suite.

    Its corpora are looked for where the run's recipe names them, seen from the working directory.
    """
    folder = Path(path).expanduser()
    if not folder.is_dir() and path not in released_models():
        hint = cli.suggest(path, released_models()) or f"; released models are {', '.join(released_models())}"
        raise ValueError(f"there is no run and no released model {path!r}{hint}")
    texts = forbidden_texts.read_text(encoding="utf-8").splitlines() if forbidden_texts else ()
    check_access(repo_id, dry_run)
    if not without_runtimes and (missing := missing_runtimes()):
        raise ValueError(f"{' and '.join(missing)} export the model: {RUNTIMES_EXTRA}, or --without-runtimes")
    if not without_text_scan:
        _check_sources(folder if folder.is_dir() else path)
    from modeling.base.publish import publish_released, publish_run  # imports torch

    source, send = (folder, publish_run) if folder.is_dir() else (path, publish_released)
    options = {"text_scan": not without_text_scan, "private": private, "dry_run": dry_run}
    options["runtimes"] = not without_runtimes
    report(dry_run, *send(source, repo_id, forbidden_texts=texts, **options))


def _check_sources(model: Path | str) -> None:
    """Refuses a model whose training texts are not at hand, before torch is imported."""
    try:
        for source in (load_run(model) if isinstance(model, Path) else load_recipe(model)).training_sources():
            check_folder(source)
    except ValueError as error:
        cure = "run this where its corpora lie, or add --without-text-scan"
        raise ValueError(f"{model} cannot be searched for training texts: {error}; {cure}") from None


@publish.command("corpus")
def publish_corpus(
    path: Annotated[Path, typer.Argument(help="Folder of opinion corpus build.")],
    repo_id: Repository,
    private: Private = False,
    dry_run: DryRun = False,
) -> None:
    """Publish a corpus as a data set; one whose terms forbid a public copy only with --private."""
    from dataset_scripts.base.hub import publish_dataset

    check_folder(str(path))
    check_access(repo_id, dry_run)
    report(dry_run, publish_dataset(path, repo_id, private=private, dry_run=dry_run))


@publish.command("metric")
def publish_metric(
    path: Annotated[Path, typer.Argument(help="Folder of the metric, as metrics/sgts.")],
    repo_id: Repository,
    private: Private = False,
    dry_run: DryRun = False,
) -> None:
    """Publish a metric as a Space, from which evaluate.load("ORG/NAME") takes it."""
    from dataset_scripts.base import hub

    check_access(repo_id, dry_run)
    report(dry_run, hub.publish_metric(path, repo_id, private=private, dry_run=dry_run))


def check_access(repo_id: str, dry_run: bool) -> None:
    """What needs no network, before the work."""
    from dataset_scripts.base.hub import check_ready, check_repo_id

    check_repo_id(repo_id) if dry_run else check_ready(repo_id)


def report(dry_run: bool, *results: dict[str, Any]) -> None:
    """Says what was sent, or would be."""
    for result in results:
        if dry_run:
            skipped = ", ".join(result["skipped"]) or "nothing"
            print(f"{result['repo_id']}: would send {', '.join(result['files'])}; skipped: {skipped}")
        elif result["unchanged"]:
            print(f"{result['url']}: unchanged, commit {result['commit']}")
        else:
            print(f"{result['url']}: {result['uploaded']} files sent, commit {result['commit']}")
