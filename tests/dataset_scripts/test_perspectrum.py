"""PERSPECTRUM: relations, labels, what is dropped and why, and that no text of a test claim is left in training."""

import json

from dataset_scripts.perspectrum import NAMES, Perspectrum

POOL = [
    (1, "procon", "Cats need far less daily attention"),
    (2, "paraphrase", "A cat asks\nfor little care"),
    (3, "procon", "Dogs guard the house at night"),
    (4, "debatewise", "Some children cannot breathe near fur"),
    (5, "idebate", "Dogs frighten small children there"),
    (6, "idebate", "dogs guard the house, at night."),
    (7, "google", "Cats, yes"),
]
CATS = "Cats make better pets than dogs"
CLAIMS = [
    ("train", "procon", CATS, [("SUPPORT", [1, 2]), ("UNDERMINE", [3])]),
    ("dev", "debatewise", "Every school should own a cat", [("UNDERMINE", [4])]),
    ("test", "idebate", "Dogs should stay out of parks", [("SUPPORT", [5]), ("UNDERMINE", [6])]),
]


def release(claims=CLAIMS, extra=(), end: str = "") -> dict[str, str]:
    records = []
    for n, (_, source, text, clusters) in enumerate(claims):
        perspectives = [{"stance_label_3": stance, "pids": ids} for stance, ids in clusters]
        records.append({"cId": n, "text": text, "source": source, "perspectives": perspectives})
    pool = [dict(zip(("pId", "source", "text"), item, strict=True)) for item in POOL]
    splits = {str(n): split for n, (split, *_) in enumerate(claims) if split}
    contents = zip(NAMES, ([*records, *extra], pool, splits), strict=True)
    return {name + end: json.dumps(content) for name, content in contents}


def test_every_configuration(build, write):
    folder = write("my data [1]", release(end=".gz"))
    data, dropped = build(Perspectrum, folder, "pairs")
    # claim 0: three perspectives to the claim, 1-2 in one cluster, 1-3 and 2-3; what holds text 3 is also in test
    little, care = "Cats need far less daily attention", "A cat asks for little care"
    assert [(row["sentence1"], row["relation"], row["label"]) for row in data["train"]] == [
        (little, "perspective-to-claim", 1),
        (care, "perspective-to-claim", 1),
        (little, "paraphrase", 1),
    ]
    assert data["validation"]["label"] == [0] and dropped == {"row: a text is also in test": 3}
    tested = sorted((row["relation"], row["label"]) for row in data["test"])
    assert tested == [("perspective-to-claim", 0), ("perspective-to-claim", 1), ("same-claim", 0)]
    data, dropped = build(Perspectrum, folder, "triplets")
    texts = "Dogs should stay out of parks", "Dogs frighten small children there", "dogs guard the house, at night."
    assert tuple(data["test"][0].values()) == (*texts, "claim-2")
    assert data.num_rows == {"test": 1} and dropped == {"row: a text is also in test": 2}
    data, dropped = build(Perspectrum, folder, "arguments")
    assert [(row["id"], row["parent"], row["stance"], row["depth"]) for row in data["train"]] == [
        ("claim-0", None, "thesis", 0),
        ("claim-0:1", "claim-0", "pro", 1),
        ("claim-0:2", "claim-0", "pro", 1),
    ]
    assert (len(data["validation"]), len(data["test"]), dropped) == (2, 3, {"row: a text is also in test": 1})
    data, dropped = build(Perspectrum, folder, "families")
    assert [tuple(row.values())[:3] for row in data["train"]] == [(little, CATS, 1), (care, CATS, 1)]
    assert (data["validation"]["side"], data["test"]["side"]) == ([0], [1, 0])
    data, dropped = build(Perspectrum, folder, "pairs", without=("idebate",))
    assert data.num_rows == {"train": 6, "validation": 1} and dropped == {"claim: from a source left out": 1}


def test_every_reason_for_a_drop(build, write):
    claims = [
        ("train", "procon", CATS, [("SUPPORT", [1, 99, 7]), ("NEUTRAL", [3]), ("SUPPORT", [1])]),
        ("", "procon", "This claim is in no split", []),
        ("test", "procon", " ", []),
        ("train", "procon", "A cat is best", [("SUPPORT", [2]), ("SUPPORT", [2])]),
        ("train", "procon", "a cat is best", [("UNDERMINE", [2])]),
        ("train", "procon", "A cat is best", [("UNDERMINE", [2])]),
    ]
    extra = [{"cId": 7}, "no object", {"cId": 0, "text": "One more cat claim here", "source": "", "perspectives": [{}]}]
    data, dropped = build(Perspectrum, write("raw", release(claims, extra)), "pairs")
    assert len(data["train"]) == 3
    assert dropped == {
        "claim: malformed": 2,
        "claim: in no split": 1,
        "claim: empty text": 1,
        "perspective: malformed": 1,
        "perspective: without text in the pool": 1,
        "perspective: neither supports nor undermines": 1,
        "perspective: listed twice under its claim": 2,
        "row: text shorter than 4 words": 2,  # "Cats, yes" with the claim and with text 1
        "row: duplicate": 1,
    }
