"""An index: embedded once, resumed, never mixed, and asked for exactly what is nearest."""

import json
import shutil

import numpy as np
import pandas as pd
import pytest

from modeling.base import vectors as embeddings
from modeling.search.index import Index
from modeling.search.index_build import build_index
from tests.tiny import TOPICS, arguments, save_encoder

TEXTS = [text for topic in TOPICS[:2] for side in ("pro", "con") for text in arguments(topic, side)]  # 24 different
FILES = ["index.json", "rows.parquet", "vectors.npy"]


@pytest.fixture
def source(tmp_path):
    path = tmp_path / "texts.csv"
    groups = ["G" if number % 3 else "B" for number in range(24)]
    pd.DataFrame({"text": TEXTS, "party": groups, "other": groups[::-1]}).to_csv(path, index=False)
    return path


@pytest.fixture
def build(source, tiny_base, monkeypatch):
    """Builds an index of `source` with the tiny encoder, in chunks of five texts; counts what is encoded."""
    from sentence_transformers import SentenceTransformer

    monkeypatch.setattr(embeddings, "CHUNK", 5)
    encode, chunks = SentenceTransformer.encode, []

    def spy(self, texts, **options):
        if options.get("batch_size") == 128:
            if len(chunks) == build.fail_at:
                raise KeyboardInterrupt
            chunks.append(list(texts))
        return encode(self, texts, **options)

    def build(out, **options):
        return build_index(options.pop("source", source), out, **{"model": str(tiny_base), "group": "party", **options})

    build.chunks, build.fail_at = chunks, None
    monkeypatch.setattr(SentenceTransformer, "encode", spy)
    return build


def test_build_and_open(build, tmp_path):
    build(tmp_path / "index")
    assert [len(chunk) for chunk in build.chunks] == [5, 5, 5, 5, 4]
    assert sorted(path.name for path in (tmp_path / "index").iterdir()) == FILES
    index = Index.open(tmp_path / "index")
    assert index.vectors.shape == (24, 32)
    assert index.texts.to_pylist() == TEXTS
    assert index.groups == {"G": 16, "B": 8}
    assert np.linalg.norm(index.vectors, axis=1) == pytest.approx(np.ones(24), abs=1e-5)
    assert pd.read_parquet(tmp_path / "index" / "rows.parquet").columns.tolist() == [
        "row",
        "id",
        "text",
        "group",
        "vector",
    ]
    build(tmp_path / "index")
    assert len(build.chunks) == 5  # the same command again computes nothing


def test_an_interrupted_build_continues_to_the_same_bytes(build, tmp_path):
    build(tmp_path / "whole")
    build.chunks.clear()
    build.fail_at = 2
    with pytest.raises(KeyboardInterrupt):
        build(tmp_path / "cut")
    with pytest.raises(ValueError, match="not finished: run the command that makes it again"):
        Index.open(tmp_path / "cut")
    build.chunks.clear()
    build.fail_at = None
    build(tmp_path / "cut")
    assert build.chunks == [TEXTS[10:15], TEXTS[15:20], TEXTS[20:]]
    assert sorted(path.name for path in (tmp_path / "cut").iterdir()) == FILES
    for name in FILES:
        assert (tmp_path / "cut" / name).read_bytes() == (tmp_path / "whole" / name).read_bytes()


@pytest.mark.parametrize("interrupted", [False, True])
def test_another_model_column_or_corpus_is_never_mixed_in(build, tmp_path, source, tiny_base, interrupted):
    out = tmp_path / "index"
    if interrupted:
        build.fail_at = 2
        with pytest.raises(KeyboardInterrupt):
            build(out)
        build.fail_at = None
    else:
        build(out)
    before = {path.name: path.read_bytes() for path in out.iterdir()}
    other = save_encoder(tmp_path / "other", seed=1)
    fewer = tmp_path / "fewer.csv"
    fewer.write_text("\n".join(source.read_text().splitlines()[:-1]))
    changes = [
        ({"model": str(other)}, r"the model was '.*tiny' and is '.*other' now \(fixed sentences get other vectors\)"),
        ({"group": "other"}, "the column of the group was 'party' and is 'other' now"),
        ({"source": fewer}, "the rows differ .* had 24 with 24 distinct texts, .* has 23 with 23"),
        ({"max_characters": 30}, "texts were cut at 10,000 characters, now at 30"),
    ]
    for options, message in changes:
        with pytest.raises(ValueError, match=message + ".*another --out, or discard it with --overwrite"):
            build(out, **options)
    assert {path.name: path.read_bytes() for path in out.iterdir()} == before
    build(out, model=str(other), overwrite=True)
    build(tmp_path / "fresh", model=str(other))
    assert (out / "vectors.npy").read_bytes() == (tmp_path / "fresh" / "vectors.npy").read_bytes()
    assert sorted(path.name for path in out.iterdir()) == FILES


def test_the_same_rows_from_another_file_are_the_same_index(build, tmp_path, source):
    build(tmp_path / "index")
    build(tmp_path / "index", source=source.rename(tmp_path / "renamed.csv"))
    assert len(build.chunks) == 5


def test_a_folder_of_something_else_is_left_alone(build, tmp_path):
    (tmp_path / "photos").mkdir()
    (tmp_path / "photos" / "cat.jpg").touch()
    for overwrite in (False, True):
        with pytest.raises(ValueError, match="not empty and no index"):
            build(tmp_path / "photos", overwrite=overwrite)
    with pytest.raises(ValueError, match="is a file"):
        build(tmp_path / "photos" / "cat.jpg")
    assert [path.name for path in (tmp_path / "photos").iterdir()] == ["cat.jpg"]


