"""What a run of the miner is to do, and which of it each stage depends on."""

from __future__ import annotations

import hashlib
import json
from typing import Any

from pydantic import model_validator

from dataset_scripts.base.metadata import load_metadata


class MiningOptions(load_metadata("twitter_stream").options_model):
    """The seed and the options of `metadata/twitter_stream.yaml`, which has their types, ranges and defaults."""

    @model_validator(mode="after")
    def _check(self) -> MiningOptions:
        if self.validation + self.test >= 1:
            shares = f"{self.validation} and {self.test}"
            raise ValueError(f"--validation and --test are shares that leave some for training, got {shares}")
        if not self.lang:
            raise ValueError("--lang must be a language as Twitter calls it, or all")
        if self.address is not None and self.engine != "ray":
            raise ValueError("--address is that of a Ray cluster: it needs --engine ray")
        return self

    @property
    def children(self) -> int:
        """How many answers of a tweet are needed: the positives of a query, and the query if it is one of them."""
        return self.positives + 1

    def parsing(self) -> dict[str, Any]:
        """The options on which the first stage depends."""
        return self.model_dump(include={"lang", "seed", "keep_ids"})

    def pairing(self) -> dict[str, Any]:
        """Those on which the second does."""
        return self.parsing() | self.model_dump(include={"positives", "validation", "test"})


def digest(facts: Any) -> str:
    """A short name for facts (JSON throughout); what is kept under it is used again where they are the same."""
    return hashlib.blake2b(json.dumps(facts, sort_keys=True).encode(), digest_size=8).hexdigest()
