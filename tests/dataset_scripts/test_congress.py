"""Tweets of Congress: the join with parties, changes of party, and every tweet that is dropped."""

import json

from dataset_scripts.congress import Congress

CHANGES = [{"party": "R", "until": "2020-12-13"}, {"chamber": "house"}, {"party": "D", "until": "2010-01-01"}]
OWNERS = [
    {"party": "D", "accounts": [{"id": "1", "screen_name": "RepCat", "prev_names": ["CatForHouse", {"X1": "OldCat"}]}]},
    {"party": "I", "prev_props": CHANGES, "accounts": [{"id": 2, "screen_name": "RepDog"}]},
    {"accounts": [{"id": "3", "screen_name": "FishGOP", "party": "R"}, {"id": "4", "screen_name": "FishCommittee"}]},
    {"party": "N/A", "accounts": [{"screen_name": "BirdCaucus"}]},
    {"party": "D"},
    "no object",
]


def tweet(number: int, user: str | None, name: str | None, text: str | None = "We fed the cats.", day="2017-06-21"):
    return {"id": str(number), "user_id": user, "screen_name": name, "text": text, "time": f"{day}T23:05:17-04:00"}


def archive(*days: list, end: str = "") -> dict[str, str]:
    files = {f"2017-06-{number}.json{end}": json.dumps(tweets) for number, tweets in enumerate(days, start=21)}
    return {"historical-users.json": json.dumps(OWNERS), **files}


def test_party_by_id_name_and_day_and_dropped_tweets(build, write):
    names = [tweet(1, "1", "new"), tweet(2, None, "oldcat"), tweet(3, "9", "CatForHouse"), tweet(4, "3", "FishGOP")]
    changed = [tweet(n, "2", "RepDog", day=day) for n, day in ((6, "2020-12-13"), (7, "2020-12-14"), (8, "2009-12-14"))]
    unknown = [tweet(12, "77", "Nobody"), tweet(13, None, "BirdCaucus"), tweet(14, "4", "FishCommittee")]
    bad = [{"id": "15"}, "no object", tweet(16, "1", "RepCat", text=None), tweet(17, "1", None)]
    bad += [tweet(18, "1", "RepCat", " \n"), tweet(1, "1", "RepCat", "Twice")]
    days = [*names, *unknown], [tweet(5, "2", "RepDog", "RT @RepCat  Cats &amp; dogs"), *changed, *bad]
    data, dropped = build(Congress, write("raw", archive(*days, end=".gz")), "tweets")
    assert "".join(data["test"]["group"]) == "DDDR" + "RRID"
    expected = {"id": "5", "text": "RT @RepCat Cats & dogs", "author": "RepDog", "group": "R", "topic": ""}
    assert data["test"][4] == {**expected, "date": "2017-06-21"}
    assert data.num_rows == {"test": 8} and dropped == {
        "account: malformed": 2,
        "tweet: account without a party": 3,
        "tweet: malformed": 4,
        "tweet: repeated id": 1,
        "tweet: empty text": 1,
    }


def test_issues(build, write):
    header = "tweet_id,issue,text,author,label\n"
    train = ["1,guns,We  fed the cats.,democrat,4", "2,aca,Fewer dogs. ,Republican,None"]
    train += ['3,aca,"Cats, dogs, and fish",republican,1', "4,aca,Cats, dogs,republican,1", "5,aca"]
    test = ["6,aca,Fish,green,1", "1,guns,Said again,democrat,4", "7,guns, ,democrat,4"]
    files = {"train.csv": header + "\n".join(train), "test.csv": header + "\n".join(test)}
    data, dropped = build(Congress, write("raw", files), "issues")
    rows = [(row["id"], row["group"], row["topic"], row["text"]) for row in data["test"]]
    assert rows == [  # test.csv is read first
        ("1", "D", "guns", "Said again"),
        ("2", "R", "aca", "Fewer dogs."),
        ("3", "R", "aca", "Cats, dogs, and fish"),
    ]
    assert dropped == {
        "row: wrong number of columns": 2,  # one has an unquoted comma
        "tweet: author is of no party": 1,
        "tweet: repeated id": 1,
        "tweet: empty text": 1,
    }
