"""Searches a folder for what must not be published: other types of file, secrets, local paths, training texts."""

from __future__ import annotations

import fnmatch
import html
import itertools
import json
import pickletools
import re
import zipfile
from collections.abc import Collection, Iterable, Iterator, Mapping
from dataclasses import dataclass
from pathlib import Path

_COMMON = frozenset({".json", ".txt", ".md", ".png", ".yaml"})
ALLOWED_SUFFIXES = {"model": _COMMON | {".safetensors"}, "dataset": _COMMON | {".parquet"}, "metric": _COMMON | {".py"}}
# of tokenizers that have no other form: BERTweet, XLM-R, T5
_VOCABULARIES = {"model": frozenset({"bpe.codes", "sentencepiece.bpe.model", "spiece.model"})}

_SECRETS = {
    "a Hugging Face token": r"\bhf_(?:oauth_)?[A-Za-z0-9]{20,}",
    "a GitHub token": r"\bgh[pousr]_[A-Za-z0-9]{30,}|\bgithub_pat_\w{22,}",
    "an AWS key": r"\b(?:AKIA|ASIA)[0-9A-Z]{16}\b|(?i:aws_secret_access_key)\W{1,5}[A-Za-z0-9/+=]{40}",
    "a Weights & Biases key": r"(?i:wandb)[^\n]{0,40}\b[0-9a-f]{40}\b",
    "an API key": r"\bsk-[A-Za-z0-9_-]{32,}|\bAIza[0-9A-Za-z_-]{35}|\bxox[abprs]-[0-9A-Za-z-]{10,}",
    "a private key": r"-----BEGIN (?:[A-Z]+ )*PRIVATE KEY",
}
_START = r"(?<![\w.~-])"  # of a path, as opposed to the rest of an address
_LOCAL_PATH = rf"{_START}(?:/(?:home|Users)/[\w.-]|/root\b|/(?:var/)?tmp/|/var/folders/)|\b[A-Za-z]:[\\/]{{1,4}}Users\b"
_PLACEHOLDER = r"\{\{(?:adapter_)?repo_id\}\}"
_MAGIC = {".png": b"\x89PNG\r\n\x1a\n", ".parquet": b"PAR1"}
_KEY_WORDS = 5
_WORD_LISTS = ("vocab.txt", "bpe.codes", ".model")


@dataclass(frozen=True)
class Finding:
    """One reason not to publish: the file, what is wrong with it and what to do. It never quotes a secret."""

    file: str
    problem: str
    cure: str

    def __str__(self) -> str:
        return f"{self.file}: {self.problem}. {self.cure}"


def scan(
    folder: str | Path, kind: str, forbidden_texts: Iterable[str] = (), local_roots: Iterable[str | Path] = ()
) -> list[Finding]:
    """Searches a folder for everything that must not be published.

    Args:
        folder: The folder as it would be uploaded.
        kind: "model", "dataset" or "metric".
        forbidden_texts: Training texts. None of five words or more may stand in a text file, whatever its case, spacing
            and punctuation there. Parquet is not searched: a data set consists of its texts.
        local_roots: Paths that must not be named, besides the working directory, the home and the folder itself.

    Returns:
        The findings; none if the folder may be published.

    Raises:
        ValueError: If the kind is unknown or there is no such folder.
    """
    folder = Path(folder)
    if kind not in ALLOWED_SUFFIXES:
        raise ValueError(f"unknown kind {kind!r}; choose one of {', '.join(ALLOWED_SUFFIXES)}")
    if not folder.is_dir():
        raise ValueError(f"{folder} is not a folder")
    roots = {str(Path(root).resolve()) for root in (Path.cwd(), Path.home(), folder, *local_roots)} - {"/"}
    local_path = re.compile(
        "|".join([_LOCAL_PATH, *(rf"{_START}{re.escape(root)}(?![\w.-])" for root in sorted(roots))])
    )
    findings, texts = [], {}
    for path in walk(folder):
        name = path.relative_to(folder).as_posix()
        if path.is_symlink():
            findings.append(Finding(name, "a symbolic link", "Put the file itself there or delete the link."))
            continue
        allowed = path.suffix in ALLOWED_SUFFIXES[kind] or path.name in _VOCABULARIES.get(kind, ())
        text = _read(path) if allowed else None
        findings += [Finding(name, *problem) for problem in _content_problems(path, text, kind, allowed)]
        findings += [Finding(name, *problem) for problem in _text_problems(text or "", local_path)]
        texts[name] = text or ""
    if "README.md" not in texts:
        findings.append(Finding("README.md", "there is no card", "Write one: the Hub and its readers expect it."))
    return findings + list(_forbidden(texts, forbidden_texts))


def walk(folder: Path, without: Collection[str] = (), skipped: list[Path] | None = None) -> Iterator[Path]:
    """Yields the files and links below a folder, but none whose name or folder is like a pattern of `without`.

    Those are put into `skipped`, if it is given; of a folder only itself.
    """
    for path in sorted(folder.iterdir()):
        if any(fnmatch.fnmatch(path.name, pattern) for pattern in without):
            if skipped is not None:
                skipped.append(path)
        elif path.is_dir() and not path.is_symlink():
            yield from walk(path, without, skipped)
        else:
            yield path


