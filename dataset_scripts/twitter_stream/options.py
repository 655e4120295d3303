"""What a run of the miner is to do."""

from __future__ import annotations

import hashlib
import json
from dataclasses import asdict, dataclass
from typing import Any

from dataset_scripts.base.splits import SEED

SALT_LENGTH = 16


@dataclass(frozen=True)
class MiningOptions:
    """Options of the miner that change its rows.

    Attributes:
        lang: Code of the tweets that are used, as Twitter gives it, or `all`.
        seed: Of whatever is drawn: which answer a pair has, the split, benchmarks, which pairs are kept.
        pairs: Pairs of each set in training at most; None for all (section 2: 250,000).
        queries: Queries of each benchmark at most (section 4.1: 5,000).
        positives: Of each query (5).
        negatives: Of each query (25).
        validation: Share of the conversations, in (0, 1).
        test: Share of the conversations, in (0, 1); benchmarks are made of these two.
        keep_ids: Whether the sets have the ids of their tweets.
        salt: Secret of the hashes that stand for the tweets of the benchmarks, 16 characters or more; None: there are
            none.
    """

    lang: str = "en"
    seed: int = SEED
    pairs: int | None = 250_000
    queries: int = 5_000
    positives: int = 5
    negatives: int = 25
    validation: float = 0.05
    test: float = 0.10
    keep_ids: bool = False
    salt: str | None = None

    def __post_init__(self) -> None:
        for name in ("queries", "positives", "negatives"):
            if not _is_count(getattr(self, name)):
                raise ValueError(f"--{name} must be a whole number above 0, got {getattr(self, name)!r}")
        if self.pairs is not None and not _is_count(self.pairs):
            raise ValueError(f"--pairs must be a whole number above 0, or none for all, got {self.pairs!r}")
        shares = (self.validation, self.test)
        if not all(isinstance(share, int | float) and share > 0 for share in shares) or sum(shares) >= 1:
            raise ValueError(f"--validation and --test are shares above 0 that leave some for training, got {shares}")
        if not isinstance(self.lang, str) or not self.lang:
            raise ValueError(f"--lang must be a language as Twitter calls it, or all, got {self.lang!r}")
        if self.salt is not None and len(self.salt) < SALT_LENGTH:
            raise ValueError(f"--salt must have {SALT_LENGTH} characters or more: a shorter one could be guessed")
        if isinstance(self.seed, bool) or not isinstance(self.seed, int) or self.seed < 0:
            raise ValueError(f"--seed must be a whole number from 0, got {self.seed!r}")

    @property
    def children(self) -> int:
        """How many answers of a tweet are needed: the positives of a query, and the query if it is one of them."""
        return self.positives + 1

    def parsing(self) -> dict[str, Any]:
        """The options on which the first stage depends."""
        salt = self.salt and digest(["salt", self.salt])
        return {"lang": self.lang, "seed": self.seed, "keep_ids": self.keep_ids, "salt": salt}

    def pairing(self) -> dict[str, Any]:
        """Those on which the second does."""
        return self.parsing() | {key: asdict(self)[key] for key in ("positives", "validation", "test")}


def _is_count(value: Any) -> bool:
    return isinstance(value, int) and not isinstance(value, bool) and value > 0


def keyed_hash(id: int | None, salt: str) -> int | None:
    """What stands for a tweet, 64 bits of a hash that nobody without the salt can turn back or compute."""
    if id is None:
        return None
    key = hashlib.blake2b(salt.encode()).digest()
    return int.from_bytes(hashlib.blake2b(id.to_bytes(8), key=key, digest_size=8).digest())


def digest(facts: Any) -> str:
    """A short name for facts (JSON throughout); what is kept under it is used again where they are the same."""
    return hashlib.blake2b(json.dumps(facts, sort_keys=True).encode(), digest_size=8).hexdigest()
