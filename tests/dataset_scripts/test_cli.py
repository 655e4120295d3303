"""The command line: what it writes, refuses and prints."""

from __future__ import annotations

import json
import os
import re
import subprocess
import sys
import time
from pathlib import Path

import datasets
import huggingface_hub
import pytest
import yaml

import dataset_scripts.__main__ as cli
from dataset_scripts.base.hub import PublishError, publish_dataset
from dataset_scripts.base.metadata import load_metadata

ROOT = Path(__file__).parents[2]
# of 20 discussions 17 train, 1 validates, 2 test; each has 3 pairs, 1 triplet, 3 arguments
ROWS = {
    "pairs": {"train": 51, "validation": 3, "test": 6},
    "triplets": {"train": 17, "validation": 1, "test": 2},
    "arguments": {"train": 51, "validation": 3, "test": 6},
}


@pytest.fixture
def raw(tmp_path):
    folder = tmp_path / "private-folder"
    folder.mkdir()
    for number in range(20):
        (folder / f"topic-{100 + number}.txt").write_text(
            f"Discussion Title: Thing {number}\n1. The thing numbered {number} is good for all of us.\n"
            f"1.1. Pro: The thing numbered {number} is what we wanted.\n"
            f"1.2. Con: The thing numbered {number} is not needed, never was.\n1.3. Con: Bad.\n"
        )
    return folder


@pytest.fixture
def built(raw, tmp_path, capsys):
    out = tmp_path / "built" / "kialo"
    assert cli.main(["kialo", "--data", str(raw), "--out", str(out)]) == 0
    return out, capsys.readouterr()


def run(*arguments: str, code: str | None = None) -> subprocess.CompletedProcess:
    command = [sys.executable, "-c", code] if code else [sys.executable, "-m", "dataset_scripts", *arguments]
    env = {**os.environ, "PYTHONPATH": str(ROOT)}
    return subprocess.run(command, cwd=ROOT, env=env, capture_output=True, text=True, timeout=60)


def test_list_is_fast_and_imports_nothing_heavy():
    start = time.perf_counter()
    result = run("list")
    assert time.perf_counter() - start < 5  # 0.1 s where nothing else runs
    assert re.search(r"^kialo +pro and con .* other +pairs, triplets, arguments$", result.stdout, re.MULTILINE)
    code = (
        "import sys, contextlib, dataset_scripts.__main__ as cli; cli.main(['list'])\n"
        "with contextlib.suppress(SystemExit): cli.main(['yelp', '--help'])\n"
        "print([m for m in ('datasets', 'pandas', 'pyarrow', 'numpy', 'matplotlib', 'torch') if m in sys.modules])"
    )
    assert run(code=code).stdout.splitlines()[-1] == "[]"


def test_files_and_summary(built):
    out, printed = built
    files = {file.relative_to(out).as_posix() for file in out.rglob("*") if file.is_file()}
    parquet = {f"{config}/{split}-00000-of-00001.parquet" for config in ROWS for split in ROWS[config]}
    assert files == parquet | {"README.md", "summary.json", "plots/statistics.png"}
    assert [file.name for file in out.parent.iterdir()] == ["kialo"]  # nothing is left of the temporary folder
    summary = json.loads((out / "summary.json").read_text())
    assert summary["corpus"] == "kialo" and summary["options"] == {"seed": 42}
    assert {config: built["rows"] for config, built in summary["configs"].items()} == ROWS
    assert summary["configs"]["pairs"]["dropped"] == {"row: text shorter than 4 words": 20 * 3}
    # "is not needed, never was" against no negation at all
    assert summary["statistics"]["con"]["negations"] == 2 and summary["statistics"]["pro"]["negations"] == 0
    assert summary["statistics"]["pro"]["texts"] == 17
    assert "pairs: train 51, validation 3, test 6" in printed.out
    assert "60 x row: text shorter than 4 words" in printed.out


def test_folder_loads_as_a_data_set(built, tmp_path, monkeypatch):
    out, _ = built
    monkeypatch.setattr(datasets.config, "HF_HUB_OFFLINE", True)
    monkeypatch.setattr(huggingface_hub.constants, "HF_HUB_OFFLINE", True)
    for config, rows in ROWS.items():
        loaded = datasets.load_dataset(str(out), config, cache_dir=str(tmp_path / "cache"))
        assert {split: data.num_rows for split, data in loaded.items()} == rows
    default = datasets.load_dataset(str(out), cache_dir=str(tmp_path / "cache"))
    assert default["train"].features["label"].names == ["oppose", "agree"]


