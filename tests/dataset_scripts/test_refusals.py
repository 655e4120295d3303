"""What is no raw data of a corpus, or not enough of it, is refused in a line that names the file and the cure."""

import re

import pytest

from dataset_scripts.base.metadata import get_corpus

ACCOUNTS, DAY = "users.json", "2017-06-21.json"
POOL, SPLITS, CLAIMS = "perspective_pool_v1.0.json", "dataset_split_v1.0.json", "perspectrum_with_answers_v1.0.json"
CLAIM_FILES = {CLAIMS: "[]", POOL: "[]", SPLITS: "{}"}
RATINGS, POINTS = "arg_quality_rank_30k.csv", "ArgKP-2021_dataset.csv"
RATING = "argument,topic,set,stance_WA,stance_WA_conf\n"
SCORES = {"annotation.csv": "sent1_id,sent2_id,annotation\n"}
SENTENCE = '<Reviews><sentence id="1"><text>Hot</text><Opinion category="LAPTOP#GENERAL"/></sentence></Reviews>'
TWICE = f"{RATING}Cats are kind,Adopt cats,train,1,1\nCats are calm,Adopt cats,test,1,1\n"
NO_LABELS = dict.fromkeys(("train.tsv", "validation.tsv", "test.tsv"), "text\tlabels\n1\tfine\n")
TOKENISED = {"test/a.toks": "a\nb\n", "test/b.toks": "c\nd\n", "test/sim.txt": "1\n"}
# corpus, with the one of the files that is given and the configuration if need be; files; message
CASES = [
    ("amazon", {"meta_Kitchen.json": "{}"}, "belongs to amazon; it needs a file of reviews"),
    ("amazon/k.json", {"k.json": '{"asin": "K", "title": "A"}'}, "line 1: found asin, title; expected a"),
    ("amazon/k.json", {"k.json": "\n"}, "k.json: no record; expected a file of reviews"),
    ("congress:tweets", {DAY: "[]"}, r"no map of accounts \(\*users\*.json\) among 2017-"),
    ("congress:issues", {DAY: "[]"}, r"no labelled sample \(.csv\) among"),
    ("congress:tweets", {ACCOUNTS: "[]"}, r"no daily file \(YYYY-MM-DD.json\)"),
    ("congress:tweets", {ACCOUNTS: "[]", DAY: "[\n{]"}, "21.json, line 2, column 2: not valid"),
    ("congress:tweets", {ACCOUNTS: "{}", DAY: "[]"}, "users.json, line 1: expected a list"),
    ("congress:issues", {"train.csv": "id,text\n"}, "train.csv, line 1: no column tweet_id, issue, author"),
    ("counterargs18", {"notes.txt": "no debate"}, "belongs to counterargs18; it needs the second part"),
    ("ibm_argkp", {RATINGS: "argument,topic\n", POINTS: ""}, "line 1: no column set, stance_WA, stance_WA"),
    ("ibm_argkp", {POINTS: ""}, r"lacks \*arg_quality_rank_30k\*"),
    ("ibm_argkp", {RATINGS: TWICE, POINTS: ""}, "rank_30k.csv, line 3: 'Adopt cats' is in train and in test"),
    ("imdb", {}, "belongs to imdb; it needs the archive aclImdb"),
    ("kialo:pairs", {"empty.txt": ""}, "kialo .pairs.: no usable row in 1 file.*file: empty"),
    ("kialo", {"a.txt": "1. No title"}, "file: without a discussion tree"),
    ("kialo", {"a.txt": "Discussion Title: Only a title\n"}, "file: without a discussion tree"),
    ("kialo", {"notes.md": "no discussion"}, "belongs to kialo"),
    ("mr", {}, "lacks split_train.tsv.*; or .*rt-polarity.pos, rt-polarity.neg"),
    ("mr", NO_LABELS, "train.tsv, line 1: no column label; found text, labels"),
    ("perspectrum", {**CLAIM_FILES, POOL: '[{"pId": 1}]'}, "every item needs pId, text and source"),
    ("perspectrum", {**CLAIM_FILES, SPLITS: '{"1": "train",\n}'}, "line 2, column 1: not valid JSON"),
    ("perspectrum", {**CLAIM_FILES, SPLITS: "[]"}, "split_v1.0.json, line 1: expected an object"),
    ("perspectrum", {CLAIMS: "[]"}, f"lacks {POOL}, {SPLITS} .plain"),
    ("pit2015", {"tweets.tsv": ""}, "belongs to pit2015; it needs a folder or archive with"),
    ("pit2015/tweets.tsv", {"tweets.tsv": ""}, "is not named train.data, dev.data, test.data"),
    ("sentiwordnet", {"README.txt": "SentiWordNet\n"}, "belongs to sentiwordnet; it needs SentiWord"),
    ("sentiwordnet", {"SentiWordNet_1.0.txt": "", "SentiWordNet_3.0.0.txt": ""}, "holds .*; give one of"),
    ("sos", {"laptops.xml": SENTENCE, "a.csv": b"\xff\xfe\x00"}, "lacks annotations and pairs; it needs a"),
    ("sos", SCORES, "lacks the sentences that its annotations name"),
    ("sos/annotation.csv", SCORES, "annotation.csv has no columns pair_id, sent1_text, .*needs a folder with"),
    ("sos", {**SCORES, "laptops.xml": SENTENCE[:-20]}, "laptops.xml is no valid XML .*as released"),
    ("sst2", {}, "lacks sentiment-train, sentiment-dev, sentiment-test .plain or"),
    ("stsb/sts-dev.csv", {"sts-dev.csv": "score,text\n"}, r"line 1: 1 tab .* give a file named sts-t"),
    ("stsb/pairs.tsv", {"pairs.tsv": "a\t" * 9}, r"pairs.tsv, line 1: \d+ tab .* give a file named sts-train"),
    ("stsb", {"sts-dev.csv": ""}, "lacks sts-train.csv, sts-test.csv; or similarity.tsv .plain or .gz"),
    ("turl", {"pairs.txt": ""}, "belongs to turl; it needs a folder or archive with"),
    ("turl/pairs.txt", {"pairs.txt": ""}, r"pairs.txt is no Twitter_URL_Corpus_test\*.txt or"),
    ("turl:similarity", TOKENISED, "similarity needs votes .*; --config paraphrases does not"),
    ("turl:paraphrases", TOKENISED, r"test/ differ in lines \(a.toks 2, b.toks 2, sim.txt 1\)"),
    ("yelp/x_tip.json", {"x_tip.json": '{"business_id": "c"}'}, "tip.json, line 1: found business_id; expected"),
]


@pytest.mark.parametrize(("target", "files", "message"), CASES)
def test_refused_with_the_cure(target, files, message, build, write):
    name, file, config = re.fullmatch(r"(\w+)(?:/([\w.-]+))?(?::(\w+))?", target).groups()
    with pytest.raises((FileNotFoundError, ValueError), match=message):
        build(get_corpus(name), write("raw", files) / (file or ""), config)
