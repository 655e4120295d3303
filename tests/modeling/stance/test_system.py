"""Stance: the losses by hand, the filter, the phases, the evaluators and the paper's figures."""

from math import sqrt

import numpy as np
import pytest
import torch
from datasets import Dataset
from sentence_transformers.sentence_transformer.losses import ContrastiveLoss, TripletLoss

from modeling.base.keep import KeepSimilarityLoss
from modeling.base.recipe import load_recipe
from modeling.base.report import paper_figures
from modeling.stance import system as stance
from modeling.stance.system import PAPER, LinearContrastiveLoss, StanceSystem
from tests.tiny import pairs

# the paper's best setting, whatever the demonstration may choose one day
BEST = {"objective": "hybrid", "margin": "0.4", "contrastive": "paper", "keep": "0", "lora": "true",
        "filter_pairs": "0.5", "filter_triplets": "0.3"}  # fmt: skip
PLAIN = {"filter_pairs": "none", "filter_triplets": "none"}


@pytest.fixture
def make(tiny_base, tiny_data, tmp_path):
    """A function that makes a system on the tiny encoder and the tiny debates."""

    def system(**options):
        words = BEST | {"base": str(tiny_base), "base_id": "org/tiny", "data": str(tiny_data),
                        "similarity": str(tiny_data), "cache_dir": str(tmp_path)}  # fmt: skip
        return StanceSystem(load_recipe("stance-demo", words | {name: str(value) for name, value in options.items()}))

    return system


def at_cosines(*cosines):
    """Two matrices whose rows have these cosines; the second has other lengths than one."""
    first = torch.tensor([[1.0, 0.0]] * len(cosines))
    second = torch.tensor([[cosine, sqrt(1 - cosine**2)] for cosine in cosines])
    return [first, 3 * second]


# distances 0.2, 1, 0.1 and 0.5: an agreeing pair that is near and one that is far, an opposing pair inside the margin
# of 0.4 and one beyond
COSINES, LABELS = (0.8, 0.0, 0.9, 0.5), torch.tensor([1, 1, 0, 0])


def test_linear_loss():
    loss = LinearContrastiveLoss(None, margin=0.4)
    # (0.2 + 1 + (0.4 - 0.1) + 0) / 4
    assert loss.compute_loss_from_embeddings(at_cosines(*COSINES), LABELS).item() == pytest.approx(0.375)
    # with margin 1 both opposing pairs are too near: (0.2 + 1 + 0.9 + 0.5) / 4
    wide = LinearContrastiveLoss(None, margin=1.0)
    assert wide.compute_loss_from_embeddings(at_cosines(*COSINES), LABELS).item() == pytest.approx(0.65)
    assert loss.get_config_dict() == {"margin": 0.4}
    assert "ghafouri-etal-2024-love" in loss.citation


def test_loss_of_the_recipe_is_the_linear_one(make):
    loss = make()._loss("pairs", None)
    assert isinstance(loss, LinearContrastiveLoss)
    assert loss.margin == 0.4


def test_squared_loss(make):
    loss = make(contrastive="squared")._loss("pairs", None)
    assert isinstance(loss, ContrastiveLoss)
    # half of 0.2^2, 1^2, (0.8 - 0.1)^2 and (0.8 - 0.5)^2: (0.02 + 0.5 + 0.245 + 0.045) / 4
    found = loss.compute_loss_from_embeddings(at_cosines(*COSINES), LABELS)
    assert found.item() == pytest.approx(0.2025)


def test_triplet_loss(make):
    loss = make()._loss("triplets", None)
    assert isinstance(loss, TripletLoss)
    anchor = torch.tensor([[1.0, 0.0], [1.0, 0.0]])
    near, far = [0.6, 0.8], [0.0, 1.0]  # at Euclidean distances sqrt(0.8) = 0.894 and sqrt(2) = 1.414
    found = loss.compute_loss_from_embeddings([anchor, torch.tensor([near, far]), torch.tensor([far, near])], None)
    # 0.894 - 1.414 + 0.4 < 0 costs nothing; 1.414 - 0.894 + 0.4 = 0.920; the mean of both
    assert found.item() == pytest.approx((sqrt(2) - sqrt(0.8) + 0.4) / 2, abs=1e-5)


def test_keeping_the_similarities_of_the_base(make):
    system = make(keep=0.5)
    model = system.build_model()
    for kind, stance_loss in {"triplets": TripletLoss, "pairs": LinearContrastiveLoss}.items():
        loss = system._loss(kind, model)
        assert isinstance(loss, KeepSimilarityLoss)
        assert (type(loss.loss), loss.weight) == (stance_loss, 0.5)


