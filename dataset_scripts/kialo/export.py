"""Parser of Kialo's text exports: the text of one file in, one discussion tree out. It reads no files.

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

from __future__ import annotations

import re
from dataclasses import dataclass, field
from typing import Any

from dataset_scripts.base.quality import normalise
from dataset_scripts.kialo.tree import Discussion, Node, resolve_links

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
class _Draft:
    """An entry whose text may still go on."""

    id: str
    label: str | None
    lines: list[str] = field(default_factory=list)


def parse_export(text: str) -> Discussion:
    """Parses one exported discussion.

    Raises:
        ValueError: If the text has no "Discussion Title:"/"Discussion Name:" or no numbered entry "1.".
    """
    title = _TITLE.match(text)
    if title is None:
        raise ValueError("no line 'Discussion Title: ...' or 'Discussion Name:' at the start")
    drafts, orphans = _split_entries(text[title.end() :].replace("\r\n", "\n").split("\n"))
    if not drafts:
        raise ValueError("no numbered entry '1.' after the title")
    listed = _cut_sources(drafts[-1])
    nodes = [_to_node(draft, listed) for draft in drafts]
    resolve_links(nodes)
    return Discussion(normalise(title[1]), nodes, orphans)


def parse_record(record: dict[str, Any]) -> tuple[str, Discussion]:
    """Reads a discussion that is parsed already.

    Args:
        record: `discussion_id`, `title` and `nodes`, each with `id`, `parent`, `relation`, `text` and, for a link,
            `link_to`.

    Returns:
        Discussion id and tree.

    Raises:
        LookupError, TypeError, ValueError: If a field is missing or there are no nodes.
    """
    nodes = [
        Node(node["id"], node["parent"], node["relation"], clean_text(node["text"] or ""), node.get("link_to"))
        for node in record["nodes"]
    ]
    if not nodes:
        raise ValueError("no nodes")
    for node in nodes:
        if node.link_to is None and (see := _SEE.match(node.text)):
            node.link_to, node.text = see[1] or see[3], see[2] or ""
    resolve_links(nodes)
    return str(record["discussion_id"]), Discussion(normalise(record["title"]), nodes)


def discussion_id(file_name: str, discussion: Discussion) -> str:
    """Kialo's number for a discussion, which ends the file name; without one, "t:" and the words of the title."""
    number = _NUMBER.search(file_name)
    words = re.findall(r"\w+", (discussion.title or file_name.removesuffix(".txt")).casefold())
    return number[1] if number else "t:" + "-".join(words)


def clean_text(text: str, listed: frozenset[str] = frozenset()) -> str:
    r"""Turns an entry's markdown into one line of plain text.

    `[label](address)` becomes the label, `\(` becomes `(`, and marks of sources are taken out, since they point to
    a list that the text is now parted from: "[1]", and "(source [2])" as a whole. A number of four digits in
    brackets is a mark only if the list has it, otherwise it may be a year.

    Args:
        text: Raw text, possibly of several lines.
        listed: Numbers in the export's list of sources.
    """
    text = _ESCAPE.sub(r"\1", _LINK.sub(r"\1", text))
    if "[" in text or "ource" in text:
        text = _ONLY_SOURCES.sub("", text)
        text = _MARK.sub(lambda mark: "" if len(mark[1]) < 4 or mark[1] in listed else mark[0], text)
    return normalise(text)


def _split_entries(lines: list[str]) -> tuple[list[_Draft], int]:
    """Divides lines into entries; lines that start none belong to the entry before."""
    drafts: list[_Draft] = []
    seen: dict[str, _Draft] = {}
    orphans, current = 0, None
    for line in lines:
        header = _HEADER.match(line)
        if header is not None and _starts_entry(header[1], header[2], drafts, seen):
            current = _Draft(header[1], header[2], [header[3]])
            if header[1] == "1." or _parent(header[1]) in seen:
                drafts.append(current)
                seen[current.id] = current
            else:
                orphans += 1  # its text must not become part of the entry before
        elif current is not None:
            current.lines.append(line)
    return drafts, orphans


def _starts_entry(number: str, label: str | None, drafts: list[_Draft], seen: dict[str, _Draft]) -> bool:
    """Whether a numbered line is an entry; texts hold numbered lists ("2. Costs") that look alike."""
    if not drafts:
        return number == "1."
    if number in seen or number == "1.":
        return False
    if label is not None:
        return number.startswith("1.")
    # an unlabelled entry is a thesis: directly below the root, counted on from the thesis before
    theses = [draft for draft in seen.values() if draft.id.count(".") == 2]
    return all(draft.label in (None, "Thesis") for draft in theses) and number == f"1.{len(theses) + 1}."


def _parent(number: str) -> str:
    return number[: number.rindex(".", 0, -1) + 1] if number.count(".") > 1 else ""


def _cut_sources(last: _Draft) -> frozenset[str]:
    """Takes the list of sources, which ends an export, out of its last entry and returns the listed numbers."""
    for index, line in enumerate(last.lines):
        rest = [later for later in last.lines[index + 1 :] if later.strip()]
        if line.strip() == "Sources:" and rest and rest[0].startswith("[1] "):
            del last.lines[index:]
            return frozenset(number[1] for number in map(_LISTED.match, rest) if number)
    return frozenset()


def _to_node(draft: _Draft, listed: frozenset[str]) -> Node:
    raw = "\n".join(draft.lines).strip()
    relation = draft.label if draft.label in ("Pro", "Con") else None
    see = _SEE.match(raw)
    text = clean_text((see[2] or "") if see else raw, listed)
    return Node(draft.id, _parent(draft.id) or None, relation, text, (see[1] or see[3]) if see else None)
