"""What leaves the machine: a copy of a folder, made file by file and searched for what must stay.

python -m modeling.base.publish model runs/stance-demo org/stance-demo --dry_run  # stages, scans and lists, sends nothing
"""

from __future__ import annotations

import hashlib
import shutil
from collections.abc import Iterable, Mapping
from pathlib import Path
from typing import TYPE_CHECKING

from dataset_scripts.base.files import atomic_folder, read_json
from dataset_scripts.base.scan import Finding, scan, walk

if TYPE_CHECKING:
    from modeling.base.backbone import Backbone

# What training, notebooks and desktops leave beside the files that are meant: dropped without a question.
LEFTOVERS = (
    *("training_args.bin", "optimizer.pt", "optimizer.bin", "scheduler.pt", "scaler.pt", "rng_state*.pth"),
    *("trainer_state.json", "checkpoint-*", "events.out.tfevents*", "wandb", "eval*.csv", "*_results.csv"),
    *(".DS_Store", "Thumbs.db", "__pycache__", "*.pyc", ".ipynb_checkpoints", ".cache", ".git", ".git[ai]*"),
)


class StagingError(ValueError):
    """A folder holds what must not be published; `findings` has all of it."""

    def __init__(self, folder: str | Path, findings: list[Finding]):
        super().__init__(f"{folder} can't be published:\n" + "\n".join(f"- {finding}" for finding in findings))
        self.findings = findings


def stage(
    source: str | Path,
    destination: str | Path,
    kind: str,
    forbidden_texts: Iterable[str] = (),
    placeholders: Mapping[str, str] | None = None,
    replace: bool = False,
) -> dict:
    """Copies what may be published into a fresh folder, which appears complete or not at all.

    Args:
        source: The folder as training left it.
        destination: The folder to make.
        kind: "model", "dataset" or "metric".
        forbidden_texts: See `scan`.
        placeholders: What the copy's README.md says in place of each `{{name}}`.
        replace: Exchange a destination that exists.

    Returns:
        `folder`, `files` (the names copied) and `skipped` (the names of the leftovers).

    Raises:
        StagingError: If anything was found; it lists everything, and nothing is left behind.
        FileExistsError: If the destination exists and `replace` is not set.
        ValueError: If the kind is unknown or the source is not a folder.
    """
    source, destination = Path(source), Path(destination)
    if not source.is_dir():
        raise ValueError(f"{source} is not a folder")
    if destination.exists() and not replace:
        raise FileExistsError(f"{destination} exists: delete it or choose another place")
    files, skipped = [], []
    with atomic_folder(destination) as fresh:
        for path in walk(source, LEFTOVERS, skipped):
            name = path.relative_to(source)
            files.append(name.as_posix())
            (fresh / name).parent.mkdir(parents=True, exist_ok=True)
            shutil.copyfile(path, fresh / name, follow_symlinks=False)
        card = fresh / "README.md"
        for name, value in (placeholders or {}).items() if card.is_file() and not card.is_symlink() else ():
            card.write_bytes(card.read_bytes().replace(b"{{%s}}" % name.encode(), value.encode()))
        if findings := scan(fresh, kind, forbidden_texts, local_roots=[source]):
            raise StagingError(source, findings)
    return {"folder": destination, "files": files, "skipped": [path.relative_to(source).as_posix() for path in skipped]}


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
    """Loads what `stage_run` staged, and checks that it is what was trained.

    The adapter is put on its base where that lies on this machine; elsewhere its weights are only read.

    Raises:
        modeling.base.adapters.AdapterError: A ValueError, which says what is wrong.
    """
    from modeling.base.adapters import check_files, load_adapter, load_merged  # torch takes seconds to import

    staged = run_dir / "staged"
    load_merged(staged / "merged")
    if (run_dir / "adapter").is_dir():
        backbone = _local_base(run_dir)
        load_adapter(staged / "adapter", backbone) if backbone else check_files(staged / "adapter")


def _local_base(run_dir: Path) -> Backbone | None:
    """The base that a run was trained on, if it can be loaded without a network."""
    from huggingface_hub import snapshot_download

    from modeling.base.backbone import Backbone, load_backbone, resolve

    recipe = read_json(run_dir / "recipe.json") or {}
    try:
        backbone = resolve(recipe["base"], recipe["base_id"])
        if not Path(backbone.path).is_dir():
            backbone = Backbone(snapshot_download(backbone.path, local_files_only=True), backbone.hub_id)
        load_backbone(backbone)  # the cache may hold a part of it
    except (KeyError, ValueError, OSError):
        return None
    return backbone


def check_repo_id(repo_id: str) -> None:
    """Raises ValueError if the name is not "owner/name" as the Hub allows it."""
    from huggingface_hub.utils import validate_repo_id

    validate_repo_id(repo_id)
    if "/" not in repo_id:
        raise ValueError(f"{repo_id!r} has no owner: write owner/name")


def differences(staged: Path, read_back: Path) -> list[str]:
    """Returns the names whose content is not the same in both folders; .gitattributes belongs to the Hub."""
    ours, theirs = (
        {path.relative_to(root).as_posix(): path for path in root.rglob("*") if path.is_file()}
        for root in (staged, read_back)
    )
    theirs.pop(".gitattributes", None)
    same = {name for name in ours.keys() & theirs.keys() if _sha256(ours[name]) == _sha256(theirs[name])}
    return sorted((ours.keys() | theirs.keys()) - same)


def _sha256(path: Path) -> str:
    with path.open("rb") as file:
        return hashlib.file_digest(file, "sha256").hexdigest()
