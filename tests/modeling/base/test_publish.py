"""Staging and publishing: what is refused, what is sent, and what happens when something goes wrong on the way."""

import json
import os
import pickle
import re
import shutil
import struct
import subprocess
import sys
import time
import zipfile
import zlib
from pathlib import Path

import huggingface_hub
import numpy as np
import pyarrow as pa
import pyarrow.parquet as pq
import pytest
from safetensors.numpy import load_file, save_file

from dataset_scripts.base import scan as scanning
from modeling.base import publish as hub
from tests.hub_server import HubServer

ROOT = Path(__file__).resolve().parents[2]
CARD = "---\nlicense: apache-2.0\n---\n# {{repo_id}}\n\nIts adapter is {{adapter_repo_id}}.\n"
SENTENCE = "School uniforms make mornings easier for every parent."


@pytest.fixture
def model(tmp_path):
    """A folder as training leaves it: what is to be published, and the usual leftovers."""
    folder = tmp_path / "run" / "merged"
    (folder / "1_Pooling").mkdir(parents=True)
    (folder / "README.md").write_text(CARD)
    (folder / "config.json").write_text('{"hidden_size": 32}')
    (folder / "1_Pooling" / "config.json").write_text('{"pooling_mode": "mean"}')
    (folder / "vocab.txt").write_text("[PAD]\nschool\nuniforms\nmake\nmornings\neasier\nfor\nevery\nparent\n")
    save_file({"weight": np.arange(600, dtype=np.float32)}, folder / "model.safetensors", metadata={"format": "pt"})
    (folder / "training_args.bin").write_bytes(pickle.dumps({"hub_token": "secret"}))
    (folder / "checkpoint-10").mkdir()
    (folder / "checkpoint-10" / "optimizer.pt").write_bytes(b"\x80\x04.")
    (folder / "eval").mkdir()
    (folder / "eval" / "similarity_evaluation_test_results.csv").write_text("epoch,cosine\n1,0.9\n")
    (folder / ".DS_Store").write_bytes(b"\0")
    return folder


@pytest.fixture(scope="session")
def trained(tiny_base, tmp_path_factory):
    """A run that trained an adapter: its folder, with all that is published."""
    import torch

    from modeling.base.adapters import add_lora, load_adapter, save_adapter, save_merged
    from modeling.base.models import load_backbone, resolve

    folder, backbone = tmp_path_factory.mktemp("trained") / "run", resolve(str(tiny_base), "org/base")
    model = load_backbone(backbone)
    add_lora(model, rank=2)
    torch.manual_seed(0)
    with torch.no_grad():
        for name, parameter in model.named_parameters():
            if "lora_B" in name:
                parameter.normal_(std=0.5)
    save_adapter(model, folder / "adapter", backbone)
    save_merged(load_adapter(folder / "adapter", backbone), folder / "merged", backbone)
    (folder / "merged" / "README.md").write_text(CARD)
    (folder / "adapter" / "README.md").write_text("# {{adapter_repo_id}}, merged: {{repo_id}}\n")
    (folder / "recipe.json").write_text(json.dumps({"base": str(tiny_base), "base_id": "org/base"}))
    return folder


@pytest.fixture
def run_dir(trained, tmp_path):
    return Path(shutil.copytree(trained, tmp_path / "trained"))


PUBLISHED = ["1_Pooling/config.json", "README.md", "config.json", "model.safetensors", "vocab.txt"]


@pytest.fixture
def clean(model, tmp_path):
    """The same folder, staged."""
    names = {"repo_id": "org/tiny", "adapter_repo_id": "org/tiny-adapter"}
    return hub.stage(model, tmp_path / "clean", "model", placeholders=names)["folder"]


@pytest.fixture
def server(monkeypatch, tmp_path):
    with HubServer() as running:
        running.prepare_this_process(monkeypatch, tmp_path / "home")
        yield running


def push(server, folder, repo_id="org/tiny", **options):
    return hub.push(folder, repo_id, endpoint=server.url, **{"token": server.token, **options})


# What may be published


