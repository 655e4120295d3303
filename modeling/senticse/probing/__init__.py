"""Probes of any sentence encoder for sentiment, the evaluation of SentiCSE."""
