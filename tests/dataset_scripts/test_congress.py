"""Tweets of Congress: the join with parties, changes of party, and every tweet that is dropped."""

import gzip
import json
import os
from collections import Counter
from pathlib import Path

import pytest

from dataset_scripts.base.metadata import load_metadata
from dataset_scripts.congress import Congress

OWNERS = [
    {"party": "D", "accounts": [{"id": "1", "screen_name": "RepCat", "prev_names": ["CatForHouse", {"X1": "OldCat"}]}]},
    {
        "party": "I",
        "prev_props": [
            {"party": "R", "until": "2020-12-13"},
            {"chamber": "house"},
            {"party": "D", "until": "2010-01-01"},
        ],
        "accounts": [{"id": 2, "screen_name": "RepDog"}],
    },
    {"accounts": [{"id": "3", "screen_name": "FishGOP", "party": "R"}, {"id": "4", "screen_name": "FishCommittee"}]},
    {"party": "N/A", "accounts": [{"screen_name": "BirdCaucus"}]},
    {"party": "D"},
    "no object",
]


def tweet(
    number: int, user: str | None, name: str, text: str = "We fed the cats.", time: str = "2017-06-21T10:05:17-04:00"
):
    return {"id": str(number), "user_id": user, "screen_name": name, "text": text, "time": time}


def build(path: Path, config: str, cache: Path):
    builder = Congress.open(path, config, cache_dir=cache / "cache")
    builder.download_and_prepare()
    return builder.as_dataset(), dict(builder.dropped)


def archive(folder: Path, *days: list, packed: bool = False) -> Path:
    (folder / "historical-users.json").write_text(json.dumps(OWNERS))
    for number, tweets in enumerate(days, start=21):
        path, content = folder / f"2017-06-{number}.json", json.dumps(tweets).encode()
        path.with_suffix(".json.gz").write_bytes(gzip.compress(content)) if packed else path.write_bytes(content)
    return folder


@pytest.mark.parametrize("packed", [False, True])
def test_party_by_id_name_and_day(tmp_path, packed):
    days = [
        [tweet(1, "1", "renamed"), tweet(2, None, "oldcat"), tweet(3, "9", "CatForHouse"), tweet(4, "3", "FishGOP")],
        [
            tweet(5, "2", "RepDog", "RT @RepCat  Cats &amp; dogs"),
            tweet(6, "2", "RepDog", time="2020-12-13T23:00:00-05:00"),
            tweet(7, "2", "RepDog", time="2020-12-14T00:10:00-05:00"),
            tweet(8, "2", "RepDog", time="2009-12-14T00:10:00-05:00"),
        ],
    ]
    data, dropped = build(archive(tmp_path, *days, packed=packed), "tweets", tmp_path)
    assert "".join(data["test"]["group"]) == "DDDR" + "RRID"
    assert data["test"][4] == {
        "id": "5",
        "text": "RT @RepCat Cats & dogs",
        "author": "RepDog",
        "group": "R",
        "topic": "",
        "date": "2017-06-21",
    }
    assert data.num_rows == {"test": 8} and dropped == {"account: malformed": 2}


def test_dropped_tweets(tmp_path):
    good, again = tweet(1, "1", "RepCat", "Short."), tweet(1, "1", "RepCat", "Said twice")
    unknown = [tweet(2, "77", "Nobody"), tweet(3, None, "BirdCaucus"), tweet(4, "4", "FishCommittee")]
    malformed = [{"id": "5"}, "no object", tweet(6, "1", "RepCat", text=None), tweet(7, "1", None)]
    folder = archive(tmp_path, [good, *unknown, *malformed], [again, tweet(8, "1", "RepCat", " \n")])
    data, dropped = build(folder, "tweets", tmp_path)
    assert data["test"]["text"] == ["Short."]
    assert dropped == {
        "account: malformed": 2,
        "tweet: account without a party": 3,
        "tweet: malformed": 4,
        "tweet: repeated id": 1,
        "tweet: empty text": 1,
    }
    # one day alone finds the map beside it
    assert build(folder / "2017-06-21.json", "tweets", tmp_path)[0].num_rows == {"test": 1}


def test_issues(tmp_path):
    rows = [
        "1,guns,We  fed the cats.,democrat,4",
        "2,aca,Fewer dogs. ,Republican,None",
        '3,aca,"Cats, dogs, and fish",republican,1',
        "4,aca,Cats, dogs,republican,1",  # an unquoted comma
        "5,aca",
        "6,aca,Fish,green,1",
        "1,guns,Said again,democrat,4",
        "7,guns, ,democrat,4",
    ]
    header = "tweet_id,issue,text,author,label\n"
    (tmp_path / "train.csv").write_text(header + "\n".join(rows[:5]))
    (tmp_path / "test.csv").write_text(header + "\n".join(rows[5:]))
    data, dropped = build(tmp_path, "issues", tmp_path)
    # test.csv is read first
    assert [(row["id"], row["group"], row["topic"]) for row in data["test"]] == [
        ("1", "D", "guns"),
        ("2", "R", "aca"),
        ("3", "R", "aca"),
    ]
    assert data["test"]["text"] == ["Said again", "Fewer dogs.", "Cats, dogs, and fish"]
    assert dropped == {"tweet: malformed row": 3, "tweet: repeated id": 1, "tweet: empty text": 1}


def test_wrong_files_say_what_to_do(tmp_path):
    day = tmp_path / "2017-06-21.json"
    day.write_text("[\n{]")
    with pytest.raises(FileNotFoundError, match=r"no map of accounts \(\*users\*.json\) among 2017-06-21.json"):
        build(tmp_path, "tweets", tmp_path)
    with pytest.raises(FileNotFoundError, match=r"no labelled sample \(.csv\) among"):
        build(tmp_path, "issues", tmp_path)
    (tmp_path / "users.json").write_text("[]")
    with pytest.raises(ValueError, match=r"2017-06-21.json, line 2, column 2: not valid JSON"):
        build(tmp_path, "tweets", tmp_path)
    day.with_suffix(".json.gz").write_bytes(gzip.compress(b"[]")[:-9])
    day.write_text("[]")
    with pytest.raises(ValueError, match=r"2017-06-21.json.gz cannot be read"):
        build(tmp_path, "tweets", tmp_path)
    day.with_suffix(".json.gz").unlink()
    day.write_text("{}")
    with pytest.raises(ValueError, match=r"2017-06-21.json, line 1: expected a list"):
        build(tmp_path, "tweets", tmp_path)
    day.unlink()
    with pytest.raises(FileNotFoundError, match=r"no daily file \(YYYY-MM-DD.json\)"):
        build(tmp_path, "tweets", tmp_path)
    (tmp_path / "train.csv").write_text("id,text\n")
    with pytest.raises(ValueError, match=r"train.csv, line 1: no column tweet_id, issue, author"):
        build(tmp_path, "issues", tmp_path)


@pytest.mark.corpora
@pytest.mark.skipif("CORPORA_DIR" not in os.environ, reason="CORPORA_DIR is not set")
def test_the_release(tmp_path):
    folder = Path(os.environ["CORPORA_DIR"]) / "congress"
    data, dropped = build(folder, "issues", tmp_path)
    assert data.num_rows == load_metadata("congress").expected["issues"] and dropped == {}
    assert Counter(data["test"]["group"]) == {"D": 1156, "R": 894}
    data, dropped = build(folder / "2017-06-21.json.gz", "tweets", tmp_path)
    assert Counter(data["test"]["group"]) == {"D": 1548, "R": 1171, "I": 8}
    assert dropped == {"tweet: repeated id": 1}
