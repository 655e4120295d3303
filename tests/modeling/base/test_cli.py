"""The command line of training: what is read, and how a mistake is answered."""

import pytest

from modeling.base.cli import parse
from modeling.base.recipe import SHARED, load_recipe
from modeling.base.rooms import DEFAULT_RECIPE


def test_help_lists_every_option_with_the_recipes_values(tmp_path, capsys):
    path = tmp_path / "own.yaml"
    path.write_text("{system: stance, epochs: 7, lora: false, options: {margin: 0.3}}")
    with pytest.raises(SystemExit):
        parse("Trains.", [str(path), "--help"])
    lines = capsys.readouterr().out.splitlines()
    options = {line.split()[0]: line.split(maxsplit=2)[1:] for line in lines if line.startswith("  --")}
    recipe = load_recipe(str(path))
    for key, field in (SHARED | type(recipe.options).model_fields).items():
        sentence = " ".join(field.description.split())
        assert len(sentence) > 10 and options[f"--{key.replace('_', '-')}"][1].startswith(sentence)
    values = {"--epochs": "7.0", "--lora": "false", "--margin": "0.3", "--max-train-rows": "none", "--data": "demo"}
    assert {name: options[name][0] for name in values} == values
    assert options["--margin"][1].endswith("(> 0, at most 2)")


@pytest.mark.parametrize(
    ("words", "message"),
    [
        (["stance-demo", "extra"], "unexpected 'extra': the recipe comes first, options look like --name value"),
        (["--seed"], "--seed true: give a whole number"),
        (["--grid", "margin"], "--grid 'margin' must look like"),
        (["--grid", "margin=1,2", "--push-to-hub", "org/name"], "--grid excludes --push-to-hub"),
    ],
)
def test_wrong_words(words, message):
    with pytest.raises(ValueError, match=message):
        parse("Trains.", words)


@pytest.mark.parametrize(
    "words",
    [
        ["stance-demo", "--epochs", "3", "--max_steps", "-1", "--no-lora", "--margin=0.3", "--data", "a", "--data=b"],
        ["--epochs=3", "--max-steps=-1", "--lora=false", "--margin", "0.3", "--data=a,b"],  # of the default recipe
    ],
)
def test_ways_to_write_options(words):
    recipe, points = parse("Trains.", words)
    assert (recipe.name, points) == (DEFAULT_RECIPE, [])
    assert (recipe.epochs, recipe.max_steps, recipe.lora, recipe["margin"]) == (3.0, -1, False, 0.3)
    assert recipe.data == ["a", "b"]


def test_grid():
    recipe, points = parse("Trains.", ["--grid", "margin=0.1:0.2:0.1", "--epochs", "1", "--grid=objective=siamese"])
    assert [values for values, _ in points] == [{"margin": margin, "objective": "siamese"} for margin in (0.1, 0.2)]
    assert {point.epochs for _, point in points} == {recipe.epochs} == {1}
