"""Recipes: what stands in the YAML file, what the command line changes, and how a mistake is answered."""

import json
from decimal import Decimal

import pytest

from modeling.base.recipe import SHARED, expand_grid, list_recipes, load_recipe

OWN = """
system: stance
epochs: 3            # a whole number where a fraction is allowed
learning_rate: 2e-4  # YAML 1.1 reads this as a text
lora_targets: [q, v]
options:
  margin: 0.4
  rounds: 3
  mined: true
  objective: hybrid
  words: [no, not]
  threshold: null
"""


@pytest.fixture
def own(tmp_path):
    """Path of a recipe with one option of every type."""
    path = tmp_path / "own.yaml"
    path.write_text(OWN, encoding="utf-8")
    return str(path)


def test_values_of_the_file(own):
    recipe = load_recipe(own)
    assert (recipe.name, recipe.system, recipe.seed) == ("own", "stance", 42)
    assert (recipe.learning_rate, recipe.epochs, recipe.lora_targets) == (0.0002, 3.0, ["q", "v"])
    assert (recipe["margin"], recipe["threshold"], recipe["batch_size"]) == (0.4, None, 64)
    assert type(recipe.epochs) is float
    assert str(recipe.run_dir) == "runs/own"


@pytest.mark.parametrize(
    ("option", "text", "value"),
    [
        ("learning_rate", "2e-4", 0.0002),
        ("max_train_rows", "1e4", 10000),
        ("max_train_rows", "none", None),
        ("max_train_rows", "None", None),
        ("max_steps", "-1", -1),
        ("lora", "false", False),
        ("bf16", "true", True),
        ("bf16", "none", None),
        ("data", "demo,org/kialo", ["demo", "org/kialo"]),
        ("data", "[demo, org/kialo]", ["demo", "org/kialo"]),
        ("data", "2024", ["2024"]),
        ("report_to", "none", "none"),
        ("lora_targets", "none", None),
        ("base_id", "org/name", "org/name"),
        ("margin", "1", 1.0),
        ("rounds", "5", 5),
        ("mined", "false", False),
        ("objective", "triplet", "triplet"),
        ("words", "never,nor", ["never", "nor"]),
        ("threshold", "0.5", 0.5),
        ("margin", "none", None),
    ],
)
def test_override(own, option, text, value):
    result = load_recipe(own, {option: text})[option]
    assert result == value
    assert type(result) is type(value)


@pytest.mark.parametrize(
    ("option", "text", "message"),
    [
        ("seed", "1.5", "--seed must be a whole number, got 1.5"),
        ("seed", "inf", "--seed must be a whole number, got inf"),
        ("rounds", "1.5", "--rounds must be a whole number, got 1.5"),
        ("seed", "many", "--seed must be a whole number, got 'many'"),
        ("seed", "none", "--seed must be a number, got None"),
        ("epochs", "true", "--epochs must be a number, got True"),
        ("epochs", "[1]", r"--epochs must be a number, got \[1\]"),
        ("lora", "1", "--lora must be true or false, got 1"),
        ("lora", "maybe", "--lora must be true or false, got 'maybe'"),
        ("mined", "3", "--mined must be true or false, got 3"),
        ("margin", "true", "--margin must be a value, got True"),
        ("margin", "wide", "--margin must be a number, got 'wide'"),
        ("data", "[demo", r"the value '\[demo' cannot be read as YAML"),
        ("epoch", "1", r"has no option --epoch; did you mean --epochs\?"),
        ("margins", "1", r"has no option --margins; did you mean --margin\?"),
        ("xyzzy", "1", r"has no option --xyzzy \(train.py .*own.yaml --help lists them\)"),
        ("options", "1", "has no option --options"),
        ("system", "stance", "has no option --system"),
    ],
)
def test_wrong_option(own, option, text, message):
    with pytest.raises(ValueError, match=message):
        load_recipe(own, {option: text})


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ("epochs: 1", "a recipe must name its system"),
        ("", "a recipe must name its system"),
        ("system: stance\nmargin: 0.4", "unknown key 'margin'; options of the system belong under 'options:'"),
        ("system: stance\nepochs: many", "--epochs must be a number, got 'many'"),
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
    with pytest.raises(ValueError, match=r"no recipe 'xyzzy'\. There are .*stance-demo"):
        load_recipe("xyzzy")
    with pytest.raises(ValueError, match=r"no recipe 'absent\.yaml'"):
        load_recipe("absent.yaml")


@pytest.mark.parametrize("name", list_recipes())
def test_bundled_recipes_load(name):
    recipe = load_recipe(name)
    assert recipe.name == name
    # what is written beside the run and compared when it is continued
    assert json.loads(json.dumps(recipe.identity())) == recipe.identity()


