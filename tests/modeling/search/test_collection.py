"""Rows of a source: cleaned, counted, and every distinct text once."""

import json
from collections import Counter

import pytest

from modeling.search.collection import choose_columns, clean, collect, describe
from modeling.search.records import Source, open_source

ROWS = [
    {"text": "Trams should be free.", "party": "G", "id": 1},
    {"text": "  Trams should\tbe free.\n", "party": "B", "id": 2},
    {"text": " \t\n", "party": "G"},
    {"text": None, "party": "G"},
    {"party": "G"},
    {"text": float("nan"), "party": "G"},
    {"text": 12, "party": "G"},
    {"text": ["a", "list"], "party": "G"},
    {"text": "tram " * 200_000, "party": "B"},
    {"text": "🚋🚋", "party": "B"},
    {"text": "الترام يجب أن يكون مجانيا", "party": " "},
    {"text": "late\x00\x07 trams", "party": 3},
    {"text": "half \ud83d whole \ud83d\ude00", "party": None},
]


def source(rows, **options):
    columns = list(dict.fromkeys(key for row in rows for key in row))
    return Source(
        "invented", columns, lambda wanted: iter([tuple(row.get(n) for n in wanted) for row in rows]), **options
    )


def collected(rows, **columns):
    opened = source(rows)
    return collect(opened, choose_columns(opened, **columns), progress=False)


def test_what_is_kept_dropped_and_changed():
    found = collected(ROWS, group="party")
    long = ("tram " * 2000).strip()  # 9,999 characters: the cut at 10,000 leaves a space at the end
    assert found.texts == [
        *("Trams should be free.", long, "🚋🚋", "الترام يجب أن يكون مجانيا", "late trams", "half \ufffd whole 😀"),
    ]
    counts = found.counts
    assert (counts.read, counts.kept, counts.distinct, counts.ungrouped) == (13, 7, 6, 2)
    missing, other = "missing text", "not a text but a number, list or object"
    assert counts.dropped == {"empty text": 1, missing: 3, other: 2}
    assert counts.changed == {
        "cut to 10,000 characters": 1,
        "kept without any letter or digit (emoji, punctuation)": 1,
        "kept although probably not in English (script, or few stop words)": 2,  # Arabic, and one word repeated
        "control characters removed": 1,
        "broken characters (lone surrogates) replaced": 1,
    }
    assert counts.read == counts.kept + counts.dropped.total()


def test_rows_point_to_distinct_texts():
    rows = collected(ROWS, group="party").rows.to_pydict()
    assert rows["vector"] == [0, 0, 1, 2, 3, 4, 5]
    assert rows["row"] == [0, 1, 8, 9, 10, 11, 12]  # of the source, so that its other columns can be joined
    assert rows["id"] == ["1", "2", None, None, None, None, None]
    assert rows["group"] == ["G", "B", "B", "B", None, "3", None]
    assert rows["text"][:2] == ["Trams should be free."] * 2


def test_lines_that_cannot_be_read_are_counted_with_the_first(tmp_path):
    path = tmp_path / "a.jsonl"
    path.write_text('{"text": "fine"}\n{"text": \n{"text":\n' + json.dumps({"text": "also fine"}))
    opened = open_source(path)
    found = collect(opened, choose_columns(opened), progress=False)
    assert (found.texts, found.counts.lines) == (["fine", "also fine"], {"line is not valid JSON": 2})
    assert describe(found.counts, path) == [
        "4 rows read, 2 kept; different texts: 2",
        f"          2 x dropped: line is not valid JSON (first: {path}, line 2)",
    ]


def test_a_million_copies_are_cleaned_once(monkeypatch):
    asked = Counter()
    monkeypatch.setattr(
        "modeling.search.collection.clean", lambda text, *rest: (asked.update([text]), clean(text, *rest))[1]
    )
    found = collected([{"text": "Free trams now!"}] * 100_000)
    assert (found.counts.kept, found.texts, asked) == (100_000, ["Free trams now!"], {"Free trams now!": 1})


def test_the_digest_tells_texts_groups_and_order():
    one, other = {"text": "a b", "party": "G"}, {"text": "c", "party": "G"}
    digests = [
        collected(rows, group="party").digest
        for rows in (
            [one, other],
            [one, other],
            [other, one],
            [one, {**other, "party": "B"}],
            [one, {**other, "text": "d"}],
        )
    ]
    assert digests[0] == digests[1]
    assert len(set(digests)) == 4


def test_columns_are_guessed_only_where_they_are_plain():
    assert choose_columns(source([{"Text": "a", "id": 1}])) == {"text": "Text", "group": None, "id": "id"}
    assert choose_columns(source([{"tweet": "a"}]))["text"] == "tweet"
    with pytest.raises(ValueError, match=r"Name it with --text; invented has the columns title, body"):
        choose_columns(source([{"title": "a", "body": "b"}]))
    with pytest.raises(ValueError, match="--group 'party': no such column; invented has the columns text"):
        choose_columns(source([{"text": "a"}]), group="party")


def test_nothing_left_is_an_error_that_says_why():
    with pytest.raises(ValueError, match=r"column 'text': no text is left \(1 x empty text, 1 x missing text\)"):
        collected([{"text": " "}, {"text": None}])
    with pytest.raises(ValueError, match="it has no rows"):
        collect(Source("empty", ["text"], lambda wanted: iter([])), {"text": "text", "group": None, "id": None})


@pytest.mark.parametrize(
    ("text", "cleaned"),
    [
        ("a\u202eb\u200fc", "a\u202eb\u200fc"),  # marks of direction stay
        ("a\x85b\x1cc", "a b c"),  # white space of old
        ("\ufeffa", "a"),
        ("\ud83d\ude00", "😀"),
    ],
)
def test_clean(text, cleaned):
    assert clean(text)[0] == cleaned
