"""Recipes: what stands in the YAML file, what the command line changes, and how a mistake is answered."""

import json

import pytest

from modeling.base.recipe import QUICK, expand_grid, list_recipes, load_recipe

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


def test_values_of_the_file(own):
    recipe = load_recipe(own)
    assert (recipe.name, recipe.system, recipe.seed) == ("own", "stance", 42)
    assert (recipe.learning_rate, recipe.epochs, recipe.lora_targets) == (0.0002, 3.0, ["q", "v"])
    assert recipe.data == ["2024"]
    assert (recipe["margin"], recipe["filter_pairs"], recipe["batch_size"]) == (0.4, None, 64)
    assert recipe.options.filter_triplets == 0.3  # the system's default
    assert str(recipe.run_dir) == "runs/own"


@pytest.mark.parametrize(
    ("option", "text", "value"),
    [
        ("learning_rate", "2e-4", 0.0002),
        ("lora", "false", False),
        ("data", "demo,org/kialo", ["demo", "org/kialo"]),
        ("lora_targets", "none", None),
        ("margin", "1", 1.0),
        ("filter_pairs", "none", None),
        ("per_source", "7", 7),
        ("stance", "a,b", "a,b"),
    ],
)
def test_override(own, option, text, value):
    result = load_recipe(own, {option: text})[option]
    assert result == value and type(result) is type(value)


# one row per kind of mistake; ranges that belong to one system are listed with the system's name
@pytest.mark.parametrize(
    ("recipe", "options", "message"),
    [
        ("stance-demo", {"lora": "maybe"}, "--lora maybe: give true or false"),
        ("stance-demo", {"epoch": "1"}, r"no option --epoch; did you mean --epochs\?"),
        ("stance-demo", {"report_to": "trackoi"}, "--report-to trackoi: there is no such package here"),
        ("stance-demo", {"lora": "false", "lora_scale": "0.5"}, "--lora-scale scales an adapter"),
        ("stance-demo", {"evaluate_on": "validation", "release": "true"}, "a published card has figures of test data"),
        ("stance-demo", {"per_source": "1,2"}, "--per-source has 2 numbers, --data 1 corpora"),
        ("stance-demo", {"objective": "tripletts"}, r"--objective tripletts: choose from .*did you mean 'triplet'\?"),
        ("sos-demo", {"margin": "7"}, "--margin 7 cannot be met on unit vectors"),
        ("tweets-demo", {"normalised": "false", "keep": "1"}, "--keep and --replay compare unit vectors"),
        ("senticse-demo", {"pooling": "cls_mlp", "keep": "0"}, "--pooling cls_mlp adds a layer"),
        ("senticse-demo", {"pooling": "cls_mlp", "lora": "false"}, "--keep and --replay hold the base's similarities"),
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
        ("system: stance\noptions: [margin]", "'options:' holds no option: value"),
        ("system: stance\ndata: []", "--data names no corpus: give demo"),
        ("system: [", "bad.yaml cannot be read as YAML"),
    ],
)
def test_wrong_file(tmp_path, text, message):
    path = tmp_path / "bad.yaml"
    path.write_text(text, encoding="utf-8")
    with pytest.raises(ValueError, match=message):
        load_recipe(str(path))


def test_unknown_recipe():
    with pytest.raises(ValueError, match=r"no recipe 'stance-dem'; did you mean 'stance-demo'\? There are .*a \.yaml"):
        load_recipe("stance-dem")
    with pytest.raises(ValueError, match=r"no recipe 'absent\.yaml'"):
        load_recipe("absent.yaml")


@pytest.mark.parametrize("name", list_recipes())
def test_bundled_recipes(name):
    recipe = load_recipe(name)
    # what is written beside the run and compared when it is continued
    assert json.loads(json.dumps(recipe.identity())) == recipe.identity()
    # a trial of few rows and steps, in a run of its own
    quick = load_recipe(name, {"quick": "true", "learning_rate": "0.1"})
    assert (quick.name, quick.learning_rate) == (f"{name}-quick", 0.1)
    assert {key: quick[key] for key in QUICK} == QUICK
    assert load_recipe(name, {"quick": "true", "max_steps": "2"}).max_steps == 2


def test_identity(own):
    mine = load_recipe(own).identity()
    elsewhere = {"output_dir": "other", "cache_dir": "other", "report_to": "trackio", "inference": "data/sick"}
    elsewhere |= {"push_to_hub": "org/x", "overwrite": "true", "logging_steps": "1"}
    assert load_recipe(own, elsewhere).identity() == mine
    for option, value in {"margin": "0.5", "seed": "1", "batch_size": "8", "base": "org/x", "data": "org/y"}.items():
        assert load_recipe(own, {option: value}).identity() != mine, option


def test_grid_over_a_range(own):
    points = expand_grid(load_recipe(own), ["margin=0.1:1.0:0.1"])
    # in binary 0.1 + 0.1 + 0.1 is 0.30000000000000004, which would match no column of a table
    assert [values["margin"] for values, _ in points] == [0.1, 0.2, 0.3, 0.4, 0.5, 0.6, 0.7, 0.8, 0.9, 1.0]
    assert [str(recipe.run_dir) for _, recipe in points[:2]] == ["runs/own-grid/margin=0.1", "runs/own-grid/margin=0.2"]
    # it ends at its last whole step
    points = expand_grid(load_recipe(own), ["margin=0.1:1.2:0.3"])
    assert [recipe["margin"] for _, recipe in points] == [0.1, 0.4, 0.7, 1.0]


def test_grid_of_several_axes(own):
    points = expand_grid(load_recipe(own), ["objective=siamese,triplet", "lora_rank=4,8", "filter-pairs=none,0.5"])
    assert len(points) == 8  # 2 x 2 x 2, the last axis fastest
    assert points[1][0] == {"objective": "siamese", "lora_rank": 4, "filter_pairs": 0.5}
    _, last = points[-1]
    assert (last.lora_rank, last["objective"], last["margin"]) == (8, "triplet", 0.4)
    assert last.name == "own-grid/objective=triplet,lora_rank=8,filter_pairs=0.5"
    quick = load_recipe(own, {"quick": "true"})
    assert expand_grid(quick, ["margin=0.1"])[0][1].name == "own-quick-grid/margin=0.1"
    assert expand_grid(quick, []) == []


@pytest.mark.parametrize(
    ("axis", "message"),
    [
        ("margin=", "--grid 'margin=' must look like"),
        ("depth=1,2", "no option --depth"),
        ("margin=0.1:1.0:0", "range '0.1:1.0:0' must be start:stop:step"),
        ("margin=1:2", "range '1:2' must be start:stop:step"),  # YAML would read 62
        ("evaluate_on=test,validation", "--grid evaluate_on is no option of training"),
    ],
)
def test_wrong_grid(own, axis, message):
    with pytest.raises(ValueError, match=message):
        expand_grid(load_recipe(own), [axis])
