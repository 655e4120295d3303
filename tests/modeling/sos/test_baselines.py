"""Measures without training by hand, and the command that sets them beside the paper's figures."""

import csv
import math
import subprocess
import sys
import time

import numpy as np
import pytest
from datasets import Dataset
from PIL import Image

from modeling.base import dot_plots
from modeling.base import words as text_similarities
from modeling.base.dot_plots import plot_dots
from modeling.base.words import (
    BASELINES,
    Baseline,
    Similarities,
    content_word_movers,
    glove,
    rouge,
    tf_idf,
    tokens,
)
from modeling.base.words import word_movers as wmd
from modeling.sos import baselines
from modeling.sos.baseline_report import TABLES, evaluate, methods_of, paper_figures, render
from modeling.sos.baselines import check_libraries, check_rows, main, parse
from tests.modeling.base.test_cli import HEAVY

# unit vectors at right angles, but for their lengths, which are not to matter
COMPASS = {"good": (3.0, 0.0), "great": (0.0, 1.0), "bad": (-1.0, 0.0), "awful": (0.0, -0.5)}


def compass(words):
    return {word: np.array(COMPASS[word]) for word in words if word in COMPASS}


@pytest.mark.parametrize(
    ("kind", "replaced", "moved"),
    [
        ("rouge1", 3 / 4, 1),  # three words of four are shared; all are
        ("rouge2", 2 / 3, 1 / 3),  # "the trams", "trams are" of three; "the trams" of three
        ("rougeL", 3 / 4, 2 / 4),  # the longest common subsequence has three words; two ("the trams")
    ],
)
def test_rouge_by_hand(kind, replaced, moved):
    found = rouge(["The trams are good.", "The trams are good."], ["The trams are bad!", "Good are the trams"], kind)
    assert found.values == pytest.approx([replaced, moved])
    assert found.counts == {"pairs without words": 0}


def test_tf_idf_by_hand():
    # idf of a word in both of two texts: ln(3/3) + 1 = 1; in one: ln(3/2) + 1
    rare = math.log(1.5) + 1
    found = tf_idf(["Trams good", "Trams good"], ["trams bad", "Trams good"])
    assert found.values == pytest.approx([1 / (1 + rare**2), 1])


def test_word_movers_by_hand():
    found = wmd(["Good great", "good good great", "good"], ["bad awful", "good bad", "Good!"], compass)
    # 1: each opposite is 2 away and each neighbour sqrt 2, so good goes to awful and great to bad.
    # 2: half of the mass stays with good; a sixth goes from good to bad (2 away), a third from great to bad (sqrt 2).
    assert found.values == pytest.approx([math.exp(-math.sqrt(2)), math.exp(-(1 + math.sqrt(2)) / 3), 1])
    assert found.counts == {"pairs without words": 0, "words": 4, "words without a vector": 0}


@pytest.mark.parametrize(
    "measure", [lambda *pairs: wmd(*pairs, compass), tf_idf, lambda *pairs: rouge(*pairs, "rouge1")]
)
def test_a_text_without_any_word_is_not_similar_and_counted(measure):
    found = measure(["good bad", "...", "good", "!"], ["good bad", "good", "", "?"])
    assert found.values == pytest.approx([1, 0, 0, 0])
    assert found.counts["pairs without words"] == 3
    assert measure(["...", "!"], ["", "?"]).values.tolist() == [0, 0]


def test_words_without_a_vector_are_left_out_and_counted():
    found = wmd(["good trams", "trams"], ["good", "good"], compass)
    assert found.values == pytest.approx([1, 0])
    assert found.counts == {"pairs without words": 1, "words": 2, "words without a vector": 1}


def test_tokens_are_those_of_glove():
    assert tokens("It isn't GREAT. The U.S. one (old) works... and/or not.") == [
        *("it", "is", "n't", "great", "the", "u.s.", "one", "old", "works", "and/or", "not")
    ]


def test_glove_and_stop_words():
    found = glove({"good", "great", "table", "zzqxv"})
    assert {word: vector.shape for word, vector in found.items()} == dict.fromkeys(("good", "great", "table"), (50,))
    assert np.linalg.norm(found["good"] - found["great"]) < np.linalg.norm(found["good"] - found["table"])
    found = content_word_movers(["it is the tram", "it is not"], ["a tram", "trams"])
    assert found.values == pytest.approx([1, 0])
    assert found.counts["pairs without words"] == 1


def opinions(**columns):
    rows = {"id": ["a", "b", "c", "d"], "sentence1": ["trams are good"] * 4, "sentence2": ["the trams", "a", "b", "."],
            "score": [4.0, 3.0, 1.0, 0.0], "domain": ["laptop"] * 4}  # fmt: skip
    return Dataset.from_dict(rows | columns)


@pytest.mark.parametrize(
    ("rows", "message"),
    [
        (opinions().remove_columns("domain"), "news .opinions. has no column domain; it has id, sentence1"),
        (opinions(sentence2=["x", None, "x", "x"]), "news .opinions., row 1: sentence2 is None; drop or repair"),
        (opinions(score=[1, 2, 3, 5]), r"references\[3\] is 5, outside \[0, 4\]"),
        (opinions(score=[1, 2, 3, None]), r"references\[3\] is None"),
    ],
)
def test_bad_rows_are_named_before_anything_is_computed(rows, message):
    with pytest.raises(ValueError, match=message):
        check_rows(rows, "news")


