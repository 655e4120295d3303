"""The command line of the search: what people type, what they get, and what they are told."""

import json
import subprocess
import sys
import time

import pandas as pd
import pytest

from modeling.search import index as index_module
from modeling.search.__main__ import COMMANDS, main
from tests.modeling.search.chosen import Chosen, chosen_index
from tests.tiny import TOPICS, arguments


@pytest.fixture
def folder(tmp_path, monkeypatch):
    """An index that answers with hand-made vectors."""
    chosen_index(tmp_path / "index")
    monkeypatch.setattr(index_module.Index, "model", Chosen())
    return tmp_path


def run(*words):
    main([str(word) for word in words])


def fails(capsys, *words):
    """The message of a command that fails."""
    with pytest.raises(SystemExit) as error:
        run(*words)
    return f"{error.value.code}\n{capsys.readouterr().err}"


def test_help_is_fast_and_complete(root):
    start = time.perf_counter()
    for words in (["--help"], *([command, "--help"] for command in COMMANDS)):
        done = subprocess.run(
            [sys.executable, "-m", "modeling.search", *words], cwd=root, capture_output=True, text=True
        )
        assert done.returncode == 0
        assert not done.stderr
    assert time.perf_counter() - start < 5 * 3  # 0.1 s each, on a machine that does nothing else


def test_a_corpus_from_embedding_to_questions(tmp_path, tiny_base, tiny_data, capsys):
    rows = [(text, side) for topic in TOPICS[:2] for side in ("pro", "con") for text in arguments(topic, side)]
    pd.DataFrame([*rows, ("", "pro"), (rows[0][0], "")], columns=["argument", "side"]).to_csv(
        tmp_path / "a.csv", index=False
    )
    command = ["embed", tmp_path / "a.csv", "--text", "argument", "--group", "side", "--model", tiny_base]
    run(*command, "--out", tmp_path / "index")
    printed = capsys.readouterr().out
    assert "26 rows read, 25 kept; different texts: 24" in printed
    assert "1 x dropped: empty text" in printed
    assert "1 x without a group" in printed
    assert "is complete: 32 dimensions" in printed
    first = (tmp_path / "index" / "vectors.npy").stat().st_mtime_ns
    run(*command, "--out", tmp_path / "index")
    assert "is complete" in capsys.readouterr().out
    assert (tmp_path / "index" / "vectors.npy").stat().st_mtime_ns == first
    run("ask", tmp_path / "index", rows[0][0], "--top", 3, "--out", tmp_path / "hits.csv")
    assert "| 1    | 1.000      | 2    | pro 1  | we love the trams every day |" in capsys.readouterr().out
    assert pd.read_csv(tmp_path / "hits.csv")["rank"].tolist() == [1, 2, 3]


def test_ask_from_a_file(folder, capsys):
    (folder / "statements.txt").write_text("for\nagainst\n")
    run("ask", folder / "index", "both", "--statements", folder / "statements.txt", "--threshold", 0.7,
        "--out", folder / "hits.parquet")  # fmt: skip
    hits = pd.read_parquet(folder / "hits.parquet")
    assert hits["statement"].tolist() == ["both", "both", "for", "against", "against"]
    assert hits["text"].tolist() == ["rather for", "for", "for", "against", "rather for"]
    assert hits["similarity"].tolist() == pytest.approx([0.96, 0.8, 1, 1, 0.8])
    run("ask", folder / "index", "elsewhere", "--threshold", "1", "--top", 1)
    run("ask", folder / "index", "both", "--threshold", "0.99")
    assert "nothing is as similar as 0.99: lower --threshold" in capsys.readouterr().out


def test_statements_behind_options_and_twice(folder, capsys):
    run("ask", folder / "index", "--threshold", 0.7, "both", "both", "--out", folder / "hits.csv")
    assert pd.read_csv(folder / "hits.csv")["statement"].tolist() == ["both", "both"]  # two matches, once
    run("align", folder / "index", "--target", "G", "for", "--query", "for=G", "--thresholds", "0.7",
        "--out", folder / "align.csv")  # fmt: skip
    assert pd.read_csv(folder / "align.csv")["statement"].tolist() == ["for"]


