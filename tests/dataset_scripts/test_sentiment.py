"""Texts with a polarity: draws worked out by hand, which texts may be trained on, the first release of MR."""

from collections import Counter

import pytest

from dataset_scripts.sentiment import MovieReviews, quadruples, sgts_pairs

POSITIVE = [f"good {n}" for n in range(40)]
NEGATIVE = [f"bad {n}" for n in range(7)]


def splits(**rows: list[str]) -> dict[str, str]:
    return {f"{split}.tsv": "\n".join(["label\ttext", *of_split]) for split, of_split in rows.items()}


def test_every_positive_text_comes_first_once():
    drawn = list(quadruples(POSITIVE, NEGATIVE, seed=1))
    assert sorted(first for first, *_ in drawn) == sorted(POSITIVE)
    assert all(len(set(texts)) == 4 for texts in drawn)
    assert all(set(texts[:2]) <= set(POSITIVE) and set(texts[2:]) <= set(NEGATIVE) for texts in drawn)
    # 40 draws from 39 others, anew each time: about 40 (1 - 1/e) = 25 different ones, neither 40 nor a handful
    assert 18 <= len({second for _, second, *_ in drawn}) <= 33
    assert {text for texts in drawn for text in texts[2:]} == set(NEGATIVE)


@pytest.mark.parametrize(
    ("sizes", "same", "different"),
    [
        ((533, 533), 266, 267),  # MR: floor(533 / 4) = 133 of either class; 533 - 266 = 267 are left of each
        ((139, 289, 229, 279, 165), 170, 170),  # SST-5: 34 of each; 71 left, floor(71 / 4) = 17 for each of 10 pairs
        ((3, 9), 0, 0),
    ],
)
def test_pairs_of_sgts(sizes, same, different):
    texts = [[f"{label} {n}" for n in range(size)] for label, size in enumerate(sizes)]
    pairs = sgts_pairs(texts, seed=1)
    assert Counter(gold for *_, gold in pairs) == Counter({True: same, False: different})
    assert all((one[0] == other[0]) == gold for one, other, gold in pairs)
    used = [text for *both, _ in pairs for text in both]
    assert len(used) == len(set(used))
    if len(sizes) == 5:
        assert set(Counter(frozenset((one[0], other[0])) for one, other, _ in pairs).values()) == {34, 17}


def test_test_texts_of_another_corpus_are_kept_out_of_training(build, write):
    """However they are spelled, and with their phrases."""
    moths = "a thoroughly charming film about moths , and not only for those who like them ."
    other = splits(
        train=["1\tthe moths steal every scene"], validation=["0\tit 's a dull , grey picture !"], test=[f"1\t{moths}"]
    )
    files = "".join(f"  - {{split: {split}, path: sentences/{split}-*}}\n" for split in ("train", "validation", "test"))
    readme = {"README.md": f"---\nconfigs:\n- config_name: sentences\n  data_files:\n{files}---\n"}
    built = write("built", readme) / "sentences"
    built.mkdir()
    for split, rows in build(MovieReviews, write("other", other))[0].items():
        rows.to_parquet(built / f"{split}-00000-of-00001.parquet")
    train = [
        "1\tthe moths steal every scene",  # trained on there, too: stays
        "0\tIt's a dull, grey picture",
        "1\ta thoroughly charming film",
        "1\tcharming film",  # a phrase too short to be anybody's: stays
        "1\tcharming film about mothballs",  # no part of that sentence
        "0\ta dull film that nobody needs",
    ]
    raw = write("raw", splits(train=train, validation=[f"1\t{moths}"], test=["0\tIt's a dull, grey picture"]))
    data, dropped = build(MovieReviews, raw, hold_out=(str(built.parent),))
    assert data.num_rows == {"train": 4, "validation": 1, "test": 1}
    assert "film about mothballs" in " ".join(data["train"]["text"])
    assert dropped == {
        "row: a text is also in test": 1,  # the corpus's own test split comes first
        "row: a text is part of one in test of built": 1,
    }


def test_the_first_release_is_split_by_seed(build, write):
    # one copy in Windows-1252 and one in UTF-8; a spelling of a text, which is on its side of the split
    negative = [f"a dull film of {n} minutes ".encode() for n in range(17)]
    negative += ["a clich\u00e9 \u2013 and dull".encode("cp1252"), "a \u00ab dull \u00bb film of 3 minutes".encode()]
    negative += [b"a fine film of 5 minutes", b"\x81"]
    positive = b"".join(b"a fine film of %d minutes \n" % n for n in range(18))
    folder = write("raw", {"rt-polarity.pos": positive, "rt-polarity.neg": b"\n".join(negative)})
    data, dropped = build(MovieReviews, folder)
    # 36 different texts, of which 80 / 10 / 10 % are 28 / 4 / 4; the one with both labels is in one of the splits
    assert sum(data.num_rows.values()) == 35 and all(3 <= data.num_rows[split] <= 5 for split in ("validation", "test"))
    assert dropped == {"row: text with both labels": 2, "row: duplicate": 1, "line: not UTF-8": 1}
    texts = [text for rows in data.values() for text in rows["text"]]
    assert "a clich\u00e9 \u2013 and dull" in texts and len(texts) == len(set(texts))
    assert build(MovieReviews, folder)[0]["test"]["text"] == data["test"]["text"]
    assert build(MovieReviews, folder, seed=7)[0]["test"]["text"] != data["test"]["text"]
