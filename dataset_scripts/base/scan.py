"""Searches a folder for what must not be published: other types of file, secrets, local paths, training texts.

Every file is opened as what its name says it is, and refused if it is not; so nothing that runs code when it is loaded
passes for weights or text.
"""

import html
import io
import json
import re
import warnings
from collections.abc import Callable, Iterable, Iterator, Mapping
from dataclasses import dataclass
from fnmatch import fnmatch
from pathlib import Path

import pyarrow as pa
import pyarrow.parquet as pq
from detect_secrets.core.plugins.util import get_mapping_from_secret_type_to_class
from PIL import Image
from safetensors import safe_open

_COMMON = frozenset({".json", ".txt", ".md", ".png", ".yaml"})
SUFFIXES = {"model": _COMMON | {".safetensors"}, "dataset": _COMMON | {".parquet"}, "space": _COMMON | {".py"}}
# of tokenizers that have no other form: BERTweet, XLM-R, T5
_VOCABULARIES = {"model": frozenset({"bpe.codes", "sentencepiece.bpe.model", "spiece.model"})}
# folder -> what may lie there alone: what a runtime reads, and the examples and adapters of the page
_PLACED = {
    "model": {"onnx": (".onnx",), "openvino": (".xml", ".bin")},
    "space": {"docs": (".csv",), "model_cards/*": (".safetensors",)},
}
_WORD_LISTS = ("vocab.txt", "bpe.codes", ".model")
_KEY_WORDS, _BEGINNING = 5, 120  # characters, of a text, in which that many words usually are

# of detect-secrets: kinds of a fixed form, as opposed to guesses by entropy or by a word that stands near
_KINDS = {"AWS Access Key", "Azure Storage Account access key", "Basic Auth Credentials", "Discord Bot Token"}
_KINDS |= {"GitHub Token", "GitLab Token", "JSON Web Token", "OpenAI Token", "Private Key", "PyPI Token"}
_KINDS |= {"SendGrid API Key", "Slack Token", "Square OAuth Secret", "Stripe Access Key"}
_DETECTORS = [detector() for kind, detector in get_mapping_from_secret_type_to_class().items() if kind in _KINDS]
# what detect-secrets does not know, or knows in one notation only
_SECRETS = {
    "Hugging Face token": r"\b(?:hf_(?:oauth_)?|api_org_)[A-Za-z0-9]{20,}",
    "GitHub token": r"\bgithub_pat_\w{22,}|\bgh[pousr]_[A-Za-z0-9]{30,}",
    "AWS secret key": r"(?i:aws_?(?:secret|session)\w*)\W{1,6}[A-Za-z0-9/+=]{40}",
    "NPM token": r"\bnpm_[A-Za-z0-9]{36}",
    "PyPI token": r"\bpypi-[A-Za-z0-9_-]{50,}",
    "Weights & Biases key": r"(?i:wandb)[^\n]{0,40}\b[0-9a-f]{40}\b",
    "API key": r"\bsk-[A-Za-z0-9_-]{32,}|\bAIza[0-9A-Za-z_-]{35}",
    "private key": r"-----BEGIN (?:[A-Z0-9]+ )*PRIVATE KEY",
}
_START = r"(?<![\w.~-])"  # of a path, as opposed to the rest of an address
_PLACES = r"/(?:home|Users|mnt|data|scratch|opt|tmp|var/tmp|var/folders)/[\w.-]|/[r]oot\b"
_LOCAL_PATH = rf"{_START}(?:{_PLACES})|\b[A-Za-z]:[\\/]{{1,4}}Users\b"
_REVOKE = "Remove it, and revoke it: others may have seen this folder."
_PLACEHOLDER = r"\{\{(?:adapter_)?repo_id\}\}"


@dataclass(frozen=True)
class Finding:
    """One reason not to publish: the file, what is wrong with it and what to do. It never quotes a secret."""

    file: str
    problem: str
    cure: str

    def __str__(self) -> str:
        return f"{self.file}: {self.problem}. {self.cure}"


