"""The command that evaluates any encoders: columns, bases, what is kept, and how mistakes are answered."""

import json
import re
import shutil
import subprocess
import sys
import time

import pytest

from modeling import get_system, systems
from modeling.base.models import choose_base, labels, recorded_base
from modeling.evaluate import main, parse, render, source_options
from tests.modeling.base.test_cli import HEAVY
from tests.tiny import save_encoder

DRIVER = f"""
import runpy, sys
sys.argv = ["evaluate", *sys.argv[1:]]
try:
    runpy.run_module("modeling.evaluate", run_name="__main__")
finally:
    print("LOADED:", *sorted(set({HEAVY!r}) & set(sys.modules)))
"""


def program(root, *words):
    command = [sys.executable, "-c", DRIVER, *words]
    return subprocess.run(command, cwd=root, capture_output=True, text=True, timeout=120)


def test_help_is_quick_and_names_every_source(root):
    begun = time.perf_counter()
    done = program(root, "--help")
    assert time.perf_counter() - begun < 5  # it takes a fifth of a second; torch alone takes longer on a busy machine
    assert (done.returncode, done.stderr) == (0, "")
    assert done.stdout.splitlines()[-1] == "LOADED:"
    for option in source_options("stance"):
        assert f"--{option} SOURCE" in done.stdout


@pytest.mark.parametrize("system", systems())
def test_a_systems_sources_are_its_options_here(system):
    """In recipes, the comments of sources that are tested on, and of no other options, begin with "source of"."""
    assert source_options(system)
    assert set(source_options(system)) <= set(get_system(system).SOURCES)


def test_the_command_names_no_system(root):
    text = (root / "modeling" / "evaluate.py").read_text(encoding="utf-8").lower()
    assert [name for name in systems() if re.search(rf"\b{name}\b", text)] == []


@pytest.mark.parametrize(
    ("words", "message"),
    [
        ([], "the following arguments are required: MODEL"),
        (["bundled", "--similarty", "x"], "unrecognized arguments: --similarty"),
        (["bundled", "--system", "astrology"], "--system 'astrology' is unknown; there are stance"),
        (["bundled", "--max_rows", "0"], "--max_rows: '0' must be a whole number above 0"),
        (["bundled", "--max_rows", "many"], "--max_rows: 'many' must be a whole number above 0"),
        (["bundled", "--inference", "/nowhere/sick"], "--inference: there is no folder /nowhere/sick; build it with"),
        (["bundled", "--inference", "tests/sick"], "--inference: there is no folder tests/sick; build it with"),
        (["bundled", "--stance", "demo,tests/mr"], "--stance: there is no folder tests/mr; build it with"),
        (["bundled", "--out", "README.md"], "--out README.md is a file: name a folder"),
        (["bundled", "--stance", "README.md"], "--stance: there is no folder README.md; build it with"),
    ],
)
def test_wrong_words(root, monkeypatch, capsys, words, message):
    monkeypatch.chdir(root)
    with pytest.raises(SystemExit) as end:
        parse(words)
    assert end.value.code == 2
    assert message in capsys.readouterr().err


def test_words():
    arguments = parse(["a", "--stance", "org/kialo", "b", "--max_rows", "20", "--similarity", "none"])
    assert (arguments.models, arguments.max_rows, arguments.base) == (["a", "b"], 20, None)
    assert arguments.sources == {"stance": "org/kialo", "similarity": "none"}


@pytest.fixture
def words(tiny_base, tiny_data, tmp_path):
    """A function that gives the command line for models on the tiny debates."""

    def line(*models, **options):
        sources = dict.fromkeys(("stance", "similarity", "inference", "alignment"), tiny_data)
        options = {"base": tiny_base, "cache_dir": tmp_path / "cache", "out": tmp_path / "out"} | sources | options
        return [*map(str, models), *(str(word) for key, value in options.items() for word in (f"--{key}", value))]

    return line


def without_out(line):
    """The command line without the folder to write to."""
    position = line.index("--out")
    return line[:position] + line[position + 2 :]


@pytest.fixture(scope="module")
def other(tmp_path_factory):
    """Another encoder than the base."""
    return save_encoder(tmp_path_factory.mktemp("other") / "random-1", seed=1)