def test_staging_copies_what_is_published_and_names_what_it_left_out(model, tmp_path):
    summary = hub.stage(model, tmp_path / "clean", "model", placeholders={"repo_id": "a/b", "adapter_repo_id": "a/c"})
    assert summary["files"] == PUBLISHED
    left_out = [".DS_Store", "checkpoint-10", "eval/similarity_evaluation_test_results.csv", "training_args.bin"]
    assert summary["skipped"] == left_out
    assert (summary["folder"] / "README.md").read_text().endswith("# a/b\n\nIts adapter is a/c.\n")
    assert (model / "README.md").read_text() == CARD
    weights = [(folder / "model.safetensors").read_bytes() for folder in (model, summary["folder"])]
    assert weights[0] == weights[1]
    assert sorted(p.name for p in tmp_path.iterdir()) == ["clean", "run"]


def png_with_text(text: str) -> bytes:
    def chunk(kind: bytes, data: bytes) -> bytes:
        return struct.pack(">I", len(data)) + kind + data + struct.pack(">I", zlib.crc32(kind + data))

    return b"\x89PNG\r\n\x1a\n" + chunk(b"tEXt", b"Source\0" + text.encode()) + chunk(b"IEND", b"")


def torch_archive(path: Path) -> None:
    with zipfile.ZipFile(path, "w") as archive:
        archive.writestr("archive/data.pkl", b"\x80\x02.")


def truncated(path: Path) -> None:
    save_file({"weight": np.zeros(100, dtype=np.float32)}, path)
    path.write_bytes(path.read_bytes()[:-1])


def link(path: Path) -> None:
    path.symlink_to("config.json")


HF, GITHUB, AWS = "hf_" + "aB3" * 11 + "x", "ghp_" + "a1B2" * 9, "AKIA" + "ABCD1234EFGH5678"
# file, its content (or what writes it), and what the finding must say
BAD = [
    ("pytorch_model.bin", b"weights", "type '.bin' are not published"),
    ("LICENSE", b"Apache", "type 'LICENSE' are not published"),
    ("model.py", b"import os\n", "type '.py' are not published"),
    ("rows.parquet", b"PAR1", "type '.parquet' are not published"),
    ("deep/er/notes.csv", b"a,b\n", "type '.csv' are not published"),
    ("weights.json", pickle.dumps({"a": 1}, protocol=4), "a pickle"),
    ("weights.txt", pickle.dumps({"a": [1, "b"]}, protocol=0), "a pickle"),
    ("more.safetensors", pickle.dumps([0] * 50, protocol=2), "a pickle"),
    ("other.safetensors", torch_archive, "a pickle"),
    ("picture.png", pickle.dumps([1], protocol=5), "a pickle"),
    ("short.safetensors", b"\xff" * 40, "not what .safetensors says"),
    ("broken.json", b'{"a": ', "not what .json says"),
    ("cut.safetensors", truncated, "bytes where its header announces 472"),
    ("offsets.safetensors", b"\x0a" + b"\0" * 7 + b'{"a": [1]}', "header announces None"),
    ("latin.txt", "café".encode("latin-1"), "not what .txt says"),
    ("link.json", link, "a symbolic link"),
    ("notes.md", f"token = {HF}".encode(), "holds a Hugging Face token"),
    ("a.yaml", f"key: {GITHUB}".encode(), "holds a GitHub token"),
    ("a.json", json.dumps({"id": AWS}).encode(), "holds an AWS key"),
    ("b.yaml", b"WANDB_API_KEY: " + b"0123456789abcdef0123" * 2, "holds a Weights & Biases key"),
    ("key.txt", b"-----BEGIN OPENSSH PRIVATE KEY-----\n", "holds a private key"),
    ("plot.png", png_with_text(HF), "holds a Hugging Face token"),
    ("adapter_config.json", b'{"base_model_name_or_path": "/home/anna/models/base"}', "path of this machine (/home/a"),
    ("mac.md", b"see /Users/anna/x", "path of this machine (/Users/a"),
    ("root.txt", b"file:///root/x", "path of this machine (/root"),
    ("tmp.yaml", b"cache: '/tmp/abc'", "path of this machine (/tmp/"),
    ("windows.json", json.dumps({"p": "C:\\Users\\Anna"}).encode(), "path of this machine (C:\\\\Users"),
    ("here.md", f"run in {os.getcwd()}/runs".encode(), "path of this machine"),
    ("left.md", b"no matter", None),
    ("escaped.json", json.dumps({"text": "SCHOOL  uniforms\nmake mornings easier"}).encode(), None),
    ("quoted.md", b"<code>school uniforms MAKE mornings easier, for every parent</code>", "holds 1 training text"),
    ("lines.json", json.dumps({"t": SENTENCE.replace(" ", "\n")}).encode(), "holds 1 training text"),
    ("accents.json", json.dumps({"t": "Wer früh übt, wird später Meister!"}).encode(), "holds 1 training text"),
]


