"""Retrieval of counter-arguments: candidate sets, baselines and the tables of Shi et al. (2023)."""
