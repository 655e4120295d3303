import re

import numpy as np
import pytest
from datasets import Dataset
from sentence_transformers import SentenceTransformer
from transformers import set_seed

from dataset_scripts.base.files import write_json
from modeling.bipolar.baselines import bi_encoder, fine_tuning
from modeling.bipolar.baselines.bi_encoder import RetrievalAccuracy, build, draw, encode
from modeling.bipolar.baselines.fine_tuning import FreshNegatives, Settings, candidates_of
from modeling.bipolar.baselines.train import main
from tests.tiny import TOPICS, counters

TRAIN = Dataset.from_list([row for topic in TOPICS[:3] for row in counters(topic)])
VALIDATION = Dataset.from_list(counters(TOPICS[3]))
TEXTS = ["we love the new trams .", "they make the streets worse ."]


def settings(base, **changes):
    common = {"data": "tiny", "base": str(base), "base_id": "org/tiny", "max_length": 32, "learning_rate": 1e-3}
    return Settings(**{"kind": "bi-encoder", "hard": None, "epochs": 2, "batch_size": 8, **common, **changes})


def run(given, out):
    """Trains as the command does."""
    assert fine_tuning.claim(given, TRAIN, out, overwrite=False) is None
    set_seed(given.seed)
    return bi_encoder.train(given, TRAIN, VALIDATION, out)


def vectors(folder):
    model = SentenceTransformer(str(folder), local_files_only=True)
    return encode(model, TEXTS, "query"), encode(model, TEXTS, "document")


def no_training_text(folder):
    """Asserts that no README, and no file of facts, has a text of the corpus."""
    texts = {text for rows in (TRAIN, VALIDATION) for column in ("point", "counter") for text in rows[column]}
    for path in [*folder.rglob("*.md"), *folder.rglob("results.json")]:
        written = path.read_text(encoding="utf-8")
        assert not [text for text in texts if text in written]
        assert str(folder.parent) not in written


@pytest.fixture(scope="module")
def trained(tiny_base, tmp_path_factory):
    out = tmp_path_factory.mktemp("runs") / "bi"
    return out, run(settings(tiny_base), out)


def test_both_encoders_are_trained_apart_and_saved(trained, tiny_base):
    out, results = trained
    queries, documents = vectors(out)
    base = encode(SentenceTransformer(str(tiny_base), local_files_only=True), TEXTS, "document")
    for found in (queries, documents):
        np.testing.assert_allclose(np.linalg.norm(found, axis=1), 1, atol=1e-5)
        assert np.abs(found - base).max() > 1e-3
    assert np.abs(queries - documents).max() > 1e-3
    assert (results["steps"], results["rows"]) == (8, 36)  # 36 rows are four batches of 8, the rest is left out
    assert set(results["validation"]) == {"accuracy@1", "accuracy@10", "accuracy@50"}
    assert results["validation"]["accuracy@50"] == 1  # of 24 texts
    assert not fine_tuning.working_folder(out).exists()
    no_training_text(out)


def test_an_interrupted_run_ends_in_the_same_weights(trained, tiny_base, tmp_path, monkeypatch):
    class Interrupted(Exception):
        pass

    drawn = []

    def draw_once(*arguments):
        if arguments[-1] == 2 and len(drawn) == 1:
            raise Interrupted
        drawn.append(arguments[-1])
        return draw(*arguments)

    # as the command does, with a folder of the same options
    given, out = settings(tiny_base), tmp_path / "bi"
    fine_tuning.claim(given, TRAIN, out, overwrite=False)
    set_seed(given.seed)
    monkeypatch.setattr(bi_encoder, "draw", draw_once)
    with pytest.raises(Interrupted):
        bi_encoder.train(given, TRAIN, VALIDATION, out)
    assert not out.exists()
    no_training_text(fine_tuning.working_folder(out))
    drawn.append("continued")
    bi_encoder.train(given, TRAIN, VALIDATION, out)
    assert drawn == [1, "continued", 2]  # the first epoch is not trained again
    for resumed, straight in zip(vectors(out), vectors(trained[0]), strict=True):
        np.testing.assert_array_equal(resumed, straight)


def test_a_complete_run_is_not_trained_again_and_other_options_are_refused(trained, tiny_base, tmp_path):
    out, results = trained
    assert fine_tuning.claim(settings(tiny_base), TRAIN, out, overwrite=False) == results
    with pytest.raises(ValueError, match=r"'epochs': 2\} instead of \{'epochs': 3\}.*--overwrite"):
        fine_tuning.claim(settings(tiny_base, epochs=3), TRAIN, out, overwrite=False)
    with pytest.raises(ValueError, match="rows_sha256"):
        fine_tuning.claim(settings(tiny_base), TRAIN.select(range(30)), out, overwrite=False)
    (tmp_path / "thesis.txt").write_text("mine")
    with pytest.raises(ValueError, match="is no run of this command"):
        fine_tuning.claim(settings(tiny_base), TRAIN, tmp_path, overwrite=False)


