"""The notebook: it runs from top to bottom, and what is stored in it is what comes out."""

from copy import deepcopy

import nbformat
from nbclient import NotebookClient

from tests.test_readme import ROOT, same


def printed(notebook):
    """What the cells print and give, without what libraries say beside it."""
    outputs = [
        output for cell in notebook.cells for output in cell.get("outputs", []) if output.get("name") != "stderr"
    ]
    return [output.get("text") or output["data"]["text/plain"] for output in outputs]


def test_the_notebook_gives_what_is_stored_in_it(tmp_path, monkeypatch):
    stored = nbformat.read(ROOT / "notebooks" / "quickstart.ipynb", as_version=4)
    fresh = deepcopy(stored)
    (tmp_path / "docs").symlink_to(ROOT / "docs")
    (tmp_path / "notebooks").mkdir()
    monkeypatch.setenv("PYTHONPATH", str(ROOT))  # this project, whatever is installed
    place = {"metadata": {"path": str(tmp_path / "notebooks")}}
    NotebookClient(fresh, timeout=300, resources=place).execute()
    assert len(printed(stored)) == 7
    same("\n".join(printed(stored)), "\n".join(printed(fresh)))
    assert sorted(path.name for path in (tmp_path / "notebooks").iterdir()) == ["axis.png", "comments"]
