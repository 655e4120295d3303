"""An index of counter-arguments: what it answers, how it grows, and what is left when that is interrupted."""

import json
import shutil
import sys
from pathlib import Path

import numpy as np
import pandas as pd
import pytest
import torch
from filelock import FileLock

from modeling.base import vectors as embeddings
from modeling.bipolar import counter_extension
from modeling.bipolar.counter_index import CounterIndex
from modeling.bipolar.counter_models import WithoutHeads, document_encoder, load_counter_model
from modeling.search import shortlist as nearest
from modeling.search.__main__ import main
from modeling.search.index import Index
from tests.modeling.search.chosen import VECTORS_OF, Chosen
from tests.tiny import TOPICS, arguments, save_encoder

TEXTS = [text for topic in TOPICS[:2] for side in ("pro", "con") for text in arguments(topic, side)]  # 24 different
MORE = [*TEXTS[20:], "they hate sunday", "we love sunday"]  # four known and two new
FILES = ["counter.faiss", "index.json", "rows.parquet", "vectors.npy"]


@pytest.fixture(scope="session")
def bipolar(tiny_base, tmp_path_factory):
    """A Bipolar-encoder with heads that do something, one for queries and one for documents."""
    from sentence_transformers import SentenceTransformer

    from modeling.bipolar.encoder import BipolarEncoder
    from modeling.bipolar.heads import BipolarHeads

    torch.manual_seed(1)
    heads = BipolarHeads(32, shared=False)
    for layer in (heads.query, heads.document):
        torch.nn.init.normal_(layer.weight)
    folder = tmp_path_factory.mktemp("bipolar") / "model"
    BipolarEncoder(SentenceTransformer(str(tiny_base)), heads).save_pretrained(folder)
    return folder


@pytest.fixture(scope="session")
def two_towers(tiny_base, tmp_path_factory):
    """A function (seed of the encoder of queries) -> folder of an encoder of queries and one of documents."""
    from sentence_transformers import SentenceTransformer
    from sentence_transformers.base.modules import Router
    from sentence_transformers.sentence_transformer.modules import Normalize

    folder = tmp_path_factory.mktemp("towers")

    def towers(seed):
        if not (folder / str(seed)).exists():
            queries = save_encoder(folder / f"{seed}-queries", seed)
            routes = [list(SentenceTransformer(str(path))) for path in (queries, tiny_base)]
            SentenceTransformer(modules=[Router.for_query_document(*routes), Normalize()]).save(
                str(folder / str(seed)), create_model_card=False
            )
        return folder / str(seed)

    return towers


@pytest.fixture
def encoded(monkeypatch):
    """The texts that are embedded for indexes, in chunks of five; `fail_at` interrupts at a chunk."""
    from sentence_transformers import SentenceTransformer

    class Chunks(list):
        fail_at = None

    monkeypatch.setattr(embeddings, "CHUNK", 5)
    encode, chunks = SentenceTransformer.encode, Chunks()

    def spy(self, texts, **options):
        if options.get("batch_size") == 128:
            if len(chunks) == chunks.fail_at:
                raise KeyboardInterrupt
            chunks.append(list(texts))
        return encode(self, texts, **options)

    monkeypatch.setattr(SentenceTransformer, "encode", spy)
    return chunks


@pytest.fixture
def sources(tmp_path):
    pd.DataFrame({"text": TEXTS, "id": [f"a{number}" for number in range(24)]}).to_csv(tmp_path / "a.csv", index=False)
    pd.DataFrame({"text": [*MORE, " "]}).to_csv(tmp_path / "b.csv", index=False)
    return tmp_path


