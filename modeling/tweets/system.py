"""Twitter4SSE, sentence embeddings from conversations (Di Giovanni and Brambilla, EMNLP 2021).

A tweet and what quotes or answers it are about one thing, and so are two answers to one tweet. Pairs of them, mined out
of the stream without a label, teach an encoder informal text: the partner is to be told from the other tweets of the
batch (multiple negatives ranking), or from one random tweet (triplets).
"""

from __future__ import annotations

import logging
from collections.abc import Iterable, Iterator
from functools import partial

import numpy as np
from datasets import Dataset, concatenate_datasets
from sentence_transformers import SentenceTransformer
from sentence_transformers.sentence_transformer.losses import MultipleNegativesRankingLoss, TripletLoss
from sentence_transformers.util.distributed import is_dist_initialized

from dataset_scripts.base.sources import has_config, load_source
from dataset_scripts.base.splits import linked_groups
from modeling.base.batches import DistinctBatchSampler, distinct_batches
from modeling.base.evaluation import Evaluator, of_another_group, of_source
from modeling.base.keep import hold, with_replay
from modeling.base.models import without_normalize
from modeling.base.recipe import listed
from modeling.base.system import Data, Phase, System
from modeling.tweets import ALL, SETS
from modeling.tweets.evaluation import PearsonEvaluator, RankingEvaluator, Rankings

logger = logging.getLogger(__name__)
PAIR = ["anchor", "positive", "group"]
BENCHMARKS = {
    "dq": "quotes of a tweet among those of others",
    "cq": "quotes of one tweet among those of others",
    "dr": "replies to a tweet among those to others",
    "cr": "replies to one tweet among those to others",
}
SCORED = {
    "pit": "tweets of one trend, scored by experts",
    "turl": "tweets with one link, scored by votes",
    "similarity": "topical similarity of sentences",
}
LEAST = 10  # queries; one alone would be a quarter of the mean


