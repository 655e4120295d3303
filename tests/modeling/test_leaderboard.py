"""The tasks for mteb say what the evaluators of this suite say, on the same rows."""

import pytest

from modeling.base.models import load_model
from modeling.leaderboard import CounterArguments, OpinionSimilarity, StanceSeparation
from tests.benchmarks.leaderboard import both


@pytest.mark.parametrize(
    ("kind", "source", "limit", "rows"),
    [
        (StanceSeparation, "demo", 60, [60]),
        (OpinionSimilarity, "demo:opinions", 12, [12, 12]),
        (CounterArguments, "demo:counters", 20, [20]),
    ],
    ids=lambda value: getattr(value, "__name__", ""),
)
def test_mteb_measures_what_the_evaluators_measure(kind, source, limit, rows, tiny_base, tmp_path):
    task = kind(source, limit, cache_dir=str(tmp_path))
    table = list(both(load_model(tiny_base), task))
    assert [row["rows"] for row in table] == rows
    assert [row["mteb"] for row in table] == pytest.approx([row["ours"] for row in table], abs=1e-5)
    assert str(tmp_path) not in task.metadata.model_dump_json()