def test_align(folder, capsys):
    run("align", folder / "index", "for", "--target", "G", "--query", "against=B", "--thresholds", "0.5:0.7:0.1",
        "--out", folder / "align.csv")  # fmt: skip
    table = pd.read_csv(folder / "align.csv")
    assert table["statement"].tolist() == ["for"] * 3 + ["against"] * 3
    assert table["threshold"].tolist() == [0.5, 0.6, 0.7] * 2
    assert table["precision"].tolist() == pytest.approx([1, 1, 1] + [1 / 3] * 3)
    assert (folder / "align.png").stat().st_size > 10_000
    assert "for (G, 60.0% of all rows with a group)" in capsys.readouterr().out
    (folder / "queries.csv").write_text("statement,target\nfor,G\nagainst,B\n")
    run("align", folder / "index", "--statements", folder / "queries.csv", "--thresholds", "0.7", "--out",
        folder / "b.parquet")  # fmt: skip
    assert pd.read_parquet(folder / "b.parquet")["retrieved"].tolist() == [1, 3]


def test_axis(folder, capsys):
    run("axis", folder / "index", "--positive", "for", "rather for", "--negative", "against", "--out", folder / "a.csv")
    assert sorted(path.name for path in folder.glob("a*")) == ["a-groups.csv", "a.csv", "a.json", "a.png"]
    assert pd.read_csv(folder / "a.csv")["score"].tolist()[:4] == pytest.approx([0.8, 0, 0, -0.6], abs=1e-6)
    assert pd.read_csv(folder / "a-groups.csv")["group"].tolist() == ["G", "B", "(all)"]
    facts = json.loads((folder / "a.json").read_text())
    assert (facts["positive"], facts["first"], facts["kept"]) == (["for", "rather for"], "G", 6)
    printed = capsys.readouterr().out
    assert "6 of 6 rows; cosine between the two sides 0.45" in printed
    assert "--min_similarity 0.4 keeps those on the topic" in printed


@pytest.mark.parametrize(
    ("words", "message"),
    [
        (["ask"], "there is no statement"),
        (["ask", "for", "--out", "hits.xlsx"], "has to end in .csv or .parquet"),
        (["align", "for"], "'for' has no target: name the group whose view it is with --target"),
        (["align", "--query", "for"], "--query 'for' has to be STATEMENT=GROUP"),
        (["align", "for", "--target", "X"], "is no group of the index; it has G, B"),
        (["align", "for", "--target", "G", "--thresholds", "0.9:0.1:0.1"], "--thresholds: range '0.9:0.1:0.1' must be"),
        (["align", "for", "--target", "G", "--thresholds", "high"], "--thresholds: could not convert"),
        (["axis", "--positive", "for", "--negative", "for"], "the two sides are the same"),
    ],
)
def test_mistakes_are_told(folder, capsys, words, message):
    command, *rest = words
    assert message in fails(capsys, command, folder / "index", *rest)


def test_mistakes_of_embed_are_told(tmp_path, capsys):
    (tmp_path / "a.csv").write_text("title,body\nx,y\n")
    said = fails(capsys, "embed", tmp_path / "a.csv", "--out", tmp_path / "index")
    assert said.startswith("python -m modeling.search: error: which column holds the texts?")
    assert "has the columns title, body" in said
    assert not (tmp_path / "index").exists()
    assert "does not exist: check the path" in fails(capsys, "embed", tmp_path / "b.csv", "--out", tmp_path / "index")


@pytest.mark.corpora
def test_tweets_of_congress(corpora, tmp_path):
    """A real corpus from the builder on, with its first hundred tweets."""
    from dataset_scripts.congress import Congress

    builder = Congress.open(corpora / "congress", "tweets", cache_dir=tmp_path / "cache")
    builder.download_and_prepare()
    tweets = builder.as_dataset()["test"].select(range(100))
    tweets.to_parquet(tmp_path / "tweets.parquet")
    run("embed", tmp_path / "tweets.parquet", "--group", "group", "--model", "bundled", "--out", tmp_path / "index")
    hits = index_module.Index.open(tmp_path / "index").ask(tweets["text"][7], top=1)
    assert hits["similarity"].iloc[0] == pytest.approx(1, abs=1e-5)
    assert hits["groups"].iloc[0][0] in "DRI"
