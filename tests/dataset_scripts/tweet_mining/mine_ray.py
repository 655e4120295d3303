"""Mines on a local Ray cluster of two workers: python -m tests.dataset_scripts.tweet_mining.mine_ray OUT WORK FILES."""

from __future__ import annotations

import json
import os
import sys
from pathlib import Path

if __name__ == "__main__":
    os.environ["RAY_AUTH_MODE"] = "disabled"
    os.environ["RAY_ENABLE_UV_RUN_RUNTIME_ENV"] = "0"
    import ray

    from dataset_scripts.tweet_mining.engine import start_engine
    from dataset_scripts.tweet_mining.mining import mine
    from dataset_scripts.tweet_mining.options import MiningOptions
    from tests.dataset_scripts.tweet_mining.conftest import OPTIONS

    ray.init(num_cpus=2, include_dashboard=False, log_to_driver=False, configure_logging=False)
    start_engine("ray")
    out, work, *files = map(Path, sys.argv[1:])
    mined = mine(files, out, work, MiningOptions(**OPTIONS), buckets=2)
    print(json.dumps({"lines": mined.lines, "tweets": mined.tweets, "sets": mined.sets}))
    ray.shutdown()