@pytest.fixture
def plane(tmp_path, monkeypatch):
    """Five texts in the plane, and a model that shortlists by cosine and re-ranks by the distance to a right angle."""

    class Perpendicular(WithoutHeads):
        def encode(self, texts, **options):
            return self.encoder.encode(texts)

        def rank_embeddings(self, u_point, u_candidates, shortlist):
            order, cosines = super().rank_embeddings(u_point, u_candidates, shortlist)
            again = np.argsort(np.abs(cosines), kind="stable")
            return order[again], 1 - np.abs(cosines[again])

    class Encoder(Chosen):
        max_seq_length = 8

        def encode(self, texts, **options):
            return super().encode([text if text in VECTORS_OF else "for" for text in texts])

        def get_embedding_dimension(self):
            return 2

    monkeypatch.setattr(CounterIndex, "load_model", staticmethod(lambda name: Perpendicular(Encoder())))
    rows = [("for", "a"), ("rather for", "b"), ("rather for", "c"), ("against", "d"), ("elsewhere", "e"), ("both", "f")]
    pd.DataFrame(rows, columns=["text", "id"]).to_csv(tmp_path / "plane.csv", index=False)
    return CounterIndex.build(tmp_path / "plane.csv", tmp_path / "plane", model="chosen")


def test_the_shortlist_is_reranked(plane):
    hits = plane.ask("for", top=2, shortlist=3)
    # cosines with (1, 0): both .8, rather for .6, against 0, elsewhere -.6; "for" itself is no answer
    assert hits.drop(columns=["score", "similarity"]).to_numpy().tolist() == [
        ["for", 1, "against", 1, "d", 3],
        ["for", 2, "rather for", 2, "b", 1],
    ]
    assert hits["score"].tolist() == pytest.approx([1.0, 0.4])
    assert hits["similarity"].tolist() == pytest.approx([0.0, 0.6])
    # a shortlist of two does not reach "against"
    assert plane.ask("for", top=2, shortlist=2)["text"].tolist() == ["rather for", "both"]


def test_the_argument_itself_is_no_answer_however_it_is_spaced(plane):
    everything = plane.ask("  rather\n for\x00 ", shortlist=50)
    assert set(everything["text"]) == {"for", "against", "elsewhere", "both"}
    # another text with the same vector is one
    assert "for" in set(plane.ask("FOR", top=5)["text"])
    several = plane.ask(["for", "against"], top=1)
    assert several["argument"].tolist() == ["for", "against"]
    assert several["text"].tolist() == ["against", "for"]


@pytest.mark.parametrize("kind", ["bipolar", "plain"])
def test_ask_is_rank_over_the_whole_collection(sources, bipolar, tiny_base, kind):
    model = bipolar if kind == "bipolar" else tiny_base
    index = CounterIndex.build(sources / "a.csv", sources / "index", model=str(model))
    assert sorted(path.name for path in (sources / "index").iterdir()) == FILES
    assert index.facts["search"] == {"kind": "flat", "built_for": 24, "recall": 1.0}
    assert index.reranks == index.facts["reranks"] == (kind == "bipolar")
    hits = index.ask(TEXTS[3], top=6, shortlist=10)
    if kind == "bipolar":
        ranked = index.model.rank(TEXTS[3], TEXTS, top_k=6, shortlist=10)
        assert hits["row"].tolist() == [hit["corpus_id"] for hit in ranked]
        assert hits["score"].tolist() == pytest.approx([hit["score"] for hit in ranked], abs=1e-5)
        retrieval = index.model.retrieval_embeddings
        u = index.model.encode([TEXTS[3], *hits["text"]])
        assert hits["similarity"].tolist() == pytest.approx(
            retrieval(u[1:]) @ retrieval(u[:1], queries=True)[0], abs=1e-5
        )
    else:
        cosines = index.vectors @ index.vectors[3]
        assert hits["row"].tolist() == np.argsort(-cosines)[1:7].tolist()
        for column in ("score", "similarity"):
            assert hits[column].tolist() == pytest.approx(np.sort(cosines)[::-1][1:7], abs=1e-5)


def test_an_interrupted_build_continues(sources, tiny_base, encoded):
    encoded.fail_at = 2
    with pytest.raises(KeyboardInterrupt):
        CounterIndex.build(sources / "a.csv", sources / "index", model=str(tiny_base))
    with pytest.raises(ValueError, match="not finished"):
        CounterIndex.open(sources / "index")
    encoded.fail_at = None
    CounterIndex.build(sources / "a.csv", sources / "index", model=str(tiny_base))
    assert [len(chunk) for chunk in encoded] == [5, 5, 5, 5, 4]
    CounterIndex.build(sources / "a.csv", sources / "index", model=str(tiny_base))
    assert len(encoded) == 5


