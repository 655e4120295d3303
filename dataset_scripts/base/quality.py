"""The cleaning rules every corpus shares, with a count for whatever they drop."""

import hashlib
import html
import re
import unicodedata
from collections import defaultdict
from collections.abc import Iterable, Iterator, Mapping
from pathlib import Path

MINIMUM_WORDS = 4  # Ghafouri et al. (2024) drop texts of three words or fewer
# words that make up a third of running English and, each language taken for itself, little of any other
_STOP_WORDS = (
    "the of to and is that in it are be not this for as with on they would have from by at or an which their we you can"
)
ENGLISH = frozenset(_STOP_WORDS.split())
ENGLISH_SHARE = 0.1  # of 909 discussions, the 873 in English lie above 0.13 and the 36 others below 0.06
# what the tweets of SemEval-2016 (task 6) are about, on which encoders of stance are tested
TEST_TOPICS = re.compile(
    r"atheis|climate change|global warming|feminis|clinton|hillary|abortion|pro-?life|trump\b", re.IGNORECASE
)
_WORD = re.compile(r"[^\W\d_]+")
_LINK = re.compile(r"http\S+|#semst\b")


def normalise(text: str | None) -> str:
    """Collapses white space; None becomes the empty string."""
    return " ".join(text.split()) if text else ""


def is_english(text: str) -> bool:
    """Whether a text of some length (a discussion, not a sentence) is English, by its share of English stop words."""
    words = _WORD.findall(text.lower())
    return sum(word in ENGLISH for word in words) >= ENGLISH_SHARE * max(1, len(words))


class _LettersAndDigits(dict):
    """For `str.translate`, which is many times faster than a pattern: what is no letter and no digit goes."""

    def __missing__(self, code: int) -> int | None:
        self[code] = code if chr(code).isalnum() else None
        return self[code]


_LETTERS_AND_DIGITS = _LettersAndDigits()


def bare(text: str) -> str:
    """The letters and digits of a text in lower case; a text without any is its own."""
    return text.casefold().translate(_LETTERS_AND_DIGITS) or text


class LeakGuard:
    """Keeps texts of held-out splits out of the others, however a copy is punctuated or capitalised.

    Groups are never divided, but people copy arguments from one discussion into another: such a text, trained on,
    would be recognised in testing. The split that is protected most, the test split, is to be held out first.

    Example:
        >>> guard = LeakGuard()
        >>> guard.hold_out("test", ["Cats are better company than dogs."])
        >>> guard.fault("Cats are better company than dogs", "Dogs need walks in any weather.")
        'a text is also in test'
    """

    def __init__(self) -> None:
        self._split_of: dict[str, str] = {}

    def hold_out(self, split: str, texts: Iterable[str]) -> None:
        """Reserves texts for a split; a text that is reserved already stays where it is."""
        for text in texts:
            self._reserve(split, bare(text))

    def fault(self, *texts: str) -> str | None:
        """Why a row of these texts must not stay, with the split that it would leak from; None if it may."""
        return next(filter(None, (self._leak(bare(text)) for text in texts)), None)

    def _reserve(self, split: str, letters: str) -> None:
        self._split_of.setdefault(letters, split)

    def _leak(self, letters: str) -> str | None:
        split = self._split_of.get(letters)
        return f"a text is also in {split}" if split else None


class PartGuard(LeakGuard):
    """A `LeakGuard` that keeps out parts of the reserved texts as well, and texts that such a text is a part of.

    Some corpora divide into sentences, or phrases, what others have as one text. What counts are letters and digits;
    texts with fewer than `LETTERS` of them are everybody's and only looked for as a whole. `texts` are all that will be
    asked about.
    """

    LETTERS = 16  # about four words

    def __init__(self, texts: Iterable[str]) -> None:
        super().__init__()
        # by their first letters: texts that will be asked about, and reserved ones with their split
        self._asked: dict[str, dict[str, str]] = defaultdict(dict)
        self._reserved: dict[str, dict[str, str]] = defaultdict(dict)
        self._split_around: dict[str, str] = {}
        for text in texts:
            self._file(self._asked, bare(text), "")

    def _reserve(self, split: str, letters: str) -> None:
        super()._reserve(split, letters)
        self._file(self._reserved, letters, split)
        for part in self._parts(letters, self._asked):
            self._split_around.setdefault(part, split)

    def _leak(self, letters: str) -> str | None:
        if reason := super()._leak(letters):
            return reason
        if split := self._split_around.get(letters):
            return f"a text is part of one in {split}"
        part = next(self._parts(letters, self._reserved), None)
        return f"a text has one in {self._reserved[part[: self.LETTERS]][part]} as a part" if part else None

    def _file(self, texts: dict[str, dict[str, str]], letters: str, split: str) -> None:
        if len(letters) >= self.LETTERS:
            texts[letters[: self.LETTERS]].setdefault(letters, split)

    def _parts(self, letters: str, texts: Mapping[str, Iterable[str]]) -> Iterator[str]:
        """The texts, filed by their first letters, that are a part of this one."""
        for place in range(len(letters) - self.LETTERS + 1):
            for text in texts.get(letters[place : place + self.LETTERS], ()):
                if letters.startswith(text, place):
                    yield text


class TestSetGuard:
    """Keeps out texts that also stand in sets on which models are judged, whichever corpus these are of.

    The file beside this one lists their SHA-1 sums by the corpus that has them, so that none of their text is needed.
    """

    __test__ = False  # for pytest
    PATH = Path(__file__).with_name("test_texts.tsv")

    def __init__(self, corpus: str) -> None:
        lines = (line.split("\t") for line in self.PATH.read_text(encoding="utf-8").splitlines())
        self._digests = {digest for name, digest in lines if name == corpus}

    def fault(self, *texts: str) -> str | None:
        """Why a row of these texts must not stay; None if it may."""
        unknown = self._digests.isdisjoint(map(self.digest, texts))
        return None if unknown else "a text is in a set that models are tested on"

    @staticmethod
    def digest(text: str) -> str:
        """SHA-1 of a text's words in lower case, one blank between them, without links."""
        words = re.findall(r"\w+", _LINK.sub(" ", html.unescape(unicodedata.normalize("NFKC", text)).lower()))
        return hashlib.sha1(" ".join(words).encode()).hexdigest()


class Cleaner:
    """The rules for the rows of one configuration, whose texts are `normalise`d.

    Args:
        minimum_words: Shortest text that is kept, in white-space separated words.
        ordered: Whether (a, b) and (b, a) are two rows, as of triplets; otherwise they are duplicates.
        any_spelling: Whether texts that differ in case, punctuation or spaces alone are duplicates, too.
    """

    def __init__(self, minimum_words: int = MINIMUM_WORDS, ordered: bool = False, any_spelling: bool = False) -> None:
        self.minimum_words, self.ordered, self.any_spelling = minimum_words, ordered, any_spelling
        self._seen: set[int] = set()

    def fault(self, *texts: str) -> str | None:
        """Why a row of these texts must not stay; None if it may, and then it is remembered."""
        if not all(texts):
            return "empty text"
        if any(len(text.split(None, self.minimum_words)) < self.minimum_words for text in texts):
            return f"text shorter than {self.minimum_words} words"
        if len(set(texts)) < len(texts):
            return "equal texts"
        texts = tuple(map(bare, texts)) if self.any_spelling else texts
        # hashes instead of the texts themselves: a million pairs stay under 100 MB
        key = hash(texts if self.ordered else tuple(sorted(texts)))
        if key in self._seen:
            return "duplicate"
        self._seen.add(key)
        return None