def test_card(built, tmp_path):
    text = (built[0] / "README.md").read_text(encoding="utf-8")
    header = yaml.safe_load(text.split("---\n")[1])
    assert header["license"] == "other" and header["license_name"] == "kialo-terms" and header["language"] == ["en"]
    assert header["size_categories"] == "n<1K" and header["task_categories"] == ["sentence-similarity"]
    assert [config["config_name"] for config in header["configs"] if config.get("default")] == ["pairs"]
    assert "python -m dataset_scripts kialo --data RAW --out OUT --seed 42\n" in text
    assert "| rows kept | 60 | 20 | 60 |" in text and "| row: text shorter than 4 words | 60 | 20 | 20 |" in text
    # 17 x "the thing numbered 0 is what we wanted": all words differ
    assert "| Pro | 17 | 1.000 | 0.000 |" in text and "(plots/statistics.png)" in text
    assert "must not be published" in text and "ghafouri" in text
    assert "numbered" not in text  # no text of the corpus
    for path in (str(tmp_path), "private-folder", str(ROOT)):
        assert path not in text and path not in (built[0] / "summary.json").read_text()


@pytest.mark.parametrize(
    "options",
    [
        ["--max_per_parent", "1", "--all_languages", "true"],
        ["--max_per_parent=1", "--all_languages"],
        ["--option", "max_per_parent=1", "--option", "all_languages=true"],
        ["--option", "max_per_parent=2", "--max_per_parent", "1", "--all_languages"],  # the last one counts
    ],
)
def test_one_config_with_options(options, raw, tmp_path, capsys):
    out = tmp_path / "out"
    options = ["--config", "pairs", "--seed", "7", *options]
    assert cli.main(["kialo", "--data", str(raw), "--out", str(out), *options]) == 0
    card = (out / "README.md").read_text()
    assert "--config pairs --seed 7 --max_per_parent 1 --all_languages true\n" in card
    summary = json.loads((out / "summary.json").read_text())
    assert summary["options"] == {"seed": 7, "max_per_parent": 1, "all_languages": True}
    assert yaml.safe_load(card.split("---\n")[1])["language"] == ["en", "multilingual"]
    assert not (out / "plots").exists() and not (out / "triplets").exists()
    assert "warning" not in capsys.readouterr().err  # expected counts are those of the defaults


def test_warning_where_counts_differ(built):
    assert load_metadata("kialo").expected["triplets"]["test"] == 10752
    assert "warning: triplets differs from the reference build: train 17 instead of 96,702" in built[1].err
    assert "test 2 instead of 10,752" in built[1].err


def test_replaces_only_what_it_wrote(built, raw, tmp_path, capsys):
    out, _ = built
    again = ["kialo", "--data", str(raw), "--config", "triplets", "--out"]
    assert cli.main([*again, str(out)]) == 0 and not (out / "pairs").exists()
    (out / "notes.md").write_text("mine")
    assert cli.main([*again, str(out)]) == 2 and (out / "notes.md").exists()
    assert "notes.md, which no build wrote" in capsys.readouterr().err
    other = tmp_path / "other"
    other.mkdir()
    (other / "thesis.tex").write_text("mine")
    assert cli.main([*again, str(other)]) == 2
    assert "no build wrote it" in capsys.readouterr().err and [f.name for f in other.iterdir()] == ["thesis.tex"]
    assert cli.main([*again, str(raw.parent)]) == 2
    assert "raw data lie in --out" in capsys.readouterr().err
    empty = tmp_path / "empty"
    empty.mkdir()
    assert cli.main([*again, str(empty)]) == 0


def test_failed_build_leaves_the_old_one(built, raw, monkeypatch):
    out, _ = built
    before = (out / "README.md").read_text()
    for file in raw.iterdir():
        file.write_text("")
    assert cli.main(["kialo", "--data", str(raw), "--out", str(out)]) == 2
    assert (out / "README.md").read_text() == before and [file.name for file in out.parent.iterdir()] == ["kialo"]


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        (["kialo2", "--data", ".", "--out", "x"], "did you mean 'kialo'?"),
        (["zzz"], "choose one of kialo,"),
        (["kialo"], "needs --data PATH and --out DIR"),
        (["kialo", "--data", "/nowhere/at/all", "--out", "x"], "does not exist; it has to be Kialo's own text exports"),
        (["kialo", "--data", ".", "--out", "x", "--config", "pair"], "choose from pairs, triplets, arguments"),
        (["kialo", "--data", ".", "--out", "x", "--private"], "give --push_to_hub REPO"),
        (["kialo", "--data", ".", "--out", "x", "--push_to_hub", "org/kialo"], "must not be published"),
        ([], "name a corpus, or 'list'"),
        (["kialo2", "--help"], "did you mean 'kialo'?"),
        (["list", "--share", "1"], "unrecognized arguments: --share"),
        (["kialo", "--max_per_child", "1"], "kialo has no --max_per_child; did you mean --max_per_parent?"),
        (["kialo", "--max", "1"], "kialo has no --max; did you mean --max_per_parent?"),
        (["kialo", "--max_per_parent"], "--max_per_parent: expected one argument"),
        (["kialo", "--max_per_parent", "--all_languages"], "--max_per_parent: expected one argument"),
        (["perspectrum", "--without", "idebate", "procon"], "unexpected 'procon'"),
    ],
)
def test_wrong_arguments(arguments, message, capsys):
    with pytest.raises(SystemExit) as exit:
        cli.main(arguments)
    assert exit.value.code == 2 and message in capsys.readouterr().err


