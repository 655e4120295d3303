"""STS Benchmark: released files, the demonstration layout."""

import pytest

from dataset_scripts.stsb import STSBenchmark

LINE = 'main-news\tinvented\t2012\t1\t3.50\t"Big  cat" sleeps.\tA cat naps.\tsource\tlicence\n'


@pytest.mark.parametrize("end", ["", ".gz"])
def test_released_files(end, build, write):
    copies = {"sts-train.csv": 3, "sts-dev.csv": 2, "sts-test.csv": 1}
    data, dropped = build(STSBenchmark, write("raw", {name + end: LINE * n for name, n in copies.items()}))
    # quotes are letters, repeated rows and short texts stay
    assert data.num_rows == {"train": 3, "validation": 2, "test": 1} and dropped == {}
    expected = {"sentence1": '"Big cat" sleeps.', "sentence2": "A cat naps.", "score": 3.5, "group": "main-news"}
    assert data["test"][0] == expected


def test_demonstration_layout(build, write):
    rows = ["validation\t4\tA cat naps.\tThe cat sleeps.", "test\t0\tA\tIt rains.", "train\t1\tA", "dev\t1\tA\tB"]
    folder = write("raw", {"similarity.tsv": "\n".join(["split\tscore\tsentence1\tsentence2", *rows])})
    data, dropped = build(STSBenchmark, folder)
    assert data.num_rows == {"validation": 1, "test": 1}
    assert tuple(data["validation"][0].values()) == ("A cat naps.", "The cat sleeps.", 4.0, "")
    assert dropped == {"row: too few columns": 1, "row: unknown split": 1}
