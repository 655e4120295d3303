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
import tempfile
from collections.abc import Iterable, Iterator
from contextlib import contextmanager
from pathlib import Path

from dataset_scripts.base.files import read_json
from dataset_scripts.base.scan import ALLOWED_SUFFIXES, Finding, scan
from modeling.base.staging import StagingError, check_repo_id, differences, stage, stage_run, verify_run

__all__ = ["ALLOWED_SUFFIXES", "Finding", "PublishError", "StagingError", "check_ready", "push", "scan", "stage"]
__all__ += ["publish_dataset", "publish_metric", "publish_run"]

_KINDS = {"model": "model", "dataset": "dataset", "space": "metric"}
_LOG_IN = "log in with `hf auth login`, or set HF_TOKEN, with a token that may write"
_AGAIN = "run the same command again: what was uploaded is reused"


class PublishError(RuntimeError):
    """Publishing did not succeed; the message says what to do."""


def check_ready(repo_id: str, token: str | None = None) -> str:
    """Checks, without the network, what would make publishing fail: for use before the work that comes first.

    Args:
        repo_id: "owner/name".
        token: See `push`.

    Returns:
        The token that will be used.

    Raises:
        PublishError: If the client is offline or has no token.
        ValueError: If the name is malformed.
    """
    check_repo_id(repo_id)
    from huggingface_hub import get_token, is_offline_mode

    if is_offline_mode():
        raise PublishError("HF_HUB_OFFLINE is set, so nothing can be published: unset it and run the command again")
    if not (token := token or get_token()):
        raise PublishError(f"no token for the Hub: {_LOG_IN}")
    return token


def push(
    staged: str | Path,
    repo_id: str,
    repo_type: str = "model",
    token: str | None = None,
    private: bool = False,
    message: str = "Publish",
    endpoint: str | None = None,
) -> dict:
    """Makes a repository equal to a staged folder with at most one commit, then downloads that commit and compares it.

    Args:
        staged: A folder made by `stage`.
        repo_id: "owner/name"; the repository is created if there is none.
        repo_type: "model", "dataset" or "space".
        token: A token that may write; by default the one of `hf auth login` or HF_TOKEN. It is kept nowhere.
        private: Create the repository as a private one, and refuse to publish into a public one.
        message: The commit's title.
        endpoint: Address of the Hub, by default HF_ENDPOINT or huggingface.co.

    Returns:
        `repo_id`, `url`, `commit`, `uploaded` (number of files sent) and `unchanged` (there was nothing to commit).

    Raises:
        PublishError: Without a token or permission, offline, after a network failure, if somebody else committed
            meanwhile, or if a file that is read back differs from the one that was sent.
        StagingError: If the folder was not staged and holds what must not be published.
        ValueError: If the repository's name or type is malformed.
    """
    if repo_type not in _KINDS:
        raise ValueError(f"unknown repo_type {repo_type!r}; choose one of {', '.join(_KINDS)}")
    token = check_ready(repo_id, token)
    staged = Path(staged)
    if findings := scan(staged, _KINDS[repo_type]):
        raise StagingError(staged, findings)
    from huggingface_hub import CommitOperationAdd, CommitOperationDelete, HfApi

    api = HfApi(endpoint=endpoint, token=token)
    where = {"repo_id": repo_id, "repo_type": repo_type}
    with _explained(repo_id):
        # Without `private` the owner's default visibility holds, and that of a repository that exists.
        sdk = "gradio" if repo_type == "space" else None
        url = api.create_repo(**where, private=private or None, space_sdk=sdk, exist_ok=True)
        head = api.repo_info(**where)
        if private and not head.private:
            raise PublishError(f"{repo_id} exists and is public: change it in its settings, or leave out --private")
        difference = api.verify_repo_checksums(**where, revision=head.sha, local_dir=staged)
        changed = difference.extra_paths + [mismatch["path"] for mismatch in difference.mismatches]
        stale = [path for path in difference.missing_paths if path != ".gitattributes"]
        operations = [CommitOperationAdd(path, staged / path) for path in changed]
        operations += [CommitOperationDelete(path, is_folder=False) for path in stale]
        commit = head.sha
        if operations:
            commit = api.create_commit(**where, operations=operations, commit_message=message, parent_commit=commit).oid
        with tempfile.TemporaryDirectory(prefix="read-back-") as cache:
            read_back = Path(api.snapshot_download(**where, revision=commit, cache_dir=cache))
            if different := differences(staged, read_back):
                raise PublishError(f"read back from {repo_id}, these files differ: {', '.join(different)}; {_AGAIN}")
    result = {"repo_id": repo_id, "url": str(url), "commit": commit}
    return {**result, "uploaded": len(changed), "unchanged": not operations}


