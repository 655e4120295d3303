"""Tiny models and data for tests."""

from __future__ import annotations

import itertools
from pathlib import Path

import torch
from datasets import Dataset
from sentence_transformers import SentenceTransformer
from sentence_transformers.base.modules import Transformer
from sentence_transformers.sentence_transformer.modules import Normalize, Pooling
from transformers import BertConfig, BertModel, BertTokenizerFast

from modeling.base.adapters import add_lora, save_adapter, save_merged
from modeling.base.models import load_backbone, resolve

TOPICS = ("trams", "parks", "markets", "choirs", "ferries", "murals", "kites", "gardens")
WORDS = (
    "the town needs more fewer we love hate its old new are great awful good bad for all of us they make streets "
    "better worse every day and night in summer winter a joy nuisance to children visitors shops on sunday ."
)
VOCABULARY = ["[PAD]", "[UNK]", "[CLS]", "[SEP]", "[MASK]", *TOPICS, *WORDS.split()]


def save_encoder(folder: Path, seed: int = 0, hidden_size: int = 32, dropout: float = 0.1) -> Path:
    """Writes a SentenceTransformer with random weights and a vocabulary of whole words."""
    torch.manual_seed(seed)
    parts = folder.parent / f"{folder.name}-parts"
    parts.mkdir(parents=True)
    (parts / "vocab.txt").write_text("\n".join(VOCABULARY), encoding="utf-8")
    BertTokenizerFast(vocab=str(parts / "vocab.txt"), model_max_length=64).save_pretrained(parts)
    sizes = {"num_hidden_layers": 2, "num_attention_heads": 4, "intermediate_size": 64, "max_position_embeddings": 128}
    dropouts = {"hidden_dropout_prob": dropout, "attention_probs_dropout_prob": dropout}
    config = BertConfig(vocab_size=len(VOCABULARY), hidden_size=hidden_size, **sizes, **dropouts)
    BertModel(config, add_pooling_layer=False).save_pretrained(parts)
    transformer = Transformer(str(parts), max_seq_length=48)
    SentenceTransformer(modules=[transformer, Pooling(hidden_size), Normalize()]).save(str(folder))
    return folder


def adapted(base: Path, base_id: str = "org/tiny", rank: int = 4, seed: int = 1) -> SentenceTransformer:
    """An encoder with an adapter that does something: B starts at zero, here it is random."""
    model = load_backbone(resolve(str(base), base_id))
    torch.manual_seed(seed)
    add_lora(model, rank=rank, alpha=rank)
    with torch.no_grad():
        for name, parameter in model.named_parameters():
            if "lora_B" in name:
                parameter.normal_(std=0.5)
    return model


def save_run(folder: Path, base: Path, base_id: str = "org/tiny") -> SentenceTransformer:
    """Writes adapter/ and merged/ of an encoder that differs from its base; returns the trained encoder."""
    model, untrained = adapted(base, base_id), load_backbone(resolve(str(base), base_id))
    save_merged(save_adapter(model, folder / "adapter", untrained), folder / "merged", untrained)
    return model


def arguments(topic: str, side: str) -> list[str]:
    """Six arguments of one side on a topic."""
    liked, quality, change = ("love", "great", "better") if side == "pro" else ("hate", "awful", "worse")
    return [
        *(f"we {liked} the {topic} {when}" for when in ("every day", "in summer", "in winter")),
        *(f"the {topic} are {quality} for {who}" for who in ("children", "visitors")),
        f"they make the streets {change} and the {topic} too",
    ]


def save_corpus(folder: Path, configs: dict[str, dict[str, list[dict]]]) -> Path:
    """Writes a folder like those of `opinion corpus build`: configuration -> split -> rows."""
    lines = ["---", "configs:"]
    for config, splits in configs.items():
        lines += [f"- config_name: {config}", "  data_files:"]
        for split, rows in splits.items():
            path = folder / config / f"{split}-00000-of-00001.parquet"
            path.parent.mkdir(parents=True, exist_ok=True)
            Dataset.from_list(rows).to_parquet(path)
            lines += [f"  - split: {split}", f"    path: {config}/{path.name}"]
    (folder / "README.md").write_text("\n".join([*lines, "---", ""]), encoding="utf-8")
    return folder


def save_data(folder: Path) -> Path:
    """Writes rows of all schemas on eight topics: six for training, one each for validation and test."""
    splits = {"train": TOPICS[:6], "validation": TOPICS[6:7], "test": TOPICS[7:]}
    configs = {make.__name__: make for make in (pairs, triplets, similarity, inference, quadruples, sentences)}
    configs |= {make.__name__: make for make in (words, opinions, counters, families)}
    configs |= {"sgts": polarity_pairs, "counters_official": counters}
    configs |= dict.fromkeys(("tweets", "issues", "examples"), texts)
    configs |= dict.fromkeys(("quote", "reply"), tweet_pairs) | dict.fromkeys(("coquote", "coreply"), co_pairs)
    configs |= dict.fromkeys(("dq", "cq", "dr", "cr"), rankings)
    rows = {
        config: {split: [row for topic in topics for row in make(topic)] for split, topics in splits.items()}
        for config, make in configs.items()
    }
    return save_corpus(folder, rows)


def pairs(topic: str) -> list[dict]:
    """All 66 pairs of a topic's twelve arguments."""
    sided = [(text, side) for side in ("pro", "con") for text in arguments(topic, side)]
    return [
        {"sentence1": a, "sentence2": b, "label": int(s == t), "relation": "child-to-child", "group": topic}
        for (a, s), (b, t) in itertools.combinations(sided, 2)
    ]


