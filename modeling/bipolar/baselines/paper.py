"""Accuracy@1 in percent as printed in tables 2 and 3 of Shi et al. (2023), on the published test split."""

from __future__ import annotations

CORPUS = "counterargs"  # figures stand beside data with this in their name
SETUP = "bert-base-uncased, trained for 200 epochs on the published split of counterargs-18"

# row of `modeling.bipolar.baselines.rows` -> measure -> figure; of Simple-SD the authors' own implementation, since
# the one of Wachsmuth et al. (2018) has other word vectors: 74.5, 44.1, 50.0 and 32.4
FIGURES: dict[str, dict[str, float]] = {
    "simple-sd": {"sdoc": 72.4, "sda": 41.8, "epc": 44.7, "epa": 31.0},
    "logit-part": {"sdoc": 73.7, "sda": 42.3, "epc": 45.4, "epa": 30.0},
    "logit-full": {"sdoc": 73.6, "sda": 43.0, "epc": 44.9, "epa": 31.0},
    "xgboost-part": {"sdoc": 77.6, "sda": 43.4, "epc": 44.2, "epa": 31.3},
    "xgboost-full": {"sdoc": 79.7, "sda": 47.5, "epc": 47.3, "epa": 33.7},
    "bi-encoder": {"epa": 14.88},
    "unipolar-ret": {"epa": 30.04},
    "bm25+cross-encoder": {"@1/10": 8.76, "@1/30": 15.57, "@1/50": 15.57},
    "bm25+unipolar-cls": {"@1/10": 1.28, "@1/30": 2.16, "@1/50": 2.73},
    "bi-encoder+cross-encoder": {"@1/10": 6.22, "@1/30": 2.44, "@1/50": 1.79},
    "bipolar": {"@1/10": 48.86, "@1/30": 49.04, "@1/50": 48.89},
    "without-difference": {"@1/10": 13.40, "@1/30": 5.48, "@1/50": 1.24},
    "without-joint": {"@1/10": 43.63, "@1/30": 42.02, "@1/50": 41.74},
}


def figure(row: str, measure: str) -> float | None:
    """The printed figure of a row in percent; None where the paper prints none."""
    return FIGURES.get(row, {}).get(measure)
