"""Probes of any sentence encoder for sentiment, the evaluation of SentiCSE: `python -m modeling.senticse.probing --help`."""
