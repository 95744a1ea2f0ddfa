"""Which sentences are questions, and what is left of them."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from findling.evaluation.from_history import folded, of_comment, of_subject


@pytest.mark.parametrize(
    ("subject", "question"),
    [
        ("fix(parser): keep empty lines between tokens (#812)", "keep empty lines between tokens"),
        ("[limits] Refuse bursts of requests. Fixes #9", "Refuse bursts of requests"),
        ("NET-77: reconnect after the server goes away", "reconnect after the server goes away"),
        ("Draw borders of panes, from somebody. GitHub issue 1125", "Draw borders of panes, from somebody"),
        ("Merge branch 'main' into feature", None),
        ('Revert "Refuse bursts of requests"', None),
        ("fixup! Refuse bursts of requests", None),
        ("Bump serde from 1.0.1 to 1.0.2 in /fuzz", None),
        ("v2.1.0 with new features and fixes", None),
        ("chore(deps): update dependency eslint to v9", None),
        ("Fix typo in the guide about retries", None),
        ("build(deps): dependabot wants newer things everywhere", None),
        ("Draw the borders (fixes #3, see a/b#4; GH-5) of all panes", "Draw the borders of all panes"),
        ("wip", None),
        ("Fix it", None),
        ("x" * 400, None),
        ("Print a bell \x07 when the work is done", None),
    ],
)
def test_subjects(subject: str, question: str | None) -> None:
    assert of_subject(subject) == question


@pytest.mark.parametrize("piece", ["#1      ", "#111a/b", "fixa/b#1", "#1 ::  "])
def test_no_subject_takes_for_ever(piece: str) -> None:
    """Read in all the ways there are, such a list takes longer than anybody lives."""
    assert of_subject("Draw (" + piece * 60 + "x") == of_subject("Draw (" + piece * 600 + "x") is None


def test_of_a_text_without_an_end_only_the_beginning_is_looked_at() -> None:
    assert of_comment("Counts the boats that lie in the harbour. " + "a(" * 200_000, "count") == (
        "Counts the boats that lie in the harbour"
    )
    assert of_comment("a(" * 200_000, "count") is None
    abbreviated = "Finds the berth of a boat, e.g. the one behind a mole vs. the one that i.e. lies open"
    assert of_comment(f"{abbreviated}. And so on.", "find_it") == abbreviated
    assert of_subject("a" + " " * 200_000 + "b") is None


@pytest.mark.parametrize(
    ("doc", "name", "question"),
    [
        ("Parse reads one number from the text. It stops at letters.", "Parse", "reads one number from the text"),
        (
            "Counts {@link Boat boats} lying in `harbour` tonight.",
            "count",
            "Counts Boat boats lying in harbour tonight",
        ),
        ("Asks :meth:`Pool.take` for a free connection. More.", "ask", "Asks Pool.take for a free connection"),
        ("The TokenBucket lets short bursts of requests through.", "TokenBucket", None),
        ("Read a file of settings line by line.", "read", "Read a file of settings line by line"),
        ("Deprecated: use something newer for numbers.", "old", None),
        ("TODO make this faster for large files", "f", None),
        ("if (a > b) { return c; }", "f", None),
        ("Returns it.", "f", None),
        ("@inheritDoc of the interface that stands above", "f", None),
    ],
)
def test_comments(doc: str, name: str, question: str | None) -> None:
    assert of_comment(doc, name) == question


@given(st.text(max_size=400), st.text(min_size=1, max_size=20))
def test_any_text_is_a_question_or_none(text: str, name: str) -> None:
    for question in (of_subject(text), of_comment(text, name)):
        assert question is None or (
            question.isprintable() and question == " ".join(question.split()) and len(question) <= 300
        )


@given(st.text(max_size=100))
def test_folding_twice_is_folding_once(text: str) -> None:
    assert folded(folded(text)) == folded(text)


def test_a_sentence_is_the_same_under_any_markers() -> None:
    assert folded("/** Counts the\n * boats, tonight! */") == folded("# Counts the boats\n# tonight")
