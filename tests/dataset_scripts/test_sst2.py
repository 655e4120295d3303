"""SST-2: SentEval's three files."""

from dataset_scripts.sst2 import SST2

TEST, VALIDATION = "a grand parade .\t1\n", "a wet parade .\t0\n"


def release(train: str | bytes, dev: str = VALIDATION, test: str = TEST) -> dict[str, str | bytes]:
    return {"sentiment-train": train, "sentiment-dev.gz": dev, "sentiment-test": test}


def test_short_and_repeated_phrases_stay(build, write):
    data, dropped = build(SST2, write("raw", release("grand \t1\nwet \t0\ngrand \t1\n")))
    assert [tuple(row.values()) for row in data["train"]] == [("grand", 1, ""), ("wet", 0, ""), ("grand", 1, "")]
    assert data.num_rows == {"train": 3, "validation": 1, "test": 1} and dropped == {}


def test_quadruples_and_pairs(build, write):
    train = "".join(f"{word} {n}\t{label}\n" for label, word in enumerate(("wet", "grand")) for n in (1, 2, 2, 3))
    test = "".join(f"{word} {n}\t{label}\n" for label, word in enumerate(("soggy", "fine")) for n in range(5))
    folder = write("raw", release(train, test=test))
    data, dropped = build(SST2, folder, "quadruples")
    assert data.num_rows == {"train": 3} and dropped == {"train: repeated text": 2}
    data, dropped = build(SST2, folder, "sgts")  # floor(5 / 4) = 1 of either label; 3 are left of each
    assert data.num_rows == {"test": 5} and sum(data["test"]["label"]) == 2
    assert dropped == {"validation: fewer than 4 texts of a label": 1}
    assert data["test"].features["label"].names == ["different", "same"]
