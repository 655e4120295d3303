"""What must not be published is found, in whatever file and form it lies."""

import json
import os
import pickle
import struct
import zlib
from pathlib import Path

import numpy as np
import onnx
import pyarrow as pa
import pyarrow.parquet as pq
import pytest
from onnx import TensorProto, helper
from PIL import Image, PngImagePlugin
from safetensors.numpy import save_file

from dataset_scripts.base import scan as scanning
from dataset_scripts.base.scan import scan

SENTENCE = "School uniforms make mornings easier for every parent."
FORBIDDEN = [SENTENCE, "wer früh übt wird später meister", "Make mornings easier", "a text that stands nowhere here"]
# put together here, so that no scanner of sources takes them for real
HF = "hf_" + "aB3" * 11 + "x"
GITHUB = "ghp_" + "a1B2" * 9
AWS = "AKIA" + "ABCD1234EFGH5678"
AWS_SECRET = "aws_secret_access_key = " + "wJalrXUtnFEMI/K7MDENG/bPxRfiCY" + "0123456789"
JWT = "eyJhbGciOiJIUzI1NiJ9" + ".eyJzdWIiOiIxIn0." + "dozjgNryP4J3jVmNHl0w5N_XgL0n3I9PlFUP0THsR8U"
OTHERS = ["api_org_" + "aB3" * 11, "glpat-" + "a1B2" * 5, "npm_" + "a1B2" * 9, "pypi-AgEIcHlwaS5vcmc" + "a1B2" * 15]
SECRETS = [*OTHERS, HF, GITHUB, AWS, AWS_SECRET, JWT, "hunter2secret"]


@pytest.fixture
def folder(tmp_path):
    """A folder as it may be published: card, weights, vocabulary."""
    folder = tmp_path / "model"
    folder.mkdir()
    (folder / "README.md").write_text("# org/tiny\n")
    (folder / "vocab.txt").write_text("[PAD]\nschool\nuniforms\nmake\nmornings\neasier\nfor\nevery\nparent\n")
    save_file({"weight": np.arange(600, dtype=np.float32)}, folder / "model.safetensors", metadata={"format": "pt"})
    return folder


def chunk(kind: bytes, data: bytes) -> bytes:
    return struct.pack(">I", len(data)) + kind + data + struct.pack(">I", zlib.crc32(kind + data))


def png(**texts):
    """Writes a picture with texts, of which those of the key `zip` are compressed and of `after` follow the end."""

    def write(path):
        information = PngImagePlugin.PngInfo()
        for key, text in texts.items():
            information.add_text(key, text, zip=key == "zip")
        Image.new("RGB", (4, 4)).save(path, pnginfo=information)
        path.write_bytes(path.read_bytes() + texts.get("after", "").encode())

    return write


def png_with_two(path):
    png()(path)
    data = path.read_bytes()
    path.write_bytes(data[:33] + chunk(b"tEXt", b"a\0" + HF.encode()) + chunk(b"tEXt", b"a\0no") + data[33:])


def weights(metadata):
    return lambda path: save_file({"w": np.zeros(9, dtype=np.float32)}, path, metadata=metadata)


def header(text: str):
    def write(path):
        text_ = text.encode()
        path.write_bytes(struct.pack("<Q", len(text_)) + text_)

    return write


def cut(path):
    weights(None)(path)
    path.write_bytes(path.read_bytes()[:-1])


def graph(external=False, **said):
    """Writes an ONNX model that adds a vector, with words in its metadata, the names and the notes."""

    def write(path):
        vector = [helper.make_tensor_value_info(name, TensorProto.FLOAT, [2]) for name in "xy"]
        weights = helper.make_tensor("w", TensorProto.FLOAT, [2], np.ones(2, np.float32).tobytes(), raw=True)
        node = helper.make_node("Add", ["x", "w"], ["y"], doc_string=said.get("node", ""))
        model = helper.make_model(helper.make_graph([node], "add", vector[:1], vector[1:], [weights]))
        helper.set_model_props(model, {key: value for key, value in said.items() if key != "node"})
        onnx.save(model, path, save_as_external_data=external, location="w.json", size_threshold=0)

    return write


def network(said="a", size=8):
    """Writes a pair of OpenVINO's files, whose constants are the first eight bytes of `size`."""

    def write(path):
        constant = f'<layer name="{said}" type="Const"><data offset="0" size="8"/></layer>'
        path.with_suffix(".xml").write_text(f'<?xml version="1.0"?><net name="n"><layers>{constant}</layers></net>')
        path.with_suffix(".bin").write_bytes(b"\1" * size)

    return write


