"""`opinion serve` and `opinion publish space`: the page, here and on the Hub."""

from __future__ import annotations

import re
import socket
from importlib.util import find_spec
from pathlib import Path
from typing import Annotated

import typer

from dataset_scripts.base import cli
from dataset_scripts.base.files import read_json
from modeling.base.commands import DryRun, Private, Repository, check_access, report
from modeling.base.names import BUNDLED_ID, RELEASED, check_model, released_models
from modeling.search import commands as search

DEFAULT = "stance-minilm"

app = cli.app("A page in the browser.")
publish = cli.app("Publish.")
app.add_typer(publish, name="publish")

Models = Annotated[
    list[str] | None,
    typer.Option(
        callback=cli.split_commas,
        metavar="MODEL,...",
        help="Models to choose from (default: those that are released on all-MiniLM-L6-v2).",
    ),
]


def check_size(text: str) -> str:
    """A number of bytes as Gradio reads it, such as 20MB."""
    if not re.fullmatch(r"[1-9]\d*\s*[KMG]?B", text, re.IGNORECASE):
        raise ValueError(f"--max-upload {text!r}: give a whole number and its unit, e.g. 20MB or 500KB")
    return text


@app.command()
def serve(
    index: Annotated[Path | None, typer.Argument(metavar="[INDEX]", help="Folder written by opinion embed.")] = None,
    model: Models = None,
    host: Annotated[str, typer.Option(help="Where to listen; 0.0.0.0 lets other machines in.")] = "127.0.0.1",
    port: Annotated[int, typer.Option(min=1, max=65535, help="Likewise.")] = 7860,
    max_upload: Annotated[str, typer.Option(callback=check_size, help="Largest file that is taken.")] = "20MB",
    max_rows: Annotated[int, typer.Option(min=1, help="Most rows of a table that is embedded.")] = 20_000,
) -> None:
    """Serve a page: pairs of sentences, and an index or an uploaded CSV, asked, placed on an axis and countered.

    What a visitor uploads lies in a folder of that visitor alone, and is deleted when the page is closed.
    """
    names = [*map(check_model, model or default_models())]
    if index:
        from modeling.search.index import Index

        made = Index.open(index).facts["model"]
        if made is None:
            raise ValueError(f"{index} was made by a model without a name: embed it again with --model")
        names = list(dict.fromkeys([check_model(made), *names]))
    if find_spec("gradio") is None:
        raise ValueError("the page needs Gradio: pip install 'opinion-transformers[app]'")
    try:
        with socket.create_server((host, port)):
            pass
    except OSError as error:
        raise ValueError(
            f"{host}:{port} cannot be listened to ({str(error.strerror).partition(' (')[0]}): choose another --port"
        ) from error
    search.quiet()
    from modeling.app import page

    page.serve(index, names, host, port, max_upload, max_rows)


@publish.command("space")
def publish_space(repo_id: Repository, model: Models = None, private: Private = False, dry_run: DryRun = False) -> None:
    """Publish the page as a Space of its own, with the sources and adapters that it needs."""
    check_access(repo_id, dry_run)
    from modeling.app.space import publish_space as send

    report(dry_run, send(repo_id, [*map(check_model, model or default_models())], private=private, dry_run=dry_run))


def default_models() -> list[str]:
    """The released models on the small base, beginning with the one that tells sides."""
    bases = {name: read_json(RELEASED / name / "adapter_config.json") for name in released_models()}
    names = [name for name, config in bases.items() if config["base_model_name_or_path"] == BUNDLED_ID]
    return sorted(names, key=lambda name: name != DEFAULT)
