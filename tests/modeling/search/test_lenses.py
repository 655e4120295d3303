"""Two lenses: an adapted encoder and its base, weighed as written, and an index that is asked by both."""

import json
import shutil

import numpy as np
import pandas as pd
import pytest

from modeling.base.models import load_model
from modeling.bipolar.search import AGAINST, CounterIndex
from modeling.search import lenses, validation
from modeling.search.index import Index
from modeling.search.lenses import TwoLenses, crowding, load_lenses, weigh, with_crowding
from tests.tiny import TOPICS, arguments, save_run

TEXTS = [text for topic in TOPICS[:2] for side in ("pro", "con") for text in arguments(topic, side)]
STATEMENT = "we love the trams"


@pytest.fixture(scope="module")
def run(tiny_base, tmp_path_factory):
    """A run with an adapter whose base is known by its recipe."""
    folder = tmp_path_factory.mktemp("lenses") / "run"
    save_run(folder, tiny_base)
    (folder / "recipe.json").write_text(json.dumps({"base": str(tiny_base)}))
    return folder


def test_scores_in_the_plane(monkeypatch):
    # the side's vector, then the topic's
    texts = np.array([[1, 0, 1, 0], [0.6, 0.8, 0.8, 0.6], [0, 1, 0, 1]], np.float32)
    # topics have the cosines .8, 0 and .6: means of a text with the two others, less 14/30
    crowded = [0.4 - 14 / 30, 0.7 - 14 / 30, 0.3 - 14 / 30]
    assert crowding(texts[:, 2:]) == pytest.approx(crowded)
    asked = weigh(np.array([[0, 1, 1, 0]], np.float32), side=0.7, crowded=2)
    expected = [(1 - 2 * crowded[0]) / 1.7, (0.8 + 0.7 * 0.8 - 2 * crowded[1]) / 1.7, (0.7 - 2 * crowded[2]) / 1.7]
    assert asked @ np.vstack(list(with_crowding(texts, 2))).T == pytest.approx(np.array([expected]), rel=1e-5)
    monkeypatch.setattr(lenses, "NEIGHBOURS", 1)
    monkeypatch.setattr(lenses, "ROWS", 2)
    assert crowding(texts[:, 2:]) == pytest.approx([0.8 - 2.2 / 3, 0.8 - 2.2 / 3, 0.6 - 2.2 / 3])
    assert crowding(texts[:1, 2:]).tolist() == [0]  # alone


def test_a_text_has_the_vectors_of_both_encoders(run, tiny_base, tmp_path):
    both, model, base = load_lenses(run), load_model(run), load_model(tiny_base)
    expected = np.hstack([each.encode(TEXTS, normalize_embeddings=True) for each in (model, base)])
    for vectors in (both.encode_document(TEXTS, normalize_embeddings=True), both.encode_query(TEXTS)):
        assert vectors == pytest.approx(expected, abs=1e-5)
    assert both.get_embedding_dimension() == 64
    assert not isinstance(load_lenses(tiny_base), TwoLenses)  # nothing was adapted
    shutil.copytree(run, tmp_path / "moved")
    (tmp_path / "moved" / "recipe.json").unlink()  # its base is now one that is on no machine
    with pytest.raises(ValueError, match="moved needs its base for the topic; --lens side embeds without it"):
        load_lenses(tmp_path / "moved")


def test_an_index_is_asked_by_topic_and_side(run, tiny_base, tmp_path):
    source = pd.DataFrame({"text": TEXTS[:20], "side": ["pro", "con"] * 10})
    index = Index.build(source, tmp_path / "index", model=str(run), group="side")
    index = index.add(pd.DataFrame({"text": TEXTS, "side": ["pro", "con"] * 12}))
    alone = {
        "side": Index.build(pd.DataFrame({"text": TEXTS}), tmp_path / "side", model=str(run), lens="side"),
        "topic": Index.build(pd.DataFrame({"text": TEXTS}), tmp_path / "topic", model=str(tiny_base)),
    }
    assert (index.lenses, index.lens, alone["topic"].lenses, alone["side"].lenses) == (2, "both", 1, 1)
    cosines = {lens: each.dots(each.encode(STATEMENT))[0] for lens, each in alone.items()}
    for lens, expected in cosines.items():
        seen = Index.open(tmp_path / "index", lens=lens)
        assert seen.dots(seen.encode(STATEMENT))[0] == pytest.approx(expected, abs=1e-5)
    crowded = crowding(np.asarray(alone["topic"].vectors))
    scores = (cosines["topic"] + lenses.SIDE * cosines["side"] - lenses.CROWDED * crowded) / (1 + lenses.SIDE)
    hits = index.ask(STATEMENT, top=24)
    order = np.argsort(-scores)
    assert hits["text"].tolist() == [TEXTS[place] for place in order]
    assert hits["similarity"].to_numpy() == pytest.approx(scores[order], abs=1e-5)
    for lens, expected in cosines.items():
        assert hits[lens].to_numpy() == pytest.approx(expected[order], abs=1e-5)
    # a counter-argument is on the topic, and on the other side
    scores = cosines["topic"] - AGAINST * cosines["side"] - lenses.CROWDED * crowded
    counters = CounterIndex.open(tmp_path / "index").ask(STATEMENT, top=5)
    assert counters["text"].tolist() == [TEXTS[place] for place in np.argsort(-scores)[:5]]
    # sides lie on the axis of the side's lens
    axes = [each.axis(STATEMENT, "we hate the trams").texts["score"][:20] for each in (index, alone["side"])]
    assert axes[0].to_numpy() == pytest.approx(axes[1].to_numpy(), abs=1e-5)
    coded = ["we hate the ferries", TEXTS[3]]  # of which the index lacks the first
    vectors = [validation.embed(each, coded)[0] for each in (index.through("side"), alone["side"])]
    assert vectors[0] == pytest.approx(vectors[1], abs=1e-5)
