"""Opinion similarity: do similarities of two opinions agree with people, also among opinions that differ?

Tay et al., "Measuring Similarity of Opinion-bearing Sentences" (2021), Tables 3, 4 and 9. The module takes numbers,
never a model: similarities, and for each pair the mean of people's scores.
"""

import datasets
import evaluate
import numpy as np
from scipy.stats import kendalltau, pearsonr
from sklearn.utils.validation import check_consistent_length, column_or_1d

_DESCRIPTION = """
Opinion similarity compares similarities of pairs of opinion sentences with the mean of people's scores from 0
(completely different) to 4 (completely the same): Pearson and Kendall correlation over all pairs, within the broadly
different ones (mean at most 1.5) and within the broadly similar ones; and the share of pairs in either group which
people and the similarity place at opposite ends.
"""

_KWARGS_DESCRIPTION = """
Args:
    predictions (`list` or `numpy.ndarray` of `float`, shape `(n,)`): similarity of each pair, on any real scale;
        higher = more similar.
    references (`list` or `numpy.ndarray` of `float`, shape `(n,)`): mean human score of each pair, in [0, 4].
    boundary (`float`, default 1.5): pairs with a score up to this one are broadly different; in [0, 4).
Returns:
    opinion_similarity (`float`): equal to `pearson`.
    pearson (`float`), kendall (`float`): correlation over all pairs, in [-1, 1]; Kendall's is tau-b.
    pearson_different, kendall_different, pearson_similar, kendall_similar (`float` or `None`): the same within a group;
        None if the group has less than two pairs or only equal predictions or references.
    wrong_quartile_different (`float` or `None`): share of the broadly different pairs that people score in the bottom
        quartile and the predictions in the top one, in [0, 1]; None without such pairs.
    wrong_quartile_similar (`float` or `None`): share of the broadly similar pairs that people score in the top quartile
        and the predictions in the bottom one.
    top_quartile_different, bottom_quartile_similar (`float` or `None`): the same, whatever the quartile of people's
        score.
    n_different (`int`), n_similar (`int`): number of pairs in either group.
Raises:
    ValueError: less than two pairs, constant predictions or references, NaN or infinity, a reference outside [0, 4],
        lengths that differ, or a boundary outside [0, 4).
Examples:
    >>> import evaluate
    >>> opinion_similarity = evaluate.load("metrics/opinion_similarity")
    >>> scores = opinion_similarity.compute(
    ...     predictions=[0.9, 0.2, 0.1, 0.6, 0.3, 0.8, 0.4, 0.5], references=[0, 0.25, 0.5, 1, 2, 3, 3.5, 4]
    ... )
    >>> {name: round(scores[name], 3) for name in ("opinion_similarity", "kendall", "wrong_quartile_different")}
    {'opinion_similarity': 0.107, 'kendall': 0.071, 'wrong_quartile_different': 0.25}
"""

_CITATION = r"""
@inproceedings{tay-etal-2021-measuring,
  title     = {Measuring Similarity of Opinion-bearing Sentences},
  author    = {Tay, Wenyi and Zhang, Xiuzhen and Wan, Stephen and Karimi, Sarvnaz},
  booktitle = {Proceedings of the Third Workshop on New Frontiers in Summarization},
  year      = {2021}
}
"""

HIGHEST = 4  # of the scores that people gave: 0 completely different ... 4 completely the same


@evaluate.utils.file_utils.add_start_docstrings(_DESCRIPTION, _KWARGS_DESCRIPTION)
class OpinionSimilarity(evaluate.Metric):
    def _info(self):
        return evaluate.MetricInfo(
            description=_DESCRIPTION,
            citation=_CITATION,
            inputs_description=_KWARGS_DESCRIPTION,
            # No format="numpy": it hands float64 columns over as float32, which makes ties.
            features=datasets.Features(dict.fromkeys(("predictions", "references"), datasets.Value("float64"))),
            reference_urls=["https://github.com/wenyi-tay/sos"],
        )

    def _compute(self, predictions, references, boundary=1.5):
        scores = opinion_similarity(predictions, references, boundary=boundary)
        return {"opinion_similarity": scores["pearson"], **scores}


def opinion_similarity(predictions, references, boundary: float = 1.5) -> dict:
    """Correlation of similarities with human scores, overall and by group, and rates of opposite quartiles.
    Arguments, keys and errors are those of `OpinionSimilarity`. Source: Tay et al. 2021, Tables 3, 4 and 9 (rates).
    """
    people = f"pass mean human scores from 0 (completely different) to {HIGHEST} (the same), rescaled if need be"
    predictions = as_numbers("predictions", predictions, np.isfinite, "drop or repair missing and infinite entries")
    references = as_numbers("references", references, lambda x: (x >= 0) & (x <= HIGHEST), people)
    check_consistent_length(predictions, references)
    if not isinstance(boundary, (int, float, np.number)) or not 0 <= boundary < HIGHEST:
        raise ValueError(
            f"boundary is {boundary!r}: pass the highest score of broadly different pairs, from 0 to below {HIGHEST}."
        )
    for name, values in {"predictions": predictions, "references": references}.items():
        if np.ptp(values) == 0:  # so are those of one pair
            raise ValueError(
                f"All {len(values)} {name} equal {values[0]:g}, so a correlation is undefined: add pairs, and check "
                "that the measure does not give every pair the same similarity."
            )
    different = references <= boundary
    groups = {"different": different, "similar": ~different}
    top, bottom = outer_quartiles(predictions)
    alike, unlike = outer_quartiles(references)
    scores = dict(zip(("pearson", "kendall"), correlations(predictions, references), strict=True))
    for name, group in groups.items():
        pearson, kendall = correlations(predictions[group], references[group])
        scores |= {f"pearson_{name}": pearson, f"kendall_{name}": kendall}
    return {
        **scores,
        "wrong_quartile_different": share(top & unlike, different),
        "wrong_quartile_similar": share(bottom & alike, ~different),
        "top_quartile_different": share(top, different),
        "bottom_quartile_similar": share(bottom, ~different),
        **{f"n_{name}": int(np.count_nonzero(group)) for name, group in groups.items()},
    }


def correlations(predictions: np.ndarray, references: np.ndarray) -> tuple[float | None, float | None]:
    """Pearson's correlation and Kendall's tau-b; both None for less than two pairs or values that are all equal."""
    if len(predictions) < 2 or np.ptp(predictions) == 0 or np.ptp(references) == 0:
        return None, None
    return float(pearsonr(predictions, references).statistic), float(kendalltau(predictions, references).statistic)


def outer_quartiles(values: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
    """Which values lie in the top quartile (above the third quartile) and in the bottom one (below the first).

    Values that tie with a quartile lie in neither, so of a measure that is 0 for most pairs none is in the bottom.
    """
    first, third = np.quantile(values, [0.25, 0.75])
    return values > third, values < first


def share(chosen: np.ndarray, group: np.ndarray) -> float | None:
    """Share of a group that is chosen, in [0, 1]; None if the group is empty."""
    return float(np.mean(chosen[group])) if group.any() else None


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
