"""Footnotes of debate pages: what is taken out, and what looks alike and stays."""

from collections import Counter

import pytest

from dataset_scripts.counterargs18.footnotes import clean_paragraphs


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("Tea is hot [1] . It cools [ii], slowly [3, 4].", ["Tea is hot. It cools, slowly."]),
        (
            "Jobs came.1 More jobs2, on p.10 of No.7 in 2 , for 3 .",
            ["Jobs came. More jobs, on p.10 of No.7 in 2 , for."],
        ),
        ("Head\n\nBody.\n\n[1] Doe, 'T', 2010\n\n[2] ibid", ["Head", "Body."]),
        ("Head\n\nBody.\n\nDoe, Jane. “On Tea.” The Herald. 19/05/2011 http://a.org", ["Head", "Body."]),
        ("Head\n\nThe end. 1 Doe, J. (2009). Tea. Retrieved May 2, 2010, from Herald", ["Head", "The end."]),
        # prose stays
        ("Head\n\n(1) it is cheap\n\n(2) it is good", ["Head", "(1) it is cheap", "(2) it is good"]),
        ("[1] Doe, 'T', 2010", ["Doe, 'T', 2010"]),  # a text is never taken away altogether
    ],
)
def test_footnotes(text, expected):
    assert clean_paragraphs(text, Counter()) == expected
