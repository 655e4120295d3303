"""Staging and pushing: what is copied, what is sent, and what happens when something goes wrong on the way."""

import pickle
import re
import shutil

import huggingface_hub
import numpy as np
import pytest
from safetensors.numpy import save_file

from dataset_scripts.base import hub
from dataset_scripts.base.hub import PublishError, StagingError, stage

CARD = "---\nlicense: apache-2.0\n---\n# {{repo_id}}\n\nIts adapter is {{adapter_repo_id}}.\n"
NAMES = {"repo_id": "org/tiny", "adapter_repo_id": "org/tiny-adapter"}
PUBLISHED = ["1_Pooling/config.json", "README.md", "config.json", "model.safetensors", "vocab.txt"]
LEFT_OUT = [".DS_Store", "checkpoint-10", "eval/similarity_evaluation_test_results.csv", "training_args.bin"]


@pytest.fixture
def model(tmp_path):
    """A folder as training leaves it: what is to be published, and the usual leftovers."""
    folder = tmp_path / "run" / "merged"
    for name, text in {
        "README.md": CARD,
        "config.json": '{"hidden_size": 32}',
        "1_Pooling/config.json": '{"pooling_mode": "mean"}',
        "vocab.txt": "[PAD]\nschool\nuniforms\n",
        "training_args.bin": pickle.dumps({"hub_token": "secret"}, protocol=0).decode(),
        "checkpoint-10/optimizer.pt": "weights",
        "eval/similarity_evaluation_test_results.csv": "epoch,cosine\n1,0.9\n",
        ".DS_Store": "\0",
    }.items():
        (folder / name).parent.mkdir(parents=True, exist_ok=True)
        (folder / name).write_text(text)
    save_file({"weight": np.arange(600, dtype=np.float32)}, folder / "model.safetensors", metadata={"format": "pt"})
    return folder


@pytest.fixture
def clean(model, tmp_path):
    """The same folder, staged."""
    return stage(model, tmp_path / "clean", "model", placeholders=NAMES)["folder"]


def push(server, folder, repo_id="org/tiny", **options):
    return hub.push(folder, repo_id, endpoint=server.url, **{"token": server.token, **options})


def test_staging_copies_what_is_published_and_names_what_it_left_out(model, tmp_path):
    summary = stage(model, tmp_path / "clean", "model", placeholders=NAMES)
    assert (summary["files"], summary["skipped"]) == (PUBLISHED, LEFT_OUT)
    assert (summary["folder"] / "README.md").read_text().endswith("# org/tiny\n\nIts adapter is org/tiny-adapter.\n")
    assert (model / "README.md").read_text() == CARD
    weights = [(folder / "model.safetensors").read_bytes() for folder in (model, summary["folder"])]
    assert weights[0] == weights[1]


def test_one_commit_each_and_none_where_nothing_changed(server, clean, tmp_path, caplog, capfd):
    caplog.set_level("DEBUG")
    result = push(server, clean)
    first, published = server.commits("org/tiny")
    assert (first["title"], published["title"]) == ("initial commit", "Publish")
    facts = {"repo_id": "org/tiny", "url": f"{server.url}/org/tiny", "commit": published["oid"]}
    assert result == {**facts, "uploaded": 5, "unchanged": False}
    assert sorted(published["files"]) == [".gitattributes", *PUBLISHED]
    assert [name for name, entry in published["files"].items() if entry["lfs"]] == ["model.safetensors"]
    for name in PUBLISHED:
        assert server.read("org/tiny", name) == (clean / name).read_bytes()
    # the token is written nowhere
    written = [path for root in (server.root, tmp_path) for path in root.rglob("*") if path.is_file()]
    assert len(written) > 10
    assert not [path for path in written if server.token.encode() in path.read_bytes()]
    assert server.token not in caplog.text + "".join(capfd.readouterr())

    again = push(server, clean)
    assert (again["commit"], again["uploaded"], again["unchanged"]) == (result["commit"], 0, True)
    assert len(server.commits("org/tiny")) == 2
    (clean / "config.json").write_text('{"hidden_size": 64}')
    shutil.rmtree(clean / "1_Pooling")
    server.requests.clear()
    third = push(server, clean)
    assert (third["uploaded"], third["unchanged"]) == (1, False)
    assert len(server.commits("org/tiny")) == 3
    assert sorted(server.files("org/tiny")) == [".gitattributes", "README.md", *PUBLISHED[2:]]
    assert sorted(server.files("org/tiny", revision=result["commit"])) == [".gitattributes", *PUBLISHED]
    assert not any(request.startswith("PUT") for request in server.requests)
    assert server.unknown == []


# what fails, and how many commits are there then
FAULTS = {
    "upload dropped": ({"n": 6, "on": "^PUT /lfs/"}, 1),  # the client tries six times
    "after the commit": ({"n": 1, "on": "/commit/", "late": True}, 2),  # its answer got lost
}


