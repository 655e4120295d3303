"""`opinion corpus`: what it writes, refuses and prints."""

import errno
import json
import shutil
from pathlib import Path

import datasets
import pytest

from dataset_scripts.base.hub import PublishError, publish_dataset

ROOT = Path(__file__).parents[2]
# of 20 discussions 17 train, 1 validates, 2 test; each has 3 pairs, 1 triplet, 3 arguments, 2 answers
ROWS = {
    "pairs": {"train": 51, "validation": 3, "test": 6},
    "triplets": {"train": 17, "validation": 1, "test": 2},
    "arguments": {"train": 51, "validation": 3, "test": 6},
    "families": {"train": 34, "validation": 2, "test": 4},
}


@pytest.fixture(scope="module")
def once(tmp_path_factory, corpus):
    """Raw discussions, their build and what it printed."""
    raw = tmp_path_factory.mktemp("once") / "private-folder"
    raw.mkdir()
    for number in range(20):
        (raw / f"topic-{100 + number}.txt").write_text(
            f"Discussion Title: Thing {number}\n1. The thing numbered {number} is good for all of us.\n"
            f"1.1. Pro: The thing numbered {number} is what we wanted.\n"
            f"1.2. Con: The thing numbered {number} is not needed, never was.\n1.3. Con: Bad.\n"
        )
    result = corpus("build", "kialo", raw, "-o", raw.parent / "built" / "kialo")
    assert result.exit_code == 0, result.output
    return raw.parent, result


@pytest.fixture
def built(once, tmp_path):
    """Copies of raw discussions and their build."""
    shutil.copytree(once[0], tmp_path, dirs_exist_ok=True)
    return tmp_path / "private-folder", tmp_path / "built" / "kialo"


def test_a_build_has_files_summary_card_and_loads(once, tmp_path):
    result, out = once[1], once[0] / "built" / "kialo"
    files = {file.relative_to(out).as_posix() for file in out.rglob("*") if file.is_file()}
    parquet = {f"{config}/{split}-00000-of-00001.parquet" for config in ROWS for split in ROWS[config]}
    assert files == parquet | {"README.md", "summary.json", "plots/statistics.png"}
    assert [file.name for file in out.parent.iterdir()] == ["kialo"]  # nothing is left of the temporary folder
    summary = json.loads((out / "summary.json").read_text())
    assert summary["corpus"] == "kialo" and summary["options"] == {"seed": 42}
    assert {config: built["rows"] for config, built in summary["configs"].items()} == ROWS
    assert summary["configs"]["pairs"]["dropped"] == {"row: text shorter than 4 words": 20 * 3}
    # "is not needed, never was" against no negation at all; all words of an argument differ
    assert summary["statistics"]["con"]["negations"] == 2
    assert summary["statistics"]["pro"] == {"texts": 17, "lexical_diversity": 1, "negations": 0}
    assert "pairs: train 51, validation 3, test 6" in result.stdout
    assert "60 x row: text shorter than 4 words" in result.stdout
    # the record has the counts of the real release
    assert "warning: triplets differs from the reference build: train 17 instead of 96,702" in result.stderr
    loaded = datasets.load_dataset(str(out), cache_dir=str(tmp_path / "cache"))  # by default the first configuration
    assert {split: data.num_rows for split, data in loaded.items()} == ROWS["pairs"]
    assert loaded["train"].features["label"].names == ["oppose", "agree"]
    text = (out / "README.md").read_text(encoding="utf-8")
    assert "size_categories: n<1K\n" in text  # of the rest of the header: test_card
    for told in (
        *("opinion corpus build kialo RAW -o OUT --seed 42\n", "| rows kept | 60 | 20 | 60 | 40 |"),
        *("| Pro | 17 | 1.000 | 0.000 |", "(plots/statistics.png)", "must not be published", "ghafouri"),
    ):
        assert told in text
    assert "numbered" not in text  # no text of the corpus, and no path
    for path in (str(once[0]), "private-folder", str(ROOT)):
        assert path not in text and path not in (out / "summary.json").read_text()


