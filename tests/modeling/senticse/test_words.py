"""The lexicon, and words found in batches of token ids."""

import pytest
import torch
from tokenizers import ByteLevelBPETokenizer
from transformers import BertTokenizerFast, PreTrainedTokenizerFast

from modeling.senticse.words import WordPolarity, load_lexicon

SPECIAL = ["[PAD]", "[UNK]", "[CLS]", "[SEP]", "[MASK]"]
PIECES = [*SPECIAL, "dis", "##like", "like", "##d", "bad", "we", "the", "tea", "!", "-", "not"]


@pytest.fixture(scope="module")
def wordpiece(tmp_path_factory):
    path = tmp_path_factory.mktemp("pieces") / "vocab.txt"
    path.write_text("\n".join(PIECES), encoding="utf-8")
    return BertTokenizerFast(vocab=str(path))


@pytest.fixture(scope="module")
def byte_level():
    # merges for "dis", " dis", "like", " like" and " we"; no single token for "dislike"
    trained = ByteLevelBPETokenizer()
    special = ["<s>", "<pad>", "</s>", "<unk>", "<mask>"]
    trained.train_from_iterator(["we like like Like LIKE tea dis dis"] * 20, vocab_size=290, special_tokens=special)
    names = dict(zip(("bos_token", "pad_token", "eos_token", "unk_token", "mask_token"), special, strict=True))
    return PreTrainedTokenizerFast(tokenizer_object=trained._tokenizer, **names)


def look_up(tokenizer, lexicon, text):
    """The tokens of a text with the polarity and the number of their word."""
    words = WordPolarity(tokenizer, lexicon)
    ids = torch.tensor([tokenizer(text)["input_ids"]])
    numbers = words.numbers(ids)
    return tokenizer.convert_ids_to_tokens(ids[0].tolist()), words(ids, numbers)[0].tolist(), numbers[0].tolist()


def test_words_of_several_pieces(wordpiece):
    tokens, polarity, numbers = look_up(wordpiece, {"dislike": -1, "like": 1, "bad": -1}, "We dislike Bad tea, like!")
    assert tokens == ["[CLS]", "we", "dis", "##like", "bad", "tea", "[UNK]", "like", "!", "[SEP]"]
    # "##like" is a part of a negative word; "like" beside punctuation is a positive one
    assert polarity == [0, 0, -1, -1, -1, 0, 0, 1, 0, 0]
    assert numbers == [0, 1, 2, 2, 3, 4, 5, 6, 7, 8]
    assert look_up(wordpiece, {"like": 1}, "liked dislike like")[1] == [0, 0, 0, 0, 0, 1, 0]  # longer words are others
    assert look_up(wordpiece, {"dislíke": -1}, "dislíke tea")[1] == [0, -1, -1, 0, 0]  # it takes the accent off


def test_byte_level_words(byte_level):
    tokens, polarity, _ = look_up(byte_level, {"like": 1, "dislike": -1}, "Like tea, dislike!like we")
    # characters of "Like" at the start, of " dislike", and of "like" right after the mark, whatever the pieces are
    spans, at, expected = {(0, 4): 1, (9, 17): -1, (18, 22): 1}, 0, []
    for token in tokens:
        expected.append(next((sign for (start, end), sign in spans.items() if start <= at < end), 0))
        at += len(token)
    assert at == len("Like tea, dislike!like we") and len(tokens) < at
    assert polarity == expected


def test_lexicon_of_a_source(tiny_data, tmp_path):
    positive, negative = ("love", "great", "better", "joy"), ("hate", "awful", "worse", "nuisance")
    # "new" is both; lower case
    assert load_lexicon(str(tiny_data), tmp_path) == dict.fromkeys(positive, 1) | dict.fromkeys(negative, -1)


def test_lexicon_without_a_source(tmp_path, monkeypatch):
    words = load_lexicon(None, tmp_path)
    assert (words["great"], words["awful"], words["love"], words["hate"]) == (1, -1, 1, -1)
    assert ":)" not in words and "the" not in words
    assert 6000 < len(words) < 7500
    monkeypatch.setattr("modeling.senticse.words.util.find_spec", lambda name: None)
    with pytest.raises(ValueError, match="pip install vaderSentiment; or name a source of words"):
        load_lexicon(None, tmp_path)
