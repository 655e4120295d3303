"""SOS: means of annotations, sentences out of XML and CSV, the published pairs, and every malformed row."""

import csv
import gzip
from collections import Counter
from pathlib import Path

import pytest

from dataset_scripts.base.metadata import load_metadata
from dataset_scripts.sos import LOST, Sos

ANNOTATIONS = "opinion_similarity_annotation.csv"
PUBLISHED = "sentence_pair_unique.csv"
LAPTOPS = {"L1:0": "The screen  is sharp.", "L1:1": "A sharp screen &amp; lid", "L2:0": "It broke.", "L9:0": " "}
MEALS = {"R1:0": "Cold soup.", "R1:1": "The soup was hot."}


def xml(sentences: dict[str, str], category: str = "") -> str:
    opinions = f'<Opinions><Opinion category="{category}#GENERAL" polarity="positive"/></Opinions>' if category else ""
    body = "".join(f'<sentence id="{id}"><text>{text}</text>{opinions}</sentence>' for id, text in sentences.items())
    head = '<?xml version="1.0" encoding="UTF-8" standalone="yes"?>'
    return f'{head}<Reviews><Review rid="1"><sentences>{body}</sentences></Review></Reviews>'


def table(path: Path, rows: list[list]) -> Path:
    with path.open("w", newline="") as file:
        csv.writer(file, quoting=csv.QUOTE_ALL).writerows(rows)
    return path


def annotate(folder: Path, *rows: tuple) -> Path:
    header = ["sent1_id", "sent2_id", "annotation", "annotator_id"]
    return table(folder / ANNOTATIONS, [header, *([*row, "A"] for row in rows)])


def build(path: Path, cache: Path):
    builder = Sos.open(path, cache_dir=cache / "cache")
    builder.download_and_prepare()
    return builder.as_dataset()["test"].to_list(), dict(builder.dropped)


def test_means_of_annotations_and_sentences_of_xml(tmp_path):
    annotate(
        tmp_path,
        *(("L1:0", "L1:1", score) for score in (3, 4)),
        *(("R1:1", "R1:0", score) for score in (0, 1, 1)),
        ("L1:0", "L1:1", 3),  # a pair's annotations need not stand together
        ("L1:0", "L2:0", 2),
    )
    (tmp_path / "gold").mkdir()
    (tmp_path / "gold" / "EN_LAPT_SB1_TEST_.xml.gold").write_text(xml(LAPTOPS, "LAPTOP"))
    (tmp_path / "gold" / "test.xml.gz").write_bytes(gzip.compress(xml(MEALS, "RESTAURANT").encode()))
    rows, dropped = build(tmp_path, tmp_path)
    assert rows == [
        {"id": "pair_1", "sentence1": "The screen is sharp.", "sentence2": "A sharp screen & lid",
         "score": pytest.approx(10 / 3), "domain": "laptop"},
        {"id": "pair_2", "sentence1": "The soup was hot.", "sentence2": "Cold soup.",
         "score": pytest.approx(2 / 3), "domain": "restaurant"},
        {"id": "pair_3", "sentence1": "The screen is sharp.", "sentence2": "It broke.", "score": 2, "domain": "laptop"},
    ]  # fmt: skip
    assert dropped == {}


def test_sentences_of_the_authors_tables(tmp_path):
    annotate(tmp_path, ("L1:0", "L2:0", 1), ("R1:0", "R1:1", 4))
    header = ["index", "sent_id", "text", "category", "polarity"]
    laptops = [[1, "L1:0", "A dull  screen", "DISPLAY#QUALITY", "negative"],
               [2, "L2:0", "- Sharp", "LAPTOP#GENERAL", "positive"]]  # fmt: skip
    table(tmp_path / "EN_LAPT_SB1_TEST_.csv", [header, *laptops])
    meals = [[1, "R1:0", "Cold", "FOOD#QUALITY", "negative"], [2, "R1:1", "Hot", "RESTAURANT#GENERAL", "positive"]]
    table(tmp_path / "EN_REST_SB1_TEST.csv", [[*header, "target"], *([*row, "NULL"] for row in meals)])
    rows, dropped = build(tmp_path, tmp_path)
    assert [tuple(row.values()) for row in rows] == [
        ("pair_1", "A dull screen", "- Sharp", 1, "laptop"),
        ("pair_2", "Cold", "Hot", 4, "restaurant"),
    ]
    assert dropped == {}
    # XML is as SemEval released it: it goes first
    (tmp_path / "laptops.xml").write_text(xml({"L1:0": "A sharp screen"}, "LAPTOP"))
    assert build(tmp_path, tmp_path)[0][0]["sentence1"] == "A sharp screen"


