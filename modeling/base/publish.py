"""Publishes models, data sets and metrics: staged, searched for what must stay, sent in one commit and read back.

    hf auth login                                                                   # once
    python -m modeling.base.publish model runs/stance-mpnet org/stance-mpnet --dry_run       # what would be sent
    python -m modeling.base.publish model runs/stance-mpnet org/stance-mpnet --private
    python -m modeling.base.publish dataset data/kialo org/kialo-stance
    python -m modeling.base.publish metric metrics/sgts org/sgts                             # evaluate.load("org/sgts")

An interrupted command can be given again: what has arrived is not sent twice.
"""

from __future__ import annotations

import argparse
import sys
from collections.abc import Iterable
from pathlib import Path

from dataset_scripts.base.hub import (
    PublishError,
    StagingError,
    check_ready,
    check_repo_id,
    publish_dataset,
    publish_metric,
    push,
    stage,
)
from dataset_scripts.base.scan import scan

__all__ = ["PublishError", "StagingError", "check_ready", "publish_dataset", "publish_metric", "publish_run", "push"]
__all__ += ["scan", "stage"]


def publish_run(
    run_dir: str | Path,
    repo_id: str,
    forbidden_texts: Iterable[str] = (),
    private: bool = False,
    token: str | None = None,
    endpoint: str | None = None,
    dry_run: bool = False,
    proved: bool = False,
) -> list[dict]:
    """Publishes a training run: `merged/` as `repo_id` and, if there is one, `adapter/` as `repo_id` + "-adapter".

    Before anything is sent, the staged copies are loaded and have to be what was trained, see `verify_run`.

    Args:
        run_dir: The run's folder; the staged copies go to `staged/` in it, see `stage_run`.
        repo_id: "owner/name".
        forbidden_texts: Training texts that no published file may hold, see `scan`.
        private, token, endpoint: See `push`.
        dry_run: Stage, scan and verify only.
        proved: The files were loaded and proved just now, when they were saved: do not load them again.

    Returns:
        The result of `push` for the model, then for the adapter; after a dry run that of `stage`, with `repo_id`.

    Raises:
        ValueError: If the folder has no `merged/`, its weights are not what was trained, or the name is malformed.
        StagingError: If anything must not be published; nothing was sent then.
        PublishError: See `push`.
    """
    staged = stage_run(Path(run_dir), repo_id, forbidden_texts)
    if not proved:
        verify_run(Path(run_dir))
    if dry_run:
        return staged
    options = {"token": token, "private": private, "endpoint": endpoint}
    return [push(summary["folder"], summary["repo_id"], **options) for summary in staged]


def stage_run(run_dir: Path, repo_id: str, forbidden_texts: Iterable[str] = ()) -> list[dict]:
    """Stages a training run's `merged/` and, if there is one, its `adapter/` to `staged/` in the run's folder.

    In the copies' cards `{{repo_id}}` and `{{adapter_repo_id}}` become the two names.

    Returns:
        The result of `stage` for each, with `repo_id`.

    Raises:
        StagingError: If anything must not be published.
        ValueError: If the folder has no `merged/`, or the name is malformed.
    """
    if not (run_dir / "merged").is_dir():
        raise ValueError(f"{run_dir} has no merged/ folder: give the folder of a finished training run")
    texts, staged = tuple(forbidden_texts), []
    names = {"repo_id": repo_id, "adapter_repo_id": f"{repo_id}-adapter"}
    for part, target in zip(("merged", "adapter"), names.values(), strict=True):
        if (run_dir / part).is_dir():
            check_repo_id(target)
            summary = stage(run_dir / part, run_dir / "staged" / part, "model", texts, names, replace=True)
            staged.append({"repo_id": target, **summary})
    return staged


def verify_run(run_dir: Path) -> None:
    """Loads what `stage_run` staged, and proves that it is what was trained.

    Raises:
        modeling.base.adapters.AdapterError: A ValueError, which says what is wrong.
    """
    from modeling.base.adapters import load_adapter, load_merged  # torch takes seconds to import
    from modeling.base.models import base_of, load_backbone

    staged = run_dir / "staged"
    load_merged(staged / "merged")
    if (run_dir / "adapter").is_dir():
        load_adapter(staged / "adapter", load_backbone(base_of(run_dir / "adapter")))


def main(arguments: list[str] | None = None) -> None:
    """The command line: see the module's docstring."""
    publish = {"model": publish_run, "dataset": publish_dataset, "metric": publish_metric}
    parser = argparse.ArgumentParser(prog="python -m modeling.base.publish", description=__doc__.splitlines()[0])
    parser.add_argument("kind", choices=publish)
    parser.add_argument("path", type=Path, help="a run's folder, a data set's or a metric's")
    parser.add_argument("repo_id", help="owner/name")
    parser.add_argument("--private", action="store_true", help="create a private repository")
    parser.add_argument("--dry_run", action="store_true", help="stage and scan, list the files, send nothing")
    parser.add_argument("--forbidden_texts", type=Path, help="model: file with one training text per line")
    options = parser.parse_args(arguments)
    keywords = {"private": options.private, "dry_run": options.dry_run}
    if options.forbidden_texts and options.kind == "model":
        keywords["forbidden_texts"] = options.forbidden_texts.read_text(encoding="utf-8").splitlines()
    try:
        results = publish[options.kind](options.path, options.repo_id, **keywords)
    except (PublishError, ValueError, OSError) as error:
        sys.exit(str(error))
    for result in results if isinstance(results, list) else [results]:
        if options.dry_run:
            skipped = ", ".join(result["skipped"]) or "nothing"
            print(f"{result['repo_id']}: would send {', '.join(result['files'])}; skipped: {skipped}")
        else:
            print(f"{result['url']}: {result['uploaded']} files sent, commit {result['commit']}")


if __name__ == "__main__":
    main()
