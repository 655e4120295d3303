"""Any source of texts: read row by row, cleaned, counted, and every distinct text once."""

import gzip
import json
from collections import Counter

import pandas as pd
import pytest

from dataset_scripts.base.reading import Dropped
from modeling.search import texts
from modeling.search.texts import choose_columns, clean, open_source, read_statements, read_texts


def read(path, *columns, **options):
    """Rows of a source, and where the first is for each reason not to read one."""
    dropped = Dropped()
    return list(open_source(path, **options).read(columns, dropped)), dropped.first


def collected(rows, **columns):
    return read_texts(pd.DataFrame(rows), **columns)


@pytest.mark.parametrize("name", ["a.csv", "a.csv.gz", "a.tsv", "a.jsonl", "a.jsonl.gz", "a.parquet", "folder"])
def test_every_kind_of_source_gives_the_same_rows(tmp_path, name):
    frame = pd.DataFrame({"text": ["trams, please", 'a "quoted"\nline', "straße"], "party": ["G", "NA", "null"]})
    path = tmp_path / name
    if ".parquet" in name:
        frame.to_parquet(path)
    elif name == "folder":
        path.mkdir()
        frame[:1].to_parquet(path / "00.parquet")
        frame[1:].to_parquet(path / "01.parquet")
    elif ".jsonl" in name:
        frame.to_json(path, orient="records", lines=True)
    else:
        frame.to_csv(path, index=False, sep="\t" if ".tsv" in name else ",")
    assert open_source(path).columns == ["text", "party"]
    # "NA" and "null" are what somebody wrote, not missing values
    rows = [("G", "trams, please"), ("NA", 'a "quoted"\nline'), ("null", "straße")]
    assert read(path, "party", "text") == (rows, {})


@pytest.mark.parametrize("encoding", ["utf-8-sig", "utf-16"])
def test_marked_encodings_and_semicolons_are_read_as_spreadsheets_write_them(tmp_path, encoding):
    (tmp_path / "a.csv").write_text("text;party\ntrams, please;G\n", encoding=encoding)
    assert read(tmp_path / "a.csv", "text", "party")[0] == [("trams, please", "G")]
    if encoding == "utf-8-sig":
        assert open_source(tmp_path / "a.csv", encoding="utf-8").columns == ["text", "party"]


def test_another_encoding_has_to_be_named(tmp_path):
    (tmp_path / "a.csv").write_bytes("text\nstraße\n".encode("latin-1"))
    with pytest.raises(ValueError, match=r"a\.csv is not in utf-8-sig .*--encoding latin-1"):
        read(tmp_path / "a.csv", "text")
    assert read(tmp_path / "a.csv", "text", encoding="latin-1")[0] == [("straße",)]


def test_rows_that_cannot_be_read_are_counted_with_the_first(tmp_path):
    long = "x" * 1_000_000  # csv's own limit is 128 KB
    (tmp_path / "a.csv").write_text(
        f'text,party\n"two\nlines",G\n\ntrams, please,G\n{long},B\n"open,G\n' + "t,G\n" * 30
    )
    rows, first = read(tmp_path / "a.csv", "text")
    assert rows == [("two\nlines",), (long,)]
    wrong = "row: wrong number of columns"
    assert first == {wrong: "line 5", f"{wrong} (a quote left open?)": "line 7"}
    lines = b'\xef\xbb\xbf{"text": "first"}\n\n{"text": "cut\n[1]\n{"text": "\xff"}\n{"text": "last", "id": 7}\n'
    (tmp_path / "a.jsonl").write_bytes(lines)
    collection = read_texts(tmp_path / "a.jsonl", "text")
    assert collection.rows["row"].to_pylist() == [0, 4]  # of the source
    assert (collection.rows["text"].to_pylist(), collection.counts.read) == (["first", "last"], 5)
    assert collection.counts.describe("a").splitlines()[1:] == [
        "          2 x dropped: line: not a JSON object (first: a.jsonl, line 3)",
        "          1 x dropped: line: not UTF-8 (first: a.jsonl, line 5)",
    ]


def test_a_built_folder_with_classes_by_name(tiny_data, tmp_path):
    source = open_source(tiny_data, config="pairs", split="test", cache_dir=tmp_path)
    rows = list(source.read(["sentence1", "label"], Dropped()))
    assert source.total == len(rows) == 66
    assert {label for _, label in rows} == {"agree", "oppose"}
    assert open_source(tiny_data, config="pairs", cache_dir=tmp_path).total == 8 * 66  # all splits
    with pytest.raises(ValueError, match=r"several configurations.*pairs, triplets, similarity"):
        open_source(tiny_data, cache_dir=tmp_path)
    with pytest.raises(ValueError, match="no split 'dev'; it has train, validation, test"):
        open_source(tiny_data, config="pairs", split="dev", cache_dir=tmp_path)
    with pytest.raises(ValueError, match="no configurations or splits"):
        open_source(tiny_data / "pairs", split="test")


@pytest.mark.parametrize(
    ("name", "content", "message"),
    [
        ("b.csv", None, r"b\.csv does not exist: check the path; did you mean 'a\.csv'"),
        ("a.xlsx", "x", r"has to end in \.csv"),
        ("a.csv", "\n\n", "line 1: there is no header"),
        ("a.parquet", "x", "cannot be read as Parquet"),
        (
            "a.jsonl.gz",
            gzip.compress(json.dumps({"text": "x" * 50}).encode() * 50, mtime=0)[:-12],
            r"a\.jsonl\.gz.*again",
        ),
    ],
)
def test_what_is_no_source_is_an_error(tmp_path, name, content, message):
    if name == "b.csv":
        (tmp_path / "a.csv").touch()
    if content is not None:
        (tmp_path / name).write_bytes(content.encode() if isinstance(content, str) else content)
    with pytest.raises(ValueError, match=message):
        open_source(tmp_path / name)


