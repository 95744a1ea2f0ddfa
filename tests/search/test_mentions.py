"""Which rare names candidates mention: what is left out because it can turn no vote, turns none."""

from __future__ import annotations

from collections.abc import Collection

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from findling import tokenizer
from findling.search.ranking import mention_arrays, mentions
from findling.search.ranking.votes import KINDS, MAX_DEFINERS, MIN_NAME, voters, votes
from findling.store import symbol_rows, term_rows
from findling.store.symbol_rows import DefinedNames
from findling.types import SYMBOL_KINDS

NAMES = ("retryPolicy", "RetryPolicy", "retry", "retries", "Delay", "open_it", "HTTPServer2", "get", "a_b_c", "grüßen")
KIND_NAMES = ("class", "fn", "variable")

name_lists = st.lists(st.tuples(st.sampled_from(NAMES), st.sampled_from(KIND_NAMES)), max_size=5)


def named(names: list[tuple[str, str]]) -> DefinedNames:
    rows = [(name, kind, -1, 1, 1, 1, "", "") for name, kind in names]
    return symbol_rows.named(symbol_rows.pack(rows))


def counted(names: list[tuple[str, str]]) -> list[str]:
    return [name for name, kind in names if kind in KINDS and len(name) >= MIN_NAME]


def key(name: str) -> int:
    return tokenizer.term_key(tokenizer.whole_term(name))


@given(
    st.lists(st.tuples(st.floats(0.1, 1), name_lists, st.sets(st.sampled_from(NAMES))), min_size=1, max_size=6),
    st.dictionaries(st.sampled_from(NAMES), st.integers(0, 3)),
)
def test_the_votes_are_those_of_all_rare_names(
    files: list[tuple[float, list[tuple[str, str]], set[str]]], elsewhere: dict[str, int]
) -> None:
    voices = [voice for voice, _, _ in files]
    definers = {tokenizer.squash(name): count for name, count in elsewhere.items()}
    for _, names, _ in files:
        for squashed in {tokenizer.squash(name) for name, _ in names}:
            definers[squashed] = definers.get(squashed, 0) + 1
    said = [{key(name) for name in used} | {key(name) for name, _ in names} for _, names, used in files]
    defines = [
        {key(name) for name in counted(names) if definers[tokenizer.squash(name)] <= MAX_DEFINERS}
        for _, names, _ in files
    ]
    expected = votes(voices, said.__getitem__, defines, count, 100)

    blobs = list(range(len(files)))
    by_blob = {blob: named(names) for blob, (_, names, _) in enumerate(files) if names}
    found_said, found_defines = mentions.rare_mentions(
        voters(voices),
        blobs,
        by_blob,
        {blob: mentions.name_keys(names) for blob, names in by_blob.items()},
        {blob: term_rows.unpack(term_rows.pack(dict.fromkeys(keys, 1), {})) for blob, keys in enumerate(said)},
        lambda names, _: {name: definers.get(name, 0) for name in names},
    )
    assert votes(voices, found_said.__getitem__, found_defines, count, 100) == pytest.approx(expected)


def count(keys: Collection[int]) -> dict[int, int]:
    return dict.fromkeys(keys, 2)


def test_only_names_that_another_candidate_mentions_are_looked_up() -> None:
    asked: list[str] = []

    def definition_counts(names: Collection[str], most: int) -> dict[str, int]:
        asked.extend(names)
        return dict.fromkeys(names, 1)

    first, second = named([("openDoor", "fn"), ("closeDoor", "fn")]), named([("hinge", "class")])
    rows = {
        1: term_rows.pack({key("openDoor"): 1, key("closeDoor"): 1}, {}),
        2: term_rows.pack({key("openDoor"): 1, key("hinge"): 1}, {}),
    }
    said, defines = mentions.rare_mentions(
        [0, 1],
        [1, 2],
        {1: first, 2: second},
        {1: mentions.name_keys(first), 2: mentions.name_keys(second)},
        {blob: term_rows.unpack(row) for blob, row in rows.items()},
        definition_counts,
    )
    assert asked == ["opendoor"]
    assert defines == [{key("openDoor")}, set()]
    assert key("openDoor") in said[1]


@given(st.lists(st.text(st.characters(blacklist_characters="\n"), min_size=MIN_NAME, max_size=80), max_size=6))
def test_keys_are_those_of_the_whole_names(names: list[str]) -> None:
    found = mentions.name_keys(named([(name, "class") for name in names]))
    assert list(found) == [key(name) for name in names]


@given(st.lists(st.text("aA1_$Zz", min_size=MIN_NAME, max_size=9), max_size=6))
def test_keys_of_names_of_ascii_are_too(names: list[str]) -> None:
    found = mentions.name_keys(named([(name, "class") for name in names]))
    assert list(found) == [key(name) for name in names]


def test_kinds_that_are_not_voted_for_and_short_names_have_no_keys() -> None:
    assert set(SYMBOL_KINDS) > KINDS
    assert list(mentions.name_keys(named([("long_name", "variable"), ("get", "fn"), ("gets", "fn")]))) == [key("gets")]
    assert list(mentions.name_keys(DefinedNames("", b""))) == []


@given(
    st.lists(
        st.tuples(st.floats(0.1, 1), name_lists, st.sets(st.sampled_from(NAMES)), st.booleans()), min_size=1, max_size=6
    ),
    st.dictionaries(st.sampled_from(NAMES), st.integers(0, 3)),
)
def test_arrays_give_the_same_votes(
    files: list[tuple[float, list[tuple[str, str]], set[str], bool]], elsewhere: dict[str, int]
) -> None:
    voices = [voice for voice, _, _, _ in files]
    definers = {tokenizer.squash(name): count for name, count in elsewhere.items()}
    blobs: list[int] = []
    for _, _, _, as_before in files:  # the same content may stand at several paths
        blobs.append(blobs[-1] if as_before and blobs else len(blobs))
    by_blob = {blob: named(files[blob][1]) for blob in set(blobs) if files[blob][1]}
    said = [{key(name) for name in files[blob][2]} for blob in blobs]
    rows = {
        blob: term_rows.unpack(term_rows.pack(dict.fromkeys(keys, 1), {}))
        for blob, keys in zip(blobs, said, strict=True)
    }

    def definition_counts(names: Collection[str], _: int) -> dict[str, int]:
        return {name: definers.get(name, 0) for name in names}

    keys = {blob: mentions.name_keys(names) for blob, names in by_blob.items()}
    found, defines = mentions.rare_mentions(voters(voices), blobs, by_blob, keys, rows, definition_counts)
    words = {blob: mention_arrays.name_words(names) for blob, names in by_blob.items()}
    known = mention_arrays.KnownNames()

    def counts_of_new(names: Collection[str], most: int) -> dict[str, int]:
        assert not asked.intersection(names), "a name is asked for once"
        asked.update(names)
        return definition_counts(names, most)

    asked: set[str] = set()
    expected = votes(voices, found.__getitem__, defines, count, 100)
    for _ in range(2):
        received = mention_arrays.received(voices, blobs, by_blob, words, rows, known, counts_of_new, count, 100)
        assert received == pytest.approx(expected)
    assert len(known) == len(asked)


def test_names_that_are_known_are_added_to() -> None:
    known = mention_arrays.KnownNames()
    known.add(np.array([7, 3], np.uint64), np.array([True, False]))
    known.add(np.array([5], np.uint64), np.array([True]))
    is_known, rare = known.look_up(np.array([1, 3, 5, 6, 7, 9], np.uint64))
    assert is_known.tolist() == [False, True, True, False, True, False]
    assert rare.tolist() == [False, False, True, False, True, False]
