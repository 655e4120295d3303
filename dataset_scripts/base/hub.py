"""Publishing: a folder is staged, searched for what must stay, sent in one commit and compared with what arrived.

An interrupted command can be given again: what has arrived is not sent twice.
"""

import os
import shutil
import tempfile
from collections.abc import Iterable, Iterator, Mapping
from contextlib import contextmanager
from pathlib import Path
from typing import Any

from dataset_scripts.base.files import atomic_folder, read_json
from dataset_scripts.base.scan import Finding, scan

# What training, notebooks and desktops leave beside the files that are meant: dropped without a question.
LEFTOVERS = (
    *("training_args.bin", "optimizer.pt", "optimizer.bin", "scheduler.pt", "scaler.pt", "rng_state*.pth"),
    *("trainer_state.json", "checkpoint-*", "events.out.tfevents*", "wandb", "eval*.csv", "*_results.csv"),
    *(".DS_Store", "Thumbs.db", "__pycache__", "*.pyc", ".ipynb_checkpoints", ".cache", ".git", ".git[ai]*"),
)
# of which huggingface_hub gets a token from the Hub, for a job that proves who it is
OIDC, OIDC_PREFIXES = "HF_OIDC_RESOURCE", {"dataset": "datasets/", "space": "spaces/"}
_LOG_IN = "log in with `hf auth login`, or set HF_TOKEN, with a token that may write"
_AGAIN = "run the same command again: what was uploaded is reused"


class PublishError(ValueError):
    """Publishing did not succeed; the message says what to do."""


class StagingError(PublishError):
    """A folder holds what must not be published; `findings` has all of it."""

    def __init__(self, folder: str | Path, findings: list[Finding]):
        super().__init__(f"{folder} can't be published:\n" + "\n".join(f"- {finding}" for finding in findings))
        self.findings = findings


def stage(
    source: str | Path,
    destination: str | Path,
    repo_type: str,
    forbidden_texts: Iterable[str] = (),
    placeholders: Mapping[str, str] | None = None,
) -> dict[str, Any]:
    """Copies what may be published into a folder, which appears complete or not at all, in place of one that is there.

    Returns its `folder`, `files` (the names copied) and `skipped` (the names of the leftovers). The copy's README.md
    has the values of `placeholders` in place of each `{{name}}`. What `scan` finds raises StagingError, which lists it
    all.
    """
    source, destination = Path(source), Path(destination)
    if not source.is_dir():
        raise ValueError(f"{source} is not a folder")
    with atomic_folder(destination) as fresh:
        shutil.copytree(source, fresh, symlinks=True, ignore=shutil.ignore_patterns(*LEFTOVERS), dirs_exist_ok=True)
        card = fresh / "README.md"
        for name, value in (placeholders or {}).items() if card.is_file() and not card.is_symlink() else ():
            card.write_bytes(card.read_bytes().replace(b"{{%s}}" % name.encode(), value.encode()))
        if findings := scan(fresh, repo_type, forbidden_texts, local_roots=[source]):
            raise StagingError(source, findings)
        files = sorted(path.relative_to(fresh).as_posix() for path in fresh.rglob("*") if path.is_file())
        names = [path.relative_to(source) for path in sorted(source.rglob("*"))]
        skipped = [name.as_posix() for name in names if (fresh / name.parent).is_dir() and not (fresh / name).exists()]
    return {"folder": destination, "files": files, "skipped": skipped}


def check_ready(repo_id: str, token: str | None = None) -> str:
    """The token that will be used, if publishing may succeed: asked without the network, before the work comes."""
    from huggingface_hub import get_token, is_offline_mode

    check_repo_id(repo_id)
    if is_offline_mode():
        raise PublishError("HF_HUB_OFFLINE is set, so nothing can be published: unset it and run the command again")
    if not (token := token or get_token()):
        raise PublishError(f"no token for the Hub: {_LOG_IN}")
    return token


def check_repo_id(repo_id: str) -> None:
    """Raises ValueError if the name is not "owner/name" as the Hub allows it."""
    from huggingface_hub.utils import validate_repo_id

    validate_repo_id(repo_id)
    if "/" not in repo_id:
        raise ValueError(f"{repo_id!r} has no owner: write owner/name")


