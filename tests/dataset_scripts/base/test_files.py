"""Files and folders are there whole or not at all."""

import errno
from pathlib import Path

import pytest

from dataset_scripts.base.files import atomic_file, atomic_folder, read_json, write_json


def names(folder):
    return sorted(path.name for path in folder.iterdir())


def test_json_keeps_order_and_letters(tmp_path):
    path = tmp_path / "new" / "facts.json"
    write_json(path, {"b": 0.1, "a": [None, "Zürich"]})
    assert path.read_text(encoding="utf-8") == '{\n  "b": 0.1,\n  "a": [\n    null,\n    "Zürich"\n  ]\n}\n'
    assert read_json(path) == {"b": 0.1, "a": [None, "Zürich"]}
    assert names(path.parent) == ["facts.json"]  # nothing temporary is left


def test_what_cannot_be_written_leaves_the_old_file(tmp_path):
    path = tmp_path / "facts.json"
    write_json(path, 1)
    with pytest.raises(TypeError):
        write_json(path, {"model": object()})
    assert read_json(path) == 1
    assert names(tmp_path) == ["facts.json"]


def test_no_such_file_and_a_damaged_one(tmp_path):
    assert read_json(tmp_path / "absent.json") is None
    assert read_json(tmp_path) is None
    for data in (b'{"a": 1', b"", b'"caf\xe9"'):
        (tmp_path / "cut.json").write_bytes(data)
        with pytest.raises(ValueError, match=r"cut\.json: damaged, it is no JSON .*: delete it, or put back"):
            read_json(tmp_path / "cut.json")


@pytest.mark.parametrize("write", [atomic_file, atomic_folder])
def test_a_full_disk_is_named(tmp_path, write):
    with pytest.raises(OSError, match=f"no space left on the disk of {tmp_path}: free some"), write(tmp_path / "a"):
        raise OSError(errno.ENOSPC, "No space left on device")
    with pytest.raises(PermissionError), write(tmp_path / "a"):
        raise PermissionError(errno.EACCES, "Permission denied")
    assert names(tmp_path) == []


def test_a_folder_takes_the_place_of_the_old_one_as_a_whole(tmp_path):
    folder = tmp_path / "model"
    folder.mkdir()
    (folder / "stale.txt").write_text("old")
    with atomic_folder(folder) as temporary:
        assert names(temporary) == []
        (temporary / "weights.txt").write_text("new")
        assert names(folder) == ["stale.txt"]  # until the block ends
    assert names(folder) == ["weights.txt"]
    assert names(tmp_path) == ["model"]


def test_a_folder_stays_if_the_block_raises(tmp_path):
    folder = tmp_path / "model"
    folder.mkdir()
    (folder / "weights.txt").write_text("old")
    with pytest.raises(RuntimeError, match="no space"), atomic_folder(folder) as temporary:
        (temporary / "weights.txt").write_text("half of the n")
        raise RuntimeError("no space")
    assert (folder / "weights.txt").read_text() == "old"
    assert names(tmp_path) == ["model"]


def test_leftovers_of_a_killed_process_do_not_get_in(tmp_path):
    with atomic_folder(tmp_path / "model") as temporary:
        name = temporary.name
    (tmp_path / name).mkdir()  # as if this process number had been killed here before
    (tmp_path / name / "half.txt").write_text("half")
    with atomic_folder(tmp_path / "model") as temporary:
        (temporary / "weights.txt").write_text("new")
    assert names(tmp_path / "model") == ["weights.txt"]


@pytest.mark.parametrize("interrupted", [1, 2])
def test_an_interruption_at_a_rename_leaves_the_old_folder(tmp_path, monkeypatch, interrupted):
    folder, calls, replace = tmp_path / "model", [], Path.replace
    folder.mkdir()
    (folder / "weights.txt").write_text("old")

    def interrupt(path, target):
        calls.append(path)
        if len(calls) == interrupted:
            raise KeyboardInterrupt
        return replace(path, target)

    monkeypatch.setattr(Path, "replace", interrupt)
    with pytest.raises(KeyboardInterrupt), atomic_folder(folder) as temporary:
        (temporary / "weights.txt").write_text("new")
    assert (folder / "weights.txt").read_text() == "old"
    assert names(tmp_path) == ["model"]


def test_what_a_killed_process_moved_aside_is_put_back(tmp_path):
    folder, old = tmp_path / "model", tmp_path / ".model.123.old"
    others = [tmp_path / ".model.v2.123.old", tmp_path / ".other.123.old"]  # of model.v2 and other
    for path in (old, *others):
        path.mkdir()
        (path / "weights.txt").write_text("old")
    with pytest.raises(RuntimeError), atomic_folder(folder):
        raise RuntimeError
    assert (folder / "weights.txt").read_text() == "old"
    assert not old.exists() and all(path.exists() for path in others)
    old.mkdir()  # killed after the second rename: the new one is there
    with pytest.raises(RuntimeError), atomic_folder(folder):
        raise RuntimeError
    assert not old.exists() and (folder / "weights.txt").read_text() == "old"


def test_a_file_that_fails_half_way_leaves_the_old_one_and_nothing_else(tmp_path):
    path = tmp_path / "table.csv"
    path.write_text("old")
    with pytest.raises(RuntimeError, match="half-way"), atomic_file(path) as temporary:
        temporary.write_text("ne")
        raise RuntimeError("half-way")
    assert path.read_text() == "old" and list(tmp_path.iterdir()) == [path]