@pytest.mark.parametrize(("name", "content", "expected"), BAD, ids=[case[0] for case in BAD])
def test_scan_finds(clean, name, content, expected):
    (clean / name).parent.mkdir(parents=True, exist_ok=True)
    content(clean / name) if callable(content) else (clean / name).write_bytes(content)
    forbidden = [
        SENTENCE,
        "wer früh übt wird später meister",
        "Make mornings easier",
        "a text that stands nowhere here",
    ]
    findings = [finding for finding in hub.scan(clean, "model", forbidden) if finding.file == name]
    assert any(expected in finding.problem for finding in findings) if expected else findings == []
    assert not any(secret in str(finding) for finding in findings for secret in (HF, GITHUB, AWS))


def test_a_clean_folder_has_no_findings_and_addresses_are_no_paths(clean):
    text = "https://example.org/home/anna and https://example.org/tmp/x and ~/tmp/ and docs/tmp/x, hf_hub_download(...)"
    (clean / "README.md").write_text(f"{text}, https://example.org/srv/data and /srv/database")
    assert "school\nuniforms\nmake\nmornings\n" in (clean / "vocab.txt").read_text()  # words in a row, no sentence
    assert hub.scan(clean, "model", [SENTENCE], local_roots=["/srv/data"]) == []


def test_the_folders_own_places_are_found_wherever_they_lie(model, clean, monkeypatch):
    monkeypatch.setattr(scanning, "_LOCAL_PATH", "(?!)")  # else the temporary directory alone would explain it
    for place in (model, clean, Path.cwd(), Path.home(), "/srv/data"):
        (clean / "notes.md").write_text(f"weights:{place}/x")
        found = [finding.problem for finding in hub.scan(clean, "model", local_roots=[model, "/srv/data"])]
        assert found == [f"names a path of this machine ({place}...)"]
    (model / "config.json").write_text(json.dumps({"path": str(model)}))
    with pytest.raises(hub.StagingError, match=r"config\.json: names a path"):
        hub.stage(model, clean.parent / "other", "model", placeholders={"repo_id": "a/b", "adapter_repo_id": "a/c"})


def test_what_a_kind_allows(clean, tmp_path):
    rows = tmp_path / "data"
    rows.mkdir()
    (rows / "README.md").write_text("# rows")
    pq.write_table(pa.table({"text": [SENTENCE]}), rows / "train.parquet")
    assert hub.scan(rows, "dataset", [SENTENCE]) == []
    assert [f.file for f in hub.scan(clean, "dataset")] == ["model.safetensors"]
    (rows / "train.parquet").rename(rows / "train.py")
    assert [f.problem[:5] for f in hub.scan(rows, "metric")] == ["the c"]
    with pytest.raises(ValueError, match="unknown kind 'space'; choose one of model, dataset, metric"):
        hub.scan(rows, "space")


def test_staging_error_lists_everything_and_leaves_nothing(model, tmp_path):
    (model / "pytorch_model.bin").write_bytes(b"x")
    (model / "notes.md").write_text(f"{SENTENCE} {model}/x")
    link(model / "link.txt")
    with pytest.raises(hub.StagingError) as caught:
        hub.stage(model, tmp_path / "clean", "model", [SENTENCE])
    found = {(finding.file, finding.problem[:12]) for finding in caught.value.findings}
    # README.md: the names were not given, so the placeholders are still there
    expected = {("pytorch_model.bin", "files of typ"), ("link.txt", "a symbolic l"), ("README.md", "still holds ")}
    assert found == expected | {("notes.md", "names a path"), ("notes.md", "holds 1 trai")}
    assert all(f"- {f.file}: {f.problem}. {f.cure}" in str(caught.value) for f in caught.value.findings)
    assert sorted(p.name for p in tmp_path.iterdir()) == ["run"]