def test_one_config_with_options(built, tmp_path, corpus):
    raw, _ = built
    (raw / "topic-99.txt").touch()
    # two paths are one corpus
    (tmp_path / "other").mkdir()
    paths = [raw, (raw / "topic-100.txt").rename(tmp_path / "other" / "topic-100.txt")]
    result = corpus("build", "kialo", *paths, "-o", tmp_path / "out", "--config", "pairs", "--seed=7")
    card, summary = ((tmp_path / "out" / name).read_text() for name in ("README.md", "summary.json"))
    assert "RAW -o OUT --config pairs --seed 7\n" in card
    assert json.loads(summary)["options"] == {"seed": 7}
    assert {file.name for file in (tmp_path / "out").iterdir()} == {"README.md", "summary.json", "pairs"}
    assert "warning" not in result.stderr  # expected counts are those of the defaults
    assert "        1 x file: empty, first in topic-99.txt\n" in result.stdout and "topic-99" not in card + summary


def test_replaces_only_what_it_wrote(built, tmp_path, corpus):
    raw, out = built
    again = ["build", "kialo", raw, "--config", "triplets", "-o"]
    assert corpus(*again, out).exit_code == 0 and not (out / "pairs").exists()
    (out / "notes.md").write_text("mine")
    assert "notes.md, which no build wrote" in corpus(*again, out).stderr and (out / "notes.md").exists()
    other = tmp_path / "other"
    other.mkdir()
    (other / "thesis.tex").write_text("mine")
    assert "no build wrote it" in corpus(*again, other).stderr and [f.name for f in other.iterdir()] == ["thesis.tex"]
    assert "raw data lie in" in corpus(*again, raw.parent).stderr


def test_a_build_that_fails_leaves_the_old_one(built, corpus, monkeypatch):
    raw, out = built
    before = (out / "README.md").read_text()

    def full(*args, **kwargs):
        raise OSError(errno.ENOSPC, "No space left on device")

    with monkeypatch.context() as patch:
        patch.setattr(datasets.Dataset, "to_parquet", full)
        result = corpus("build", "kialo", raw, "-o", out)
    assert result.exit_code == 2
    assert result.stderr.splitlines()[-1].startswith(f"error: no space left on the disk of {out.parent}: free some")
    for file in raw.iterdir():
        file.write_text("")
    assert corpus("build", "kialo", raw, "-o", out).exit_code == 2
    assert (out / "README.md").read_text() == before and [file.name for file in out.parent.iterdir()] == ["kialo"]
    with pytest.raises(PublishError, match=r"\(kialo\) must not be published: Kialo's terms.*Add --private"):
        publish_dataset(out.rename(out.with_name("moved")), "org/kialo", dry_run=True)
    moved = publish_dataset(out.with_name("moved"), "org/kialo", dry_run=True, private=True)
    assert moved["repo_id"] == "org/kialo"


@pytest.mark.parametrize(
    ("words", "message"),
    [
        (["build", "kialo2", ".", "-o", "x"], "there is no 'kialo2'; did you mean 'kialo'?"),
        (["build", "kialo"], "building kialo needs RAW and -o DIR; RAW is Kialo's own text exports"),
        (
            ["build", "kialo", "/nowhere/at/all", "-o", "x"],
            "does not exist; kialo needs Kialo's own text exports",
        ),
        (["build", "kialo", ".", "-o", "x", "--config", "pair"], "no configuration 'pair'; did you mean 'pairs'?"),
        (["build", "polis", ".", "-o", "x", "--least-votes", "1.5"], "--least-votes 1.5: give a whole number"),
    ],
)
def test_what_cannot_work_is_said_before_the_data_are_read(words, message, corpus):
    result = corpus(*words)
    assert result.exit_code == 2 and result.stderr.startswith("error: ") and message in result.stderr
    assert result.stderr.count("\n") == 1
