"""Seconds per metric through `evaluate.load(...).compute(...)` and through the plain function.

    python benchmarks/metric_modules.py --pairs 1000000

The ratio says what the Arrow file that evaluate writes and reads back costs.
"""

import argparse
import sys
import time
from pathlib import Path

import evaluate
import numpy as np

METRICS = Path(__file__).resolve().parents[1] / "metrics"


def seconds(function, repeats: int, **inputs) -> float:
    """The fastest of several runs, in seconds."""
    times = []
    for _ in range(repeats):
        start = time.perf_counter()
        function(**inputs)
        times.append(time.perf_counter() - start)
    return min(times)


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--pairs", type=int, default=1_000_000, help="number of pairs (default: %(default)s)")
    parser.add_argument("--repeats", type=int, default=3, help="runs per figure, the fastest counts")
    arguments = parser.parse_args()

    generator = np.random.default_rng(0)
    labels = generator.integers(0, 2, arguments.pairs)
    cosines = np.clip(generator.normal(0.4 + 0.1 * labels, 0.2), -1, 1)
    groups = np.array(["democrat", "republican"])[labels]
    cases = [
        ("sgts", labels, {}),
        ("stance_kl_divergence", labels, {}),
        ("alignment_precision", groups, {"target": "republican", "threshold": 0.6, "k": [10, 100]}),
    ]

    print(f"{arguments.pairs:,} pairs, seconds\n")
    print(f"{'metric':<22}{'input':<8}{'evaluate':>10}{'function':>10}{'ratio':>8}")
    for name, references, options in cases:
        metric = evaluate.load(str(METRICS / name))
        function = getattr(sys.modules[type(metric).__module__], name)
        for kind, inputs in (
            ("array", {"predictions": cosines, "references": references}),
            ("list", {"predictions": cosines.tolist(), "references": references.tolist()}),
        ):
            loaded = seconds(metric.compute, arguments.repeats, **inputs, **options)
            plain = seconds(function, arguments.repeats, **inputs, **options)
            print(f"{name:<22}{kind:<8}{loaded:>10.2f}{plain:>10.2f}{loaded / plain:>8.1f}")


if __name__ == "__main__":
    main()
