"""What belongs together: a system, a corpus or a metric is complete, or the failure names what is missing."""

import ast
import re
import subprocess
import sys
from pathlib import Path

import pytest

from dataset_scripts import CORPORA, get_corpus
from dataset_scripts.base.metadata import load_metadata
from dataset_scripts.base.scan import scan
from modeling import DEFAULT_RECIPE, get_system, systems
from modeling.base.models import load_model, released_models
from modeling.base.recipe import list_recipes, load_recipe
from modeling.base.release import limit_of, weight_bytes
from modeling.base.system import Paper, System

ROOT = Path(__file__).parent.parent
METRICS = sorted(path.name for path in (ROOT / "metrics").iterdir() if path.is_dir() and path.name[0] not in "._")
SYSTEM_FILES = {f"modeling/{name}/system.py" for name in systems()}
HELPERS = sorted(
    path.relative_to(ROOT).as_posix()
    for path in (ROOT / "modeling").rglob("*.py")
    if path.name != "__init__.py" and path.relative_to(ROOT).as_posix() not in SYSTEM_FILES
)
HEAVY = ["torch", "transformers", "sentence_transformers", "datasets", "peft", "accelerate", "evaluate", "numpy"]


def missing(*paths):
    """Those of the paths, relative to the project, that are not there or empty."""
    return [path for path in paths if not (ROOT / path).is_file() or not (ROOT / path).stat().st_size]


def system_files(name):
    return [
        f"modeling/{name}/system.py",
        f"modeling/{name}/paper.yaml",
        f"modeling/{name}/recipes/{name}-demo.yaml",
        f"model_cards/{name}/README.md",
        f"tests/modeling/{name}/test_system.py",
    ]


def corpus_files(name):
    return [
        f"dataset_scripts/{name}/__init__.py"
        if (ROOT / "dataset_scripts" / name).is_dir()
        else f"dataset_scripts/{name}.py",
        f"dataset_scripts/metadata/{name}.yaml",
        f"tests/dataset_scripts/{f'{name}/' if (ROOT / 'dataset_scripts' / name).is_dir() else ''}test_{name}.py",
    ]


def metric_files(name):
    return [
        *(f"metrics/{name}/{file}" for file in (f"{name}.py", "README.md", "requirements.txt", "app.py")),
        f"tests/metrics/test_{name}.py",
    ]


def imports(path):
    """Names of all modules that a file imports, wherever in the file."""
    names = set()
    for node in ast.walk(ast.parse((ROOT / path).read_text(encoding="utf-8"))):
        if isinstance(node, ast.Import):
            names |= {alias.name for alias in node.names}
        elif isinstance(node, ast.ImportFrom) and node.module:
            names |= {node.module} | {f"{node.module}.{alias.name}" for alias in node.names}
    return names


def test_what_is_missing_is_named():
    assert missing(*system_files("astrology")) == system_files("astrology")
    assert missing("train.py", "metrics/none/none.py") == ["metrics/none/none.py"]
    assert {"ast", "modeling", "modeling.systems", "modeling.base.recipe"} <= imports("tests/test_contract.py")


@pytest.mark.parametrize("name", systems())
def test_a_system_is_complete(name):
    assert missing(*system_files(name)) == []
    found = get_system(name)
    assert issubclass(found, System)
    assert not found.__abstractmethods__, f"{found.__name__} lacks {sorted(found.__abstractmethods__)}"
    assert isinstance(found.PAPER, Paper)
    assert Paper.load(name) == found.PAPER
    assert found.PAPER.citation.startswith("@") and found.PAPER.setup
    assert found.PAPER.results, f"modeling/papers/{name}.yaml has no figures"
    assert re.fullmatch(r"[a-z0-9_]+_[a-z0-9_]+", found.PRIMARY)
    assert found.DEMONSTRATIONS, f"{found.__name__}.DEMONSTRATIONS is empty"
    for demonstration in found.DEMONSTRATIONS:
        assert len(demonstration) == 3 and all(isinstance(text, str) and text for text in demonstration)


@pytest.mark.parametrize("name", systems())
def test_the_demonstration_of_a_system_needs_no_network(name):
    recipe = load_recipe(f"{name}-demo")
    assert (recipe.system, recipe.base) == (name, "bundled")
    assert all(source.split(":")[0] == "demo" for source in recipe.data)


