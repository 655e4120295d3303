"""Model cards: facts from the run, prose from `model_cards/`; never a training text, never a local path."""

from __future__ import annotations

import json
import re
from pathlib import Path
from typing import Any

import pandas as pd
from huggingface_hub import EvalResult, ModelCard, ModelCardData

from dataset_scripts.base.files import write_text
from dataset_scripts.base.tables import markdown
from modeling.base.names import RELEASED
from modeling.base.results import comparison, demonstrations, legend, paper_note
from modeling.base.system import System

# the repository's name is not known before it is published; staging fills these in
REPO, ADAPTER_REPO = "{{repo_id}}", "{{adapter_repo_id}}"
# options that name another model -> how a card says so
ORIGIN = {"start": "starting from", "teacher": "as a student of"}
HIGHER = re.compile("auroc|accuracy|pearson|spearman|kendall|ndcg")  # measures that are better the higher they are
PHASE = ("name", "steps", "rows", "epochs", "seconds", "rows_per_second")  # what a card says of a phase


def write_cards(system: System, results: dict[str, Any], run_dir: Path) -> None:
    """Writes README.md into a run's merged/ and, if there is one, adapter/; see `render_card`."""
    for kind in ("merged", "adapter"):
        if (run_dir / kind).is_dir():
            write_text(run_dir / kind / "README.md", render_card(system, results, kind))


def render_card(system: System, results: dict[str, Any], kind: str) -> str:
    """The text of a card, front matter included, of the facts of `results.evaluate_run`.

    `kind` is `merged`, `adapter`, or `released`: the adapter as it comes with this project.
    """
    prose = RELEASED / results["system"] / "README.md"
    # a model that has no embeddings has no examples, and its own usage alone
    texts = next(([first, *(row["second"] for row in rows)] for first, rows in _examples(results).items()), [])
    options = [[key, "none" if value is None else str(value)] for key, value in results["recipe"].items()]
    others = [f"{words} {name}" for key, words in ORIGIN.items() if (name := results["recipe"].get(key))]
    card = ModelCard.from_template(
        _front_matter(system, results, kind == "merged"),
        template_path=str(RELEASED / "template.md"),
        kind=kind,
        facts=results,
        system=system,
        worse=_worse(results),
        origin=f", {', '.join(others)}," if others else "",
        repo=REPO,
        adapter_repo=ADAPTER_REPO,
        demonstrations=markdown(demonstrations(results, {"base": "base", "trained": "this model"})),
        paper_note=paper_note(results),
        results=markdown(comparison(results)),
        legend=legend(results),
        prose=prose.read_text(encoding="utf-8").strip() if prose.is_file() else "",
        texts=[json.dumps(text, ensure_ascii=False) for text in texts],
        usage=system.USAGE.strip().replace(REPO, {"merged": REPO, "adapter": ADAPTER_REPO}.get(kind, results["name"])),
        options=markdown(pd.DataFrame(options, columns=["option", "value"])),
    )
    return card.content


def _worse(results: dict[str, Any]) -> list[str]:
    """Where the base is better by a measure that is better the higher it is, as the first of each evaluation is."""
    return [
        f"{each['title']} ({each['dataset']}): `{metric}` {each['base'][metric]:.3f} → {each['trained'][metric]:.3f}"
        for each in results["evaluations"]
        for number, metric in enumerate(each["headline"])
        if (not number or HIGHER.search(metric))
        and None not in (each["base"][metric], each["trained"][metric])
        and each["trained"][metric] < each["base"][metric]
    ]


def _examples(results: dict[str, Any]) -> dict[str, list[dict[str, Any]]]:
    """First sentence -> its demonstrations."""
    rows = results["demonstrations"]
    return {first: [row for row in rows if row["first"] == first] for first in dict.fromkeys(r["first"] for r in rows)}


def _front_matter(system: System, results: dict[str, Any], merged: bool) -> ModelCardData:
    """The YAML block that the Hub reads; the figures are those of the merged files."""
    tags = ["sentence-transformers", "sentence-similarity", "feature-extraction", *system.TAGS]
    figures = [
        EvalResult(
            task_type="sentence-similarity",
            dataset_type=each["dataset_id"],
            dataset_name=each["dataset"],
            dataset_split=results["evaluation_options"].get("evaluate_on", "test"),  # absent in runs of before
            metric_type=metric.removeprefix(each["name"] + "_"),
            metric_name=f"{metric}: {each['title']}",
            metric_value=round(each["trained"][metric], 4),
        )
        for each in results["evaluations"]
        for metric in each["headline"]
        if each["trained"][metric] is not None  # where nothing was measured
    ]
    widget = [
        {
            "source_sentence": first,
            "sentences": [row["second"] for row in rows],
            "output": [{"label": row["second"], "score": round(row["trained"], 4)} for row in rows],
        }
        for first, rows in _examples(results).items()
    ]
    return ModelCardData(
        language="en",
        license=results["evaluation_options"]["license"],
        library_name="sentence-transformers" if merged else "peft",
        pipeline_tag="sentence-similarity",
        base_model=results["base_model"],
        base_model_relation="finetune" if merged else "adapter",
        # only ids on the Hub may stand here; other sources are named in the text
        datasets=[source for source in results["sources"] if "/" in source] or None,
        tags=tags if merged else [*tags, "lora", "peft"],
        model_name=results["name"] if merged else None,
        eval_results=figures if merged else None,
        widget=widget,
    )
