"""Counter-argument accuracy: for how many points is the candidate that is ranked first a right counter-argument?

Wachsmuth et al., "Retrieval of the Best Counterargument without Prior Topic Knowledge" (ACL 2018), and Shi et al.,
"Revisiting the Role of Similarity and Dissimilarity in Best Counter Argument Retrieval" (2023), Tables 2 and 3. The
module takes numbers, never a model: ids of candidates in the order in which a system ranks them, and the right ones.
"""

import datasets
import evaluate
import numpy as np
from scipy.stats import bootstrap
from sklearn.utils.validation import check_consistent_length

_DESCRIPTION = """
Counter-argument accuracy takes, for each argument (the point), the candidates that a system ranks, best first, and the
counter-arguments that are right. It returns the share of points with a right one in the first place (accuracy@1) with a
bootstrap confidence interval, the share with a right one among the first k, and the mean reciprocal rank.
"""

_KWARGS_DESCRIPTION = """
Args:
    predictions (`list` of `list` of `int`): candidates of each point, best first; at least one, each once.
    references (`list` of `list` of `int`): ids of the right counters of each point, in any order; at least one.
    k (`int` or `list` of `int`, optional): cut-offs for `accuracy_at_k`, each at least 1.
    groups (`list` of `str` or `int`, optional): debate of each point; the interval then resamples debates, not points.
    n_bootstrap (`int`, default 1000): resamples for the interval; 0 for none.
    seed (`int`, default 0): seed of the resampling.
Returns:
    counterargument_accuracy (`float`): equal to `accuracy_at_1`.
    accuracy_at_1 (`float`): share of points whose first candidate is right, in [0, 1].
    accuracy_at_1_low, accuracy_at_1_high (`float` or `None`): its 95 % percentile bootstrap interval; None if
        `n_bootstrap` is 0 or there is only one point (with `groups`: one debate).
    accuracy_at_k (`dict` of `int` to `float`): share of points with a right one among the first k; empty without `k`.
    mean_reciprocal_rank (`float`): mean of 1 / rank of the first right one, 0 where none is ranked; in [0, 1].
    n (`int`): number of points.
Raises:
    ValueError: empty input, lengths that differ, an empty ranking or reference, ids that are no whole numbers, are
        negative or occur twice in a ranking, k below 1, or a bad group, n_bootstrap or seed.
Examples:
    >>> import evaluate
    >>> counterargument_accuracy = evaluate.load("metrics/counterargument_accuracy")
    >>> scores = counterargument_accuracy.compute(
    ...     predictions=[[4, 7, 2], [5, 1, 3], [6, 0, 2], [3, 1, 4]], references=[[4], [3, 1], [6], [9]], k=[2, 3]
    ... )
    >>> {name: scores[name] for name in ("counterargument_accuracy", "accuracy_at_k", "mean_reciprocal_rank")}
    {'counterargument_accuracy': 0.5, 'accuracy_at_k': {2: 0.75, 3: 0.75}, 'mean_reciprocal_rank': 0.625}
"""

_CITATION = r"""
@misc{shi2023revisiting,
  title         = {Revisiting the Role of Similarity and Dissimilarity in Best Counter Argument Retrieval},
  author        = {Shi, Hongguang and Cao, Shuirong and Nguyen, Cam-Tu},
  year          = {2023},
  eprint        = {2304.08807},
  archivePrefix = {arXiv}
}
@inproceedings{wachsmuth-etal-2018-retrieval,
  title     = {Retrieval of the Best Counterargument without Prior Topic Knowledge},
  author    = {Wachsmuth, Henning and Syed, Shahbaz and Stein, Benno},
  booktitle = {Proceedings of the 56th Annual Meeting of the Association for Computational Linguistics},
  year      = {2018},
  doi       = {10.18653/v1/P18-1023}
}
"""

CELLS = 4_000_000  # numbers that the bootstrap draws at a time: 32 MB each for the draw and what it selects


@evaluate.utils.file_utils.add_start_docstrings(_DESCRIPTION, _KWARGS_DESCRIPTION)
class CounterargumentAccuracy(evaluate.Metric):
    def _info(self):
        ids = datasets.Sequence(datasets.Value("int64"))
        return evaluate.MetricInfo(
            description=_DESCRIPTION,
            citation=_CITATION,
            inputs_description=_KWARGS_DESCRIPTION,
            features=datasets.Features({"predictions": ids, "references": ids}),
            reference_urls=["https://arxiv.org/abs/2304.08807", "https://aclanthology.org/P18-1023/"],
        )

    def add_batch(self, *, predictions=None, references=None, **kwargs):
        """Checks a batch before it is stored, since the library's own messages name neither value nor index."""
        predictions, references = check_rankings(predictions, references)
        super().add_batch(predictions=predictions, references=references, **kwargs)

    def _compute(self, predictions, references, k=None, groups=None, n_bootstrap=1000, seed=0):
        scores = counterargument_accuracy(predictions, references, k, groups, n_bootstrap, seed)
        return {"counterargument_accuracy": scores["accuracy_at_1"], **scores}


