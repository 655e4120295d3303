"""Some of the points among the candidates of all."""

import numpy as np

from modeling.bipolar.candidates import SETTINGS
from tests.modeling.bipolar.baselines.invented import debates


def test_candidates_stay_those_of_all_points():
    whole = debates(seed=0)
    some = np.array([40, 3, 7])
    taken = whole.take(some)
    assert len(taken) == 3 and len(whole) == 48
    for setting in SETTINGS:
        pools = whole.of(setting)
        for pool, number in zip(taken.of(setting), some, strict=True):
            assert pool.tolist() == pools[number].tolist()
    assert taken.answers == [whole.answers[number] for number in some]
    assert taken.conclusions == [whole.conclusions[number] for number in some]
    assert taken.points.tolist() == whole.points[some].tolist()
