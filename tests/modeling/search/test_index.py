"""An index: embedded once, resumed, never mixed, read as a whole, and asked for exactly what is nearest."""

import json
import os
import shutil

import numpy as np
import pandas as pd
import pytest

from modeling.base import vectors
from modeling.search import index as module
from modeling.search.index import Index
from tests.modeling.search.chosen import Chosen, chosen_index, table
from tests.tiny import TOPICS, arguments, save_encoder

TEXTS = [text for topic in TOPICS[:2] for side in ("pro", "con") for text in arguments(topic, side)]  # 24 different


@pytest.fixture
def source(tmp_path):
    path = tmp_path / "texts.csv"
    groups = ["G" if number % 3 else "B" for number in range(24)]
    pd.DataFrame({"text": TEXTS, "party": groups, "other": groups[::-1]}).to_csv(path, index=False)
    return path


@pytest.fixture
def build(source, tiny_base, monkeypatch):
    """Builds an index of `source` with the tiny encoder, in chunks of five texts; counts what is embedded."""
    from sentence_transformers import SentenceTransformer

    monkeypatch.setattr(vectors, "CHUNK", 5)
    encode, chunks = SentenceTransformer.encode, []

    def spy(self, inputs, **options):
        if options.get("batch_size") == 128:
            if len(chunks) == build.fail_at:
                raise KeyboardInterrupt
            chunks.append(list(inputs))
        return encode(self, inputs, **options)

    def build(out, **options):
        return Index.build(options.pop("source", source), out, **{"model": str(tiny_base), "group": "party", **options})

    build.chunks, build.fail_at = chunks, None
    monkeypatch.setattr(SentenceTransformer, "encode", spy)
    return build


def files(folder):
    return {path.relative_to(folder).as_posix(): path.read_bytes() for path in folder.rglob("*") if path.is_file()}


def parts(folder):
    """The subfolder's files of a finished index, and what lies beside them."""
    generation = json.loads((folder / "index.json").read_text())["generation"]
    return {name.removeprefix(f"{generation}/"): content for name, content in files(folder).items() if name != ".lock"}


WHOLE = ["index.json", "probes.npy", "rows.arrow", "vectors.npy"]


def test_build_and_open(build, tmp_path, source):
    build(tmp_path / "index")
    assert [len(chunk) for chunk in build.chunks] == [5, 5, 5, 5, 4]
    assert sorted(parts(tmp_path / "index")) == WHOLE
    index = Index.open(tmp_path / "index")
    assert index.vectors.shape == (24, 32)
    assert isinstance(index.vectors, np.memmap)
    assert index.texts.to_pylist() == TEXTS
    assert index.groups == {"G": 16, "B": 8}
    assert np.linalg.norm(index.vectors, axis=1) == pytest.approx(np.ones(24), rel=1e-5)
    rows = pd.read_feather(index.folder / index.facts["generation"] / "rows.arrow")  # by anybody
    assert rows[["row", "text", "group"]].iloc[1].tolist() == [1, TEXTS[1], "G"]
    before = files(tmp_path / "index")
    build(tmp_path / "index", source=source.rename(tmp_path / "renamed.csv"))
    assert (len(build.chunks), files(tmp_path / "index")) == (5, before)  # the same rows again are the same index


def test_an_interrupted_build_continues_to_the_same_bytes(build, tmp_path):
    build(tmp_path / "whole")
    build.chunks.clear()
    build.fail_at = 2
    with pytest.raises(KeyboardInterrupt):
        build(tmp_path / "cut")
    with pytest.raises(ValueError, match="not finished: give the command that makes it again"):
        Index.open(tmp_path / "cut")
    build.chunks.clear()
    build.fail_at = None
    build(tmp_path / "cut")
    assert build.chunks == [TEXTS[10:15], TEXTS[15:20], TEXTS[20:]]
    whole, cut = parts(tmp_path / "whole"), parts(tmp_path / "cut")
    assert sorted(cut) == WHOLE
    assert [whole[name] == cut[name] for name in WHOLE[1:]] == [True] * 3


