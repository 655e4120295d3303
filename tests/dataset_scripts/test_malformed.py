"""Rows that a corpus cannot use are counted by their reason, and cost only themselves."""

import pytest

from dataset_scripts.base.metadata import get_corpus

SICK = "pair_ID\tsentence_A\tsentence_B\trelatedness_score\tentailment_judgment\n"
SICK_ROWS = [
    "A cat\tA dog\t3\tNEUTRAL",
    "A cat\tA dog",
    "A cat\tA dog\t3\tNEUTRAL\textra",
    "A cat\tA dog\t0.9\tNEUTRAL",
]
SICK_ROWS += ["A cat\tA dog\tx\tNEUTRAL", " \tA dog\t3\tNEUTRAL", "A cat\tA dog\t3\tMAYBE"]
MR = b"label\ttext\n0\tbad plot\n1\t\n2\tneither\n\tno label\n1\ta\tb\n1\n\n1\tdull test!\n1\tclich\xe9\n"
MR_HELD_OUT = {f"split_{split}.tsv.gz": f"label\ttext\n0\tdull {split}\n" for split in ("validation", "test")}
# corpus, with the one of the files that is given; files; kept rows; what is counted
CASES = [
    (
        "mr/split_test.tsv.gz",
        {"split_train.tsv.gz": MR, **MR_HELD_OUT},
        {"train": 1, "validation": 1, "test": 1},
        {"row: empty text": 1, "row: unknown label": 2, "row: wrong number of columns": 2, "line: not UTF-8": 1}
        | {"row: a text is also in test": 1},
    ),
    (
        "sick/SICK.txt",
        {"SICK.txt": SICK + "".join(f"{number}\t{row}\n" for number, row in enumerate(SICK_ROWS))},
        {"test": 1},
        {"row: wrong number of columns": 2, "row: score is no number from 1 to 5": 2, "row: empty text": 1}
        | {"row: unknown label": 1},
    ),
]


@pytest.mark.parametrize(("target", "files", "kept", "dropped"), CASES, ids=[case[0] for case in CASES])
def test_malformed_rows(target, files, kept, dropped, build, write):
    name, _, file = target.partition("/")
    data, counts = build(get_corpus(name), write("raw", files) / file)
    assert data.num_rows == kept and counts == dropped
