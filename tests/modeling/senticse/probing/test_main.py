"""The command: figures of models on corpora beside the paper's, kept, and found again."""

import csv
import json
import shutil

import numpy as np
import pytest

from modeling.senticse.probing import cells as cells_module
from modeling.senticse.probing.__main__ import main, parse
from modeling.senticse.probing.cells import Cell, Prober, Protocol, cells, model_folder
from tests.tiny import save_encoder


@pytest.fixture(scope="module")
def others(tmp_path_factory):
    """Two more encoders."""
    folder = tmp_path_factory.mktemp("others")
    return [save_encoder(folder / f"random-{seed}", seed=seed) for seed in (1, 2)]


@pytest.fixture
def line(tiny_data, tmp_path):
    """A function that gives the command line for models on the tiny sentences."""

    def words(*models, **options):
        given = {
            "sentiment": tiny_data,
            "cache_dir": tmp_path / "cache",
            "seeds": 2,
            "out": tmp_path / "out",
            **options,
        }
        return [*map(str, models), *(str(word) for key, value in given.items() for word in (f"--{key}", value))]

    return words


def table_rows(table, title):
    """Cells of the table under a heading that begins with `title`."""
    text = table.split(f"### {title}")[1].split("###")[0]
    rows = [[cell.strip() for cell in row.split("|")[1:-1]] for row in text.splitlines() if row.startswith("|")]
    return rows[:1] + rows[2:]  # without the line under the header


@pytest.mark.parametrize(
    ("words", "message"),
    [
        ([], "the following arguments are required: MODEL"),
        (["bundled", "--shots", "0,5"], "--shots: '0' must be a whole number above 0"),
        (["bundled", "--shots", ","], "--shots: name at least one"),
        (["bundled", "--seeds", "none"], "--seeds: 'none' must be a whole number above 0"),
        (["bundled", "--fine_tune", "yes"], "--fine_tune: 'yes' must be true or false"),
        (["bundled", "--learning_rate", "-1"], "--learning_rate: '-1' must be a number between 0 and 1"),
        (["bundled", "--sentiment", "demo,/nowhere/mr"], "--sentiment: there is no folder /nowhere/mr; build it with"),
        (["bundled", "--out", "README.md"], "--out README.md is a file: name a folder"),
    ],
)
def test_wrong_words(root, monkeypatch, capsys, words, message):
    monkeypatch.chdir(root)
    with pytest.raises(SystemExit) as end:
        parse(words)
    assert end.value.code == 2
    assert message in capsys.readouterr().err


def test_words():
    found = parse(["a", "--sentiment", "demo, org/mr,demo", "b", "--shots", "5,1"])
    assert (found.models, found.sentiment, found.shots, found.seeds) == (["a", "b"], ["demo", "org/mr"], (1, 5), 10)
    assert (found.fine_tune, found.fine_tune_seeds, found.learning_rate) == (False, None, 1e-5)


def test_cells_of_a_protocol():
    found = list(cells(Protocol(shots=(1, 5), seeds=2, fine_tune_seeds=1)))
    assert found[:4] == [Cell("sgts"), Cell("geometry"), Cell("components"), Cell("linear_probe")]
    assert [str(cell) for cell in found[4:]] == [
        "1-shot frozen, seed 0", "1-shot frozen, seed 1", "5-shot frozen, seed 0", "5-shot frozen, seed 1",
        "1-shot fine_tuned, seed 0", "5-shot fine_tuned, seed 0"]  # fmt: skip


def test_three_models_on_two_corpora(line, tiny_base, tiny_data, others, tmp_path, capsys):
    named = shutil.copytree(tiny_data, tmp_path / "my-mr")
    main(line(tiny_base, *others, sentiment=f"{tiny_data},{named}"))
    printed = capsys.readouterr().out
    table = (tmp_path / "out" / "table.md").read_text(encoding="utf-8")
    assert table.split("![")[0].strip() in printed
    assert "- my-mr: 72 training, 12 validation, 12 test sentences; 12 SgTS pairs of the validation split." in table
    results = json.loads((tmp_path / "out" / "results.json").read_text(encoding="utf-8"))
    figures = results["figures"]["tiny-debates"]["tiny"]
    header, *rows = table_rows(table, "SgTS (table 3)")
    assert header == ["corpus", "measure", "paper, RoBERTa", "paper, SentiCSE", "tiny", "random-1", "random-2"]
    spearman = [results["figures"]["tiny-debates"][model]["sgts"]["spearman"] for model in results["models"]]
    assert rows[0] == ["tiny-debates", "spearman", "", "", *(f"{value:.3f}" for value in spearman)]
    # the paper's figures stand beside the corpus of that name, and beside no mean with others
    assert rows[1][:4] == ["my-mr", "spearman", "0.040", "0.690"]
    assert rows[2][:4] == ["mean", "spearman", "", ""] and rows[2][4:] == rows[0][4:]
    probes = table_rows(table, "Linear probe, accuracy in % (table 5)")
    assert probes[2][:3] == ["my-mr", "50.38", "89.49"]
    assert probes[1][3] == f"{100 * figures['linear_probe']['accuracy']:.2f}"
    shots = table_rows(table, "Few-shot accuracy")
    assert [row[:5] for row in shots if row[0] == "my-mr"] == [
        ["my-mr", "1", "classifier", "53.82", "87.38"], ["my-mr", "5", "classifier", "56.78", "88.00"]]  # fmt: skip
    one = figures["few_shot"]["frozen"]["1"]
    mean, deviation = sum(one["accuracies"]) / 2, abs(one["accuracies"][0] - one["accuracies"][1]) / 2**0.5
    assert shots[1][5] == f"{100 * mean:.2f} ± {100 * deviation:.2f}"
    assert [row[3] for row in table_rows(table, "SgTS and few-shot")[1:]] == ["3", "3", "6", "3", "3", "6"]
    for plot in ("components-tiny-debates", "components-my-mr", "sgts-few-shot"):
        assert (tmp_path / "out" / "plots" / f"{plot}.png").is_file() and f"(plots/{plot}.png)" in table
    lines = list(csv.DictReader((tmp_path / "out" / "results.csv").open()))
    assert len(lines) == 2 * 3 * (8 + 2 + 3 + 2 * 2)
    assert lines[-1]["measure"] == "few_shot_accuracy" and lines[-1]["per_class"] == "5"
    assert str(tmp_path) not in json.dumps(results)


