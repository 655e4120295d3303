"""Tasks of stance, opinions and counter-arguments for `mteb`, whose leaderboards have none, on corpora of this suite.

    import mteb
    mteb.evaluate(SentenceTransformer("org/model"), [StanceSeparation("data/kialo")], cache=None)

The measures are those of `metrics/` and of the evaluators here, computed by mteb where it has them.
"""

from __future__ import annotations

from functools import partial
from typing import Any

import numpy as np
from datasets import Dataset
from mteb.abstasks.abstask import AbsTask
from mteb.abstasks.pair_classification import AbsTaskPairClassification
from mteb.abstasks.retrieval import AbsTaskRetrieval
from mteb.abstasks.sts import AbsTaskSTS
from mteb.abstasks.task_metadata import TaskMetadata

from dataset_scripts.base.sources import load_split, source_name
from metrics.stance_kl_divergence.stance_kl_divergence import stance_kl_divergence
from modeling.bipolar.candidates import Candidates, sample

TEST, ALL, ENGLISH = "test", "default", ["eng-Latn"]  # split and subset, as mteb names them
# what all tasks have in common; the data set is named when the task has its corpus
described = partial(TaskMetadata, dataset={"path": "demo", "revision": "main"}, category="t2t")


class CorpusTask(AbsTask):
    """A task on the test split of one configuration of a corpus, or on a seeded sample of `limit` rows.

    The source is a folder of `opinion corpus build`, a data set's id on the Hub, or `demo`.
    """

    config: str

    def __init__(
        self, source: str, limit: int | None = None, cache_dir: str = "~/.cache/opinion-transformers", **options: Any
    ) -> None:
        self.source, self.limit, self.cache_dir = str(source), limit, cache_dir
        name = source_name(self.source)  # a local path goes into no result
        own = {"name": f"{self.metadata.name} ({name}{f', {limit} rows' if limit else ''})"}
        # mteb keeps results by name: those of two corpora, or of a sample, are not one
        own["dataset"] = {"path": name, "revision": "main"}
        self.metadata = self.metadata.model_copy(update=own)
        super().__init__(**options)

    def load_data(self, *args: Any, **options: Any) -> None:
        """Reads the corpus, once."""
        if not self.data_loaded:
            rows = load_split(self.source, self.config, TEST, self.cache_dir)
            self.dataset = {subset: {TEST: own} for subset, own in self.subsets(rows).items()}
            self.data_loaded = True

    def subsets(self, rows: Dataset) -> dict[str, Any]:
        """Name of a subset -> what mteb evaluates on."""
        return {ALL: rows.select(sample(len(rows), self.limit))}


class StanceSeparation(CorpusTask, AbsTaskPairClassification):
    """Do agreeing texts lie nearer to each other than opposing ones on the same topic? AUROC of the cosines.

    .5 is chance: the sides of a topic look alike. Beside it stand mteb's own measures, such as average precision.
    """

    config, label_column_name = "pairs", "label"
    metadata = described(
        name="StanceSeparation",
        description="Pairs of arguments of one discussion that agree or oppose each other.",
        reference="https://aclanthology.org/2024.emnlp-main.1171/",
        type="PairClassification",
        eval_langs=ENGLISH,
        main_score="auroc",
    )

    def _compute_metrics(self, similarity_scores: Any, labels: list[int]) -> dict[str, float]:
        own = stance_kl_divergence(similarity_scores["cosine_scores"], labels)
        return super()._compute_metrics(similarity_scores, labels) | {key: own[key] for key in ("auroc", "kl")}


class OpinionSimilarity(CorpusTask, AbsTaskSTS):
    """Do cosines of opinions on one aspect agree with people's scores? Pearson correlation, the mean of two domains."""

    config, min_score, max_score = "opinions", 0, 4
    metadata = described(
        name="OpinionSimilarity",
        description="Pairs of opinions from reviews with people's mean score of how far they say the same.",
        reference="https://aclanthology.org/2021.newsum-1.9/",
        type="STS",
        eval_langs={"laptop": ENGLISH, "restaurant": ENGLISH},
        main_score="cosine_pearson",
    )

    def subsets(self, rows: Dataset) -> dict[str, Dataset]:
        domains = np.char.lower(np.asarray(rows["domain"], str))
        own = {domain: np.flatnonzero(domains == domain) for domain in self.metadata.eval_langs}
        return {domain: rows.select(places[sample(len(places), self.limit)]) for domain, places in own.items()}


class CounterArguments(CorpusTask, AbsTaskRetrieval):
    """Is what comes first among all arguments of a portal a right counter-argument? Accuracy@1, mteb's hit rate.

    A sample is of points: all arguments stay candidates.
    """

    config, ignore_identical_ids, k_values = "counters", True, (1, 10, 100)
    metadata = described(
        name="CounterArguments",
        description="Arguments of debates, each of which asks for its best counter-argument among all of a portal.",
        reference="https://aclanthology.org/P18-1023/",
        type="Retrieval",
        eval_langs=ENGLISH,
        main_score="hit_rate_at_1",
    )

    def subsets(self, rows: Dataset) -> dict[str, Any]:
        everything = Candidates(rows)
        asked = everything.take(sample(len(everything), self.limit))
        corpus = Dataset.from_dict({"id": [*map(str, range(len(asked.texts)))], "text": asked.texts})
        answers = {
            str(point): dict.fromkeys(map(str, own), 1) for point, own in zip(asked.points, asked.answers, strict=True)
        }
        queries = corpus.select(sorted(map(int, answers)))
        return {ALL: {"corpus": corpus, "queries": queries, "relevant_docs": answers, "top_ranked": None}}
