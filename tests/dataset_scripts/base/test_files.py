"""Files and folders are there whole or not at all."""

import errno
from pathlib import Path

import pytest

from dataset_scripts.base.files import atomic_file, atomic_folder, read_json, write_json


def files(folder):
    """Everything below a folder: name -> text."""
    return {path.relative_to(folder).as_posix(): path.read_text() for path in folder.rglob("*") if path.is_file()}


def test_json(tmp_path):
    path = tmp_path / "new" / "facts.json"
    assert read_json(path) is None
    write_json(path, {"b": 0.1, "a": [None, "Zürich"]})
    assert path.read_text(encoding="utf-8") == '{\n  "b": 0.1,\n  "a": [\n    null,\n    "Zürich"\n  ]\n}\n'
    assert read_json(path) == {"b": 0.1, "a": [None, "Zürich"]}
    for data in (b'{"a": 1', b'"caf\xe9"'):
        path.write_bytes(data)
        with pytest.raises(ValueError, match=r"facts\.json: damaged, it is no JSON .*: delete it, or put back"):
            read_json(path)


@pytest.mark.parametrize("atomic", [atomic_file, atomic_folder])
def test_what_fails_half_way_leaves_the_old_one_and_nothing_else(tmp_path, atomic):
    target = tmp_path / "model"
    name = "model" if atomic is atomic_file else "model/weights.txt"

    def write(text, error=None):
        with atomic(target) as temporary:
            (temporary if atomic is atomic_file else temporary / "weights.txt").write_text(text)
            if error:
                raise error

    with pytest.raises(OSError, match=f"no space left on the disk of {tmp_path}: free"):
        write("ne", OSError(errno.ENOSPC, "No space left on device"))
    assert list(tmp_path.iterdir()) == []
    write("old")
    with pytest.raises(RuntimeError):
        write("ne", RuntimeError())
    assert files(tmp_path) == {name: "old"}
    write("new")
    assert files(tmp_path) == {name: "new"}


@pytest.fixture
def folder(tmp_path):
    (tmp_path / "model").mkdir()
    (tmp_path / "model" / "weights.txt").write_text("old")
    return tmp_path / "model"


@pytest.mark.parametrize("interrupted", [1, 2])
def test_an_interruption_at_a_rename_leaves_the_old_folder(folder, monkeypatch, interrupted):
    calls, replace = [], Path.replace

    def interrupt(path, target):
        calls.append(path)
        if len(calls) == interrupted:
            raise KeyboardInterrupt
        return replace(path, target)

    monkeypatch.setattr(Path, "replace", interrupt)
    with pytest.raises(KeyboardInterrupt), atomic_folder(folder) as temporary:
        (temporary / "weights.txt").write_text("new")
    assert files(folder.parent) == {"model/weights.txt": "old"}
    assert [path.name for path in folder.parent.iterdir()] == ["model"]


def test_what_a_killed_process_moved_aside_is_put_back(folder):
    old = folder.with_name(".model.123.old")
    folder.replace(old)
    folder.with_name(".model.v2.123.old").mkdir()  # of model.v2
    for _ in range(2):
        with pytest.raises(RuntimeError), atomic_folder(folder):
            raise RuntimeError
        assert files(folder.parent) == {"model/weights.txt": "old"}
        assert [path.name for path in folder.parent.glob(".*")] == [".model.v2.123.old"]
        old.mkdir()  # then as if killed after the second rename: the new one is there
