"""Discussions as trees of arguments, and the parser of Kialo's text exports. It reads no files.

Kialo has exported discussions in two dialects, and both are read:

    Discussion Title: Is tea better than coffee?      Discussion Name:
                                                      Is tea better than coffee?
    1. Tea is better than coffee.
    1.1. Pro: It keeps longer.                        1. Thesis:
    1.1.1. Con: -> See 1.2.                           Tea is better than coffee.

                                                        1.1. Pro:
                                                        It keeps longer [1].

                                                      Sources:
                                                      [1] https://example.org
"""

import re
from collections import defaultdict
from collections.abc import Iterator
from dataclasses import dataclass
from typing import Any

from dataset_scripts.base.families import topic_group
from dataset_scripts.base.quality import normalise

_TITLE = re.compile(r"\ufeff?\s*Discussion (?:Title|Name):[ \t]*(?:\r?\n)?(.*)")
_HEADER = re.compile(r"[ \t]*((?:\d+\.)+)[ \t]+(?:(Pro|Con|Thesis|Question):)?[ \t]*(.*)")
_SEE = re.compile(r"-> See (?:discussion (#\d+)(?:: *(.*))?|((?:\d+\.)+))$", re.DOTALL)
# a label may hold escapes and one level of brackets, an address escapes and one level of parentheses
_LINK = re.compile(r"\[((?:\\.|[^\[\]\\]|\[[^\[\]]*\])*)\]\((?:\\.|[^()\\]|\([^()]*\))*\)")
_ESCAPE = re.compile(r"\\([^\w\s])")
_MARK = re.compile(r"\s*\[(\d{1,4})\]")
_ONLY_SOURCES = re.compile(r"\s*\((?:[\s,;&]|sources?|\[\d{1,4}\])+\)", re.IGNORECASE)
# "are-musicals-fun-333.txt", also as a browser names a second download, "are-musicals-fun-333 (1).txt"; a single
# digit is no discussion's number but a counter that is put behind a long file name which was cut
_NUMBER = re.compile(r"-(\d{2,})(?: ?\(\d+\))?\.txt$")
_LISTED = re.compile(r"\[(\d+)\] ")


@dataclass(slots=True)
class Node:
    """One numbered entry of a discussion."""

    id: str  # as exported, with the closing dot ("1.2.1.")
    parent: str | None  # the entry that it answers
    relation: str | None  # "Pro" or "Con"; None for the root and for the theses of a discussion that has several
    text: str  # plain; for a link, that of its target
    link_to: str | None = None  # for a link ("-> See ..."): its target, or "#921" for another discussion


@dataclass(slots=True)
class Discussion:
    """A tree of entries, in the order of the export, the root first; `orphans` lack their parent and are left out."""

    title: str
    nodes: list[Node]
    orphans: int = 0

    def arguments(self) -> list[Node]:
        """The entries that carry a text of their own: all but links."""
        return [node for node in self.nodes if node.link_to is None]

    def has_theses(self) -> bool:
        """Whether the root is a question with several theses below it rather than a thesis."""
        root = self.nodes[0].id
        return any(node.parent == root and node.relation is None and node.link_to is None for node in self.nodes)

    def families(self) -> Iterator[tuple[Node, list[Node]]]:
        """Every argument with the arguments for and against it. Theses stand in no relation to their question."""
        by_id = {node.id: node for node in self.arguments()}
        children: dict[str, list[Node]] = defaultdict(list)
        for node in by_id.values():
            if node.relation is not None and node.parent in by_id:
                children[node.parent].append(node)
        for parent, answers in children.items():
            yield by_id[parent], answers


def parse_export(text: str) -> Discussion:
    """Parses one exported discussion; raises a ValueError if there is no title or no entry "1."."""
    title = _TITLE.match(text)
    if title is None:
        raise ValueError("no line 'Discussion Title: ...' or 'Discussion Name:' at the start")
    entries: dict[str, tuple[str | None, list[str]]] = {}  # number -> label and lines
    orphans, lines = 0, []
    for line in text[title.end() :].replace("\r\n", "\n").split("\n"):
        header = _HEADER.match(line)
        if header is None or not _starts_entry(header[1], header[2], entries):
            lines.append(line)  # of the entry before
            continue
        lines = [header[3]]
        if header[1] == "1." or _parent(header[1]) in entries:
            entries[header[1]] = header[2], lines
        else:
            orphans += 1  # its text must not become part of the entry before
    if not entries:
        raise ValueError("no numbered entry '1.' after the title")
    listed = _cut_sources(next(reversed(entries.values()))[1])
    nodes = []
    for number, (label, lines) in entries.items():
        raw = "\n".join(lines).strip()
        see = _SEE.match(raw)
        relation = label if label in ("Pro", "Con") else None
        plain = clean_text((see[2] or "") if see else raw, listed)
        nodes.append(Node(number, _parent(number) or None, relation, plain, (see[1] or see[3]) if see else None))
    _resolve_links(nodes)
    return Discussion(normalise(title[1]), nodes, orphans)