def test_another_model_column_or_corpus_is_never_mixed_in(build, tmp_path, source):
    out = tmp_path / "index"
    build(out)
    before = files(out)
    other = save_encoder(tmp_path / "other", seed=1)
    fewer = tmp_path / "fewer.csv"
    fewer.write_text("\n".join(source.read_text().splitlines()[:-1]))
    changes = [
        ({"model": str(other)}, r"the model was '.*tiny' and is '.*other' now \(fixed sentences get other vectors\)"),
        ({"group": "other"}, "the column of the group was 'party' and is 'other' now"),
        ({"source": fewer}, "the rows differ: .* has 24 with 24 distinct texts, .* has 23 with 23 distinct texts now"),
        ({"max_characters": 30}, "texts were cut at 10,000 characters, now at 30"),
    ]
    for options, message in changes:
        with pytest.raises(ValueError, match=message + ".*another -o, or discard it with --overwrite"):
            build(out, **options)
    assert files(out) == before
    build.chunks.clear()
    build(out, source=fewer, overwrite=True)
    assert build.chunks == []  # its texts were embedded by the same model
    build(out, model=str(other), overwrite=True)
    build(tmp_path / "fresh", model=str(other))
    assert parts(out)["vectors.npy"] == parts(tmp_path / "fresh")["vectors.npy"]
    assert sorted(parts(out)) == WHOLE


def test_an_open_index_reads_one_whole_generation_while_another_replaces_it(tmp_path):
    old = chosen_index(tmp_path / "index", [("for", "G"), ("against", "B")])
    again = Index.open(tmp_path / "index", model=Chosen())  # has read neither texts nor rows
    rows = [("elsewhere", "B"), ("both", "B"), ("for", "G")]
    Index.build(table(rows), tmp_path / "index", group="party", model=Chosen(), overwrite=True)
    for index in (old, again):
        assert index.ask("for")[["text", "similarity", "rows_G"]].to_numpy().tolist() == [
            ["for", 1, 1],
            ["against", 0, 0],
        ]
        assert index.axis("for", "against").groups["rows"].tolist() == [1, 1, 2]
    assert Index.open(tmp_path / "index", model=Chosen()).ask("for", top=2)["text"].tolist() == ["for", "both"]
    assert sorted(parts(tmp_path / "index")) == WHOLE


def test_a_build_that_dies_before_the_last_step_leaves_the_old_index(tmp_path, monkeypatch):
    index = chosen_index(tmp_path / "index")
    replace = os.replace

    def die(self, target):
        if target.name == "index.json":
            raise OSError(28, "No space left on device", str(target))
        return replace(self, target)

    with monkeypatch.context() as patch:
        patch.setattr("pathlib.Path.replace", die)
        with pytest.raises(OSError, match="no space left on the disk of"):
            index.add(table([("both", "B")]))
    assert "both" not in Index.open(tmp_path / "index").texts.to_pylist()
    index.add(table([("both", "B")]))
    assert Index.open(tmp_path / "index").texts.to_pylist()[-1] == "both"
    assert sorted(parts(tmp_path / "index")) == WHOLE


def test_rows_are_added_and_what_is_known_is_not_embedded_again(tmp_path):
    index = chosen_index(tmp_path / "index", [("for", "G"), ("against", "B"), (" ", "B")])
    model = index.model
    more = table([("both", "B"), ("for", "B"), ("for", None), ("", "B")])
    model.embedded.clear()
    added = index.add(more)
    assert model.embedded == ["both"]
    everything = pd.concat([table([("for", "G"), ("against", "B"), (" ", "B")]), more])
    fresh = Index.build(everything, tmp_path / "fresh", group="party", model=Chosen())
    pd.testing.assert_frame_equal(added.ask(["for", "both"]), fresh.ask(["for", "both"]))
    pd.testing.assert_frame_equal(added.rows, fresh.rows)
    part = added.facts["parts"][1]
    assert (part["first_row"], part["known"], part["counts"]["dropped"]) == (3, 1, {"empty text": 1})
    assert added.add(more).facts == added.facts  # not twice
    # the command that built it changes nothing, and its column of groups is wanted no more where there is none
    chosen_index(tmp_path / "index", [("for", "G"), ("against", "B"), (" ", "B")])
    assert len(Index.open(tmp_path / "index")) == 3
    assert added.add(pd.DataFrame({"text": ["elsewhere"]})).facts["counts"]["distinct"] == 4


