"""Stance KL divergence: how far apart do the cosines of agreeing and of opposing pairs lie?

Ghafouri et al., "Stance-Aware Sentence Transformers for Opinion Mining" (EMNLP 2024), Section 5.1 and Table 2. The
module takes numbers, never a model.
"""

import datasets
import evaluate
import numpy as np
from scipy.stats import entropy
from sklearn.metrics import roc_auc_score
from sklearn.utils.validation import check_consistent_length, column_or_1d

_DESCRIPTION = """
Stance KL divergence is KL(agree || oppose), in nats, between the histograms of the cosine similarities of agreeing and
of opposing pairs of texts. It is 0 if both groups have the same histogram and grows as an encoder separates them. The
AUROC, which needs no bins and knows the direction, is returned beside it.
"""

_KWARGS_DESCRIPTION = """
Args:
    predictions (`list` or `numpy.ndarray` of `float`, shape `(n,)`): cosine similarity of each pair, in [-1, 1].
    references (`list` or `numpy.ndarray` of `int`, shape `(n,)`): 1 = the two texts agree, 0 = they oppose.
    mode (`str`, default `"shared"`): `"shared"` uses equal bins over [-1, 1] for both groups and smooths them;
        `"paper"` bins each group over its own range as the authors' code does, to reproduce Table 2.
    bins (`int`, default 50): number of bins, at least 2.
Returns:
    stance_kl_divergence (`float`): equal to `kl`.
    kl (`float`): KL(agree || oppose) in nats, at least 0.
    auroc (`float`): probability that an agreeing pair is more similar than an opposing one, in [0, 1].
    n_agree (`int`), n_oppose (`int`): number of pairs in either group.
    mean_agree (`float`), mean_oppose (`float`): mean cosine of either group, in [-1, 1].
Raises:
    ValueError: empty input, NaN or infinity, a similarity outside [-1, 1], a reference other than 0 or 1, only one
        class, lengths that differ, an unknown mode, or fewer than 2 bins.
Examples:
    >>> import evaluate
    >>> stance_kl = evaluate.load("metrics/stance_kl_divergence")
    >>> scores = stance_kl.compute(predictions=[0.8, 0.9, 0.7, -0.2, 0.1, 0.8], references=[1, 1, 1, 0, 0, 0], bins=2)
    >>> {name: round(scores[name], 3) for name in ('stance_kl_divergence', 'auroc', 'mean_agree', 'mean_oppose')}
    {'stance_kl_divergence': 0.157, 'auroc': 0.833, 'mean_agree': 0.8, 'mean_oppose': 0.233}
"""

_CITATION = r"""
@inproceedings{ghafouri-etal-2024-love,
  title     = {{I} love pineapple on pizza != {I} hate pineapple on pizza: Stance-Aware Sentence Transformers for
               Opinion Mining},
  author    = {Ghafouri, Vahid and Such, Jose and Suarez-Tangil, Guillermo},
  booktitle = {Proceedings of the 2024 Conference on Empirical Methods in Natural Language Processing},
  year      = {2024}
}
"""

TOLERANCE = 1e-4  # a cosine in float32 or float16 may leave [-1, 1] by rounding alone
COSINES = "pass cosines in [-1, 1]: normalise embeddings before a dot product, turn a distance d into 1 - d"
PSEUDO_COUNT = 0.5  # per bin: Jeffreys' prior for a multinomial
PAPER_EPSILON = 1e-10


@evaluate.utils.file_utils.add_start_docstrings(_DESCRIPTION, _KWARGS_DESCRIPTION)
class StanceKlDivergence(evaluate.Metric):
    def _info(self):
        return evaluate.MetricInfo(
            description=_DESCRIPTION,
            citation=_CITATION,
            inputs_description=_KWARGS_DESCRIPTION,
            # References are floats too: an integer feature would silently turn 0.5 into 0. No format="numpy": it hands
            # float64 columns over as float32.
            features=datasets.Features(dict.fromkeys(("predictions", "references"), datasets.Value("float64"))),
            reference_urls=["https://github.com/vahidthegreat/StanceAware_SBERT"],
        )

    def _compute(self, predictions, references, mode="shared", bins=50):
        scores = stance_kl_divergence(predictions, references, mode=mode, bins=bins)
        return {"stance_kl_divergence": scores["kl"], **scores}


def stance_kl_divergence(predictions, references, mode: str = "shared", bins: int = 50) -> dict:
    """KL divergence of the cosines of agreeing from those of opposing pairs, with AUROC, counts and means.
    Arguments, keys and errors are those of `StanceKlDivergence`. Source: Ghafouri et al. 2024, Section 5.1, Table 2.
    """
    if mode not in KL_BY_MODE:
        raise ValueError(f"Unknown mode {mode!r}: choose one of {', '.join(map(repr, KL_BY_MODE))}.")
    if not isinstance(bins, (int, np.integer)) or bins < 2:
        raise ValueError(f"bins is {bins!r}: pass a whole number of at least 2, to tell two distributions apart.")
    predictions, references = check_pairs(predictions, references)
    agree, oppose = predictions[references == 1], predictions[references == 0]
    if not len(agree) or not len(oppose):
        raise ValueError(f"All {len(references)} references are {references[0]:g}: add pairs of the other class.")
    return {
        "kl": KL_BY_MODE[mode](agree, oppose, bins),
        "auroc": float(roc_auc_score(references, predictions)),
        "n_agree": len(agree),
        "n_oppose": len(oppose),
        "mean_agree": float(agree.mean()),
        "mean_oppose": float(oppose.mean()),
    }


def kl_shared_bins(agree: np.ndarray, oppose: np.ndarray, bins: int) -> float:
    """KL(agree || oppose) over equal bins of [-1, 1], both histograms mixed with the same share of the uniform one.

    The share is that of `PSEUDO_COUNT` a bin in the smaller group: for groups of equal size plain additive smoothing,
    so that one outlier moves the result by about its own weight. One share for both groups keeps the result at 0
    whenever their relative frequencies are equal, whatever their sizes.
    """
    pseudo_counts = PSEUDO_COUNT * bins
    uniform_share = pseudo_counts / (min(len(agree), len(oppose)) + pseudo_counts)

    def smoothed(cosines: np.ndarray) -> np.ndarray:
        frequencies = np.histogram(cosines, bins=bins, range=(-1, 1))[0] / len(cosines)
        return (1 - uniform_share) * frequencies + uniform_share / bins

    return max(0.0, float(entropy(smoothed(agree), smoothed(oppose))))  # rounding can leave -1e-17


def kl_own_ranges(agree: np.ndarray, oppose: np.ndarray, bins: int) -> float:
    """The authors' computation: bin each group over its own minimum to maximum, then compare bin i with bin i.

    The i-th bins cover different cosines, so the result sees the shape of the two distributions and not where they lie:
    it is 0 for groups that are apart but of equal shape, and one outlier, which stretches its bins, can take it to 14.

    Source: `codes_output_analysis/Output-Analysis-Charts.ipynb` in the authors' repository.
    """

    def own_range(cosines: np.ndarray) -> np.ndarray:
        density = np.histogram(cosines, bins=bins, density=True)[0]
        return density / density.sum() + PAPER_EPSILON

    return max(0.0, float(entropy(own_range(agree), own_range(oppose))))


KL_BY_MODE = {"shared": kl_shared_bins, "paper": kl_own_ranges}


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