def test_an_interrupted_command_goes_on(line, others, monkeypatch, tmp_path, capsys):
    words, measured, measure = line(others[0]), [], Prober.measure

    def interrupted(self, cell):
        if len(measured) == 5:
            raise KeyboardInterrupt
        measured.append(cell)
        return measure(self, cell)

    monkeypatch.setattr(Prober, "measure", interrupted)
    with pytest.raises(SystemExit, match="interrupted; the same command continues where this one stopped"):
        main(words)
    assert not (tmp_path / "out").exists()
    measured.clear()
    monkeypatch.setattr(Prober, "measure", lambda self, cell: measured.append(cell) or measure(self, cell))
    main(words)
    first = capsys.readouterr().out
    assert measured == [Cell("frozen", 1, 1), Cell("frozen", 5, 0), Cell("frozen", 5, 1)]
    main(words)
    assert len(measured) == 3 and capsys.readouterr().out.endswith(first)
    # one more draw is all that is added; of one model there is no correlation
    main(line(others[0], seeds=3))
    assert measured[3:] == [Cell("frozen", 1, 2), Cell("frozen", 5, 2)]
    assert table_rows(capsys.readouterr().out, "SgTS and few-shot")[1][3:] == ["1", "", ""]


def test_what_a_figure_depends_on(tiny_base, others, tiny_data, tmp_path):
    from sentence_transformers import SentenceTransformer

    from modeling.senticse.probing.data import load_corpus

    corpus = load_corpus(str(tiny_data), "tiny", tmp_path)
    sample = load_corpus(str(tiny_data), "tiny", tmp_path, max_rows=8)
    model, other = SentenceTransformer(str(tiny_base)), SentenceTransformer(str(others[0]))

    def path(cell, model=model, corpus=corpus, **options):
        return Prober("m", model, corpus, Protocol(**options), tmp_path).path(cell)

    sgts, frozen, tuned = Cell("sgts"), Cell("frozen", 1, 0), Cell("fine_tuned", 1, 0)
    assert path(sgts) == path(sgts, seeds=3, learning_rate=0.1)
    assert len({path(sgts), path(sgts, model=other), path(sgts, corpus=sample), path(Cell("geometry"))}) == 4
    assert path(frozen) == path(frozen, learning_rate=0.1) != path(frozen, validation=9)
    assert (
        len({path(tuned), path(tuned, learning_rate=0.1), path(tuned, max_test=9), path(Cell("fine_tuned", 1, 1))}) == 4
    )
    model.max_seq_length = 5
    assert path(sgts) != Prober("m", SentenceTransformer(str(tiny_base)), corpus, Protocol(), tmp_path).path(sgts)


def test_models_that_differ_little_are_two(tmp_path, monkeypatch):
    class Fixed:
        def __init__(self, length):
            self.length = length

        def encode(self, texts, **options):
            return np.full((len(texts), 1), self.length)

    def folder(value, length=1.0):
        found = {"max_seq_length": 48, "probes": [[value, 0.0]]}
        monkeypatch.setattr(cells_module, "behaviour", lambda model: found)
        return model_folder("m", Fixed(length), tmp_path)

    assert folder(0.5) == folder(0.50002) != folder(0.5005)
    assert folder(0.5) != folder(0.5, length=5.8)  # fine-tuning begins from vectors of their own length
    with pytest.raises(ValueError, match=r"the vectors of m are no numbers \(NaN\): its weights are damaged"):
        folder(float("nan"))


def test_vectors_that_are_no_numbers(tiny_base, tiny_data, tmp_path, monkeypatch):
    from sentence_transformers import SentenceTransformer

    from modeling.senticse.probing.data import load_corpus

    corpus = load_corpus(str(tiny_data), "tiny", tmp_path)
    prober = Prober("m", SentenceTransformer(str(tiny_base)), corpus, Protocol(), tmp_path)
    monkeypatch.setattr(cells_module, "embed", lambda *given: np.array([[1, 0], [np.nan, 1]]))
    with pytest.raises(ValueError, match=r"m on tiny, geometry: the vectors of 1 of 2 test texts are no numbers"):
        prober.measure(Cell("geometry"))
    assert prober.stored(Cell("geometry")) is None


def test_what_cannot_be_probed(line, tiny_base, tmp_path, monkeypatch):
    monkeypatch.delenv("OPINION_TRACEBACK", raising=False)
    with pytest.raises(SystemExit, match=r"tiny-debates: 40 training texts per class were asked for, class 'negative'"):
        main(line(tiny_base, shots="1,40"))
    with pytest.raises(SystemExit, match=r"--sentiment org/x: the probes need labelled sentences and pairs"):
        main(line(tiny_base, sentiment="org/x"))
    with pytest.raises(SystemExit, match=r"the model 'org/absent' could not be loaded"):
        main(line("org/absent"))
    assert not (tmp_path / "out").exists() and not (tmp_path / "cache" / "probing").exists()