def scan(
    folder: str | Path, repo_type: str, forbidden_texts: Iterable[str] = (), local_roots: Iterable[str | Path] = ()
) -> list[Finding]:
    """The reasons why a folder, as it would be uploaded, may not be published; none if it may.

    Args:
        folder: The folder.
        repo_type: "model", "dataset" or "space".
        forbidden_texts: Training texts. None of five words or more may stand in a text file, whatever its case, spacing
            and punctuation there. The rows of Parquet are not compared: a data set consists of its texts.
        local_roots: Paths that must not be named, besides the working directory, the home and the folder itself.
    """
    folder = Path(folder)
    if repo_type not in SUFFIXES:
        raise ValueError(f"unknown type of repository {repo_type!r}; choose one of {', '.join(SUFFIXES)}")
    if not folder.is_dir():
        raise ValueError(f"{folder} is not a folder")
    roots = {str(Path(root).resolve()) for root in (Path.cwd(), Path.home(), folder, *local_roots)} - {"/"}
    local_path = "|".join([_LOCAL_PATH, *(rf"{_START}{re.escape(root)}(?![\w.-])" for root in sorted(roots))])
    findings, texts = [], {}
    for path in (path for path in sorted(folder.rglob("*")) if path.is_symlink() or not path.is_dir()):
        name, kind = path.relative_to(folder).as_posix(), path.suffix or path.name
        placed = [kinds for place, kinds in _PLACED.get(repo_type, {}).items() if fnmatch(Path(name).parent, place)]
        suffixes = SUFFIXES[repo_type].union(*placed)
        if secrets := _secrets(name):
            findings.append(Finding(f"{name[:6]}...", f"its name is a secret ({', '.join(sorted(secrets))})", _REVOKE))
        if path.is_symlink():
            findings.append(Finding(name, "a symbolic link", "Put the file itself there or delete the link."))
        elif path.suffix not in suffixes and path.name not in _VOCABULARIES.get(repo_type, ()):
            cure = f"Delete it, or use one of {', '.join(sorted(SUFFIXES[repo_type]))}."
            findings.append(Finding(name, f"files of type {kind!r} are not published", cure))
        else:
            try:
                texts[name] = _READERS.get(path.suffix, _text)(path)
                rows = parquet_texts(path) if path.suffix == ".parquet" else ()
                secrets = _secrets(texts[name]).union(*(_secrets("\n".join(column)) for column in rows))
            except Exception as error:  # which one depends on the library that opens it
                reason = f"{type(error).__name__}: {str(error).partition(chr(10))[0][:100]}"
                cure = "Write the file again with the library of its type."
                findings.append(Finding(name, f"the content is not what {kind} says ({reason})", cure))
                continue
            if secrets:
                findings.append(Finding(name, f"holds a secret ({', '.join(sorted(secrets))})", _REVOKE))
            if place := re.search(local_path, texts[name]):
                cure = "Write the repository's name or a relative path."
                findings.append(Finding(name, f"names a path of this machine ({place[0]}...)", cure))
            if path.suffix != ".py" and (placeholder := re.search(_PLACEHOLDER, texts[name])):
                cure = "Publish it by `opinion publish`, which knows the repository's name."
                findings.append(Finding(name, f"still holds {placeholder[0]}", cure))
    if not (folder / "README.md").is_file():
        findings.append(Finding("README.md", "there is no card", "Write one: the Hub and its readers expect it."))
    return findings + list(_forbidden(texts, forbidden_texts))


def _text(path: Path) -> str:
    # sentencepiece's vocabularies are a binary message with texts in it
    return path.read_bytes().decode(errors="replace" if path.suffix == ".model" else "strict")


def _pairs(text: str) -> str:
    """JSON without its escapes, else an accented text would not be recognised; with every value of a repeated key."""
    return json.dumps(json.loads(text, object_pairs_hook=list), ensure_ascii=False)


def _safetensors(path: Path) -> str:
    with safe_open(path, "np"), path.open("rb") as file:  # which compares the header with the size of the file
        return _pairs(file.read(int.from_bytes(file.read(8), "little")).decode())


def _png(path: Path) -> str:
    data = path.read_bytes()
    with warnings.catch_warnings(), Image.open(io.BytesIO(data), formats=["PNG"]) as image:
        warnings.simplefilter("error")  # of a bomb
        image.load()
        texts = [*map(str, image.info.values()), *map(str, image.getexif().values())]
    # besides what is known of the chunks all that is no pixel, for a chunk may occur twice and data follow the end
    return "\n".join([*texts, (data.partition(b"IDAT")[0] + data.rpartition(b"IEND")[2]).decode("latin-1")])


