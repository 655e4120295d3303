"""Which side the first hit of a short opinion takes, by the topic or the Bipolar-encoder less so much of the side.

    python -m tests.benchmarks.sides data/kialo data/perspectrum --split validation --opinions 600    # to choose by
    python -m tests.benchmarks.sides data/kialo data/perspectrum

Each opinion asks for the other texts for and against its statement, as in `modeling.bipolar.evaluation.SidesEvaluator`.
Topic and side are cosines of the bundled encoder and of stance-minilm. Vectors are computed in bfloat16.
"""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pandas as pd
import typer

from dataset_scripts.base.sources import load_split, source_name
from dataset_scripts.base.tables import markdown
from modeling.base.models import load_model
from modeling.base.vectors import Vectors, precision
from modeling.bipolar.candidates import shortlist
from modeling.bipolar.encoder import BipolarEncoder
from modeling.bipolar.evaluation import SidesEvaluator

WEIGHTS = (0, 0.3, 0.5, 0.7, 1, 1.5, 2)


def main(data: list[str], split: str = "test", opinions: int = 400, cache_dir: Path = Path(".cache/sides")) -> None:
    """Prints the shares of opinions, a seeded sample of each corpus, whose first hit is of the other side."""
    whole = BipolarEncoder.of(load_model("bipolar-minilm"))
    models = (load_model("bundled"), load_model("stance-minilm"), whole.encoder)
    table = []
    for source in data:
        rows = load_split(source, "families", split, cache_dir)
        name, columns = source_name(source), {column: np.asarray(rows[column]) for column in rows.column_names}
        evaluator = SidesEvaluator(columns, limit=opinions, title="", dataset=name, dataset_id=name)
        asked = evaluator.opinions
        with precision(True):
            topic, side, u = (np.asarray(Vectors(model, cache_dir)(asked.texts)) for model in models)
        points = asked.points
        cosines = side[points] @ side.T
        counters = whole.retrieval_embeddings(u[points], queries=True) @ whole.retrieval_embeddings(u).T
        for way, scores in (("topic", topic[points] @ topic.T), ("bipolar-minilm, retrieval", counters)):
            for weight in WEIGHTS:
                first = shortlist(scores - weight * cosines, asked.of("epa"), 1)[0][:, 0]
                figures = evaluator.metrics(asked.hits(first))
                table.append({"ranked by": f"{way} - {weight:g} side", "data": name, "other": figures["other_side"]})
        table.append({"ranked by": "chance", "data": name, "other": figures["chance"]})
    wide = pd.DataFrame(table).pivot_table("other", "ranked by", "data", sort=False)
    print(markdown(wide.reset_index()))


if __name__ == "__main__":
    typer.run(main)
