"""Counts what mining a folder of stream files must find: independent of the miner, standard library only.

    python -m tests.dataset_scripts.twitter_stream.count_tweets ~/stream    # *.json, also .gz, .bz2, in .tar, .zip

A tweet counts once, by its id, with its longest text; it is usable in English and with more than 20 characters once
cleaned. A quoted tweet that comes along was seen. Pairs are counted before one of several answers is drawn and repeated
texts go: usable parents with a usable answer of another text; for co-pairs, parents with two that differ from it.
"""

import bz2
import gzip
import json
import re
import sys
import tarfile
import zipfile
from collections import Counter, defaultdict
from pathlib import Path

OPENERS = {".bz2": bz2.open, ".gz": gzip.open}


def lines(path):
    if path.suffix == ".zip":
        with zipfile.ZipFile(path) as archive:
            yield from (line for name in archive.namelist() if name.endswith(".json") for line in archive.open(name))
    elif ".tar" in path.suffixes:
        with tarfile.open(path) as archive:
            for member in (member for member in archive if member.isfile() and ".json" in member.name):
                yield from OPENERS.get(Path(member.name).suffix, lambda file: file)(archive.extractfile(member))
    else:
        with OPENERS.get(path.suffix, open)(path, "rb") as file:
            yield from file


def clean(text):
    text = text.replace("&lt;", "<").replace("&gt;", ">").replace("&amp;", "&").lower()
    return " ".join(re.sub(r"@\w+", "", re.sub(r"http\S+", "", text)).split())


def count(folder, lang="en"):
    kinds, texts, langs, pairs = Counter(), defaultdict(str), {}, Counter()
    answers = {"quote": defaultdict(set), "reply": defaultdict(set)}
    for path in sorted(path for path in folder.rglob("*") if re.search(r"\.(json|jsonl|tar|zip)\b", path.name)):
        for line in lines(path):
            try:
                status = json.loads(line)
                status = status.get("tweet", status)  # as some collections wrap it
            except (ValueError, AttributeError):
                kinds["malformed" if line.strip() else "blank"] += 1
                continue
            if "text" not in status and "full_text" not in status:
                kinds["delete notices" if "delete" in status else "other notices"] += 1
                continue
            kinds["statuses"] += 1
            kinds["retweets replaced"] += "retweeted_status" in status
            status = status.get("retweeted_status", status)
            for tweet in filter(None, (status, status.get("quoted_status"))):
                id, whole = tweet["id_str"], tweet.get("extended_tweet", tweet)
                text = clean(whole.get("full_text") or tweet["text"])
                texts[id], langs[id] = min(texts[id], text, key=lambda text: (-len(text), text)), tweet.get("lang")
                quoted = (tweet.get("quoted_status") or {}).get("id_str") or tweet.get("quoted_status_id_str")
                for kind, parent in (("reply", tweet.get("in_reply_to_status_id_str")), ("quote", quoted)):
                    if parent:
                        answers[kind][parent].add(id)
    usable = {id: text for id, text in texts.items() if langs[id] == lang and len(text) > 20}
    for kind, parents in answers.items():
        for parent, children in parents.items():
            distinct = {usable[child] for child in children if child in usable} - {usable.get(parent)}
            pairs[kind] += parent in usable and bool(distinct)
            pairs[f"co{kind}"] += len(distinct) > 1
    return {"lines": dict(kinds), "tweets": {"distinct": len(texts), "usable": len(usable)}, "pairs": dict(pairs)}


if __name__ == "__main__":
    print(json.dumps(count(Path(sys.argv[1])), indent=2))
