"""`opinion eval`: columns, bases, the paper's figures, what is kept, and how mistakes are answered."""

import json

import pytest
from typer.testing import CliRunner

from modeling.evaluate import _system_of, app
from tests.modeling.conftest import cells
from tests.tiny import save_encoder


def opinion(*words):
    return CliRunner().invoke(app, ["eval", *map(str, words)])


def test_the_system_is_that_of_the_first_model(tmp_path):
    (tmp_path / "run" / "merged").mkdir(parents=True)
    (tmp_path / "run" / "recipe.json").write_text('{"system": "tweets"}')
    assert [_system_of(str(model)) for model in (tmp_path / "run", tmp_path / "run/merged")] == ["tweets", "tweets"]
    assert [_system_of(name) for name in ("sos-minilm", "bundled", "org/sos-minilm")] == ["sos", "stance", "stance"]


@pytest.fixture
def words(tiny_base, tiny_data, tmp_path):
    """A function that gives the command line for models on the tiny debates."""

    def line(*models, **options):
        sources = dict.fromkeys(("on", "similarity", "inference", "alignment"), tiny_data)
        options = {"base": tiny_base, "cache-dir": tmp_path / "cache", "out": tmp_path / "out"} | sources | options
        return [*models, *(word for key, value in options.items() if value for word in (f"--{key}", value))]

    return line


@pytest.fixture(scope="module")
def other(tmp_path_factory):
    """Another encoder than the base."""
    return save_encoder(tmp_path_factory.mktemp("other") / "random-1", seed=1)


def figures_of(text, measure):
    """Figures of a measure over all tables."""
    return [row[1:] for row in cells(text) if row[0] == measure]


def test_two_models(words, tiny_base, other, tmp_path, monkeypatch):
    done = opinion(*words(tiny_base, other))
    assert done.exit_code == 0, done.output
    text = (tmp_path / "out" / "table.md").read_text(encoding="utf-8")
    assert text.split("![")[0].strip() in done.stdout
    results = json.loads((tmp_path / "out" / "results.json").read_text(encoding="utf-8"))
    # the base is one of the models and has one column; it is not the paper's, whose figures are not beside it
    assert (results["models"], results["base"], results["filtered_by"]) == (["tiny", "random-1"], "tiny", "tiny")
    assert figures_of(text, "measure")[0] == ["tiny (base)", "random-1"]
    assert "It trained another encoder or used other data: none of its figures is here." in text
    rows = {evaluation["name"]: evaluation["rows"] for evaluation in results["evaluations"]}
    assert list(rows.items())[-3:] == [("inference", 6), ("alignment", 12), ("alignment_on_topic", 6)]
    # 30 agreeing and 36 opposing pairs of twelve arguments; six of twelve texts are by D
    assert (figures_of(text, "n_agree")[0], figures_of(text, "n_oppose")[0]) == (["30", "30"], ["36", "36"])
    assert figures_of(text, "healthcare_base_rate")[0] == ["0.500", "0.500"]
    for evaluation in results["evaluations"]:
        assert set(evaluation["figures"]) == {"tiny", "random-1"}
        assert set(evaluation["headline"]) <= set(evaluation["measures"])
        drawn = evaluation["name"] != "similarity"
        assert (tmp_path / "out" / evaluation["plot"]).is_file() == drawn
        assert (f"]({evaluation['plot']})" in text) == drawn
    assert str(tmp_path) not in json.dumps(results)
    # given again, nothing is embedded again
    monkeypatch.setattr("modeling.base.vectors.Vectors._embed", lambda *arguments: pytest.fail("embedded again"))
    assert opinion(*words(tiny_base, other, out=None)).stdout.strip() == text.split("![")[0].strip()
