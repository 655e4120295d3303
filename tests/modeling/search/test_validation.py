"""How far an axis may be trusted: errors counted, shares corrected and intervals, worked out by hand; the gate."""

import json

import numpy as np
import pandas as pd
import pytest

from modeling.search.coded import read_coded
from modeling.search.index import Index
from modeling.search.validation import Errors, advantage, difference, learn, measure, rogan_gladen
from tests.modeling.search.chosen import Chosen
from tests.modeling.search.test_commands import run

NAMES = [f"{word} {number}" for number in range(10) for word in ("for", "against")]


class Numbered(Chosen):
    """As Chosen, whatever number follows a word."""

    def encode(self, texts, **options):
        return super().encode([text.split(" ")[0] if text[-1:].isdigit() else text for text in texts])


@pytest.fixture
def index(tmp_path, monkeypatch):
    """Ten texts on either side, those of G for and those of B against but for one each."""
    monkeypatch.setattr(Index, "model", Numbered())
    groups = [("G" if name.startswith("for") else "B") for name in NAMES]
    groups[0], groups[1] = "B", "G"
    frame = pd.DataFrame({"words": [*NAMES, "for"], "party": [*groups, None]})
    return Index.build(frame, tmp_path / "index", text="words", group="party", model=Numbered())


def coded(index, rows, **columns):
    path = index.folder / "coded.csv"
    pd.DataFrame(rows, columns=["words", "label"]).to_csv(path, index=False)
    return read_coded(index, path, **columns)


def labelled(wrong=0):
    """The texts with their side, the first ones for the other one."""
    sides = [name.split()[0] for name in NAMES]
    swapped = {"for": "against", "against": "for"}
    return [
        (name, swapped[side] if place < wrong else side)
        for place, (name, side) in enumerate(zip(NAMES, sides, strict=True))
    ]


def test_shares_are_corrected_as_rogan_and_gladen_do():
    # of 100 texts 60 are for: 48 of them are found (sensitivity .8), and 4 of the 40 against are taken for it (.9)
    assert rogan_gladen(0.52, 0.8, 0.9) == pytest.approx(0.6)
    assert rogan_gladen(np.array([0.05, 0.95]), 0.8, 0.9).tolist() == [0, 1]  # beyond what such errors can give
    assert np.isnan(rogan_gladen(0.5, 0.4, 0.6))  # no better than chance


def test_errors_are_counted_without_a_text_in_its_own_cut():
    # means 2 and 0, their middle is 1. Without the text at 1.2 it is 1.2, which that does not exceed; without the one
    # against at 1 it is .75, which that does
    errors = Errors.of(np.array([1.2, 2.4, 2.4, -1, 0, 1]), np.array([True] * 3 + [False] * 3))
    assert (errors.cut, errors.right_for, errors.texts_for) == (pytest.approx(1), 2, 3)
    assert (errors.right_against, errors.texts_against) == (2, 3)


def test_a_difference_is_corrected_and_its_interval_holds_the_doubt_of_both_samples():
    # 70 % and 30 % lie above the cut. With sensitivity .8 and specificity .9: (.7 - .1) / .7 and (.3 - .1) / .7
    groups = [
        pd.DataFrame({"text": range(100), "score": np.repeat([1.0, -1.0], [ones, 100 - ones])}) for ones in (70, 30)
    ]
    few, many = (difference(*groups, Errors(0, 8 * k, 10 * k, 9 * k, 10 * k)).set_index("difference") for k in (1, 100))
    assert few["estimate"].tolist() == pytest.approx([0.8, 0.4, 0.4 / 0.7])
    assert few.loc["share for, corrected", ["first", "second"]].tolist() == pytest.approx([0.6 / 0.7, 0.2 / 0.7])
    # the standard error of a difference of two shares of 100, .065, is the bootstrap's, and 1 / .7 times that corrected
    half = 1.96 * (2 * 0.7 * 0.3 / 100) ** 0.5
    ends = many.loc["share for, as scored", ["low", "high"]].tolist()
    assert ends == pytest.approx([0.4 - half, 0.4 + half], abs=0.02)
    widths = [table["high"] - table["low"] for table in (few, many)]
    assert widths[1]["share for, corrected"] == pytest.approx(2 * half / 0.7, rel=0.1)
    assert widths[0]["share for, corrected"] > 1.3 * widths[1]["share for, corrected"]
    assert difference(groups[0], groups[1])["difference"].tolist() == ["mean score"]


def test_a_learned_axis_is_measured_on_texts_it_has_not_seen():
    random = np.random.default_rng(0)
    vectors, labels = random.normal(size=(32, 200)), np.arange(32) % 2 == 0
    direction, offset, held_out = learn(vectors, labels)
    assert measure(vectors @ direction + offset, labels, [set()] * 32)["auroc"].iloc[0] == 1
    assert abs(measure(held_out, labels, [set()] * 32)["auroc"].iloc[0] - 0.5) < 0.25  # there is nothing to learn
    vectors[:, 0] += 20 * labels
    direction, _, held_out = learn(vectors, labels)
    assert direction[0] > 0.9 and held_out[labels].min() > held_out[~labels].max()


