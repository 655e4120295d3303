"""SentiWordNet: examples cut out of glosses, words with their polarity, and every malformed row."""

import pytest

from dataset_scripts.sentiwordnet import SentiWordNet

NAME = "SentiWordNet_3.0.0.txt"
HEADER = "# SentiWordNet\n# POS\tID\tPosScore\tNegScore\tSynsetTerms\tGloss\n"
FISH = 'so; "a fish never sleeps here"'


def line(id: str, gloss: str, scores: str = "0.5\t0.125", terms: str = "fond#1 keen#2") -> str:
    return f"{id[0]}\t{id[1:]}\t{scores}\t{terms}\t{gloss}\n"


def test_a_row_per_example(build, write):
    gloss = 'liking (of cats); "too short"; "my  cat is fond of `fish\'" - Jane Doe; "she grew keen on dogs,"'
    lines = [
        line("a1", gloss),
        line("n2", "a definition; without any example"),
        line("r1", 'so; "the cat sleeps so well"'),
    ]
    lines += [line("r2", 'thus; "The cat sleeps so well!"; "the cat sleeps so badly"; ""')]
    lines += [line("r3", 'so; "the cat sleeps so well'), line("r4", 'so; "a cat sleeps all day"; so do old dogs"')]
    lines += ["r\t5\t0\t0\tso#1\n", line("r6", FISH).replace("\n", "\textra\n"), line("x7", FISH), line("rx", FISH)]
    lines += [line("r8", FISH, scores) for scores in ("high\t0", "0\t1.1", "nan\t0", "\t0")]
    lines += [line("r1", FISH), "#\t\t\t\t\t\n", "\n"]
    data, dropped = build(SentiWordNet, write("raw", {f"{NAME}.gz": HEADER + "".join(lines)}), "examples")
    rest = {"author": "", "group": "a1", "topic": "", "date": ""}
    assert data["train"].to_list()[:2] == [
        {"id": "a1:2", "text": "my cat is fond of 'fish'", **rest},
        {"id": "a1:3", "text": "she grew keen on dogs", **rest},
    ]
    assert data["train"]["id"][2:] == ["r1:1", "r2:2"]
    assert dropped == {
        "row: text shorter than 4 words": 1,
        "row: duplicate": 1,
        "row: empty text": 1,
        "gloss: quotation mark without its pair": 2,
        "row: wrong number of columns": 2,
        "row: no part of speech and number of a synset": 2,
        "row: score is no number from 0 to 1": 4,
        "row: repeated synset": 1,
    }


@pytest.mark.parametrize("senses", ["all", "first"])
def test_words_have_the_highest_scores_of_their_senses(senses, build, write):
    synsets = [
        ("a1", "0.5\t0", "fond#1 Keen#2"),
        ("a2", "0.25\t0.125", "fond#2"),
        ("v3", "0\t0.75", "keen#1 fond_of#1"),
        ("v4", "0.25\t0", "wail#1"),
        ("n5", "0.5\t0", "wail#1 self-made#1"),
        ("n6", "0\t0", "cat#1 keen"),
        ("r7", "0\t0.125", "ill#1"),
        ("r8", "0\t0.5\textra", "bad#1"),
    ]
    lines = [line(id, "a gloss", scores, terms) for id, scores, terms in synsets]
    data, dropped = build(SentiWordNet, write("raw", {NAME: HEADER + "".join(lines)}), "words", senses=senses)
    words = {row.pop("word"): tuple(row.values()) for row in data["train"]}
    same = {"wail": ("positive", 0.5, 0), "self-made": ("positive", 0.5, 0), "ill": ("negative", 0, 0.125)}
    if senses == "all":
        assert words == {**same, "fond": ("both", 0.5, 0.125), "keen": ("both", 0.5, 0.75)}
    else:  # the senses numbered 2 do not count
        assert words == {**same, "fond": ("positive", 0.5, 0), "keen": ("negative", 0, 0.75)}
    assert list(words) == sorted(words)
    assert dropped == {
        "row: wrong number of columns": 1,
        "term: of several words": 1,
        "term: not of the form word#1": 1,
        "word: no polarity": 1,
        **({"term: not the first sense": 2} if senses == "first" else {}),
    }
