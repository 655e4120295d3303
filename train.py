"""Trains, evaluates and publishes a model: from a recipe to a loadable checkpoint.

    python train.py                                       # the demonstration, on a laptop, without a network
    python train.py RECIPE --quick                        # does it run? five steps on samples, in minutes
    python train.py RECIPE --data data/my-corpus          # one CPU or GPU
    accelerate launch train.py RECIPE                     # the GPUs that `accelerate config` knows
    torchrun --nproc_per_node 2 train.py RECIPE           # two processes, CPUs included
    python train.py RECIPE --push-to-hub org/name         # publish the merged model and its adapter
    python train.py RECIPE --grid margin=0.1:1.0:0.1      # a grid search, "paper / ours"

An interrupted run continues where it stopped when the same command is given again.
"""

import sys

from modeling.base.commands import run_command_line

if __name__ == "__main__":
    run_command_line(__doc__, sys.argv[1:])
