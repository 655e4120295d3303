"""IAM: questions as statements, sides of claims, marks, and what is left out."""

import pytest

from dataset_scripts.base.quality import TestSetGuard
from dataset_scripts.iam import IAM, as_statement


@pytest.mark.parametrize(
    ("question", "statement"),
    [
        ("Should we close the old bridge?", "We should close the old bridge"),
        ("Shouldn't the feeding of ducks be banned", "The feeding of ducks should be banned"),
        ("Shouldn't it be forbidden to whistle?", "It should be forbidden to whistle"),
        ("Should rich towns restrict traffic", "Rich towns should restrict traffic"),
        ("Does the Harbour Have More Rain?", "The Harbour has More Rain"),
        ("Does slow music bring peace", "Slow music brings peace"),
        ("Do all ducks have the right to bread", "All ducks have the right to bread"),
        ("Is slow music harmful to ducks?", "Slow music is harmful to ducks"),
        ("Will trams replace buses", "Trams will replace buses"),
        ("Why should we close the old bridge?", None),
    ],
)
def test_a_question_as_a_statement(question, statement):
    assert as_statement(question) == statement


TRAIN = [
    "C\tShould we close the old bridge?\tIts stones are loose [ref], engineers say.[12]\t1_1\t1",
    "C\tShould we close the old bridge?\tPeople reach the market by this bridge [1841 plans]\t1_2\t-1",
    "C\tShould we close the old bridge?\tNobody can tell what this says\t1_2\t0",
    "C\tShould we close the old bridge?\tA sentence of a test set [ref] stands here\t1_2\t1",
    "C\tShould physical education be compulsory\tRunning makes pupils hungry for lunch\t2_1\t1",
    "C\tShould abortion be prohibited\tThis topic has a test of its own\t2_1\t1",
    "C\tWhat a fine bridge\tThe old bridge is rather fine\t3_1\t1",
    "C\tno third field",
]
OTHERS = {
    "dev.txt": "C\tDoes slow music bring peace\tListeners of slow music sleep well\t4_1\t1",
    "test.txt": "C\tShould there be a tax on hats?\tHats keep the poor warm as well\t5_1\t-1",
}


def test_families(build, write, monkeypatch):
    # a text is known by its words as they are written, marks included
    sentence = TestSetGuard.digest("A sentence of a test set [ref] stands here")
    monkeypatch.setattr(TestSetGuard, "PATH", write("guard", {"list.tsv": f"iam\t{sentence}"}) / "list.tsv")
    data, dropped = build(IAM, write("raw", {"train.txt": "\r\n".join(TRAIN), **OTHERS}))
    rows = [(row["text"], row["statement"], row["side"]) for split in data.values() for row in split]
    assert sorted(rows) == [
        ("Hats keep the poor warm as well", "There should be a tax on hats", 0),
        ("Its stones are loose, engineers say.", "We should close the old bridge", 1),
        ("Listeners of slow music sleep well", "Slow music brings peace", 1),
        ("People reach the market by this bridge [1841 plans]", "We should close the old bridge", 0),
    ]
    assert dropped == {
        "claim: malformed row": 1,
        "claim: in a set that models are tested on": 1,
        "claim: its topic is no yes/no question": 1,
        "row: wrong number of columns": 1,
        "family: on a topic that models are tested on": 2,
    }