def test_overwriting_discards_a_run_and_nothing_else(tiny_base, tmp_path):
    out = tmp_path / "bi"
    fine_tuning.claim(settings(tiny_base, seed=1), TRAIN, out, overwrite=False)
    fine_tuning.claim(settings(tiny_base), TRAIN, out, overwrite=False)  # before its first checkpoint nothing is lost
    (fine_tuning.working_folder(out) / "checkpoints" / "checkpoint-4").mkdir(parents=True)
    with pytest.raises(ValueError, match="with other options"):
        fine_tuning.claim(settings(tiny_base, epochs=3), TRAIN, out, overwrite=False)
    assert fine_tuning.claim(settings(tiny_base, epochs=3), TRAIN, out, overwrite=True) is None
    assert [path.name for path in fine_tuning.working_folder(out).iterdir()] == ["options.json"]
    # beside a complete run of other options it is continued, and that run is not taken for it
    write_json(out / "results.json", {"options": {"seed": 5}})
    assert fine_tuning.claim(settings(tiny_base, epochs=3), TRAIN, out, overwrite=False) is None
    (tmp_path / "thesis.txt").write_text("mine")
    with pytest.raises(ValueError, match="is no run of this command"):
        fine_tuning.claim(settings(tiny_base), TRAIN, tmp_path, overwrite=True)


def test_a_point_is_no_candidate_for_itself():
    class Words:
        """Embeds a text as the place of its first word: points and texts that begin alike are the same."""

        def encode_document(self, texts, **options):
            return np.eye(4)[["abcd".index(text[0]) for text in texts]]

        encode_query = encode_document

    row = counters("trams")[0]
    rows = [("a point", "a counter"), ("b point", "c counter"), ("d point", "d counter")]
    candidates = candidates_of(Dataset.from_list([row | {"point": point, "counter": text} for point, text in rows]))
    found = RetrievalAccuracy(candidates)(Words())
    # the first and the third find their counter; to the second, nothing is similar but itself, and among equals the
    # first text wins, so that its counter is not first but among the first 10 of all 5
    assert found == {
        "validation_accuracy@1": pytest.approx(2 / 3),
        "validation_accuracy@10": 1,
        "validation_accuracy@50": 1,
    }


def test_negatives_are_put_into_batches_anew_in_each_epoch():
    class State:
        epoch = 0.0

    def collate(rows):
        return rows

    collate.valid_label_columns = ["label"]
    negatives = FreshNegatives(collate, lambda epoch: [f"{row} in {epoch}" for row in range(3)], "negative")
    rows = [{"anchor": "a", "row": 2}, {"anchor": "b", "row": -1}]
    for epoch in (1, 2):
        negatives.on_epoch_begin(None, State, None)
        assert negatives(rows) == [{"anchor": "a", "negative": f"2 in {epoch}"}, {"anchor": "b"}]
        State.epoch = 1.0


def test_negatives_are_mined_by_the_model_as_it_is(tiny_base):
    model, candidates = build(settings(tiny_base)), candidates_of(TRAIN)
    hard = draw(model, candidates, settings(tiny_base, anchor="point"), 1.0, 1)
    cosines = encode(model, candidates.texts, "query") @ encode(model, candidates.texts, "document").T
    for row in (0, 7):
        allowed = [index for index in candidates.of("epa")[row] if index not in candidates.answers[row]]
        nearest = cosines[candidates.points[row], allowed].max()
        mined = candidates.texts.index(hard[row])
        assert cosines[candidates.points[row], mined] == pytest.approx(nearest, abs=1e-6)
    assert draw(model, candidates, settings(tiny_base), 0.0, 1) != draw(model, candidates, settings(tiny_base), 0.0, 2)


def test_the_command(tiny_data, tiny_base, tmp_path, capsys):
    words = [
        "bi-encoder",
        str(tiny_data),
        "--out",
        str(tmp_path / "bi"),
        "--base",
        str(tiny_base),
        "--base_id",
        "org/tiny",
        "--max_rows",
        "16",
        "--max_steps",
        "2",
        "--max_length",
        "32",
        "--batch_size",
        "8",
        "--cache_dir",
        str(tmp_path / "cache"),
    ]
    main(words)
    printed = capsys.readouterr().out
    assert re.search(r"2 steps over 16 points in \d+ s, loss \d", printed)
    assert "accuracy@1 before training" in printed
    main(words)
    assert capsys.readouterr().out == printed[printed.index("\n2 steps") :]


@pytest.mark.parametrize(
    ("change", "message"),
    [
        (["--epochs", "0"], "argument --epochs: '0' must be a whole number above 0"),
        (["--hard_rate", "1.2"], "argument --hard_rate: '1.2' must be a number from 0 to 1"),
        (["--learning_rate", "nan"], "argument --learning_rate: 'nan' must be a number above 0"),
        (["--config", "arguments"], "invalid choice: 'arguments'"),
    ],
)
def test_options_out_of_range_are_named(change, message, capsys):
    with pytest.raises(SystemExit) as ended:
        main(["bi-encoder", "demo", "--out", "nowhere", *change])
    assert ended.value.code == 2
    assert message in capsys.readouterr().err


def test_a_folder_that_is_not_there_is_named(tmp_path, capsys):
    with pytest.raises(SystemExit):
        main(["cross-encoder", str(tmp_path / "absent"), "--out", "nowhere"])
    assert f"there is no folder {tmp_path / 'absent'}; build it with" in capsys.readouterr().err