@pytest.mark.parametrize("option", ["max_per_child=1", "max_per_parent", "data_files=x"])
def test_wrong_options(option, raw, tmp_path, capsys):
    assert cli.main(["kialo", "--data", str(raw), "--out", str(tmp_path / "out"), "--option", option]) == 2
    assert "kialo has: all_languages, max_per_parent" in capsys.readouterr().err


def test_a_wrong_type_is_found_before_the_data_are_read(raw, tmp_path, capsys):
    for value in ("1.5", "true", "many"):
        assert cli.main(["kialo", "--data", str(raw), "--out", str(tmp_path / "out"), "--max_per_parent", value]) == 2
        assert capsys.readouterr().err == f"error: --max_per_parent {value}: give a whole number\n"


def test_help_lists_the_options_of_a_corpus(capsys):
    with pytest.raises(SystemExit) as exit:
        cli.main(["yelp", "--help"])
    printed = " ".join(capsys.readouterr().out.split())
    assert exit.value.code == 0
    assert "pairs two reviews of one business" in printed and "yelp_academic_dataset_review.json" in printed
    assert "--share VALUE share of the businesses that are read" in printed and "--all_languages" not in printed
    with pytest.raises(SystemExit):
        cli.main(["--help"])
    assert "options of a corpus: python -m dataset_scripts CORPUS --help" in capsys.readouterr().out


def test_private_push(raw, tmp_path, monkeypatch, capsys):
    calls = []

    def publish(folder, repo_id, private=False):
        calls.append((folder, repo_id, private))
        return {"url": "https://hub.example/datasets/org/kialo", "unchanged": len(calls) > 1}

    monkeypatch.setattr(cli, "publish_dataset", publish)
    monkeypatch.setattr(cli, "check_ready", lambda repo_id: None)
    out = tmp_path / "out"
    push = ["--push_to_hub", "org/kialo", "--private"]
    command = ["kialo", "--data", str(raw), "--out", str(out), "--config", "triplets", *push]
    assert cli.main(command) == 0
    assert calls == [(out, "org/kialo", True)]
    printed = capsys.readouterr().out
    assert "Terms: Kialo's terms" in printed
    assert printed.endswith("Published: https://hub.example/datasets/org/kialo\n")
    assert cli.main(command) == 0
    assert capsys.readouterr().out.endswith("Published: https://hub.example/datasets/org/kialo (unchanged)\n")


def test_a_push_that_cannot_succeed_fails_before_the_build(raw, tmp_path, monkeypatch, capsys):
    monkeypatch.setattr(huggingface_hub.constants, "HF_HUB_OFFLINE", False)
    monkeypatch.setattr(huggingface_hub, "get_token", lambda: None)
    out = tmp_path / "out"
    command = ["kialo", "--data", str(raw), "--out", str(out), "--private", "--push_to_hub"]
    assert cli.main([*command, "org/kialo"]) == 2
    assert "error: no token for the Hub: log in with `hf auth login`" in capsys.readouterr().err
    assert cli.main([*command, "kialo"]) == 2
    assert "error: 'kialo' has no owner" in capsys.readouterr().err
    assert not out.exists()


def test_a_push_that_fails_is_no_traceback(raw, tmp_path, monkeypatch, capsys):
    def publish(folder, repo_id, private=False):
        raise PublishError("the connection to the Hub failed")

    monkeypatch.setattr(cli, "publish_dataset", publish)
    monkeypatch.setattr(cli, "check_ready", lambda repo_id: None)
    push = ["--push_to_hub", "org/kialo", "--private", "--config", "triplets"]
    assert cli.main(["kialo", "--data", str(raw), "--out", str(tmp_path / "out"), *push]) == 2
    assert "error: the connection to the Hub failed\n" in capsys.readouterr().err


def test_the_folder_itself_knows_its_terms(built, tmp_path):
    moved = built[0].rename(tmp_path / "moved")
    with pytest.raises(PublishError, match=r"\(kialo\) must not be published: Kialo's terms.*Add --private"):
        publish_dataset(moved, "org/kialo", dry_run=True)
    assert publish_dataset(moved, "org/kialo", dry_run=True, private=True)["repo_id"] == "org/kialo"
    summary = json.loads((moved / "summary.json").read_text())
    (moved / "summary.json").write_text(json.dumps(summary | {"redistributable": True}))
    assert publish_dataset(moved, "org/kialo", dry_run=True)["repo_id"] == "org/kialo"
