"""How much of an answer fits a token budget."""

from __future__ import annotations

from hypothesis import given
from hypothesis import strategies as st

from findling.search.snippet import Packed, Place, estimate_tokens, pack

ORDER = ("omitted", "place", "snippet", "body")
TEXTS = st.text("ab\n", max_size=60)
PLACES = st.lists(st.builds(Place, st.text("ab", min_size=1, max_size=20), TEXTS, TEXTS), max_size=8)


def rendered(places: list[Place], packed: Packed) -> str:
    parts = []
    for place, level in zip(places, packed.levels, strict=True):
        if level == "omitted":
            continue
        parts.append(place.header)
        shown = {"place": "", "snippet": place.snippet, "body": place.body}[level]
        if shown:
            parts.append(shown)
    return "".join(f"{part}\n" for part in parts)


def fixed(header: int, snippet: int, body: int) -> Place:
    """A place whose texts, line feed included, cost so many tokens."""
    return Place("h" * (header * 4 - 1), "s" * (snippet * 4 - 1), "b" * (body * 4 - 1))


def test_a_token_is_four_characters_and_a_part_counts_whole() -> None:
    assert [estimate_tokens("x" * size) for size in (0, 1, 4, 5, 8)] == [0, 1, 1, 2, 2]


def test_places_then_snippets_then_bodies() -> None:
    places = [fixed(2, 5, 20), fixed(2, 5, 20)]
    assert pack(places, 44) == Packed(("body", "body"), "")
    assert pack(places, 43) == Packed(("body", "snippet"), "Left out to stay within 43 tokens: 1 body.")
    assert pack(places, 14) == Packed(("snippet", "snippet"), "Left out to stay within 14 tokens: 2 bodies.")
    assert pack(places, 13) == Packed(
        ("snippet", "place"), "Left out to stay within 13 tokens: 1 snippet and 2 bodies."
    )
    assert pack(places, 4) == Packed(("place", "place"), "Left out to stay within 4 tokens: 2 snippets and 2 bodies.")
    assert pack(places, 3) == Packed(
        ("place", "omitted"), "Left out to stay within 3 tokens: 1 of 2 places, 2 snippets and 2 bodies."
    )
    assert pack(places, 1).levels == ("omitted", "omitted")
    assert pack(places, 0).levels == ("omitted", "omitted")


def test_a_long_snippet_does_not_starve_the_next() -> None:
    packed = pack([fixed(1, 50, 50), fixed(1, 3, 3)], 10)
    assert packed.levels == ("place", "snippet")


def test_a_body_that_is_its_snippet_is_not_missing() -> None:
    assert pack([Place("head", "all of it", "all of it")], 100) == Packed(("snippet",), "")
    assert pack([Place("head", "", "")], 100) == Packed(("place",), "")
    assert pack([], 1) == Packed((), "")


@given(PLACES, st.integers(0, 200))
def test_the_budget_holds_and_no_place_is_missing_for_anothers_sake(places: list[Place], max_tokens: int) -> None:
    packed = pack(places, max_tokens)
    assert len(packed.levels) == len(places)
    assert estimate_tokens(rendered(places, packed)) <= max_tokens
    shown = [level != "omitted" for level in packed.levels]
    assert shown == sorted(shown, reverse=True)
    most = max((ORDER.index(level) for level in packed.levels), default=0)
    for place, level in zip(places, packed.levels, strict=True):
        if level == "omitted":
            assert most <= ORDER.index("place")
        if level == "place" and place.snippet:
            assert most <= ORDER.index("snippet")
    best = [
        "body" if place.body not in ("", place.snippet) else "snippet" if place.snippet else "place" for place in places
    ]
    assert (packed.note == "") == (list(packed.levels) == best)
    assert packed.note.count(". ") == 0


@given(PLACES, st.integers(0, 100))
def test_a_larger_budget_never_shows_fewer_places(places: list[Place], max_tokens: int) -> None:
    less, more = pack(places, max_tokens).levels, pack(places, max_tokens + 1).levels
    assert more.count("omitted") <= less.count("omitted")
