"""Polis conversations: statements that those who take part vote on, related by who agrees with what."""

import random
import re
from collections import defaultdict
from collections.abc import Collection, Iterable, Iterator, Mapping
from pathlib import Path

from dataset_scripts.base.families import FamiliesCorpus
from dataset_scripts.base.metadata import load_metadata
from dataset_scripts.base.quality import TEST_TOPICS, is_english, normalise
from dataset_scripts.base.reading import Member, members, named
from dataset_scripts.base.schema import Item, family_row
from dataset_scripts.base.splits import split_or_train

COMMENTS, VOTES = "comments.csv", "participants-votes.csv"
REJECTED = "-1"
LARGEST = 2  # conversations with most of the pairs of the release: they are for training, whatever the seed
# what a voter states about themselves to be counted by, and no view
_OF_THE_VOTER = re.compile(
    r"\bI live (?:i|o)n\b|\bI am (?:\w+ )?\d|\byears (?:old|of age)\b|\bhousehold income\b", re.IGNORECASE
)


class Polis(FamiliesCorpus):
    """Families of one statement each, with those for it that the same people agree with, and against it the others.

    The votes alone also relate what has nothing to do with each other: two statements need words in common that are
    rare in their conversation, and those that agree more of them than those that oppose.
    """

    METADATA = load_metadata("polis")
    RAW = named(COMMENTS, VOTES)

    def by_group(self, families: Iterable[tuple[str, Item]]) -> dict[str, list[Item]]:
        groups: dict[str, list[Item]] = defaultdict(list)  # in the order of the pairs
        for name, item in families:
            groups[name].append(item)
        return groups

    def split(self, groups: Mapping[str, Collection[Item]]) -> dict[str, str]:
        return dict.fromkeys(groups, "train") | split_or_train(list(groups)[LARGEST:], self.config.seed)

    def families(self, files: list[Path]) -> Iterator[tuple[str, Item]]:
        statements: dict[str, dict[str, str]] = {}
        votes: dict[str, list[dict[str, str]]] = defaultdict(list)
        for member in members(files, lambda name: Path(name).name in (COMMENTS, VOTES)):
            path = Path(member.name)
            if path.name == COMMENTS:
                statements[path.parent.name] = self._statements(member)
            else:
                votes[path.parent.name] = [row for _, row in member.table(self.dropped, ("participant",))]
        # one, other, whether the same people agree with both
        pairs: dict[str, list[tuple[str, str, bool]]] = {}
        for name, texts in statements.items():
            faults = {
                "conversation: no statement is left": not texts,
                "conversation: without votes": not votes[name],
                "conversation: not in English": not is_english(" ".join(texts.values())),
            }
            if not self.dropped.refuse(name, faults):
                pairs[name] = self._pairs(name, texts, votes[name])
        for name in sorted(pairs, key=lambda name: len(pairs[name]), reverse=True):
            for one, other, same in pairs[name]:
                yield name, family_row(other, one, same, name)
                yield name, family_row(one, other, same, name)

    def _statements(self, member: Member) -> dict[str, str]:
        texts = {}
        for line, row in member.table(self.dropped, ("comment-id", "moderated", "comment-body")):
            text = normalise(row["comment-body"])
            faults = {
                "statement: rejected by the moderators": row["moderated"] == REJECTED,
                "statement: empty": not text,
                "statement: on a topic that models are tested on": bool(TEST_TOPICS.search(text)),
                "statement: of the voter": bool(_OF_THE_VOTER.search(text)),
            }
            if not self.dropped.refuse(member.place(line), faults):
                texts[row["comment-id"]] = text
        return texts

    def _pairs(self, name: str, statements: dict[str, str], votes: list[dict[str, str]]) -> list[tuple[str, str, bool]]:
        """The pairs that votes and words relate; of either kind a seeded sample."""
        import numpy as np
        import pandas as pd
        from sklearn.feature_extraction.text import TfidfVectorizer

        ids = [id for id in votes[0] if id in statements]
        if not ids:
            return []
        frame = pd.DataFrame(votes, columns=ids).apply(pd.to_numeric, errors="coerce")
        frame = frame.where(frame.isin((1, -1)))  # who passes says nothing
        agree, voted = ((frame == 1).to_numpy(float), frame.notna().to_numpy(float))
        # the share of those who agree with a statement (row) among those who voted on another one, too (column)
        common = voted.T @ voted
        share = agree.T @ voted / np.maximum(common, 1)
        divided = np.minimum(share, 1 - share) >= self.config.least_side
        correlations = frame.corr(min_periods=self.config.least_votes).to_numpy()
        texts = [statements[id] for id in ids]
        words = TfidfVectorizer(stop_words="english", sublinear_tf=True).fit_transform(texts)
        likeness, counted = (words @ words.T).toarray(), np.triu(divided & divided.T, k=1)
        pairs = []
        for same, related, least in (
            (True, correlations >= self.config.correlation, self.config.likeness_agreeing),
            (False, correlations <= -self.config.correlation, self.config.likeness_opposed),
        ):
            found = np.argwhere(counted & related & (likeness >= least)).tolist()
            random.Random(f"{self.config.seed}:{name}:{same}").shuffle(found)
            pairs += [(texts[one], texts[other], same) for one, other in found[: self.config.per_conversation]]
        return pairs