@pytest.mark.parametrize("name", FAULTS)
def test_an_interrupted_push_can_be_repeated(server, clean, name):
    fault, commits = FAULTS[name]
    server.fail_next(**fault)
    with pytest.raises(PublishError, match=r"connection to the Hub failed.*run the same command again"):
        push(server, clean)
    assert len(server.commits("org/tiny")) == commits
    server.faults.clear()
    server.requests.clear()
    result = push(server, clean)
    assert result["unchanged"] == (commits == 2)
    assert len(server.commits("org/tiny")) == 2
    assert server.read("org/tiny", "model.safetensors") == (clean / "model.safetensors").read_bytes()
    uploads = [request for request in server.requests if request.startswith("PUT")]
    assert len(uploads) == (0 if commits == 2 else 1)


def test_what_arrives_is_compared_with_what_was_sent(server, clean, monkeypatch):
    name = "model.safetensors"
    add = server.add_commit

    def lose(repo, title, files):  # the server commits something else than it was sent
        return add(repo, title, files | ({name: server.store(b"x", True)} if name in files else {}))

    with monkeypatch.context() as patch:
        patch.setattr(server, "add_commit", lose)
        with pytest.raises(PublishError, match=rf"what arrived at org/tiny differs in {re.escape(name)}; run the same"):
            push(server, clean)
    assert push(server, clean)["uploaded"] == 1


def test_a_commit_of_somebody_else_is_not_overwritten(server, clean, monkeypatch):
    push(server, clean)
    (clean / "config.json").write_text("{}")
    check = huggingface_hub.HfApi.verify_repo_checksums

    def check_and_be_overtaken(api, *arguments, **options):
        difference = check(api, *arguments, **options)
        api.upload_file(path_or_fileobj=b"theirs", path_in_repo="config.json", repo_id="org/tiny")
        return difference

    with monkeypatch.context() as patch:
        patch.setattr(huggingface_hub.HfApi, "verify_repo_checksums", check_and_be_overtaken)
        with pytest.raises(PublishError, match="somebody else changed org/tiny"):
            push(server, clean)
    assert server.read("org/tiny", "config.json") == b"theirs"
    assert push(server, clean)["uploaded"] == 1


def test_clear_errors(server, clean):
    for options, error, message in (
        ({"token": None}, PublishError, r"no token.*`hf auth login`, or set HF_TOKEN"),
        ({"token": "hf_" + "x" * 34}, PublishError, "does not accept the token"),
        ({"token": server.read_token}, PublishError, "may not write to org/tiny"),
        ({"repo_id": "tiny"}, ValueError, "'tiny' has no owner: write owner/name"),
    ):
        with pytest.raises(error, match=message):
            push(server, clean, **options)
    with pytest.raises(PublishError, match=r"connection to the Hub failed \(ConnectError\)"):
        hub.push(clean, "org/tiny", token=server.token, endpoint="http://127.0.0.1:9")
    assert server.repositories == {}
    (clean / "training_args.bin").write_bytes(b"\x80\x04.")
    with pytest.raises(StagingError, match=r"training_args.bin: files of type"):
        push(server, clean)


def test_private_never_becomes_public(server, clean):
    push(server, clean, private=True)
    assert server.repositories["model", "org/tiny"]["private"] is True
    assert push(server, clean)["unchanged"]
    push(server, clean, "org/open")
    (clean / "config.json").write_text("{}")
    with pytest.raises(PublishError, match="exists and is public"):
        push(server, clean, "org/open", private=True)
    assert len(server.commits("org/open")) == 2


def test_a_trusted_publisher_has_a_token_for_each_repository(server, clean, monkeypatch):
    repositories = ["org/tiny", "org/tiny-adapter", "org/sgts"]
    api = huggingface_hub.HfApi(server.url, server.token)
    for name, kind in zip(repositories, ["model", "model", "space"], strict=True):
        api.create_repo(name, repo_type=kind, space_sdk="gradio" if kind == "space" else None)
    monkeypatch.setattr(huggingface_hub.constants, "ENDPOINT", server.url)
    monkeypatch.setenv("HF_OIDC_ID_TOKEN", "who the job is")
    monkeypatch.setenv("HF_OIDC_RESOURCE", "org/tiny")
    for name in repositories[:2]:
        assert push(server, clean, name, token=None)["uploaded"] == len(PUBLISHED)
    assert list(server.publishers.values()) == repositories[:2]
    (clean / "app.py").write_text("")
    (clean / "model.safetensors").unlink()  # which no metric has
    push(server, clean, "org/sgts", repo_type="space", token=None)
    assert list(server.publishers.values())[-1] == "spaces/org/sgts"