def test_missing_libraries_are_named(monkeypatch):
    monkeypatch.setattr(baselines, "find_spec", lambda name: None if name == "ot" else name)
    with pytest.raises(ValueError, match=r"^ot not installed: pip install 'opinion-transformers\[baselines\]'"):
        check_libraries()


def test_help_is_quick_and_an_out_that_is_a_file_is_refused(root, tmp_path, capsys):
    code = "import sys, modeling.sos.baselines as b\ntry: b.main(['--help'])\nfinally: print({*HEAVY} & {*sys.modules})"
    code = code.replace("*HEAVY", f"*{HEAVY!r}")
    begun = time.perf_counter()
    done = subprocess.run([sys.executable, "-c", code], cwd=root, capture_output=True, text=True, timeout=60)
    assert time.perf_counter() - begun < 5
    assert (done.returncode, done.stdout.splitlines()[-1]) == (0, "set()")
    (tmp_path / "file").touch()
    with pytest.raises(SystemExit):
        parse(["demo", "--out", str(tmp_path / "file")])
    assert "is a file: name a folder" in capsys.readouterr().err


def test_every_figure_of_the_paper_is_a_measure_of_the_tables():
    paper = paper_figures()
    assert paper["WMD", "laptop", "pearson"] == 0.217 and paper["SBERT", "restaurant", "kendall_similar"] == 0.276
    assert {measure for _, _, measure in paper} == {measure for measures in TABLES.values() for measure in measures}
    assert {"ROUGE-1", "ROUGE-2", "ROUGE-L", "WMD"} == set(BASELINES) & set(methods_of(paper))


def test_figures_and_tables():
    rows = opinions(domain=["laptop", "laptop", "laptop", "restaurant"])
    similarities = {"WMD": np.array([0.3, 0.2, 0.1, 0.5]), "flat": np.zeros(4)}
    ours = evaluate(rows, similarities)
    assert ours["WMD", "laptop", "kendall"] == pytest.approx(1)
    assert ours["WMD", "laptop", "pearson_different"] is None  # of one pair
    assert ours["flat", "laptop", "pearson"] is ours["WMD", "restaurant", "pearson"] is None
    text = render("news", rows, ours, paper_figures(), {"WMD": {"words": 1234, "pairs without words": 0}})
    assert "news: laptop 1 broadly different and 2 similar pairs, restaurant 1 broadly different and 0" in text
    assert "| WMD        | 0.217 / 0.982  | 0.184 / 1.000  | 0.249 / -" in text
    assert "| SPICE      | 0.074 / -  " in text and text.endswith("Counted: WMD: 1,234 words.")
    text = render("news", rows, ours, {}, {})
    assert "SPICE" not in text and " / " not in text and "flat" not in text and "Counted" not in text


def test_the_command(tiny_data, tiny_base, tmp_path, monkeypatch, capsys):
    calls = []

    def measure(name, values):
        def compute(first, second):
            if values is None:
                raise KeyboardInterrupt
            calls.append(name)
            return Similarities(np.array(values(len(first)), float), {"pairs without words": 0})

        return Baseline(compute, ("numpy",))

    words = [str(tiny_data), "--model", str(tiny_base), "--cache_dir", str(tmp_path / "cache"), "--out", str(tmp_path)]
    monkeypatch.setattr(
        text_similarities, "BASELINES", {"first": measure("first", range), "second": measure("second", None)}
    )
    with pytest.raises(SystemExit, match="interrupted; the same command continues"):
        main(words)
    monkeypatch.setattr(
        text_similarities, "BASELINES", {"first": measure("first", None), "second": measure("second", range)}
    )
    main(words)
    assert calls == ["first", "second"]  # the first one was kept
    assert "written to" in capsys.readouterr().out
    with (tmp_path / "results.csv").open() as file:
        results = {(row["method"], row["domain"], row["measure"]): row for row in csv.DictReader(file)}
    assert results.keys() >= {(method, "laptop", "pearson") for method in ("first", "second", "tiny")}
    with (tmp_path / "similarities.csv").open() as file:
        assert csv.DictReader(file).fieldnames == ["id", "domain", "score", "first", "second", "tiny"]
    assert Image.open(tmp_path / "pearson.png").size[0] > 500
    assert (tmp_path / "table.md").read_text().startswith(f"{tiny_data.name}: laptop ")


def test_dots_are_ours_and_rings_the_papers(tmp_path, monkeypatch):
    figures = []
    monkeypatch.setattr(dot_plots, "save_figure", lambda figure, path, title: figures.append(figure))
    ours = {("WMD", "laptop"): 0.2, ("mine", "laptop"): 0.4, ("mine", "restaurant"): None}
    plot_dots(["WMD", "mine"], {"all": (ours, {("WMD", "laptop"): 0.3})}, tmp_path / "x.png", "$t", "unit")
    (axis,) = figures[0].axes
    drawn = {tuple(line.get_xdata()): line for line in axis.lines if len(line.get_xdata())}
    assert drawn[0.2, 0.4].get_markerfacecolor() != "none" and drawn[(0.3,)].get_markerfacecolor() == "none"
    assert [text.get_text() for text in figures[0].legends[0].get_texts()] == ["laptop", "laptop, paper"]
    assert [label.get_text() for label in axis.get_yticklabels()] == ["WMD", "mine"]
