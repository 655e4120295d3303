"""Sources of data: the demonstration, a folder that was built, or the Hub."""

import pytest
from datasets import ClassLabel, Dataset, Features, Value, concatenate_datasets

from dataset_scripts.base.schema import PAIRS
from dataset_scripts.base.sources import DEMO_FOLDER, load_source, load_split, source_name


def test_demonstration(tmp_path):
    splits = load_source("demo", "similarity", tmp_path)
    written = {
        split: len((DEMO_FOLDER / "similarity" / f"sts-{name}.csv").read_text(encoding="utf-8").splitlines())
        for split, name in (("validation", "dev"), ("test", "test"))
    }
    assert {split: len(rows) for split, rows in splits.items()} == written
    assert (tmp_path / "datasets").is_dir()
    for config in ("pairs", "triplets", "families"):
        splits = load_source("demo", config, tmp_path)
        groups = [set(rows["group"]) for rows in splits.values()]  # a debate lies in one split
        assert list(splits) == ["train", "validation", "test"] and sum(map(len, groups)) == len(set.union(*groups))


def test_built_folder(tiny_data, tmp_path):
    splits = load_source(str(tiny_data), "pairs", tmp_path)
    # 66 pairs a topic; six topics for training, one each for the rest
    assert {split: len(rows) for split, rows in splits.items()} == {"train": 396, "validation": 66, "test": 66}
    assert load_source(str(tiny_data), "triplets", tmp_path)["test"].num_rows == 36


def test_names_to_publish(tiny_data, tmp_path, monkeypatch):
    monkeypatch.setenv("HOME", str(tiny_data.parent))
    assert load_source(f"~/{tiny_data.name}", "similarity", tmp_path)["test"].num_rows == 4
    names = {f"~/{tiny_data.name}": "tiny-debates", f"{tiny_data}/": "tiny-debates", "org/kialo": "org/kialo"}
    names |= {"demo": "demonstration", "demo:reviews": "demonstration-reviews"}
    assert {source: source_name(source) for source in names} == names


@pytest.mark.parametrize(
    ("source", "config", "message"),
    [
        ("demo", "inference", r"the demonstration data \(demo\) have no 'inference'"),
        ("demo:recipes", "pairs", "the demonstration has no 'recipes'; did you mean 'reviews'"),
        ("{tmp}/raw", "pairs", r"raw has no README.md: build it with opinion corpus build CORPUS RAW -o"),
        ("{tmp}/absent", "pairs", r"there is no folder .*absent; build it with opinion corpus build"),
        (
            "data/kialo",
            "pairs",
            "no folder data/kialo; build it with opinion corpus build kialo RAW -o data/kialo",
        ),
        ("org/absent", "pairs", r"'org/absent' \(pairs\) could not be loaded: .*Name 'demo', a folder"),
    ],
)
def test_what_cannot_be_loaded(tiny_data, tmp_path, monkeypatch, source, config, message):
    (tmp_path / "raw").mkdir()
    (tmp_path / "rows.csv").write_text("text")
    if not source.startswith("org/"):  # what is meant as a folder is not looked up
        monkeypatch.setattr("dataset_scripts.base.sources.load_dataset", lambda *name, **options: pytest.fail(source))
    monkeypatch.chdir(tmp_path)
    with pytest.raises(ValueError, match=message):
        load_source(source.format(data=tiny_data, tmp=tmp_path), config, tmp_path)


def folder_of(path, labels, feature, split="train"):
    """A data set of pairs whose labels are stored in a given way."""
    texts = [f"text {number}" for number in range(len(labels))]
    features = Features({"sentence1": Value("string"), "label": feature, "sentence2": Value("string")})
    rows = Dataset.from_dict({"sentence1": texts, "label": labels, "sentence2": texts}, features=features)
    (path / "pairs").mkdir(parents=True)
    rows.to_parquet(path / "pairs" / f"{split}.parquet")
    configs = f"- config_name: pairs\n  data_files: [{{split: {split}, path: pairs/{split}.parquet}}]\n"
    (path / "README.md").write_text(f"---\nconfigs:\n{configs}---\n")
    return str(path)


@pytest.mark.parametrize(
    ("labels", "feature"),
    [
        ([1, 0, 0], ClassLabel(names=["oppose", "agree"])),
        ([0, 1, 1], ClassLabel(names=["agree", "oppose"])),
        ([1, 0, 0], Value("int64")),
        ([True, False, False], Value("bool")),
    ],
)
def test_labels_are_read_by_their_meaning(tmp_path, labels, feature):
    rows = load_split(folder_of(tmp_path / "data", labels, feature), "pairs", "train", tmp_path)
    assert rows["label"] == [1, 0, 0]  # agree, oppose, oppose
    assert rows.features["label"] == PAIRS["label"]
    assert rows["sentence1"] == ["text 0", "text 1", "text 2"]
    columns = ["sentence1", "sentence2", "label"]
    demo = load_split("demo", "pairs", "train", tmp_path).select_columns(columns)
    assert len(concatenate_datasets([demo, rows.select_columns(columns)])) == len(demo) + 3


@pytest.mark.parametrize(
    ("labels", "feature", "message"),
    [
        (
            [0, 1],
            ClassLabel(names=["con", "pro"]),
            r"must be one of oppose, agree, or 0 and 1; it has \['con', 'pro'\]",
        ),
        ([0, 1, 2], Value("int64"), r"must be 0 \(oppose\) or 1 \(agree\); it has 2 too"),
        ([0, 1, -1], ClassLabel(names=["oppose", "agree"]), "it has -1 too"),
        (["agree", "oppose"], Value("string"), "or 0 and 1; it has Value.'string'"),
    ],
)
def test_other_labels_are_refused(tmp_path, labels, feature, message):
    with pytest.raises(ValueError, match=r"data' \(pairs, train\): label .*" + message):
        load_source(folder_of(tmp_path / "data", labels, feature), "pairs", tmp_path)