def test_extend_embeds_what_is_new(sources, bipolar, encoded):
    index = CounterIndex.build(sources / "a.csv", sources / "index", model=str(bipolar))
    encoded.clear()
    part = index.extend(sources / "b.csv")
    assert encoded == [["they hate sunday", "we love sunday"]]
    assert (part["added"], part["known"], part["first_row"], part["counts"]["dropped"]) == (
        *(True, 4, 24),
        {"empty text": 1},
    )
    assert (index.facts["counts"]["read"], index.facts["counts"]["kept"], index.shape) == (31, 30, (26, 32))
    everything = pd.concat([pd.read_csv(sources / name) for name in ("a.csv", "b.csv")])
    everything.to_csv(sources / "both.csv", index=False)
    fresh = CounterIndex.build(sources / "both.csv", sources / "fresh", model=str(bipolar))
    assert np.asarray(index.vectors) == pytest.approx(np.asarray(fresh.vectors), abs=1e-6)
    for argument in ("we love sunday", TEXTS[21]):
        pd.testing.assert_frame_equal(index.ask(argument, top=25), fresh.ask(argument, top=25))
    rows = [pd.read_parquet(sources / name / "rows.parquet") for name in ("index", "fresh")]
    pd.testing.assert_frame_equal(*rows)
    hits = index.ask("we love sunday", top=25).set_index("text")
    assert hits.loc[TEXTS[21], ["rows", "id", "row"]].tolist() == [2, "a21", 21]
    assert hits.loc["they hate sunday", ["rows", "row"]].tolist() == [1, 28]
    # the same rows again, from another file, and the command that built it
    encoded.clear()
    assert not index.extend((sources / "b.csv").rename(sources / "renamed.csv"))["added"]
    again = CounterIndex.build(sources / "a.csv", sources / "index", model=str(bipolar))
    assert (encoded, again.shape) == ([], (26, 32))


def renames():
    """The files of an extension, in the order in which they take their places."""
    return ["counter.faiss", "rows.parquet", "vectors.npy", "index.json"]


@pytest.mark.parametrize("moment", ["embedding", "writing", *renames()])
def test_an_interrupted_extension_leaves_the_old_index(sources, tiny_base, encoded, monkeypatch, moment):
    index = CounterIndex.build(sources / "a.csv", sources / "index", model=str(tiny_base))
    before = index.ask(TEXTS[:3], top=20)
    pd.DataFrame({"text": [*MORE, *(f"{text} and night" for text in TEXTS[:6])]}).to_csv(sources / "b.csv")
    encoded.clear()
    if moment == "embedding":
        encoded.fail_at = 1
    elif moment == "writing":
        monkeypatch.setattr(counter_extension, "_append_rows", interrupt)
    else:
        replace = Path.replace
        monkeypatch.setattr(
            Path, "replace", lambda self, target: interrupt() if Path(target).name == moment else replace(self, target)
        )
    with pytest.raises(KeyboardInterrupt):
        index.extend(sources / "b.csv", text="text")
    monkeypatch.undo()
    left = CounterIndex.open(sources / "index")
    pd.testing.assert_frame_equal(left.ask(TEXTS[:3], top=20), before)
    assert left.shape == (24, 32)
    (sources / "index" / "rows.parquet.4242.tmp").touch()  # a killed process does not clean up
    left.extend(sources / "b.csv")
    assert left.shape == (32, 32)
    assert left.nearest.ntotal == 32
    assert sorted(path.name for path in (sources / "index").iterdir()) == sorted([*FILES, "extension.lock"])
    pd.DataFrame({"text": [*TEXTS, *pd.read_csv(sources / "b.csv")["text"]]}).to_csv(sources / "both.csv")
    fresh = CounterIndex.build(sources / "both.csv", sources / "fresh", text="text", model=str(tiny_base))
    assert left.ask(TEXTS, top=30)["row"].tolist() == fresh.ask(TEXTS, top=30)["row"].tolist()


