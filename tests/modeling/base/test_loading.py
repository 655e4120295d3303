"""One line from a name to an encoder."""

import shutil

import numpy as np
import pytest
from sentence_transformers import SentenceTransformer

from dataset_scripts.base.files import read_json, write_json
from modeling.base import models, names
from modeling.base.adapters import AdapterError, distance, save_adapter
from modeling.base.models import BUNDLED_ID, load_adapters, load_backbone, load_model, resolve
from tests.tiny import adapted, save_run

TEXTS = ["we love the trams every day", "they hate it"]
SAME = 1e-4  # of the length of the vectors: merging adds in another order, processors differ in the sixth digit


@pytest.fixture
def base_is_bundled(tiny_base, monkeypatch):
    """The tiny encoder in the place of the bundled one."""
    tiny = resolve(str(tiny_base), BUNDLED_ID)
    monkeypatch.setattr(models, "resolve", lambda base, *rest: tiny if base == "bundled" else resolve(base, *rest))


@pytest.fixture
def run_folder(tiny_base, tmp_path, base_is_bundled):
    """A run's folder: adapter/ and merged/ of an encoder that differs from its base."""
    save_run(tmp_path / "run", tiny_base, BUNDLED_ID)
    return tmp_path / "run"


def test_every_form_of_a_model_gives_the_same_vectors(run_folder, tmp_path, monkeypatch):
    shutil.copytree(run_folder / "adapter", tmp_path / "cards" / "stance-tiny")
    monkeypatch.setattr(names, "RELEASED", tmp_path / "cards")
    monkeypatch.chdir(tmp_path.parent)  # a name is found from anywhere
    assert names.released_models() == ["stance-tiny"]
    expected = load_model(run_folder).encode(TEXTS)
    for source in (run_folder / "merged", run_folder / "adapter", "stance-tiny"):
        assert distance(load_model(source).encode(TEXTS), expected) < SAME, source
    assert distance(load_model("bundled").encode(TEXTS), expected) > 0.1


def test_a_model_is_loaded_from_disk_at_most_twice(run_folder, monkeypatch):
    loads, load = [], SentenceTransformer.__init__

    def count(self, *args, **options):
        loads.extend(args[:1])
        load(self, *args, **options)

    monkeypatch.setattr(SentenceTransformer, "__init__", count)
    for source, most in (("bundled", 1), (run_folder, 1), (run_folder / "adapter", 1)):
        loads.clear()
        load_model(source)
        assert len(loads) <= most, (source, loads)
    loads.clear()
    load_adapters(run_folder)
    assert len(loads) == 1


def test_the_base_of_an_adapter_is_where_its_run_found_it(run_folder, tiny_base):
    config = run_folder / "adapter" / "adapter_config.json"
    write_json(config, read_json(config) | {"base_model_name_or_path": "org/of-nobody"})
    write_json(run_folder / "recipe.json", {"base": str(tiny_base), "base_id": "org/of-nobody"})
    assert distance(load_model(run_folder / "adapter").encode(TEXTS), load_model(run_folder).encode(TEXTS)) < SAME
    (run_folder / "recipe.json").unlink()
    with pytest.raises(ValueError, match="the encoder 'org/of-nobody' could not be loaded"):
        load_model(run_folder / "adapter")


def test_any_sentence_transformer_folder_loads(tiny_base):
    assert load_model(tiny_base).encode(TEXTS).shape == (2, 32)


def test_what_a_model_is_called_does_not_change_what_it_is(run_folder, tiny_base):
    merged = load_model(run_folder)
    assert models.identity(merged) == models.identity(load_model(run_folder / "merged"))
    assert models.identity(merged) != models.identity(load_model(tiny_base))
    before = models.identity(merged)
    merged.max_seq_length -= 1
    assert models.identity(merged) != before


def test_a_model_that_is_nowhere_is_named_with_the_released_ones(monkeypatch):
    monkeypatch.setattr(models, "released_models", lambda: ["stance-minilm"])
    monkeypatch.setattr(models.constants, "HF_HUB_OFFLINE", True)
    with pytest.raises(ValueError, match=r"(?s)'stance-minimal' could not.*did you mean 'stance-minilm'\?.*bundled"):
        load_model("stance-minimal")


@pytest.fixture
def two_adapters(tiny_base, tmp_path, base_is_bundled):
    """Folders of two different adapters of one base."""
    base = load_backbone(models.resolve("bundled"))
    for rank, name in ((2, "calm"), (4, "loud")):
        save_adapter(adapted(tiny_base, BUNDLED_ID, rank, seed=rank), tmp_path / name / "adapter", base)
    return tmp_path / "calm", tmp_path / "loud" / "adapter"


def test_adapters_are_switched_on_one_base(two_adapters):
    model, base = load_adapters(*two_adapters), load_model("bundled")
    calm, loud = (load_model(folder).encode(TEXTS) for folder in (two_adapters[0] / "adapter", two_adapters[1]))
    assert np.abs(calm - loud).max() > 0.01
    assert distance(model.encode(TEXTS), calm) < SAME  # the first is on
    model.set_adapter("loud")
    assert distance(model.encode(TEXTS), loud) < SAME
    model.disable_adapters()
    assert distance(model.encode(TEXTS), base.encode(TEXTS)) < SAME
    model.enable_adapters()
    model.set_adapter("calm")
    assert distance(model.encode(TEXTS), calm) < SAME
    # 2 layers x 4 projections of 32 x 32, ranks 2 and 4, and the base once
    added = sum(p.numel() for p in model.parameters()) - sum(p.numel() for p in base.parameters())
    assert added == 2 * 4 * (2 + 4) * (32 + 32)


def test_adapters_that_cannot_be_loaded_together(two_adapters):
    with pytest.raises(ValueError, match="two adapters are called 'calm'"):
        load_adapters(two_adapters[0], two_adapters[0] / "adapter")
    with pytest.raises(ValueError, match="there is no adapter at 'noon'"):
        load_adapters("noon")
    with pytest.raises(ValueError, match="at least one"):
        load_adapters()
    config = read_json(two_adapters[1] / "adapter_config.json")
    write_json(two_adapters[1] / "adapter_config.json", config | {"base_model_name_or_path": "org/other"})
    with pytest.raises(ValueError, match=r"different bases: .*org/other"):
        load_adapters(*two_adapters)
    shutil.copy(two_adapters[0] / "adapter" / "fingerprint.json", two_adapters[1])
    write_json(two_adapters[1] / "adapter_config.json", config)
    with pytest.raises(AdapterError, match="does not reproduce"):
        load_adapters(*two_adapters)
