"""Essays and threads in brat's format: sides of claims, premises and comments, and what is left out."""

from dataset_scripts.aae2_cmv import AAE2CMV

ESSAY = """T1\tMajorClaim 10 20\ttrams are good for towns
T2\tMajorClaim 30 40\ttowns  gain much from trams
T3\tClaim 50 60;62 64\ttrams bring people together
A1\tStance T3 For
T4\tClaim 70 80\trails cost a town too much
A2\tStance T4 Against
T5\tPremise 90 99\tstrangers often talk in trams
R1\tsupports Arg1:T5 Arg2:T3\t
T6\tPremise 100 110\tmost riders look at their phones
R2\tattacks Arg1:T6 Arg2:T3\t
R3\tsupports Arg1:T6 Arg2:T5\t
R4\tsupports Arg1:T9 Arg2:T3\t
a line that says nothing
"""
THREAD = """T1\tmain_claim 0 20\tCMV: Bread is better than cake
A1\tType1 T1 interpretation
T2\tclaim 30 60\tA good loaf feeds the family for days.
A2\tType2 T2 evaluation_rational
R1\tagreement Arg1:T2 Arg2:T1
T3\tpremise 70 90\tNobody ever asked for bread on a birthday.
R2\trebuttal_attack Arg1:T3 Arg2:T1
T4\tclaim 91 99\tCake wins.
R3\trebuttal Arg1:T4 Arg2:T1
R4\tundercutter Arg1:T3 Arg2:T1
R5\tsupport Arg1:T3 Arg2:T2
"""
SHORT_ESSAY = "T1\tMajorClaim 0 5\tducks should be fed daily\nT2\tClaim 6 9\tducks are always hungry\nA1\tStance T2 For"
FILES = {
    "essays/essay1.ann": ESSAY,
    "essays/essay1.txt": "Trams in towns\n\nMany say ...",
    "essays/essay2.ann": SHORT_ESSAY,
    "essays/essay2.txt": "Trams, in Towns\n",
    "essays/essay3.ann": SHORT_ESSAY,
    "essays/essay4.ann": "T1\tPremise 0 9\tnobody claims anything here",
    "essays/essay4.txt": "Nothing",
    "essays/essay5.ann": SHORT_ESSAY.replace("ducks", "geese"),
    "essays/essay5.txt": "Feeding geese",
    "essays/annotation.conf": "[entities]",
}


def test_families(build, write):
    write("raw/essays.tar.xz", FILES)
    write(
        "raw/threads.zip", {"v2.0/0.ann": THREAD, "v2.0/0.txt": "CMV: Bread is better than cake\n", "v2.0/0.xml": "<"}
    )
    data, dropped = build(AAE2CMV, write("raw", {}))
    rows = {(row["text"], row["statement"]): row for split in data.values() for row in split}
    trams, together, bread = "trams are good for towns", "trams bring people together", "Bread is better than cake"
    assert {key: row["side"] for key, row in rows.items()} == {
        ("towns gain much from trams", trams): 1,
        (together, trams): 1,
        ("rails cost a town too much", trams): 0,
        ("strangers often talk in trams", together): 1,
        ("most riders look at their phones", together): 0,
        ("ducks are always hungry", "ducks should be fed daily"): 1,
        ("geese are always hungry", "geese should be fed daily"): 1,
        ("A good loaf feeds the family for days.", bread): 1,
        ("Nobody ever asked for bread on a birthday.", bread): 0,
    }
    # essays of one title, however it is spelled
    assert len({row["group"] for row in rows.values()}) == 3 and {
        rows[key]["group"] for key in rows if trams in key
    } == {rows["ducks are always hungry", "ducks should be fed daily"]["group"]}
    assert dropped == {
        "line: no annotation of a span or relation": 1,
        "document: without a title (.txt)": 1,
        "document: without a main claim": 1,
        "relation: malformed": 1,
        "relation: not to a claim": 1,
        "relation: not to a main claim": 1,
        "relation: on neither side for certain": 1,
        "comment: shorter than 7 words": 1,
    }