def test_a_folder_of_something_else_is_left_alone(build, tmp_path):
    (tmp_path / "photos").mkdir()
    (tmp_path / "photos" / "cat.jpg").touch()
    for overwrite in (False, True):
        with pytest.raises(ValueError, match="not empty and no index"):
            build(tmp_path / "photos", overwrite=overwrite)
    with pytest.raises(ValueError, match="is a file"):
        build(tmp_path / "photos" / "cat.jpg")
    build(tmp_path / "index")
    (tmp_path / "index" / "hits.csv").touch()  # what a user puts there stays
    build(tmp_path / "index", group="other", overwrite=True)
    assert sorted(parts(tmp_path / "index")) == ["hits.csv", *WHOLE]


def test_a_foreign_model_is_refused_when_asking(build, tmp_path, tiny_base):
    build(tmp_path / "index")
    other = save_encoder(tmp_path / "other", seed=1)
    with pytest.raises(ValueError, match=r"other' is another model \(fixed sentences get other vectors"):
        Index.open(tmp_path / "index", model=str(other)).ask("we love the trams")
    copied = shutil.copytree(tiny_base, tmp_path / "moved")
    assert len(Index.open(tmp_path / "index", model=str(copied)).ask("we love the trams")) == 10
    path = copied / "tokenizer_config.json"
    path.write_text(json.dumps(json.loads(path.read_text()) | {"model_max_length": 64}))
    with pytest.raises(ValueError, match="reads 64 tokens instead of 48"):
        Index.open(tmp_path / "index", model=str(copied)).ask("we love the trams")


@pytest.mark.parametrize(
    ("name", "damage"),
    [("vectors.npy", "cut off"), ("vectors.npy", "another"), ("probes.npy", "missing")],
)
def test_a_damaged_index_is_named_and_made_again_by_the_same_command(tmp_path, name, damage):
    index = chosen_index(tmp_path / "index")
    whole = parts(tmp_path / "index")
    other = chosen_index(tmp_path / "other", [("for", "G")])
    path = index.folder / index.facts["generation"] / name
    content = {"cut off": whole[name][:-90], "another": parts(other.folder)[name]}.get(damage)
    path.unlink()
    if content is not None:
        path.write_bytes(content)
    with pytest.raises(ValueError, match=r"index is damaged .*: give the command that made it again"):
        Index.open(tmp_path / "index")
    chosen_index(tmp_path / "index")
    again = parts(tmp_path / "index")
    assert [again[name] == whole[name] for name in WHOLE[1:]] == [True] * 3


def test_no_index_or_an_older_one_is_named(tmp_path):
    with pytest.raises(ValueError, match="none is no index: make one with opinion embed SOURCE -o"):
        Index.open(tmp_path / "none")
    (tmp_path / "index.json").write_text('{"complete": true}')
    with pytest.raises(ValueError, match="index of an older version"):
        Index.open(tmp_path)


def test_ask_finds_what_comparing_with_every_text_finds(build, tmp_path, monkeypatch):
    monkeypatch.setattr(module, "BLOCK", 7)  # several blocks
    monkeypatch.setattr(module, "ROWS_AT_ONCE", 3)
    index = build(tmp_path / "index")
    statements = ["we love the trams every day", "the parks are awful for children", "every shop in town"]
    hits = index.ask(statements, top=9)
    cosines = index.model.encode(statements, normalize_embeddings=True) @ index.vectors.T
    assert index.dots(index.encode(statements)) == pytest.approx(cosines, rel=1e-5)
    for number, statement in enumerate(statements):
        found = hits[hits["statement"] == statement]
        best = np.argsort(-cosines[number], kind="stable")[:9]
        assert found["text"].tolist() == [TEXTS[place] for place in best]
        assert found["similarity"].to_numpy() == pytest.approx(cosines[number, best], rel=1e-5)
        assert found["rank"].tolist() == list(range(1, 10))
        assert found["row"].tolist() == best.tolist()
    assert hits["similarity"].iloc[0] == pytest.approx(1, rel=1e-5)
