"""SentiCSE (Kim, Na, Kim, Lee and Chae, LREC-COLING 2024).

Sentences of equal sentiment polarity come to lie close together, whatever they are about: an encoder is fine-tuned on
quadruples of two positive and two negative sentences (sentence-level loss) and to predict masked words that carry
sentiment (word-level loss). SgTS measures just that.
"""

from __future__ import annotations

import re

import numpy as np
from datasets import Dataset, concatenate_datasets
from sentence_transformers import SentenceTransformer
from sentence_transformers.sentence_transformer.modules import Dense, Normalize, Pooling
from torch import nn

from dataset_scripts.base.metadata import list_corpora
from dataset_scripts.base.quality import bare
from dataset_scripts.base.sources import has_config, load_source, source_name
from modeling.base.evaluation import Evaluator, of_source
from modeling.base.keep import hold, with_replay
from modeling.base.recipe import Recipe, listed
from modeling.base.system import Data, Phase, System
from modeling.senticse.evaluation import SgtsEvaluator
from modeling.senticse.losses import SenticseLoss
from modeling.senticse.words import WordPolarity, load_head, load_lexicon

COLUMNS = ["positive1", "positive2", "negative1", "negative2"]


class SenticseSystem(System):
    """The system of section 3; the options of its losses are named as in the paper.

    What `keep` and `replay` add, to hold topical similarity while polarity is learned, is not in the paper.
    """

    PRIMARY = "sgts_spearman"
    TAGS = ["sentiment", "sentiment-analysis", "opinion-mining"]
    DEMONSTRATIONS = [
        ("The soup was wonderful.", "The soup was awful.", "opposite sentiment, same subject"),
        ("The soup was wonderful.", "We loved every spoonful of the soup.", "same sentiment, same subject"),
        ("The soup was wonderful.", "A gripping film with a brilliant cast.", "same sentiment, other subject"),
        ("The soup was wonderful.", "The film bored me to tears.", "opposite sentiment, other subject"),
        ("The film bored me to tears.", "The soup was awful.", "same sentiment, other subject"),
        ("The film bored me to tears.", "The film did not bore me for a minute.", "negated"),
    ]

    def __init__(self, recipe: Recipe) -> None:
        super().__init__(recipe)
        self.sources = listed(recipe["sentiment"]) or recipe.data[:1]

    def load_data(self) -> Data:
        recipe, counts = self.recipe, {}
        parts = self.training_rows("quadruples")
        counts["quadruples of the sources"] = sum(len(rows) for rows in parts)
        evaluated = self._evaluated()
        cleaned = [without_leaks(rows.select_columns(COLUMNS), evaluated, recipe.seed) for rows in parts]
        counts["training sentences found in evaluation data and taken out"] = sum(number for _, number in cleaned)
        rows = concatenate_datasets([rows for rows, _ in cleaned]).shuffle(seed=recipe.seed)
        rows = rows.select(range(min(recipe.max_train_rows or len(rows), len(rows))))
        counts["quadruples in training"] = len(rows)
        rows = with_replay(self, rows, counts)
        return Data({"quadruples": rows}, list(dict.fromkeys(self.source_names("replay", "lexicon"))), counts)

    def _evaluated(self) -> set[str]:
        """All sentences of the validation and test data that are measured, each as its letters and digits."""
        sentences: set[str] = set()
        for source in self.sources:
            for config, columns in {"sgts": ("sentence1", "sentence2"), "sentences": ("text",)}.items():
                if config == "sgts" or has_config(source, config):
                    splits = load_source(source, config, self.cache)
                    parts = [rows[column] for split, rows in splits.items() if split != "train" for column in columns]
                    sentences.update(bare(text) for part in parts for text in part)
        return sentences

    def build_model(self) -> SentenceTransformer:
        model = super().build_model()
        return model if self.recipe["pooling"] == "mean" else with_cls_mlp(model)

    def phases(self, model: SentenceTransformer, data: Data) -> list[Phase]:
        ((name, rows),) = data.train.items()
        return [Phase(name, rows, hold(self.recipe, model, self._loss(model)), self.recipe.epochs)]

    def _loss(self, model: SentenceTransformer) -> nn.Module:
        if not self.options.lambda_w:
            return SenticseLoss(model, self.options)
        polarity = WordPolarity(model.tokenizer, load_lexicon(self.options.lexicon, self.cache))
        head, mask_id = load_head(model, self.backbone), model.tokenizer.mask_token_id
        return SenticseLoss(model, self.options, polarity, head, mask_id)

    def evaluators(self, split: str) -> list[Evaluator]:
        recipe, testing, limit = self.recipe, split == "test", self.limit(split)
        # during training the first source alone, unless the figures at the end are of this split
        sources = self.sources if testing or recipe.evaluate_on == split else self.sources[:1]
        names = [f"sgts_{label}" for label in labels(sources)]
        if not testing:
            names[0] = "sgts"  # what chooses checkpoints is called the same whatever the source
        title = "sentences of the same and of different polarity"
        result: list[Evaluator] = [
            SgtsEvaluator(self.rows(source, "sgts", split, limit), name, title=title, **of_source(source, split))
            for name, source in zip(names, sources, strict=True)
        ]
        result += self.kept_similarity(split)
        return result


def with_cls_mlp(model: SentenceTransformer) -> SentenceTransformer:
    """The encoder with the paper's pooling: the first token's vector, a dense layer and tanh; of unit length."""
    width = model[0].get_embedding_dimension()
    changed = SentenceTransformer(modules=[model[0], Pooling(width, "cls"), Dense(width, width), Normalize()])
    changed.model_card_data.base_model = model.model_card_data.base_model
    return changed


def without_leaks(rows: Dataset, evaluated: set[str], seed: int) -> tuple[Dataset, int]:
    """Quadruples without sentences that are measured on (each as its letters and digits), and how many went.

    A row goes where its first sentence is one of them; its partners are replaced by others of their column's polarity,
    drawn at random as they were in the first place (section 4.3).
    """
    columns = {name: np.array(rows[name], dtype=object) for name in COLUMNS}
    leaked = {name: np.array([bare(text) in evaluated for text in texts], bool) for name, texts in columns.items()}
    out = {text for name in COLUMNS for text in columns[name][leaked[name]]}
    if not out:
        return rows, 0
    random = np.random.default_rng(seed)
    for one, two in (COLUMNS[:2], COLUMNS[2:]):
        pool = sorted({text for name in (one, two) for text in columns[name][~leaked[name]]})
        if len(pool) < 2:
            raise ValueError(
                f"--data: fewer than two sentences of a polarity are left of {len(rows)} quadruples when those of "
                "--sentiment are taken out: train on other data than is measured"
            )
        for name, other in ((one, two), (two, one)):
            for row in np.flatnonzero(leaked[name]):
                drawn = pool[random.integers(len(pool) - 1)]
                columns[name][row] = pool[-1] if drawn == columns[other][row] else drawn
    changed = Dataset.from_dict({name: texts.tolist() for name, texts in columns.items()}, features=rows.features)
    return changed.select(np.flatnonzero(~leaked[COLUMNS[0]])), len(out)


def labels(sources: list[str]) -> list[str]:
    """Short names of sources for metrics: the corpus, as far as the source's name begins with one; no two alike."""
    names: list[str] = []
    for source in sources:
        name = re.sub(r"\W+", "_", source_name(source).rpartition("/")[2].lower()).strip("_")
        corpus = re.split(r"[\W_]", name)[0]
        name = corpus if corpus in list_corpora() else name
        names.append(name if name not in names else f"{name}_{len(names) + 1}")
    return names
