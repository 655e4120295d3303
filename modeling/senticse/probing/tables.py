"""The figures as the paper prints them: its tables, with its own figures before ours, and its pictures."""

from __future__ import annotations

import re
from collections.abc import Callable, Mapping, Sequence
from pathlib import Path
from typing import Any

import pandas as pd

from dataset_scripts.base.tables import markdown
from modeling.base.paper import Paper
from modeling.base.plots import scatter
from modeling.senticse.probing.figures import Subject
from modeling.senticse.probing.probes import CLASSES, principal_components

CORPORA = ("imdb", "sst2", "yelp", "amazon", "mr")  # of the paper
PAPER = {"base": "paper, RoBERTa", "trained": "paper, SentiCSE"}
TRAINED = {"frozen": "classifier", "fine_tuned": "encoder too"}
LEAST_MODELS = 3  # two points always lie on a line
LEGEND = (
    "SgTS: Spearman correlation of cosine and equal polarity, whose ceiling is about .87; auroc: 0.5 is chance. "
    "Few-shot: mean and standard deviation of {seeds} draws. `classifier`: a logistic regression on frozen "
    "embeddings, all test texts. {few} Alignment: mean squared distance of two test texts of one class; "
    "uniformity: log of the mean of exp(-2 d²) over all pairs; the lower, the closer together and the more evenly "
    "spread. The paper does not say which pairs its alignment is of. Correlations need three models; the paper's "
    "are .7 (Pearson) and .96 (Spearman, figure 7)."
)


def percent(value: float) -> str:
    """A share as the paper prints it."""
    return f"{100 * value:.2f}"


def render(
    frame: pd.DataFrame,
    samples: Sequence[object],
    seeds: int,
    fine_tuning: Mapping[str, Any] | None,
) -> str:
    """All tables of `measure` as Markdown, in the order of the paper's, with what their reader has to know.

    `fine_tuning` are the options of few-shot classification, where encoders were trained.
    """
    paper = Paper.read(Path(__file__).parents[1] / "paper.yaml")
    printed = paper.printed(paper.headline)
    of = dict(list(frame.groupby("metric")))
    few_shot = of["few_shot"].groupby(["variant", "k"], sort=False)
    tables = {
        "SgTS (table 3)": [
            compare(of["spearman"], printed, "sgts_{}_spearman", measure="spearman"),
            compare(of["normalized"], printed, measure="of its ceiling"),
            compare(of["auroc"], printed, measure="auroc"),
        ],
        "Few-shot accuracy, % (table 4)": [
            compare(each, printed, f"few_shot_{k:g}_{{}}", percent, **{"per class": int(k), "trained": TRAINED[name]})
            for (name, k), each in few_shot
        ],
        "Linear probe, accuracy in % (table 5)": [compare(of["linear_probe"], printed, "linear_probe_{}", percent)],
        "Alignment and uniformity (table 15)": [
            compare(of[name], printed, f"{name}_{{}}", measure=name) for name in ("alignment", "uniformity")
        ],
        "SgTS and few-shot accuracy over models": [correlations(frame)],
    }
    few = "The paper's few-shot figures are of encoders trained too (--fine-tune)."
    if fine_tuning:
        rate, most = fine_tuning["learning_rate"], fine_tuning["max_test"]
        few = f"`encoder too`, as in the paper: learning rate {rate:g}, at most {most:,} test texts."
    return "\n\n".join(
        [
            f"Paper: {paper.setup}. Its figures stand beside corpora of the same name.",
            "\n".join(f"- {sample}." for sample in samples),
            *(
                f"### {title}\n\n{markdown(pd.concat(parts))}"
                for title, parts in tables.items()
                if sum(map(len, parts))
            ),
            LEGEND.format(seeds=seeds, few=few),
        ]
    )


