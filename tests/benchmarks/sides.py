"""Which side the first hit of a short opinion takes, by the topic or the Bipolar-encoder less so much of the side.

    python -m tests.benchmarks.sides data/kialo data/perspectrum --split validation --opinions 600    # to choose by
    python -m tests.benchmarks.sides data/kialo data/perspectrum

Each opinion asks for the other texts for and against its statement, as in `modeling.bipolar.evaluation.SidesEvaluator`.
Topic and side are cosines of the bundled encoder and of stance-minilm. Vectors are computed in bfloat16.
"""

from __future__ import annotations

import argparse
from pathlib import Path

import numpy as np
import pandas as pd

from dataset_scripts.base.sources import load_split, source_name
from dataset_scripts.base.tables import markdown
from modeling.base.models import load_model
from modeling.base.vectors import Vectors, precision
from modeling.bipolar.candidates import Opinions
from modeling.bipolar.encoder import BipolarEncoder

WEIGHTS = (0, 0.3, 0.5, 0.7, 1, 1.5, 2)


def main() -> None:
    """Prints the shares of opinions whose first hit is of the other side."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("data", nargs="+", help="folders of corpora with families")
    parser.add_argument("--split", default="test", help="(default: %(default)s)")
    parser.add_argument("--opinions", type=int, default=400, help="a seeded sample (default: %(default)s)")
    parser.add_argument("--cache-dir", type=Path, default=Path(".cache/sides"))
    options = parser.parse_args()
    whole = BipolarEncoder.of(load_model("bipolar-minilm"))
    models = (load_model("bundled"), load_model("stance-minilm"), whole.encoder)
    table = []
    for data in options.data:
        rows = load_split(data, "families", options.split, options.cache_dir)
        asked = Opinions({name: np.asarray(rows[name]) for name in rows.column_names}, options.opinions)
        with precision(True):
            topic, side, u = (np.asarray(Vectors(model, options.cache_dir)(asked.texts)) for model in models)
        points = asked.points
        cosines = side[points] @ side.T
        counters = whole.retrieval_embeddings(u[points], queries=True) @ whole.retrieval_embeddings(u).T
        for name, scores in (("topic", topic[points] @ topic.T), ("bipolar-minilm, retrieval", counters)):
            for weight in WEIGHTS:
                ranked = scores - weight * cosines
                first = [
                    pool[row[pool].argmax()] for row, pool in zip(ranked, map(np.asarray, asked.pools), strict=True)
                ]
                other = float(np.mean([hit in answers for hit, answers in zip(first, asked.answers, strict=True)]))
                table.append({"ranked by": f"{name} - {weight:g} side", "data": source_name(data), "other": other})
        chance = np.mean([len(answers) / len(pool) for answers, pool in zip(asked.answers, asked.pools, strict=True)])
        table.append({"ranked by": "chance", "data": source_name(data), "other": chance})
    print(
        markdown(
            pd.DataFrame(table)
            .pivot_table(index="ranked by", columns="data", sort=False)
            .droplevel(0, axis=1)
            .reset_index()
        )
    )


if __name__ == "__main__":
    main()
