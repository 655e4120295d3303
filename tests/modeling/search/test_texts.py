"""Any source of texts: read row by row, cleaned, counted, and every distinct text once."""

import gzip
import json

import pandas as pd
import pytest

from dataset_scripts.base.reading import Dropped
from modeling.search.texts import open_source, read_texts


def read(path, *columns, **options):
    """Rows of a source, and where the first is for each reason not to read one."""
    dropped = Dropped()
    return list(open_source(path, **options).read(columns, dropped)), dropped.first


def collected(rows, **columns):
    return read_texts(pd.DataFrame(rows), **columns)


@pytest.mark.parametrize("name", ["a.csv.gz", "a.tsv", "a.jsonl", "folder"])
def test_every_kind_of_source_gives_the_same_rows(tmp_path, name):
    frame = pd.DataFrame({"text": ["trams, please", 'a "quoted"\nline', "straße"], "party": ["G", "NA", "null"]})
    path = tmp_path / name
    if name == "folder":
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
    if encoding == "utf-16":
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


def test_nothing_left_is_an_error_that_says_why():
    with pytest.raises(ValueError, match=r"column 'text': no text is left \(1 x empty text, 1 x missing text\)"):
        collected({"text": [" ", None]})
    with pytest.raises(ValueError, match=r"not a text but a number, list or object\)"):
        collected({"text": [12]})
    with pytest.raises(ValueError, match="it has no rows"):
        collected({"text": []})
    with pytest.raises(ValueError, match=r"no text is left \(2 x without a letter\); is it the column of the texts"):
        collected({"text": ["5", "3"]})
