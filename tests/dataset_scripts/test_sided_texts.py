"""Questions as statements; what the corpora of texts with a side hold is in `cases`."""

import pytest

from dataset_scripts.sided_texts import as_statement


@pytest.mark.parametrize(
    ("question", "statement"),  # others are in the docstring and in cases/iam.yaml
    [
        ("Does the Harbour Have More Rain?", "The Harbour has More Rain"),
        ("Do all ducks have the right to bread", "All ducks have the right to bread"),
        ("Is slow music harmful to ducks?", "Slow music is harmful to ducks"),
    ],
)
def test_a_question_as_a_statement(question, statement):
    assert as_statement(question) == statement