def cells(table, measure):
    """Rows of a measure over all tables, without its name."""
    rows = [[cell.strip() for cell in line.split("|")[1:-1]] for line in table.splitlines() if line.startswith("|")]
    return [row[1:] for row in rows if row[0] == measure]


def test_two_models_beside_the_paper(words, tiny_base, other, tmp_path, capsys):
    main(words(tiny_base, other))
    printed = capsys.readouterr().out
    table = (tmp_path / "out" / "table.md").read_text(encoding="utf-8")
    assert table.split("![")[0].strip() in printed
    results = json.loads((tmp_path / "out" / "results.json").read_text(encoding="utf-8"))
    assert (results["models"], results["base"], results["filtered_by"]) == (["tiny", "random-1"], "tiny", "tiny")
    # the base is one of the models and has one column, before the paper's; on other data the paper has no figures
    assert cells(table, "measure")[0] == ["paper, base", "tiny (base)", "paper", "random-1"]
    names = [evaluation["name"] for evaluation in results["evaluations"]]
    assert names[0] == "stance" and names[-4:] == ["similarity", "inference", "alignment", "alignment_on_topic"]
    assert [evaluation["rows"] for evaluation in results["evaluations"]][-4:] == [4, 6, 12, 6]
    # 30 agreeing and 36 opposing pairs of twelve arguments; six of twelve texts are by D
    assert cells(table, "n_agree")[0] == ["", "30", "", "30"]
    assert cells(table, "n_oppose")[0] == ["", "36", "", "36"]
    assert cells(table, "healthcare_base_rate")[0] == ["", "0.500", "", "0.500"]
    assert "hybrid, margin 0.4, both filters, LoRA" in table
    for evaluation in results["evaluations"]:
        assert set(evaluation["figures"]) == {"tiny", "random-1"}
        drawn = evaluation["name"] != "similarity"
        assert (tmp_path / "out" / evaluation["plot"]).is_file() == drawn
        assert (f"]({evaluation['plot']})" in table) == drawn
    assert str(tmp_path) not in json.dumps(results)


def test_the_paper_stands_beside_its_data(words, tiny_data, other, tmp_path):
    named = {name: shutil.copytree(tiny_data, tmp_path / name) for name in ("my-kialo", "stsb", "congress")}
    main(words(other, stance=named["my-kialo"], similarity=named["stsb"], alignment=named["congress"]))
    table = (tmp_path / "out" / "table.md").read_text(encoding="utf-8")
    ((base, _, headline, _),) = cells(table, "spearman")
    assert (base, headline) == ("0.830", "0.800")
    precision, on_topic = cells(table, "healthcare_precision"), cells(table, "healthcare_auroc")
    assert (precision[0][0], precision[0][2]) == ("0.760", "0.910")
    assert (on_topic[0][0], on_topic[0][2]) == ("", "")  # of these the paper prints nothing


def test_nothing_is_computed_twice(words, other, monkeypatch, capsys):
    line = without_out(words(other))
    main(line)
    first = capsys.readouterr().out
    monkeypatch.setattr("modeling.base.vectors._compute", lambda *arguments: pytest.fail("embedded again"))
    main(line)
    assert capsys.readouterr().out == first


def test_without_a_base_and_without_a_folder(words, other, monkeypatch, tmp_path, capsys):
    monkeypatch.setattr("modeling.base.models.choose_base", lambda asked, model: (str(other), "a note"))
    line = words(other, base="none", similarity="none", alignment="none", inference="none", max_rows=20)
    main(without_out(line))
    printed = capsys.readouterr().out
    assert cells(printed, "measure")[0] == ["paper, base", "paper", "random-1"]
    assert "Base of the rows that are filtered by it: random-1. a note Samples of at most 20 rows." in printed
    assert "tiny-debates (test), 20 rows." in printed
    assert not (tmp_path / "out").exists()


