"""What the sentiment corpora share: draws worked out by hand, and which texts may be trained on."""

from collections import Counter
from pathlib import Path

import pytest

from dataset_scripts.__main__ import main
from dataset_scripts.mr import MovieReviews
from dataset_scripts.sentiment import Sentence, parse_label, polarity_rows, quadruples, sgts_pairs

POSITIVE = [f"good {n}" for n in range(40)]
NEGATIVE = [f"bad {n}" for n in range(7)]


def write(folder: Path, **splits: list[tuple[str, str]]) -> Path:
    folder.mkdir(exist_ok=True)
    for split, rows in splits.items():
        lines = ["label\ttext", *(f"{label}\t{text}" for label, text in rows)]
        (folder / f"{split}.tsv").write_text("\n".join(lines) + "\n", encoding="utf-8")
    return folder


def build(path: Path, cache: Path, config: str = "sentences", **options):
    builder = MovieReviews.open(path, config, cache_dir=cache / "cache", **options)
    builder.download_and_prepare()
    return builder.as_dataset(), dict(builder.dropped)


def test_every_positive_text_comes_first_once():
    drawn = list(quadruples(POSITIVE, NEGATIVE, seed=1))
    assert sorted(first for first, *_ in drawn) == sorted(POSITIVE)
    assert all(len(set(texts)) == 4 for texts in drawn)
    assert all(set(texts[:2]) <= set(POSITIVE) and set(texts[2:]) <= set(NEGATIVE) for texts in drawn)
    # 40 draws from 39 others, anew each time: about 40 (1 - 1/e) = 25 different ones, neither 40 nor a handful
    assert 18 <= len({second for _, second, *_ in drawn}) <= 33
    assert {text for texts in drawn for text in texts[2:]} == set(NEGATIVE)


def test_every_partner_is_as_likely():
    seconds = Counter(
        (first, second) for seed in range(600) for first, second, *_ in quadruples("abc", ["x", "y"], seed)
    )
    # six ordered pairs of three texts, each in half of 600 draws: within five standard deviations of 12
    assert len(seconds) == 6 and all(abs(count - 300) < 62 for count in seconds.values())


def test_draws_depend_on_the_texts_and_the_seed_alone():
    same = [list(quadruples(POSITIVE[::step], NEGATIVE[::step], seed=3)) for step in (1, -1)]
    assert same[0] == same[1] != list(quadruples(POSITIVE, NEGATIVE, seed=4))
    pairs = [sgts_pairs([NEGATIVE[::step], POSITIVE[::step]], seed=3) for step in (1, -1)]
    assert pairs[0] == pairs[1] != sgts_pairs([NEGATIVE, POSITIVE], seed=4)


@pytest.mark.parametrize(("positive", "negative"), [(["a"], ["x", "y"]), (["a", "b"], ["x"]), ([], [])])
def test_too_few_texts_give_no_quadruple(positive, negative):
    assert list(quadruples(positive, negative, seed=1)) == []


@pytest.mark.parametrize(
    ("sizes", "same", "different"),
    [
        ((533, 533), 266, 267),  # MR: floor(533 / 4) = 133 of either class; 533 - 266 = 267 are left of each
        ((428, 444), 214, 214),  # SST-2: 107 of either; 214 left of the rarer
        ((139, 289, 229, 279, 165), 170, 170),  # SST-5: 34 of each; 71 left, floor(71 / 4) = 17 for each of 10 pairs
        ((4, 9), 2, 2),
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


def test_texts_with_both_labels_are_not_drawn():
    rows = [Sentence(text, label) for text, label in (("a", 1), ("b", 1), ("a", 1), ("x", 0), ("y", 0), ("b", 0))]
    dropped = Counter()
    assert [row["label"] for row in polarity_rows("sentences", "train", rows, 1, dropped)] == [1, 1, 1, 0, 0, 0]
    assert dropped == {} and list(polarity_rows("sgts", "train", rows, 1, dropped)) == []
    rows.append(Sentence("c", 1))
    drawn = list(polarity_rows("quadruples", "train", rows, 1, dropped))
    assert {row["positive1"] for row in drawn} == {"a", "c"} and len(drawn) == 2
    assert dropped == {"train: text with both labels": 1, "train: repeated text": 2}
    with pytest.raises(ValueError, match="'pairs' is none of sentences, quadruples, sgts"):
        list(polarity_rows("pairs", "train", rows, 1, dropped))


def test_labels():
    assert [parse_label(text) for text in ("0", " 1", "Positive", "neg", "2", "", "True")] == [0, 1, 1, 0, *[None] * 3]


def test_test_texts_of_another_corpus_are_kept_out_of_training(tmp_path, capsys):
    """However they are spelled, and with their phrases."""
    other = write(
        tmp_path / "other",
        train=[("1", "the moths steal every scene")],
        validation=[("0", "it 's a dull , grey picture !")],
        test=[("1", "a thoroughly charming film about moths , and not only for those who like them .")],
    )
    assert main(["mr", "--data", str(other), "--out", str(tmp_path / "built"), "--config", "sentences"]) == 0
    raw = write(
        tmp_path / "raw",
        train=[
            ("1", "the moths steal every scene"),  # trained on there, too: stays
            ("0", "It's a dull, grey picture"),
            ("1", "a thoroughly charming film"),
            ("1", "charming film"),  # a phrase too short to be anybody's: stays
            ("1", "charming film about mothballs"),  # no part of that sentence
            ("0", "a dull film that nobody needs"),
        ],
        validation=[("1", "a thoroughly charming film about moths , and not only for those who like them .")],
        test=[("0", "It's a dull, grey picture")],
    )
    expected = {"train": 4, "validation": 1, "test": 1}
    for source in ([str(tmp_path / "built")], str(tmp_path / "built")):
        data, dropped = build(raw, tmp_path, hold_out=source)
        assert data.num_rows == expected
        assert dropped == {
            "row: a text is also in test": 1,  # the corpus's own test split comes first
            "row: a text is part of one in test of built": 1,
        }
    assert "film about mothballs" in " ".join(data["train"]["text"])
    own, dropped = build(raw, tmp_path)
    assert own.num_rows == {"train": 5, "validation": 1, "test": 1} and dropped == {"row: a text is also in test": 1}
    # no local path is published
    command = ["mr", "--data", str(raw), "--out", str(tmp_path / "out"), "--config", "sentences", "--option"]
    assert main([*command, f"hold_out=[{other}-x]"]) == 2
    assert "there is no folder" in capsys.readouterr().err
    assert main([*command, f"hold_out=[{tmp_path / 'built'}]"]) == 0
    shown = capsys.readouterr().out
    assert "1 x row: a text is part of one in test of built" in shown and "of which 2 negative, 4 positive" in shown
    for name in ("README.md", "summary.json"):
        text = (tmp_path / "out" / name).read_text()
        assert str(tmp_path) not in text and "built" in text
