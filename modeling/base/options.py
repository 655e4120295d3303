"""Values of command-line options that several commands read alike."""

from __future__ import annotations

import argparse


def separated(text: str) -> list[str]:
    """What stands between commas, each once; raises an ArgumentTypeError if there is nothing."""
    found = list(dict.fromkeys(word.strip() for word in text.split(",") if word.strip()))
    if not found:
        raise argparse.ArgumentTypeError("name at least one")
    return found


def count(text: str) -> int:
    """A whole number above 0, or an ArgumentTypeError."""
    if not text.isdecimal() or int(text) < 1:
        raise argparse.ArgumentTypeError(f"{text!r} must be a whole number above 0")
    return int(text)


def counts(text: str) -> tuple[int, ...]:
    """Whole numbers above 0 between commas, ascending, each once, or an ArgumentTypeError."""
    return tuple(sorted({count(word) for word in separated(text)}))