def _read(path: Path) -> str | None:
    """Returns the text to search in a file, or None if its content is not what its suffix says."""
    with path.open("rb") as file:
        if path.suffix == ".parquet":
            return "" if file.read(4) == _MAGIC[".parquet"] else None
        if path.suffix == ".safetensors":
            length = int.from_bytes(file.read(8), "little")
            data = file.read(length) if length < path.stat().st_size else b""
        else:
            data = file.read()
    if path.suffix == ".png":
        return data.decode("latin-1") if data.startswith(_MAGIC[".png"]) else None
    if path.suffix == ".model":  # sentencepiece's vocabularies are a binary message with texts in it
        return data.decode(errors="replace")
    try:
        text = data.decode()
        # Without JSON's escapes, else an accented or quoted text would not be recognised.
        is_json = path.suffix in (".json", ".safetensors")
        return json.dumps(json.loads(text), ensure_ascii=False) if is_json else text
    except ValueError:
        return None


def _content_problems(path: Path, text: str | None, kind: str, allowed: bool) -> Iterator[tuple[str, str]]:
    is_binary = path.suffix in (*_MAGIC, ".safetensors") and text is not None
    if not is_binary and _is_pickle(path):
        yield "a pickle, which runs code when it is loaded", "Save weights as safetensors and numbers as JSON."
    if not allowed:
        kinds = ", ".join(sorted(ALLOWED_SUFFIXES[kind]))
        yield f"files of type {path.suffix or path.name!r} are not published", f"Delete it, or use one of {kinds}."
    elif text is None:
        yield f"the content is not what {path.suffix} says", "Write the file again with the library of its type."
    elif path.suffix == ".safetensors" and (size := path.stat().st_size) != (announced := _announced_size(path)):
        yield f"damaged: {size} bytes where its header announces {announced}", "Copy or save it again."


def _announced_size(path: Path) -> int | None:
    """The size of a safetensors file according to its header; None if the header does not tell."""
    with path.open("rb") as file:
        length = int.from_bytes(file.read(8), "little")
        header = json.loads(file.read(length))
    try:
        ends = [tensor["data_offsets"][1] for name, tensor in header.items() if name != "__metadata__"]
        return 8 + length + max(ends, default=0)
    except (AttributeError, LookupError, TypeError):
        return None


def _is_pickle(path: Path) -> bool:
    if zipfile.is_zipfile(path):
        with zipfile.ZipFile(path) as archive:
            return any(name.endswith(".pkl") for name in archive.namelist())
    with path.open("rb") as file:
        head = file.read(2)
        if head[:1] == b"\x80" and head[1:] in (b"\x02", b"\x03", b"\x04", b"\x05"):
            return True
        file.seek(0)
        try:  # older protocols have no mark: it is one if it reads as opcodes up to STOP
            names = [opcode.name for opcode, _, _ in itertools.islice(pickletools.genops(file), 100_000)]
        except Exception:  # what pickletools raises on other content depends on the content
            return False
    return len(names) > 2 and names[-1] == "STOP"


def _text_problems(text: str, local_path: re.Pattern) -> Iterator[tuple[str, str]]:
    for what, pattern in _SECRETS.items():
        if re.search(pattern, text):
            yield f"holds {what}", "Remove it, and revoke it: others may have seen this folder."
    if found := local_path.search(text):
        yield f"names a path of this machine ({found[0]}...)", "Write the repository's name or a relative path."
    if found := re.search(_PLACEHOLDER, text):
        yield f"still holds {found[0]}", "Publish through base.hub, which knows the repository's name."


def _words(text: str) -> list[str]:
    return re.findall(r"\w+", re.sub(r"\\[nrt]", " ", html.unescape(text)).casefold())


def _forbidden(texts: Mapping[str, str], forbidden_texts: Iterable[str]) -> Iterator[Finding]:
    """Compares a sentence with the files only where its first words occur: there are many sentences, few files."""
    # A vocabulary lists words in the order of the corpus it was made of, one a line: no sentence runs across its lines.
    vocabularies = {name: text.replace("\n", " __ ") for name, text in texts.items() if name.endswith(_WORD_LISTS)}
    files = {name: _words(text) for name, text in {**texts, **vocabularies}.items()}
    beginnings = {tuple(words[i : i + _KEY_WORDS]) for words in files.values() for i in range(len(words))}
    beginnings = {words for words in beginnings if len(words) == _KEY_WORDS}
    joined = {name: f" {' '.join(words)} " for name, words in files.items()}
    hits: dict[str, list[str]] = {}
    for sentence in forbidden_texts if beginnings else ():
        words = _words(sentence)
        if tuple(words[:_KEY_WORDS]) in beginnings:
            for name in (name for name, text in joined.items() if f" {' '.join(words)} " in text):
                hits.setdefault(name, []).append(" ".join(words[:_KEY_WORDS]))
    for name, found in hits.items():
        problem = f"holds {len(found)} training text(s), the first begins '{found[0]} ...'"
        yield Finding(name, problem, "Remove them: the texts may not be published with the model.")