def push(
    staged: str | Path,
    repo_id: str,
    repo_type: str = "model",
    token: str | None = None,
    private: bool = False,
    endpoint: str | None = None,
) -> dict[str, Any]:
    """Makes a repository equal to a staged folder with at most one commit, and compares the checksums of what arrived.

    The repository, "owner/name", is created if there is none; a private one is never made public. The token, by default
    that of `hf auth login` or HF_TOKEN, is stored nowhere; `endpoint` is by default HF_ENDPOINT or huggingface.co.

    Returns:
        `repo_id`, `url`, `commit`, `uploaded` (number of files sent) and `unchanged` (there was nothing to commit).

    Raises:
        PublishError: Without a token or permission, offline, after a network failure, if somebody else committed
            meanwhile, or if a file that arrived differs from the one that was sent.
        StagingError, ValueError: If the folder was not staged, or the repository's name or type is malformed.
    """
    if OIDC in os.environ:  # a trusted publisher's token is of one repository, and a model has a second
        os.environ[OIDC] = f"{OIDC_PREFIXES.get(repo_type, '')}{repo_id}"
    token, staged = check_ready(repo_id, token), Path(staged)
    if findings := scan(staged, repo_type):
        raise StagingError(staged, findings)
    from huggingface_hub import CommitOperationAdd, CommitOperationDelete, HfApi

    api, where = HfApi(endpoint=endpoint, token=token), {"repo_id": repo_id, "repo_type": repo_type}

    def differences(revision: str) -> tuple[list[str], list[str]]:
        check = api.verify_repo_checksums(**where, revision=revision, local_dir=staged)
        changed = check.extra_paths + [mismatch["path"] for mismatch in check.mismatches]
        return changed, [path for path in check.missing_paths if path != ".gitattributes"]

    with _explained(repo_id):
        # Without `private` the owner's default visibility holds, and that of a repository that exists.
        sdk = "gradio" if repo_type == "space" else None
        url = api.create_repo(**where, private=private or None, space_sdk=sdk, exist_ok=True)
        head = api.repo_info(**where)
        if private and not head.private:
            raise PublishError(f"{repo_id} exists and is public: change it in its settings, or leave out --private")
        changed, stale = differences(head.sha)
        commit, operations = head.sha, [CommitOperationAdd(path, staged / path) for path in changed]
        operations += [CommitOperationDelete(path, is_folder=False) for path in stale]
        if operations:  # not `upload_folder`, which makes several commits of large folders
            commit = api.create_commit(
                **where, operations=operations, commit_message="Publish", parent_commit=commit
            ).oid
            changed_since, left = differences(commit)
            if different := changed_since + left:
                raise PublishError(f"what arrived at {repo_id} differs in {', '.join(different)}; {_AGAIN}")
    result = {"repo_id": repo_id, "url": str(url), "commit": commit}
    return result | {"uploaded": len(changed), "unchanged": not operations}


def publish_dataset(folder: str | Path, repo_id: str, **options: Any) -> dict[str, Any]:
    """Publishes a folder with a README.md and Parquet files as a data set; errors as of `push`.

    The options are `private`, `token` and `endpoint` of `push`; `dry_run` stages and scans only, and returns that
    result. Where the corpus's terms forbid a public copy, `private` must be set.
    """
    if not any(Path(folder).rglob("*.parquet")):
        raise ValueError(f"there are no Parquet files in {folder}: opinion corpus build CORPUS RAW -o {folder}")
    summary = read_json(Path(folder) / "summary.json")  # of a build, if that made the folder
    if isinstance(summary, dict) and summary.get("redistributable") is False and not options.get("private"):
        raise PublishError(
            f"{folder} ({summary.get('corpus')}) must not be published: {summary.get('terms')} "
            "Add --private (private=True) for a private repository"
        )
    return publish_folder(folder, repo_id, "dataset", **options)


def publish_metric(folder: str | Path, repo_id: str, **options: Any) -> dict[str, Any]:
    """Publishes the folder of a metric (README.md, requirements.txt, app.py, module) as a Space for `evaluate.load`."""
    module = f"{repo_id.split('/')[-1]}.py"
    if not (Path(folder) / module).is_file():
        raise ValueError(f"{folder} has no {module}: evaluate loads a metric only from a module named like its Space")
    return publish_folder(folder, repo_id, "space", **options)


def publish_folder(folder: str | Path, repo_id: str, repo_type: str, dry_run: bool = False, **options: Any) -> dict:
    """Publishes a folder of any type; options and errors as of `publish_dataset`."""
    check_repo_id(repo_id)
    with tempfile.TemporaryDirectory(prefix="staged-") as work:
        staged = stage(folder, Path(work) / "staged", repo_type, placeholders={"repo_id": repo_id})
        return {"repo_id": repo_id, **staged} if dry_run else push(staged["folder"], repo_id, repo_type, **options)


@contextmanager
def _explained(repo_id: str) -> Iterator[None]:
    """Turns the client's exceptions into ones that say what to do."""
    from httpx2 import HTTPError, TransportError

    try:
        yield
    except PublishError:
        raise
    except Exception as error:
        cause: BaseException | None = error
        while cause and not isinstance(cause, (HTTPError, ValueError)):
            cause = cause.__cause__  # the client wraps what happened during an upload
        if not cause:
            raise
        status = getattr(getattr(cause, "response", None), "status_code", 0)
        advice = {
            401: f"the Hub does not accept the token: {_LOG_IN}",
            403: f"the token may not write to {repo_id}: {_LOG_IN} to {repo_id.split('/')[0]!r}",
            **dict.fromkeys((409, 412), f"somebody else changed {repo_id} meanwhile; {_AGAIN}"),
        }.get(status, f"the Hub refused to publish {repo_id}: {cause}")
        if isinstance(cause, TransportError) or status >= 500:
            advice = f"the connection to the Hub failed ({type(cause).__name__}); {_AGAIN}"
        raise PublishError(advice) from error
