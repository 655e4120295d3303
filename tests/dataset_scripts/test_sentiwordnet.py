"""SentiWordNet: examples cut out of glosses, and every malformed row."""

import gzip
import os
from collections import Counter
from pathlib import Path

import pytest

from dataset_scripts.base.metadata import load_metadata
from dataset_scripts.sentiwordnet import SentiWordNet

HEADER = "# SentiWordNet\n# POS\tID\tPosScore\tNegScore\tSynsetTerms\tGloss\n"


def line(id: str, gloss: str, scores: str = "0.5\t0.125") -> str:
    return f"{id[0]}\t{id[1:]}\t{scores}\tfond#1 keen#2\t{gloss}\n"


def build(path: Path, cache: Path, config: str = "examples", **options):
    builder = SentiWordNet.open(path, config, cache_dir=cache / "cache", **options)
    builder.download_and_prepare()
    return builder.as_dataset(), dict(builder.dropped)


def write(folder: Path, *lines: str, name: str = "SentiWordNet_3.0.0.txt") -> Path:
    path = folder / name
    path.write_text(HEADER + "".join(lines))
    return path


@pytest.mark.parametrize("packed", [False, True])
def test_a_row_per_example(tmp_path, packed):
    path = write(
        tmp_path,
        line("a00000001", 'liking (of cats); "too short"; "my  cat is fond of fish"; "she grew keen on dogs"'),
        line("n00000002", "a definition; without any example"),
    )
    if packed:
        path.with_suffix(".txt.gz").write_bytes(gzip.compress(path.read_bytes()))
        path.unlink()
    data, dropped = build(tmp_path, tmp_path)
    assert data["train"].to_list() == [
        {
            "id": f"a00000001:{number}",
            "text": text,
            "author": "",
            "group": "a00000001",
            "topic": "",
            "date": "",
        }
        for number, text in ((2, "my cat is fond of fish"), (3, "she grew keen on dogs"))
    ]
    assert data.num_rows == {"train": 2} and dropped == {"row: text shorter than 4 words": 1}


@pytest.mark.parametrize(
    ("gloss", "texts"),
    [
        (
            'of fish; "cats eat small fish" - Jane Doe; "fish is good food"--A. Poet',
            ["cats eat small fish", "fish is good food"],
        ),
        (
            'of fish:"cats eat small fish", "fish is good food;" "dogs eat no fish"',
            ["cats eat small fish", "fish is good food", "dogs eat no fish"],
        ),
        (
            'speak; "\'Feed the cat,\' she said"; "`Feed the dog,\' he said"',
            ["'Feed the cat,' she said", "'Feed the dog,' he said"],
        ),
        (
            'speak; "I know your cat well," he began, "but not your dogs" (British)',
            ["I know your cat well", "but not your dogs"],
        ),
        ('help (in "on behalf of" and "in behalf of"); "she spoke on their behalf"', ["she spoke on their behalf"]),
        ('rest; "the cat slept--dogs cannot; too loud"', ["the cat slept--dogs cannot; too loud"]),
    ],
)
def test_what_is_an_example(tmp_path, gloss, texts):
    data, _ = build(write(tmp_path, line("v1", gloss)), tmp_path)
    assert data["train"]["text"] == texts


def test_dropped_rows(tmp_path):
    good = line("r1", 'so; "the cat sleeps so well"')
    spelled = line("r2", 'thus; "The cat sleeps so well!"; "the cat sleeps so badly"; ""')
    unpaired = [line("r3", 'so; "the cat sleeps so well'), line("r4", 'so; "a cat sleeps all day"; so do old dogs"')]
    bad = [
        "r\t5\t0\t0\tso#1\n",
        line("r6", 'so; "a fish never sleeps here"').replace("\n", "\textra\n"),
        line("x7", 'so; "a fish never sleeps here"'),
        line("rx", 'so; "a fish never sleeps here"'),
        *(line("r8", 'so; "a fish never sleeps here"', scores) for scores in ("high\t0", "0\t1.1", "nan\t0", "\t0")),
        line("r1", 'so; "a fish never sleeps here"'),
        "#\t\t\t\t\t\n",
        "\n",
    ]
    data, dropped = build(write(tmp_path, good, spelled, *unpaired, *bad), tmp_path)
    assert data["train"]["id"] == ["r1:1", "r2:2"]
    assert dropped == {
        "row: duplicate": 1,
        "row: empty text": 1,
        "gloss: quotation mark without its pair": 2,
        "row: wrong number of columns": 2,
        "row: no part of speech and number of a synset": 2,
        "row: score is no number from 0 to 1": 4,
        "row: repeated synset": 1,
    }


