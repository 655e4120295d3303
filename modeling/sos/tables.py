"""How similarities agree with people's scores of opinions: ours below the paper's figures, as tables and a picture."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pandas as pd
import yaml
from datasets import Dataset

from modeling.base.evaluation import texts
from modeling.base.models import labels, load_model
from modeling.base.plots import dots
from modeling.base.results import by_model
from modeling.base.vectors import pair_similarities
from modeling.sos import baselines
from modeling.sos.evaluation import BROADLY_DIFFERENT, agreement

COLUMNS = ["id", "sentence1", "sentence2", "score", "domain"]
# title -> metric -> its head, after that of the domain
TABLES = {
    "All pairs": {"pearson": "pearson", "kendall": "kendall"},
    "Broadly different pairs": {"pearson_different": "pearson", "kendall_different": "kendall"},
    "Broadly similar pairs": {"pearson_similar": "pearson", "kendall_similar": "kendall"},
    "Pairs in the wrong quarter, as a share": {
        "wrong_quartile_different": "different",
        "wrong_quartile_similar": "similar",
    },
}
PANELS = {"pearson": "all pairs", "pearson_different": "broadly different", "pearson_similar": "broadly similar"}


def check_rows(rows: Dataset, name: str) -> pd.DataFrame:
    """The opinions as a frame; a ValueError if a column, a text or a score is missing or out of range, with the row."""
    for column in ("sentence1", "sentence2", "domain"):
        texts(rows, column, f"{name} (opinions)")
    frame = rows.select_columns(COLUMNS).to_pandas()
    for row in frame.index[~frame["score"].between(0, 4)]:
        raise ValueError(f"{name} (opinions), row {row}: score is {frame['score'][row]}, outside [0, 4]")
    return frame


def similarities(pairs: pd.DataFrame, models: list[str], cache: Path) -> dict[str, np.ndarray]:
    """Method or model -> similarities of the pairs; embeddings are kept in `cache`."""
    loaded = {head: load_model(model) for model, head in labels(list(dict.fromkeys(models))).items()}
    columns = [pairs["sentence1"].tolist(), pairs["sentence2"].tolist()]
    result = {name: measure(*columns) for name, measure in baselines.BASELINES.items()}
    for label, model in loaded.items():
        result[label] = pair_similarities(model, columns, cache / "embeddings")[0]
    return result


def figures(pairs: pd.DataFrame, methods: list[str], name: str) -> pd.DataFrame:
    """The metric `opinion_similarity` of each method in each domain, after the paper's on data of this name.

    `pairs` have a column of similarities for each method. Columns are `who`, `model`, `data` (the domain), `metric` and
    `value`, missing where there is nothing to correlate.
    """
    rows = []
    if "sos" in name.lower():
        record = yaml.safe_load(Path(__file__).with_name("paper.yaml").read_text(encoding="utf-8"))
        base = {key: value for table in record["tables"] for key, value in table.get("base", {}).items()}
        for method, values in (record["baselines"] | {"SBERT": base}).items():  # its untrained encoder
            rows += [("paper", method, *key.split("_", 2)[1:], value) for key, value in values.items()]
    for domain, here in pairs.groupby("domain", sort=False):
        for method in methods:
            values = agreement(here[method].to_numpy(), here["score"].to_numpy(float)) or {}
            metrics = [metric for heads in TABLES.values() for metric in heads]
            rows += [("ours", method, domain, metric, values.get(metric)) for metric in metrics]
    return pd.DataFrame(rows, columns=["who", "model", "data", "metric", "value"]).astype({"value": float})


def render(frame: pd.DataFrame, pairs: pd.DataFrame, name: str) -> str:
    """The tables as Markdown."""
    sizes = [
        f"{domain} {different.sum():,} broadly different and {(~different).sum():,} similar pairs"
        for domain, different in (pairs["score"] <= BROADLY_DIFFERENT).groupby(pairs["domain"], sort=False)
    ]
    parts = [f"{name}: {', '.join(sizes)}."]
    text = frame["value"].map("{:.3f}".format, na_action="ignore")
    for title, heads in TABLES.items():
        columns = {
            (metric, domain): f"{domain} {head}"
            for domain in pairs["domain"].unique()
            for metric, head in heads.items()
        }
        parts.append(f"### {title}\n\n{by_model(frame.assign(text=text)[text.notna()], columns)}")
    return "\n\n".join(parts)


def draw(frame: pd.DataFrame, path: Path, name: str) -> None:
    """Draws the Pearson correlations over all, the broadly different and the broadly similar pairs."""
    frame = frame[frame["metric"].isin(PANELS)].assign(panel=frame["metric"].map(PANELS))
    title = f"Agreement with people's scores of opinion similarity ({name})"
    dots(frame, path, title, "Pearson correlation", panel="panel")
