"""`opinion probe`: the evaluation of SentiCSE for any sentence encoder, in one frame of figures and pivots of it.

Every figure is kept as soon as it is computed: a command that was interrupted, or is given again with one more model,
goes on.
"""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

import typer

from dataset_scripts.base import cli
from dataset_scripts.base.files import write_text
from dataset_scripts.base.metadata import check_folder
from modeling.base.names import check_model
from modeling.base.recipe import Recipe

app = cli.app("Sentiment.")


@app.command()
def probe(
    models: Annotated[list[str], typer.Argument(metavar="MODEL", help="What to probe; a column each.")],
    sentiment: Annotated[
        list[str] | None,
        typer.Option(
            metavar="SOURCE,...",
            callback=cli.split_commas,
            help="Corpora of labelled sentences: folders written by opinion corpus build, data sets on the Hub, or "
            "'demo' (the default).",
        ),
    ] = None,
    shots: Annotated[str, typer.Option(metavar="K,...", help="Training texts per class.")] = "1,5",
    seeds: Annotated[int, typer.Option(min=1, help="Few-shot draws.")] = 10,
    fine_tune: Annotated[
        bool, typer.Option("--fine-tune", help="Few-shot also as in the paper, encoder and head trained.")
    ] = False,
    learning_rate: Annotated[float, typer.Option(min=1e-9, max=1, help="For that; the paper's.")] = 1e-5,
    max_test: Annotated[int, typer.Option(min=1, help="Test texts for that.")] = 500,
    validation: Annotated[int, typer.Option(min=1, help="Validation texts of a draw; the paper's.")] = 500,
    max_rows: Annotated[int | None, typer.Option(min=4, help="Seeded, balanced sample of each split.")] = None,
    out: Annotated[Path | None, typer.Option("-o", "--out", file_okay=False, help="Folder to write to.")] = None,
    cache_dir: Annotated[str, typer.Option(help="Where figures are kept.")] = Recipe.model_fields["cache_dir"].default,
) -> None:
    """Probe encoders for sentiment: SgTS, linear and few-shot classification, alignment and uniformity."""
    for model in models:
        check_model(model)
    sources, words = sentiment or ["demo"], {word.strip() for word in shots.split(",")}
    if wrong := [word for word in words if not word.isdecimal() or int(word) < 1]:
        raise ValueError(f"--shots {wrong[0]}: it must be whole numbers above 0, by commas")
    numbers = sorted(map(int, words))
    for source in sources:
        check_folder(source, "--sentiment: ")

    from dataset_scripts.base.tables import write_table
    from modeling.base.models import labels, load_model
    from modeling.base.run import quiet
    from modeling.senticse.probing.figures import Subject, load_corpus, measure
    from modeling.senticse.probing.probes import draw
    from modeling.senticse.probing.tables import draw_pictures, render

    quiet()
    cache, heads = Path(cache_dir).expanduser(), labels(list(dict.fromkeys(models)))
    corpora = [load_corpus(source, name, cache, max_rows) for source, name in labels(sources).items()]
    for corpus in corpora:  # so that too few texts are known now
        draw(corpus.train["label"].to_numpy(), max(numbers), 0, validation)
    variants = ["frozen", "fine_tuned"][: 1 + fine_tune]
    few = [(variant, k, seed) for variant in variants for k in numbers for seed in range(seeds)]
    protocol = {"validation": validation, "max_test": max_test, "learning_rate": learning_rate}
    encoders = {label: load_model(model) for model, label in heads.items()}
    subjects = [
        Subject(label, encoders[label], corpus, cache / "embeddings") for corpus in corpora for label in encoders
    ]
    frame = measure(subjects, few, protocol, cache)
    text = render(frame, corpora, seeds, protocol if fine_tune else None)
    print(f"\n{text}")
    if out:
        plots = draw_pictures(frame, subjects, out / "plots")
        write_text(out / "table.md", "\n\n".join([text, *plots]) + "\n")
        write_table(frame, out / "results.csv")
        print(f"\nwritten to {out}: table.md, results.csv, plots/")