@pytest.mark.parametrize(("kind", "columns"), [("pairs", 2), ("triplets", 3)])
def test_gradients_reach_the_adapter_and_nothing_else(make, kind, columns):
    system = make(margin=2)  # so wide that every opposing row costs something
    model = system.build_model()
    texts = ["we love the trams", "the trams are great for visitors", "we hate the trams"][:columns]
    labels = torch.tensor([0])
    system._loss(kind, model)([model.preprocess([text]) for text in texts], labels).backward()
    gradients = {name: parameter.grad for name, parameter in model.named_parameters()}
    assert all(gradients[name] is None for name in gradients if "lora_" not in name)
    moved = [name for name in gradients if "lora_B" in name and gradients[name].abs().max() > 0]
    assert len(moved) == 8  # 2 layers x q, k, v, o


def test_build_model(make):
    model = make(lora_rank=4, max_length=16).build_model()
    # 2 layers x 4 matrices x rank 4 x (32 + 32)
    assert sum(parameter.numel() for parameter in model.parameters() if parameter.requires_grad) == 2048
    assert model.max_seq_length == 16
    full = make(lora="false").build_model().named_parameters()
    assert all(parameter.requires_grad != ("pooler" in name) for name, parameter in full)  # the pooler is not used


def test_hybrid_is_triplets_first_and_pairs_after(make):
    system = make(epochs=3, **PLAIN)
    data = system.load_data()
    phases = system.phases(None, data)
    assert [(phase.name, len(phase.dataset), phase.epochs) for phase in phases] == [
        ("triplets", 216, 1.5),  # 6 topics x 36, for half of the epochs
        ("pairs", 396, 1.5),  # 6 topics x 66
    ]
    assert [phase.dataset.column_names for phase in phases] == [
        ["anchor", "positive", "negative"],
        ["sentence1", "sentence2", "label"],
    ]
    assert [type(phase.loss) for phase in phases] == [TripletLoss, LinearContrastiveLoss]
    assert data.sources == ["tiny-debates"]
    assert data.counts == {"triplets before the filter": 216, "triplets in training": 216,
                           "pairs before the filter": 396, "pairs in training": 396}  # fmt: skip


@pytest.mark.parametrize(("objective", "kind"), [("siamese", "pairs"), ("triplet", "triplets")])
def test_one_objective_is_one_phase(make, objective, kind):
    system = make(objective=objective, epochs=3, **PLAIN)
    assert [(phase.name, phase.epochs) for phase in system.phases(None, system.load_data())] == [(kind, 3)]


def test_sources_are_joined(make, tiny_data):
    data = make(objective="triplet", data=f"{tiny_data},{tiny_data}", **PLAIN).load_data()
    assert data.counts["triplets in training"] == 432
    assert data.sources == ["tiny-debates", "tiny-debates"]


@pytest.fixture
def similarities(monkeypatch):
    """Sets the base's cosines: first text of a row -> its pairwise cosines. Returns the blocks that were asked for."""
    asked, chosen = [], {}

    def fake(model, columns, folder):
        asked.append(list(columns[0]))
        assert len(columns) in (2, 3)  # labels are no text
        return np.array([chosen[text] for text in columns[0]]).T

    monkeypatch.setattr(stance, "pair_similarities", fake)
    return asked, chosen


def rows_of(names):
    return Dataset.from_dict({column: list(names) for column in ("anchor", "positive", "negative")})


def test_filter_looks_at_the_least_similar_two_texts(make, similarities):
    similarities[1].update(a=(0.9, 0.8, 0.31), b=(0.9, 0.29, 0.9), c=(0.3, 0.9, 0.9), d=(0.4, 0.4, 0.4))
    kept = make()._filter(rows_of("abcd"), "triplets", 0.3, None)
    assert kept["anchor"] == ["a", "d"]  # 0.31 and 0.4 are above 0.3, 0.29 and 0.3 are not


def test_filter_of_pairs(make, similarities):
    similarities[1].update(a=(0.6,), b=(0.5,), c=(-0.9,))
    rows = Dataset.from_dict({"sentence1": ["a", "b", "c"], "sentence2": ["x"] * 3, "label": [1, 0, 1]})
    assert make()._filter(rows, "pairs", 0.5, None)["sentence1"] == ["a"]


def test_no_filter_keeps_all(make, similarities):
    assert len(make()._filter(rows_of("abcd"), "triplets", None, None)) == 4
    assert make(max_train_rows=3)._filter(rows_of("abcd"), "triplets", None, None)["anchor"] == ["a", "b", "c"]
    assert similarities[0] == []


