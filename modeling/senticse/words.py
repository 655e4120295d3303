"""Words that carry sentiment, how they are found in batches of token ids, and the head that predicts masked ones."""

from __future__ import annotations

import logging
import re
from collections.abc import Mapping
from importlib import util
from itertools import groupby
from operator import itemgetter
from pathlib import Path

import torch
import torch.nn.functional as F
from huggingface_hub import constants
from sentence_transformers import SentenceTransformer
from tokenizers.models import WordPiece
from torch import Tensor, nn
from transformers import AutoModelForMaskedLM, PreTrainedTokenizerBase
from transformers.utils import logging as transformers_logging

from dataset_scripts.base.sources import load_split
from modeling.base.models import Backbone

logger = logging.getLogger(__name__)
SIGNS = {"positive": 1, "negative": -1}
VALENCE = 0.5  # on VADER's scale of -4 to 4; nearer to zero its ten raters do not agree on a side
WORD = re.compile(r"[^\W\d_]+")


def load_lexicon(source: str | None, cache: Path) -> dict[str, int]:
    """Lower-case word -> 1 (positive) or -1 (negative), without those that are both (Kim et al., 2024, equation 1).

    The source has the configuration `words` (SentiWordNet); None is VADER's lexicon, of the package vaderSentiment
    (Hutto and Gilbert, 2014): a word's polarity is the sign of its mean valence.
    """
    if source is None:
        words = _vader()
    else:
        rows = load_split(source, "words", "train", cache)
        signs = zip(rows["word"], map(SIGNS.get, rows["polarity"]), strict=True)
        words = {word.lower(): sign for word, sign in signs if sign}
    words = {word: sign for word, sign in words.items() if WORD.fullmatch(word)}
    if not words:
        raise ValueError(f"--lexicon {source}: it has no word that is positive or negative only")
    return words


def _vader() -> dict[str, int]:
    spec = util.find_spec("vaderSentiment")
    if spec is None or spec.origin is None:
        cure = "pip install vaderSentiment; or name a source of words (opinion corpus build sentiwordnet)"
        raise ValueError(f"--lexicon none needs VADER's word list: {cure}")
    lines = (Path(spec.origin).parent / "vader_lexicon.txt").read_text(encoding="utf-8").splitlines()
    means = {word.lower(): float(mean) for word, mean, *_ in (line.split("\t") for line in lines if "\t" in line)}
    return {word: 1 if mean > 0 else -1 for word, mean in means.items() if abs(mean) >= VALENCE}


class WordPolarity(nn.Module):
    """The polarity of the word that each token of a batch belongs to, so that words of several tokens are found, too.

    Where words begin follows from a table over the vocabulary: for WordPiece any token without "##" begins one, for
    byte-level BPE and SentencePiece one with their mark of a space, or one that changes between letters, digits and
    punctuation. The lexicon has lower-case words with their polarity.
    """

    def __init__(self, tokenizer: PreTrainedTokenizerBase, lexicon: Mapping[str, int]) -> None:
        super().__init__()
        # as the tokenizer will give them back: one may take accents off
        normalise = getattr(tokenizer.backend_tokenizer.normalizer, "normalize_str", str)
        self.tokenizer, self.lexicon = tokenizer, {normalise(word).strip(): sign for word, sign in lexicon.items()}
        self.signs: dict[tuple[int, ...], int] = {}  # of the words seen so far, by their tokens
        for name, table in zip(("begins", "kind"), _boundaries(tokenizer), strict=True):
            self.register_buffer(name, table, persistent=False)

    def numbers(self, ids: Tensor) -> Tensor:
        """The number of each token's word within its text, from 0; shape (batch, length) as `ids`."""
        kind = self.kind[ids]
        begins = self.begins[ids]
        begins[:, 1:] |= kind[:, 1:] != kind[:, :-1]
        begins[:, 0] = True
        return begins.cumsum(dim=1) - 1

    def forward(self, ids: Tensor, numbers: Tensor) -> Tensor:
        """The polarity of each token's word: 1, -1, or 0 where the lexicon has none; three times (batch, length)."""
        rows = []
        for pairs in zip(numbers.tolist(), ids.tolist(), strict=True):
            words = [[id for _, id in word] for _, word in groupby(zip(*pairs, strict=True), itemgetter(0))]
            rows.append([sign for word in words for sign in [self._sign(tuple(word))] * len(word)])
        return torch.tensor(rows, device=ids.device)

    def _sign(self, word: tuple[int, ...]) -> int:
        if word not in self.signs:
            self.signs[word] = self.lexicon.get(self.tokenizer.decode(word).strip().lower(), 0)
        return self.signs[word]