def test_pairs_that_cannot_be_used(tmp_path):
    annotate(
        tmp_path,
        ("L1:0", "L7:0", 1),
        ("L1:0", "L9:0", 1),
        ("L1:0", "R1:0", 1),
        ("H1:0", "H1:1", 1),
        *(("L1:1", "L2:0", score) for score in (5, "x", "", "nan")),
        *(("L1:0", "L1:1", score) for score in (3, -1, 2)),
    )
    with (tmp_path / ANNOTATIONS).open("a") as file:
        file.write('"L1:0","L1:1"\n')
    (tmp_path / "laptops.xml").write_text(xml(LAPTOPS, "LAPTOP"))
    (tmp_path / "meals.xml").write_text(xml(MEALS, "RESTAURANT"))
    (tmp_path / "hotels.xml").write_text(xml({"H1:0": "A soft bed", "H1:1": "A hard bed"}, "HOTEL"))
    rows, dropped = build(tmp_path, tmp_path)
    # the number stays that of the pair in the annotations
    assert [(row["id"], row["score"]) for row in rows] == [("pair_6", 2.5)]
    assert dropped == {
        "annotation: no number from 0 to 4": 5,
        "file: no opinions on laptops or restaurants": 1,
        "pair: a sentence is in none of the files": 3,
        "pair: sentences of two domains": 1,
        "pair: without a valid annotation": 1,
        "row: wrong number of columns": 1,
    }


def test_the_published_pairs(tmp_path):
    header = ["pair_id", "sent1_text", "sent2_text", "domain", "group", "avg"]
    rows = [
        ["pair_2", "Cold  soup.", "Hot soup.", "Restaurant", "Different", "0.666666667"],
        ["pair_3", LOST, "Hot soup.", "Restaurant", "Same", "3"],
        ["pair_4", " ", "Hot soup.", "Restaurant", "Same", "3"],
        ["pair_5", "Cold soup.", "Hot soup.", "Restaurant", "Same", "4.5"],
        ["pair_6", "Cold soup.", "Hot soup.", "Hotel", "Same", "3"],
    ]
    path = table(tmp_path / "pairs.csv", [header, *rows])
    expected = {"id": "pair_2", "sentence1": "Cold soup.", "sentence2": "Hot soup.", "domain": "restaurant"}
    for cache, data in (("file", path), ("folder", tmp_path)):
        found, dropped = build(data, tmp_path / cache)
        assert found == [{**expected, "score": pytest.approx(2 / 3)}]
        assert sorted(dropped.values()) == [1, 1, 1, 1] and any(LOST in reason for reason in dropped)
    # annotations without their sentences do not help
    annotate(tmp_path, ("L1:0", "L1:1", 1))
    assert len(build(tmp_path, tmp_path)[0]) == 1


def test_files_that_do_not_fit(tmp_path):
    with pytest.raises(FileNotFoundError, match="lacks annotations and pairs; it needs a folder with opinion_sim"):
        (tmp_path / "laptops.xml").write_text(xml(LAPTOPS, "LAPTOP"))
        (tmp_path / "picture.csv").write_bytes(b"\xff\xfe\x00")
        build(tmp_path, tmp_path)
    (tmp_path / "laptops.xml").unlink()
    path = annotate(tmp_path, ("L1:0", "L1:1", 1))
    with pytest.raises(FileNotFoundError, match="lacks the sentences that its annotations name"):
        build(tmp_path, tmp_path)
    with pytest.raises(ValueError, match=r"annotation.csv has no columns pair_id, sent1_text, .*needs a folder with"):
        build(path, tmp_path)
    (tmp_path / "laptops.xml").write_text(xml(LAPTOPS, "LAPTOP")[:-20])
    with pytest.raises(ValueError, match=r"laptops.xml is no valid XML .*as it was released"):
        build(tmp_path, tmp_path)


def test_the_demonstration(root, tmp_path):
    rows, dropped = build(root / "dataset_scripts" / "demo" / "opinions.csv", tmp_path)
    assert {row["domain"] for row in rows} == {"laptop", "restaurant"} and dropped == {}
    assert min(row["score"] for row in rows) <= 1.5 < max(row["score"] for row in rows)


@pytest.mark.corpora
def test_the_annotations_agree_with_the_published_pairs(corpora, tmp_path):
    rebuilt, dropped = build(corpora, tmp_path)  # XML of SemEval lies beside the authors' folder
    assert {"test": len(rebuilt)} == load_metadata("sos").expected["opinions"] and dropped == {}
    groups = Counter((row["domain"], row["score"] <= 1.5) for row in rebuilt)
    assert groups == {
        ("laptop", True): 116,
        ("laptop", False): 505,
        ("restaurant", True): 227,
        ("restaurant", False): 787,
    }
    published, dropped = build(corpora / "sos" / "result" / PUBLISHED, tmp_path)
    assert len(published) == 1628 and list(dropped.values()) == [7]
    by_id = {row["id"]: row for row in rebuilt}
    for row in published:
        assert by_id.pop(row["id"]) == {**row, "score": pytest.approx(row["score"], abs=1e-6)}
    # what is left is the seven pairs whose text begins with a dash
    assert all(row["sentence1"][0] == "-" or row["sentence2"][0] == "-" for row in by_id.values()) and len(by_id) == 7
    assert build(corpora / "sos", tmp_path)[0] == rebuilt  # with the authors' tables of sentences