def triplets(topic: str) -> list[dict]:
    """All 36 triplets of a thesis, a supporting and an opposing argument."""
    anchor = f"the town needs more {topic} ."
    return [
        {"anchor": anchor, "positive": positive, "negative": negative, "group": topic}
        for positive, negative in itertools.product(arguments(topic, "pro"), arguments(topic, "con"))
    ]


def families(topic: str) -> list[dict]:
    """A statement with six arguments for it and six against it."""
    shared = {"statement": f"the town needs more {topic} .", "group": topic}
    return [
        {"text": text, "side": side, **shared}
        for side, name in enumerate(("con", "pro"))
        for text in arguments(topic, name)
    ]


def similarity(topic: str) -> list[dict]:
    """Four pairs of falling similarity."""
    text = f"the new {topic} are good for children"
    others = [text, f"the {topic} are good for visitors", f"the town needs {topic}", "a nuisance on sunday night"]
    return [
        {"sentence1": text, "sentence2": other, "score": score, "group": topic}
        for other, score in zip(others, (5.0, 4.0, 2.0, 0.0), strict=True)
    ]


def inference(topic: str) -> list[dict]:
    """Six pairs, two each of contradiction (0), neutral (1) and entailment (2)."""
    text = f"the new {topic} are good for children"
    others = {
        0: (f"the {topic} are bad for children", f"we hate the {topic}"),
        1: ("the old town", "streets in winter"),
        2: (f"the {topic} are good for all", f"{topic} are good"),
    }
    return [{"sentence1": text, "sentence2": other, "label": label} for label, pair in others.items() for other in pair]


def texts(topic: str) -> list[dict]:
    """A topic's arguments as texts of two parties; half of each are on the topic that systems ask about."""
    return [
        {"id": f"{party}{number}", "text": text, "group": party, "topic": "abort" if number % 2 else "streets"}
        for party, side in (("D", "pro"), ("R", "con"))
        for number, text in enumerate(arguments(topic, side))
    ]


def sentences(topic: str) -> list[dict]:
    """A topic's twelve arguments as positive and negative sentences."""
    sides = {"con": 0, "pro": 1}
    return [{"text": text, "label": sides[side], "group": topic} for side in sides for text in arguments(topic, side)]


def quadruples(topic: str) -> list[dict]:
    """Six rows of two positive and two negative arguments."""
    positive, negative = arguments(topic, "pro"), arguments(topic, "con")
    columns = (positive, positive[1:] + positive[:1], negative, negative[1:] + negative[:1])
    names = ("positive1", "positive2", "negative1", "negative2")
    return [dict(zip(names, row, strict=True)) for row in zip(*columns, strict=True)]


def polarity_pairs(topic: str) -> list[dict]:
    """Six pairs of sentences of the same polarity and six of different ones."""
    labels = {"positive2": 1, "negative1": 0}
    rows = quadruples(topic)
    return [{"sentence1": row["positive1"], "sentence2": row[x], "label": labels[x]} for row in rows for x in labels]


def words(topic: str) -> list[dict]:
    """Words with their polarity, "new" being both."""
    signs = {1: "love great better joy", -1: "hate awful worse nuisance", 0: "new"}
    names = {1: "positive", -1: "negative", 0: "both"}
    return [
        {"word": word, "polarity": names[sign], "positive": float(sign >= 0), "negative": float(sign <= 0)}
        for sign, found in signs.items()
        for word in found.split()
    ]


def opinions(topic: str) -> list[dict]:
    """Twelve pairs of opinions, for either domain three that people find different and three that they find similar."""
    text = f"we love the new {topic}"
    others = {
        0.0: f"we hate the old {topic}",
        1.0: f"the {topic} are awful",
        1.5: "streets in winter",
        2.0: f"the {topic} are good for children",
        3.0: f"the {topic} are great",
        4.0: text,
    }
    return [
        {"id": f"{domain}{score}", "sentence1": text, "sentence2": other, "score": score, "domain": domain}
        for domain in ("laptop", "restaurant")
        for score, other in others.items()
    ]


def counters(topic: str) -> list[dict]:
    """Six points of either side, each with the argument of the other side on the same matter as its counter."""
    sides = {"pro": arguments(topic, "pro"), "con": arguments(topic, "con")}
    shared = {"theme": "town", "debate": topic, "thesis": f"the town needs more {topic}", "seen_in": "", "group": topic}
    rows = []
    for side, other in (("pro", "con"), ("con", "pro")):
        for number, (text, counter) in enumerate(zip(sides[side], sides[other], strict=True)):
            point = f"{text} . we are for {topic} on {number}"
            row = {"id": f"town/{topic}/{side}{number}", "conclusion": text, "premises": point[len(text) + 3 :]}
            rows.append(row | {"point": point, "counter": counter, "stance": side, **shared})
    return rows


def tweet_pairs(topic: str) -> list[dict]:
    """Two tweets of one conversation, each with a quote or reply."""
    return [
        {"anchor": f"the town needs {change} {topic}", "positive": arguments(topic, side)[0], "group": topic}
        for change, side in (("more", "pro"), ("fewer", "con"))
    ]


def co_pairs(topic: str) -> list[dict]:
    """Two quotes or replies of one tweet."""
    one, other = arguments(topic, "pro")[:2]
    return [{"anchor": one, "positive": other, "group": topic}]


def rankings(topic: str) -> list[dict]:
    """A tweet with two texts of its conversation and three of the next topic's."""
    other = TOPICS[(TOPICS.index(topic) + 1) % len(TOPICS)]
    positives, negatives = arguments(topic, "pro")[:2], arguments(other, "con")[:3]
    query = f"the town needs more {topic}"
    return [{"query": query, "positives": positives, "negatives": negatives, "group": topic}]
