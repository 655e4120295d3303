"""Trains, evaluates and publishes a model: from a recipe to a loadable checkpoint.

    python train.py                                       # the demonstration, on a laptop, without a network
    python train.py RECIPE --data data/my-corpus          # one CPU or GPU
    accelerate launch train.py RECIPE                     # the GPUs that `accelerate config` knows
    torchrun --nproc_per_node 2 train.py RECIPE           # two processes, CPUs included
    python train.py RECIPE --push_to_hub org/name         # publish the merged model and its adapter
    python train.py RECIPE --grid margin=0.1:1.0:0.1      # a grid search, "paper / ours"

An interrupted run continues where it stopped when the same command is given again.
"""

from __future__ import annotations

import os
import sys

from modeling.base.cli import friendly_errors, parse

if __name__ == "__main__":
    recipe, points = parse(__doc__, sys.argv[1:])

    # torch's threads wait for each other by spinning: beside another busy process steps took 3 to 10 times as long
    os.environ.setdefault("OMP_WAIT_POLICY", "PASSIVE")

    from modeling.base.run import run, run_grid  # after parsing: importing torch takes seconds, --help must not

    with friendly_errors():
        if points:
            run_grid(recipe, points)
        else:
            run(recipe)
