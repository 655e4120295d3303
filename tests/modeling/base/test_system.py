"""The contract of a system, and where systems are found."""

import pytest

from modeling.base.recipe import load_recipe
from modeling.base.rooms import get_options, get_system, systems
from modeling.base.system import Data, System


def test_an_incomplete_system_cannot_be_made():
    class Half(System):
        def load_data(self):
            return Data({}, [])

    with pytest.raises(TypeError, match=r"abstract methods .*evaluators.*phases"):
        Half(load_recipe("stance-demo"))


def test_systems_are_folders():
    assert "base" not in systems()  # which has the contract in its system.py
    for name in systems():
        assert get_system(name).__name__ == f"{name.title()}System" and get_options(name).__name__ == "Options"
    with pytest.raises(ValueError, match="unknown system 'stanc'; choose one of "):
        get_system("stanc")