def test_what_an_interrupted_extension_had_embedded_is_used(sources, tiny_base, encoded):
    index = CounterIndex.build(sources / "a.csv", sources / "index", model=str(tiny_base))
    pd.DataFrame({"text": [f"{text} and night" for text in TEXTS[:9]]}).to_csv(sources / "b.csv")
    encoded.clear()
    encoded.fail_at = 1
    with pytest.raises(KeyboardInterrupt):
        index.extend(sources / "b.csv")
    encoded.fail_at = None
    index.extend(sources / "b.csv")
    assert [len(chunk) for chunk in encoded] == [5, 4]


@pytest.mark.parametrize("damage", ["cut off", "empty", "missing", "something else", "an older one"])
def test_a_damaged_faiss_file_is_made_again_without_embedding(sources, bipolar, encoded, damage):
    index = CounterIndex.build(sources / "a.csv", sources / "index", model=str(bipolar))
    before, file = index.ask(TEXTS[:2]), sources / "index" / "counter.faiss"
    whole = file.read_bytes()
    if damage == "an older one":
        index.extend(sources / "b.csv")
        before = index.ask(TEXTS[:2])
    encoded.clear()
    file.unlink()
    if damage != "missing":
        file.write_bytes({"cut off": whole[:-9], "empty": b"", "something else": b"x" * 999}.get(damage, whole))
    again = CounterIndex.open(sources / "index")
    pd.testing.assert_frame_equal(again.ask(TEXTS[:2]), before)
    assert encoded == []
    assert nearest.opened(file, again.facts["search"], *again.shape) is not None


def test_many_texts_are_searched_by_lists(sources, tiny_base, monkeypatch):
    monkeypatch.setattr(nearest, "EXACT", 250)
    monkeypatch.setattr(nearest, "RECALL_SAMPLE", 20)
    monkeypatch.setattr(nearest, "RECALL_AT", 10)
    texts = [
        f"{text} {end}"
        for topic in TOPICS
        for side in ("pro", "con")
        for text in arguments(topic, side)
        for end in ("in summer", "on sunday", "all day", "and night")
    ]
    pd.DataFrame({"text": texts[:240]}).to_csv(sources / "a.csv", index=False)
    pd.DataFrame({"text": texts[240:]}).to_csv(sources / "b.csv", index=False)
    index = CounterIndex.build(sources / "a.csv", sources / "index", model=str(tiny_base))
    assert index.facts["search"]["kind"] == "flat"
    index.extend(sources / "b.csv")
    assert (len(index.vectors), index.nearest.ntotal) == (384, 384)
    search = index.facts["search"]
    assert (search["kind"], search["lists"], search["built_for"]) == ("lists", 39, 384)  # 2 * sqrt(384) = 39.2
    assert search["probes"] in nearest.PROBES and search["recall"] >= 0.98
    for number in (7, 300):
        cosines = index.vectors @ index.vectors[number]
        exact = np.argsort(-cosines)[1:11]
        found = index.ask(texts[number], top=10)
        assert len(set(found["row"]) & set(exact)) >= 9
        assert found["similarity"].tolist() == pytest.approx(cosines[found["row"]], abs=1e-5)  # not of 8 bits


@pytest.fixture
def crowded(tmp_path, monkeypatch):
    """An index of fifteen texts, t.csv with sixty that are nearer to "for" than these, and how to open the index.

    The vectors of texts "a NUMBER" are at so many degrees from "for".
    """

    class Degrees(Chosen):
        max_seq_length = 8

        def encode(self, texts, **options):
            angles = np.radians([float(text.split()[1]) if text.startswith("a ") else 0.0 for text in texts])
            return np.stack([np.cos(angles), np.sin(angles)], axis=1).astype(np.float32)

        def get_embedding_dimension(self):
            return 2

    monkeypatch.setattr(CounterIndex, "load_model", staticmethod(lambda name: WithoutHeads(Degrees())))
    for name, angles in (("s", range(100, 115)), ("t", range(10, 70))):
        pd.DataFrame({"text": [f"a {angle}" for angle in angles]}).to_csv(tmp_path / f"{name}.csv", index=False)
    CounterIndex.build(tmp_path / "s.csv", tmp_path / "index", model="degrees")
    return lambda: CounterIndex.open(tmp_path / "index")


