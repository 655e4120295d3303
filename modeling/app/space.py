"""The page as a Space: the sources that it needs, the adapters of its models, and three files that are made here."""

from __future__ import annotations

import shutil
import tempfile
from collections.abc import Sequence
from importlib.metadata import requires, version
from pathlib import Path
from typing import Any

from huggingface_hub import SpaceCard, SpaceCardData
from packaging.requirements import Requirement

from dataset_scripts.base.files import read_json, write_text
from dataset_scripts.base.hub import publish_folder
from modeling.base.models import recorded_base
from modeling.base.names import BUNDLED, BUNDLED_ID, RELEASED, released_models

ROOT = Path(__file__).parents[2]
PACKAGES = ("dataset_scripts", "metrics", "modeling", "model_cards")
CODE, ADAPTER = (".py", ".yaml"), (".json", ".safetensors")
APP = '''"""The page; Spaces say by Gradio's variables where it listens."""

from modeling.app.page import serve

serve(models={models!r})
'''
TEXT = """
# {title}

Type two sentences, or bring a CSV of texts: what they hold, by sentence encoders that tell agreement from opposition.
What is brought is deleted when the page is closed.

Made by `opinion publish space {{{{repo_id}}}}` of opinion-transformers {version}, whose sources lie beside this file
(Apache-2.0). The adapters in `model_cards/` have licences of their own: {licences}.
"""


def publish_space(repo_id: str, models: Sequence[str], **options: Any) -> dict[str, Any]:
    """Publishes the page as a Space, with its sources and the adapters of released models.

    It needs nothing but the package registry and the bases of its models, and goes on as it is when the project does.
    Options, result and errors are those of `dataset_scripts.base.hub.publish_dataset`.
    """
    with tempfile.TemporaryDirectory(prefix="space-") as work:
        return publish_folder(make_space(Path(work), models), repo_id, "space", **options)


def make_space(folder: Path, models: Sequence[str]) -> Path:
    """Writes the files of a Space into an empty folder; a ValueError for a model that only this machine has."""
    ours = [name for name in models if name in released_models()]
    if local := next((name for name in models if Path(name).is_dir() and name not in ours), None):
        raise ValueError(f"--model {local}: a Space cannot read this folder; publish the model and give its name")
    for package in PACKAGES:
        for path in sorted((ROOT / package).rglob("*")):
            place = path.relative_to(ROOT)
            kinds = CODE if package != "model_cards" else ADAPTER if place.parts[1] in ours else ()
            if path.suffix in kinds:
                (folder / place).parent.mkdir(parents=True, exist_ok=True)
                shutil.copy(path, folder / place)
    for example in ("comments.csv", "coded.csv"):
        if (ROOT / "docs" / example).is_file():
            (folder / "docs").mkdir(exist_ok=True)
            shutil.copy(ROOT / "docs" / example, folder / "docs")
    write_text(folder / "app.py", APP.format(models=list(models)))
    write_text(folder / "requirements.txt", "".join(f"{line}\n" for line in _requirements()))
    title, facts = "What texts hold", {name: read_json(RELEASED / name / "results.json") for name in ours}
    licences = {name: each["evaluation_options"]["license"] for name, each in facts.items()}
    said = ", ".join(f"{name} {'research only' if each == 'other' else each}" for name, each in licences.items())
    card = SpaceCardData(
        title=title,
        emoji="🗣",
        colorFrom="blue",
        colorTo="red",
        sdk="gradio",
        sdk_version=version("gradio"),
        python_version="3.11",  # or a Space has an older one
        app_file="app.py",
        license="apache-2.0",
        models=sorted({*map(recorded_base, ours), *(BUNDLED_ID if n == BUNDLED else n for n in {*models} - {*ours})}),
    )
    text = TEXT.format(title=title, version=version("opinion-transformers"), licences=said)
    SpaceCard(f"---\n{card}\n---\n{text}").save(folder / "README.md")
    return folder


def _requirements() -> list[str]:
    """What the project needs, and what stands for the Hub's copy of the small base; Gradio comes with the Space."""
    needed = map(Requirement, requires("opinion-transformers") or ())
    return [
        f"{each.name}{each.specifier}"
        for each in needed
        if each.marker is None or each.marker.evaluate({"extra": "offline"})
    ]
