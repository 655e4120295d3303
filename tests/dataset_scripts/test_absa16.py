"""SemEval-2016's sentences: families of one aspect, what is left out and why, a file that is no XML."""

import pytest

from dataset_scripts.absa16 import Absa16
from dataset_scripts.base.quality import TestSetGuard

SENTENCES = [
    ("The battery  lasts the whole day", {"BATTERY#OPERATION_PERFORMANCE": "positive", "LAPTOP#GENERAL": "positive"}),
    ("It runs empty before lunch", {"BATTERY#OPERATION_PERFORMANCE": "negative"}),
    ("Nobody there ever answers the telephone", {"SUPPORT#QUALITY": "negative"}),
    ("A sentence that SOS has too", {"SUPPORT#QUALITY": "negative"}),
    ("A fine screen with dreadful colours", {"DISPLAY#QUALITY": "positive", "LAPTOP#GENERAL": "negative"}),
    ("The screen is as they say", {"DISPLAY#QUALITY": "neutral"}),
    ("I bought it in the spring", {}),
    ("Too slow", {"LAPTOP#OPERATION_PERFORMANCE": "negative"}),
]


def xml(sentences) -> str:
    rows = []
    for number, (text, opinions) in enumerate(sentences):
        marks = [f'<Opinion category="{name}" polarity="{polarity}"/>' for name, polarity in opinions.items()]
        marks = "".join(["<Opinions>", *marks, "</Opinions>"])
        rows.append(f'<sentence id="1:{number}"><text>{text}</text>{marks}</sentence>')
    return "\n".join(["<Reviews><Review><sentences>", *rows, "</sentences></Review></Reviews>"])


def test_families(build, write, monkeypatch):
    digests = f"corpus\tsha1\nabsa16\t{TestSetGuard.digest(SENTENCES[3][0])}\n"
    monkeypatch.setattr(TestSetGuard, "PATH", write("guard", {"list.tsv": digests}) / "list.tsv")
    files = {"ABSA16_Laptops_Train_SB1_v2.xml.gz": xml(SENTENCES), "EN_LAPT_SB1_TEST.xml": xml([SENTENCES[0]])}
    data, dropped = build(Absa16, write("raw", files))
    assert {tuple(row.values()) for rows in data.values() for row in rows} == {
        ("The battery lasts the whole day", "", 1, "laptops-battery-operation-performance"),
        ("It runs empty before lunch", "", 0, "laptops-battery-operation-performance"),
        ("Nobody there ever answers the telephone", "", 0, "laptops-support-quality"),
    }
    assert dropped == {
        "sentence: of several appraisals": 1,
        "sentence: neutral": 1,
        "sentence: without an opinion": 1,
        "row: text shorter than 4 words": 1,
        "row: a text is in a set that models are tested on": 1,
    }


def test_a_file_that_is_no_xml_is_named(build, write):
    with pytest.raises(ValueError, match=r"ABSA16_Laptops_Train\.xml: .*line 1.*give the released file"):
        build(Absa16, write("raw", {"ABSA16_Laptops_Train.xml": "<Reviews>"}))
