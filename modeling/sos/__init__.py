"""SOS, SBERT for opinion similarity (Tay, Zhang, Wan and Karimi, NewSum 2021): opinions on one aspect, told apart."""

from __future__ import annotations

from typing import ClassVar, Literal

from pydantic import Field, model_validator

from modeling.base.recipe import FamilyOptions, OnlyTestSource, Positive, TestSource


class Options(FamilyOptions):
    """Options of the system, with the paper's values where it has them."""

    configs: ClassVar = ("pairs", "triplets", "families", "examples", "opinions", "similarity")
    objective: Literal["siamese", "triplet", "families"] = "triplet"
    """siamese: classify pairs; triplet: the other polarity farther away; families (ours): all triplets of a product"""
    margin: float = Field(7.0, gt=0)
    """of triplets: distance by which the other polarity must be farther; below 2 on unit vectors"""
    normalised: bool = False
    """whether the losses see unit vectors; false: vectors as they are, as in the paper"""
    aspects: Positive | None = None
    """families: of some so many texts that the base finds alike, whatever the product; none: of one product each"""
    reviews: TestSource = None
    """source of review triplets to evaluate on, or several, a,b; none: those of data"""
    opinions: OnlyTestSource = None
    """source of opinions with people's scores of similarity; none: skip"""
    similarity: TestSource = None
    """source of scored pairs, to see what is forgotten; none: skip"""

    @model_validator(mode="after")
    def _consistent(self) -> Options:
        if self.objective == "families" and not self.normalised:
            raise ValueError("--objective families compares unit vectors: it needs --normalised true")
        self.check_lengths()
        return self
