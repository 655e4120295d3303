"""Sources of texts: every kind is read row by row, and what cannot be read is named."""

import gzip
import json

import pandas as pd
import pytest

from modeling.search.records import Unreadable, open_source


def rows(path, *columns, **options):
    return list(open_source(path, **options).read(columns))


@pytest.mark.parametrize("name", ["a.csv", "a.csv.gz", "a.tsv", "a.jsonl", "a.jsonl.gz", "a.parquet"])
def test_every_kind_of_file_gives_the_same_rows(tmp_path, name):
    frame = pd.DataFrame({"text": ["trams, please", 'a "quoted"\nline', "straße"], "party": ["G", "NA", "null"]})
    path = tmp_path / name
    if ".parquet" in name:
        frame.to_parquet(path)
    elif ".jsonl" in name:
        frame.to_json(path, orient="records", lines=True)
    else:
        frame.to_csv(path, index=False, sep="\t" if ".tsv" in name else ",")
    assert open_source(path).columns == ["text", "party"]
    # "NA" and "null" are what somebody wrote, not missing values
    assert rows(path, "party", "text") == [("G", "trams, please"), ("NA", 'a "quoted"\nline'), ("null", "straße")]


def test_a_semicolon_separates_where_the_header_has_no_comma(tmp_path):
    path = tmp_path / "a.csv"
    path.write_text("text;party\ntrams, please;G\n", encoding="utf-8-sig")
    assert rows(path, "text", "party") == [("trams, please", "G")]


def test_rows_of_a_wrong_width_are_named_by_line(tmp_path):
    path = tmp_path / "a.csv"
    path.write_text('text,party\n"two\nlines",G\n\ntrams, please,G\nlast,B\n')
    assert rows(path, "text") == [("two\nlines",), Unreadable("wrong number of columns", 5), ("last",)]


def test_a_quote_left_open_is_suspected(tmp_path):
    path = tmp_path / "a.csv"
    path.write_text('text,party\n"open,G\n' + "trams,G\n" * 30)
    assert rows(path, "text") == [Unreadable("wrong number of columns (a quote left open?)", 2)]


def test_a_field_of_a_megabyte_is_read(tmp_path):
    path = tmp_path / "a.csv"
    path.write_text("text\n" + "x" * 1_000_000 + "\n")
    assert [len(text) for (text,) in rows(path, "text")] == [1_000_000]


def test_another_encoding_has_to_be_named(tmp_path):
    path = tmp_path / "a.csv"
    path.write_bytes("text\nstraße\n".encode("latin-1"))
    with pytest.raises(ValueError, match=r"a\.csv is not in utf-8-sig .*--encoding latin-1"):
        rows(path, "text")
    assert rows(path, "text", encoding="latin-1") == [("straße",)]
    with pytest.raises(ValueError, match="--encoding 'klingon' is unknown"):
        open_source(path, encoding="klingon")


def test_bad_json_lines_are_named_and_the_rest_is_read(tmp_path):
    path = tmp_path / "a.jsonl"
    path.write_bytes(
        b'\xef\xbb\xbf{"text": "first"}\n\n{"text": "cut\n[1]\n{"text": "\xff"}\n{"text": "last", "id": 7}\n'
    )
    assert open_source(path).columns == ["text", "id"]
    assert rows(path, "text", "id") == [
        ("first", None),
        Unreadable("line is not valid JSON", 3),
        Unreadable("line is no JSON object", 4),
        Unreadable("line is not valid JSON", 5),
        ("last", 7),
    ]


def test_a_cut_off_archive_is_named(tmp_path):
    path = tmp_path / "a.jsonl.gz"
    path.write_bytes(gzip.compress(json.dumps({"text": "x" * 50}).encode() * 50)[:-12])
    with pytest.raises(ValueError, match=r"a\.jsonl\.gz cannot be read"):
        open_source(path)


def test_a_folder_of_parquet_files(tmp_path):
    for number, text in enumerate(("one", "two")):
        pd.DataFrame({"text": [text]}).to_parquet(tmp_path / f"{number}.parquet")
    source = open_source(tmp_path)
    assert (list(source.read(["text"])), source.total) == ([("one",), ("two",)], 2)


def test_a_built_folder_with_classes_by_name(tiny_data, tmp_path):
    source = open_source(tiny_data, config="pairs", split="test", cache_dir=tmp_path)
    found = list(source.read(["sentence1", "label"]))
    assert source.total == len(found) == 66
    assert {label for _, label in found} == {"agree", "oppose"}
    assert open_source(tiny_data, config="pairs", cache_dir=tmp_path).total == 8 * 66  # all splits
    with pytest.raises(ValueError, match=r"several configurations.*pairs, triplets, similarity"):
        open_source(tiny_data, cache_dir=tmp_path)
    with pytest.raises(ValueError, match="no split 'dev'; it has train, validation, test"):
        open_source(tiny_data, config="pairs", split="dev", cache_dir=tmp_path)


@pytest.mark.parametrize(
    ("make", "options", "message"),
    [
        ("", {}, "does not exist"),
        ("a.xlsx", {}, r"has to end in \.csv"),
        ("a.csv", {}, "line 1: there is no header"),
        ("a.parquet", {}, "cannot be read as Parquet"),
        ("a.csv", {"config": "pairs"}, "leave out --config"),
    ],
)
def test_what_is_no_source_is_an_error(tmp_path, make, options, message):
    path = tmp_path / (make or "missing.csv")
    if make:
        path.touch()
    with pytest.raises(ValueError, match=message):
        open_source(path, **options)


def test_a_folder_without_data_is_an_error(tmp_path):
    with pytest.raises(ValueError, match="neither Parquet files nor a README"):
        open_source(tmp_path)
