"""Sources of data: the demonstration, a folder that was built, or the Hub."""

import pytest
from datasets import ClassLabel, Dataset, Features, Value

from dataset_scripts.base.schema import PAIRS
from dataset_scripts.base.sources import DEMO_FOLDER, load_source, load_split, source_name


def test_the_demonstration_and_a_folder(tmp_path, monkeypatch):
    splits = load_source("demo", "similarity", tmp_path)
    written = (DEMO_FOLDER / "similarity" / "sts-dev.csv").read_text(encoding="utf-8").splitlines()
    assert list(splits) == ["validation", "test"] and len(splits["validation"]) == len(written)
    folder_of(tmp_path / "tiny-debates", [0, 1], PAIRS["label"])
    monkeypatch.setenv("HOME", str(tmp_path))
    assert load_split("~/tiny-debates", "pairs", "train", tmp_path)["label"] == [0, 1]
    names = {"~/tiny-debates": "tiny-debates", f"{tmp_path}/tiny-debates/": "tiny-debates", "org/kialo": "org/kialo"}
    names |= {"demo": "demonstration", "demo:reviews": "demonstration-reviews"}
    assert {source: source_name(source) for source in names} == names


@pytest.mark.parametrize(
    ("source", "message"),
    [
        ("demo:recipes", "the demonstration has no 'recipes'; did you mean 'reviews'"),
        ("{tmp}/raw", r"raw has no README.md: build it with opinion corpus build CORPUS RAW -o"),
        ("data/kialo", "no folder data/kialo; build it with opinion corpus build kialo RAW -o data/kialo"),
        ("org/absent", r"'org/absent' \(pairs\) could not be loaded: .*Name 'demo', a folder"),
    ],
)
def test_what_cannot_be_loaded(tmp_path, monkeypatch, source, message):
    (tmp_path / "raw").mkdir()
    if not source.startswith("org/"):  # what is meant as a folder is not looked up
        monkeypatch.setattr("dataset_scripts.base.sources.load_dataset", lambda *name, **options: pytest.fail(source))
    monkeypatch.chdir(tmp_path)
    with pytest.raises(ValueError, match=message):
        load_source(source.format(tmp=tmp_path), "pairs", tmp_path)


def folder_of(path, labels, feature):
    """A data set of pairs whose labels are stored in a given way."""
    texts = [f"text {number}" for number in range(len(labels))]
    features = Features({"sentence1": Value("string"), "label": feature, "sentence2": Value("string")})
    (path / "pairs").mkdir(parents=True)
    columns = {"sentence1": texts, "label": labels, "sentence2": texts}
    Dataset.from_dict(columns, features=features).to_parquet(path / "pairs" / "train.parquet")
    configs = "- config_name: pairs\n  data_files: [{split: train, path: pairs/train.parquet}]\n"
    (path / "README.md").write_text(f"---\nconfigs:\n{configs}---\n")
    return str(path)


@pytest.mark.parametrize(
    ("labels", "feature"), [([0, 1, 1], ClassLabel(names=["agree", "oppose"])), ([True, False, False], Value("bool"))]
)
def test_labels_are_read_by_their_meaning(tmp_path, labels, feature):
    rows = load_split(folder_of(tmp_path / "data", labels, feature), "pairs", "train", tmp_path)
    assert rows["label"] == [1, 0, 0] and rows.features["label"] == PAIRS["label"]  # agree, oppose, oppose


@pytest.mark.parametrize(
    ("labels", "feature", "message"),
    [
        ([0], ClassLabel(names=["con", "pro"]), r"must be one of oppose, agree, or 0 and 1; it has \['con', 'pro'\]"),
        ([0, 1, 2], Value("int64"), r"must be 0 \(oppose\) or 1 \(agree\); it has 2 too"),
    ],
)
def test_other_labels_are_refused(tmp_path, labels, feature, message):
    with pytest.raises(ValueError, match=r"data' \(pairs, train\): label .*" + message):
        load_source(folder_of(tmp_path / "data", labels, feature), "pairs", tmp_path)
