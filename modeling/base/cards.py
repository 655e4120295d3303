"""Model cards: facts from the run, prose from `model_cards/`; never a training text, never a local path."""

from __future__ import annotations

import json
import string
from pathlib import Path
from typing import Any

from huggingface_hub import EvalResult, ModelCardData
from huggingface_hub.repocard_data import eval_results_to_model_index

from dataset_scripts.base.files import write_text
from dataset_scripts.base.tables import markdown
from modeling.base.results import comparison, demonstrations, legend, table
from modeling.base.system import System

FOLDER = Path(__file__).parents[2] / "model_cards"
# the repository's name is not known before it is published; staging fills these in
REPO, ADAPTER_REPO = "{{repo_id}}", "{{adapter_repo_id}}"


def write_cards(system: System, results: dict[str, Any], run_dir: Path) -> None:
    """Writes README.md into merged/ and, if there is one, adapter/.

    Args:
        system: The system, for citation and prose.
        results: Facts from `modeling.base.results.evaluate_run`.
        run_dir: Folder of the run.
    """
    for kind in ("merged", "adapter"):
        if (run_dir / kind).is_dir():
            write_text(run_dir / kind / "README.md", render_card(system, results, kind))


def render_card(system: System, results: dict[str, Any], kind: str) -> str:
    """The text of a card, front matter included.

    Args:
        system: The system.
        results: Facts of the run.
        kind: `merged`, `adapter`, or `released`: the adapter as it comes with this project.
    """
    template = string.Template((FOLDER / "template.md").read_text(encoding="utf-8"))
    body = template.substitute(
        title=results["name"] + ("" if kind == "merged" else " (LoRA adapter)"),
        summary=_summary(results, kind),
        usage=_usage(system, results, kind),
        demonstrations=_demonstrations(results),
        paper_note=f"The paper's figures: {results['paper_setup']}.",
        results=f"{table(comparison(results))}\n\n{legend(results)}",
        plots=_plots(results, kind),
        training=_training(results),
        prose=(FOLDER / results["system"] / "README.md").read_text(encoding="utf-8").strip(),
        citation=system.paper.citation.strip(),
        environment=", ".join(f"{name} {version}" for name, version in results["environment"].items()),
    )
    return f"---\n{front_matter(system, results, kind).to_yaml()}\n---\n\n{body}"


def front_matter(system: System, results: dict[str, Any], kind: str) -> ModelCardData:
    """The YAML block that the Hub reads."""
    data = ModelCardData(
        language="en",
        license=system.recipe.license,
        library_name="sentence-transformers" if kind == "merged" else "peft",
        pipeline_tag="sentence-similarity",
        base_model=results["base_model"],
        base_model_relation="finetune" if kind == "merged" else "adapter",
        # only ids on the Hub may stand here; other sources are named in the text
        datasets=[source for source in results["sources"] if "/" in source] or None,
        tags=["sentence-transformers", "sentence-similarity", "feature-extraction", *system.TAGS]
        + ([] if kind == "merged" else ["lora", "peft"]),
        widget=_widget(results),
    )
    if kind == "merged":
        data["model-index"] = eval_results_to_model_index(results["name"], _eval_results(results))
    return data


def _widget(results: dict[str, Any]) -> list[dict[str, Any]]:
    """One widget example per source sentence, with the outputs of this model."""
    examples: dict[str, dict[str, Any]] = {}
    for row in results["demonstrations"]:
        example = examples.setdefault(row["first"], {"source_sentence": row["first"], "sentences": [], "output": []})
        example["sentences"].append(row["second"])
        example["output"].append({"label": row["second"], "score": round(row["trained"], 4)})
    return list(examples.values())


