"""The wheel: everything that is in the rooms, and the README's first steps far from the repository."""

import os
import re
import shutil
import subprocess
import sys
import sysconfig
import zipfile
from pathlib import Path

import pytest

ROOT = Path(__file__).parent.parent
ROOMS = ("dataset_scripts", "metrics", "model_cards", "modeling")
# all in one process, which imports torch once
STEPS = """
import evaluate, metrics, modeling
from dataset_scripts.base.sources import load_source
from modeling.cli import build
print(modeling.__path__[0])
for words in ("embed comments.csv --text comment --group camp -o city", "ask city capping -n 1"):
    build()(words.split(), standalone_mode=False)
print(load_source("demo:opinions", "opinions", "cache")["test"].num_rows)
sgts = evaluate.load(f"{metrics.__path__[0]}/sgts")
print(round(sgts.compute(predictions=[0.9, 0.8, 0.2, 0.1], references=[1, 1, 0, 0])["sgts"], 3))
"""


@pytest.fixture(scope="module")
def wheel(tmp_path_factory):
    """The wheel, built from a copy: a build leaves a folder in the tree, from which later ones would take old files."""
    folder = tmp_path_factory.mktemp("wheel")
    for name in ROOMS:
        shutil.copytree(ROOT / name, folder / name, ignore=shutil.ignore_patterns("__pycache__"))
    for name in ("pyproject.toml", "README.md", "LICENSE"):
        shutil.copy(ROOT / name, folder)
    build = ("wheel", "--quiet", "--no-deps", "--no-build-isolation", "--wheel-dir", str(folder), str(folder))
    subprocess.run([sys.executable, "-m", "pip", *build], check=True, timeout=120)
    return next(folder.glob("*.whl"))


def test_every_file_of_the_rooms_is_in_the_wheel(wheel):
    files = {path.relative_to(wheel.parent).as_posix() for name in ROOMS for path in (wheel.parent / name).rglob("*.*")}
    assert files - set(zipfile.ZipFile(wheel).namelist()) == set()


def test_the_first_steps_from_the_wheel_alone(wheel, tmp_path):
    subprocess.run([sys.executable, "-m", "venv", "--without-pip", tmp_path / "venv"], check=True)
    python = tmp_path / "venv" / "bin" / "python"
    install = ("install", "--quiet", "--no-deps", str(wheel))
    subprocess.run([sys.executable, "-m", "pip", "--python", str(python), *install], check=True, timeout=120)
    # the packages that it needs, by a path: so an editable install beside them, which has files of its own, stays out
    [site] = (tmp_path / "venv" / "lib").glob("*/site-packages")
    (site / "needed.pth").write_text(sysconfig.get_path("purelib"))
    shutil.copy(ROOT / "docs" / "comments.csv", tmp_path)
    environment = {name: value for name, value in os.environ.items() if name != "PYTHONPATH"}
    environment |= {"HF_HUB_OFFLINE": "1", "HF_HOME": str(tmp_path / "hub")}

    def run(*words: str) -> str:
        words = [str(python.with_name(words[0])), *words[1:]]
        done = subprocess.run(words, cwd=tmp_path, env=environment, capture_output=True, text=True, timeout=300)
        assert done.returncode == 0, done.stderr
        return done.stdout

    assert "stance-minilm" in run("opinion", "models")
    [lines] = re.findall(r"```python\n(.*?load_model.*?)```", (ROOT / "README.md").read_text(), flags=re.S)
    printed = run("python", "-c", lines + STEPS).splitlines()
    assert printed[0].startswith("tensor([[0.39") and printed[1] == f"{site}/modeling"
    assert [line for line in printed if "city is complete: 34 texts" in line]
    assert printed[-2:] == ["120", "0.894"]
