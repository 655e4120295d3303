"""SgTS, Sentiment-guided Textual Similarity: do embeddings place sentences of equal sentiment polarity close together?

Kim et al., "SentiCSE" (LREC-COLING 2024), Section 2. The module takes numbers, never a model.
"""

import datasets
import evaluate
import numpy as np
from scipy.stats import spearmanr
from sklearn.metrics import roc_auc_score
from sklearn.utils.validation import check_consistent_length, column_or_1d

_DESCRIPTION = """
Sentiment-guided Textual Similarity (SgTS) is the Spearman correlation between the cosine similarity of two sentence
embeddings and a 0/1 gold label that says whether both sentences have the same sentiment polarity. Against a 0/1 gold a
Spearman correlation cannot reach 1 (at most 0.866 if the classes are balanced), so the highest attainable value
(`ceiling`), the share of it that was reached (`normalized`) and the AUROC are returned as well.
"""

_KWARGS_DESCRIPTION = """
Args:
    predictions (`list` or `numpy.ndarray` of `float`, shape `(n,)`): cosine similarity of each pair, in [-1, 1].
    references (`list` or `numpy.ndarray` of `int`, shape `(n,)`): 1 = same polarity, 0 = different polarity.
Returns:
    sgts (`float`): equal to `spearman`.
    spearman (`float`): Spearman correlation, in [-1, 1]; the paper's SgTS.
    ceiling (`float`): the highest Spearman correlation a tie-free ranking can reach on these references, in (0, 1].
    normalized (`float`): spearman / ceiling; in [-1, 1] if no two similarities are equal.
    auroc (`float`): probability that a same-polarity pair is more similar than a different one, in [0, 1].
    n_same (`int`), n_different (`int`): number of pairs of either class.
Raises:
    ValueError: empty or constant predictions, NaN or infinity, a similarity outside [-1, 1], a reference other than
        0 or 1, only one class, or lengths that differ.
Examples:
    >>> import evaluate
    >>> sgts = evaluate.load("metrics/sgts")
    >>> scores = sgts.compute(predictions=[0.9, 0.2, 0.6, 0.7], references=[1, 0, 1, 0])
    >>> {name: round(scores[name], 3) for name in ("sgts", "ceiling", "normalized", "auroc")}
    {'sgts': 0.447, 'ceiling': 0.894, 'normalized': 0.5, 'auroc': 0.75}
"""

_CITATION = r"""
@inproceedings{kim-etal-2024-senticse,
  title     = {{SentiCSE}: A Sentiment-aware Contrastive Sentence Embedding Framework with Sentiment-guided Textual
               Similarity},
  author    = {Kim, Jaemin and Na, Yohan and Kim, Kangmin and Lee, Sang Rak and Chae, Dong-Kyu},
  booktitle = {Proceedings of LREC-COLING 2024},
  year      = {2024}
}
"""

TOLERANCE = 1e-4  # a cosine in float32 or float16 may leave [-1, 1] by rounding alone
COSINES = "pass cosines in [-1, 1]: normalise embeddings before a dot product, turn a distance d into 1 - d"


@evaluate.utils.file_utils.add_start_docstrings(_DESCRIPTION, _KWARGS_DESCRIPTION)
class Sgts(evaluate.Metric):
    def _info(self):
        return evaluate.MetricInfo(
            description=_DESCRIPTION,
            citation=_CITATION,
            inputs_description=_KWARGS_DESCRIPTION,
            # References are floats too: an integer feature would silently turn 0.5 into 0. No format="numpy": it hands
            # float64 columns over as float32, which makes ties.
            features=datasets.Features(dict.fromkeys(("predictions", "references"), datasets.Value("float64"))),
            reference_urls=["https://github.com/nayohan/SentiCSE"],
        )

    def _compute(self, predictions, references):
        scores = sgts(predictions, references)
        return {"sgts": scores["spearman"], **scores}


def sgts(predictions, references) -> dict:
    """Spearman correlation of cosines with a 0/1 gold, its ceiling, their ratio, and AUROC (SentiCSE, Section 2).
    Arguments, keys and errors are those of `Sgts`.
    """
    predictions, references = check_pairs(predictions, references)
    for name, values in {"predictions": predictions, "references": references}.items():
        if np.ptp(values) == 0:
            raise ValueError(
                f"All {len(values)} {name} equal {values[0]:g}, so a rank correlation is undefined: add pairs of both "
                "classes, and check that the encoder does not map every text to the same vector."
            )
    n_same = int(references.sum())
    n_different = len(references) - n_same
    spearman = float(spearmanr(predictions, references).statistic)
    ceiling = spearman_ceiling(n_same, n_different)
    return {
        "spearman": spearman,
        "ceiling": ceiling,
        "normalized": spearman / ceiling,
        "auroc": float(roc_auc_score(references, predictions)),
        "n_same": n_same,
        "n_different": n_different,
    }


def spearman_ceiling(n_same: int, n_different: int) -> float:
    """Highest Spearman correlation between any ranking without ties and a 0/1 gold: `sqrt(3 s d / (n^2 - 1))`.

    With n = s + d the best ranking puts all s pairs above all d pairs, so the mean ranks of the classes differ by
    n / 2. The covariance with the gold is then `(s d / n^2) (n / 2)`, the gold's variance is `s d / n^2`, and that of
    the ranks 1..n is `(n^2 - 1) / 12`. For s = d it falls from 1 at n = 2 towards `sqrt(3) / 2 = 0.866`.
    """
    n = n_same + n_different
    return float(np.sqrt(3 * n_same * n_different / (n**2 - 1)))


def check_pairs(predictions, references) -> tuple[np.ndarray, np.ndarray]:
    """Cosines clipped to [-1, 1] and labels in {0, 1} as float64 arrays of one length, or a ValueError."""
    predictions = as_numbers("predictions", predictions, lambda x: np.abs(x) <= 1 + TOLERANCE, COSINES)
    references = as_numbers("references", references, lambda x: (x == 0) | (x == 1), "labels must be 0 or 1")
    check_consistent_length(predictions, references)
    return np.clip(predictions, -1, 1), references


def as_numbers(name: str, values, allowed, cure: str) -> np.ndarray:
    """Float64 numbers of shape `(n,)`, n at least 1; a ValueError names the first not `allowed`, and the cure."""
    try:
        # [:] since a lazy column of a dataset is slow to read one entry at a time
        numbers = column_or_1d(np.asarray(values[:], dtype=np.float64), input_name=name)
    except (TypeError, ValueError, KeyError) as error:
        raise ValueError(f"{name} must be a flat list or array of numbers: {error}.") from None
    if not numbers.size:
        raise ValueError(f"{name} is empty: there is nothing to score.")
    bad = ~allowed(numbers)
    if bad.any():
        raise ValueError(f"{name}[{bad.argmax()}] is {numbers[bad.argmax()]:g}: {cure}.")
    return numbers
