"""What a run of the miner is to do, and which of it each stage depends on."""

from __future__ import annotations

import hashlib
import json
from typing import Any

from pydantic import model_validator

from dataset_scripts.base.metadata import load_metadata

SALT_LENGTH = 16


class MiningOptions(load_metadata("twitter_stream").options_model):
    """The seed and the options of `metadata/twitter_stream.yaml`, which has their types, ranges and defaults."""

    @model_validator(mode="after")
    def _check(self) -> MiningOptions:
        if self.validation + self.test >= 1:
            shares = f"{self.validation} and {self.test}"
            raise ValueError(f"--validation and --test are shares that leave some for training, got {shares}")
        if not self.lang:
            raise ValueError("--lang must be a language as Twitter calls it, or all")
        if self.salt is not None and len(self.salt) < SALT_LENGTH:
            raise ValueError(f"--salt must have {SALT_LENGTH} characters or more: a shorter one could be guessed")
        if self.exclude and self.salt is None:
            raise ValueError("--exclude compares salted hashes: give the --salt with which those folders were built")
        if self.address is not None and self.engine != "ray":
            raise ValueError("--address is that of a Ray cluster: it needs --engine ray")
        return self

    @property
    def children(self) -> int:
        """How many answers of a tweet are needed: the positives of a query, and the query if it is one of them."""
        return self.positives + 1

    def parsing(self) -> dict[str, Any]:
        """The options on which the first stage depends."""
        return self.model_dump(include={"lang", "seed", "keep_ids"}) | {"salt": self.salt and salt_name(self.salt)}

    def pairing(self) -> dict[str, Any]:
        """Those on which the second does."""
        return self.parsing() | self.model_dump(include={"positives", "validation", "test"})


def keyed_hash(id: int | None, salt: str) -> int | None:
    """What stands for a tweet, 64 bits of a hash that nobody without the salt can turn back or compute."""
    if id is None:
        return None
    key = hashlib.blake2b(salt.encode()).digest()
    return int.from_bytes(hashlib.blake2b(id.to_bytes(8), key=key, digest_size=8).digest())


def digest(facts: Any) -> str:
    """A short name for facts (JSON throughout); what is kept under it is used again where they are the same."""
    return hashlib.blake2b(json.dumps(facts, sort_keys=True).encode(), digest_size=8).hexdigest()


def salt_name(salt: str) -> str:
    """What may be told of a salt, to recognise it."""
    return digest(["salt", salt])
