"""Writing the bi-encoder and the cross-encoder: measured as written, described without a text of the corpus."""

from __future__ import annotations

import json
import shutil
import string
from collections.abc import Callable, Mapping
from pathlib import Path
from typing import Any

from huggingface_hub import ModelCardData

from dataset_scripts.base.files import atomic_folder, read_json, write_json, write_text
from dataset_scripts.base.tables import markdown
from modeling.base.models import resolve
from modeling.base.names import RELEASED
from modeling.base.results import environment
from modeling.bipolar.baselines.fine_tuning import RESULTS, Settings, working_folder

TEMPLATE = RELEASED / "counterargument_encoders.md"


def publish(
    out: Path,
    settings: Settings,
    save: Callable[[Path], None],
    check: Callable[[Path], Mapping[str, Any]],
    facts: dict[str, Any],
) -> dict[str, Any]:
    """Writes the model, measures the files that were written, and describes them; all of it, or nothing.

    Args:
        out: The folder; replaced as a whole.
        settings: Of the run.
        save: Writes the model into a folder.
        check: Loads it from there, makes sure that it is the one that was trained, and returns what it measured.
        facts: Of the training.

    Returns:
        The facts of the run, as in OUT/results.json.
    """
    work = working_folder(out)
    with atomic_folder(out) as temporary:
        save(temporary)
        for path in temporary.rglob("config.json"):
            config = json.loads(path.read_text(encoding="utf-8"))
            config.pop("_name_or_path", None)  # a local path
            write_json(path, config)
        results = {
            "base_model": resolve(settings.base, settings.base_id).hub_id,
            "options": read_json(work / "options.json"),
            **facts,
            "validation": dict(check(temporary)),
            "environment": environment(),
        }
        write_json(temporary / RESULTS, results)
        write_text(temporary / "README.md", card(settings, results))
    shutil.rmtree(work, ignore_errors=True)
    return results


def card(settings: Settings, results: dict[str, Any]) -> str:
    """The model's README: facts of the run and our own example, no text of the corpus."""
    cross = settings.kind == "cross-encoder"
    data = ModelCardData(
        language="en",
        library_name="sentence-transformers",
        pipeline_tag="text-ranking" if cross else "sentence-similarity",
        base_model=results["base_model"],
        base_model_relation="finetune",
        tags=["sentence-transformers", settings.kind, "argument-mining", "counter-argument-retrieval"],
    )
    others = ("margin",) if cross else ("shortlist", "eval_points")
    hidden = ("kind", "data", "config", "base", "base_id", "rows_sha256", *others)
    options = [[name, str(value)] for name, value in results["options"].items() if name not in hidden]
    sections = dict(part.split("\n", 1) for part in TEMPLATE.read_text(encoding="utf-8").split("\n== ")[1:])
    rows = settings.max_rows
    body = string.Template(sections["card"]).substitute(
        name=settings.kind,
        base=results["base_model"],
        about=sections[settings.kind].strip(),
        data=f"{results['options']['data']} ({settings.config})",
        steps=f"{results['steps']:,}",
        rows=f"{results['rows']:,}",
        seconds=f"{results['seconds']:,.0f}",
        split="the validation split" if rows is None else f"a seeded sample of {rows:,} rows of the validation split",
        results=markdown(["measure", "value"], [[name, f"{v:.4g}"] for name, v in results["validation"].items()]),
        options=markdown(["option", "value"], options),
        environment=", ".join(f"{name} {version}" for name, version in results["environment"].items()),
    )
    return f"---\n{data.to_yaml()}\n---\n\n{body.strip()}\n"
