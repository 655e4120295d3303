"""Cleaning rules, leak control and language."""

from dataset_scripts.base.quality import Cleaner, LeakGuard, PartGuard, TestSetGuard, is_english, normalise


def test_cleaning():
    assert normalise("  one\n\ttwo\u00a0 three ") == "one two three" and normalise(None) == normalise(" \n") == ""
    cleaner, ordered = Cleaner(), Cleaner(ordered=True)
    assert cleaner.fault("a text of four", "another text of five words") is None
    assert cleaner.fault("another text of five words", "a text of four") == "duplicate"  # order-free
    assert cleaner.fault("a text of four", "a text of four") == "equal texts"
    assert cleaner.fault("", "three words only") == "empty text"
    assert cleaner.fault("three words only", "a text of four") == "text shorter than 4 words"
    assert (
        ordered.fault("a text of four", "b text of four") is ordered.fault("b text of four", "a text of four") is None
    )
    assert ordered.fault("a text of four", "b text of four") == "duplicate"


def test_leak_guard():
    guard = LeakGuard()
    guard.hold_out("test", ["Dogs bark at night.", "!!!"])
    guard.hold_out("validation", ["dogs BARK, at night", "Cats sleep all day."])  # the first stays with test
    assert guard.fault("Birds sing") is guard.fault("Dogs bark", "???") is None
    assert guard.fault("Birds sing", "dogs bark at night") == "a text is also in test"
    assert guard.fault("cats sleep all day") == "a text is also in validation"


def test_english():
    assert is_english("Most of the people who are in favour of it have not read the law.")
    assert not is_english("La mayoría de la gente que está a favor no ha leído la ley.") and not is_english("")


def test_parts_of_held_out_texts():
    """16 letters and digits of a text, however they are spaced, make it a part; what is shorter has to be equal."""
    part, edge, short = "has n't any plot at all", "a letter short of it .", "fifteen letter it"
    guard = PartGuard([part, edge, short, "plot, at all costs and more"])
    guard.hold_out("test", ["The film hasn't any plot at all costs."])
    guard.hold_out("validation", ["Not a letter short of it!", "Not fifteen letter it!"])
    assert guard.fault(part) == "a text is part of one in test"
    assert guard.fault(edge) == "a text is part of one in validation"
    assert guard.fault(short) is guard.fault("plot, at all costs and more") is None
    around = "Nobody laughed. The film hasn't any plot at all costs."  # a text with a reserved one in it
    assert guard.fault(around) == "a text has one in test as a part"
    guard.hold_out("validation", ["Fifteen letter it!"])
    assert guard.fault(short) == "a text is also in validation"


def test_texts_of_test_sets_are_known_by_their_digests(tmp_path, monkeypatch):
    # sha1 of "cats don t bark", as `printf "cats don t bark" | sha1sum` prints it
    path = tmp_path / "test_texts.tsv"
    path.write_text("corpus\tsha1\npets\t3ea528033589a766eac85a57e5edc3d94867065a\n")
    monkeypatch.setattr(TestSetGuard, "PATH", path)
    assert TestSetGuard("pets").fault("Cats bark.", "Dogs don't bark.") is None
    known = TestSetGuard("pets").fault("Dogs bark.", "  CATS don&#39;t\nbark! http://x.y/z #SemST")
    assert known == "a text is in a set that models are tested on"
    assert TestSetGuard("wild").fault("Cats don't bark") is None
