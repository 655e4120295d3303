"""Footnotes of debate pages, taken out of their texts and counted: the marks, and the references that they point to."""

import html
import re
from collections import Counter
from collections.abc import Sequence

from dataset_scripts.base.quality import normalise

# soft hyphens and marks without width; 0x97 is a dash of an older encoding
_INVISIBLE = str.maketrans({"\u00ad": None, "\u200b": None, "\u200e": None, "\x97": "\u2014"})
# headings and buttons of the page
_PAGE = re.compile(r"improve this|(?:counter)?point|appendix", re.IGNORECASE)
_QUOTE_TAG = re.compile(r"\[/?quote[^\]]*\]")
_ADDRESS = re.compile(
    r"<?(?:https?://|www\.)\S+(?:\s*\.\.\.)?(?:\s*\">)?"
    r"|\b[\w-]{1,63}(?:\.[\w-]{1,63}){0,4}\.(?:com|org|net|gov|edu|int|eu|uk)\b",
    re.IGNORECASE,
)
_NUMBER = r"(?:\d{1,2}|[ivx]{1,5}|I\d)"
_STOP = r"(?:\s+(?=[.,;:!?)]))?"
_MARKS = (
    # [1], [ii], [19, 20], [1 ], two marks grown together ([i-[1]), [3 at the end of a paragraph, [[a whole reference]];
    # but neither the [i]t nor the [1998] of a quotation
    re.compile(
        rf"\s*(?:\[\[[^\[\]]*\]\]|\[\s*(?:{_NUMBER}\s*[,-]\s*\[?)*{_NUMBER}\s*(?:\](?![a-z])|$)){_STOP}",
    ),
    # jobs.1 Moreover; "jobs"1; jobs1.; jobs 1 . and, at the end, jobs. 1; but neither p.10 nor No.7
    re.compile(
        r"(?:(?<=[A-Za-z)%.!?][.!?,”’\"'])(?<!\b[Nn]o\.)(?<!\b[Vv]ol\.)(?<!\bp\.)(?<!\bpp\.)(?<!\b[Aa]rt\.)|(?<=[a-z]{3}))"
        r"\d{1,2}(?=[.,;:!?]|\s|$)|(?<=[.!?”’\"']) \d{1,2}$|(?<=[a-z]) \d{1,2} (?=[.](?:\s|$))"
    ),
    # jobs.(1) and jobs (1). and, at the end, jobs." (1)
    re.compile(
        r"(?<=[.!?”’\"])(?:\(\d{1,2}\))+(?=\s|[A-Z]|$)|(?<=[a-z]) \(\d{1,2}\)(?=[.;](?:\s|$))|\s*(?:\(\d{1,2}\))+$"
    ),
)
_ROUND_MARK = re.compile(rf"\s*\(\d{{1,2}}\){_STOP}")
# references behind the last sentence of a paragraph
_TAIL = re.compile(r"(?<=[.!?”\"’')\d])\s*\.?\s1\s?[:.]?\s+(?:\d\s+)?(?=[\"“‘']|[A-Z]).*$")
_LABELS = {
    "square": re.compile(rf"\[\s*{_NUMBER}\b\s*\]?"),
    "round": re.compile(r"\(?\d{1,2}\)"),
    "bare": re.compile(r"\d{1,2}(?:\s?[.:]|\s)?\s*(?=[^\W\d_a-z]|[“‘'\"&<(^]|https?:|www|ibid)"),
}
_SOURCE = re.compile(
    r"\b(?:19|20)\d\d\b|\d/\d\d\b|\bpp?\. ?\d|\baccessed\b|\bibid\b|\bretrieved\b|https?://|www\.", re.IGNORECASE
)
_SIGN = re.compile(r"[\[(\d]|http|www")  # nothing to do without
# titles, which are no prose for all their small words
_TITLE = re.compile(r"“[^”]*[”\"]|‘.*?’(?!\w)|\"[^\"]*\"|(?<!\w)'.*?'(?!\w)|\([^)]*\)")
_SMALL = re.compile(r"\b[a-z]{2,}")
_CITES = re.compile(r"https?://|www\.|\b(?:accessed|retrieved|ibid)\b|\bpp?\. ?\d|\d/\d\d\b|,.*,", re.IGNORECASE)
LONGEST, SHORT = 60, 30  # words of a reference, and of one that names no source
# share of small words in a reference: with a number at the end of a text (the most of 8,500), elsewhere, without number
MOST_SMALL, FEW_SMALL, FEWER_SMALL = 0.72, 0.5, 0.45