def _parquet(path: Path) -> str:
    schema = pq.read_schema(path)
    metadata = {key.decode(): value.decode(errors="replace") for key, value in (schema.metadata or {}).items()}
    return "\n".join([*schema.names, *metadata, *metadata.values()])


def _onnx(path: Path) -> str:
    import onnx
    from google.protobuf import text_format

    onnx.checker.check_model(str(path))
    model = onnx.load(path, load_external_data=False)
    for tensor in model.graph.initializer:
        tensor.ClearField("raw_data")
    if "external_data {" in (text := text_format.MessageToString(model, as_utf8=True)):
        raise ValueError("its weights lie in another file")
    return text


def _openvino(path: Path) -> str:
    """The graph of a pair of files; its constants have to fill the other file."""
    from defusedxml.ElementTree import parse

    graph, weights = path.with_suffix(".xml"), path.with_suffix(".bin")
    root = parse(graph).getroot()
    ends = [int(data.get("offset")) + int(data.get("size")) for data in root.iterfind(".//data[@offset]")]
    if root.tag != "net" or max(ends, default=0) != weights.stat().st_size:
        raise ValueError(f"{graph.name} and {weights.name} are no pair")
    return _text(graph) if path == graph else ""


_READERS: dict[str, Callable[[Path], str]] = {
    ".json": lambda path: _pairs(path.read_text(encoding="utf-8")),
    ".safetensors": _safetensors,
    ".png": _png,
    ".parquet": _parquet,
    ".onnx": _onnx,
    ".xml": _openvino,
    ".bin": _openvino,
}


def parquet_texts(path: Path) -> Iterator[list[str]]:
    """The texts of a Parquet file, some thousands at a time; see `column_texts`."""
    with pq.ParquetFile(path) as file:
        for batch in file.iter_batches(batch_size=65_536):
            yield from column_texts(batch)


def column_texts(batch: pa.RecordBatch) -> Iterator[list[str]]:
    """The different texts of each column that has such, or lists of such."""
    for column in batch.columns:
        while pa.types.is_list(column.type) or pa.types.is_large_list(column.type):
            column = column.flatten()
        if pa.types.is_string(column.type) or pa.types.is_large_string(column.type):
            yield [text for text in column.unique().to_pylist() if text]  # pairs repeat their texts


def _secrets(text: str) -> set[str]:
    """Kinds of secrets that a text holds."""
    kinds = {kind for kind, pattern in _SECRETS.items() if re.search(pattern, text)}
    return kinds | {each.secret_type for each in _DETECTORS if next(iter(each.analyze_string(text)), None)}


def _words(text: str) -> list[str]:
    return re.findall(r"\w+", re.sub(r"\\[nrt]", " ", html.unescape(text)).casefold())


def _forbidden(texts: Mapping[str, str], forbidden_texts: Iterable[str]) -> Iterator[Finding]:
    """Compares a sentence with the files only where its first words occur: there are many sentences, few files."""
    # A vocabulary lists words in the order of the corpus it was made of, one a line: no sentence runs across its lines.
    vocabularies = {name: text.replace("\n", " __ ") for name, text in texts.items() if name.endswith(_WORD_LISTS)}
    files = {name: _words(text) for name, text in {**texts, **vocabularies}.items()}
    beginnings = {tuple(words[i : i + _KEY_WORDS]) for words in files.values() for i in range(len(words))}
    joined = {name: f" {' '.join(words)} " for name, words in files.items()}
    hits: dict[str, list[str]] = {}
    for sentence in forbidden_texts:
        words = _words(sentence[:_BEGINNING])
        if len(words) <= _KEY_WORDS or tuple(words[:_KEY_WORDS]) in beginnings:
            words = _words(sentence)
        if len(words) >= _KEY_WORDS and tuple(words[:_KEY_WORDS]) in beginnings:
            for name in (name for name, text in joined.items() if f" {' '.join(words)} " in text):
                hits.setdefault(name, []).append(" ".join(words[:_KEY_WORDS]))
    for name, starts in hits.items():
        problem = f"holds {len(starts)} training text(s), the first begins '{starts[0]} ...'"
        yield Finding(name, problem, "Remove them: the texts may not be published with the model.")
