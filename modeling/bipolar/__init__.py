"""Bipolar-encoder (Shi, Cao and Nguyen, 2023): the counter-argument that takes up a point with the opposite stance."""

from __future__ import annotations

from typing import Annotated, ClassVar, Literal

from pydantic import Field, model_validator

from modeling.base.recipe import OnlyTestSource, Positive, Recipe, SystemOptions, TestSource


class Options(SystemOptions):
    """Options of the system, with the paper's values where it has them."""

    configs: ClassVar = ("counters", "families", "similarity")
    architecture: Literal["heads", "bi-encoder"] = "heads"
    """heads: the system; bi-encoder: the paper's baseline, one encoder for points, one for counters"""
    split: Literal["clean", "official"] = "clean"
    """of the corpus; clean: debates on one thesis stay together; official: as published, which leaks"""
    objective: Literal["triplet", "ranking"] = "triplet"
    """triplet: distances and cross-entropy; ranking: among the arguments of a batch"""
    task: Literal["joint", "retrieval", "classification"] = "joint"
    """joint; retrieval or classification: one head alone, Unipolar-ret and Unipolar-cls"""
    negatives: Literal["batch", "random", "hard"] = "random"
    """batch: whole debates in each; drawn for each epoch: random, or hard: more and more the nearest to the counter"""
    hard_rate: float = Field(0.02, gt=0)
    """of negatives hard: probability of the nearest per epoch"""
    margin: float = Field(1.0, gt=0)
    """of triplets: Euclidean distance by which the negative must be farther"""
    scale: float = Field(20.0, gt=0)
    """of ranking: inverse temperature of similarities"""
    hardest: Positive = 4
    """of ranking: arguments that the classifier tells from the counter"""
    shared: bool = True
    """whether points and candidates have one retrieval head or one each"""
    difference: bool = True
    """whether the classifier sees |u - v|"""
    normalised: bool = False
    """whether retrieval embeddings are unit vectors; false: as they are, as in the paper"""
    fusion: Literal["learned"] | Annotated[float, Field(ge=0)] | None = None
    """weight of the classifier in the score; learned: on validation data; none: it re-ranks alone"""
    pooling: Literal["base", "cls"] = "base"
    """of the encoder's tokens: its own, or cls: the vector of [CLS]; needs lora false"""
    counters: OnlyTestSource = None
    """source of counter-arguments to evaluate on, or several, a,b; none: those of data"""
    sides: OnlyTestSource = None
    """source of short opinions for and against statements, or several, a,b: is the first hit of the other side?"""
    similarity: TestSource = None
    """source of scored pairs, to see what is forgotten; none: skip"""

    @model_validator(mode="after")
    def _consistent(self) -> Options:
        if self.architecture != "heads" and self.negatives == "batch":
            raise ValueError(f"--architecture {self.architecture} needs --negatives random or hard")
        if self.objective == "triplet" and self.negatives == "batch":
            raise ValueError("--objective triplet needs a negative in each row: --negatives random or hard")
        return self

    def check(self, recipe: Recipe) -> None:
        """Refuses what an adapter's files cannot hold."""
        if self.architecture != "heads" and recipe.lora:
            raise ValueError(f"--architecture {self.architecture} trains all weights: use --lora false")
        if self.pooling == "cls" and recipe.lora:
            raise ValueError(
                "--pooling cls changes a module that a LoRA adapter's files do not hold: use --lora false, or "
                "--pooling base"
            )
