"""STS Benchmark: released files."""

from dataset_scripts.stsb import STSBenchmark

LINE = 'main-news\tinvented\t2012\t1\t3.50\t"Big  cat" sleeps.\tA cat naps.\tsource\tlicence\n'


def test_released_files(build, write):
    copies = {"sts-train.csv": 3, "sts-dev.csv": 2, "sts-test.csv": 1}
    data, dropped = build(STSBenchmark, write("raw", {f"{name}.gz": LINE * n for name, n in copies.items()}))
    # quotes are letters, repeated rows and short texts stay
    assert data.num_rows == {"train": 3, "validation": 2, "test": 1} and dropped == {}
    expected = {"sentence1": '"Big cat" sleeps.', "sentence2": "A cat naps.", "score": 3.5, "group": "main-news"}
    assert data["test"][0] == expected
