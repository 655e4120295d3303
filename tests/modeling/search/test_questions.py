"""What groups say, worked out by hand: alignment precision over thresholds, and the axis between two sides."""

import pytest

from tests.modeling.search.chosen import chosen_index

ROOT = 2**0.5


@pytest.fixture(scope="module")
def index(tmp_path_factory):
    return chosen_index(tmp_path_factory.mktemp("questions") / "index")


def test_precision_counts_and_interval(index):
    # cosines with "for": G 1, 0.6, 0.6; B 0, -0.6; the row without a group is left out
    table = index.align([("for", "G")], thresholds=[0.61, -0.1])
    assert table["threshold"].tolist() == [-0.1, 0.61]
    assert table["retrieved"].tolist() == [4, 1]
    assert table["retrieved_G"].tolist() == [3, 1]
    assert table["retrieved_B"].tolist() == [1, 0]
    assert table["precision"].tolist() == [0.75, 1.0]
    assert table["base_rate"].tolist() == [0.6, 0.6]
    # Wilson's interval of 3 in 4: (0.75 + z^2 / 8 -+ z sqrt(0.1875 / 4 + z^2 / 64)) / (1 + z^2 / 4), z = 1.96
    assert table.loc[0, ["low", "high"]].tolist() == pytest.approx([0.3006, 0.9544], rel=1e-3)


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


def test_groups_and_their_separation(index):
    axis = index.axis("for", "against")
    table = axis.groups.set_index("group")
    assert table.index.tolist() == ["G", "B", "(all)"]
    assert table.columns.tolist() == ["rows", "share", "mean", "sd", "q05", "q25", "q50", "q75", "q95"]
    assert table["rows"].tolist() == [3, 2, 6]
    assert table["share"].tolist() == [1, 1, 1]
    assert table.loc["G", "mean"] == pytest.approx(0.2 / ROOT)  # (1 - 0.2 - 0.2) / 3 / sqrt 2
    assert table.loc["B", "sd"] == pytest.approx(0.6)  # of -1 / sqrt 2 and 0.2 / sqrt 2: 1.2 / sqrt 2 / sqrt 2
    assert table.loc["G", "q50"] == pytest.approx(-0.2 / ROOT)
    # G above B: 1 above both, -0.2 twice above -1 and below 0.2: 4 of 6 pairs
    assert (axis.facts["first"], axis.facts["second"]) == ("G", "B")
    assert axis.facts["auroc"] == pytest.approx(4 / 6)
    assert 0 < axis.facts["low"] < 0.5 < axis.facts["high"] < 1  # of three rows and two, nothing is known
    assert axis.separation.startswith("G nearer to the side for than B: AUROC 0.67 [0.")
    turned = index.axis("against", "for")
    assert (turned.facts["first"], turned.facts["auroc"]) == ("G", pytest.approx(2 / 6))
    assert turned.separation == axis.separation.replace(
        "G nearer to the side for than B", "B nearer to the side for than G"
    )
    mean = axis.difference.iloc[0]  # of G - B: .2 / 3 * 3 - -.4, all over sqrt 2
    assert mean["estimate"] == pytest.approx(0.6 / ROOT) and mean["low"] < 0 < mean["high"]


def test_only_texts_on_the_topic(index):
    axis = index.axis("for", "against", min_similarity=0.9)
    assert axis.texts["row"].tolist() == [0, 3, 5]
    assert (axis.facts["kept"], axis.facts["rows"], axis.facts["auroc"]) == (3, 6, 1.0)
    assert axis.groups["share"].tolist() == pytest.approx([1 / 3, 1 / 2, 3 / 6])
    assert axis.warnings[0].startswith("few rows of G: 1, 33.3% of those it has")
    off = chosen_index(index.folder.parent / "off", [("rather for", "G")])
    with pytest.raises(ValueError, match=r"as --min-similarity 0.9 to either side; the most similar one has 0.80"):
        off.axis("for", "against", min_similarity=0.9)