def parse_record(record: dict[str, Any]) -> tuple[str, Discussion]:
    """(id, tree) of a discussion that is parsed; a missing field raises LookupError, TypeError or ValueError."""
    nodes = [
        Node(node["id"], node["parent"], node["relation"], clean_text(node["text"] or ""), node.get("link_to"))
        for node in record["nodes"]
    ]
    if not nodes:
        raise ValueError("no nodes")
    for node in nodes:
        if node.link_to is None and (see := _SEE.match(node.text)):
            node.link_to, node.text = see[1] or see[3], see[2] or ""
    _resolve_links(nodes)
    return str(record["discussion_id"]), Discussion(normalise(record["title"]), nodes)


def discussion_id(file_name: str, discussion: Discussion) -> str:
    """Kialo's number for a discussion, which ends the file name; without one, "t:" and the words of the title."""
    number = _NUMBER.search(file_name)
    return number[1] if number else "t:" + topic_group(discussion.title or file_name.removesuffix(".txt"))


def clean_text(text: str, listed: frozenset[str] = frozenset()) -> str:
    r"""Turns an entry's markdown into one line of plain text.

    `[label](address)` becomes the label, `\(` becomes `(`, and marks of sources are taken out, since they point to
    a list that the text is now parted from: "[1]", and "(source [2])" as a whole. A number of four digits in
    brackets is a mark only if it is `listed` among the export's sources, otherwise it may be a year.
    """
    text = _ESCAPE.sub(r"\1", _LINK.sub(r"\1", text))
    if "[" in text or "ource" in text:
        text = _ONLY_SOURCES.sub("", text)
        text = _MARK.sub(lambda mark: "" if len(mark[1]) < 4 or mark[1] in listed else mark[0], text)
    return normalise(text)


def _starts_entry(number: str, label: str | None, entries: dict[str, tuple[str | None, list[str]]]) -> bool:
    """Whether a numbered line is an entry; texts hold numbered lists ("2. Costs") that look alike."""
    if not entries:
        return number == "1."
    if number in entries:
        return False
    if label is not None:
        return number.startswith("1.")
    # an unlabelled entry is a thesis: directly below the root, counted on from the thesis before
    theses = [label for number, (label, _) in entries.items() if number.count(".") == 2]
    return set(theses) <= {None, "Thesis"} and number == f"1.{len(theses) + 1}."


def _parent(number: str) -> str:
    """Empty for the root."""
    return number[: number.rindex(".", 0, -1) + 1] if number.count(".") > 1 else ""


def _cut_sources(lines: list[str]) -> frozenset[str]:
    """Takes the list of sources, which ends an export, out of its last entry; the listed numbers."""
    for index, line in enumerate(lines):
        rest = [later for later in lines[index + 1 :] if later.strip()]
        if line.strip() == "Sources:" and rest and rest[0].startswith("[1] "):
            del lines[index:]
            return frozenset(number[1] for number in map(_LISTED.match, rest) if number)
    return frozenset()


def _resolve_links(nodes: list[Node]) -> None:
    """Follows links, in place: a link takes target and text of the end of its chain, an answer below it that parent.

    A link that leads nowhere (to another discussion, a missing entry, or in a circle) keeps its target and answers.
    """
    by_id = {node.id: node for node in nodes}
    for node in nodes:
        target, passed = node, set()
        while target is not None and target.link_to is not None and target.id not in passed:
            passed.add(target.id)
            target = by_id.get(target.link_to)
        if node.link_to is not None and target is not None and target.link_to is None:
            node.link_to, node.text = target.id, target.text
    for node in nodes:
        parent = by_id.get(node.parent)
        if parent is not None and parent.link_to in by_id and by_id[parent.link_to].link_to is None:
            node.parent = parent.link_to
