"""Which rare names candidates mention: what is left out because it can turn no vote, turns none."""

from __future__ import annotations

from collections import Counter
from collections.abc import Collection

import pytest
from hypothesis import given
from hypothesis import strategies as st

from findling.model import term_rows, tokenizer
from findling.model.reading import Symbol
from findling.model.rows import NO_NAMES, DefinedNames
from findling.model.types import SYMBOL_KINDS
from findling.search.ranking.votes import EXPONENT, KINDS, MAX_DEFINERS, MIN_NAME, MIN_VOICE, name_keys, votes

NAMES = ("retryPolicy", "RetryPolicy", "retry", "retries", "Delay", "open_it", "HTTPServer2", "get", "a_b_c", "grüßen")
KIND_NAMES = ("class", "fn", "variable")

name_lists = st.lists(st.tuples(st.sampled_from(NAMES), st.sampled_from(KIND_NAMES)), max_size=5)


def named(names: list[tuple[str, str]]) -> DefinedNames:
    return DefinedNames.of([Symbol(name, kind, -1, 1, 1, 1, "", "") for name, kind in names])


def counted(names: list[tuple[str, str]]) -> list[str]:
    return [name for name, kind in names if kind in KINDS and len(name) >= MIN_NAME]


def key(name: str) -> int:
    return tokenizer.term_key(tokenizer.whole_term(name))


Candidate = tuple[float, list[tuple[str, str]], set[str], bool]

candidates = st.lists(
    st.tuples(st.floats(0.1, 1), name_lists, st.sets(st.sampled_from(NAMES)), st.booleans()), min_size=1, max_size=6
)


def contents_of(files: list[Candidate]) -> list[int]:
    """A number for each candidate's content: the same content may stand at several paths."""
    blobs: list[int] = []
    for _, _, _, as_before in files:
        blobs.append(blobs[-1] if as_before and blobs else len(blobs))
    return blobs


@given(candidates)
def test_the_votes_are_those_of_all_rare_names(files: list[Candidate]) -> None:
    voices = [voice for voice, _, _, _ in files]
    blobs = contents_of(files)
    definers = Counter(found for blob in set(blobs) for found in {key(name) for name in counted(files[blob][1])})
    said = [{key(name) for name in files[blob][2]} for blob in blobs]
    defines = [
        {found for found in map(key, counted(files[blob][1])) if definers[found] <= MAX_DEFINERS} for blob in blobs
    ]
    expected = all_pairs(voices, said, defines)

    keys = {blob: name_keys(named(files[blob][1])) for blob in blobs}
    rows = {
        blob: term_rows.unpack(term_rows.pack(dict.fromkeys(found, 1), {}))
        for blob, found in zip(blobs, said, strict=True)
    }
    assert votes(voices, blobs, keys, rows, count, 100) == pytest.approx(expected)


def all_pairs(voices: list[float], said: list[set[int]], defines: list[set[int]]) -> list[float]:
    """The votes, from each pair of a candidate that says a rare name and another that defines it."""
    received = [0.0] * len(voices)
    for voter, voice in enumerate(voices):
        pairs = [
            (key, other)
            for other, names in enumerate(defines)
            for key in names & said[voter]
            if other != voter and (voice / max(voices)) ** EXPONENT >= MIN_VOICE
        ]
        for _, other in pairs:
            received[other] += (voice / max(voices)) ** EXPONENT / len(pairs)
    return [value / max(received) for value in received] if max(received) else received


def count(keys: Collection[int]) -> dict[int, int]:
    return dict.fromkeys(keys, 2)


def test_a_name_that_three_contents_define_says_nothing() -> None:
    door = name_keys(named([("openDoor", "fn")]))
    rows = {blob: term_rows.unpack(term_rows.pack({key("openDoor"): 1}, {})) for blob in (1, 2, 3, 9)}
    for definers, expected in (
        ([1], [1, 0]),
        ([1, 2], [1, 1, 0]),
        ([1, 1, 2], [1, 1, 1, 0]),
        ([1, 2, 3], [0, 0, 0, 0]),
    ):
        blobs = [*definers, 9]
        voices = [0.1] * len(definers) + [1.0]
        votes_found = votes(voices, blobs, dict.fromkeys(definers, door), rows, count, 100)
        assert votes_found == pytest.approx(expected), definers


@given(st.lists(st.text(st.characters(blacklist_characters="\n"), min_size=MIN_NAME, max_size=80), max_size=6))
def test_keys_are_those_of_the_whole_names(names: list[str]) -> None:
    found = name_keys(named([(name, "class") for name in names]))
    assert list(found) == sorted({key(name) for name in names})


@given(st.lists(st.text("aA1_$Zz", min_size=MIN_NAME, max_size=9), max_size=6))
def test_keys_of_names_of_ascii_are_too(names: list[str]) -> None:
    found = name_keys(named([(name, "class") for name in names]))
    assert list(found) == sorted({key(name) for name in names})


def test_kinds_that_are_not_voted_for_and_short_names_have_no_keys() -> None:
    assert set(SYMBOL_KINDS) > KINDS
    assert list(name_keys(named([("long_name", "variable"), ("get", "fn"), ("gets", "fn")]))) == [key("gets")]
    assert list(name_keys(NO_NAMES)) == []
