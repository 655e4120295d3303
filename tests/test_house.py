"""The house: what may import what, and that a system, a corpus or a metric is complete, by walking the folders."""

import ast
import re
import subprocess
import sys
from graphlib import CycleError, TopologicalSorter
from pathlib import Path

import pytest

from modeling.base.recipe import load_recipe
from modeling.base.rooms import get_options, get_system, systems

ROOT = Path(__file__).parent.parent
SLOW = "torch transformers sentence_transformers datasets peft accelerate evaluate numpy pandas gradio"  # to import
FILES = [
    path.relative_to(ROOT)
    for folder in ("metrics", "dataset_scripts", "modeling")
    for path in sorted((ROOT / folder).rglob("*.py"))
]
CORPORA = sorted(path.stem for path in (ROOT / "dataset_scripts" / "metadata").glob("*.yaml"))


def dotted(path):
    return ".".join(path.with_suffix("").parts).removesuffix(".__init__")


MODULES = {dotted(path): path for path in FILES}


def room(path):
    """The folder that a file belongs to, and its floor: a file imports from its own room and from lower floors."""
    first, *rest = path.parts
    if first == "metrics":
        return f"metrics/{rest[0]}", 0
    if first == "dataset_scripts":
        return ("dataset_scripts/base", 1) if rest[0] == "base" else ("dataset_scripts", 2)
    if rest == ["__init__.py"]:  # finds systems by their folders, and imports them when asked
        return "modeling", 3
    if rest[0] in ("base", "search"):
        return f"modeling/{rest[0]}", 4 if rest[0] == "base" else 5
    if rest[0] == "app":
        return "modeling/app", 7
    return (f"modeling/{rest[0]}", 6) if rest[0] in systems() else ("modeling/top", 7)


def imports(path):
    """The files of ours that a file imports, wherever in the file."""
    names = set()
    for node in ast.walk(ast.parse((ROOT / path).read_text(encoding="utf-8"))):
        if isinstance(node, ast.Import):
            names |= {alias.name for alias in node.names}
        elif isinstance(node, ast.ImportFrom) and node.module:
            names |= {f"{node.module}.{alias.name}" for alias in node.names} | {node.module}
    return {MODULES[name] for name in names if name in MODULES} - {path}


@pytest.mark.parametrize("path", FILES, ids=str)
def test_a_file_imports_its_own_room_and_lower_floors(path):
    own, floor = room(path)
    wrong = [str(other) for other in imports(path) if room(other)[0] != own and room(other)[1] >= floor]
    assert not wrong, f"{path} is on floor {floor} and imports {wrong}"


def test_there_are_no_circles():
    # a package's __init__ is no step of a circle of its own: it stands for what it exports
    graph = {path: {other for other in imports(path) if other.name != "__init__.py"} for path in FILES}
    try:
        tuple(TopologicalSorter(graph).static_order())
    except CycleError as error:
        raise AssertionError(" -> ".join(map(str, error.args[1]))) from None


@pytest.mark.parametrize(
    "path", [path for path in FILES if room(path)[0] in ("modeling/base", "modeling/search")], ids=str
)
def test_the_spine_names_no_system(path):
    named = [
        node.value
        for node in ast.walk(ast.parse((ROOT / path).read_text(encoding="utf-8")))
        if isinstance(node, ast.Constant) and isinstance(node.value, str) and node.value in systems()
    ]
    assert not named, f"{path} names {named}"


IMPORTS = """
import sys
from typer.testing import CliRunner
from modeling import cli
app = cli.build()
for words in {words!r}:
    done = CliRunner().invoke(app, words.split())
    print(words, done.exit_code, *sorted(set({heavy!r}.split()) & set(sys.modules)), sep="|")
"""


def test_nothing_slow_is_imported_before_it_is_needed():
    helps = ["--help", "embed --help", "corpus list", "corpus build kialo --help", "train --help", "eval --help"]
    helps += ["serve --help"]
    calls = [*helps, "models", "publish model stanc-minilm org/tiny --dry-run", "train stance-demo --epoch 3"]
    rooms = "\n".join(f"import modeling.{name}" for name in systems())
    code = rooms + IMPORTS.format(words=calls, heavy=SLOW)
    done = subprocess.run([sys.executable, "-c", code], cwd=ROOT, capture_output=True, text=True, timeout=60)
    assert done.stdout.splitlines() == [f"{words}|{2 * (words in calls[-2:])}" for words in calls], done.stderr


@pytest.mark.parametrize("name", systems())
def test_a_system_is_complete(name):
    missing = [
        file
        for file in ("__init__.py", "system.py", "paper.yaml", f"recipes/{name}-demo.yaml")
        if not (ROOT / "modeling" / name / file).is_file()
    ]
    assert not missing and (ROOT / "model_cards" / name / "README.md").is_file(), missing
    system = get_system(name)
    assert not system.__abstractmethods__
    assert re.fullmatch(r"[a-z0-9_]+_[a-z0-9_]+", system.PRIMARY)
    assert system.DEMONSTRATIONS and all(len(row) == 3 and all(row) for row in system.DEMONSTRATIONS)
    assert all(field.description for field in get_options(name).model_fields.values()), "an option has no sentence"
    demonstration = load_recipe(f"{name}-demo")
    assert (demonstration.system, demonstration.base) == (name, "bundled")
    assert all(source.split(":")[0] == "demo" for source in demonstration.data), "it would need a network"


@pytest.mark.parametrize("name", CORPORA)
def test_a_corpus_is_complete(name):
    from dataset_scripts.base.metadata import get_corpus, load_metadata

    builder = get_corpus(name)
    assert load_metadata(name) == builder.METADATA
    assert set(builder.FEATURES) == set(builder.METADATA.configs), "FEATURES and the configs of METADATA differ"
