"""Tweets with a target: what is trained on and what is tested on, how a tweet is cleaned, and what is left out."""

from dataset_scripts.tweet_stance import TweetStance

HEADERS = {
    "vaccinelies/preprocessed.csv": "target,text,label",
    "covid/raw_val_all_onecol.csv": "Tweet,Target 1,Stance 1,Tweet Id",
    "pstance/raw_train_all.csv": "Tweet,Target,Stance",
}
CLAIMS = [f"The vaccine makes {animals} bark." for animals in ("cats", "cows", "owls")]


def release(vaccines=(), covid=(), politicians=()) -> dict[str, str]:
    """Two tweets on each of three claims, and some of each collection."""
    told = [f"{claim},My vaccine story {n} about {claim},{n}" for claim in CLAIMS for n in (2, 3)]
    rows = ([*told, *vaccines], covid, politicians)
    return {name: "\n".join([head, *lines]) for (name, head), lines in zip(HEADERS.items(), rows, strict=True)}


def test_claims_are_trained_on_and_the_rest_is_tested_on(build, write):
    cats = CLAIMS[0]
    vaccines = [
        f"{cats},No dog took the vaccine yet,0",
        f"{cats},A fine day at the sea,2",
        f"{cats},A vaccine as Trump wants it,2",
        "Unfounded Worry about a vaccine,The vaccine worries my whole street,2",
        *(f"{cats},The same vaccine words twice{end},{side}" for end, side in (("", 2), ("!", 3))),
        f"{cats},My vaccine cat spoke on masks,2",
        f"{cats},A vaccine tweet of no known label,9",
    ]
    covid = ["@BigCat I wear mine at home,face masks,FAVOR,1", "Masks are for bandits only,face masks,AGAINST,2"]
    covid += [
        "My vaccine cat spoke on masks,face masks,FAVOR,1",
        "Too short,fauci,FAVOR,1",
        "No side taken here,fauci,NONE,1",
    ]
    covid += ["What a lovely fish tank,fish,FAVOR,1"]
    politicians = ['"Not him, never &amp; nowhere, folks https://t.co/x",Joe Biden,AGAINST']
    politicians += ["He will win it all,Donald Trump,FAVOR"]
    data, dropped = build(TweetStance, write("raw", release(vaccines, covid, politicians)))
    masks = "We should wear face masks."
    assert [tuple(row.values()) for row in data["test"]] == [
        ("@user I wear mine at home", masks, 1, "face masks"),
        ("Masks are for bandits only", masks, 0, "face masks"),
        ("My vaccine cat spoke on masks", masks, 1, "face masks"),
        ("Not him, never & nowhere, folks", "We should vote for Joe Biden.", 0, "joe biden"),
    ]
    assert data.num_rows == {"train": 4, "validation": 2, "test": 4}
    told = [(row["statement"], row["side"]) for row in (*data["train"], *data["validation"])]
    assert sorted(told) == [(claim, side) for claim in CLAIMS for side in (0, 1)]
    assert dropped == {
        "row: a text is also in test": 1,
        "row: text shorter than 4 words": 1,
        "tweet: malformed": 1,
        "tweet: not on vaccines": 1,
        "tweet: on a target that is no claim": 1,
        "tweet: on a target that models are tested on": 1,
        "tweet: on a target without a statement": 1,
        "tweet: on a topic that models are tested on": 1,
        "text: for and against its statement": 2,
        "tweet: on no side": 2,
    }
