"""Stance-aware sentence transformers (Ghafouri, Such and Suarez-Tangil, EMNLP 2024): agreement lies close together."""

from __future__ import annotations

from typing import ClassVar, Literal

from pydantic import Field

from modeling.base.recipe import FamilyOptions, OnlyTestSource, TestSource


class Options(FamilyOptions):
    """Options of the system, with the paper's values where it has them."""

    configs: ClassVar = ("pairs", "triplets", "families", "examples", "similarity", "inference", "tweets", "issues")
    objective: Literal["siamese", "triplet", "hybrid", "families"] = "hybrid"
    """siamese (pairs), triplet, hybrid (first triplets, then pairs), or families (ours: all triplets of an issue)"""
    margin: float = Field(0.4, gt=0, le=2)
    """distance by which an opposing text must be farther than an agreeing one"""
    filter_pairs: float | None = Field(0.5, ge=-1, le=1)
    """least base cosine of a training pair; none: keep all"""
    filter_triplets: float | None = Field(0.3, ge=-1, le=1)
    """least base cosine within a training triplet; none: keep all"""
    stance: TestSource = None
    """source of the pairs to evaluate on; none: the first of data"""
    similarity: TestSource = None
    """source of scored pairs, to see what is forgotten; none: skip"""
    inference: OnlyTestSource = None
    """source of contradiction / neutral / entailment pairs; none: skip"""
    alignment: OnlyTestSource = None
    """source of texts with their author's group (tweets of Congress); none: skip"""
    targets: OnlyTestSource = None
    """source of texts for and against targets that come with statements (tweet_stance); none: skip"""
