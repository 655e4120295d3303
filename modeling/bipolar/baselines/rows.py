"""The rows of tables 2 and 3 as data: which features, which retriever, which re-ranker. Light: imports no torch."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace

WORDS, MODEL = "bm25", "model"
FEATURES = "features"  # of Simple-SD and learning to rank: no model is named for them
SPLITS = ("official", "clean")


@dataclass(frozen=True)
class Row:
    """A line of the tables."""

    key: str  # what --rows calls it, and `baselines` in paper.yaml
    name: str  # what the table calls it: features, or the retriever
    retriever: str  # `features`, `bm25`, or the option that names the model
    reranker: str = ""  # the option that names the model, empty for none
    reranked: str = ""  # what the table calls the re-ranker
    fused: bool = (
        False  # whether its scores are joined with those of retrieval; else they alone decide, as in the paper
    )
    sources: Mapping[str, str] | None = None  # the models by option, once they are known
    label: str = ""  # which of several models of one option this row is of

    @property
    def options(self) -> list[str]:
        """The options that have to name a model."""
        named = dict.fromkeys((self.retriever, self.reranker))
        return [option for option in named if option not in (FEATURES, WORDS, "")]

    @property
    def heading(self) -> str:
        """Name, with that of the model where several could be meant."""
        name = " + ".join(part for part in (self.name, self.reranked) if part)
        return f"{name} ({self.label})" if self.label else name

    @property
    def id(self) -> str:
        """Tells rows apart: the key, with the model where there are several."""
        return f"{self.key}:{self.label}" if self.label else self.key


ROWS = (
    Row("simple-sd", "Simple-SD", FEATURES),
    Row("logit-part", "Logit, 8 features", FEATURES),
    Row("logit-full", "Logit, 20 features", FEATURES),
    Row("xgboost-part", "XGBoost, 8 features", FEATURES),
    Row("xgboost-full", "XGBoost, 20 features", FEATURES),
    Row("bm25", "BM25", WORDS),
    Row("cosine", "cosine", MODEL),
    Row("bi-encoder", "Bi-encoder", "bi_encoder"),
    Row("unipolar-ret", "Unipolar-ret", "unipolar_ret"),
    Row("bm25+cross-encoder", "BM25", WORDS, "cross_encoder", "Cross-encoder"),
    Row("bm25+unipolar-cls", "BM25", WORDS, "unipolar_cls", "Unipolar-cls"),
    Row("bi-encoder+cross-encoder", "Bi-encoder", "bi_encoder", "cross_encoder", "Cross-encoder"),
    Row("bipolar", "Bipolar-encoder", "bipolar", "bipolar"),
    Row("without-difference", "Bipolar-encoder without |u - v|", "without_difference", "without_difference"),
    Row("without-joint", "Bipolar-encoder without joint training", "unipolar_ret", "unipolar_cls"),
    Row("bipolar-ret", "Bipolar-encoder, retrieval alone", "bipolar"),
    Row("bipolar-fused", "Bipolar-encoder, both scores joined", "bipolar", "bipolar", fused=True),
)
KEYS = tuple(row.key for row in ROWS)


def expand(keys: Sequence[str], models: Mapping[str, Sequence[str]], labels: Mapping[str, str]) -> list[Row]:
    """The rows in the order of the paper, one for each model where an option names several.

    Args:
        keys: Of `KEYS`.
        models: Option -> the models that were named; where a row has two options, each names one only.
        labels: Model -> what it is called.

    Returns:
        Rows with `sources`; of a row for which a model is missing `sources` is None.
    """
    rows = []
    for row in (row for row in ROWS if row.key in keys):
        named = {option: models.get(option, []) for option in row.options}
        if not all(named.values()):
            rows.append(row)
            continue
        count = max(map(len, named.values()), default=1)
        for number in range(count):
            sources = {option: of[min(number, len(of) - 1)] for option, of in named.items()}
            label = labels[sources[row.retriever]] if row.retriever == MODEL or count > 1 else ""
            rows.append(replace(row, sources=sources, label=label))
    return rows