def publish_run(
    run_dir: str | Path,
    repo_id: str,
    forbidden_texts: Iterable[str] = (),
    private: bool = False,
    token: str | None = None,
    endpoint: str | None = None,
    dry_run: bool = False,
) -> list[dict]:
    """Publishes a training run: `merged/` as `repo_id` and, if there is one, `adapter/` as `repo_id` + "-adapter".

    Before anything is sent, the staged copies are loaded and have to be what was trained, see `verify_run`.

    Args:
        run_dir: The run's folder; the staged copies go to `staged/` in it, see `stage_run`.
        repo_id: "owner/name".
        forbidden_texts: Training texts that no published file may hold, see `scan`.
        private, token, endpoint: See `push`.
        dry_run: Stage, scan and verify only.

    Returns:
        The result of `push` for the model, then for the adapter; after a dry run that of `stage`, with `repo_id`.

    Raises:
        ValueError: If the folder has no `merged/`, its weights are not what was trained, or the name is malformed.
        StagingError: If anything must not be published; nothing was sent then.
        PublishError: See `push`.
    """
    staged = stage_run(Path(run_dir), repo_id, forbidden_texts)
    verify_run(Path(run_dir))
    if dry_run:
        return staged
    options = {"token": token, "private": private, "endpoint": endpoint}
    return [push(summary["folder"], summary["repo_id"], **options) for summary in staged]


def publish_dataset(folder: str | Path, repo_id: str, **options) -> dict:
    """Publishes a folder with a README.md and Parquet files as a data set.

    Args:
        folder: The data set; the configs in the card's front matter say which files belong to which.
        repo_id: "owner/name".
        options: `private`, `token`, `endpoint` and `dry_run` as for `publish_run`.

    Returns:
        The result of `push`; after a dry run that of `stage`, with `repo_id`.

    Raises:
        ValueError: If the folder has no Parquet file, or the name is malformed.
        PublishError: If the corpus's terms forbid a public copy and `private` is not set; else see `publish_run`.
        StagingError: See `publish_run`.
    """
    if not any(Path(folder).rglob("*.parquet")):
        raise ValueError(f"{folder} has no Parquet file: build it with `python -m dataset_scripts`")
    summary = read_json(Path(folder) / "summary.json")  # of `python -m dataset_scripts`, if that made the folder
    if isinstance(summary, dict) and summary.get("redistributable") is False and not options.get("private"):
        raise PublishError(
            f"{folder} ({summary.get('corpus')}) must not be published: {summary.get('terms')} "
            "Add --private (private=True) for a private repository"
        )
    return _publish_folder(folder, repo_id, "dataset", **options)


def publish_metric(folder: str | Path, repo_id: str, **options) -> dict:
    """Publishes the folder of a metric as a Space, from which `evaluate.load(repo_id)` takes it.

    Args:
        folder: The metric: README.md, requirements.txt, app.py and the module.
        repo_id: "owner/name"; `evaluate` looks for the module name.py.
        options: `private`, `token`, `endpoint` and `dry_run` as for `publish_run`.

    Returns:
        The result of `push`; after a dry run that of `stage`, with `repo_id`.

    Raises:
        ValueError: If the module is not called like the repository, or the name is malformed.
        StagingError, PublishError: See `publish_run`.
    """
    module = f"{repo_id.split('/')[-1]}.py"
    if not (Path(folder) / module).is_file():
        raise ValueError(f"{folder} has no {module}: evaluate loads a metric only from a module named like its Space")
    return _publish_folder(folder, repo_id, "space", **options)


def _publish_folder(folder: str | Path, repo_id: str, repo_type: str, dry_run: bool = False, **options) -> dict:
    check_repo_id(repo_id)
    with tempfile.TemporaryDirectory(prefix="staged-") as work:
        summary = stage(folder, Path(work) / "staged", _KINDS[repo_type], placeholders={"repo_id": repo_id})
        return {"repo_id": repo_id, **summary} if dry_run else push(summary["folder"], repo_id, repo_type, **options)


@contextmanager
def _explained(repo_id: str) -> Iterator[None]:
    """Turns the client's exceptions into ones that say what to do."""
    try:
        yield
    except Exception as error:
        if isinstance(error, PublishError) or not (advice := _advice(error, repo_id)):
            raise
        raise PublishError(advice) from error


def _advice(error: BaseException | None, repo_id: str) -> str | None:
    from httpx2 import TransportError

    # The client wraps what happened during an upload, so the reason may lie deeper.
    while error is not None:
        status = getattr(getattr(error, "response", None), "status_code", None)
        if status == 401:
            return f"the Hub does not accept the token: {_LOG_IN}"
        if status == 403:
            return f"the token may not write to {repo_id}: {_LOG_IN} to {repo_id.split('/')[0]!r}"
        if status in (409, 412):
            return f"somebody else changed {repo_id} meanwhile; {_AGAIN}"
        if isinstance(error, TransportError) or (status and status >= 500):
            return f"the connection to the Hub failed ({type(error).__name__}); {_AGAIN}"
        if status or isinstance(error, ValueError):
            return f"the Hub refused to publish {repo_id}: {error}"
        error = error.__cause__
    return None


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