def test_identity(own):
    mine = load_recipe(own).identity()
    elsewhere = {"output_dir": "other", "report_to": "wandb", "cache_dir": "other", "world_size": "2",
                 "private": "true", "push_to_hub": "org/x", "overwrite": "true", "logging_steps": "1"}  # fmt: skip
    assert load_recipe(own, elsewhere).identity() == mine
    for option, value in {"margin": "0.5", "seed": "1", "batch_size": "8", "base": "org/x", "data": "org/y"}.items():
        other = load_recipe(own, {option: value}).identity()
        assert other != mine, option


def test_grid_over_a_range(own):
    points = expand_grid(load_recipe(own), ["margin=0.1:1.0:0.1"])
    values = [point["margin"] for point, _ in points]
    # in binary 0.1 + 0.1 + 0.1 is 0.30000000000000004, which would match no column of a table
    assert values == [0.1, 0.2, 0.3, 0.4, 0.5, 0.6, 0.7, 0.8, 0.9, 1.0]
    assert [recipe["margin"] for _, recipe in points] == values
    assert [str(recipe.run_dir) for _, recipe in points[:2]] == ["runs/own-grid/margin=0.1", "runs/own-grid/margin=0.2"]


def test_a_range_ends_at_its_last_whole_step(own):
    # 0.1, 0.4, 0.7, 1.0 and not 1.3; 1.1 would be the fourth and is beyond 1.0
    assert [values["margin"] for values, _ in expand_grid(load_recipe(own), ["margin=0.1:1.2:0.3"])] == [
        float(Decimal(text)) for text in ("0.1", "0.4", "0.7", "1.0")
    ]
    assert [values["margin"] for values, _ in expand_grid(load_recipe(own), ["margin=0.5:0.5:1"])] == [0.5]


def test_grid_of_two_axes(own):
    points = expand_grid(load_recipe(own), ["objective=siamese,triplet", "lora_rank=4,8,16"])
    assert len(points) == 6  # 2 x 3, the last axis fastest
    assert [tuple(values.values()) for values, _ in points[:4]] == [
        (4, "siamese"), (8, "siamese"), (16, "siamese"), (4, "triplet"),
    ]  # fmt: skip
    _, last = points[-1]
    assert (last.lora_rank, last["objective"], last["margin"]) == (16, "triplet", 0.4)
    assert last.name == "own-grid/objective=triplet,lora_rank=16"
    assert len({recipe.run_dir for _, recipe in points}) == 6


def test_grid_with_none(own):
    points = expand_grid(load_recipe(own), ["threshold=none,0.5"])
    assert [recipe["threshold"] for _, recipe in points] == [None, 0.5]


def test_no_grid(own):
    assert expand_grid(load_recipe(own), []) == []


@pytest.mark.parametrize(
    ("axis", "message"),
    [
        ("margin", "--grid 'margin' must look like"),
        ("margin=", "--grid 'margin=' must look like"),
        ("depth=1,2", "--grid names the unknown option 'depth'"),
        ("margin=0.1:1.0:0", "range '0.1:1.0:0' must be start:stop:step"),
        ("margin=1.0:0.1:0.1", "range '1.0:0.1:0.1' must be start:stop:step"),
        ("margin=0.1:1.0", "range '0.1:1.0' must be start:stop:step"),  # YAML would read 1:2 as 62
        ("margin=1:2", "range '1:2' must be start:stop:step"),
        ("margin=0.1:x:0.1", "range '0.1:x:0.1' must be start:stop:step"),
        ("margin=a,b", "--margin must be a number, got 'a'"),
        ("lora_rank=1.5", "--lora_rank must be a whole number, got 1.5"),
    ],
)
def test_wrong_grid(own, axis, message):
    with pytest.raises(ValueError, match=message):
        expand_grid(load_recipe(own), [axis])


def test_every_shared_option_is_explained():
    assert [name for name, option in SHARED.items() if len(option.metadata["help"]) < 10] == []


def test_figures_of_validation_data_are_not_published():
    assert load_recipe("stance-demo", {"evaluate_on": "validation"}).evaluate_on == "validation"
    with pytest.raises(ValueError, match="--evaluate_on must be test or validation, got 'train'"):
        load_recipe("stance-demo", {"evaluate_on": "train"})
    for option, value in {"release": "true", "push_to_hub": "org/name"}.items():
        with pytest.raises(ValueError, match="a published card has figures of test data"):
            load_recipe("stance-demo", {"evaluate_on": "validation", option: value})
    with pytest.raises(ValueError, match="--grid evaluate_on is no option of training"):
        expand_grid(load_recipe("stance-demo"), ["evaluate_on=test,validation"])


def test_scaling_needs_an_adapter():
    with pytest.raises(ValueError, match="--lora_scale scales an adapter: it needs --lora true"):
        load_recipe("stance-demo", {"lora": "false", "lora_scale": "0.5"})
