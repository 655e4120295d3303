"""PIT-2015: the released files plain, gzipped and in an archive, both kinds of label."""

from dataset_scripts.pit2015 import Pit2015


def line(label: str, first: str = "my cat naps", second: str = "cat is asleep lol", topic: str = "7") -> str:
    return "\t".join([topic, "Cats", first, second, label, "my/O/PRP$/B-NP/O", "cat/O/NN/B-NP/O"]) + "\n"


def test_votes_and_grades(build, write):
    # the votes for a paraphrase count, not those against; debatable and repeated pairs stay, quotes are letters
    test = line("3", '"my  cat', topic="90") + line("5", "same", "same") + line("0")
    files = {"dev.data.gz": line("(3, 2)") + line("(2, 3)") * 2, "test.data": test, "test.label": "true\t0.8000\n"}
    data, dropped = build(Pit2015, write("raw", files))
    assert data["validation"]["score"] == [3.0, 2.0, 2.0] and data["test"]["score"] == [3.0, 5.0, 0.0]
    expected = {"sentence1": '"my cat', "sentence2": "cat is asleep lol", "score": 3.0, "group": "90"}
    assert data["test"][0] == expected and data["validation"]["group"] == ["7"] * 3
    assert list(data) == ["validation", "test"] and dropped == {}


def test_an_archive(build, write):
    files = {
        "pack/data/test.data": line("1"),
        "pack/data/dev.data.gz": line("(4, 1)"),
        "pack/later/dev.data": line("(5, 0)"),
        "pack/readme.md": "no rows",
        "__MACOSX/pack/data/._train.data": "no rows",
    }
    data, dropped = build(Pit2015, write("SemEval-PIT2015-github.zip", files))
    assert {split: rows["score"][:] for split, rows in data.items()} == {"validation": [4.0], "test": [1.0]}
    assert dropped == {"file: a second one of its name": 1}
