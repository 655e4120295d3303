"""Model cards: facts from the run, prose from `model_cards/`; never a training text, never a local path."""

from __future__ import annotations

import json
import re
from pathlib import Path
from typing import Any

import pandas as pd
from huggingface_hub import EvalResult, ModelCard, ModelCardData

from dataset_scripts.base.files import read_json, write_text
from dataset_scripts.base.metadata import Metadata, list_corpora, load_metadata
from dataset_scripts.base.tables import markdown
from modeling.base.names import RELEASED, measure_title
from modeling.base.results import comparison, demonstrations, legend, paper_note
from modeling.base.system import System

SOURCES = "https://github.com/opinion-transformers/opinion-transformers"
# the repository's name is not known before it is published; staging fills these in
REPO, ADAPTER_REPO = "{{repo_id}}", "{{adapter_repo_id}}"
# options that name another model -> how a card says so
ORIGIN = {"start": "starting from", "teacher": "as a student of"}
# measures that are better the higher they are -> their ids on the Hub, where they have one
METRICS = {"auroc": "roc_auc", "accuracy": "accuracy", "pearson": "pearsonr", "spearman": "spearmanr"}
HIGHER = re.compile("|".join([*METRICS, "kendall", "ndcg"]))
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
    path = RELEASED / results["system"] / "README.md"
    prose, _, limits = (path.read_text(encoding="utf-8") if path.is_file() else "").partition("## Limits\n")
    # a model that has no embeddings has no examples, and its own usage alone
    texts = next(([first, *(row["second"] for row in rows)] for first, rows in _examples(results).items()), [])
    options = [[key, "none" if value is None else str(value)] for key, value in results["recipe"].items()]
    others = [f"{words} {name}" for key, words in ORIGIN.items() if (name := results["recipe"].get(key))]
    card = ModelCard.from_template(
        _front_matter(system, results, kind),
        template_path=str(RELEASED / "template.md"),
        kind=kind,
        facts=results,
        system=system,
        worse=_worse(results),
        limits=limits.strip(),
        origin=f", {', '.join(others)}," if others else "",
        repo=REPO,
        adapter_repo=ADAPTER_REPO,
        demonstrations=markdown(demonstrations(results, {"base": "base", "trained": "this model"})),
        paper_note=paper_note(results),
        results=markdown(comparison(results)),
        legend=legend(results),
        prose=prose.strip(),
        licence=results["evaluation_options"]["license"],
        corpora=_corpora(results),
        texts=[json.dumps(text, ensure_ascii=False) for text in texts],
        usage=system.USAGE.strip().replace(REPO, {"merged": REPO, "adapter": ADAPTER_REPO}.get(kind, results["name"])),
        options=markdown(pd.DataFrame(options, columns=["option", "value"])),
    )
    return card.content


def _worse(results: dict[str, Any]) -> str:
    """Where the base is better by a measure that is better the higher it is, as the first of each evaluation is."""
    rows = [
        (measure_title(each, metric), each["dataset"], each["base"][metric], each["trained"][metric])
        for each in results["evaluations"]
        for number, metric in enumerate(each["headline"])
        if (not number or HIGHER.search(metric))
        and None not in (each["base"][metric], each["trained"][metric])
        and each["trained"][metric] < each["base"][metric]
    ]
    return markdown(pd.DataFrame(rows, columns=["measure", "data", "base", "this model"])) if rows else ""


def _corpora(results: dict[str, Any]) -> list[Metadata]:
    """The records of the corpora that were trained on, also by the released model that this one began from or follows.

    A source is called like its corpus, or like it and more, as `yelp-first`.
    """
    sources, origins = list(results["sources"]), [results["recipe"].get(key) for key in ORIGIN]
    for name in filter(None, origins):
        sources += (read_json(RELEASED / name / "results.json") or {}).get("sources", [])
    names = dict.fromkeys(source.partition("-")[0] for source in sources)
    return [load_metadata(name) for name in names if name in list_corpora()]


def _examples(results: dict[str, Any]) -> dict[str, list[dict[str, Any]]]:
    """First sentence -> its demonstrations."""
    rows = results["demonstrations"]
    return {first: [row for row in rows if row["first"] == first] for first in dict.fromkeys(r["first"] for r in rows)}


def _front_matter(system: System, results: dict[str, Any], kind: str) -> ModelCardData:
    """The YAML block that the Hub reads; the figures are those of the merged files."""
    licence, merged = results["evaluation_options"]["license"], kind == "merged"
    page = {"merged": REPO, "adapter": ADAPTER_REPO}.get(kind)
    page = f"https://huggingface.co/{page}#licence" if page else f"{SOURCES}#licence-and-citation"
    # ids on the Hub alone may stand here; other sources are named in the text
    datasets = [each.hub for each in _corpora(results) if each.hub] + [s for s in results["sources"] if "/" in s]
    tested = {name: hub for name in list_corpora() if (hub := load_metadata(name).hub)}
    tags = ["sentence-transformers", "sentence-similarity", "feature-extraction", *system.TAGS]
    figures = [
        EvalResult(
            task_type="sentence-similarity",
            dataset_type=tested.get(each["dataset_id"], each["dataset_id"]),
            dataset_name=each["dataset"],
            dataset_split=results["evaluation_options"]["evaluate_on"],
            metric_type=metric.removeprefix(each["name"] + "_"),
            metric_name=measure_title(each, metric),
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
        license=licence,
        **({"license_name": "terms-of-the-training-data", "license_link": page} if licence == "other" else {}),
        library_name="sentence-transformers" if merged else "peft",
        pipeline_tag="sentence-similarity",
        base_model=results["base_model"],
        base_model_relation="finetune" if merged else "adapter",
        datasets=datasets or None,
        metrics=[name for key, name in METRICS.items() if any(key in figure.metric_type for figure in figures)],
        tags=tags if merged else [*tags, "lora", "peft"],
        model_name=results["name"],
        eval_results=figures,
        widget=widget,
    )
