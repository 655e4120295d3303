"""The page as a Space: published, taken down as anybody would, and used there, by the files of the Space alone."""

import os
import subprocess
import sys

import pytest
from huggingface_hub import SpaceCard, snapshot_download

from modeling.app.space import publish_space
from tests.modeling.app.conftest import wait
from tests.modeling.app.test_browser import ask, brought, columns, tables


@pytest.mark.browser
def test_a_space_runs_where_it_is_downloaded(server, serve, visit, tmp_path, root):
    hub = {"token": server.token, "endpoint": server.url}
    sent = publish_space("org/page", ["stance-minilm"], **hub)
    assert sent["uploaded"] == len(server.files("org/page", "space")) - 1 > 100  # the Hub's .gitattributes
    assert publish_space("org/page", ["stance-minilm"], **hub)["unchanged"]
    options = {"repo_type": "space", "cache_dir": tmp_path / "cache", **hub}
    folder = snapshot_download("org/page", local_dir=tmp_path / "page", **options)
    card = SpaceCard.load(f"{folder}/README.md")
    assert (card.data.sdk, card.data.app_file, card.data.python_version) == ("gradio", "app.py", "3.11")
    assert card.data.models == ["sentence-transformers/all-MiniLM-L6-v2"]
    assert "publish space org/page" in card.text and "stance-minilm cc-by-sa-4.0" in card.text
    assert sum(each["size"] for each in server.files("org/page", "space").values()) < 10e6
    environment = {name: value for name, value in os.environ.items() if name != "PYTHONPATH"}
    code = "import modeling; print(*modeling.__path__)"
    found = subprocess.run([sys.executable, "-c", code], cwd=folder, env=environment, capture_output=True, text=True)
    assert found.stdout.strip() == f"{folder}/modeling"
    page = visit(serve("app.py", cwd=folder, env={"PYTHONPATH": "", "HF_HUB_OFFLINE": "1"}))
    page.get_by_role("button", name="Compare").click()
    assert wait(lambda: columns(page, 1) == [["0.903"], ["0.391"]]), tables(page)
    page.get_by_role("tab", name="Texts").click()
    page.get_by_role("button", name="Take the example: docs/comments.csv").click()
    brought(page, "comments.csv")
    page.get_by_role("button", name="Embed", exact=True).click()
    page.get_by_text("landlords 17, tenants 17").wait_for()
    ask(page, "I support a cap on rents.")
    assert wait(lambda: "I support a rent cap in this city." in str(tables(page)[:1]))
