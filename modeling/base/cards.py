"""Model cards: facts from the run, prose from `model_cards/`; never a training text, never a local path."""

from __future__ import annotations

import json
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
PHASE = ("name", "steps", "rows", "epochs", "seconds", "rows_per_second")  # what a card says of a phase


def write_cards(system: System, results: dict[str, Any], run_dir: Path) -> None:
    """Writes README.md into merged/ and, if there is one, adapter/.

    Args:
        system: The system, for citation and usage.
        results: Facts from `modeling.base.results.evaluate_run`.
        run_dir: Folder of the run.
    """
    for kind in ("merged", "adapter"):
        if (run_dir / kind).is_dir():
            write_text(run_dir / kind / "README.md", render_card(system, results, kind))


def render_card(system: type[System] | System, results: dict[str, Any], kind: str) -> str:
    """The text of a card, front matter included.

    Args:
        system: The system, or its class.
        results: Facts of the run.
        kind: `merged`, `adapter`, or `released`: the adapter as it comes with this project.
    """
    base, name = results["base_model"], results["name"]
    prose = RELEASED / results["system"] / "README.md"
    examples = results["demonstrations"]
    # a model that has no embeddings has no examples, and its own usage alone
    texts = [examples[0]["first"]] if examples else []
    texts += [row["second"] for row in examples if row["first"] == texts[0]]
    trainable, total = results["trainable_parameters"], results["all_parameters"]
    drawn = [(each["caption"], each["plot"]) for each in results["evaluations"] if each["caption"]]
    options = [[key, "none" if value is None else str(value)] for key, value in results["recipe"].items()]
    card = ModelCard.from_template(
        front_matter(system, results, kind),
        template_path=str(RELEASED / "template.md"),
        kind=kind,
        name=name,
        base=f"[{base}](https://huggingface.co/{base})",
        base_model=base,
        system=results["system"],
        sources=", ".join(results["sources"]),
        repo=REPO,
        adapter_repo=ADAPTER_REPO,
        demonstrations=markdown(demonstrations(results, {"base": "base", "trained": "this model"})),
        paper_note=paper_note(results),
        results=markdown(comparison(results)),
        legend=legend(results),
        prose=prose.read_text(encoding="utf-8").strip() if prose.is_file() else "",
        texts=[json.dumps(text, ensure_ascii=False) for text in texts],
        asymmetric=system.ASYMMETRIC,
        usage=system.USAGE.strip().replace(REPO, {"merged": REPO, "adapter": ADAPTER_REPO}.get(kind, name)),
        plots="\n\n".join(f"![{caption}]({plot})\n\n{caption}" for caption, plot in drawn),
        counts=", ".join(f"{number:,} {what}" for what, number in results["counts"].items()),
        phases=[_phase(phase) for phase in results["phases"]],
        parameters=f"{trainable:,} of {total:,} ({100 * trainable / total:.2f} %)",
        options=markdown(pd.DataFrame(options, columns=["option", "value"])),
        citation=system.paper.citation.strip(),
        environment=", ".join(f"{library} {version}" for library, version in results["environment"].items()),
    )
    return card.content


def front_matter(system: type[System] | System, results: dict[str, Any], kind: str) -> ModelCardData:
    """The YAML block that the Hub reads."""
    merged = kind == "merged"
    tags = ["sentence-transformers", "sentence-similarity", "feature-extraction", *system.TAGS]
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
        eval_results=_eval_results(results) if merged else None,
        widget=_widget(results),
    )


def _eval_results(results: dict[str, Any]) -> list[EvalResult]:
    return [
        EvalResult(
            task_type=each["task"],
            dataset_type=each["dataset_id"],
            dataset_name=each["dataset"],
            dataset_split=results["evaluation_options"].get("evaluate_on", "test"),  # absent in runs of before
            metric_type=metric.removeprefix(each["name"] + "_"),
            metric_name=f"{metric}: {each['title']}",
            metric_value=round(each["trained"][metric], 4),
        )
        for each in results["evaluations"]
        for metric in each["headline"]
        if each["trained"][metric] is not None  # where nothing was found there is no share
    ]


def _widget(results: dict[str, Any]) -> list[dict[str, Any]]:
    """One widget example per source sentence, with the outputs of this model."""
    examples: dict[str, dict[str, Any]] = {}
    for row in results["demonstrations"]:
        example = examples.setdefault(row["first"], {"source_sentence": row["first"], "sentences": [], "output": []})
        example["sentences"].append(row["second"])
        example["output"].append({"label": row["second"], "score": round(row["trained"], 4)})
    return list(examples.values())


def _phase(phase: dict[str, Any]) -> str:
    return (
        f"{phase['name']}: {phase['steps']} optimiser steps over {phase['rows']:,} rows ({phase['epochs']:g} epochs at "
        f"most) in {phase['seconds']:.0f} s, {phase['rows_per_second']:.0f} rows/s"
    )
