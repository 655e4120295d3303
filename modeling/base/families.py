"""Learning from families: a statement with texts for it and against it, or the texts of two camps, all compared.

Rows of triplets embed three texts for one comparison; a family of eight texts has up to 96 for its eight.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable
from functools import partial
from typing import Any

import numpy as np
import pandas as pd
import torch
from datasets import Dataset
from sentence_transformers import SentenceTransformer
from sentence_transformers.util.distributed import all_gather, is_dist_initialized
from sklearn.cluster import MiniBatchKMeans
from torch import Tensor, nn

from dataset_scripts.base.quality import TEST_TOPICS
from dataset_scripts.base.schema import PRO
from dataset_scripts.base.sources import source_name
from modeling.base.batches import GroupedBatchSampler
from modeling.base.keep import MarginLoss, replayed
from modeling.base.models import load_backbone, load_model
from modeling.base.system import Data, Phase, System, with_limits
from modeling.base.vectors import Vectors, precision

SIZE = 8  # texts of a family, so that families of one camp more or less are alike, and many fit into a batch
SHELF = 12  # rows of a part of a batch that no family leaves, so that processes that share a batch see whole ones
GENERIC = 3  # one in so many texts is generic where similarities are held on such texts


class FamilyTripletLoss(MarginLoss):
    """Triplet loss over all triplets within families: one side of a question together, the other at a distance.

    For every text as anchor, the mean over texts p of its side and n of the other side of
    `max(0, m + |a - p| - |a - n|)` with Euclidean distances of unit vectors, in [0, 2]; then the mean over all anchors
    that have both. It is the hinge of Ghafouri et al. (2024, section 3.3) over the triplets of Schroff et al. (2015).

    Args:
        model: The encoder.
        margin: Distance m by which the other side must be farther, in (0, 2].

    Inputs:
        +--------+-------------------------------------------------------------------------------------+
        | Texts  | Labels                                                                              |
        +========+=====================================================================================+
        | (text) | (family, side): side 1 for the statement and texts for it, -1 against it, 0 neither |
        +--------+-------------------------------------------------------------------------------------+
    """

    def compute_loss_from_embeddings(self, embeddings: list[Tensor], labels: Tensor) -> Tensor:
        """The loss of a matrix of unit vectors, shape (n, dimension), and labels, shape (n, 2); 0 without triplets."""
        (vectors,), (families, sides) = embeddings, labels.T
        related = (families[:, None] == families[None]) & (sides * sides[:, None] != 0)
        alike = related & (sides[:, None] == sides[None]) & ~torch.eye(len(sides), dtype=bool, device=sides.device)
        other = related & (sides[:, None] != sides[None])
        # the floor keeps the gradient of the root finite
        distances = (2 - 2 * vectors @ vectors.T).clamp_min(1e-6).sqrt()
        anchors, positives, negatives = (alike[:, :, None] & other[:, None, :]).nonzero(as_tuple=True)
        if not len(anchors):
            return distances.sum() * 0
        hinges = (self.margin + distances[anchors, positives] - distances[anchors, negatives]).relu()
        counts = torch.bincount(anchors, minlength=len(sides)).to(hinges)
        return (hinges / counts[anchors]).sum() / (counts > 0).sum()


class HeldFamiliesLoss(nn.Module):
    """A loss of families, held to the similarities that given vectors have; see `KeepSimilarityLoss` for the terms.

    Labels are (family, side, row); the side of generic texts is 0, and those of one family are alike.

    Args:
        model: The encoder.
        loss: A loss of families, such as `FamilyTripletLoss`.
        vectors: Unit vectors of all training rows, shape (rows, dimension): of the untrained encoder, or of a teacher.
        weight: Weight of the term on texts of different families, at least 0.
        replay_weight: Weight of the term on generic texts.
        within: Whether the texts within a family are held as well: the vectors are a teacher's.
    """

    def __init__(
        self,
        model: SentenceTransformer,
        loss: nn.Module,
        vectors: np.ndarray,
        weight: float,
        replay_weight: float,
        within: bool = False,
    ) -> None:
        super().__init__()
        self.model, self.loss, self.weight, self.replay_weight = model, loss, weight, replay_weight
        self.vectors, self.within = torch.from_numpy(np.asarray(vectors, np.float16)), within

    def forward(self, sentence_features: Iterable[dict[str, Tensor]], labels: Tensor) -> dict[str, Tensor]:
        embeddings = next(self.model(features)["sentence_embedding"] for features in sentence_features)
        if is_dist_initialized():  # rows of all processes, so that many see what one sees
            embeddings, labels = all_gather(embeddings, with_grad=True), all_gather(labels)
        before = self.vectors[labels[:, 2].cpu()].to(embeddings)
        parts = {"task": self.loss.compute_loss_from_embeddings([embeddings], labels[:, :2])}
        return parts | self.compute_parts_from_embeddings(embeddings, before, labels)

    def compute_parts_from_embeddings(self, embeddings: Tensor, before: Tensor, labels: Tensor) -> dict[str, Tensor]:
        """The weighted terms `keep` and `replay` of unit vectors, each of shape (n, dimension), and their labels."""
        change = (embeddings @ embeddings.T - before @ before.T).square()
        family, generic = labels[:, 0], labels[:, 1] == 0
        same = family[:, None] == family[None]
        itself, both = torch.eye(len(family), dtype=bool, device=family.device), generic[:, None] & generic[None]
        kept = ~itself & ~both & (~same | self.within)
        replay = _mean(change, both & ~itself) + _mean(change, both & ~itself & same)
        return {"keep": self.weight * _mean(change, kept), "replay": self.replay_weight * replay}


def _mean(values: Tensor, mask: Tensor) -> Tensor:
    return (values * mask).sum() / mask.sum().clamp_min(1)


class FamilyBatchSampler(GroupedBatchSampler):
    """Batches of whole families, the same for one process and for many.

    Families are dealt in random order onto shelves of 12 rows, each onto the first that has room for it; a batch is a
    number of shelves. What no family fills is filled with single rows, which only count as texts of another family.
    """

    def __init__(self, dataset: Dataset, batch_size: int, *args: Any, **kwargs: Any) -> None:
        super().__init__(dataset, batch_size, *args, **kwargs)
        self.shelf = min(SHELF, batch_size)
        if batch_size % self.shelf:
            raise ValueError(f"--batch-size {batch_size} must be a multiple of {SHELF}, so that no family is divided")
        if self.sizes.max() > self.shelf:
            raise ValueError(f"a family has {self.sizes.max()} texts, --batch-size {batch_size} takes {self.shelf}")

    def order(self, random: np.random.Generator) -> np.ndarray:
        members = self.members
        shelves: list[list[int]] = []
        by_room: dict[int, list[int]] = {room: [] for room in range(1, self.shelf + 1)}
        for group in random.permutation(len(members)):
            rows = random.permutation(members[group])
            room = next((room for room in range(len(rows), self.shelf) if by_room[room]), self.shelf)
            number = by_room[room].pop() if room < self.shelf else len(shelves)
            if number == len(shelves):
                shelves.append([])
            shelves[number].extend(rows.tolist())
            if left := room - len(rows):
                by_room[left].append(number)
        for shelf in shelves:
            shelf.extend(random.integers(self.rows, size=self.shelf - len(shelf)).tolist())
        return np.array([shelves[number] for number in random.permutation(len(shelves))]).ravel()


def family_rows(rows: Dataset, per_statement: int, seed: int) -> pd.DataFrame:
    """Divides the texts on each statement into families of at most 8 texts with as many of either side as there are.

    Args:
        rows: Rows of the schema FAMILIES.
        per_statement: Most families of one statement; what is beyond is left out.
        seed: Seed of the draw.

    Returns:
        Columns `text`, `family` (from 0) and `side`, 1 or -1; a written statement is a text of side 1 in each of its
        families. Families without a text that has another of its side and one of the other are left out.
    """
    parts: list[tuple[str, int, int]] = []
    number = 0

    def of_family(texts: list[str], family: int, size: int) -> list[str]:
        # from the beginning again where the other side has more
        return [texts[(family * size + i) % len(texts)] for i in range(min(size, len(texts)))]

    frame = rows.to_pandas().sample(frac=1, random_state=seed)
    for (_, statement), texts in frame.groupby(["group", "statement"], sort=True):
        pros, cons = (texts["text"][texts["side"] == side].tolist() for side in (PRO, 1 - PRO))
        lead, others = ([statement], SIZE // 2 - 1) if statement else ([], SIZE // 2)
        for family in range(min(per_statement, max(-(-len(pros) // others), -(-len(cons) // (SIZE // 2))))):
            ours = lead + of_family(pros, family, others)
            theirs = of_family(cons, family, SIZE // 2)
            if ours and theirs and len(ours) + len(theirs) > 2:
                parts += [(text, number, 1) for text in ours] + [(text, number, -1) for text in theirs]
                number += 1
    return pd.DataFrame(parts, columns=["text", "family", "side"])


def alike(system: System, rows: Dataset, size: int) -> Dataset:
    """The rows in groups of about `size` texts that the base finds alike (k-means), instead of their own groups."""
    base = load_backbone(system.backbone, system.recipe.max_length)
    with precision(system.recipe.bf16):
        vectors = Vectors(base, system.cache / "embeddings")(rows["text"])
    groups = MiniBatchKMeans(max(1, len(rows) // size), n_init=3, random_state=system.recipe.seed).fit_predict(vectors)
    return rows.remove_columns("group").add_column("group", groups.astype(str).tolist())


def family_data(system: System, size: int | None = None) -> Data:
    """The families of a recipe's corpora, with generic texts among them as its options say.

    `size` are the texts of a group of those that are `alike`, from which families are made; None: the corpora's groups.
    """
    recipe, frames, counts = system.recipe, [], Counter()
    for source, limit in with_limits(recipe.data, recipe["per_source"]):
        name, rows = source_name(source), system.rows(source, "families", "train")
        strict = [not TEST_TOPICS.search(statement) for statement in rows["statement"]]
        counts["texts on topics that encoders are tested on, left out"] += strict.count(False)
        rows = rows.select(np.flatnonzero(strict))
        rows = alike(system, rows, size) if size else rows
        frame = _sample(family_rows(rows, recipe["per_statement"], recipe.seed), limit, recipe.seed)
        counts.update({f"texts of {name}": len(frame), f"families of {name}": frame["family"].nunique()})
        frames.append(frame.assign(source=len(frames)))
    frame = pd.concat(frames, ignore_index=True)
    if frame.empty:
        raise ValueError(f"{', '.join(recipe.data)}: no family has two texts of one side and one of the other")
    frame["family"] = frame.groupby(["source", "family"], sort=False).ngroup()
    frame = _sample(frame.drop(columns="source"), recipe.max_train_rows, recipe.seed)
    if recipe["replay"]:
        pairs = len(frame) // (GENERIC - 1) // 2
        one, other = replayed(system, pairs, counts)
        numbers = np.tile(frame["family"].max() + 1 + np.arange(pairs), 2)
        generic = pd.DataFrame({"text": [*one, *other], "family": numbers, "side": 0})
        frame = pd.concat([frame, generic], ignore_index=True)
    labels = np.column_stack([frame["family"], frame["side"], np.arange(len(frame))])
    rows = Dataset.from_dict({"text": frame["text"].tolist(), "label": labels.tolist()})
    return Data({"families": rows}, system.source_names("replay"), counts, {"families": frame["family"].tolist()})


def _sample(frame: pd.DataFrame, limit: int | None, seed: int) -> pd.DataFrame:
    """Whole families with at most `limit` texts together, at least one of them."""
    if limit is None or frame.empty:
        return frame
    sizes = frame.groupby("family").size().sample(frac=1, random_state=seed).cumsum()
    return frame[frame["family"].isin(sizes.index[: max(1, int((sizes <= limit).sum()))])]


def family_phase(system: System, model: SentenceTransformer, data: Data, loss: nn.Module) -> Phase:
    """A phase on the rows of `family_data` with a loss of families, held as the recipe says."""
    recipe, rows = system.recipe, data.train["families"]
    teacher = load_model(recipe["teacher"]) if recipe["teacher"] else load_backbone(system.backbone, recipe.max_length)
    with precision(recipe.bf16):
        vectors = Vectors(teacher, system.cache / "embeddings")(rows["text"])
    held = HeldFamiliesLoss(model, loss, vectors, recipe["keep"], recipe["replay_weight"], bool(recipe["teacher"]))
    sampler = partial(FamilyBatchSampler, groups=data.groups["families"])
    return Phase("families", rows, held, recipe.epochs, {"batch_sampler": sampler})
