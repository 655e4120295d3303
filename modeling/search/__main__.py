"""Embeds a corpus once and asks any number of statements of it.

    python -m modeling.search embed tweets.csv --text text --group party --out tweets-index
    python -m modeling.search ask tweets-index "Trams should be free." --top 10 --out hits.csv
    python -m modeling.search align tweets-index "Trams should be free." --target GREEN --out align.csv
    python -m modeling.search axis tweets-index --positive "I support free trams." --negative "I oppose free trams."
    python -m modeling.search counter build arguments.csv --out arguments-index
    python -m modeling.search counter ask arguments-index "Trams should be free, since they keep cars out of town."

An interrupted `embed`, `counter build` or `counter extend` continues where it stopped when the same command is given
again.
"""

from __future__ import annotations

import os
import sys
from typing import TYPE_CHECKING

from modeling.base.cli import friendly_errors
from modeling.bipolar.search_counter import COUNTER
from modeling.search.old_commands import (
    PROGRAM,
    parse,
)

if TYPE_CHECKING:
    pass

COMMANDS = {
    "counter": COUNTER,
}


def main(arguments: list[str] | None = None) -> None:
    """Runs one command."""
    command, options = parse(PROGRAM, str(__doc__), COMMANDS, sys.argv[1:] if arguments is None else arguments)
    # torch's threads wait for each other by spinning, which slows down whatever runs beside them
    os.environ.setdefault("OMP_WAIT_POLICY", "PASSIVE")
    os.environ.setdefault("HF_DATASETS_DISABLE_PROGRESS_BARS", "1")
    with friendly_errors(PROGRAM):
        import warnings

        from transformers.utils import logging

        warnings.filterwarnings("ignore", category=FutureWarning, module="transformers")
        logging.disable_progress_bar()  # of loading weights; the bars of long work stay
        command.run(options)


if __name__ == "__main__":
    sys.exit(main())