def test_columns_are_guessed_only_where_they_are_plain(tmp_path):
    def columns(header, **named):
        (tmp_path / "a.csv").write_text(f"{header}\n")
        return choose_columns(open_source(tmp_path / "a.csv"), **named)

    assert columns("Text,id") == {"text": "Text", "group": None, "id": "id"}
    assert columns("tweet")["text"] == "tweet"
    with pytest.raises(ValueError, match=r"Name it with --text; .*a\.csv has the columns title, body"):
        columns("title,body")
    with pytest.raises(ValueError, match=r"--group 'partei': no such column; .* text, party; did you mean 'party'\?"):
        columns("text,party", group="partei")
    with pytest.raises(ValueError, match=r"a\.csv has two columns called 'text': rename one of them"):
        columns("text,party,text")
    assert columns("text,note,note")["text"] == "text"  # which are not asked for


def test_what_is_kept_dropped_and_changed():
    rows = [
        ("Trams should be free.", "G", 1),
        ("  Trams should\tbe free.\n", "B", 2),
        (" \t\n", "G", None),
        (None, "G", None),
        ("tram " * 200_000, "B", None),
        ("🚋🚋", "B", None),
        ("الترام يجب أن يكون مجانيا", " ", None),
        ("late\x00\x07 trams", "3", None),
    ]
    collection = collected({"text": [row[0] for row in rows], "party": [row[1] for row in rows]}, group="party")
    long = ("tram " * 2000).strip()  # 9,999 characters: the cut at 10,000 leaves a space at the end
    texts = ["Trams should be free.", long, "🚋🚋", "الترام يجب أن يكون مجانيا", "late trams"]
    counts = collection.counts
    assert (counts.read, counts.kept, counts.distinct, counts.ungrouped) == (8, 6, 5, 1)
    assert counts.dropped == {"empty text": 1, "missing text": 1}
    assert counts.changed == {
        "cut to 10,000 characters": 1,
        "kept without any letter or digit (emoji, punctuation)": 1,
        "kept although probably not in English (script, or few stop words)": 2,  # Arabic, and one word repeated
        "control characters removed": 1,
    }
    assert collection.rows.to_pydict() == {
        "row": [0, 1, 4, 5, 6, 7],  # of the source, so that its other columns can be joined
        "id": [None] * 6,
        "group": ["G", "B", "B", "B", None, "3"],
        "text": [texts[0], *texts],
    }


def test_a_hundred_thousand_copies_are_cleaned_once(monkeypatch):
    cleaned = Counter()
    monkeypatch.setattr(texts, "clean", lambda text, *rest: (cleaned.update([text]), clean(text, *rest))[1])
    collection = collected({"text": ["Free trams now!"] * 100_000})
    assert (collection.counts.kept, collection.counts.distinct, cleaned) == (100_000, 1, {"Free trams now!": 1})


def test_the_digest_tells_texts_groups_and_order():
    one, other = {"text": "a b", "party": "G"}, {"text": "c", "party": "G"}
    variants = [[one, other], [other, one], [one, {**other, "party": "B"}], [one, {**other, "text": "d"}]]
    digests = [collected(rows, group="party").digest for rows in (variants[0], *variants)]
    assert digests[0] == digests[1]
    assert len(set(digests)) == 4


def test_nothing_left_is_an_error_that_says_why():
    with pytest.raises(ValueError, match=r"column 'text': no text is left \(1 x empty text, 1 x missing text\)"):
        collected({"text": [" ", None]})
    with pytest.raises(ValueError, match=r"not a text but a number, list or object\)"):
        collected({"text": [12]})
    with pytest.raises(ValueError, match="it has no rows"):
        collected({"text": []})
    with pytest.raises(ValueError, match=r"no text is left \(2 x without a letter\); is it the column of the texts"):
        collected({"text": ["5", "3"]})


@pytest.mark.parametrize(
    ("text", "cleaned"),
    [
        ("a\u202eb\u200fc", "a\u202eb\u200fc"),  # marks of direction stay
        ("a\x85b\x1cc", "a b c"),  # white space of old
        ("\ufeffa", "a"),
        ("half \ud83d whole \ud83d\ude00", "half \ufffd whole 😀"),
    ],
)
def test_clean(text, cleaned):
    assert clean(text)[0] == cleaned


def test_statements_from_a_text_file_or_a_table(tmp_path):
    (tmp_path / "a.txt").write_text("Trams should be free.\n\n  Trams cost too much. \n", encoding="utf-8-sig")
    assert read_statements(tmp_path / "a.txt") == [("Trams should be free.", None), ("Trams cost too much.", None)]
    (tmp_path / "a.csv").write_text('statement,target\n"Free trams, now.",G\nNo trams.,\n')
    assert read_statements(tmp_path / "a.csv") == [("Free trams, now.", "G"), ("No trams.", None)]


@pytest.mark.parametrize(
    ("name", "content", "message"),
    [
        ("a.txt", "\n \n", "holds no statement"),
        ("a.csv", "text\nx\n", "no column 'statement'; it has text"),
        ("a.csv", "statement,target\nFree trams, now.,G\n", "line 2: row: wrong number of columns; repair the line"),
    ],
)
def test_files_without_statements_are_errors(tmp_path, name, content, message):
    (tmp_path / name).write_text(content)
    with pytest.raises(ValueError, match=message):
        read_statements(tmp_path / name)
