"""Samples of pairs; see `splits`."""

from dataset_scripts.base.splits import across, within

__all__ = ["across", "within"]