def test_staging_does_not_overwrite_unless_asked(model, clean):
    names = {"repo_id": "a/b", "adapter_repo_id": "a/c"}
    with pytest.raises(FileExistsError, match="delete it"):
        hub.stage(model, clean, "model", placeholders=names)
    (model / "config.json").write_text("[broken")
    with pytest.raises(hub.StagingError):
        hub.stage(model, clean, "model", placeholders=names, replace=True)
    assert json.loads((clean / "config.json").read_text()) == {"hidden_size": 32}
    (model / "config.json").write_text("{}")
    hub.stage(model, clean, "model", placeholders=names, replace=True)
    assert (clean / "config.json").read_text() == "{}"


def test_a_folder_without_card_is_refused(clean):
    (clean / "README.md").unlink()
    assert [finding.file for finding in hub.scan(clean, "model")] == ["README.md"]


def test_many_forbidden_texts_are_fast(clean):
    (clean / "tokenizer.json").write_text(json.dumps({f"word{i}": i for i in range(30_000)}))
    (clean / "notes.md").write_text("text 123456 of the training data, in the middle of a line")
    texts = [f"Text {i} of the training data" for i in range(300_000)]
    start = time.perf_counter()
    findings = hub.scan(clean, "model", texts)
    assert time.perf_counter() - start < 15
    assert [finding.problem for finding in findings] == [
        "holds 1 training text(s), the first begins 'text 123456 of the training ...'"
    ]


# Publishing


def test_one_commit_small_files_regular_weights_by_lfs(server, clean):
    result = push(server, clean)
    first, published = server.commits("org/tiny")
    assert (first["title"], published["title"]) == ("initial commit", "Publish")
    assert result == {
        "repo_id": "org/tiny",
        "url": f"{server.url}/org/tiny",
        "commit": published["oid"],
        "uploaded": 5,
        "unchanged": False,
    }
    assert sorted(published["files"]) == [".gitattributes", *PUBLISHED]
    assert [name for name, entry in published["files"].items() if entry["lfs"]] == ["model.safetensors"]
    for name in PUBLISHED:
        assert server.read("org/tiny", name) == (clean / name).read_bytes()
    assert server.unknown == []


def test_publishing_again_changes_nothing_and_a_change_is_one_commit(server, clean):
    first = push(server, clean)
    again = push(server, clean)
    assert (again["commit"], again["uploaded"], again["unchanged"]) == (first["commit"], 0, True)
    assert len(server.commits("org/tiny")) == 2
    (clean / "config.json").write_text('{"hidden_size": 64}')
    shutil.rmtree(clean / "1_Pooling")
    server.requests.clear()
    third = push(server, clean, message="Second version")
    assert (third["uploaded"], third["unchanged"]) == (1, False)
    assert [commit["title"] for commit in server.commits("org/tiny")] == ["initial commit", "Publish", "Second version"]
    assert sorted(server.files("org/tiny")) == [".gitattributes", "README.md", *PUBLISHED[2:]]
    assert sorted(server.files("org/tiny", revision=first["commit"])) == [".gitattributes", *PUBLISHED]
    assert not any(request.startswith("PUT") for request in server.requests)


@pytest.mark.parametrize(
    ("fault", "commits"),
    [
        ({"n": 6, "on": "^PUT /lfs/"}, 1),  # the client tries six times
        ({"n": 6, "on": "^PUT /lfs/", "status": 503}, 1),
        ({"n": 1, "on": "/commit/"}, 1),
        ({"n": 1, "on": "/commit/", "late": True}, 2),  # the commit is there, its answer got lost
        ({"n": 1, "on": "/repos/create", "status": 500}, None),
        ({"n": 99, "on": "^GET .*/resolve/.*safetensors"}, 2),
    ],
    ids=["upload dropped", "upload refused", "before the commit", "after the commit", "at the start", "read back"],
)
def test_an_interrupted_push_can_be_repeated(server, clean, fault, commits):
    server.fail_next(**fault)
    with pytest.raises(hub.PublishError, match=r"connection to the Hub failed.*run the same command again"):
        push(server, clean)
    assert commits is None or len(server.commits("org/tiny")) == commits
    server._faults.clear()
    server.requests.clear()
    result = push(server, clean)
    assert result["unchanged"] == (commits == 2)
    assert len(server.commits("org/tiny")) == 2
    assert server.read("org/tiny", "model.safetensors") == (clean / "model.safetensors").read_bytes()
    uploads = [request for request in server.requests if request.startswith("PUT")]
    already_there = fault["on"] in ("/commit/", "^GET .*/resolve/.*safetensors")
    assert len(uploads) == (0 if already_there else 1)


