"""The commands of a search: what people type, what they get, and what they are told, and how soon."""

import json
import subprocess
import sys

import numpy as np
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


def test_axis(folder):
    words = ["axis", folder / "index", "--for", "for", "--for", "rather for", "--against", "against"]
    printed = run(*words, "-o", folder / "a.csv", "-o", folder / "a.pdf")
    assert sorted(path.name for path in folder.glob("a*")) == ["a-groups.csv", "a.csv", "a.json", "a.pdf"]
    scores = pd.read_csv(folder / "a.csv")["score"].to_numpy()[:4]
    assert np.round(scores, 6).tolist() == [0.8, 0, 0, -0.6]
    assert pd.read_csv(folder / "a-groups.csv")["group"].tolist() == ["G", "B", "(all)"]
    facts = json.loads((folder / "a.json").read_text())
    assert (facts["positive"], facts["first"], facts["kept"]) == (["for", "rather for"], "G", 6)
    assert "6 of 6 rows; cosine between the two sides 0.45" in printed
    assert "G nearer to the side for than B: AUROC 0." in printed
    assert "few rows of B: 2, 100.0% of those it has" in printed and "not measured: only texts coded" in printed


@pytest.mark.parametrize(
    ("words", "message"),
    [
        ("ask INDEX", "there is no statement"),
        ("ask INDEX for -o hits.xlsx", "-o 'hits.xlsx' has to end in .csv or .parquet"),
        ("align INDEX for", "'for' has no side: name the group whose view it is with --side"),
        ("align INDEX for --side G --thresholds high", "--thresholds: could not convert"),
        ("axis INDEX --for for --against against --coded CSV", "--text-column 'text': no such column; a.csv has the"),
        ("embed CSV -o new --text titel", "has the columns title, body; did you mean 'title'?"),
        ("embed CSV -o new --text title --model stance-minlm", "did you mean 'stance-minilm'?"),
    ],
)
def test_mistakes_are_told(folder, monkeypatch, words, message):
    monkeypatch.chdir(folder)
    (folder / "a.csv").write_text("title,body\nx,y\n")
    names = {"INDEX": folder / "index", "FOLDER": folder, "CSV": "a.csv"}
    said = run(*(names.get(word, word) for word in words.split()), code=2)
    assert said.startswith("error: ") and message in said and said.count("\n") == 1
    assert not (folder / "new").exists()


def test_what_is_cheap_to_check_is_told_before_torch_is_imported(folder, root):
    (folder / "a.csv").write_text("title,body\nx,y\n")
    commands = ["ask --help", "embed a.csv -o new --text titel", "embed a.csv -o new --text title --model stance-minlm"]
    commands += ["align index for --side g", "axis index --for for --against against --coded a.csv"]
    script = "import sys\nfrom typer.testing import CliRunner\nfrom modeling.search.commands import app\n"
    script += (
        f"print([CliRunner().invoke(app, words.split()).exit_code for words in {commands}], 'torch' in sys.modules)"
    )
    environment = {"PYTHONPATH": str(root), "PATH": "", "HF_HUB_OFFLINE": "1"}
    done = subprocess.run([sys.executable, "-c", script], cwd=folder, env=environment, capture_output=True, text=True)
    assert done.stdout.strip() == "[0, 2, 2, 2, 2] False", done.stderr
