"""A Kialo discussion as a tree of arguments, however it was written down."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterator
from dataclasses import dataclass


@dataclass(slots=True)
class Node:
    """One numbered entry of a discussion.

    Attributes:
        id: Number as exported, with the closing dot: "1.2.1.".
        parent: Number of the entry it answers; None for the root.
        relation: "Pro" or "Con"; None for the root and for the theses of a discussion that has several.
        text: Plain text; for a link, the text of its target.
        link_to: For a link ("-> See ..."): number of its target, or "#921" for another discussion; else None.
    """

    id: str
    parent: str | None
    relation: str | None
    text: str
    link_to: str | None = None


@dataclass(slots=True)
class Discussion:
    """A discussion tree.

    Attributes:
        title: The question or statement that the discussion is called by.
        nodes: All entries in the order of the export, the root first.
        orphans: Number of labelled entries without their parent in the export; they are left out.
    """

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


def resolve_links(nodes: list[Node]) -> None:
    """Follows links within a discussion, in place.

    A link becomes a link to the entry at the end of its chain and takes its text. An answer below a link answers
    the linked claim, so that claim becomes its parent. A link that leads nowhere (to another discussion, to an
    entry that is missing, or in a circle) keeps its target, and answers below it keep the link as parent.
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
