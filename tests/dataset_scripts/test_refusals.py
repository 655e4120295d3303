"""What is no raw data of a corpus, or not enough of it, is refused in a line that names the file and the cure."""

import re

import pytest

from dataset_scripts.base.metadata import get_corpus

ACCOUNTS, DAY = "users.json", "2017-06-21.json"
POOL, SPLITS, CLAIMS = "perspective_pool_v1.0.json", "dataset_split_v1.0.json", "perspectrum_with_answers_v1.0.json"
CLAIM_FILES = {CLAIMS: "[]", POOL: "[]", SPLITS: "{}"}
RATINGS, POINTS = "arg_quality_rank_30k.csv", "ArgKP-2021_dataset.csv"
RATING = "argument,topic,set,stance_WA,stance_WA_conf\n"
SCORES = {"opinion_similarity_annotation.csv": "sent1_id,sent2_id,annotation\n"}
TWICE = f"{RATING}Cats are kind,Adopt cats,train,1,1\nCats are calm,Adopt cats,test,1,1\n"
NO_LABELS = dict.fromkeys(("train.tsv", "validation.tsv", "test.tsv"), "text\tlabels\n1\tfine\n")
# corpus, with the one of the files that is given and the configuration if need be; files; message
CASES = [
    ("amazon/k.json", {"k.json": '{"asin": "K"}'}, "no usable row in 1 file.*no column of text, or none of stars': 1"),
    ("chatstance", {"pstance/raw_val_all_onecol.csv": ""}, "belongs to chatstance; it needs raw_train_all"),
    ("congress:tweets", {DAY: "[]"}, r"no map of accounts \(\*users\*.json\) among 2017-"),
    ("congress:tweets", {ACCOUNTS: "[]", DAY: "[\n{]"}, "21.json, line 2, column 2: not valid"),
    ("ibm_argkp", {RATINGS: "argument,topic\n", POINTS: ""}, "line 1: no column set, stance_WA, stance_WA"),
    ("ibm_argkp", {POINTS: ""}, "lacks arg_quality_rank_30k; it needs the folder with both"),
    ("ibm_argkp", {RATINGS: TWICE, POINTS: ""}, "rank_30k.csv, line 3: 'Adopt cats' is in train and in test"),
    ("kialo:pairs", {"empty.txt": ""}, "kialo .pairs.: no usable row in 1 file.*file: empty"),
    ("kialo", {"a.txt": "1. No title"}, "file: without a discussion tree"),
    ("mr", NO_LABELS, "train.tsv, line 1: no column label; found text, labels"),
    ("perspectrum", {**CLAIM_FILES, POOL: '[{"pId": 1}]'}, "every item needs pId, text and source"),
    ("perspectrum", {**CLAIM_FILES, SPLITS: '{"1": "train",\n}'}, "line 2, column 1: not valid JSON"),
    ("perspectrum", {**CLAIM_FILES, SPLITS: "[]"}, "line 1: expected an object {...} at the top level"),
    ("perspectrum", {CLAIMS: "[]"}, f"lacks {POOL}, {SPLITS} .plain"),
    ("pit2015/tweets.tsv", {"tweets.tsv": ""}, "belongs to pit2015; it needs a folder or archive with"),
    ("sos", SCORES | {"a.csv": b"\xff\xfe\x00"}, "lacks EN_LAPT_SB1_TEST_.csv, .*; it needs the authors' folder, with"),
    ("vast", {"vast_dev.csv": ""}, "vast_dev.csv: give files of VAST and .* of ARCT, which tells the debates"),
    ("stsb/pairs.tsv", {"pairs.tsv": ""}, "nothing at .*pairs.tsv belongs to stsb; it needs the folder with sts-train"),
]


@pytest.mark.parametrize(("target", "files", "message"), CASES)
def test_refused_with_the_cure(target, files, message, build, write):
    name, file, config = re.fullmatch(r"(\w+)(?:/([\w.-]+))?(?::(\w+))?", target).groups()
    with pytest.raises((FileNotFoundError, ValueError), match=message):
        build(get_corpus(name), write("raw", files) / (file or ""), config)