def first_ten(index):
    """What the fifteen texts answer: those at 100 to 109 degrees."""
    hits = index.ask("for", top=10, shortlist=10)
    assert hits["text"].tolist() == [f"a {angle}" for angle in range(100, 110)]
    assert hits["row"].tolist() == list(range(10))


def test_an_extension_takes_nothing_from_who_opened_the_index_before(crowded):
    asked, unasked, other = crowded(), crowded(), crowded()
    first_ten(asked)
    other.extend(other.folder.parent / "t.csv")
    first_ten(asked)
    first_ten(unasked)  # maps the file only now
    assert unasked.nearest.ntotal == 75
    assert other.ask("for", top=10, shortlist=10)["text"].tolist() == [f"a {angle}" for angle in range(10, 20)]


@pytest.mark.parametrize("moment", renames()[1:])
def test_an_extension_killed_between_its_files_takes_nothing_away(crowded, monkeypatch, moment):
    index, replace = crowded(), Path.replace
    monkeypatch.setattr(
        Path, "replace", lambda self, target: interrupt() if Path(target).name == moment else replace(self, target)
    )
    with pytest.raises(KeyboardInterrupt):
        index.extend(index.folder.parent / "t.csv")
    monkeypatch.setattr(Path, "replace", replace)
    left = crowded()
    first_ten(left)
    assert (left.shape[0], left.nearest.ntotal) == (15, 75)


@pytest.mark.parametrize("state", ["as it was left", "missing", "cut off"])
def test_who_opened_an_index_before_it_was_extended_does_not_undo_that(crowded, monkeypatch, state):
    monkeypatch.setattr(nearest, "EXACT", 40)
    monkeypatch.setattr(nearest, "RECALL_SAMPLE", 20)
    monkeypatch.setattr(nearest, "RECALL_AT", 10)
    stale, other = crowded(), crowded()
    other.extend(other.folder.parent / "t.csv")
    file, facts = other.folder / "counter.faiss", other.folder / "index.json"
    if state == "missing":
        file.unlink()
    elif state == "cut off":
        file.write_bytes(file.read_bytes()[:-9])
    before = facts.read_bytes(), file.read_bytes() if file.exists() else None
    first_ten(stale)
    assert (stale.nearest.ntotal, stale.facts["search"]["kind"]) == (15, "flat")  # in memory
    assert (facts.read_bytes(), file.read_bytes() if file.exists() else None) == before
    now = crowded()
    assert (now.shape, len(now.facts["parts"]), now.facts["search"]["kind"]) == ((75, 2), 2, "lists")
    assert now.ask("for", top=1)["text"].tolist() == ["a 10"]
    assert nearest.opened(file, now.facts["search"], *now.shape).ntotal == 75


def test_while_an_index_is_extended_nobody_else_writes_to_it(crowded):
    index = crowded()
    (index.folder / "counter.faiss").unlink()
    with FileLock(index.folder / "extension.lock"):
        first_ten(index)
    assert not (index.folder / "counter.faiss").exists()
    first_ten(crowded())
    assert (index.folder / "counter.faiss").exists()


def test_only_the_first_vectors_of_lists_are_found(monkeypatch):
    monkeypatch.setattr(nearest, "EXACT", 0)
    monkeypatch.setattr(nearest, "RECALL_SAMPLE", 20)
    monkeypatch.setattr(nearest, "RECALL_AT", 10)
    angles = np.linspace(np.pi / 2, 0, 400, endpoint=False)  # each is nearer to (1, 0) than the one before
    vectors = np.stack([np.cos(angles), np.sin(angles)], axis=1).astype(np.float32)
    index, facts = nearest.build(vectors.__getitem__, vectors.__getitem__, 400, 2)
    assert facts["kind"] == "lists"
    index.nprobe = index.nlist
    asked = np.array([[1, 0]], np.float32)
    assert nearest.search(index, asked, 20, 400).min() >= 370
    found = nearest.search(index, asked, 20, 200)[0]
    assert len(set(found.tolist())) == 20 and found.min() >= 170 and found.max() < 200
    assert sorted(nearest.search(index, asked, 20, 7)[0].tolist()) == list(range(7))
    index.nprobe = 1  # the list of the nearest has none of the first
    assert nearest.search(index, asked, 20, 7)[0].tolist() == [-1] * 7


