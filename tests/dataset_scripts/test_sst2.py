"""SST-2: SentEval's three files."""

from dataset_scripts.sentiment import SST2


def test_every_configuration(build, write):
    # phrases that are repeated stay
    train = "".join(f"{word} {n}\t{label}\n" for label, word in enumerate(("wet", "grand")) for n in (1, 2, 2, 3))
    test = "".join(f"{word} {n}\t{label}\n" for label, word in enumerate(("soggy", "fine")) for n in range(5))
    folder = write("raw", {"sentiment-train": train, "sentiment-dev.gz": "a wet parade .\t0\n", "sentiment-test": test})
    data, dropped = build(SST2, folder)
    assert [tuple(row.values()) for row in data["train"]][3:5] == [("wet 3", 0, ""), ("grand 1", 1, "")]
    assert data.num_rows == {"train": 8, "validation": 1, "test": 10} and dropped == {}
    data, dropped = build(SST2, folder, "quadruples")
    assert data.num_rows == {"train": 3} and dropped == {"train: repeated text": 2}
    data, dropped = build(SST2, folder, "sgts")  # floor(5 / 4) = 1 of either label; 3 are left of each
    assert data.num_rows == {"test": 5} and sum(data["test"]["label"]) == 2
    assert dropped == {"validation: fewer than 4 texts of a label": 1}
    assert data["test"].features["label"].names == ["different", "same"]