PLACES = ("/home/a", "/Users/a", "/mnt/a", "/data/a", "/scratch/a", "/opt/a", "/tmp/a", "/var/tmp/a")
NO_SECRET = "holds a secret"
TWICE = '{"token": "%s", "token": "none"}'
# file, its content (or what writes it), and what the finding must say (None: nothing)
CASES = [
    # types
    ("pytorch_model.bin", b"weights", "type '.bin' are not published"),
    ("weights.json", pickle.dumps({"a": 1}, protocol=4), "not what .json says"),
    ("more.safetensors", pickle.dumps([0] * 50, protocol=2), "not what .safetensors says"),
    ("cut.safetensors", cut, "not what .safetensors says"),
    ("latin.txt", "café".encode("latin-1"), "not what .txt says"),
    ("link.json", lambda path: path.symlink_to("README.md"), "a symbolic link"),
    ("onnx/model.onnx", graph(), None),
    ("onnx/model.onnx", pickle.dumps([0] * 50, protocol=2), "not what .onnx says"),
    ("onnx/model.onnx", graph(external=True), "not what .onnx says (ValueError: its weights lie in another file)"),
    ("model.onnx", graph(), "type '.onnx' are not published"),
    ("openvino/a.xml", network(), None),
    ("openvino/a.bin", network(size=9), "not what .bin says (ValueError: a.xml and a.bin are no pair)"),
    # secrets
    ("onnx/model.onnx", graph(note=HF), NO_SECRET),
    ("openvino/a.xml", network(HF), NO_SECRET),
    ("notes.md", f"token = {HF}".encode(), "secret (Hugging Face token)"),
    (
        "a.yaml",
        f"key: {GITHUB}\nurl: https://anna:hunter2secret@example.org/x".encode(),
        "Basic Auth Credentials, GitHub",
    ),
    ("a.json", json.dumps({"id": AWS, "as": f"Bearer {JWT}"}).encode(), "AWS Access Key, JSON Web Token"),
    ("tokens.md", "\n".join([*OTHERS, AWS_SECRET]).encode(), "AWS secret key, GitLab Token, Hugging Face token, NPM t"),
    ("twice.json", (TWICE % HF).encode(), NO_SECRET),
    ("meta.safetensors", weights({"note": HF}), NO_SECRET),
    ("twice.safetensors", header('{"__metadata__": ' + TWICE % HF + "}"), NO_SECRET),
    ("text.png", png(note=HF), NO_SECRET),
    ("after.png", png(after=HF), NO_SECRET),
    ("twice.png", png_with_two, NO_SECRET),
    (f"{HF}.txt", b"harmless", "its name is a secret"),
    (f"deep/{GITHUB}/a.txt", b"harmless", "its name is a secret"),
    ("spiece.model", b"\n\x0e\n\x05<unk>\x15\0\xc0" + HF.encode(), NO_SECRET),
    ("vocab.json", json.dumps({"hf": 0, "token": 1, "://a:b": 2, "eyJ": 3}).encode(), None),
    # places
    *((f"{place[1:4]}.txt", f"'{place}nna/x'".encode(), f"path of this machine ({place}...)") for place in PLACES),
    ("windows.json", json.dumps({"p": "C:\\Users\\Anna"}).encode(), "path of this machine (C:\\\\Users"),
    ("here.md", f"run in {os.getcwd()}/runs".encode(), "path of this machine"),
    ("onnx/model.onnx", graph(node="from /home/anna/x"), "path of this machine (/home/a"),
    ("address.md", b"https://example.org/home/anna, ~/tmp/, docs/tmp/x, data/train.parquet, hf_hub_download()", None),
    ("left.md", b"# {{repo_id}}", "still holds {{repo_id}}"),
    # texts
    ("escaped.json", json.dumps({"text": "SCHOOL  uniforms\nmake mornings easier"}).encode(), None),
    ("quoted.md", b"<code>school uniforms MAKE mornings easier, for every parent</code>", "holds 1 training text"),
    ("onnx/model.onnx", graph(note=FORBIDDEN[1]), "holds 1 training text"),
    ("accents.json", json.dumps({"t": "Wer früh übt, wird später Meister!"}).encode(), "holds 1 training text"),
]


@pytest.mark.parametrize(("name", "content", "expected"), CASES, ids=[case[0] for case in CASES])
def test_scan_finds(folder, name, content, expected):
    path = folder / name
    path.parent.mkdir(parents=True, exist_ok=True)
    content(path) if callable(content) else path.write_bytes(content)
    findings = scan(folder, "model", FORBIDDEN)
    assert any(expected in finding.problem for finding in findings) if expected else findings == []
    assert not any(secret in str(finding) for finding in findings for secret in SECRETS)


@pytest.mark.parametrize(
    ("columns", "metadata", "expected"),
    [
        ({"text": [SENTENCE, "it lies in /home/anna/x"]}, {}, []),  # a data set consists of its texts
        ({"text": [SENTENCE, f"mine is {HF}"]}, {}, [NO_SECRET]),
        ({"texts": [["fine"], ["also", GITHUB]]}, {}, [NO_SECRET]),
        ({"text": [SENTENCE]}, {"note": HF}, [NO_SECRET]),
        ({"text": [SENTENCE]}, {"from": "/home/anna/x"}, ["names a path of this machine"]),
    ],
)
def test_scan_reads_parquet(tmp_path, columns, metadata, expected):
    (tmp_path / "README.md").write_text("# rows")
    pq.write_table(pa.table(columns).replace_schema_metadata(metadata), tmp_path / "train.parquet")
    findings = scan(tmp_path, "dataset", [SENTENCE])
    assert [finding.problem.partition(" (")[0] for finding in findings] == expected
    assert HF not in str(findings)


def test_the_folders_own_places_are_found_wherever_they_lie(folder, monkeypatch):
    monkeypatch.setattr(scanning, "_LOCAL_PATH", "(?!)")  # else the temporary directory alone would explain it
    for place in (folder, Path.cwd(), Path.home(), "/srv/data"):
        (folder / "notes.md").write_text(f"weights:{place}/x, not /srv/database")
        problems = [finding.problem for finding in scan(folder, "model", local_roots=["/srv/data"])]
        assert problems == [f"names a path of this machine ({place}...)"]
