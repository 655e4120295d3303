"""The commands of a search: what people type, and what they get."""

import pandas as pd
import pytest
import typer.testing

from modeling.search.commands import app
from modeling.search.index import Index
from tests.modeling.search.chosen import Chosen, chosen_index
from tests.tiny import TOPICS, arguments


@pytest.fixture
def folder(tmp_path, monkeypatch):
    """An index that answers with hand-made vectors."""
    chosen_index(tmp_path / "index")
    monkeypatch.setattr(Index, "model", Chosen())
    return tmp_path


def run(*words, code=0):
    """What a command prints, or says when it fails."""
    result = typer.testing.CliRunner().invoke(app, [str(word) for word in words], catch_exceptions=False)
    assert result.exit_code == code, result.output
    return result.stdout if code == 0 else result.stderr


def test_a_corpus_from_embedding_to_questions(tmp_path, tiny_base):
    rows = [(text, side) for topic in TOPICS[:2] for side in ("pro", "con") for text in arguments(topic, side)]
    frame = pd.DataFrame([*rows, ("", "pro"), (rows[0][0], "")], columns=["argument", "side"])
    frame.to_csv(tmp_path / "a.csv", index=False)
    pd.DataFrame({"argument": "we love sunday", "side": ["con", "pro", "con"]}).to_csv(tmp_path / "b.csv", index=False)
    index = tmp_path / "index"
    command = ["embed", tmp_path / "a.csv", "--text", "argument", "--group", "side", "--model", tiny_base, "-o", index]
    printed = run(*command)
    for line in (
        "26 rows read, 25 kept; different texts: 24",
        "1 x dropped: empty text",
        "1 x without a group",
        "is complete: 24 texts, 32 dimensions",
    ):
        assert line in printed
    before = (index / "index.json").read_text()
    assert "is complete" in run(*command)
    assert (index / "index.json").read_text() == before
    printed = run("ask", index, rows[0][0], "-n", 3, "-o", index / "hits.csv")
    assert "| 1    | 1.000      | 2    | pro 1  | we love the trams every day |" in printed
    hits = pd.read_csv(index / "hits.csv")
    assert hits.loc[0, ["rank", "rows", "rows_pro", "rows_con"]].tolist() == [1, 2, 1, 0]
    for source, new in (("a.csv", False), ("b.csv", True), ("b.csv", False)):
        assert ("nothing to do" not in run("embed", tmp_path / source, "--add", "-o", index)) == new
    assert "| con 2, pro 1 | we love sunday" in run("ask", index, "we love sunday", "-n", 1)  # the most first


def test_statements_come_as_words_and_from_files(folder):
    (folder / "a.txt").write_text("for\nagainst\n")
    run("ask", folder / "index", "--threshold", 0.7, "both", "both", "-f", folder / "a.txt", "-o", folder / "h.parquet")
    hits = pd.read_parquet(folder / "h.parquet")
    assert hits["statement"].tolist() == ["both", "both", "for", "against", "against"]
    assert hits["text"].tolist() == ["rather for", "for", "for", "against", "rather for"]
    assert hits["similarity"].tolist() == pytest.approx([0.96, 0.8, 1, 1, 0.8])
    assert "nothing is as similar as 0.99: lower --threshold" in run(
        "ask", folder / "index", "both", "--threshold", 0.99
    )


def test_align(folder):
    (folder / "queries.csv").write_text("statement,target\nfor,G\nagainst,B\n")
    words = ["align", folder / "index", "for", "--side", "G", "-f", folder / "queries.csv"]
    printed = run(*words, "--thresholds", "0.5:0.7:0.1", "-o", folder / "align.csv")
    table = pd.read_csv(folder / "align.csv")
    assert table["statement"].tolist() == ["for"] * 3 + ["against"] * 3  # each once
    assert table["threshold"].tolist() == [0.5, 0.6, 0.7] * 2
    assert table["precision"].tolist() == pytest.approx([1, 1, 1] + [1 / 3] * 3)
    assert "for (G, 60.0% of all rows with a group)" in printed