def test_filter_embeds_no_more_than_it_needs(make, similarities):
    similarities[1].update({name: (0.9, 0.9, 0.9) for name in "bcdef"} | {"a": (0.1, 0.9, 0.9)})
    different = {column: [f"{name}{column[1:]}" for name in "abcdef"] for column in ("positive", "negative")}
    kept = make(max_train_rows=2)._filter(Dataset.from_dict({"anchor": list("abcdef")} | different), "triplets", 0.3, 0)
    assert kept["anchor"] == ["b", "c"]  # a is dropped, d is one more than two
    assert similarities[0] == [["a", "b"], ["c", "d"]]  # of 18 texts, and two triplets have six
    # where the same six texts make up all rows, one block costs no more
    similarities[0].clear()
    assert make(max_train_rows=2)._filter(rows_of("abcdef"), "triplets", 0.3, None)["anchor"] == ["b", "c"]
    assert similarities[0] == [list("abcdef")]


def test_filter_that_drops_everything(make, similarities):
    similarities[1].update({name: (0.1, 0.1, 0.1) for name in "abcd"})
    with pytest.raises(ValueError, match=r"--filter_triplets 0.3 drops all 4 rows of triplets: lower it, or use none"):
        make()._filter(rows_of("abcd"), "triplets", 0.3, None)


@pytest.mark.parametrize(
    ("options", "message"),
    [
        ({"objective": "tripletts"}, "--objective must be one of siamese, triplet, hybrid, got 'tripletts'"),
        ({"contrastive": "cubic"}, "--contrastive must be paper or squared, got 'cubic'"),
        ({"margin": 0}, r"--margin must lie in \(0, 2\], the range of distances, got 0"),
        ({"margin": 2.1}, r"--margin must lie in \(0, 2\]"),
        ({"margin": "none"}, r"--margin must lie in \(0, 2\], the range of distances, got None"),
        ({"keep": -1}, "--keep must"),
        ({"margin": "nan"}, r"--margin must lie in \(0, 2\]"),
    ],
)
def test_wrong_options(make, options, message):
    with pytest.raises(ValueError, match=message):
        make(**options)


def names(evaluators):
    return [evaluator.name for evaluator in evaluators]


def test_test_evaluators(make, monkeypatch):
    # of 66 test pairs the first twelve are above 0.5: 6 agree, 6 oppose; exactly 0.5 is not above it
    monkeypatch.setattr(stance, "pair_similarities", lambda *rest: np.array([[0.51] * 12 + [0.5] * 54]))
    found = make().evaluators("test")
    assert names(found) == ["stance", "stance_filtered", "similarity"]
    assert [len(evaluator.labels) for evaluator in found[:2]] == [66, 12]
    assert found[1].labels.tolist() == [row["label"] for row in pairs("gardens")[:12]]
    assert sum(found[1].labels) == 6
    assert "base cosine above 0.5" in found[1].title
    assert {evaluator.dataset for evaluator in found} == {"tiny-debates (test)"}
    assert {evaluator.dataset_id for evaluator in found} == {"tiny-debates"}  # never a local path


def test_similar_pairs_of_one_class_cannot_be_evaluated(make, monkeypatch):
    # the first pairs are those of one argument with others of its side
    monkeypatch.setattr(stance, "pair_similarities", lambda *rest: np.array([[0.51] * 5 + [0.5] * 61]))
    assert names(make(similarity="none").evaluators("test")) == ["stance"]


def sources(monkeypatch, splits):
    """Every configuration has these splits of six rows."""
    rows = Dataset.from_dict({"sentence1": list("abcdef"), "sentence2": list("ghijkl"), "label": [0, 1, 2, 0, 1, 2],
                              "score": [0.0, 1.0, 2.0, 3.0, 4.0, 5.0]})  # fmt: skip
    monkeypatch.setattr("dataset_scripts.base.sources.load_source", lambda *arguments: dict.fromkeys(splits, rows))


def test_topics_are_compared_where_there_are_several(make):
    # the split for validation has one topic only, that for training six
    assert names(make(similarity="none", evaluate_on="validation").evaluators("validation")) == ["stance"]
    system = make(similarity="none", evaluate_on="validation")
    system.rows = lambda *arguments: Dataset.from_list([*pairs("trams"), *pairs("parks")])
    assert names(system.evaluators("validation")) == ["stance", "topic"]


