"""README and docs: what they print is what comes out, and every command in them is one that there is."""

import re
import shlex
import warnings
from pathlib import Path

import pytest
import typer
from transformers.utils import logging
from typer.testing import CliRunner

from dataset_scripts.base.cli import flag
from modeling import cli
from modeling.base.recipe import SHARED, list_recipes, load_recipe

ROOT = Path(__file__).parent.parent
PAGES = [ROOT / "README.md", *sorted((ROOT / "docs").glob("*.md"))]
NUMBER = re.compile(r"(?<![\w.])-?\d*\.\d+")


def blocks(page, language=""):
    """The fenced blocks of a page in a language."""
    return re.findall(rf"^```{language}\n(.*?)^```", page.read_text(encoding="utf-8"), flags=re.M | re.S)


def commands(text):
    """The commands of a block, continued lines joined, comments and what follows `&&` gone."""
    lines = text.replace("\\\n", " ").splitlines()
    lines = [
        line.removeprefix("$ ")
        for line in lines
        if line.startswith(("$ opinion", "opinion ", "accelerate launch train.py", "torchrun"))
    ]
    return [shlex.split(line, comments=True) for line in lines]


def same(printed, actual):
    """Whether two outputs have the same words, and figures that are equal as far as they are printed."""
    printed, actual = (re.sub(r"\b\d+ s\b", "# s", text) for text in (printed, actual))
    assert NUMBER.sub("#", printed).split() == NUMBER.sub("#", actual).split(), (
        f"printed:\n{printed}\nactual:\n{actual}"
    )
    figures = [[float(figure) for figure in NUMBER.findall(text)] for text in (printed, actual)]
    assert figures[1] == pytest.approx(figures[0], abs=0.0051), f"printed:\n{printed}\nactual:\n{actual}"


@pytest.mark.parametrize("page", PAGES, ids=lambda page: page.name)
def test_what_a_page_prints_is_what_comes_out(page, tmp_path, monkeypatch):
    (tmp_path / "docs").symlink_to(ROOT / "docs")
    monkeypatch.chdir(tmp_path)
    monkeypatch.setenv("HOME", str(tmp_path))
    monkeypatch.setenv("COLUMNS", "120")
    for block in blocks(page, "console"):
        for step in re.split(r"^\$ ", block, flags=re.M)[1:]:
            command, _, printed = step.partition("\n")
            done = CliRunner().invoke(cli.build(), shlex.split(command)[1:], prog_name="opinion")
            assert done.exit_code == 0, done.output
            same(printed, done.stdout)


def test_the_five_lines_give_what_is_said(capsys):
    code = blocks(ROOT / "README.md", "python")[0]
    logging.enable_progress_bar()
    with warnings.catch_warnings():
        warnings.simplefilter("error", FutureWarning)
        exec(compile(code, "README.md", "exec"), {})
    printed = capsys.readouterr()
    opposite, same_stance = (float(figure) for figure in NUMBER.findall(printed.out)[:2])
    assert printed.err == ""  # no bar of a file, no warning of a library
    assert (opposite, same_stance) == pytest.approx((0.39, 0.80), abs=0.0051)


@pytest.mark.parametrize("page", PAGES, ids=lambda page: page.name)
def test_every_command_of_a_page_is_one_that_there_is(page):
    root = typer.main.get_command(cli.build())
    for words in [words for block in [*blocks(page), *blocks(page, "console")] for words in commands(block)]:
        if words[0] != "opinion":
            words = ["opinion", "train", *words[words.index("train.py") + 1 :]]
        command, rest = root, words[1:]
        while hasattr(command, "commands") or hasattr(command, "get_command"):
            command, rest = command.get_command(None, rest[0]), rest[1:]
            assert command is not None, f"{page.name}: {shlex.join(words)}"
        options = {option for each in command.params for option in getattr(each, "opts", [])}
        if words[1] == "train":
            assert rest[0] in list_recipes(), f"{page.name}: {shlex.join(words)}"
            recipe = load_recipe(rest[0])
            options |= {flag(name) for name in (*SHARED, *type(recipe.options).model_fields, "grid")}
        elif words[1:3] == ["corpus", "build"]:
            continue  # options of a corpus are its own: `opinion corpus build NAME --help`
        unknown = [
            word
            for word in rest
            if word.startswith("-")
            and not re.match(r"-[\d.]", word)
            and word.replace("_", "-").split("=")[0] not in options
        ]
        assert not unknown, f"{page.name}: {shlex.join(words)}: {unknown}"


@pytest.mark.parametrize("page", PAGES, ids=lambda page: page.name)
def test_every_link_leads_somewhere(page):
    links = re.findall(r"\]\(([^)#]+)\)", page.read_text(encoding="utf-8"))
    assert [link for link in links if "://" not in link and not (page.parent / link).exists()] == []


def test_the_readme_is_one_that_is_read_to_the_end():
    assert len((ROOT / "README.md").read_text(encoding="utf-8")) <= 12_000
