"""Counts what mining a folder of stream files must find: an independent count, standard library only, from the paper.

    python -m tests.benchmarks.count_tweets ~/stream                    # **/*.json and *.jsonl, also .gz, .bz2, .tar, .zip
    python -m tests.benchmarks.count_tweets ~/stream --lang fr --json counts.json

A tweet counts once, by its id, with its longest text. It is usable in the language and with more than 20 characters
once cleaned. A quoted tweet that comes along is one that was seen; what it quotes itself is known by its id. Links are
distinct (parent, child). Pairs are counted before one of several children is drawn and before duplicate texts go, since
those depend on the draw: usable parents with a usable child of another text; for the co-sets, parents with two usable
children whose texts differ from each other and from its own. Everything is held in memory: this is no miner.
"""

from __future__ import annotations

import argparse
import bz2
import gzip
import json
import re
import sys
import tarfile
import zipfile
from collections import Counter, defaultdict
from dataclasses import dataclass, field
from pathlib import Path

OPENERS = {".bz2": bz2.open, ".gz": gzip.open}
ENTITIES = {"&amp;": "&", "&lt;": "<", "&gt;": ">"}


def lines(path: Path):
    """Every line of a file, or of the members of a .tar or .zip."""
    if path.suffix == ".zip":
        with zipfile.ZipFile(path) as archive:
            yield from (line for name in archive.namelist() if name.endswith(".json") for line in archive.open(name))
    elif ".tar" in path.suffixes or path.suffix == ".tgz":
        with tarfile.open(path) as archive:
            for member in archive:
                if member.isfile() and ".json" in member.name:
                    opener = OPENERS.get(Path(member.name).suffix)
                    yield from opener(archive.extractfile(member)) if opener else archive.extractfile(member)
    else:
        with OPENERS.get(path.suffix, open)(path, "rb") as file:
            yield from file


def clean(text: str) -> str:
    """Characters unescaped, lower case, no URLs, no mentions, single spaces."""
    text = re.sub("&amp;|&lt;|&gt;", lambda match: ENTITIES[match.group()], text).lower()
    return " ".join(re.sub(r"@\w+", "", re.sub(r"http\S+", "", text)).split())


@dataclass
class Stream:
    """What was seen: lines by kind, each tweet's longest text and language by its id, children by kind and parent."""

    lang: str
    kinds: Counter = field(default_factory=Counter)
    texts: dict[str, str] = field(default_factory=dict)
    langs: dict[str, str] = field(default_factory=dict)
    children: dict = field(default_factory=lambda: {"quote": defaultdict(set), "reply": defaultdict(set)})

    def take(self, line: bytes) -> None:
        """Adds one line."""
        try:
            found = json.loads(line) if line.strip() else None
        except ValueError:
            found = 0
        if not isinstance(found, dict):
            self.kinds["blank" if found is None else "malformed"] += 1
            return
        status = found.get("tweet", found)  # the threads of RumourEval wrap theirs
        if not isinstance(status, dict) or not is_status(status):
            self.kinds["delete notices" if "delete" in found else "other notices"] += 1
            return
        self.kinds["statuses"] += 1
        if is_status(original := status.get("retweeted_status") or {}):
            self.kinds["retweets replaced"] += 1
            status = original
        self.kinds[f"statuses in {self.lang}"] += status.get("lang") == self.lang
        quoted = status.get("quoted_status") or {}
        for tweet in filter(is_status, (status, quoted)):
            key, text = name(tweet), clean(full_text(tweet))
            self.texts[key] = min(self.texts.get(key, text), text, key=lambda text: (-len(text), text))
            self.langs[key] = tweet.get("lang")
            if tweet.get("in_reply_to_status_id_str"):
                self.children["reply"][tweet["in_reply_to_status_id_str"]].add(key)
            if parent := name(tweet.get("quoted_status") or {}) or tweet.get("quoted_status_id_str"):
                self.children["quote"][parent].add(key)

    def counts(self) -> dict[str, dict[str, int]]:
        """Counts by kind of lines, tweets, links and pairs."""
        drops, links, pairs = Counter(), Counter(), Counter()
        for key, text in self.texts.items():
            drops[
                "other language" if self.langs[key] != self.lang else "too short" if len(text) <= 20 else "usable"
            ] += 1
        usable = {key: text for key, text in self.texts.items() if self.langs[key] == self.lang and len(text) > 20}
        for kind, groups in self.children.items():
            for parent, members in groups.items():
                found = {usable[child] for child in members if child in usable} - {usable.get(parent)}
                links[f"{kind}: distinct"] += len(members)
                links[f"{kind}: parent in the stream"] += len(members) * (parent in self.texts)
                links[f"{kind}: both usable"] += sum(parent in usable and child in usable for child in members)
                pairs[kind] += parent in usable and bool(found)
                pairs[f"co{kind}"] += len(found) > 1
        tweets = {"distinct": len(self.texts), **drops, "distinct usable texts": len(set(usable.values()))}
        return {"lines": dict(self.kinds), "tweets": tweets, "links": dict(links), "pairs": dict(pairs)}


def count(folder: Path, lang: str = "en") -> dict[str, dict[str, int]]:
    """Counts of everything in a folder; a broken archive is read as far as it goes."""
    stream = Stream(lang)
    for path in sorted(path for path in folder.rglob("*") if re.search(r"\.(json|jsonl|tar|tgz|zip)\b", path.name)):
        try:
            for line in lines(path):
                stream.take(line)
        except (EOFError, OSError, tarfile.TarError, zipfile.BadZipFile) as error:
            stream.kinds["broken files"] += 1
            print(f"{path}: {error}", file=sys.stderr)
    return stream.counts()


def full_text(tweet: dict) -> str:
    """Its whole text."""
    return (tweet.get("extended_tweet") or {}).get("full_text") or tweet.get("full_text") or tweet["text"]


def is_status(found: dict) -> bool:
    """Whether it has a text and an id."""
    return isinstance(found.get("text", found.get("full_text")), str) and bool(name(found))


def name(tweet: dict) -> str:
    """Its id; empty if it has none."""
    return str(tweet.get("id_str") or tweet.get("id") or "")


def main() -> None:
    """Prints the counts."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("folder", type=Path, help="folder with stream files, searched recursively")
    parser.add_argument("--lang", default="en", help="language of the pairs (default: %(default)s)")
    parser.add_argument("--json", type=Path, help="file to write the counts to")
    options = parser.parse_args()
    counts = count(options.folder, options.lang)
    for part, numbers in counts.items():
        for kind, number in numbers.items():
            print(f"{part:8} {kind:36} {number:>12,}")
    if options.json:
        options.json.write_text(json.dumps(counts, indent=2) + "\n", encoding="utf-8")


if __name__ == "__main__":
    main()
