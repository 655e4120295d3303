"""Stance KL divergence: how far apart do the cosines of agreeing and of opposing pairs lie?

Ghafouri et al., "Stance-Aware Sentence Transformers for Opinion Mining" (EMNLP 2024), Section 5.1 and Table 2. The
module takes numbers, never a model. By default it compares both groups in the same bins; the authors' own computation,
which does not, is there to reproduce their table.
"""

import operator

import datasets
import evaluate
import numpy as np
from scipy.stats import entropy
from sklearn.metrics import roc_auc_score

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
    >>> {name: round(value, 3) for name, value in scores.items()}
    {'kl': 0.157, 'auroc': 0.833, 'n_agree': 3, 'n_oppose': 3, 'mean_agree': 0.8, 'mean_oppose': 0.233}
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
            features=datasets.Features(
                {"predictions": datasets.Value("float64"), "references": datasets.Value("float64")}
            ),
            reference_urls=["https://github.com/vahidthegreat/StanceAware_SBERT"],
        )

    def add_batch(self, *, predictions=None, references=None, **kwargs):
        """Checks a batch before it is stored, since the library's own messages name neither value nor index."""
        predictions, references = check_pairs(predictions, references)
        super().add_batch(predictions=predictions, references=references, **kwargs)

    def _compute(self, predictions, references, mode="shared", bins=50):
        return stance_kl_divergence(predictions, references, mode=mode, bins=bins)


def stance_kl_divergence(predictions, references, mode: str = "shared", bins: int = 50) -> dict:
    """KL divergence of the cosines of agreeing from those of opposing pairs, with AUROC, counts and means.

    Args:
        predictions: cosine similarities, shape `(n,)`, in [-1, 1].
        references: 1 for agreeing, 0 for opposing pairs, shape `(n,)`.
        mode: `"shared"` (see `kl_shared_bins`) or `"paper"` (see `kl_own_ranges`).
        bins: number of bins, at least 2.

    Returns:
        dict with `kl`, `auroc`, `n_agree`, `n_oppose`, `mean_agree`, `mean_oppose`.

    Raises:
        ValueError: see `check_pairs` and `check_both_classes`; also for an unknown mode or fewer than 2 bins.

    Source: Ghafouri et al. 2024, Section 5.1, Table 2.
    """
    if mode not in KL_BY_MODE:
        raise ValueError(f"Unknown mode {mode!r}: choose one of {', '.join(map(repr, KL_BY_MODE))}.")
    try:
        bins = operator.index(bins)
    except TypeError:
        raise ValueError(f"bins is {bins!r}: pass a whole number of at least 2.") from None
    if bins < 2:
        raise ValueError(f"bins is {bins}: at least 2 bins are needed to tell two distributions apart.")
    predictions, references = check_pairs(predictions, references)
    n_oppose, n_agree = check_both_classes(references, "oppose", "agree")
    agree, oppose = predictions[references == 1], predictions[references == 0]
    return {
        "kl": KL_BY_MODE[mode](agree, oppose, bins),
        "auroc": float(roc_auc_score(references, predictions)),
        "n_agree": n_agree,
        "n_oppose": n_oppose,
        "mean_agree": float(agree.mean()),
        "mean_oppose": float(oppose.mean()),
    }


def kl_shared_bins(agree: np.ndarray, oppose: np.ndarray, bins: int) -> float:
    """KL(agree || oppose) over equal bins of [-1, 1], both histograms mixed with the same share of the uniform one.

    The share is that of `PSEUDO_COUNT` a bin in the smaller group, so for groups of equal size this is plain additive
    smoothing. An empty bin then counts as "seen less than once in this many pairs", not as impossible, so one outlier
    moves the result by about its own weight. One share for both groups keeps the result at 0 whenever their relative
    frequencies are equal, whatever their sizes.

    Args:
        agree: cosines of agreeing pairs, shape `(n_agree,)`.
        oppose: cosines of opposing pairs, shape `(n_oppose,)`.
        bins: number of bins.

    Returns:
        A float >= 0; not symmetric in the two groups.
    """
    pseudo_counts = PSEUDO_COUNT * bins
    uniform_share = pseudo_counts / (min(len(agree), len(oppose)) + pseudo_counts)

    def smoothed(cosines: np.ndarray) -> np.ndarray:
        frequencies = np.histogram(cosines, bins=bins, range=(-1, 1))[0] / len(cosines)
        return (1 - uniform_share) * frequencies + uniform_share / bins

    return max(0.0, float(entropy(smoothed(agree), smoothed(oppose))))  # rounding can leave -1e-17


