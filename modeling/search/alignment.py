"""Alignment precision over thresholds: of the texts that a statement finds, how many are by its own side?"""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING

import numpy as np

from metrics.alignment_precision.alignment_precision import alignment_precision, check_threshold

if TYPE_CHECKING:
    import pandas as pd

    from modeling.search.index import Index


def alignment_table(index: Index, queries: Sequence[tuple[str, str]], thresholds: Sequence[float]) -> pd.DataFrame:
    """Alignment precision of statements at several thresholds (Ghafouri et al., 2024, section 5.3, table 4).

    A row of the source counts as one, so a text that ten accounts post counts ten times; rows without a group are left
    out. The interval takes rows for independent draws, which copies and threads are not: read it as the least
    uncertainty there is.

    Args:
        index: Texts with groups.
        queries: (statement, group whose view it states).
        thresholds: Lowest cosines of a match, in [-1, 1].

    Returns:
        One row per statement and threshold: `statement`, `target`, `threshold`, `retrieved` (rows at or above it),
        `precision` (share of the target among them; missing if there are none), `low` and `high` (its 95 % interval,
        Wilson), `base_rate` (share of the target among all rows with a group), and per group `retrieved_GROUP`.

    Raises:
        ValueError: If there is no statement, threshold or group, a threshold lies outside [-1, 1], or a target is
            unknown; the message lists the groups.
    """
    import pandas as pd
    from scipy.stats import binomtest

    if not queries or not thresholds:
        raise ValueError("alignment needs at least one statement and one threshold")
    thresholds = sorted({check_threshold(threshold) for threshold in thresholds})
    groups = index.require_groups()
    for statement, target in queries:
        if target not in groups:
            listed = ", ".join(list(groups)[:10])
            raise ValueError(f"{target!r}, the target of {statement!r}, is no group of the index; it has {listed}")
    rows = index.rows[index.rows["group"].notna()]
    labels, vectors = rows["group"].astype(str).tolist(), rows["vector"].to_numpy()
    table = []
    # one statement after the other: the cosines of a hundred with millions of texts would not fit into memory
    for (statement, target), vector in zip(queries, index.encode([text for text, _ in queries]), strict=True):
        cosines = index.dots(vector[None])[0][vectors].astype(np.float64)
        for threshold in thresholds:
            found = alignment_precision(cosines, labels, target=target, threshold=threshold)
            low = high = float("nan")
            if found["retrieved"]:
                interval = binomtest(found["counts"][target], found["retrieved"]).proportion_ci(method="wilson")
                low, high = interval.low, interval.high
            table.append(
                {"statement": statement, "target": target, "threshold": threshold, "retrieved": found["retrieved"],
                 "precision": found["precision"], "low": low, "high": high, "base_rate": found["base_rate"]}
                | {f"retrieved_{group}": found["counts"][group] for group in groups}
            )  # fmt: skip
    return pd.DataFrame(table).astype({"precision": float})