def test_one_lost_connection_is_not_even_noticed(server, clean):
    server.fail_next(1, on="^PUT /lfs/")
    assert push(server, clean)["uploaded"] == 5
    assert sum(request.startswith("PUT") for request in server.requests) == 2


@pytest.mark.parametrize("name", ["model.safetensors", "vocab.txt"])
def test_a_corrupted_download_is_noticed(server, clean, name):
    push(server, clean)
    server.corrupt("org/tiny", name)
    with pytest.raises(hub.PublishError, match=rf"these files differ: {re.escape(name)}; run the same"):
        push(server, clean)


def test_a_commit_of_somebody_else_is_not_overwritten(server, clean, monkeypatch):
    push(server, clean)
    (clean / "config.json").write_text("{}")
    check = huggingface_hub.HfApi.verify_repo_checksums

    def check_and_be_overtaken(api, *arguments, **options):
        difference = check(api, *arguments, **options)
        theirs = huggingface_hub.HfApi(endpoint=server.url, token=server.token)
        theirs.upload_file(path_or_fileobj=b"theirs", path_in_repo="config.json", repo_id="org/tiny")
        return difference

    with monkeypatch.context() as patch:
        patch.setattr(huggingface_hub.HfApi, "verify_repo_checksums", check_and_be_overtaken)
        with pytest.raises(hub.PublishError, match="somebody else changed org/tiny"):
            push(server, clean)
    assert server.read("org/tiny", "config.json") == b"theirs"
    assert push(server, clean)["uploaded"] == 1


def test_clear_errors(server, clean, monkeypatch):
    with pytest.raises(hub.PublishError, match=r"no token.*`hf auth login`, or set HF_TOKEN"):
        push(server, clean, token=None)
    with pytest.raises(hub.PublishError, match="does not accept the token"):
        push(server, clean, token="hf_" + "x" * 34)
    with pytest.raises(hub.PublishError, match="may not write to org/tiny"):
        push(server, clean, token=server.read_token)
    with pytest.raises(hub.PublishError, match="may not write to elsewhere/tiny"):
        push(server, clean, "elsewhere/tiny")
    for name in ("tiny", "org/ti ny", "org/tiny/more", "org/--", "org/x.git"):
        with pytest.raises(ValueError, match=re.escape(name)):
            push(server, clean, name)
    with pytest.raises(ValueError, match="unknown repo_type"):
        push(server, clean, repo_type="metric")
    assert server.repositories == {}
    (clean / "README.md").write_text("---\ntags: [a\n---\n")
    with pytest.raises(hub.PublishError, match=r"Invalid metadata in README\.md"):
        push(server, clean)
    (clean / "training_args.bin").write_bytes(b"\x80\x04.")
    with pytest.raises(hub.StagingError, match=r"training_args.bin: a pickle"):
        push(server, clean)
    (clean / "training_args.bin").unlink()
    monkeypatch.setattr("huggingface_hub.constants.HF_HUB_OFFLINE", True)
    with pytest.raises(hub.PublishError, match="HF_HUB_OFFLINE is set"):
        push(server, clean)


def test_nobody_listens(clean, server):
    with pytest.raises(hub.PublishError, match=r"connection to the Hub failed \(ConnectError\)"):
        hub.push(clean, "org/tiny", token=server.token, endpoint="http://127.0.0.1:9")


def test_private_never_becomes_public(server, clean):
    push(server, clean, private=True)
    assert server.repositories["model", "org/tiny"]["private"] is True
    assert push(server, clean)["unchanged"]
    push(server, clean, "org/open")
    (clean / "config.json").write_text("{}")
    with pytest.raises(hub.PublishError, match="exists and is public"):
        push(server, clean, "org/open", private=True)
    assert len(server.commits("org/open")) == 2


