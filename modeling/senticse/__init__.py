"""SentiCSE (Kim, Na, Kim, Lee and Chae, LREC-COLING 2024): sentences of one polarity lie close together."""

from __future__ import annotations

from typing import ClassVar, Literal

from pydantic import Field, model_validator

from modeling.base.recipe import HoldOptions, PerSource, Recipe, Source, TestSource


class Options(HoldOptions):
    """Options of the system, with the paper's values where it has them."""

    configs: ClassVar = ("quadruples", "examples", "sgts", "similarity")
    tau: float = Field(0.05, gt=0, le=10)
    """temperature of the sentence-level loss"""
    alpha: float = Field(1.0, gt=0, le=1000)
    """weight of its negatives"""
    lambda_w: float = Field(0.15, ge=0)
    """weight of the word-level loss; 0: none, and no forward pass for it"""
    masking: float = Field(0.1, gt=0, le=1)
    """probability that a positive or negative word is masked"""
    word_reduction: Literal["mean", "sum"] = "sum"
    """over masked words, mean or sum (the paper's), which grows with the batch"""
    pooling: Literal["mean", "cls_mlp"] = "mean"
    """the base's own (mean), or cls_mlp: [CLS], a dense layer, tanh (the paper's); needs lora false"""
    lexicon: Source = None
    """words with their polarity (their source); none: VADER's, of the package vaderSentiment"""
    per_source: PerSource = None
    sentiment: TestSource = None
    """source of pairs of like and unlike polarity, or several, a,b; none: the first of data"""
    similarity: TestSource = None
    """source of scored pairs, to see what is forgotten; none: skip"""

    @model_validator(mode="after")
    def _consistent(self) -> Options:
        if self.pooling == "cls_mlp" and (self.keep or self.replay):
            raise ValueError(
                "--keep and --replay hold the base's similarities, and --pooling cls_mlp begins with others: use "
                "--keep 0 --replay none, or --pooling mean"
            )
        return self

    def check(self, recipe: Recipe) -> None:
        """Refuses a pooling that an adapter's files cannot hold."""
        if self.pooling == "cls_mlp" and recipe.lora:
            raise ValueError(
                "--pooling cls_mlp adds a layer that a LoRA adapter's files cannot hold: use --lora false, or "
                "--pooling mean"
            )
