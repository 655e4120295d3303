"""A collection of texts that is asked for counter-arguments: a shortlist by retrieval, ranked by the classifier."""

from __future__ import annotations

from collections.abc import Sequence
from functools import cached_property

import numpy as np
import pandas as pd

from modeling.bipolar.encoder import BipolarEncoder
from modeling.bipolar.heads import heads_of
from modeling.search.index import Index, as_list

AGAINST = 0.3  # what the side's cosine takes off the topic's where other statements are in the collection, too


class CounterIndex(Index):
    """An index that `opinion embed` made, asked for counters; of a Bipolar-encoder, it holds the embeddings u."""

    side = -AGAINST

    @cached_property
    def ranker(self) -> BipolarEncoder | None:
        """The model with its heads; None for one without, whose texts are ranked by similarity."""
        return None if heads_of(self.model) is None else BipolarEncoder.of(self.model)

    @property
    def meaning(self) -> str:
        """What a score is."""
        if self.ranker is None:
            score = f", that of topics less {-self.side:g} of that of sides" if self.lens == "both" else ""
            return f"in the order of their similarity{score}: {self.facts['model']} has no classifier"
        if (weight := self.ranker.heads.fusion_weight) is None:
            return "score: probability that the text counters the argument, by the classification head"
        return f"score: similarity + {weight:g} x log-odds that the text counters the argument, by the classifier"

    def embeddings(self, numbers: slice | np.ndarray) -> np.ndarray:
        """Retrieval embeddings of texts by their numbers; shape (k, d), float32."""
        if self.ranker is None:
            return super().embeddings(numbers)
        return self.ranker.retrieval_embeddings(np.asarray(self.vectors[numbers], np.float32))

    def ask(self, arguments: str | Sequence[str], top: int = 10, shortlist: int = 50) -> pd.DataFrame:
        """The best counter-arguments, `top` at most, to each argument, which itself is none (Shi et al., section 4.3).

        The `shortlist` with the greatest retrieval similarity is re-ranked. Columns are `argument`, `rank` (from 1),
        `score` (as in `BipolarEncoder.rank`; without heads the similarity), `similarity` (dot product of the retrieval
        embeddings), and what `with_carriers` says of the text.
        """
        if shortlist < top:
            raise ValueError(f"--shortlist {shortlist} is less than -n {top}: only what is on it can be shown")
        arguments, cleaned = as_list(arguments), self.clean(arguments)
        u = queries = self.encode(cleaned)
        if self.ranker is not None:
            queries = self.ranker.retrieval_embeddings(u, queries=True)
        # one more than wanted, as one may be the argument itself
        tables = []
        for number, (near, similarities) in enumerate(zip(*self.nearest(queries, shortlist + 1), strict=True)):
            texts = self.texts.take(near).to_pylist()
            others = [place for place, other in enumerate(texts) if other != cleaned[number]][:shortlist]
            near, similarities = near[others], similarities[others].astype(float)
            order, scores = np.arange(len(near)), similarities
            if self.ranker is not None and len(near):
                order, scores = self.ranker.rank_embeddings(
                    u[number], np.asarray(self.vectors[near], np.float32), shortlist
                )
            columns = {"score": scores.astype(float), "similarity": similarities[order], "vector": near[order]}
            hits = pd.DataFrame({"argument": arguments[number], "rank": np.arange(1, len(order) + 1), **columns})
            tables.append(hits[:top])
        return self.with_carriers(pd.concat(tables, ignore_index=True))
