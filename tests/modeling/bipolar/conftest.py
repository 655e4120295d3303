"""A recipe of the room on the tiny encoder and data."""

import pytest

from modeling.base.recipe import load_recipe


@pytest.fixture
def recipe(tiny_base, tiny_data, tiny_cache, tmp_path):
    """A function that makes a recipe."""

    def make(name="bipolar-demo", **options):
        words = {"base": tiny_base, "base_id": "org/tiny", "data": tiny_data, "batch_size": 12, "max_length": 32}
        words |= {
            "lora_targets": "none",
            "similarity": tiny_data,
            "cache_dir": tiny_cache,
            "output_dir": tmp_path,
        }
        return load_recipe(name, {option: str(value) for option, value in (words | options).items()})

    return make