def test_the_token_is_written_nowhere(server, run_dir, tmp_path, caplog, capfd):
    caplog.set_level("DEBUG")
    hub.publish_run(run_dir, "org/tiny", token=server.token, endpoint=server.url)
    token = server.token.encode()
    written = [path for root in (server.root, tmp_path) for path in root.rglob("*") if path.is_file()]
    assert len(written) > 10
    assert not [path for path in written if token in path.read_bytes()]
    assert server.token not in caplog.text + "".join(capfd.readouterr())


def test_publish_run_sends_model_and_adapter(server, run_dir):
    adapter = run_dir / "adapter"
    options = {"token": server.token, "endpoint": server.url}
    sizes = [sum(path.is_file() for path in (run_dir / part).rglob("*")) for part in ("merged", "adapter")]
    dry = hub.publish_run(run_dir, "org/tiny", dry_run=True)
    assert [(d["repo_id"], len(d["files"])) for d in dry] == [("org/tiny", sizes[0]), ("org/tiny-adapter", 4)]
    assert server.requests == []
    (adapter / "notes.txt").write_text(SENTENCE)
    with pytest.raises(hub.StagingError, match=r"notes.txt: holds 1 training text"):
        hub.publish_run(run_dir, "org/tiny", forbidden_texts=iter([SENTENCE]), **options)
    assert server.requests == []  # one bad part, and none is sent
    (adapter / "notes.txt").unlink()
    results = hub.publish_run(run_dir, "org/tiny", **options)
    assert [(r["repo_id"], r["uploaded"]) for r in results] == [("org/tiny", sizes[0]), ("org/tiny-adapter", 4)]
    assert server.read("org/tiny-adapter", "README.md") == b"# org/tiny-adapter, merged: org/tiny\n"
    assert server.read("org/tiny", "README.md").endswith(b"# org/tiny\n\nIts adapter is org/tiny-adapter.\n")
    assert all(r["unchanged"] for r in hub.publish_run(run_dir, "org/tiny", **options))
    with pytest.raises(ValueError, match="no merged/ folder"):
        hub.publish_run(adapter, "org/tiny")


def test_metric_and_dataset_need_their_files(tmp_path):
    with pytest.raises(ValueError, match=r"no sgts\.py"):
        hub.publish_metric(tmp_path, "org/sgts")
    with pytest.raises(ValueError, match="no Parquet file"):
        hub.publish_dataset(tmp_path, "org/rows")


def spoil(path: Path, change) -> None:
    """Changes one tensor of a file of weights."""
    weights = load_file(path)
    name = next(name for name in sorted(weights) if "value" in name and "bias" not in name)
    weights[name] = change(weights[name])
    save_file(weights, path, metadata={"format": "pt"})


# part of the run, what happens to its weights, and what the error must say
BROKEN = [
    ("merged", lambda path: path.write_bytes(path.read_bytes()[:-64]), r"model\.safetensors: damaged: \d+ bytes where"),
    ("merged", lambda path: spoil(path, lambda tensor: tensor * np.nan), "NaN or infinite weights"),
    ("merged", lambda path: spoil(path, lambda tensor: -20 * tensor), "does not reproduce the trained one"),
    ("adapter", lambda path: path.write_bytes(path.read_bytes()[:-64]), r"adapter_model\.safetensors: damaged: "),
    ("adapter", lambda path: spoil(path, lambda tensor: tensor * np.nan), "NaN or infinite weights"),
    ("adapter", lambda path: spoil(path, lambda tensor: tensor * 2 + 1), "does not reproduce the trained model"),
]


@pytest.mark.parametrize(("part", "damage", "message"), BROKEN)
def test_damaged_weights_are_not_sent(server, run_dir, part, damage, message):
    damage(next((run_dir / part).glob("*.safetensors")))
    with pytest.raises(ValueError, match=message):
        hub.publish_run(run_dir, "org/tiny", token=server.token, endpoint=server.url)
    assert server.requests == []


def test_an_adapter_without_its_base_is_read_all_the_same(server, run_dir):
    (run_dir / "recipe.json").write_text(json.dumps({"base": "org/base", "base_id": None}))  # not in the cache
    assert len(hub.publish_run(run_dir, "org/tiny", dry_run=True)) == 2
    spoil(run_dir / "adapter" / "adapter_model.safetensors", lambda tensor: tensor * np.inf)
    with pytest.raises(ValueError, match="NaN or infinite weights"):
        hub.publish_run(run_dir, "org/tiny", dry_run=True)
    assert server.requests == []


