"""Measures the Kialo builder on the complete corpus: time, memory, rows, and agreement with an independent parse.

    python benchmarks/kialo.py --corpora "$CORPORA_DIR"

The folder has to hold `kialo/kialo_raw_txt.tar.xz` (exports) and `kialo/kialo_trees.jsonl.gz` (the same exports as
others have parsed them, one JSON object a line).
"""

from __future__ import annotations

import argparse
import gzip
import json
import re
import resource
import sys
import tempfile
import time
from collections import Counter
from collections.abc import Iterator
from pathlib import Path

import datasets

from dataset_scripts.base.quality import normalise
from dataset_scripts.base.reading import read_members
from dataset_scripts.kialo import Kialo
from dataset_scripts.kialo.export import Node, parse_export

# what a reference text has that ours leaves out: marks of sources, "(source)", links around brackets, escapes
_MARK = re.compile(r"\[\d{1,4}\]")
_SOURCE = re.compile(r"\([^()]*source", re.IGNORECASE)


def compare(exports: Path, trees: Path) -> Counter[str]:
    """Compares both parses entry by entry; returns class of difference -> number of entries (or files)."""
    with gzip.open(trees, "rt", encoding="utf-8") as lines:
        reference = {(record["source"], record["file"]): record for record in map(json.loads, lines)}
    classes: Counter[str] = Counter()
    for name, content in read_members(exports):
        record = reference.get((Path(name).parent.name, Path(name).name))
        classes["files"] += 1
        if record is None:
            classes["file: not in the reference (another export of the discussion is)"] += 1
            continue
        discussion = parse_export(content.decode("utf-8-sig"))
        if discussion.title != record["title"]:
            white = discussion.title == normalise(record["title"])
            classes["title: white space" if white else "title: other"] += 1
        ours, theirs = {n.id: n for n in discussion.nodes}, {n["id"]: n for n in record["nodes"]}
        classes["entry: only here"] += len(ours.keys() - theirs.keys())
        classes["entry: only in the reference"] += len(theirs.keys() - ours.keys())
        classes["entries in both"] += len(ours.keys() & theirs.keys())
        for number in ours.keys() & theirs.keys():
            classes.update(_differences(ours[number], theirs[number]))
    return classes


def _differences(node: Node, reference: dict) -> Iterator[str]:
    if node.parent != reference["parent"]:
        yield "parent"
    if node.relation != reference["relation"]:
        yield "relation"
    text = reference["text"]
    if node.link_to != reference["link_to"]:
        other = (node.link_to or "").startswith("#") and text.startswith("-> See discussion #")
        yield "link: to another discussion, an argument in the reference" if other else "link: other"
    if node.text == text:
        return
    if node.link_to is not None and text.startswith("-> See discussion"):
        yield "text of a link to another discussion"
    elif _MARK.search(text):
        yield "text: marks of sources ([1]) left out"
    elif _SOURCE.search(text):
        yield "text: '(source)' left out"
    elif "](" in text:
        yield "text: link with brackets in its label, left as markdown in the reference"
    else:
        yield "text: other (escaped brackets, a list of sources in an argument)"


def build(exports: Path) -> None:
    """Builds every configuration and prints rows, drops, seconds and the peak of memory so far."""
    datasets.disable_progress_bars()
    for config in Kialo.FEATURES:
        with tempfile.TemporaryDirectory() as cache:
            start = time.perf_counter()
            builder = Kialo.open(exports, config, cache_dir=cache)
            builder.download_and_prepare()
            seconds = time.perf_counter() - start
            splits = builder.as_dataset()
            counts = {split: len(rows) for split, rows in splits.items()}
            groups = {split: len(set(rows["group"])) for split, rows in splits.items()}
        peak = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / 1024
        print(f"{config}: {counts} from discussions {groups}, {seconds:.1f} s, peak {peak:.0f} MiB")
        for reason, count in sorted(builder.dropped.items()):
            print(f"  {count:>7,} x {reason}")


def main() -> int:
    """Prints the comparison and the measurements."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--corpora", type=Path, required=True, help="folder with kialo/kialo_raw_txt.tar.xz")
    folder = parser.parse_args().corpora / "kialo"
    exports = folder / "kialo_raw_txt.tar.xz"
    for difference, count in compare(exports, folder / "kialo_trees.jsonl.gz").items():
        print(f"{count:>9,} {difference}")
    build(exports)
    return 0


if __name__ == "__main__":
    sys.exit(main())
