"""The axis between two opposite sides, worked out by hand."""

import pytest

from tests.modeling.search.chosen import chosen_index

ROOT = 2**0.5


@pytest.fixture
def index(tmp_path):
    return chosen_index(tmp_path / "index")


def test_scores_of_texts(index):
    # P - N = (1, -1), of length sqrt 2
    texts = index.axis("for", "against").texts
    assert texts["text"].tolist() == ["for", "rather for", "rather for", "against", "elsewhere", "for"]
    assert texts["positive"].tolist() == pytest.approx([1, 0.6, 0.6, 0, -0.6, 1])
    assert texts["negative"].tolist() == pytest.approx([0, 0.8, 0.8, 1, -0.8, 0])
    assert texts["relevance"].tolist() == pytest.approx([1, 0.8, 0.8, 1, -0.6, 1])
    scores = [1 / ROOT, -0.2 / ROOT, -0.2 / ROOT, -1 / ROOT, 0.2 / ROOT, 1 / ROOT]
    assert texts["score"].tolist() == pytest.approx(scores)
    assert texts["group"].isna().tolist() == [False] * 5 + [True]


def test_wordings_are_averaged(index):
    # P = mean of (1, 0) and (0.6, 0.8) = (0.8, 0.4), N = (0, 1): P - N = (0.8, -0.6), of length 1
    axis = index.axis(["for", "rather for"], ["against"])
    assert axis.texts["score"].tolist()[:4] == pytest.approx([0.8, 0, 0, -0.6])
    assert axis.facts["side_cosine"] == pytest.approx(0.4 / 0.8**0.5)


def test_groups(index):
    axis = index.axis("for", "against")
    table = axis.groups.set_index("group")
    assert table.index.tolist() == ["G", "B", "(all)"]
    assert table["rows"].tolist() == [3, 2, 6]
    assert table["share"].tolist() == [1, 1, 1]
    assert table.loc["G", "mean"] == pytest.approx(0.2 / ROOT)  # (1 - 0.2 - 0.2) / 3 / sqrt 2
    assert table.loc["B", "sd"] == pytest.approx(0.6)  # of -1 / sqrt 2 and 0.2 / sqrt 2: 1.2 / sqrt 2 / sqrt 2
    assert table.loc["G", "q50"] == pytest.approx(-0.2 / ROOT)
    # G above B: 1 above both, -0.2 twice above -1 and below 0.2: 4 of 6 pairs
    assert (axis.facts["first"], axis.facts["second"]) == ("G", "B")
    assert axis.facts["auroc"] == pytest.approx(4 / 6)


def test_only_texts_on_the_topic(index):
    axis = index.axis("for", "against", min_similarity=0.9)
    assert axis.texts["row"].tolist() == [0, 3, 5]
    assert (axis.facts["kept"], axis.facts["rows"], axis.facts["auroc"]) == (3, 6, 1.0)
    assert axis.groups["share"].tolist() == pytest.approx([1 / 3, 1 / 2, 3 / 6])
    with pytest.raises(ValueError, match=r"as --min_similarity 0.9 to either side; the most similar one has 0.80"):
        chosen_index(index.folder.parent / "off", [("rather for", "G")]).axis("for", "against", min_similarity=0.9)


def test_one_group_or_none_has_no_auroc(tmp_path):
    axis = chosen_index(tmp_path / "one", [("for", "G"), ("against", None)]).axis("for", "against")
    assert "auroc" not in axis.facts
    axis = chosen_index(tmp_path / "none", [("for", None), ("against", None)]).axis("for", "against")
    assert (axis.groups["group"].tolist(), axis.groups["mean"].tolist()) == (["(all)"], [0])


@pytest.mark.parametrize(
    ("positive", "negative", "least", "message"),
    [
        ("for", "for", None, "the two sides are the same to the model"),
        ("for", [], None, "needs a statement on either side"),
        ("for", "against", 2, "--min_similarity must be a cosine"),
    ],
)
def test_bad_input(index, positive, negative, least, message):
    with pytest.raises(ValueError, match=message):
        index.axis(positive, negative, least)
