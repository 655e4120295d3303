"""SOS, SBERT for opinion similarity (Tay, Zhang, Wan and Karimi, NewSum 2021): opinions on one aspect, told apart."""

from __future__ import annotations

from typing import Literal

from pydantic import Field, model_validator

from modeling.base.recipe import HoldOptions, OnlyTestSource, PerSource, TestSource

LONGEST = 2.0  # Euclidean distance of opposite unit vectors


class Options(HoldOptions):
    """Options of the system, with the paper's values where it has them."""

    objective: Literal["siamese", "triplet"] = "triplet"
    """siamese: classify pairs; triplet: place the other polarity farther away"""
    margin: float = Field(7.0, gt=0)
    """of triplets: distance by which the other polarity must be farther; below 2 on unit vectors"""
    normalised: bool = False
    """whether the losses see unit vectors; false: vectors as they are, as in the paper"""
    per_source: PerSource = None
    reviews: TestSource = None
    """source of review triplets to evaluate on, or several, a,b; none: those of data"""
    opinions: OnlyTestSource = None
    """source of opinions with people's scores of similarity; none: skip"""
    similarity: TestSource = None
    """source of scored pairs, to see what is forgotten; none: skip"""

    @model_validator(mode="after")
    def _consistent(self) -> Options:
        if self.normalised and self.margin >= LONGEST:
            raise ValueError(
                f"--margin {self.margin:g} cannot be met on unit vectors, whose distance is {LONGEST:g} at most: lower "
                "it, or use --normalised false as the paper does"
            )
        if not self.normalised and (self.keep or self.replay):
            raise ValueError("--keep and --replay compare unit vectors: they need --normalised true")
        return self