def test_a_foreign_model_is_refused_when_asking(build, tmp_path, tiny_base):
    build(tmp_path / "index")
    other = save_encoder(tmp_path / "other", seed=1)
    with pytest.raises(ValueError, match=r"other' is another model \(fixed sentences get other vectors"):
        Index.open(tmp_path / "index", model=str(other)).ask("we love the trams")
    copied = shutil.copytree(tiny_base, tmp_path / "moved")
    assert len(Index.open(tmp_path / "index", model=str(copied)).ask("we love the trams")) == 10


def test_a_model_that_reads_more_tokens_is_another(build, tmp_path, tiny_base):
    build(tmp_path / "index")
    longer = shutil.copytree(tiny_base, tmp_path / "longer")
    path = longer / "tokenizer_config.json"
    path.write_text(json.dumps(json.loads(path.read_text()) | {"model_max_length": 64}))
    with pytest.raises(ValueError, match="reads 64 tokens instead of 48"):
        Index.open(tmp_path / "index", model=str(longer)).ask("we love the trams")


def test_a_damaged_index_is_named(build, tmp_path):
    with pytest.raises(ValueError, match="is no index: make one with"):
        Index.open(tmp_path / "none")
    build(tmp_path / "index")
    vectors = tmp_path / "index" / "vectors.npy"
    whole = vectors.read_bytes()
    vectors.write_bytes(whole[:-100])
    with pytest.raises(ValueError, match=r"vectors\.npy is damaged"):
        Index.open(tmp_path / "index")
    np.save(vectors, np.zeros((23, 32), np.float32))
    with pytest.raises(ValueError, match="another shape"):
        Index.open(tmp_path / "index")
    vectors.unlink()
    with pytest.raises(ValueError, match=r"vectors\.npy is missing"):
        Index.open(tmp_path / "index")
    vectors.touch()
    with pytest.raises(ValueError, match=r"vectors\.npy is damaged"):
        Index.open(tmp_path / "index")


@pytest.mark.parametrize("damage", ["cut off", "another shape", "empty", "missing"])
def test_building_again_repairs_a_damaged_index(build, tmp_path, damage):
    build(tmp_path / "index")
    vectors = tmp_path / "index" / "vectors.npy"
    whole = vectors.read_bytes()
    vectors.unlink()
    if damage == "another shape":
        np.save(vectors, np.zeros((23, 32), np.float32))
    elif damage != "missing":
        vectors.write_bytes(whole[:-100] if damage == "cut off" else b"")
    build(tmp_path / "index")
    assert vectors.read_bytes() == whole
    assert len(build.chunks) == 10
    (tmp_path / "index" / "rows.parquet").unlink()
    build(tmp_path / "index")
    assert len(Index.open(tmp_path / "index").rows) == 24
    assert len(build.chunks) == 10  # the vectors were whole


def test_ask_finds_what_comparing_with_every_text_finds(build, tmp_path, monkeypatch):
    build(tmp_path / "index")
    monkeypatch.setattr("modeling.search.index.BLOCK", 7)  # several blocks
    index = Index.open(tmp_path / "index")
    statements = ["we love the trams every day", "the parks are awful for children", "every shop in town"]
    hits = index.ask(statements, top=6)
    cosines = index.model.encode(statements, normalize_embeddings=True) @ index.vectors.T
    assert index.similarities(statements) == pytest.approx(cosines, abs=1e-6)
    for number, statement in enumerate(statements):
        found = hits[hits["statement"] == statement]
        best = np.argsort(-cosines[number])[:6]
        assert found["text"].tolist() == [TEXTS[place] for place in best]
        assert found["similarity"].to_numpy() == pytest.approx(cosines[number, best], abs=1e-5)
        assert found["rank"].tolist() == [1, 2, 3, 4, 5, 6]
        assert found["row"].tolist() == best.tolist()
    assert hits["similarity"].iloc[0] == pytest.approx(1, abs=1e-5)


def test_a_text_of_many_rows_is_one_line(build, tmp_path):
    rows = tmp_path / "copies.csv"
    copies = [("we love the trams", "G", "a")] * 1200 + [
        ("we love the trams", "B", "b"),
        ("we hate the parks", "", "c"),
    ]
    pd.DataFrame(copies, columns=["text", "party", "id"]).to_csv(rows, index=False)
    build(tmp_path / "index", source=rows)
    assert build.chunks == [["we love the trams", "we hate the parks"]]
    hits = Index.open(tmp_path / "index").ask("we love the trams")
    assert hits[["rank", "text", "rows", "groups", "id", "row"]].to_numpy().tolist() == [
        [1, "we love the trams", 1201, "G 1,200, B 1", "a", 0],
        [2, "we hate the parks", 1, "", "c", 1201],
    ]


def test_texts_without_groups_or_matches(build, tmp_path):
    build(tmp_path / "index", group=None)
    index = Index.open(tmp_path / "index")
    assert index.ask("we love the trams", top=2)["groups"].tolist() == ["", ""]
    hits = index.ask(["we love the trams", "an unknown matter"], threshold=1.0)
    assert hits.empty and hits.columns.tolist()[:4] == ["statement", "rank", "similarity", "text"]
    with pytest.raises(ValueError, match="has no groups: embed the source again with --group"):
        index.align([("we love the trams", "G")])


@pytest.mark.parametrize(
    ("statements", "options", "message"),
    [
        ("a", {"top": 0}, "--top must be 1 or more"),
        ("a", {"threshold": 1.5}, r"--threshold must be a cosine in \[-1, 1\]"),
        (["a", " \n"], {}, "a statement is empty"),
        ([], {}, "a statement is empty"),
    ],
)
def test_what_cannot_be_asked(build, tmp_path, statements, options, message):
    build(tmp_path / "index")
    with pytest.raises(ValueError, match=message):
        Index.open(tmp_path / "index").ask(statements, **options)
