"""Twitter News URL corpus: votes, and which files are read."""

from dataset_scripts.turl import TwitterUrl

LINK = "https://t.co/invented"


def line(votes: str) -> str:
    return f"Trams are free now \tFree  trams & amp ; buses \t{votes}\t{LINK}\n"


def test_votes(build, write):
    # three votes are as good a score as any; samples and the second file of a split are not read
    files = {
        "Twitter_URL_Corpus_test.txt": "".join(map(line, ["(3,6)", "(0,6)", "(6, 6)", "(0,6)"])),
        "Twitter_URL_Corpus_testNew.larger.txt.gz": line("(1,6)"),
        "Twitter_URL_Corpus_train_sample.txt": line("(2,6)"),
    }
    for target in ("raw", "raw.zip"):
        data, dropped = build(TwitterUrl, write(target, files))
        assert data.num_rows == {"test": 4} and data["test"]["score"] == [3.0, 0.0, 6.0, 0.0]
        texts = {"sentence1": "Trams are free now", "sentence2": "Free trams & amp ; buses"}
        assert data["test"][0] == {**texts, "score": 3.0, "group": LINK}
        assert dropped == {"file: a second one of its split": 1}