class TweetsSystem(System):
    """The system of section 3; `sets` and `objective` are its options.

    `mnrl` is the paper's MNLoss: softmax over the cosines, times `scale`, of an anchor and all positives of the batch.
    No text and no conversation comes twice in a batch, since the paper assumes that the other rows are negatives.
    `triplet` is its TLoss, the Euclidean distance to a random positive of another conversation; its margin, the default
    of the library of then, is a distance between vectors that are not normalised (`normalised: false`), and one between
    unit vectors has to stay below 2. Cosines, and so `mnrl`, are the same in either case.

    The paper validates on nothing and keeps the last step. Here the mean nDCG over the validation benchmarks, mined
    from conversations of their own, chooses the checkpoint. `keep` and `replay`, which hold similarity, are not in the
    paper either.
    """

    PRIMARY = "benchmarks_ndcg"
    TAGS = ["twitter", "tweets", "informal-text", "conversations"]
    DEMONSTRATIONS = [
        ("The ferry is late again, third time this week.", "an hour on the pier and still no boat in sight", "reply"),
        ("The ferry is late again, third time this week.", "so happy the ferry got me home early tonight", "opposite"),
        ("The ferry is late again, third time this week.", "who else is baking bread this weekend?", "another matter"),
        ("New album is out tonight and I am not ready.", "track three made me cry lol, what a voice", "reply"),
        ("New album is out tonight and I am not ready.", "the trains to the coast are running again", "another matter"),
        ("omg that last minute goal!!", "The match was decided shortly before its end.", "the same, formally"),
    ]

    def load_data(self) -> Data:
        """The pairs of the sets; `groups` says which of them share a conversation or a text."""
        recipe, asked, parts, counts = self.recipe, listed(self.options.sets), [], {}
        sets = [name for name in SETS if name in asked or ALL in asked]
        self._check(recipe.data, SETS)
        for name in sets:
            if rows := self._rows(recipe.data, name, "train", PAIR):
                counts[f"{name} pairs of the sources"] = len(rows)
                parts.append(self.sample(rows, recipe["per_set"]))
            elif ALL not in asked:
                has = f"{', '.join(recipe.data)} has no {name} pairs to train on"
                raise ValueError(f"--sets: {has}; --sets {ALL} takes what there is")
        counts["sets without pairs"] = len(sets) - len(parts)
        if not parts:
            raise ValueError(f"--data: {', '.join(recipe.data)} has no pairs to train on, of {', '.join(SETS)}")
        rows = self.sample(concatenate_datasets(parts), recipe.max_train_rows)
        rows = rows.shuffle(seed=recipe.seed).flatten_indices()
        counts["pairs in training"] = len(rows)
        # what a row shares with those that cannot be its negatives: conversation (in a tuple: no text) and texts
        conversations = [(group,) for group in rows["group"]]
        linked = np.array(linked_groups(list(zip(conversations, rows["anchor"], rows["positive"], strict=True))))
        rows = rows.select_columns(PAIR[:2])
        if recipe["objective"] == "triplet":
            rows = rows.add_column("negative", self._negatives(rows["positive"], linked))
        else:
            left_out = len(rows) - distinct_batches(np.bincount(linked), recipe.batch_size) * recipe.batch_size
            counts["pairs that an epoch leaves out"] = left_out
            logger.info("each epoch leaves out %d of %d pairs: no batch has a text twice", left_out, len(rows))
        rows = with_replay(self, rows, counts)
        return Data({"pairs": rows}, self.source_names("replay"), counts, {"pairs": linked})

    def _check(self, sources: list[str], configs: Iterable[str]) -> None:
        """Makes sure that each source has one of the configurations: a mistyped one would go unnoticed."""
        for source in sources:
            if not any(has_config(source, config) for config in configs):
                load_source(source, next(iter(configs)), self.cache)  # says what is wrong with it

    def _rows(
        self, sources: list[str], config: str, split: str, columns: list[str], limit: int | None = None
    ) -> Dataset | None:
        """A split of all sources that have it, a sample of `limit` rows each; None without rows."""
        splits = [load_source(each, config, self.cache).get(split) for each in sources if has_config(each, config)]
        parts = [self.sample(rows.select_columns(columns), limit) for rows in splits if rows]
        if "group" in columns and len(parts) > 1:  # each source counts its conversations from 0
            parts = [
                rows.remove_columns("group").add_column("group", [f"{number}-{group}" for group in rows["group"]])
                for number, rows in enumerate(parts)
            ]
        return concatenate_datasets(parts) if parts else None

    def _negatives(self, positives: list[str], linked: np.ndarray) -> list[str]:
        """For each row the positive of a random row that it has neither conversation nor text in common with."""
        if len(set(linked)) < 2:
            cure = "there is only one; check --data and --max-train-rows"
            raise ValueError(f"--objective triplet draws negatives from other conversations: {cure}")
        return [positives[other] for other in of_another_group(linked, self.recipe.seed)]

    def phases(self, model: SentenceTransformer, data: Data) -> Iterator[Phase]:
        """One phase; triplets without `normalised` see vectors before their Normalize module until it is over."""
        recipe, rows = self.recipe, data.train["pairs"]
        if recipe["objective"] == "triplet":
            loss, arguments = TripletLoss(model, triplet_margin=recipe["margin"]), {}
        else:  # the positives of all processes compete, so that many see what one sees
            gather = is_dist_initialized()
            loss = MultipleNegativesRankingLoss(model, scale=recipe["scale"], gather_across_devices=gather)
            arguments = {"batch_sampler": partial(DistinctBatchSampler, groups=data.groups["pairs"])}
        with without_normalize(model, not recipe["normalised"]):
            yield Phase("pairs", rows, hold(recipe, model, loss), recipe.epochs, arguments)

    def evaluators(self, split: str) -> list[Evaluator]:
        """The benchmarks together, and where nothing waits for it also one by one; then scored pairs.

        Benchmarks of fewer than ten queries are left out where there are larger ones.
        """
        recipe, testing, limit = self.recipe, split == "test", self.limit(split)
        sources = listed(recipe["benchmarks"]) or recipe.data
        self._check(sources, [*BENCHMARKS, *SETS])
        columns = ["query", "positives", "negatives"]
        benchmarks = {name: self._rows(sources, name, split, columns, limit) for name in BENCHMARKS}
        benchmarks = {name: rows for name, rows in benchmarks.items() if rows}
        most = max(map(len, benchmarks.values()), default=0)
        if small := [name for name, rows in benchmarks.items() if len(rows) < LEAST < most]:
            logger.info("%s: fewer than %s queries for %s, left out", split, LEAST, ", ".join(small))
            benchmarks = {name: rows for name, rows in benchmarks.items() if name not in small}
        if not benchmarks:
            has = f"{', '.join(sources)} has no benchmark for {split} ({', '.join(BENCHMARKS)})"
            raise ValueError(f"{has}: name a source that has one with --benchmarks")
        facts = of_source(sources, split)
        rankings = Rankings(benchmarks, facts["dataset"])
        title = f"tweets of one conversation, mean of {', '.join(benchmarks)}"
        result: list[Evaluator] = [RankingEvaluator(rankings, title=title, **facts)]
        if testing:
            result += [RankingEvaluator(rankings, name, [name], title=BENCHMARKS[name], **facts) for name in benchmarks]
        for option in SCORED if testing else ["similarity"]:
            if source := recipe[option]:
                rows = self.rows(source, "similarity", split, limit)
                result.append(PearsonEvaluator(rows, option, title=SCORED[option], **of_source(source, split)))
        return result