def test_files_that_do_not_fit(tmp_path):
    with pytest.raises(
        FileNotFoundError, match=r"nothing at .* belongs to sentiwordnet; it needs SentiWordNet_3.0.0.txt"
    ):
        (tmp_path / "README.txt").write_text("SentiWordNet\n")
        build(tmp_path, tmp_path)
    with pytest.raises(ValueError, match=r"no usable row in 1 file.*'row: wrong number of columns': 1"):
        build(tmp_path / "README.txt", tmp_path)
    path = write(tmp_path, line("a1", 'fond; "my cat is fond of fish"'))
    (tmp_path / "SentiWordNet_3.0.0.txt.gz").write_bytes(gzip.compress(path.read_bytes()))
    assert build(tmp_path, tmp_path)[0].num_rows == {"train": 1}  # the same release twice
    write(tmp_path, name="SentiWordNet_1.0.txt")
    with pytest.raises(
        ValueError, match=r"holds SentiWordNet_1.0.txt, SentiWordNet_3.0.0.txt, .*; give one file as --d"
    ):
        build(tmp_path, tmp_path)
    path.with_suffix(".txt.gz").write_bytes(gzip.compress(path.read_bytes())[:-9])
    with pytest.raises(ValueError, match=r"SentiWordNet_3.0.0.txt.gz cannot be read"):
        build(path.with_suffix(".txt.gz"), tmp_path)


@pytest.mark.parametrize("senses", ["all", "first"])
def test_words_have_the_highest_scores_of_their_senses(tmp_path, senses):
    synsets = [
        ("a1\t0.5\t0", "fond#1 Keen#2"),
        ("a2\t0.25\t0.125", "fond#2"),
        ("v3\t0\t0.75", "keen#1 fond_of#1"),
        ("v4\t0.25\t0", "wail#1"),
        ("n5\t0.5\t0", "wail#1 self-made#1"),
        ("n6\t0\t0", "cat#1 keen"),
        ("r7\t0\t0.125", "ill#1"),
        ("r8\t0\t0.5\textra", "bad#1"),
    ]
    lines = [f"{id[0]}\t{id[1:]}\t{terms}\ta gloss\n" for id, terms in synsets]
    data, dropped = build(write(tmp_path, *lines), tmp_path, "words", senses=senses)
    found = {row.pop("word"): tuple(row.values()) for row in data["train"]}
    same = {"wail": ("positive", 0.5, 0), "self-made": ("positive", 0.5, 0), "ill": ("negative", 0, 0.125)}
    if senses == "all":
        assert found == {**same, "fond": ("both", 0.5, 0.125), "keen": ("both", 0.5, 0.75)}
    else:  # the senses numbered 2 do not count
        assert found == {**same, "fond": ("positive", 0.5, 0), "keen": ("negative", 0, 0.75)}
    assert list(found) == sorted(found) and data.num_rows == {"train": 5}
    assert dropped == {
        "row: wrong number of columns": 1,
        "term: of several words": 1,
        "term: not of the form word#1": 1,
        "word: no polarity": 1,
        **({"term: not the first sense": 2} if senses == "first" else {}),
    }


def test_unknown_senses(tmp_path):
    with pytest.raises(ValueError, match="senses='last': choose one of all, first"):
        build(write(tmp_path, line("a1", "fond")), tmp_path, "words", senses="last")


@pytest.mark.corpora
@pytest.mark.skipif("CORPORA_DIR" not in os.environ, reason="CORPORA_DIR is not set")
def test_the_release(tmp_path):
    data, dropped = build(Path(os.environ["CORPORA_DIR"]) / "sentiwordnet", tmp_path)
    assert data.num_rows == load_metadata("sentiwordnet").expected["examples"]
    # 48,318 quoted texts in all
    assert dropped == {
        "gloss: quotation mark without its pair": 20,
        "row: duplicate": 53,
        "row: text shorter than 4 words": 48318 - 34746 - 53,
    }
    assert not [text for text in data["train"]["text"] if '"' in text or "`" in text]
    data, _ = build(Path(os.environ["CORPORA_DIR"]) / "sentiwordnet", tmp_path, "words")
    assert data.num_rows == load_metadata("sentiwordnet").expected["words"]
    assert Counter(data["train"]["polarity"]) == {"negative": 10835, "positive": 10249, "both": 9737}
    polarity = dict(zip(data["train"]["word"], data["train"]["polarity"], strict=True))
    assert (polarity["excellent"], polarity["boring"], polarity["good"]) == ("positive", "negative", "both")