def compare(
    frame: pd.DataFrame,
    printed: Mapping[str, Mapping[str, Any]],
    template: str = "",
    show: Callable[[float], str] = "{:.3f}".format,
    **facts: str | int,
) -> pd.DataFrame:
    """The texts of a measure's rows, a corpus each and their mean: the paper's figures, and those of each model.

    The paper's are those of the keys `template`, `{}` standing for the corpus; all rows have the columns `facts`.
    """
    ours = frame.groupby(["data", "model"], sort=False)["value"].agg(["mean", "std"]).unstack()
    paper = [printed.get(template.format(paper_corpus(corpus)), {}) for corpus in ours.index]
    table = pd.DataFrame([[each.get(key) for key in PAPER] for each in paper], ours.index, PAPER.values(), float)
    table = table.join(ours["mean"][frame["model"].unique()])
    if len(table) > 1:
        table.loc["mean"] = table.mean(skipna=False)
    draws = ours["std"].reindex_like(table).astype(object)  # of several draws
    text = table.astype(object).map(lambda value: "" if value != value else show(value))
    text += draws.map(lambda value: "" if value != value else f" ± {show(value)}")
    for place, (name, fact) in enumerate(facts.items()):
        text.insert(place, name, fact)
    return text.reset_index(names="corpus")


def paper_corpus(name: str) -> str | None:
    """The paper's corpus that a source is named after, such as `sst2` for data/sst2."""
    return next((each for each in CORPORA if re.search(rf"(?<![a-z0-9]){each}(?![a-z0-9])", name.lower())), None)


def points(frame: pd.DataFrame) -> pd.DataFrame:
    """SgTS (`x`) and mean few-shot accuracy (`y`): a row per `variant`, `k`, corpus (`data`) and model."""
    sgts = frame[frame["metric"] == "spearman"].set_index(["data", "model"])["value"].rename("x")
    few_shot = frame[frame["metric"] == "few_shot"].groupby(["variant", "k", "data", "model"], sort=False)["value"]
    return few_shot.mean().rename("y").reset_index().join(sgts, on=["data", "model"])


def correlations(frame: pd.DataFrame) -> pd.DataFrame:
    """SgTS against few-shot accuracy, a point per model: per corpus, and over the points of all corpora.

    No rows for fewer than three models; no figure where either is the same for all.
    """
    rows = []
    for (variant, k), every in points(frame).groupby(["variant", "k"], sort=False):
        parts = list(every.groupby("data", sort=False))
        for corpus, part in parts + ([("all", every)] if len(parts) > 1 else []):
            if part["model"].nunique() >= LEAST_MODELS:
                both = [part[["x", "y"]].corr(method).iat[0, 1] for method in ("pearson", "spearman")]
                rows.append((corpus, int(k), TRAINED[variant], len(part), *both))
    return pd.DataFrame(rows, columns=["corpus", "per class", "trained", "points", "Pearson", "Spearman"])


def draw_pictures(frame: pd.DataFrame, subjects: Sequence[Subject], folder: Path) -> list[str]:
    """Draws the test texts by class on two principal components, and SgTS against few-shot accuracy; as Markdown."""
    pictures, rows = {}, []
    for subject in subjects:
        plane, shares = principal_components(*subject.vectors["test"])
        title = f"{subject.corpus.name}: test sentences by class, principal components"
        model = f"{subject.label} ({' and '.join(f'{share:.0%}' for share in shares)} of the variance)"
        classes = plane["label"].map(dict(enumerate(CLASSES)))
        rows.append(plane.assign(label=classes, model=model, title=title, data=subject.corpus.name))
    for (title, name), part in pd.concat(rows).groupby(["title", "data"], sort=False):
        pictures[title] = path = folder / f"components-{re.sub(r'[^A-Za-z0-9_.-]', '-', name)}.png"
        scatter(part, path, title, "component 1", "component 2", "label")
    if frame["model"].nunique() >= LEAST_MODELS:
        few = points(frame)
        few["panel"] = [
            f"{k:g} per class, trained: {TRAINED[name]}" for name, k in zip(few["variant"], few["k"], strict=True)
        ]
        pictures["Few-shot accuracy and SgTS"] = path = folder / "sgts-few-shot.png"
        scatter(few, path, "Few-shot accuracy and SgTS", "SgTS", "accuracy", "data", "model", "panel")
    return [f"![{title}](plots/{path.name})" for title, path in pictures.items()]