def test_a_model_or_source_that_cannot_be_loaded(words, other, tmp_path, monkeypatch):
    monkeypatch.delenv("OPINION_TRACEBACK", raising=False)
    with pytest.raises(SystemExit, match=r"modeling\.evaluate: error: the model 'org/absent' could not be loaded"):
        main(words(other, "org/absent"))
    with pytest.raises(SystemExit, match=r"modeling\.evaluate: error: 'org/tweets' \(tweets\) could not be loaded"):
        main(words(other, alignment="org/tweets"))
    with pytest.raises(SystemExit, match="the encoder 'org/base' could not be loaded"):
        main(words(other, base="org/base"))
    assert not (tmp_path / "out").exists() and not (tmp_path / "cache" / "embeddings").exists()


def test_what_nothing_was_found_of_is_an_empty_cell():
    evaluation = {"name": "alignment", "title": "t", "dataset": "d (test)", "dataset_id": "d", "rows": 1200,
                  "headline": [], "measures": ["alignment_a_precision", "alignment_a_retrieved"],
                  "figures": {"base": {"alignment_a_precision": 0.5, "alignment_a_retrieved": 2},
                              "ours": {"alignment_a_precision": None, "alignment_a_retrieved": 0}}}  # fmt: skip
    paper = {"alignment_a_retrieved": {"table": "Table 4", "data": "", "base": 1290, "trained": 47}}
    results = {"models": ["base", "ours"], "base": "base", "filtered_by": "base", "note": "", "max_rows": None,
               "evaluations": [evaluation], "demonstrations": [], "paper": paper, "paper_setup": "s",
               "paper_headline": "h"}  # fmt: skip
    table = render(results)
    assert cells(table, "a_precision") == [["", "0.500", "", ""]]
    assert cells(table, "a_retrieved") == [["1,290", "2", "47", "0"]]
    assert "d (test), 1,200 rows." in table


def test_heads_of_columns(tmp_path, monkeypatch):
    for name in ("one/merged", "one/adapter", "two/merged", "other/two"):
        (tmp_path / name).mkdir(parents=True)
    monkeypatch.chdir(tmp_path)
    assert labels(["bundled", "org/x", "one/merged"]) == {"bundled": "bundled", "org/x": "org/x", "one/merged": "one"}
    # names that two folders share
    (tmp_path / "new/two/merged").mkdir(parents=True)
    assert list(labels(["two/merged", "other/two"]).values()) == ["two/merged", "other/two"]
    assert list(labels(["two/merged", "new/two/merged", "org/x"]).values()) == [
        f"{tmp_path.name}/two/merged", "new/two/merged", "org/x"
    ]  # fmt: skip
    assert labels(["two", "./two"]) == {"two": "two", "./two": "./two"}  # the same twice


def test_the_base_that_a_model_records(tmp_path):
    adapter, run, card = (tmp_path / name for name in ("adapter", "run", "card"))
    for folder, file, text in (
        (adapter, "adapter_config.json", '{"base_model_name_or_path": "org/of-adapter"}'),
        (run / "merged", "fingerprint.json", '{"base_model": "org/of-run"}'),
        (card, "README.md", "---\nbase_model:\n- org/of-card\n---\nText.\n"),
    ):
        folder.mkdir(parents=True)
        (folder / file).write_text(text, encoding="utf-8")
    assert [recorded_base(str(folder)) for folder in (adapter, run, card)] == ["org/of-adapter", "org/of-run",
                                                                              "org/of-card"]  # fmt: skip
    assert [recorded_base(model) for model in (str(tmp_path), "bundled", "org/absent")] == [None, None, None]


def test_the_base_to_compare_with(tmp_path, monkeypatch):
    bases = {"plain": None, "mini": "sentence-transformers/all-MiniLM-L6-v2", "far": "org/far", "near": "org/near"}
    monkeypatch.setattr("modeling.base.models.recorded_base", bases.get)

    def load(backbone):
        if backbone.hub_id == "org/far":
            raise ValueError("out of reach")

    monkeypatch.setattr("modeling.base.models.load_backbone", load)
    assert choose_base("org/asked", "near") == ("org/asked", "")
    assert choose_base(None, "plain") == choose_base("none", "mini") == ("bundled", "")
    assert choose_base(None, "near") == ("org/near", "")
    base, note = choose_base(None, "far")
    assert base == "bundled"
    assert note == "org/far, which far was trained from, cannot be loaded: 'bundled' takes its place."
