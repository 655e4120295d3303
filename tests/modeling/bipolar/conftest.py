"""A recipe of the room on the tiny encoder and data."""

import pytest


@pytest.fixture
def recipe(make_system, tmp_path):
    """A function that makes a recipe."""

    def make(name="bipolar-demo", **options):
        return make_system(name, batch_size=12, max_length=32, output_dir=tmp_path, **options).recipe

    return make