def clean_paragraphs(text: str, counts: Counter[str]) -> list[str]:
    r"""The paragraphs of a text without its footnotes: references, marks and addresses.

    A paragraph but the first is a reference if it starts with a number ("[1]", "[ii]", "(1)", "1.", "1"), names a
    source (a year, page, address or date of access) and is no prose. At the end of the text either will do: a source,
    with few small words around titles, or a number, if it is in square brackets or of the kind that other references or
    the marks have. Marks are "[1]" anywhere, a number behind a word or full stop ("jobs1.", "jobs.1", "jobs.(1)"), and
    every "(1)" in a text with such references. What was taken out is counted.

    Example:
        >>> clean_paragraphs("Tea is healthy [1] .\n\n[1] Doe, J., 'Tea', 2010, p.4", Counter())
        ['Tea is healthy.']
    """
    parts = (normalise(html.unescape(part).translate(_INVISIBLE)) for part in re.split(r"\n\s*\n", text))
    paragraphs = [_QUOTE_TAG.sub("", part) for part in parts if part and not _PAGE.fullmatch(part)]
    kinds = _numbering(paragraphs)
    end = len(paragraphs)
    while end > 1 and _is_last_reference(paragraphs[end - 1], kinds):
        end -= 1
    prose = [part for i, part in enumerate(paragraphs[:end]) if i == 0 or not _is_inner_reference(part)]
    if len(prose) < len(paragraphs):
        counts["texts with references"] += 1
        counts["references taken out"] += len(paragraphs) - len(prose)
    marks = [*_MARKS, _ROUND_MARK] if "round" in kinds else _MARKS
    cleaned = [_without(marks, part, counts) for part in prose]
    return [part for part in cleaned if part]


def _label(paragraph: str) -> str | None:
    return next((name for name, label in _LABELS.items() if label.match(paragraph)), None)


def _numbering(paragraphs: list[str]) -> set[str]:
    """How the references of a text are numbered, by those that name a source and by bare marks."""
    kinds = {label for part in paragraphs[1:] if (label := _label(part)) and _is_reference(part)}
    return kinds | ({"bare"} if any(_MARKS[1].search(part) for part in paragraphs) else set())


def _prose(paragraph: str) -> float:
    """Share of small words outside titles and addresses, in [0, 1]."""
    text = _ADDRESS.sub(" ", paragraph)
    return len(_SMALL.findall(_TITLE.sub(" ", text))) / max(1, len(text.split()))


def _is_reference(paragraph: str) -> bool:
    """Whether a paragraph, which may have a number, names a source and is no prose."""
    if not _SOURCE.search(paragraph) or len(_ADDRESS.sub(" ", paragraph).split()) > LONGEST:
        return False
    return _prose(paragraph) <= MOST_SMALL


def _is_inner_reference(paragraph: str) -> bool:
    """Whether a paragraph with other text after it is a reference."""
    return bool(_label(paragraph)) and _is_reference(paragraph) and _prose(paragraph) <= FEW_SMALL


def _is_last_reference(paragraph: str, kinds: set[str]) -> bool:
    """Whether the last paragraph of a text is a reference."""
    label = _label(paragraph)
    if label == "square" or (label and _is_reference(paragraph)):
        return True
    if label:
        return label in kinds and len(paragraph.split()) <= SHORT and _prose(paragraph) <= FEW_SMALL
    if not _is_reference(paragraph) or _MARKS[0].search(paragraph) or _TAIL.search(paragraph):
        return False
    return _prose(paragraph) <= FEWER_SMALL and bool(_CITES.search(paragraph) or _TITLE.search(paragraph))


def _without(marks: Sequence[re.Pattern[str]], paragraph: str, counts: Counter[str]) -> str:
    """A paragraph without marks, addresses and the references behind its last sentence."""
    if not _SIGN.search(paragraph):
        return paragraph
    tail = _TAIL.search(paragraph) if " 1" in paragraph else None
    if tail and _SOURCE.search(tail[0]):
        counts["references taken out"] += 1
        paragraph = paragraph[: tail.start()]
    text = paragraph
    for mark in marks:
        text, number = mark.subn("", text)
        counts["marks of footnotes taken out"] += number
    if "http" in text or "www." in text:
        text, number = _ADDRESS.subn("", text)
        counts["addresses taken out of sentences"] += number
    return normalise(text)
