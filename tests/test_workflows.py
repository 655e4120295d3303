"""Workflows and requirements: what they name is there, and they hold no secret."""

import re
import tomllib

import pytest
import yaml
from packaging.requirements import Requirement
from packaging.version import Version

from tests.test_readme import ROOT

WORKFLOWS = sorted((ROOT / ".github" / "workflows").glob("*.yml"))
ACTIONS = {"actions/checkout@v6", "actions/setup-python@v6"}  # versions that there are


@pytest.mark.parametrize("path", WORKFLOWS, ids=lambda path: path.name)
def test_a_workflow_names_what_there_is(path):
    text = path.read_text(encoding="utf-8")
    jobs = yaml.safe_load(text)["jobs"].values()
    steps = [step for job in jobs for step in job["steps"]]
    assert {step["uses"] for step in steps if "uses" in step} <= ACTIONS
    assert "secrets." not in text and not [step for step in steps if "${{" in step.get("run", "")]
    files = [name for job in jobs for name in job.get("strategy", {}).get("matrix", {}).get("requirements", [])]
    files += [step["run"] for step in steps if step.get("run", "").startswith(".ci/")]
    assert all((ROOT / name).is_file() for name in files)


@pytest.mark.parametrize(("file", "lowest"), [("requirements-lowest.txt", True), ("requirements.lock", False)])
def test_requirements_are_within_the_bounds_of_the_project(file, lowest):
    lines = re.findall(r"^([\w.-]+)==(\S+)$", (ROOT / file).read_text(), flags=re.M)
    pinned = {name.lower().replace("_", "-"): version for name, version in lines}
    project = tomllib.loads((ROOT / "pyproject.toml").read_text())["project"]
    for text in sum(project["optional-dependencies"].values(), project["dependencies"]):
        requirement = Requirement(text)
        version = pinned[requirement.name.lower()]
        assert requirement.specifier.contains(version), text
        bound = next(Version(each.version).release for each in requirement.specifier if each.operator in (">=", "=="))
        assert not lowest or Version(version).release[: len(bound)] == bound, f"{text}: {file} has {version}"
