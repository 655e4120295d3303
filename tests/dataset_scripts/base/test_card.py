"""The cards of data sets: whatever a build writes, the Hub reads as it is in the files."""

import pyarrow.parquet as pq
import pytest
from huggingface_hub import DatasetCard, DatasetCardData

from dataset_scripts.base.build import build
from dataset_scripts.base.cli import validate
from dataset_scripts.base.metadata import get_corpus, load_metadata
from dataset_scripts.base.sources import DEMO_FOLDER


@pytest.mark.parametrize("name", ["mr", "sos", "stsb"])  # several configurations; one; under a licence of the Hub
def test_the_hub_reads_what_is_in_the_files(name, tmp_path):
    record, folder = load_metadata(name), tmp_path / "built"
    options = validate(record.options_model, record.demo.options).model_dump()
    build(get_corpus(name), [DEMO_FOLDER / record.demo.raw], folder, options)
    card = DatasetCard.load(folder / "README.md", ignore_metadata_errors=False)
    front = card.data.to_dict()
    assert str(card) == (folder / "README.md").read_text() and DatasetCardData(**front).to_dict() == front
    assert (front["license"], front["language"]) == (record.licence, ["en"])
    assert front.get("license_link") == (record.source if record.licence == "other" else None)
    assert (front["pretty_name"], front["task_categories"]) == (record.title, record.task_categories)
    infos = front["dataset_info"] if isinstance(front["dataset_info"], list) else [front["dataset_info"]]
    infos = {info.get("config_name", "default"): info for info in infos}
    assert list(infos) == [config["config_name"] for config in front["configs"]]
    for config in front["configs"]:
        info = infos[config["config_name"]]
        files = {entry["split"]: folder / entry["path"] for entry in config["data_files"]}
        assert [split["name"] for split in info["splits"]] == list(files)
        assert {each["name"]: each["num_examples"] for each in info["splits"]} == {
            split: pq.read_metadata(file).num_rows for split, file in files.items()
        }
        assert info["download_size"] == sum(file.stat().st_size for file in files.values())
        assert info["dataset_size"] == sum(split["num_bytes"] for split in info["splits"]) > 0
