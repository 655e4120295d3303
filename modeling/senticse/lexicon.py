"""Words that carry sentiment, and how they are found in batches of token ids."""

from __future__ import annotations

import itertools
import re
from collections.abc import Callable, Mapping
from importlib import util
from pathlib import Path

import numpy as np
import torch
from tokenizers.models import WordPiece
from torch import Tensor, nn
from transformers import PreTrainedTokenizerBase

from dataset_scripts.base.sources import load_split

SIGNS = {"positive": 1, "negative": -1}
VALENCE = 0.5  # on VADER's scale of -4 to 4; nearer to zero its ten raters do not agree on a side
WORD = re.compile(r"[^\W\d_]+")
# A word's key is the sum of its token ids times powers of an odd number, modulo 2^64: one key for words of any length,
# computed for a whole batch at once. Two of the some 10^5 keys of a lexicon coincide with a chance of about 10^-9.
BASE, LONGEST = 0x5851F42D4C957F2D, 32


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
    """The polarity of the word that each token of a batch belongs to, without a loop over words or tokens.

    Where words begin follows from a table over the vocabulary: for WordPiece any token without "##" begins one, for
    byte-level BPE and SentencePiece one with their mark of a space, or one that changes between letters, digits and
    punctuation. The tokens of a word are summed up to one key, and keys of the lexicon's words are searched for it, so
    that words of several tokens are found like those of one.

    Args:
        tokenizer: The encoder's fast tokenizer.
        lexicon: Lower-case word -> polarity; the tokenizer decides what of "good", "Good" and "GOOD" differs.
    """

    def __init__(self, tokenizer: PreTrainedTokenizerBase, lexicon: Mapping[str, int]) -> None:
        super().__init__()
        begins, kind = _boundaries(tokenizer)
        powers = np.array([pow(BASE, exponent, 2**64) for exponent in range(LONGEST)], np.uint64).view(np.int64)
        for name, table in {"begins": begins, "kind": kind, "powers": torch.tensor(powers)}.items():
            self.register_buffer(name, table, persistent=False)
        for name, table in zip(("keys", "values"), self._keys(tokenizer, lexicon), strict=True):
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
        place = torch.arange(ids.shape[1], device=ids.device).expand_as(ids)
        first = torch.full_like(ids, ids.shape[1]).scatter_reduce(1, numbers, place, "amin")
        within = (place - first.gather(1, numbers)).clamp(max=LONGEST - 1)
        sums = torch.zeros_like(ids).scatter_add(1, numbers, (ids + 1) * self.powers[within])
        keys = sums.gather(1, numbers)
        nearest = torch.searchsorted(self.keys, keys).clamp(max=len(self.keys) - 1)
        return torch.where(self.keys[nearest] == keys, self.values[nearest], 0)

    def _keys(self, tokenizer: PreTrainedTokenizerBase, lexicon: Mapping[str, int]) -> tuple[Tensor, Tensor]:
        """Sorted keys of all spellings of the lexicon's words, at the start of a text and within, and polarities."""
        spellings = _spellings(tokenizer)
        spelled = {spelling(word): polarity for word, polarity in lexicon.items() for spelling in spellings}
        tokens = tokenizer(list(spelled), add_special_tokens=False)["input_ids"]
        special, powers = set(tokenizer.all_special_ids), self.powers.numpy()
        begins, kind = self.begins.tolist(), self.kind.tolist()
        table: dict[int, int] = {}
        for ids, polarity in zip(tokens, spelled.values(), strict=True):
            # what the tokenizer takes for several words cannot be looked up as one
            one_word = all(not begins[id] and kind[id] == kind[last] for last, id in itertools.pairwise(ids))
            if one_word and 0 < len(ids) <= LONGEST and special.isdisjoint(ids):
                key = int(((np.array(ids) + 1) * powers[: len(ids)]).sum())  # modulo 2^64
                table[key] = polarity if table.get(key, polarity) == polarity else 0
        if not table:
            raise ValueError("--lexicon: the tokenizer knows none of its words")
        order = sorted(table)
        return torch.tensor(order), torch.tensor([table[key] for key in order])


def _spellings(tokenizer: PreTrainedTokenizerBase) -> list[Callable[[str], str]]:
    """The ways of writing a word that the tokenizer tells apart: in capitals or not, after a space or not."""
    different = {}
    for case, space in itertools.product((str.lower, str.capitalize, str.upper), ("", " ")):
        tokens = tokenizer(space + case("good"), add_special_tokens=False)["input_ids"]
        different.setdefault(tuple(tokens), lambda word, case=case, space=space: space + case(word))
    return list(different.values())


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
