"""IBM Debater: two releases in one, samples, and that no motion is divided; what is dropped is in `cases`."""

from collections import Counter

from dataset_scripts.ibm_argkp import IbmArgKP
from tests.dataset_scripts.packing import csv_table

CATS = "We should ban cats"
RATINGS = [
    # argument, topic, set, stance_WA, stance_WA_conf
    ("cats chase birds all day", CATS, "train", "1", "1.0"),
    ("cats keep  people awake", CATS, "train", "1", "0.9"),
    ("cats scratch every good sofa", CATS, "train", "1", "0.6"),
    ("cats keep the mice away", CATS, "train", "-1", "0.8"),
    ("cats comfort people living alone", CATS, "train", "-1", "1"),
    ("dogs want to be walked", "We should adopt dogs", "dev", "-1", "1"),
    ("fish are quiet house mates", "We should keep fish", "test", "1", "1"),
]
KEY_POINTS = [
    # topic, argument, key_point, stance, label
    ("we should ban cats.", "Cats chase birds all day", "Cats are bad for wildlife", "1", "1"),
    (CATS, "cats keep people awake", "Cats are bad for wildlife", "1", "0"),
    ("We should feed ducks", "ducks like bread very much", "Feeding makes ducks happy", "1", "1"),
]
FIRST = ["argument", "topic", "set", "stance_WA", "stance_WA_conf"]
SECOND = ["topic", "argument", "key_point", "stance", "label"]
NAMES = "arg_quality_rank_30k", "ArgKP-2021_dataset"


def release() -> dict[str, str]:
    tables = [FIRST, *RATINGS], [SECOND, *KEY_POINTS]
    return {f"{name}.csv": csv_table(rows) for name, rows in zip(NAMES, tables, strict=True)}


def test_pairs(build, write):
    for name, text in release().items():
        zipped = f"IBM_Debater_(R)_{name.removesuffix('.csv').removesuffix('_dataset')}.zip"
        write(f"raw/{zipped}", {"readme.txt": "NAME: invented", name: text})
    data, dropped = build(IbmArgKP, write("raw", {}), "pairs")
    # "We should ban cats": 4 texts for it (one a key point) and 2 against, 1 match that is also one of the 6 pairs for
    assert Counter((row["relation"], row["label"]) for row in data["train"]) == {
        ("argument-to-topic", 1): 4,
        ("argument-to-topic", 0): 2,
        ("key-point", 1): 1,
        ("same-topic", 1): 6 - 1 + 1,
        ("same-topic", 0): 4 * 2,
    }
    assert data.num_rows == {"train": 21, "validation": 1, "test": 1 + 3}
    # ducks: two texts to the motion, one match, which as a pair of the same side is a duplicate
    assert dropped == {"key point: does not match the argument": 1, "row: duplicate": 2}
    assert {row["sentence2"] for row in data["train"] if row["relation"] == "argument-to-topic"} == {CATS}
    assert "cats keep people awake" in data["train"]["sentence1"]


def test_triplets_arguments_and_families(build, write):
    folder = write("raw", release())
    data, _ = build(IbmArgKP, folder, "triplets")
    anchors = Counter(data["train"]["anchor"])
    assert anchors.pop(CATS) == 4 * 2
    assert sum(anchors.values()) == 6 + 1  # every two of one side, with one of the other
    assert data.num_rows == {"train": 15}
    against = {"cats keep the mice away", "cats comfort people living alone"}
    for row in data["train"]:
        assert (row["positive"] in against) != (row["negative"] in against)
        assert row["anchor"] == CATS or (row["anchor"] in against) == (row["positive"] in against)
    data, _ = build(IbmArgKP, folder, "arguments")
    assert data.num_rows == {"train": 7, "validation": 2, "test": 5}
    assert Counter(data["train"]["stance"]) == {"thesis": 1, "pro": 4, "con": 2}
    data, _ = build(IbmArgKP, folder, "families")
    assert data.num_rows == {"train": 6, "validation": 1, "test": 3}  # a motion alone is none
    assert {row["text"] for row in data["train"] if row["side"] == 0} == against
    assert set(data["train"]["statement"]) == {CATS}
