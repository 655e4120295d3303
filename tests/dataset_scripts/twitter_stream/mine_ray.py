"""Mines on a Ray cluster of two nodes here: python -m tests.dataset_scripts.twitter_stream.mine_ray OUT WORK FILES."""

from __future__ import annotations

import json
import os
import sys
from pathlib import Path

if __name__ == "__main__":
    os.environ["RAY_AUTH_MODE"] = "disabled"
    os.environ["RAY_ENABLE_UV_RUN_RUNTIME_ENV"] = "0"
    os.environ.update(RAY_worker_niceness="0")  # by default workers wait for whatever else runs here
    import ray
    from ray.cluster_utils import Cluster

    from dataset_scripts.base.engine import start_engine
    from dataset_scripts.twitter_stream.mining import mine
    from dataset_scripts.twitter_stream.options import MiningOptions
    from tests.dataset_scripts.twitter_stream.conftest import OPTIONS

    node = {"num_cpus": 1, "object_store_memory": 512 << 20}
    cluster = Cluster(initialize_head=True, head_node_args=node | {"include_dashboard": False})
    cluster.add_node(**node)
    start_engine("ray", cluster.address)
    out, work, *files = map(Path, sys.argv[1:])
    mined = mine(files, out, work, MiningOptions(**OPTIONS), ["coreply", "cr"], partitions=1)
    machines = sum(node["Alive"] for node in ray.nodes())
    print(json.dumps({"machines": machines, "lines": mined.lines, "tweets": mined.tweets, "sets": mined.sets}))
    ray.shutdown()
    cluster.shutdown()