def _boundaries(tokenizer: PreTrainedTokenizerBase) -> tuple[Tensor, Tensor]:
    """Whether each token of the vocabulary begins a word, and which kind of characters it has; shape (vocabulary,)."""
    tokens = tokenizer.convert_ids_to_tokens(range(len(tokenizer)))
    special = set(tokenizer.all_special_ids)
    model = tokenizer.backend_tokenizer.model
    if isinstance(model, WordPiece):  # which separates punctuation by itself
        begins = [not token.startswith(model.continuing_subword_prefix) for token in tokens]
        return torch.tensor(begins), torch.zeros(len(tokens), dtype=torch.int8)
    begins = [id in special or token.startswith(("\u0120", "\u2581")) for id, token in enumerate(tokens)]
    kinds = [_kind(tokenizer.convert_tokens_to_string([token]).strip()) for token in tokens]
    return torch.tensor(begins), torch.tensor(kinds, dtype=torch.int8)


def _kind(text: str) -> int:
    """0 for letters and for bytes that are a part of one, 1 for digits, 2 for anything else."""
    if not text:
        return 2
    return 0 if text[0].isalpha() or text[0] == "\ufffd" else 1 if text[0].isnumeric() else 2


class MaskedLanguageHead(nn.Module):
    """Scores of all words of the vocabulary: dense, activation and layer norm, then the encoder's word embeddings.

    The embeddings stay the encoder's: they are no parameter of the head, and follow what training does to them.
    """

    def __init__(
        self, model: SentenceTransformer, dense: nn.Linear, activation: nn.Module, norm: nn.LayerNorm, bias: Tensor
    ) -> None:
        super().__init__()
        self.dense, self.activation, self.norm = dense, activation, norm
        self.bias = nn.Parameter(bias.detach().clone())
        self._embeddings = (model[0].model.get_input_embeddings(),)  # in a tuple: not registered as a part of this one

    def forward(self, hidden: Tensor) -> Tensor:
        """Scores of shape (n, vocabulary) for vectors of shape (n, hidden size)."""
        hidden = self.norm(self.activation(self.dense(hidden)))
        return F.linear(hidden, self._embeddings[0].weight, self.bias)


def load_head(model: SentenceTransformer, backbone: Backbone) -> MaskedLanguageHead:
    """The head that the checkpoint of an encoder has, or a fresh one where it has none (sentence encoders do not).

    A ValueError if heads of this architecture are not known.
    """
    level = transformers_logging.get_verbosity()
    transformers_logging.set_verbosity_error()  # what is missing is logged below
    try:
        whole, report = AutoModelForMaskedLM.from_pretrained(
            backbone.path, output_loading_info=True, local_files_only=constants.HF_HUB_OFFLINE
        )
    except ValueError as error:
        raise ValueError(
            f"{backbone.hub_id} cannot predict masked words ({str(error)[:200]}): use --lambda_w 0"
        ) from error
    finally:
        transformers_logging.set_verbosity(level)
    if hasattr(whole, "cls"):  # BERT
        head = whole.cls.predictions
        parts = (head.transform.dense, head.transform.transform_act_fn, head.transform.LayerNorm)
    elif hasattr(whole, "lm_head") and hasattr(whole.lm_head, "layer_norm"):  # RoBERTa, MPNet
        head = whole.lm_head
        parts = (head.dense, nn.GELU(), head.layer_norm)
    else:
        raise ValueError(f"no head for masked words is known for {whole.config.model_type!r}: use --lambda_w 0")
    outside = [name for name in report["missing_keys"] if not name.startswith(f"{whole.base_model_prefix}.")]
    fresh = any("dense" in name for name in outside)
    logger.info("the head for masked words is %s", "new: the checkpoint has none" if fresh else "the checkpoint's own")
    if whole.config.vocab_size != model[0].model.get_input_embeddings().num_embeddings:
        raise ValueError(f"{backbone.hub_id} has two vocabularies of different size: use --lambda_w 0")
    bias = head.bias if torch.isfinite(head.bias).all() else torch.zeros_like(head.bias)
    return MaskedLanguageHead(model, *parts, bias)