def kl_own_ranges(agree: np.ndarray, oppose: np.ndarray, bins: int) -> float:
    """The authors' computation: bin each group over its own minimum to maximum, then compare bin i with bin i.

    Densities are normalised to probabilities, 1e-10 is added, and `scipy.stats.entropy` normalises again. The i-th bins
    cover different cosines, so the result sees the shape of the two distributions and not where they lie: it is 0 for
    groups that are apart but of equal shape, and one outlier, which stretches its group's bins, can take it to 14.

    Args and Returns: as for `kl_shared_bins`.

    Source: `codes_output_analysis/Output-Analysis-Charts.ipynb` in the authors' repository.
    """

    def own_range(cosines: np.ndarray) -> np.ndarray:
        density = np.histogram(cosines, bins=bins, density=True)[0]
        return density / density.sum() + PAPER_EPSILON

    return max(0.0, float(entropy(own_range(agree), own_range(oppose))))


KL_BY_MODE = {"shared": kl_shared_bins, "paper": kl_own_ranges}


def check_pairs(predictions, references) -> tuple[np.ndarray, np.ndarray]:
    """Cosines in [-1, 1] and labels in {0, 1} as float64 arrays of one length, or a ValueError that names the cure."""
    predictions, references = as_cosines(predictions), as_numbers("references", references)
    check_lengths(predictions, references)
    bad = np.flatnonzero((references != 0) & (references != 1))
    if bad.size:
        raise ValueError(f"references[{bad[0]}] is {references[bad[0]]:g}: labels must be 0 or 1.")
    return predictions, references


def check_both_classes(references: np.ndarray, zero: str, one: str) -> tuple[int, int]:
    """Number of zeros and of ones; a ValueError if either is missing."""
    n_one = int(np.count_nonzero(references))
    n_zero = len(references) - n_one
    if not n_zero or not n_one:
        only, missing = (f"1 ({one})", f"0 ({zero})") if n_one else (f"0 ({zero})", f"1 ({one})")
        raise ValueError(f"All {len(references)} references are {only}: add pairs with reference {missing}.")
    return n_zero, n_one


def check_lengths(predictions, references) -> None:
    """Raises a ValueError if the two inputs differ in length or are empty."""
    if len(predictions) != len(references):
        raise ValueError(
            f"{len(predictions)} predictions but {len(references)} references: pass one reference per prediction."
        )
    if len(predictions) == 0:
        raise ValueError("predictions and references are empty: there is nothing to score.")


def as_cosines(values) -> np.ndarray:
    """A float64 array clipped to [-1, 1]; a ValueError names the first value that is further out than `TOLERANCE`."""
    cosines = as_numbers("predictions", values)
    bad = np.flatnonzero(np.abs(cosines) > 1 + TOLERANCE)
    if bad.size:
        raise ValueError(
            f"predictions[{bad[0]}] is {cosines[bad[0]]:g}, outside [-1, 1]: pass cosine similarities "
            "(normalise the embeddings before a dot product, turn a cosine distance d into 1 - d)."
        )
    return np.clip(cosines, -1, 1)


def as_numbers(name: str, values) -> np.ndarray:
    """A finite, one-dimensional float64 array of `values`; a ValueError names the first bad entry."""
    try:
        if hasattr(values, "__getitem__"):
            values = values[:]  # a lazy column of a dataset is slow to read one entry at a time
        numbers = np.asarray(values, dtype=np.float64)
    except (TypeError, ValueError) as error:
        raise ValueError(f"{name} must be a flat list or array of numbers: {error}.") from None
    if numbers.ndim != 1:
        given = "None" if values is None else f"an input of shape {numbers.shape}"
        raise ValueError(f"{name} must be a flat list or array of numbers, not {given}.")
    bad = np.flatnonzero(~np.isfinite(numbers))
    if bad.size:
        raise ValueError(f"{name}[{bad[0]}] is {list(values)[bad[0]]}: drop or repair missing and infinite entries.")
    return numbers
