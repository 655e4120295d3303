"""The loopback Hub answers the real client as the Hub does, where publishing and loading depend on it."""

import hashlib
from pathlib import Path

import huggingface_hub as hf
import pytest
from huggingface_hub.errors import EntryNotFoundError, HfHubHTTPError, RepositoryNotFoundError


@pytest.mark.parametrize(("kind", "sdk"), [("model", None), ("dataset", None), ("space", "gradio")])
def test_commit_and_read(server, kind, sdk, tmp_path):
    api, reader, nobody = (hf.HfApi(server.url, token) for token in (server.token, server.read_token, False))
    where = {"repo_id": "org/x", "repo_type": kind}
    for client, status in ((nobody, 401), (reader, 403)):
        with pytest.raises(HfHubHTTPError) as error:
            client.create_repo(**where, space_sdk=sdk)
        assert error.value.response.status_code == status
    prefix = {"model": "", "dataset": "datasets/", "space": "spaces/"}[kind]
    assert str(api.create_repo(**where, space_sdk=sdk, private=True)) == f"{server.url}/{prefix}org/x"
    assert reader.repo_info(**where).private is True
    with pytest.raises(RepositoryNotFoundError):
        nobody.repo_info(**where)

    weights = bytes(range(256)) * 40
    contents = {"a/b/c.txt": b"text", "empty.txt": b"", "w.safetensors": weights}
    operations = [hf.CommitOperationAdd(name, data) for name, data in contents.items()]
    first = api.create_commit(**where, operations=operations, commit_message="one").oid
    entries = {entry.path: entry for entry in api.list_repo_tree(**where, recursive=True)}
    # the names `git hash-object` gives to "text" and to the empty file
    assert entries["a/b/c.txt"].blob_id == "f3a34851d44d6b97c90fbb99dd3d18c261b9a237"
    assert entries["empty.txt"].blob_id == "e69de29bb2d1d6434b8b29ae775ad8c2e48c5391"
    large = entries["w.safetensors"]
    assert (large.size, large.lfs.sha256) == (10240, hashlib.sha256(weights).hexdigest())

    def commit(title, *operations, **options):
        return api.create_commit(**where, operations=operations, commit_message=title, **options).oid

    second = commit(
        "two", hf.CommitOperationDelete("a/"), hf.CommitOperationAdd("empty.txt", b"more"), parent_commit=first
    )
    assert [c["title"] for c in server.commits("org/x", kind)] == ["initial commit", "one", "two"]
    assert second == api.repo_info(**where).sha
    folder = Path(api.snapshot_download(**where, cache_dir=tmp_path))
    assert (folder / "w.safetensors").read_bytes() == weights and not (folder / "a").exists()
    old = Path(api.snapshot_download(**where, revision=first, cache_dir=tmp_path))
    assert {name: (old / name).read_bytes() for name in contents} == contents
    with pytest.raises(HfHubHTTPError, match="412"):  # somebody committed after `first`
        commit("three", hf.CommitOperationAdd("z.txt", b"z"), parent_commit=first)
    with pytest.raises(EntryNotFoundError):
        commit("three", hf.CommitOperationDelete("no.txt"))
    assert len(server.commits("org/x", kind)) == 3 and server.unknown == []