def test_probes_are_as_few_as_the_recall_allows():
    class Lists:
        """Finds the first `nprobe` of ten neighbours."""

        nlist = 16

        def search(self, asked, wanted):
            assert wanted == 2 * nearest.RECALL_AT + 1
            return None, np.array([[*range(1, self.nprobe + 1)] + [-1] * (16 - self.nprobe)] * len(asked))

    index, neighbours = Lists(), np.array([range(11)] * 3)
    asked, own = np.zeros((3, 2), np.float32), np.zeros(3, int)
    assert nearest.choose_probes(index, neighbours, asked, own, target=0.79) == (8, pytest.approx(0.8))
    assert nearest.choose_probes(index, neighbours, asked, own, target=0.81) == (16, 1.0)
    assert index.nprobe == 16


def test_a_model_or_an_index_of_another_kind_is_refused(sources, tiny_base, bipolar):
    index = CounterIndex.build(sources / "a.csv", sources / "index", model=str(bipolar))
    with pytest.raises(ValueError, match=r"tiny' is another model \(fixed sentences get other vectors\)"):
        CounterIndex.open(index.folder, model=str(tiny_base)).ask("we love the trams")
    with pytest.raises(ValueError, match="is another model"):
        CounterIndex.open(index.folder, model=str(tiny_base)).extend(sources / "b.csv")
    heads = shutil.copytree(bipolar, sources / "other-heads")
    other = save_encoder(sources / "other", seed=1)
    with pytest.raises(ValueError, match=r"the model was .* another --out, or discard it with --overwrite"):
        CounterIndex.build(sources / "a.csv", index.folder, model=str(other))
    assert len(CounterIndex.open(index.folder, model=str(heads)).ask("we love the trams")) == 10
    with pytest.raises(ValueError, match="is an index of counter-arguments, not of texts"):
        Index.open(index.folder)
    Index.build(sources / "a.csv", sources / "texts", model=str(tiny_base))
    with pytest.raises(ValueError, match=r"index of texts, not of counter-arguments: make one with .*counter b"):
        CounterIndex.open(sources / "texts")
    with pytest.raises(ValueError, match="it is an index of texts, not of counter-arguments"):
        CounterIndex.build(sources / "a.csv", sources / "texts", model=str(tiny_base))


@pytest.mark.parametrize("kind", ["two encoders", "prompts"])
def test_arguments_are_asked_as_queries_and_the_collection_is_of_documents(sources, tiny_base, two_towers, kind):
    from sentence_transformers import SentenceTransformer

    if kind == "prompts":
        folder = sources / "prompts"
        SentenceTransformer(str(tiny_base), prompts={"query": "they hate sunday ", "document": "we love "}).save(
            str(folder), create_model_card=False
        )
    else:
        folder = two_towers(1)
    encoder = SentenceTransformer(str(folder))
    index = CounterIndex.build(sources / "a.csv", sources / "index", model=str(folder))
    index.extend(sources / "b.csv")
    texts = [*TEXTS, *MORE[-2:]]
    queries, documents = encoder.encode_query(texts), encoder.encode_document(texts)
    assert np.asarray(index.vectors) == pytest.approx(documents, abs=1e-5)
    cosines = queries[3] @ documents.T
    cosines[3] = -2  # the argument itself, whose vector as a query is far from that in the collection
    hits = index.ask(TEXTS[3], top=25)
    assert set(hits["text"]) == set(texts) - {TEXTS[3]}
    for column in ("score", "similarity"):
        assert hits[column].tolist() == pytest.approx(np.sort(cosines)[:0:-1], abs=1e-5)
    assert hits["score"].tolist() == pytest.approx([cosines[texts.index(text)] for text in hits["text"]], abs=1e-5)
    assert np.abs(queries - documents).max() > 0.1
    # recall is measured with questions, too
    assert index._queries(np.array([7, 2, 25])) == pytest.approx(queries[[7, 2, 25]], abs=1e-5)


