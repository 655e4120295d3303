"""The loopback Hub answers the real client as the Hub does, where publishing and loading depend on it."""

import hashlib
from pathlib import Path

import huggingface_hub as hf
import pytest
from huggingface_hub.errors import (
    EntryNotFoundError,
    HfHubHTTPError,
    RepositoryNotFoundError,
    RevisionNotFoundError,
)

from tests.hub_server import HubServer


@pytest.fixture
def server(monkeypatch, tmp_path):
    with HubServer() as running:
        running.prepare_this_process(monkeypatch, tmp_path / "home")
        yield running


@pytest.fixture
def api(server):
    return hf.HfApi(endpoint=server.url, token=server.token)


def status(error) -> int:
    return error.value.response.status_code


def test_accounts_and_permissions(server, api):
    nobody, reader = hf.HfApi(endpoint=server.url, token=False), hf.HfApi(endpoint=server.url, token=server.read_token)
    for client, expected in ((nobody, 401), (reader, 403), (hf.HfApi(endpoint=server.url, token="hf_wrong"), 401)):
        with pytest.raises(HfHubHTTPError) as error:
            client.create_repo("org/x")
        assert status(error) == expected
    with pytest.raises(HfHubHTTPError) as error:
        api.create_repo("elsewhere/x")
    assert status(error) == 403 and "'elsewhere'" in str(error.value)
    api.create_repo("org/x", private=True)
    assert reader.repo_info("org/x").private is True
    for missing in (
        lambda: nobody.repo_info("org/x"),
        lambda: api.repo_info("org/y"),
        lambda: api.dataset_info("org/x"),
    ):
        with pytest.raises(RepositoryNotFoundError):
            missing()
    with pytest.raises(HfHubHTTPError) as error:
        reader.upload_file(path_or_fileobj=b"x", path_in_repo="x", repo_id="org/x")
    assert status(error) == 403 and len(server.commits("org/x")) == 1


def test_create_of_every_type(server, api):
    urls = [str(api.create_repo("org/x", repo_type=kind, space_sdk=sdk)) for kind, sdk in TYPES]
    assert urls == [f"{server.url}/{prefix}org/x" for prefix in ("", "datasets/", "spaces/")]
    with pytest.raises(HfHubHTTPError) as error:
        api.create_repo("org/x")
    assert status(error) == 409
    assert str(api.create_repo("org/x", repo_type="space", space_sdk="gradio", exist_ok=True)) == urls[2]
    assert api.space_info("org/x").sdk == "gradio"
    assert sorted(server.files("org/x", "space")) == [".gitattributes", "README.md"]


TYPES = [("model", None), ("dataset", None), ("space", "gradio")]


@pytest.mark.parametrize(("kind", "sdk"), TYPES)
def test_commit_and_read(server, api, kind, sdk, tmp_path):
    api.create_repo("org/x", repo_type=kind, space_sdk=sdk)
    where = {"repo_id": "org/x", "repo_type": kind}
    weights = bytes(range(256)) * 40
    contents = {"a/b/c.txt": b"text", "a/d.json": b"{}", "w.safetensors": weights, "empty.txt": b""}
    adds = [hf.CommitOperationAdd(path, content) for path, content in contents.items()]
    first = api.create_commit(**where, operations=adds, commit_message="one").oid
    entries = {entry.path: entry for entry in api.list_repo_tree(**where, recursive=True)}
    assert set(contents) | {".gitattributes"} <= set(entries)
    # the names `git hash-object` gives to "text" and to the empty file
    assert entries["a/b/c.txt"].blob_id == "f3a34851d44d6b97c90fbb99dd3d18c261b9a237"
    assert entries["empty.txt"].blob_id == "e69de29bb2d1d6434b8b29ae775ad8c2e48c5391"
    assert (entries["w.safetensors"].size, entries["w.safetensors"].lfs.sha256) == (
        10240,
        hashlib.sha256(weights).hexdigest(),
    )

    second = api.create_commit(
        **where,
        operations=[hf.CommitOperationDelete("a/"), hf.CommitOperationAdd("empty.txt", b"no longer")],
        commit_message="two",
        parent_commit=first,
    ).oid
    assert [c["title"] for c in server.commits("org/x", kind)] == ["initial commit", "one", "two"]
    assert second == api.repo_info(**where).sha
    folder = Path(api.snapshot_download(**where, cache_dir=tmp_path))
    assert (folder / "w.safetensors").read_bytes() == weights and not (folder / "a").exists()
    old = Path(api.snapshot_download(**where, revision=first, cache_dir=tmp_path))
    assert {name: (old / name).read_bytes() for name in contents} == contents

    with pytest.raises(HfHubHTTPError) as error:  # somebody committed after `first`
        stale = [hf.CommitOperationAdd("z.txt", b"z")]
        api.create_commit(**where, operations=stale, commit_message="three", parent_commit=first)
    assert status(error) == 412
    with pytest.raises(EntryNotFoundError):
        api.create_commit(**where, operations=[hf.CommitOperationDelete("no.txt")], commit_message="three")
    with pytest.raises(EntryNotFoundError):
        api.hf_hub_download(**where, filename="a/d.json", cache_dir=tmp_path)
    with pytest.raises(RevisionNotFoundError):
        api.hf_hub_download(**where, filename="w.safetensors", revision="v9", cache_dir=tmp_path)
    assert len(server.commits("org/x", kind)) == 3 and server.unknown == []


def test_uploads_are_checked(server, api):
    api.create_repo("org/x")
    put = hf.get_session().put
    oid = hashlib.sha256(b"right").hexdigest()
    assert put(f"{server.url}/lfs/{oid}", content=b"right").status_code == 403  # the link is not signed
    signed = f"{server.url}/lfs/{oid}?key={server._upload_key}"
    assert put(signed, content=b"wrong").status_code == 400
    assert put(signed, content=iter([b"ri", b"ght"])).status_code == 200  # in chunks, without a length
    assert server.blob(oid).read_bytes() == b"right"


def test_faults(server, api):
    api.create_repo("org/x")
    upload = {"path_or_fileobj": b"0123456789", "path_in_repo": "w.bin", "repo_id": "org/x"}
    server.fail_next(1, on="/commit/", status=503)
    with pytest.raises(HfHubHTTPError) as error:
        api.upload_file(**upload)
    assert status(error) == 503
    server.fail_next(1, on="/commit/", after=1)
    api.upload_file(**upload)
    with pytest.raises(Exception, match=r"disconnected|reset"):
        api.upload_file(**{**upload, "path_in_repo": "v.bin"})
    assert sorted(server.files("org/x")) == [".gitattributes", "w.bin"]