def test_readiness_is_checked_without_the_network(server, monkeypatch):
    with pytest.raises(ValueError, match="'tiny' has no owner: write owner/name"):
        hub.check_ready("tiny", server.token)
    with pytest.raises(hub.PublishError, match="no token for the Hub"):
        hub.check_ready("org/tiny")
    assert hub.check_ready("org/tiny", server.token) == server.token
    monkeypatch.setenv("HF_TOKEN", "hf_other")
    assert hub.check_ready("org/tiny") == "hf_other"
    monkeypatch.setattr("huggingface_hub.constants.HF_HUB_OFFLINE", True)
    with pytest.raises(hub.PublishError, match="HF_HUB_OFFLINE is set"):
        hub.check_ready("org/tiny", server.token)
    assert server.requests == []


def test_vocabularies_of_tokenizers_are_published_by_name(clean):
    (clean / "bpe.codes").write_text("#version: 0.2\nt h 1024\nth e</w> 512\n")
    pieces = b"\n\x0e\n\x05<unk>\x15\0\0\0\0\x18\x02\n\t\n\x04\xe2\x96\x81e\x15\0\0\0\xc0"
    for name in ("sentencepiece.bpe.model", "spiece.model"):
        (clean / name).write_bytes(pieces)
    assert hub.scan(clean, "model") == []
    (clean / "other.model").write_bytes(pieces)
    assert [(f.file, f.problem) for f in hub.scan(clean, "model")] == [
        ("other.model", "files of type '.model' are not published")
    ]
    (clean / "other.model").unlink()
    for name in ("sentencepiece.bpe.model", "spiece.model", "bpe.codes"):
        (clean / name).write_bytes(pickle.dumps({"a": 1}, protocol=4))
    found = [f.file for f in hub.scan(clean, "model") if f.problem.startswith("a pickle")]
    assert found == ["bpe.codes", "sentencepiece.bpe.model", "spiece.model"]
    (clean / "spiece.model").write_bytes(pieces + HF.encode())
    assert "holds a Hugging Face token" in [f.problem for f in hub.scan(clean, "model") if f.file == "spiece.model"]
    assert "spiece.model" in {f.file for f in hub.scan(clean, "dataset")}


def test_command_line(run_dir, server, tmp_path):
    def run(*arguments, **environment):
        # -X importtime names every module: the help must not load the client, let alone torch
        command = [sys.executable, "-X", "importtime", "-m", "modeling.base.publish", *map(str, arguments)]
        env = {**os.environ, **server.environment(tmp_path / "home"), **environment}
        return subprocess.run(command, cwd=ROOT, env=env, capture_output=True, text=True, check=False)

    helped = run("--help")
    assert helped.returncode == 0 and "{model,dataset,metric}" in helped.stdout
    assert not re.search(r"\| +(huggingface_hub|torch|numpy)\b", helped.stderr)
    shutil.rmtree(run_dir / "adapter")
    (run_dir / "merged" / "training_args.bin").write_bytes(b"\x80\x04.")
    dry = run("model", run_dir, "org/tiny", "--dry_run")
    assert dry.stdout.startswith(
        "org/tiny: would send 1_Pooling/config.json, 2_Normalize/config.json, README.md, config.json, "
    )
    assert dry.stdout.endswith("; skipped: training_args.bin\n")
    assert server.requests == []
    count = len(dry.stdout.split("; skipped")[0].split(", "))
    sent = run("model", run_dir, "org/tiny", "--private")
    commit = server.commits("org/tiny")[-1]["oid"]
    assert sent.stdout == f"{server.url}/org/tiny: {count} files sent, commit {commit}\n"
    assert server.repositories["model", "org/tiny"]["private"] is True
    texts = tmp_path / "texts.txt"
    texts.write_text("its adapter is: org/tiny-adapter\n")
    refused = run("model", run_dir, "org/tiny", "--forbidden_texts", texts)
    assert refused.returncode == 1
    assert "- README.md: holds 1 training text(s)" in refused.stderr
    assert "Traceback" not in refused.stderr
