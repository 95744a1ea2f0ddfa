"""Words and phrases of a query in a document: what is found, counted and shown."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from findling.search.text_matches import EXCERPT_CHARS, Matches, find, items

TEXT = """\
# Retry policy

We retry failed requests. The multi-agent runner retries.
Use --force; set semantic.enabled: true.
Nothing in `retry_policy` or C++ here. An exact phrase
spans lines. 日本語の文章です
"""


def matches(query: str, text: str = TEXT, *, case_sensitive: bool = False) -> Matches | None:
    return find(items(query, case_sensitive=case_sensitive), text, 0, len(text))


@pytest.mark.parametrize(
    ("query", "count", "line"),
    [
        ("retry", 4, 3),
        ("retries policy", 6, 1),
        ("the multi agent", 2, 3),
        ("multi-agent", 1, 3),
        ("multiAgent", 0, 0),
        ("semantic.enabled", 1, 4),
        ("--force", 1, 4),
        ("-force", 1, 4),
        ("C++", 1, 5),
        ("retry_policy", 2, 1),
        ('"exact phrase"', 1, 5),
        ('"exact phrase spans"', 1, 5),
        ('"phrase exact"', 0, 0),
        ("日本", 1, 6),
        ("xylophone", 0, 0),
    ],
)
def test_every_occurrence_counts(query: str, count: int, line: int) -> None:
    found = matches(query)
    assert (found.count if found else 0, found.line if found else 0) == (count, line)


def test_case_and_form_count_when_asked() -> None:
    found = matches("Retry", case_sensitive=True)
    assert found is not None and (found.count, found.line) == (1, 1)
    assert matches("RETRY", case_sensitive=True) is None


def test_a_phrase_must_be_there_and_words_need_not() -> None:
    assert matches('"not there" retry') is None
    found = matches("retry xylophone")
    assert found is not None and found.share == 0.5


def test_words_without_meaning_are_left_out_where_others_have_some() -> None:
    assert len(items("how to retry the request")) == 2
    assert len(items("what is the")) == 3


def test_only_the_given_part_is_searched() -> None:
    start = TEXT.index("We retry")
    found = find(items("policy"), TEXT, start, len(TEXT))
    assert found is not None and (found.count, found.line) == (1, 5)
    assert find(items("spans"), TEXT, 0, start) is None


def test_an_excerpt_is_short_and_cut_between_words() -> None:
    line = f"{'before ' * 60}needle {'after ' * 60}"
    found = matches("needle", f"# Title\n\n{line}\n")
    assert found is not None
    assert "needle" in found.excerpt
    assert len(found.excerpt) <= EXCERPT_CHARS
    assert found.excerpt.startswith("...before") and found.excerpt.endswith("after...")


def test_no_query_takes_for_ever() -> None:
    """Each of these would, if what stands between the parts of a word could be shared out in more than one way."""
    text = "_" * 50_000 + "a" * 50_000 + " a_b" * 10_000
    there = {"a.b." * 2000: True}
    for query in (*there, "_.".join("_" for _ in range(2000)), "a" * 9_000, '"' * 5_000, "a-" * 3_000 + "!"):
        assert (find(items(query), text, 0, len(text)) is not None) is there.get(query, False)


@given(st.text(max_size=60), st.text(max_size=300))
def test_any_query_on_any_text(query: str, text: str) -> None:
    found = matches(query, text)
    if found is not None:
        assert found.count >= 1 and 0 < found.share <= 1
        assert 1 <= found.line <= text.count("\n") + 1
        assert len(found.excerpt) <= EXCERPT_CHARS


@given(st.lists(st.sampled_from(["alpha", "beta", "gamma"]), min_size=1, max_size=30))
def test_counts_are_true(words: list[str]) -> None:
    found = matches("alpha", " ".join(words))
    assert (found.count if found else 0) == words.count("alpha")
