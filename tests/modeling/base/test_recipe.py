"""Recipes: what stands in the YAML file, what the command line changes, grids, and how a mistake is answered."""

import json

import pytest

from modeling.base.commands import parse
from modeling.base.recipe import QUICK, SHARED, expand_grid, list_recipes, load_recipe
from modeling.base.rooms import DEFAULT_RECIPE

OWN = """
system: stance
epochs: 3            # a whole number where a fraction is allowed
learning_rate: 2e-4  # YAML 1.1 reads this as a text
lora_targets: [q, v]
data: 2024           # a name that YAML reads as a number
options:
  margin: 0.4
  objective: hybrid
  filter_pairs: null
"""


@pytest.fixture
def own(tmp_path):
    """Path of a recipe with options of several types."""
    path = tmp_path / "own.yaml"
    path.write_text(OWN, encoding="utf-8")
    return str(path)


def test_values_of_the_file_and_of_the_command_line(own):
    recipe = load_recipe(own)
    assert (recipe.name, recipe.system, recipe.seed, str(recipe.run_dir)) == ("own", "stance", 42, "runs/own")
    assert (recipe.learning_rate, recipe.epochs) == (0.0002, 3.0)
    assert (recipe.lora_targets, recipe.data) == (["q", "v"], ["2024"])
    assert (recipe["margin"], recipe["filter_pairs"], recipe["batch_size"]) == (0.4, None, 64)
    assert recipe.options.filter_triplets == 0.3  # the system's default
    texts = {"learning_rate": "2e-4", "lora": "false", "lora_targets": "none", "margin": "1", "per_source": "7, 8"}
    changed = load_recipe(own, texts | {"data": "demo,org/kialo", "stance": "a,b"})
    assert [changed[key] for key in texts] == [0.0002, False, None, 1.0, [7, 8]]
    assert (changed["data"], changed["stance"]) == (["demo", "org/kialo"], "a,b")


# one row per kind of mistake; ranges that belong to one system are listed with the system's name
@pytest.mark.parametrize(
    ("recipe", "options", "message"),
    [
        ("stance-dem", {}, r"no recipe 'stance-dem'; did you mean 'stance-demo'\? There are .*a \.yaml"),
        ("stance-demo", {"epoch": "1"}, r"no option --epoch; did you mean --epochs\?"),
        ("stance-demo", {"report_to": "trackoi"}, "--report-to trackoi: there is no such package here"),
        ("stance-demo", {"lora": "false", "lora_scale": "0.5"}, "--lora-scale scales an adapter"),
        ("stance-demo", {"evaluate_on": "validation", "release": "true"}, "a published card has figures of test data"),
        ("stance-demo", {"per_source": "1,2"}, "--per-source has 2 numbers, --data 1 corpora"),
        ("stance-demo", {"objective": "tripletts"}, r"--objective tripletts: choose from .*did you mean 'triplet'\?"),
        ("sos-demo", {"margin": "7"}, "--margin 7 cannot be met on unit vectors"),
        ("tweets-demo", {"normalised": "false", "keep": "1"}, "--keep and --replay compare unit vectors"),
        ("senticse-demo", {"pooling": "cls_mlp", "keep": "0"}, "--pooling cls_mlp adds a layer"),
        ("bipolar-demo", {"pooling": "cls"}, "--pooling cls changes a module that a LoRA adapter"),
    ],
)
def test_wrong_option(recipe, options, message):
    with pytest.raises(ValueError, match=message):
        load_recipe(recipe, options)


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ("epochs: 1", "a recipe must name its system"),
        ("system: astrology", "unknown system 'astrology'; choose one of .*stance"),
        ("system: stance\nmargin: 0.4", "unknown key 'margin'; options of the system belong under 'options:'"),
        ("system: [", "bad.yaml cannot be read as YAML"),
    ],
)
def test_wrong_file(tmp_path, text, message):
    path = tmp_path / "bad.yaml"
    path.write_text(text, encoding="utf-8")
    with pytest.raises(ValueError, match=message):
        load_recipe(str(path))