def test_recall_of_an_extension_is_measured_with_queries(sources, two_towers, monkeypatch):
    index = CounterIndex.build(sources / "a.csv", sources / "index", model=str(two_towers(1)))
    for name, value in (("EXACT", 24), ("RECALL_SAMPLE", 26), ("RECALL_AT", 3)):
        monkeypatch.setattr(nearest, name, value)
    exact, asked = nearest.exact, []
    monkeypatch.setattr(
        nearest,
        "exact",
        lambda documents, questions, *sizes: (asked.append(questions), exact(documents, questions, *sizes))[1],
    )
    index.extend(sources / "b.csv")  # the rows are not in their place yet
    assert index.facts["search"]["kind"] == "lists"
    queries = index.model.encoder.encode_query([*TEXTS, *MORE[-2:]])
    assert asked[0] == pytest.approx(queries, abs=1e-5)


def test_another_encoder_of_queries_or_of_documents_is_another_model(sources, tiny_base, two_towers):
    index = CounterIndex.build(sources / "a.csv", sources / "index", model=str(two_towers(1)))
    with pytest.raises(ValueError, match="2' is another model"):
        CounterIndex.open(index.folder, model=str(two_towers(2))).ask("we love the trams")
    with pytest.raises(ValueError, match="tiny' is another model"):  # the encoder of documents alone
        CounterIndex.open(index.folder, model=str(tiny_base)).ask("we love the trams")
    plain = load_counter_model(str(tiny_base))
    assert document_encoder(plain) is plain.encoder


def test_other_heads_on_the_same_encoder_are_another_model(sources, bipolar, tiny_base):
    from modeling.bipolar.encoder import BipolarEncoder

    model = BipolarEncoder.from_pretrained(bipolar)
    with torch.no_grad():
        model.heads.classifier.weight.mul_(-1)
    model.save_pretrained(sources / "negated")
    index = CounterIndex.build(sources / "a.csv", sources / "index", model=str(bipolar))
    with pytest.raises(ValueError, match="negated' is another model"):
        CounterIndex.open(index.folder, model=str(sources / "negated")).ask("we love the trams")


@pytest.mark.parametrize(
    ("arguments", "options", "message"),
    [
        ("for", {"top": 0}, "--top must be 1 or more"),
        ("for", {"top": 60}, "--shortlist 50 is less than --top 60"),
        (["for", " \n\x00"], {}, "argument 2 of 2 is empty"),
        ([None], {}, "argument 1 of 1 is empty"),
        ([], {}, "there is no argument"),
    ],
)
def test_what_cannot_be_asked(plane, arguments, options, message):
    with pytest.raises(ValueError, match=message):
        plane.ask(arguments, **options)


def test_what_cannot_be_added(sources, plane):
    pd.DataFrame({"body": ["against"], "title": ["x"]}).to_csv(sources / "c.csv", index=False)
    with pytest.raises(ValueError, match=r"--text 'text': no such column; .*c\.csv has the columns body, title"):
        plane.extend(sources / "c.csv")
    assert plane.extend(sources / "c.csv", text="body")["known"] == 1
    with pytest.raises(ValueError, match="does not exist"):
        plane.extend(sources / "d.csv")


def test_without_faiss_the_extra_is_named(sources, monkeypatch, tiny_base):
    monkeypatch.setitem(sys.modules, "faiss", None)
    with pytest.raises(ValueError, match=r"FAISS is not installed: pip install 'opinion-transformers\[retrieval\]'"):
        CounterIndex.build(sources / "a.csv", sources / "index", model=str(tiny_base))
    assert not (sources / "index").exists()


