"""Cleaning rules, leak control and language."""

from __future__ import annotations

import pytest

from dataset_scripts.base.quality import Cleaner, LeakGuard, PartGuard, TestSetGuard, is_english, normalise


def test_cleaner_counts_every_reason_once():
    assert normalise("  one\n\ttwo\u00a0 three ") == "one two three" and normalise(None) == normalise(" \n") == ""
    cleaner, ordered = Cleaner(), Cleaner(ordered=True)
    assert cleaner.keep("a text of four", "another text of five words")
    assert not cleaner.keep("another text of five words", "a text of four")  # order-free
    assert not cleaner.keep("a text of four", "a text of four")
    assert not cleaner.keep("", "three words only")
    assert not cleaner.keep("three words only", "a text of four")
    assert cleaner.dropped == {"duplicate": 1, "equal texts": 1, "empty text": 1, "text shorter than 4 words": 1}
    assert ordered.keep("a text of four", "b text of four") and ordered.keep("b text of four", "a text of four")
    assert not ordered.keep("a text of four", "b text of four")


def test_leak_guard():
    guard = LeakGuard()
    guard.hold_out("test", ["Dogs bark at night.", "!!!"])
    guard.hold_out("validation", ["dogs BARK, at night", "Cats sleep all day."])  # the first stays with test
    assert guard.keep("Birds sing") and guard.keep("Dogs bark", "???")
    assert not guard.keep("Birds sing", "dogs bark at night") and not guard.keep("cats sleep all day")
    assert guard.dropped == {"a text is also in test": 1, "a text is also in validation": 1}


@pytest.mark.parametrize(
    ("text", "english"),
    [
        ("Most of the people who are in favour of it have not read the law.", True),
        ("La mayoría de la gente que está a favor no ha leído la ley.", False),
        ("", False),
    ],
)
def test_is_english(text, english):
    assert is_english(text) is english


def test_parts_of_held_out_texts():
    """16 letters and digits of a text, however they are spaced, make it a part; what is shorter has to be equal."""
    part, edge, short = "has n't any plot at all", "a letter short of it .", "fifteen letter it"
    guard = PartGuard([part, edge, short, "plot, at all costs and more"])
    guard.hold_out("test", ["The film hasn't any plot at all costs."])
    guard.hold_out("validation", ["Not a letter short of it!", "Not fifteen letter it!"])
    kept = [text for text in (part, edge, short, "plot, at all costs and more") if guard.keep(text)]
    assert kept == [short, "plot, at all costs and more"]
    assert guard.dropped == {"a text is part of one in test": 1, "a text is part of one in validation": 1}
    assert not guard.keep("Nobody laughed. The film hasn't any plot at all costs.")  # a text with a reserved one in it
    assert guard.dropped["a text has one in test as a part"] == 1
    guard.hold_out("validation", ["Fifteen letter it!"])
    assert not guard.keep(short) and guard.dropped["a text is also in validation"] == 1


def test_texts_of_test_sets_are_known_by_their_digests(tmp_path, monkeypatch):
    # sha1 of "cats don t bark", as `printf "cats don t bark" | sha1sum` prints it
    digest = "3ea528033589a766eac85a57e5edc3d94867065a"
    path = tmp_path / "test_texts.tsv"
    path.write_text(f"corpus\tsha1\npets\t{digest}\n")
    monkeypatch.setattr(TestSetGuard, "PATH", path)
    guard, other = TestSetGuard("pets"), TestSetGuard("wild")
    assert guard.keep("Cats bark.", "Dogs don't bark.")
    assert not guard.keep("Dogs bark.", "  CATS don&#39;t\nbark! http://x.y/z #SemST")
    assert other.keep("Cats don't bark") and not other.dropped
    assert guard.dropped == {"a text is in a set that models are tested on": 1}
