"""Sources of data: the demonstration, a folder that was built, or the Hub."""

import csv
from collections import Counter

import pytest

from dataset_scripts.sources import DEMO_FOLDER, load_source, source_name


def test_demonstration(tmp_path):
    splits = load_source("demo", "similarity", tmp_path)
    with (DEMO_FOLDER / "similarity.tsv").open(encoding="utf-8") as file:
        written = Counter(row["split"] for row in csv.DictReader(file, delimiter="\t", quoting=csv.QUOTE_NONE))
    assert {split: len(rows) for split, rows in splits.items()} == dict(written)
    assert {"sentence1", "sentence2", "score"} <= set(splits["test"].column_names)
    assert (tmp_path / "datasets").is_dir()


def test_the_demonstration_has_pairs_and_triplets(tmp_path):
    for config, columns in {"pairs": ["sentence1", "sentence2", "label"],
                            "triplets": ["anchor", "positive", "negative"]}.items():  # fmt: skip
        splits = load_source("demo", config, tmp_path)
        assert list(splits) == ["train", "validation", "test"]
        assert set(columns) <= set(splits["train"].column_names)
        # a debate lies in one split
        groups = [set(rows["group"]) for rows in splits.values()]
        assert not (groups[0] & groups[1] | groups[0] & groups[2] | groups[1] & groups[2])


def test_what_the_demonstration_does_not_have(tmp_path):
    with pytest.raises(ValueError, match="the demonstration data have no 'inference'; they have pairs, triplets, "):
        load_source("demo", "inference", tmp_path)


def test_built_folder(tiny_data, tmp_path):
    splits = load_source(str(tiny_data), "pairs", tmp_path)
    # 66 pairs a topic; six topics for training, one each for the rest
    assert {split: len(rows) for split, rows in splits.items()} == {"train": 396, "validation": 66, "test": 66}
    assert load_source(str(tiny_data), "triplets", tmp_path)["test"].num_rows == 36


def test_home_is_understood(tiny_data, tmp_path, monkeypatch):
    monkeypatch.setenv("HOME", str(tiny_data.parent))
    assert load_source(f"~/{tiny_data.name}", "similarity", tmp_path)["test"].num_rows == 4
    assert source_name(f"~/{tiny_data.name}") == "tiny-debates"


def test_built_folder_without_that_configuration(tiny_data, tmp_path):
    with pytest.raises(ValueError, match=r"--data '.*tiny-debates' \(rankings\) could not be loaded: .*rankings"):
        load_source(str(tiny_data), "rankings", tmp_path)


def test_a_folder_that_no_build_wrote(tmp_path):
    (tmp_path / "raw").mkdir()
    with pytest.raises(
        ValueError, match=r"raw has no README.md: build it with python -m dataset_scripts CORPUS --data"
    ):
        load_source(str(tmp_path / "raw"), "pairs", tmp_path)


def test_the_hub_out_of_reach(tmp_path):
    with pytest.raises(ValueError, match=r"--data 'org/absent' \(pairs\) could not be loaded: .*Name 'demo', a folder"):
        load_source("org/absent", "pairs", tmp_path)


def test_names_to_publish(tiny_data):
    assert source_name(str(tiny_data)) == source_name(f"{tiny_data}/") == "tiny-debates"
    assert source_name("org/kialo-stance") == "org/kialo-stance"
    assert source_name("demo") == "demonstration"