@pytest.mark.parametrize("name", list_recipes())
def test_bundled_recipes(name):
    recipe = load_recipe(name)
    # what is written beside the run and compared when it is continued
    assert json.loads(json.dumps(recipe.model_dump())) == recipe.model_dump()
    # a trial of few rows and steps, in a run of its own
    quick = load_recipe(name, {"quick": "true", "learning_rate": "0.1", "max_steps": "2"})
    assert (quick.name, quick.learning_rate, quick.max_steps) == (f"{name}-quick", 0.1, 2)
    assert {key: quick[key] for key in QUICK} == QUICK | {"max_steps": 2}


def test_what_makes_another_run(own):
    mine = load_recipe(own).model_dump()
    elsewhere = {"output_dir": "other", "cache_dir": "other", "report_to": "trackio", "inference": "data/sick"}
    elsewhere |= {"push_to_hub": "org/x", "overwrite": "true", "logging_steps": "1"}
    assert load_recipe(own, elsewhere).model_dump() == mine
    for option, value in {"margin": "0.5", "seed": "1", "batch_size": "8", "base": "org/x", "data": "org/y"}.items():
        assert load_recipe(own, {option: value}).model_dump() != mine, option


def test_options_that_may_be_published():
    paths = {name: "/secret/place" for name in ("base", "data", "output_dir", "cache_dir", "stance", "similarity")}
    own = {"base_id": "org/x", "inference": "/secret/place", "margin": "0.3", "push_to_hub": "org/unannounced"}
    recipe = load_recipe("stance-demo", paths | own)
    options = recipe.public_options()
    assert "secret" not in str(options) and "unannounced" not in str(options)
    # what another person needs to do the same again
    for key in ("seed", "batch_size", "learning_rate", "lora_rank", "lora_scale", "filter_pairs", "margin"):
        assert options[key] == recipe[key]


def test_grid(own):
    points = expand_grid(load_recipe(own), ["margin=0.1:1.0:0.1"])
    # in binary 0.1 + 0.1 + 0.1 is 0.30000000000000004, which would match no column of a table
    assert [values["margin"] for values, _ in points] == [0.1, 0.2, 0.3, 0.4, 0.5, 0.6, 0.7, 0.8, 0.9, 1.0]
    assert [str(recipe.run_dir) for _, recipe in points[:2]] == ["runs/own-grid/margin=0.1", "runs/own-grid/margin=0.2"]
    points = expand_grid(load_recipe(own), ["objective=siamese,triplet", "lora_rank=4,8", "filter-pairs=none,0.5"])
    assert len(points) == 8  # 2 x 2 x 2, the last axis fastest
    assert points[1][0] == {"objective": "siamese", "lora_rank": 4, "filter_pairs": 0.5}
    _, last = points[-1]
    assert (last.lora_rank, last["objective"], last["margin"]) == (8, "triplet", 0.4)
    assert last.name == "own-grid/objective=triplet,lora_rank=8,filter_pairs=0.5"
    for axis, message in (
        ("margin=", "--grid 'margin=' must look like"),
        ("depth=1,2", "no option --depth"),
        ("margin=1:2", "range '1:2' must be start:stop:step"),  # YAML would read 62
        ("evaluate_on=test,validation", "--grid evaluate_on is no option of training"),
    ):
        with pytest.raises(ValueError, match=message):
            expand_grid(load_recipe(own), [axis])


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


def test_wrong_words():
    for words, message in (
        (["stance-demo", "extra"], "unexpected 'extra': the recipe comes first, options look like --name value"),
        (["--seed"], "--seed true: give a whole number"),
        (["--grid", "margin=1,2", "--push-to-hub", "org/name"], "--grid excludes --push-to-hub"),
    ):
        with pytest.raises(ValueError, match=message):
            parse("Trains.", words)


def test_help_lists_every_option_with_the_recipes_values(own, capsys):
    with pytest.raises(SystemExit):
        parse("Trains.", [own, "--help"])
    lines = capsys.readouterr().out.splitlines()
    options = {line.split()[0]: line.split(maxsplit=2)[1:] for line in lines if line.startswith("  --")}
    for key, field in (SHARED | type(load_recipe(own).options).model_fields).items():
        assert options[f"--{key.replace('_', '-')}"][1].startswith(" ".join(field.description.split()))
    values = {"--epochs": "3.0", "--lora": "true", "--margin": "0.4", "--max-train-rows": "none", "--data": "2024"}
    assert {name: options[name][0] for name in values} == values
    assert options["--margin"][1].endswith("(> 0, at most 2)")
