"""Alignment precision: of the texts an opinion query retrieves, how many were written by the query's own side?

Ghafouri et al., "Stance-Aware Sentence Transformers for Opinion Mining" (EMNLP 2024), Section 5.3, Tables 4 and 8. The
module takes numbers and group labels, never a model.
"""

from collections import Counter

import datasets
import evaluate
import numpy as np
from sklearn.utils.validation import check_consistent_length, column_or_1d

_DESCRIPTION = """
Alignment precision takes the cosine similarity of one query statement to each text of a corpus and the group (such as
the party) of each text's author. It keeps the texts at or above a similarity threshold and returns the share of them
whose group is the query's. The counts per group, that group's share of all texts and precision at k are returned too.
"""

_KWARGS_DESCRIPTION = """
Args:
    predictions (`list` or `numpy.ndarray` of `float`, shape `(n,)`): cosine of the query with each text, in [-1, 1].
    references (`list` or `numpy.ndarray` of `str`, shape `(n,)`): group of each text's author.
    target (`str`): the group whose view the query states; must occur in `references`.
    threshold (`float`): keep texts with similarity >= threshold; in [-1, 1].
    k (`int` or `list` of `int`, optional): cut-offs for precision at k over all texts, each from 1 to n.
Returns:
    alignment_precision (`float` or `None`): equal to `precision`.
    precision (`float` or `None`): share of the kept texts whose group is `target`, in [0, 1]; None if none was kept.
    retrieved (`int`): number of texts kept.
    counts (`dict` of `str` to `int`): kept texts per group; groups without any are there with 0.
    base_rate (`float`): share of `target` among all texts, in (0, 1]; the precision of a random choice.
    precision_at_k (`dict` of `int` to `float`): share of `target` among the k most similar texts; empty without `k`.
Raises:
    ValueError: empty input, NaN or infinity, a similarity outside [-1, 1], a group that is no string, lengths that
        differ, a missing or unknown target, a missing threshold or one outside [-1, 1], or k outside 1..n.
Examples:
    >>> import evaluate
    >>> alignment = evaluate.load("metrics/alignment_precision")
    >>> scores = alignment.compute(
    ...     predictions=[0.9, 0.8, 0.7, 0.2], references=["D", "R", "D", "R"], target="D", threshold=0.75, k=1
    ... )
    >>> scores["alignment_precision"], scores["counts"], scores["base_rate"], scores["precision_at_k"]
    (0.5, {'D': 1, 'R': 1}, 0.5, {1: 1.0})
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


@evaluate.utils.file_utils.add_start_docstrings(_DESCRIPTION, _KWARGS_DESCRIPTION)
class AlignmentPrecision(evaluate.Metric):
    def _info(self):
        return evaluate.MetricInfo(
            description=_DESCRIPTION,
            citation=_CITATION,
            inputs_description=_KWARGS_DESCRIPTION,
            # No format="numpy": it hands float64 columns over as float32, and a similarity of 0.7 falls below 0.7.
            features=datasets.Features(predictions=datasets.Value("float64"), references=datasets.Value("string")),
            reference_urls=["https://github.com/vahidthegreat/StanceAware_SBERT"],
        )

    def _compute(self, predictions, references, target=None, threshold=None, k=None):
        scores = alignment_precision(predictions, references, target=target, threshold=threshold, k=k)
        return {"alignment_precision": scores["precision"], **scores}


def alignment_precision(predictions, references, target: str, threshold: float, k=None) -> dict:
    """Share of the texts at or above a similarity threshold whose author belongs to the target group.
    Arguments, keys and errors are those of `AlignmentPrecision`. Source: Ghafouri et al. 2024, Section 5.3, Table 4.
    """
    predictions = as_numbers("predictions", predictions, lambda x: np.abs(x) <= 1 + TOLERANCE, COSINES).clip(-1, 1)
    references = list(references)
    for i, group in enumerate(references):
        if not isinstance(group, str):
            raise ValueError(f"references[{i}] is {group!r}: group labels must be strings, and none may be missing.")
    check_consistent_length(predictions, references)
    totals = Counter(references)
    if not isinstance(target, str) or target not in totals:
        raise ValueError(f"target is {target!r}: pass one of the groups in references, {sorted(totals)}.")
    if not isinstance(threshold, (int, float, np.number)) or not -1 <= threshold <= 1:
        raise ValueError(f"threshold is {threshold!r}: pass the lowest cosine to keep, a number between -1 and 1.")
    counts = Counter(references[i] for i in np.flatnonzero(predictions >= threshold))
    retrieved = counts.total()
    return {
        "precision": counts[target] / retrieved if retrieved else None,
        "retrieved": retrieved,
        "counts": {group: counts[group] for group in sorted(totals)},
        "base_rate": totals[target] / len(references),
        "precision_at_k": precision_at_k(predictions, [group == target for group in references], k),
    }


def precision_at_k(predictions: np.ndarray, aligned: list[bool], k=None) -> dict[int, float]:
    """Share of aligned texts among the k most similar ones, for each k; ties keep the order of the input."""
    if k is None:
        return {}
    cutoffs = list(k) if np.iterable(k) else [k]
    for cutoff in cutoffs:
        if not isinstance(cutoff, (int, np.integer)) or not 1 <= cutoff <= len(predictions):
            raise ValueError(f"k is {cutoff!r}: pass whole numbers from 1 to the number of texts, {len(predictions)}.")
    hits = np.cumsum(np.asarray(aligned)[np.argsort(-predictions, kind="stable")])
    return {int(cutoff): float(hits[cutoff - 1] / cutoff) for cutoff in cutoffs}


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