def test_arguments_of_all_kinds(tmp_path, tiny_base, capsys):
    rows = [
        "we love the trams",
        "",
        " \t",
        None,
        float("nan"),
        7,
        "🚋🚋",
        "tram " * 200_000,
        "الترام يجب أن يكون مجانيا",
        "החשמלית צריכה להיות חינם",
        "we hate the trams",
    ]
    (tmp_path / "a.jsonl").write_text("".join(json.dumps({"text": row}) + "\n" for row in rows))
    run("build", tmp_path / "a.jsonl", "--out", tmp_path / "index", "--model", tiny_base)
    printed = capsys.readouterr().out
    for line in (
        "11 rows read, 6 kept; different texts: 6",
        "2 x dropped: empty text",
        "2 x dropped: missing text",
        "1 x dropped: not a text but a number",
        "1 x cut to 10,000 characters",
        "shortlists by exact search",
        "1 x kept without any letter",
        "3 x kept although probably not in E",
        "not re-ranked",
    ):
        assert line in printed
    index = CounterIndex.open(tmp_path / "index")
    assert len(index.ask(["🚋🚋", rows[8], "tram " * 300_000])) == 15  # five others each: the long one is found as cut


def run(*words):
    main(["counter", *(str(word) for word in words)])


def interrupt(*args):
    raise KeyboardInterrupt


def test_from_building_to_extending(sources, bipolar, capsys):
    run("build", sources / "a.csv", "--out", sources / "index", "--model", bipolar)
    printed = capsys.readouterr().out
    assert "24 rows read, 24 kept; different texts: 24" in printed
    assert "is complete: 24 arguments, 32 dimensions" in printed and "re-ranked by the model's" in printed
    (sources / "asked.txt").write_text("we love sunday\n")
    run(
        "ask",
        sources / "index",
        "--top",
        2,
        "we hate the trams in winter",
        "--file",
        sources / "asked.txt",
        "--out",
        sources / "hits.csv",
    )
    printed = capsys.readouterr().out
    assert "| rank | score | similarity | rows | row" in printed
    assert "score: probability that the text counters the argument" in printed
    hits = pd.read_csv(sources / "hits.csv")
    assert hits.columns.tolist() == ["argument", "rank", "score", "similarity", "text", "rows", "id", "row"]
    assert hits["argument"].tolist() == ["we hate the trams in winter"] * 2 + ["we love sunday"] * 2
    run("extend", sources / "index", sources / "b.csv")
    printed = capsys.readouterr().out
    assert "7 rows read, 6 kept; different texts: 6" in printed
    assert "4 x known already, not embedded again" in printed and "has 26 arguments now" in printed
    run("extend", sources / "index", sources / "b.csv")
    assert "has these rows already" in capsys.readouterr().out
    pd.DataFrame({"argument": ["we love sunday"]}).to_csv(sources / "asked.csv")
    run("ask", sources / "index", "--file", sources / "asked.csv", "--top", 1, "--shortlist", 25)
    assert "we love sunday\n" in capsys.readouterr().out


def test_arguments_without_an_answer_are_told_in_their_order(plane, capsys):
    pd.DataFrame({"text": ["for"]}).to_csv(plane.folder.parent / "one.csv", index=False)
    CounterIndex.build(plane.folder.parent / "one.csv", plane.folder.parent / "one", model="chosen")
    asked = [f"{' ' * number}for" for number in (5, 2, 7, 0, 3, 6, 1, 4)]  # one text, spaced in ways of their own
    run("ask", plane.folder.parent / "one", *asked)
    lines = capsys.readouterr().out.splitlines()
    assert [line for line in lines if line.endswith("for")] == asked
    assert lines.count("the collection holds no other text") == 8


@pytest.mark.parametrize(
    ("words", "message"),
    [
        (["ask", "index"], "there is no argument to counter: give one in quotes, or --file FILE"),
        (["ask", "index", "a", "--out", "hits.txt"], "has to end in .csv or .parquet"),
        (
            ["ask", "nowhere", "a"],
            "nowhere is no index: make one with python -m modeling.search counter build SOURCE",
        ),
        (["ask", "index", "a", "--top", "90"], "--shortlist 50 is less than --top 90"),
        (["extend", "nowhere", "b.csv"], "nowhere is no index"),
    ],
)
def test_mistakes_are_told(plane, monkeypatch, capsys, words, message):
    monkeypatch.chdir(plane.folder.parent)
    (plane.folder.parent / "plane").rename("index")
    with pytest.raises(SystemExit) as error:
        run(*words)
    assert message in f"{error.value.code}{capsys.readouterr().err}"