def test_the_better_of_two_axes():
    labels = np.array([True] * 10 + [False] * 10)
    good, turned = labels + np.linspace(0, 0.5, 20), -1.0 * labels
    assert advantage(good, turned, labels) == (1, 1, 1)
    gain, low, high = advantage(good, np.where(np.arange(20) == 0, -1, good), labels)
    assert gain == pytest.approx(0.1) and low == 0 < high  # one of ten texts; in some draws it is not there


def test_groups_of_coded_texts_and_the_gate(index):
    axis = index.axis("for", "against", coded=coded(index, [*labelled(), ("both", "for")]))
    assert axis.measured[["group", "texts", "for", "against"]].to_numpy().tolist() == [
        ["(all)", 21, 11, 10],  # that text is not in the index, and of no group
        ["B", 10, 1, 9],
        ["G", 10, 9, 1],
    ]
    assert axis.measured["auroc"].tolist() == [1, 1, 1] and axis.usable
    axis = index.axis("for", "against", coded=coded(index, labelled(wrong=2)))
    assert axis.measured["auroc"].iloc[0] == pytest.approx(0.9) and not axis.usable  # its interval begins at .70
    assert axis.verdict.startswith("DO NOT USE THIS AXIS: AUROC 0.90 [0.")
    assert "the wrong way round" in index.axis("against", "for", coded=coded(index, labelled())).verdict


def test_what_may_stand_in_a_table_of_coded_texts(index):
    rows = [*labelled(), ("For, 0!", "for"), ("elsewhere", None), ("both", " FOR "), (None, "for")]
    found = coded(index, rows)
    assert (len(found.texts), found.labels.sum()) == (21, 11)
    assert found.left_out == {"without a label": 1, "without a text": 1, "near-identical to another": 1}
    for extra, message in (
        ([("both", "neutral")], "row 21: the label is 'neutral'; write for or against, or leave it blank"),
        ([("FOR 0", "against")], "row 21: 'FOR 0' is coded for and against"),
    ):
        with pytest.raises(ValueError, match=message):
            coded(index, labelled() + extra)
    with pytest.raises(ValueError, match=r"--label-column 'lable': no such column; .* did you mean 'label'"):
        coded(index, labelled(), label_column="lable")
    with pytest.raises(ValueError, match=r"11 texts for and 0 against; left out, less similar than --min-simi.*: 10"):
        index.axis("for", ["for", "rather for"], 0.85, coded(index, [*labelled(), ("both", "for")]))


def test_an_axis_measured_by_the_command_line(index):
    pd.DataFrame(labelled(), columns=["tweet", "side"]).to_csv(index.folder / "mine.csv", index=False)
    words = ["axis", index.folder, "--for", "for", "--against", "against", "--coded", index.folder / "mine.csv"]
    columns = ["--text-column", "tweet", "--label-column", "side", "--learn"]
    printed = run(*words, *columns, "-o", index.folder / "a.csv", "-o", index.folder / "a.pdf")
    assert sorted(path.name for path in index.folder.glob("a*")) == ["a-groups.csv", "a.csv", "a.json", "a.pdf"]
    assert pd.read_csv(index.folder / "a-groups.csv")["group"].tolist() == ["B", "G", "(all)"]
    assert len(pd.read_csv(index.folder / "a.csv")) == 21
    assert printed.startswith("usable: AUROC 1.00 [0.") and "the stated axis has 1.00" in printed
    facts = json.loads((index.folder / "a.json").read_text())
    assert (facts["usable"], facts["coded_texts"]["learned"]) == (True, True)
    # nine of ten of G are for, one of ten of B: with no error found, the correction changes nothing
    assert [row["estimate"] for row in facts["difference"][1:]] == pytest.approx([-0.8, -0.8])
    pd.DataFrame(labelled(wrong=6), columns=["text", "label"]).to_csv(index.folder / "mine.csv", index=False)
    printed = run(*words, "--lens", "side")
    assert printed.startswith("DO NOT USE THIS AXIS: AUROC 0.") and "on 20 coded texts (10 for, 10" in printed


def test_single_wordings_are_compared(index):
    # beside "for" and "against", "both" lies at (.8, .6): the axis from "for" to it puts all texts in the same order
    table = index.axis(["for", "against"], ["both"], coded=coded(index, labelled(wrong=1))).wordings
    assert table[["for", "against"]].to_numpy().tolist() == [["for", "both"], ["against", "both"]]
    # of the pairs of a text of B and one of G, .1 * .1 are in order and .09 + .09 are ties; of those coded, one of the
    # eleven against ties with the nine for
    assert (list(index.groups), table["auroc_groups"].tolist()) == (["B", "G"], pytest.approx([0.1, 0.9]))
    assert table["auroc_coded"].tolist() == pytest.approx([10.5 / 11, 0.5 / 11])