def counterargument_accuracy(
    predictions, references, k=None, groups=None, n_bootstrap: int = 1000, seed: int = 0
) -> dict:
    """Share of points whose first candidate, or one of the first k, is a right counter-argument.

    Rankings hold ids without scores, so whoever ranks decides about ties: with the right ones last, to be safe. A right
    counter that is not ranked is a miss at every k; a ranking shorter than k counts with all that it has. Points of one
    debate share their candidates, so an interval over single points is too narrow: give `groups`. Arguments, keys and
    errors are those of `CounterargumentAccuracy`. Source: Wachsmuth et al. 2018; Shi et al. 2023, Tables 2 and 3.
    """
    predictions, references = check_rankings(predictions, references)
    cutoffs = [] if k is None else [whole("k", cutoff, 1) for cutoff in (k if np.iterable(k) else [k])]
    ranks = np.full(len(predictions), np.inf)  # of the first right candidate of each point, from 1
    for i, (ranking, right) in enumerate(zip(predictions, references, strict=True)):
        places = np.flatnonzero(np.isin(ranking, right))
        if places.size:
            ranks[i] = places[0] + 1
    low, high = accuracy_interval(
        ranks == 1, group_numbers(groups, len(ranks)), whole("n_bootstrap", n_bootstrap, 0), whole("seed", seed, 0)
    )
    return {
        "accuracy_at_1": float(np.mean(ranks == 1)),
        "accuracy_at_1_low": low,
        "accuracy_at_1_high": high,
        "accuracy_at_k": {cutoff: float(np.mean(ranks <= cutoff)) for cutoff in cutoffs},
        "mean_reciprocal_rank": float(np.mean(1 / ranks)),
        "n": len(ranks),
    }


def accuracy_interval(right: np.ndarray, groups: np.ndarray, n_bootstrap: int, seed: int) -> tuple:
    """95 % percentile interval of the share of right points when groups are drawn with replacement.

    The accuracy of a draw is over the points that it holds. Bounds are None without resamples or with one group.
    """
    sizes = np.bincount(groups)
    if n_bootstrap == 0 or len(sizes) == 1:
        return None, None
    interval = bootstrap(
        (np.bincount(groups, weights=right), sizes),
        lambda hits, points, axis: hits.sum(axis) / points.sum(axis),
        n_resamples=n_bootstrap,
        batch=max(1, CELLS // len(sizes)),
        vectorized=True,
        paired=True,
        method="percentile",
        rng=np.random.default_rng(seed),
    ).confidence_interval
    return float(interval.low), float(interval.high)


def check_rankings(predictions, references) -> tuple[list[np.ndarray], list[np.ndarray]]:
    """Rankings and right ids as lists of integer arrays, or a ValueError."""
    predictions, references = as_id_lists("predictions", predictions), as_id_lists("references", references)
    check_consistent_length(predictions, references)
    if not predictions:
        raise ValueError("predictions and references are empty: there is nothing to score.")
    for i, ranking in enumerate(predictions):
        ids, counts = np.unique(ranking, return_counts=True)
        if len(ids) < len(ranking):
            raise ValueError(
                f"predictions[{i}] ranks candidate {ids[counts.argmax()]} twice: keep the better place of each, and "
                "make identical texts one candidate."
            )
    return predictions, references


def as_id_lists(name: str, values) -> list[np.ndarray]:
    """One int64 array of ids per point; a ValueError names the first entry that holds no ids."""
    if isinstance(values, (str, dict)) or not np.iterable(values):
        raise ValueError(f"{name} must be a list with one list of ids per point, not {values!r}.")
    if hasattr(values, "__getitem__"):
        values = values[:]  # a lazy column of a dataset is slow to read one entry at a time
    lists = []
    for i, entry in enumerate(values):
        if name == "references" and isinstance(entry, (set, frozenset)):  # a ranking has an order, and a set none
            entry = sorted(entry)
        try:
            ids = np.asarray(entry)
        except ValueError:  # lists of several lengths within one entry
            ids = np.asarray(None)
        if ids.ndim != 1 or not ids.size or ids.dtype.kind not in "iu" or ids.min() < 0:
            raise ValueError(
                f"{name}[{i}] is {entry!r}: pass a list of at least one id, whole numbers from 0 on; drop the -1 with "
                "which an index fills short rankings, and name a wrong id where it found nothing."
            )
        lists.append(ids.astype(np.int64))
    return lists


def group_numbers(groups, n: int) -> np.ndarray:
    """Groups numbered from 0, shape `(n,)`; without any, each point is one by itself."""
    if groups is None:
        return np.arange(n)
    groups = list(groups) if np.iterable(groups) and not isinstance(groups, str) else [groups]
    for i, group in enumerate(groups):
        if not isinstance(group, (str, int, np.integer)):
            raise ValueError(f"groups[{i}] is {group!r}: pass names or numbers of debates, and none may be missing.")
    if len(groups) != n:
        raise ValueError(f"{len(groups)} groups but {n} points: pass a list with the debate of each point.")
    numbers = {group: number for number, group in enumerate(dict.fromkeys(groups))}
    return np.array([numbers[group] for group in groups])


def whole(name: str, value, least: int) -> int:
    """The value as an integer that is not below `least`, or a ValueError that names the option."""
    if not isinstance(value, (int, np.integer)) or value < least:
        raise ValueError(f"{name} is {value!r}: pass a whole number of at least {least}.")
    return int(value)
