"""The command line: what is read, how a mistake is answered, and that asking for help is quick."""

import subprocess
import sys

import pytest

from modeling import DEFAULT_RECIPE, get_system
from modeling.base.cli import friendly_errors, parse
from modeling.base.recipe import SHARED, load_recipe

HEAVY = ("torch", "datasets", "transformers", "sentence_transformers", "peft", "accelerate", "numpy", "matplotlib")
# runs train.py as a program and prints which of the slow libraries it loaded
DRIVER = f"""
import runpy, sys
sys.argv = ["train.py", *sys.argv[1:]]
try:
    runpy.run_path("train.py", run_name="__main__")
finally:
    print("LOADED:", *sorted(set({HEAVY!r}) & set(sys.modules)))
"""


def train(root, *arguments):
    command = [sys.executable, "-c", DRIVER, *arguments]
    return subprocess.run(command, cwd=root, capture_output=True, text=True, timeout=120)


def test_help_lists_every_option_and_loads_nothing_slow(root):
    done = train(root, "--help")
    assert (done.returncode, done.stderr) == (0, "")
    lines = done.stdout.splitlines()
    recipe = load_recipe(DEFAULT_RECIPE)
    for key, option in SHARED.items():
        line = next(line for line in lines if line.startswith(f"  --{key} "))
        assert line.endswith(option.metadata["help"]), line
    for key in recipe.options:  # explained by the comments of the recipe
        line = next(line for line in lines if line.startswith(f"  --{key} "))
        assert len(line.split(maxsplit=2)[2]) > 20, line
    assert f"options, as set by {DEFAULT_RECIPE}:" in lines
    assert lines[0].startswith("Trains, evaluates and publishes")
    assert lines[-1] == "LOADED:"


def test_a_mistake_ends_with_status_2_before_anything_slow(root):
    done = train(root, "stance-demo", "--epoch", "3")
    assert done.returncode == 2
    assert done.stderr.startswith("train.py: error: recipe 'stance-demo' has no option --epoch; did you mean --epochs?")
    assert done.stdout.strip() == "LOADED:"


@pytest.mark.parametrize(
    ("words", "message"),
    [
        (["xyzzy"], "no recipe 'xyzzy'. There are "),
        (["stance-demo", "extra"], "unexpected 'extra': the recipe comes first, options look like --name value"),
        (["--epochs", "3", "stance-demo"], "unexpected 'stance-demo': the recipe comes first"),
        (["--seed", "1.5"], "--seed must be a whole number, got 1.5"),
        (["--seed"], "--seed must be a number, got True"),
        (["--grid", "margin"], "--grid 'margin' must look like"),
        (["-x"], "unexpected '-x'"),
    ],
)
def test_wrong_words(capsys, words, message):
    with pytest.raises(SystemExit) as end:
        parse("Trains.", words)
    assert end.value.code == 2
    printed = capsys.readouterr()
    assert printed.out == ""
    assert printed.err.startswith("train.py: error: ") and message in printed.err


def test_help_of_a_recipe_shows_its_own_values(tmp_path, capsys):
    path = tmp_path / "own.yaml"
    path.write_text("system: stance\nepochs: 7\nlora: false\noptions:\n  depth: 4  # how deep it digs\n")
    with pytest.raises(SystemExit) as end:
        parse("Trains.", [str(path), "--help"])
    assert end.value.code == 0
    words = {line.split(maxsplit=2)[0]: line.split(maxsplit=2)[1:] for line in capsys.readouterr().out.splitlines()
             if line.startswith("  --")}  # fmt: skip
    assert words["--epochs"] == ["7.0", SHARED["epochs"].metadata["help"]]
    assert words["--lora"][0] == "false"
    assert words["--max_train_rows"][0] == "none"
    assert words["--data"][0] == "demo"
    assert words["--depth"] == ["4", "how deep it digs"]


def test_a_bare_call_runs_the_demonstration():
    recipe, points = parse("Trains.", [])
    assert recipe == load_recipe("stance-demo")
    assert DEFAULT_RECIPE == "stance-demo"
    assert points == []


@pytest.mark.parametrize(
    "words",
    [
        ["stance-demo", "--epochs", "3", "--max_steps", "-1", "--lora", "--margin=0.3", "--base-id", "org/x"],
        ["--epochs=3", "--max_steps=-1", "--lora=true", "--margin", "0.3", "--base_id=org/x"],  # of the default recipe
        ["--lora", "--epochs", "3", "--margin", "0.3", "--max-steps", "-1", "--base-id=org/x"],
    ],
)
def test_ways_to_write_options(words):
    recipe, _ = parse("Trains.", words)
    assert recipe.name == "stance-demo"
    assert (recipe.epochs, recipe.max_steps, recipe.lora, recipe["margin"]) == (3.0, -1, True, 0.3)
    assert recipe.base_id == "org/x"


def test_a_value_may_contain_an_equals_sign_and_the_last_one_counts():
    recipe, _ = parse("Trains.", ["stance-demo", "--output_dir", "a", "--output_dir=b=c"])
    assert recipe.output_dir == "b=c"


def test_grid():
    recipe, points = parse("Trains.", ["--grid", "margin=0.1:0.2:0.1", "--epochs", "1", "--grid=objective=siamese"])
    assert recipe.epochs == 1
    assert [values for values, _ in points] == [
        {"margin": 0.1, "objective": "siamese"},
        {"margin": 0.2, "objective": "siamese"},
    ]
    assert {point.epochs for _, point in points} == {1}


def test_recipe_of_an_unknown_system(tmp_path, capsys):
    path = tmp_path / "own.yaml"
    path.write_text("system: astrology\n")
    with pytest.raises(SystemExit):
        parse("Trains.", [str(path)])
    assert "unknown system 'astrology'; there are stance" in capsys.readouterr().err
    with pytest.raises(ValueError, match=r"unknown system 'astrology'; choose one of .*stance"):
        get_system("astrology")


def test_friendly_errors(monkeypatch):
    monkeypatch.delenv("OPINION_TRACEBACK", raising=False)
    with (
        pytest.raises(SystemExit, match=r"train\.py: error: lower --batch_size\n\(OPINION_TRACEBACK=1"),
        friendly_errors(),
    ):
        raise ValueError("lower --batch_size")
    # a mistake of the program itself keeps its traceback
    with pytest.raises(KeyError), friendly_errors():
        raise KeyError("margin")
    monkeypatch.setenv("OPINION_TRACEBACK", "1")
    with pytest.raises(ValueError, match=r"^lower --batch_size$"), friendly_errors():
        raise ValueError("lower --batch_size")
