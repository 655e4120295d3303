"""What every command line shares: spellings, suggestions, one line for an error, fields as options."""

from typing import Annotated, Literal

import pytest
import typer
from pydantic import BaseModel, ConfigDict, Field, model_validator
from typer.testing import CliRunner

from dataset_scripts.base import cli


class Options(BaseModel):
    model_config = ConfigDict(extra="forbid")
    max_length: int = Field(128, description="tokens per text", gt=0)
    share: float | None = Field(0.5, description="share that is read", le=1)
    mode: Literal["first", "random"] = Field("first", description="which sentence")
    data: list[str] = Field(["demo"], description="sources")
    quick: bool = Field(False, description="a small run")
    keep: bool = Field(True, description="keep what was there")

    @model_validator(mode="after")
    def _check(self):
        if self.mode == "random" and self.quick:
            raise ValueError("--quick and --mode random exclude each other")
        return self


app = cli.app("Tries things.")


@app.command("run")
@cli.with_options(Options)
def run(
    name: Annotated[str, typer.Argument(help="A name.")],
    options: dict,
    top: Annotated[int, typer.Option("-n", "--top", min=1)] = 10,
) -> None:
    """Runs."""
    if name == "slow":
        raise KeyboardInterrupt
    if name == "gone":
        raise FileNotFoundError("raw.txt does not exist; name another file")
    print(name, top, cli.validate(Options, options))


def call(*arguments: str):
    return CliRunner().invoke(app, arguments, prog_name="program")


def test_options_of_a_model_are_read_in_every_spelling():
    words = "--max_length=8 --share=none --mode=random --data=a,b --data=c --no-keep --top=3"
    result = call("run", "x", *words.split())
    assert result.output == (
        "x 3 max_length=8 share=None mode='random' data=['a', 'b', 'c'] quick=False keep=False\n"
    ), result.output
    assert "max_length=128 share=0.5" in call("run", "x", "--quick").output


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        (["rnu", "x"], "there is no 'rnu'; did you mean 'run'?"),
        (["run", "x", "--max_lenght", "3"], "there is no --max-lenght; did you mean --max-length?"),
        (["run"], "missing argument"),
        (["run", "x", "--share", "2"], "--share 2: it must be less than or equal to 1"),
        (["run", "x", "--mode", "frist"], "--mode frist: choose from first, random; did you mean 'first'?"),
        (["run", "x", "--mode", "random", "--quick"], "--quick and --mode random exclude each other"),
        (["run", "gone"], "raw.txt does not exist; name another file"),
    ],
)
def test_what_the_user_can_mend_is_one_line_and_status_2(arguments, message):
    result = call(*arguments)
    assert result.exit_code == 2 and result.stderr.startswith("error: ") and message in result.stderr
    assert result.stderr.count("\n") == 1


def test_an_interruption_ends_with_130_and_a_traceback_is_shown_on_request(monkeypatch):
    result = call("run", "slow")
    assert result.exit_code == 130 and result.stderr == "\ninterrupted; the same command continues\n"
    monkeypatch.setenv("OPINION_TRACEBACK", "1")
    assert isinstance(call("run", "gone").exception, FileNotFoundError)