def test_inference_is_for_testing_only(make, monkeypatch):
    sources(monkeypatch, ["validation", "test"])
    monkeypatch.setattr(stance.StanceSystem, "_similar_for_base", lambda self, pairs: np.zeros(len(pairs), bool))
    system = make(inference="org/sick", similarity="org/stsb", max_eval_rows=4, max_test_rows=5)
    testing, validating = system.evaluators("test"), system.evaluators("validation")
    assert names(testing) == ["stance", "similarity", "inference"]
    assert names(validating) == ["stance", "similarity"]
    assert [evaluator.dataset for evaluator in testing[1:]] == ["org/stsb (test)", "org/sick (test)"]
    assert (len(validating[0].labels), len(testing[0].labels), len(testing[2].labels)) == (4, 5, 5)
    # checkpoints are chosen by a metric of the first evaluator
    assert f"{validating[0].name}_{validating[0].headline[0]}" == StanceSystem.PRIMARY


def test_alignment_is_for_testing_only(make, tiny_data, monkeypatch):
    monkeypatch.setattr(stance.StanceSystem, "_similar_for_base", lambda self, pairs: np.zeros(len(pairs), bool))
    system = make(alignment=tiny_data, similarity="none")
    tweets, on_topic = system.evaluators("test")[1:]
    assert names(system.evaluators("validation")) == ["stance"]
    assert [(query.text, query.target, query.threshold) for query in tweets.queries] == [
        ("Abortion is healthcare.", "D", 0.70),  # as printed in table 4
        ("Abortion is murder.", "R", 0.60),
    ]
    assert (tweets.name, tweets.dataset, tweets.rows) == ("alignment", "tiny-debates (test)", 12)
    assert on_topic.dataset == "tiny-debates (test, issue abort)"
    assert (on_topic.name, on_topic.rows, on_topic.on_topic) == ("alignment_on_topic", 6, True)  # every second one
    # a collection whose texts have no topic
    monkeypatch.setattr(stance, "has_config", lambda source, config: False)
    assert names(system.evaluators("test")) == ["stance", "alignment"]


def test_a_source_that_cannot_be_read_is_found_before_the_base_is_asked(make, monkeypatch):
    monkeypatch.setattr(stance.StanceSystem, "_similar_for_base", lambda self, pairs: pytest.fail("took minutes"))
    with pytest.raises(ValueError, match="'org/tweets'"):
        make(alignment="org/tweets").evaluators("test")


def test_stance_source_of_its_own(make):
    assert make(data="org/elsewhere").recipe["stance"] is None
    with pytest.raises(ValueError, match="'org/elsewhere'"):
        make(data="org/elsewhere").evaluators("validation")
    system = make(data="org/elsewhere", stance=make().recipe.data[0])
    assert names(system.evaluators("validation")) == ["stance", "similarity"]


def test_missing_split(make, monkeypatch):
    sources(monkeypatch, ["train", "test"])
    with pytest.raises(ValueError, match=r"'org/x' \(pairs\) has no validation split; it has train, test"):
        make(stance="org/x").evaluators("validation")


# Figures as printed: column of margin, Table 2 (KL) and Table 3 (STS-B)
PRINTED = [
    ({"objective": "siamese", "filter_pairs": "none", "margin": 0.3}, 0.41, 0.78),
    ({"objective": "siamese", "margin": 0.4}, 0.44, 0.80),
    ({"objective": "triplet", "filter_triplets": "none", "margin": 1.0}, 0.33, 0.71),
    ({"objective": "triplet", "margin": 0.7}, 0.38, 0.78),
    ({"margin": 0.4}, 0.44, 0.80),
    ({"margin": 0.6}, 0.45, 0.78),
    ({"margin": 0.2, "lora": "false"}, 0.72, 0.71),
    ({"margin": 1.0, "lora": "false"}, 0.59, 0.45),
]


# Table 4: precision, all, and by party
ALIGNMENT_OF_BASE = {
    "alignment_healthcare_precision": 0.76, "alignment_healthcare_retrieved": 98 + 31,
    "alignment_healthcare_retrieved_D": 98, "alignment_healthcare_retrieved_R": 31,
    "alignment_murder_precision": 0.67, "alignment_murder_retrieved": 95 + 46,
    "alignment_murder_retrieved_D": 46, "alignment_murder_retrieved_R": 95,
}  # fmt: skip


@pytest.mark.parametrize(("options", "kl", "spearman"), PRINTED)
def test_figures_of_the_paper(make, options, kl, spearman):
    figures = paper_figures(make(**options))
    assert {metric: figure for metric, figure in figures.items() if not metric.startswith("alignment")} == {
        "stance_filtered_kl_paper": {"table": "Table 2", "data": "kialo", "base": 0.004, "trained": kl},
        "similarity_spearman": {"table": "Table 3", "data": "stsb", "base": 0.83, "trained": spearman},
    }


