"""Twitter4SSE (Di Giovanni and Brambilla, EMNLP 2021): informal text, learned from who quotes and answers whom."""

from __future__ import annotations

from typing import ClassVar, Literal

from pydantic import Field, field_validator, model_validator

from modeling.base.recipe import HoldOptions, OnlyTestSource, Positive, TestSource, listed

SETS = ("quote", "reply", "coquote", "coreply")
ALL = "all"


class Options(HoldOptions):
    """Options of the system, with the paper's values where it has them."""

    configs: ClassVar = ("quote", "reply", "coquote", "coreply", "examples", "dq", "cq", "dr", "cr", "similarity")
    sets: str = ALL
    """pairs to train on: quote, reply, coquote, coreply, several of them, a,b, or all that there are"""
    per_set: Positive | None = 250000
    """sample of each set's pairs; none: all"""
    objective: Literal["mnrl", "triplet"] = "mnrl"
    """mnrl: the partner among all of the batch; triplet: against one random tweet"""
    scale: float = Field(20.0, gt=0)
    """of mnrl: factor of the cosines"""
    margin: float = Field(5.0, gt=0)
    """of triplet: distance by which the other tweet must be farther; below 2 on unit vectors"""
    normalised: bool = True
    """whether triplets are of unit vectors; false: of vectors as they are, as in the paper"""
    benchmarks: TestSource = None
    """source of ranking benchmarks to evaluate on, or several, a,b; none: those of data"""
    pit: OnlyTestSource = None
    """source of scored pairs of tweets on one trend (pit2015); none: skip"""
    turl: OnlyTestSource = None
    """source of scored pairs of tweets with one link (turl); none: skip"""
    similarity: TestSource = None
    """source of scored pairs of sentences (stsb); none: skip"""

    @field_validator("sets")
    @classmethod
    def _known(cls, sets: str) -> str:
        if not listed(sets) or not set(listed(sets)) <= {*SETS, ALL}:
            raise ValueError(f"--sets must be {ALL}, or of {', '.join(SETS)}, got {sets!r}")
        return sets

    @model_validator(mode="after")
    def _consistent(self) -> Options:
        self.check_lengths(self.objective == "triplet")
        return self