@pytest.mark.parametrize("name", list_recipes())
def test_a_recipe_fits_its_system(name):
    recipe = load_recipe(name)
    assert recipe.system in systems(), f"{name}.yaml names the system {recipe.system!r}, which is not in systems()"
    demonstration = load_recipe(f"{recipe.system}-demo")
    differing = set(recipe.options) ^ set(demonstration.options)
    assert not differing, f"{name}.yaml and {demonstration.name}.yaml do not have the same options: {differing}"


def test_nothing_belongs_to_no_system():
    assert DEFAULT_RECIPE in list_recipes()
    assert {path.name for path in (ROOT / "model_cards").iterdir() if path.is_dir()} == {*systems(), *released_models()}


@pytest.mark.parametrize("name", released_models())
def test_a_released_model_is_complete_and_loads_without_a_network(name):
    recipe, folder = load_recipe(name), ROOT / "model_cards" / name
    assert recipe.base == "bundled" and recipe.lora
    assert missing(*(f"model_cards/{name}/{file}" for file in ("README.md", "fingerprint.json"))) == []
    assert weight_bytes(folder) <= limit_of(folder)
    assert scan(folder, "model") == []
    assert load_model(name).encode("Trams should be free.").shape == (384,)


@pytest.mark.parametrize("name", CORPORA)
def test_a_corpus_is_complete(name):
    assert missing(*corpus_files(name)) == []
    builder = get_corpus(name)
    assert load_metadata(name) == builder.METADATA
    assert set(builder.FEATURES) == set(builder.METADATA.configs), "FEATURES and the configs of METADATA differ"


def test_nothing_belongs_to_no_corpus():
    assert {path.stem for path in (ROOT / "dataset_scripts" / "metadata").glob("*.yaml")} == set(CORPORA)


@pytest.mark.parametrize("name", METRICS)
def test_a_metric_is_complete_and_stands_alone(name):
    assert missing(*metric_files(name)) == []
    for path in sorted((ROOT / "metrics" / name).glob("*.py")):
        ours = {module for module in imports(path) if module.split(".")[0] in ("modeling", "dataset_scripts", "tests")}
        assert not ours, f"{path.name} imports {ours}, which a Space does not have"


def test_there_are_metrics():
    assert {"sgts", "stance_kl_divergence"} <= set(METRICS)


def test_train_names_no_system():
    text = (ROOT / "train.py").read_text(encoding="utf-8").lower()
    assert [name for name in systems() if name in text] == []
    assert {name for name in imports("train.py") if name.startswith("modeling.")} <= {
        *("modeling.base.cli", "modeling.base.cli.parse", "modeling.base.cli.friendly_errors"),
        *("modeling.base.run", "modeling.base.run.run", "modeling.base.run.run_grid"),
    }


@pytest.mark.parametrize("path", HELPERS)
def test_a_helper_imports_no_system(path):
    systems = {file.removesuffix(".py").replace("/", ".") for file in SYSTEM_FILES}
    found = {
        name for name in imports(path) if any(name == system or name.startswith(f"{system}.") for system in systems)
    }
    assert not found, f"{path} imports {found}"


def test_systems_do_not_import_each_other():
    for path in SYSTEM_FILES:
        others = {file.removesuffix(".py").replace("/", ".") for file in SYSTEM_FILES - {path}}
        assert not imports(path) & others


def test_the_registries_load_nothing_slow():
    code = f"import sys, modeling, dataset_scripts; print(*sorted(set({HEAVY!r}) & set(sys.modules)))"
    done = subprocess.run([sys.executable, "-c", code], cwd=ROOT, capture_output=True, text=True, timeout=60)
    assert (done.returncode, done.stdout.strip()) == (0, ""), done.stdout + done.stderr


def rooms():
    """Paths in the first column of the table of rooms in README.md; a bare name lies in the folder named before it."""
    paths = []
    for line in (ROOT / "README.md").read_text(encoding="utf-8").split("| room |")[1].splitlines()[2:]:
        if not line.startswith("|"):
            break
        folder = ""
        for name in re.findall(r"`([^`]+)`", line.split("|")[1]):
            if "/" in name.rstrip("/"):
                folder = name.rpartition("/")[0] + "/"
                paths.append(name)
            else:
                paths.append(folder + name)
    return paths


def test_the_readme_knows_its_rooms():
    listed = rooms()
    absent = [path for path in listed if not (ROOT / path).exists()]
    assert not absent, f"README.md lists {absent}, which are not there"
    folders = tuple(path for path in listed if path.endswith("/"))
    silent = [path for path in [*HELPERS, *SYSTEM_FILES] if path not in listed and not path.startswith(folders)]
    assert not silent, f"README.md does not list {silent}"