def _eval_results(results: dict[str, Any]) -> list[EvalResult]:
    return [
        EvalResult(
            task_type=evaluation["task"],
            dataset_type=evaluation["dataset_id"],
            dataset_name=evaluation["dataset"],
            dataset_split=results["evaluation_options"].get("evaluate_on", "test"),  # absent in runs of before
            metric_type=metric.removeprefix(evaluation["name"] + "_"),
            metric_name=f"{metric}: {evaluation['title']}",
            metric_value=round(evaluation["trained"][metric], 4),
        )
        for evaluation in results["evaluations"]
        for metric in evaluation["headline"]
        if evaluation["trained"][metric] is not None  # where nothing was found there is no share
    ]


def _summary(results: dict[str, Any], kind: str) -> str:
    sources = ", ".join(results["sources"])
    if kind != "merged":
        return (
            f"A LoRA adapter for [{results['base_model']}](https://huggingface.co/{results['base_model']}), trained "
            f"on {sources} with the {results['system']} system of opinion-transformers. "
            + (f"Merged: {REPO}." if kind == "adapter" else "It comes with the project's sources.")
        )
    return (
        f"[{results['base_model']}](https://huggingface.co/{results['base_model']}) fine-tuned on {sources} with the "
        f"{results['system']} system of opinion-transformers. A plain sentence-transformers model: no adapter "
        "library and no remote code are needed to load it."
    )


def _usage(system: System, results: dict[str, Any], kind: str) -> str:
    first = results["demonstrations"][0]["first"]
    others = [row["second"] for row in results["demonstrations"] if row["first"] == first]
    library, load = "from sentence_transformers import SentenceTransformer", f'model = SentenceTransformer("{REPO}")'
    if kind == "adapter":
        load = f'model = SentenceTransformer("{results["base_model"]}")\nmodel.load_adapter("{ADAPTER_REPO}")'
    if kind == "released":  # checks the adapter, merges it into its base, and needs no network where that is installed
        library, load = "from modeling.base.models import load_model", f'model = load_model("{results["name"]}")'
    lines = ["```python", library, "", load]
    lines += ["texts = [", *(f"    {json.dumps(text, ensure_ascii=False)}," for text in (first, *others)), "]"]
    if system.ASYMMETRIC:
        lines += ["print(model.similarity(model.encode_query(texts[:1]), model.encode_document(texts[1:])))", "```"]
    else:
        lines += ["embeddings = model.encode(texts)"]
        lines += ["print(model.similarity(embeddings[:1], embeddings[1:]))", "```"]
    if system.USAGE:
        name = {"merged": REPO, "adapter": ADAPTER_REPO}.get(kind, results["name"])
        lines += ["", system.USAGE.strip().replace(REPO, name)]
    return "\n".join(lines)


def _demonstrations(results: dict[str, Any]) -> str:
    return table(demonstrations(results, {"base": "base", "trained": "this model"}))


def _plots(results: dict[str, Any], kind: str) -> str:
    if kind == "adapter":  # the pictures are published once
        return f"Plots: see {REPO}."
    drawn = [(e["caption"], e["plot"]) for e in results["evaluations"] if e["caption"]]
    return "\n\n".join(f"![{caption}]({plot})\n\n{caption}" for caption, plot in drawn)


def _training(results: dict[str, Any]) -> str:
    counts = ", ".join(f"{number:,} {name}" for name, number in results["counts"].items())
    lines = [f"Data: {', '.join(results['sources'])} ({counts}).", ""]
    for phase in results["phases"]:
        lines.append(
            f"- {phase['name']}: {phase['steps']} optimiser steps over {phase['rows']:,} rows "
            f"({phase['epochs']:g} epochs at most) in {phase['seconds']:.0f} s, {phase['rows_per_second']:.0f} rows/s"
        )
    trainable, total = results["trainable_parameters"], results["all_parameters"]
    lines.append(f"- trainable parameters: {trainable:,} of {total:,} ({100 * trainable / total:.2f} %)")
    options = [[key, "none" if value is None else str(value)] for key, value in results["recipe"].items()]
    return "\n".join(lines) + "\n\n" + markdown(["option", "value"], options)
