"""Options of builders: what a value on the command line means, and what is refused."""

from __future__ import annotations

import shlex
from dataclasses import dataclass

import pytest

from dataset_scripts.base.corpus import CorpusConfig
from dataset_scripts.base.options import explain_unknown, flag, read_options


@dataclass
class Config(CorpusConfig):
    lang: str = "en"
    address: str | None = None
    keep: bool = False
    most: int | None = None
    share: float = 1.0
    names: tuple[str, ...] = ()
    sizes: tuple[int, ...] = ()


NAMES = {name: "help" for name in ("lang", "address", "keep", "most", "share", "names", "sizes")}


def read(name, text):
    return read_options("tiny", [(name, text)], NAMES, Config)[name]


@pytest.mark.parametrize(
    ("name", "text", "value"),
    [
        ("lang", "no", "no"),  # plain YAML: false
        ("lang", "'no'", "no"),
        ("lang", "10", "10"),
        ("lang", "", ""),
        ("lang", "@somebody", "@somebody"),  # no YAML
        ("lang", "null", "null"),
        ("address", "null", None),
        ("address", "ray://host:10001", "ray://host:10001"),
        ("address", "10:20", "10:20"),  # plain YAML: 620
        ("address", "a: b", "a: b"),
        ("keep", "true", True),
        ("keep", "no", False),
        ("most", "100", 100),
        ("most", "null", None),
        ("share", "1", 1),
        ("share", "0.5", 0.5),
        ("share", "1e-3", 0.001),  # plain YAML: a text
        ("names", "[idebate, no]", ["idebate", "no"]),
        ("names", "idebate,procon", ["idebate", "procon"]),
        ("names", "data/mr", ["data/mr"]),
        ("names", "[]", []),
        ("sizes", "[1, 20]", [1, 20]),
        ("sizes", "1,20", [1, 20]),
    ],
)
def test_values(name, text, value):
    found = read(name, text)
    assert found == value and type(found) is type(value)
    # what a card shows gives the same value again
    shown = shlex.split(flag(name, value))
    assert len(shown) == 2 and shown[0] == f"--{name}" and read(name, shown[1]) == value


@pytest.mark.parametrize(
    ("name", "text", "message"),
    [
        ("keep", "1", "--keep 1: give true or false"),
        ("most", "1.5", "--most 1.5: give a whole number"),
        ("most", "true", "--most true: give a whole number"),
        ("share", "half", "--share half: give a number"),
        ("share", "true", "--share true: give a number"),
        ("share", "null", "--share null: give a number"),
        ("sizes", "[1, many]", r"--sizes \[1, many\]: give a whole number"),
        ("names", "[a", r"--names \[a: this is no YAML"),
        ("names", "[a, [b]]", r"--names .*: give a list without lists"),
    ],
)
def test_wrong_values(name, text, message):
    with pytest.raises(ValueError, match=f"^{message}"):
        read(name, text)


def test_names():
    given = [("most", "1"), "keep=true", "most=2", "names=[a=b]"]
    assert read_options("tiny", given, NAMES, Config) == {"most": 2, "keep": True, "names": ["a=b"]}
    with pytest.raises(ValueError, match=r"--option mots=1: did you mean most\? write NAME=VALUE; tiny has: lang, add"):
        read_options("tiny", ["mots=1"], NAMES, Config)
    with pytest.raises(ValueError, match="--option x=1: write NAME=VALUE; tiny has: no options"):
        read_options("tiny", ["x=1"], {}, Config)
    with pytest.raises(ValueError, match="--option seed=1: write NAME=VALUE; tiny has: lang"):
        read_options("tiny", ["seed=1"], NAMES, Config)


def test_what_no_flag_took():
    flags = ["--data", "--share"]
    assert explain_unknown(["--shre=1"], flags, "tiny") == "tiny has no --shre; did you mean --share?"
    assert explain_unknown(["b", "--zzz"], flags, "tiny") == "tiny has no --zzz; there are --data, --share"
    assert explain_unknown(["b"], flags, "tiny").startswith("unexpected 'b'")
