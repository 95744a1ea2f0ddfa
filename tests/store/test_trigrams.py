"""Trigrams: those of a text, and the files that the text index finds by them."""

from __future__ import annotations

import random
from array import array
from collections.abc import Sequence
from pathlib import Path

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from findling.model.trigram_plan import ALL, TrigramPlan, all_of, any_of, require_text, trigram_codes
from findling.reading.prepare import file_trigrams
from findling.store.local import fulltext
from findling.store.local.fulltext import FulltextReader, FulltextWriter
from findling.store.protocols import CHUNK_BITS, FILE_UNIT

IDENTITY = bytes(16)


def codes_of(data: bytes) -> set[int]:
    return set(array("I", file_trigrams(data)))


def brute_codes(data: bytes) -> set[int]:
    lowered = data.lower()
    windows = (lowered[i : i + 3] for i in range(len(lowered) - 2))
    return {int.from_bytes(w, "big") for w in windows if b"\n" not in w and b"\r" not in w}


def words(seed: int, count: int) -> list[bytes]:
    """Texts with a few words everywhere and many rare ones."""
    rng = random.Random(seed)
    rare = [bytes(rng.choices(b"abcdefghijklmnop_", k=rng.randint(3, 9))) for _ in range(400)]
    common = [b"return", b"import", b"class"]
    return [b" ".join(rng.choices(rare, k=12) + rng.choices(common, k=4)) for _ in range(count)]


def build(directory: Path, texts: Sequence[bytes], *, commits: int = 1) -> FulltextReader:
    """A text index in which the entries 1, 2, ... have these texts."""
    fulltext.create(directory, IDENTITY)
    writer = FulltextWriter(directory, IDENTITY, large=False)
    each = max(1, len(texts) // commits)
    for number, text in enumerate(texts, 1):
        unit = number << CHUNK_BITS
        writer.add(number, [(unit, "body of it", "context")], unit | FILE_UNIT, "a path", file_trigrams(text))
        if number % each == 0:
            writer.commit()
    writer.commit()
    writer.close()
    return FulltextReader(directory)


@given(st.binary(max_size=300))
def test_file_trigrams_are_the_sorted_unique_trigrams_of_the_lowercased_text(data: bytes) -> None:
    packed = array("I", file_trigrams(data))
    assert list(packed) == sorted(set(packed))
    assert brute_codes(data) <= set(packed)
    if data.isascii():
        assert set(packed) == brute_codes(data)


def test_letters_that_fold_to_ascii_are_indexed_both_ways() -> None:
    codes = codes_of("meſſage \u212aelvin D\u0130SK d\u0131sk".encode())
    for text in (b"message", b"kelvin", b"disk", "eſſ".encode(), "\u212ael".encode()):
        assert trigram_codes(text) <= codes


@pytest.mark.parametrize("commits", [1, 3])
def test_exactly_the_entries_whose_trigrams_hold_the_plan_are_found(tmp_path: Path, commits: int) -> None:
    texts = words(1, 700)
    index = build(tmp_path / "index", texts, commits=commits)
    held = {number: codes_of(text) for number, text in enumerate(texts, 1)}
    rng = random.Random(2)
    pieces = [text[i : i + rng.randint(3, 12)] for text in rng.sample(texts, 60) for i in (0, 9)]
    pieces += [b"return", b"class import", b"absent!", b"imp"]
    plans = [require_text(piece) for piece in pieces]
    plans += [any_of(rng.sample(plans, 3)) for _ in range(40)] + [all_of(rng.sample(plans, 2)) for _ in range(40)]
    plans += [all_of((any_of(rng.sample(plans, 2)), any_of(rng.sample(plans, 2)))) for _ in range(40)]
    plans += [ALL, TrigramPlan("any")]
    answers = [index.containing(plan) for plan in plans]
    assert answers == [{entry for entry, codes in held.items() if plan.holds(codes)} for plan in plans]
    assert any(answers) and not all(answers)


def test_files_too_short_for_a_trigram_are_never_found_by_a_text(tmp_path: Path) -> None:
    index = build(tmp_path / "index", [b"", b"ab", b"\n\n\n\n", b"abc"])
    assert index.containing(require_text(b"abc")) == {4}
    assert index.containing(ALL) == {1, 2, 3, 4}


def test_what_is_deleted_is_not_found_any_more(tmp_path: Path) -> None:
    index = build(tmp_path / "index", [b"the needle", b"a needle too"])
    writer = FulltextWriter(tmp_path / "index", IDENTITY, large=False)
    writer.delete([1])
    writer.commit()
    writer.close()
    index.reload()
    assert index.containing(require_text(b"needle")) == {2}


@settings(max_examples=40, deadline=None)
@given(st.lists(st.binary(max_size=60), min_size=1, max_size=12), st.binary(min_size=3, max_size=6))
def test_every_file_that_contains_a_text_is_found(
    tmp_path_factory: pytest.TempPathFactory, texts: list[bytes], wanted: bytes
) -> None:
    texts = [*texts, b"x" + wanted + b"y"]
    index = build(tmp_path_factory.mktemp("parent") / "index", texts)
    found = index.containing(require_text(wanted))
    assert {number for number, text in enumerate(texts, 1) if wanted.lower() in text.lower()} <= found