@pytest.mark.parametrize(
    "options", [{"margin": 0.45}, {"filter_pairs": "none"}, {"objective": "siamese", "lora": "false"}]
)
def test_no_figure_where_the_paper_has_none(make, options):
    figures = paper_figures(make(**options))
    assert {metric: figure["base"] for metric, figure in figures.items()} == {
        "stance_filtered_kl_paper": 0.004, "similarity_spearman": 0.83, **ALIGNMENT_OF_BASE
    }  # fmt: skip
    assert {figure["trained"] for figure in figures.values()} == {None}


def test_every_printed_figure_is_there():
    # two tables, each of the base and of six rows with ten margins; two statements: four figures of the base and of the
    # hybrid, one of the siamese and of the triplet encoder
    assert len(PAPER.results) == 2 * (1 + 6 * 10) + 2 * (4 + 4 + 1 + 1)


def test_the_setting_that_stands_beside_any_model(make):
    figures = paper_figures(make(objective="siamese"), PAPER.headline)
    assert figures == paper_figures(make(margin=0.4))  # hybrid, as BEST
    assert {metric: figure["base"] for metric, figure in figures.items()} == {
        "stance_filtered_kl_paper": 0.004, "similarity_spearman": 0.83, **ALIGNMENT_OF_BASE
    }  # fmt: skip
    assert {metric: figure["trained"] for metric, figure in figures.items()} == {
        "stance_filtered_kl_paper": 0.44, "similarity_spearman": 0.80,
        "alignment_healthcare_precision": 0.91, "alignment_healthcare_retrieved": 47,
        "alignment_healthcare_retrieved_D": 43, "alignment_healthcare_retrieved_R": 4,
        "alignment_murder_precision": 0.80, "alignment_murder_retrieved": 15,
        "alignment_murder_retrieved_D": 3, "alignment_murder_retrieved_R": 12,
    }  # fmt: skip


@pytest.mark.parametrize(("objective", "healthcare", "murder"), [("siamese", 0.84, 0.64), ("triplet", 0.94, 0.79)])
def test_alignment_of_other_objectives(make, objective, healthcare, murder):
    figures = paper_figures(make(objective=objective))  # Table 8
    found = [figures[f"alignment_{name}_precision"]["trained"] for name in ("healthcare", "murder")]
    assert found == [healthcare, murder]


def test_replay_adds_two_columns_that_only_the_keeping_loss_sees(make, tiny_data):
    system = make(replay=tiny_data, replay_weight=7, **PLAIN)
    data = system.load_data()
    triplets, pairs = data.train["triplets"], data.train["pairs"]
    assert triplets.column_names == ["anchor", "positive", "negative", "replay", "replay_neighbour"]
    assert pairs.column_names == ["sentence1", "sentence2", "label", "replay", "replay_neighbour"]
    assert data.counts["generic texts for replay"] == 72
    assert data.sources == ["tiny-debates", "tiny-debates"]
    for phase in system.phases(system.build_model(), data):
        assert isinstance(phase.loss, KeepSimilarityLoss)
        assert (phase.loss.weight, phase.loss.replay_weight) == (0, 7)


def test_a_source_is_sampled_so_that_it_does_not_drown_the_others(make, tiny_data):
    data = make(per_source=50, **PLAIN).load_data()
    assert {kind: len(rows) for kind, rows in data.train.items()} == {"triplets": 50, "pairs": 50}
    assert make(per_source=50, data=f"{tiny_data},{tiny_data}", **PLAIN).load_data().counts["pairs in training"] == 100


def test_each_source_may_have_a_sample_of_its_own(make, tiny_data):
    sources = f"{tiny_data},{tiny_data}"
    assert make(per_source="[50, 20]", data=sources, **PLAIN).load_data().counts["pairs in training"] == 70
    whole = make(per_source="[50, null]", data=sources, **PLAIN).load_data().counts["pairs in training"]
    assert whole == 50 + make(**PLAIN).load_data().counts["pairs in training"]
    with pytest.raises(ValueError, match="--per_source has 1 numbers, --data 2 corpora: give one for each"):
        make(per_source="[50]", data=sources)
    with pytest.raises(ValueError, match=r"--per_source must be a number of rows, or none, got \[50, 0\]"):
        make(per_source="[50, 0]", data=sources)


@pytest.mark.parametrize(
    ("option", "value"), [("replay_weight", -1), ("replay_weight", "inf"), ("per_source", 0), ("per_source", 0.5)]
)
def test_options_of_replay_and_sampling_out_of_range(make, option, value):
    with pytest.raises(ValueError, match=f"--{option} must be"):
        make(**{option: value})
