"""The exact-text index: its answers, its files, and what damage does to it."""

from __future__ import annotations

import errno
import os
import random
import struct
from array import array
from pathlib import Path

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from findling.model.errors import StorageFull
from findling.model.trigram_plan import ALL, TrigramPlan, all_of, any_of, require_text, trigram_codes
from findling.reading.trigrams import file_trigrams
from findling.store import trigrams as trigrams_module
from findling.store.trigram_segment import BLOCK_BYTES, MAX_SEGMENT_BLOBS, SegmentDamaged, TrigramSegment
from findling.store.trigrams import TrigramIndex


def codes_of(data: bytes) -> set[int]:
    return set(array("I", file_trigrams(data)))


def brute_codes(data: bytes) -> set[int]:
    lowered = data.lower()
    windows = (lowered[i : i + 3] for i in range(len(lowered) - 2))
    return {int.from_bytes(w, "big") for w in windows if b"\n" not in w and b"\r" not in w}


def words(seed: int, count: int) -> list[bytes]:
    """Texts with a few words everywhere (bitmaps) and many rare ones (lists)."""
    rng = random.Random(seed)
    rare = [bytes(rng.choices(b"abcdefghijklmnop_", k=rng.randint(3, 9))) for _ in range(400)]
    common = [b"return", b"import", b"class"]
    return [b" ".join(rng.choices(rare, k=12) + rng.choices(common, k=4)) for _ in range(count)]


def build(
    directory: Path, texts: list[bytes], *, segments: int = 1, first_id: int = 0, stride: int = 1
) -> TrigramIndex:
    index = TrigramIndex(directory)
    for number, text in enumerate(texts):
        index.add(first_id + number * stride, file_trigrams(text))
        if (number + 1) % max(1, len(texts) // segments) == 0:
            index.flush()
    index.flush()
    return index


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


@pytest.mark.parametrize("segments", [1, 3])
def test_candidates_are_exactly_the_blobs_whose_trigrams_hold_the_plan(tmp_path: Path, segments: int) -> None:
    texts = words(1, 700)
    index = build(tmp_path, texts, segments=segments, first_id=5, stride=3)
    held = {5 + 3 * number: codes_of(text) for number, text in enumerate(texts)}
    rng = random.Random(2)
    pieces = [text[i : i + rng.randint(3, 12)] for text in rng.sample(texts, 60) for i in (0, 9)]
    pieces += [b"return", b"class import", b"absent!", b"imp"]
    plans = [require_text(piece) for piece in pieces]
    plans += [any_of(rng.sample(plans, 3)) for _ in range(40)] + [all_of(rng.sample(plans, 2)) for _ in range(40)]
    plans += [all_of((any_of(rng.sample(plans, 2)), any_of(rng.sample(plans, 2)))) for _ in range(40)]
    plans += [ALL, TrigramPlan("any")]
    answers = [index.candidates(plan) for plan in plans]
    assert answers == [[blob for blob, codes in held.items() if plan.holds(codes)] for plan in plans]
    assert any(answers) and not all(answers)


def test_an_index_read_by_another_process_answers_the_same(tmp_path: Path) -> None:
    texts = words(3, 300)
    writer = build(tmp_path, texts)
    reader = TrigramIndex(tmp_path)
    assert reader.candidates(require_text(b"return")) == writer.candidates(require_text(b"return"))
    assert reader.covered == frozenset(range(300))
    writer.add(900, file_trigrams(b"a new word: zzyzx"))
    assert 900 not in writer.covered and len(writer._pending) == 1
    assert writer.flush(min_files=2) == 0
    assert writer.flush() == 1
    assert reader.uncovered([0, 900]) == [900]
    reader.refresh()
    assert reader.uncovered([0, 900]) == [] and reader.candidates(require_text(b"zzyzx")) == [900]


def test_files_too_short_for_a_trigram_are_covered_and_never_candidates_of_a_text(tmp_path: Path) -> None:
    index = build(tmp_path, [b"", b"ab", b"\n\n\n\n", b"abc"])
    assert index.covered == {0, 1, 2, 3}
    assert index.candidates(require_text(b"abc")) == [3]
    assert index.candidates(ALL) == [0, 1, 2, 3]
    assert index.uncovered([7, 2, 5]) == [5, 7]


def test_a_full_buffer_is_written_by_itself(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    index = TrigramIndex(tmp_path)
    packed = file_trigrams(b"the same small text")
    for blob_id in range(MAX_SEGMENT_BLOBS + 1):
        index.add(blob_id, packed)
    assert len(index._segments) == 1 and len(index._pending) == 1
    monkeypatch.setattr(trigrams_module, "MAX_BUFFERED_BYTES", len(packed) * 10)
    for blob_id in range(20_000, 20_010):
        index.add(blob_id, packed)
    assert len(index._pending) < 10


def test_adding_a_covered_or_waiting_blob_again_changes_nothing(tmp_path: Path) -> None:
    index = build(tmp_path, [b"first text"])
    index.add(0, file_trigrams(b"second text"))
    assert len(index._pending) == 0
    index.add(1, file_trigrams(b"third text"))
    index.add(1, file_trigrams(b"fourth text"))
    index.flush()
    assert index.candidates(require_text(b"third")) == [1] and index.candidates(require_text(b"fourth")) == []


@pytest.mark.parametrize("blob_id", [-1, 1 << 32])
def test_blob_ids_outside_32_bits_are_refused(tmp_path: Path, blob_id: int) -> None:
    with pytest.raises(ValueError):
        TrigramIndex(tmp_path).add(blob_id, b"")


def test_the_largest_blob_ids_survive(tmp_path: Path) -> None:
    index = build(tmp_path, [b"alpha", b"beta"], first_id=(1 << 32) - 2)
    assert index.candidates(require_text(b"beta")) == [(1 << 32) - 1]


def test_compact_merges_small_segments_and_leaves_out_dead_blobs(tmp_path: Path) -> None:
    texts = words(4, 240)
    index = build(tmp_path, texts, segments=8)
    plans = [require_text(text[3:9]) for text in texts] + [require_text(b"return"), ALL]
    before = [index.candidates(plan) for plan in plans]
    assert len(index._segments) == 8 and index.wants_compaction
    assert index.compact() == 8
    assert len(index._segments) == 1 and not index.wants_compaction
    assert [index.candidates(plan) for plan in plans] == before
    assert len(list(tmp_path.iterdir())) == 1
    assert index.compact() == 0
    live = set(range(0, 240, 3))
    assert index.compact(live) == 1
    assert index.covered == live
    assert [index.candidates(plan) for plan in plans] == [[b for b in blobs if b in live] for blobs in before]
    assert index.compact(set()) == 1
    assert len(index._segments) == 0 and list(tmp_path.iterdir()) == []


def test_a_reader_keeps_answering_while_segments_are_merged_away(tmp_path: Path) -> None:
    writer = build(tmp_path, words(5, 100), segments=4)
    reader = TrigramIndex(tmp_path)
    expected = reader.candidates(require_text(b"import"))
    writer.compact()
    assert reader.candidates(require_text(b"import")) == expected
    reader.refresh()
    assert len(reader._segments) == 1 and reader.candidates(require_text(b"import")) == expected


def test_a_blob_in_two_segments_after_an_interrupted_merge_is_given_once(tmp_path: Path) -> None:
    writer = build(tmp_path, words(6, 60), segments=2)
    old = {path: path.read_bytes() for path in tmp_path.iterdir()}
    writer.compact()
    for path, content in old.items():
        path.write_bytes(content)
    index = TrigramIndex(tmp_path)
    assert len(index._segments) == 3
    found = index.candidates(require_text(b"return"))
    assert found == sorted(set(found)) == writer.candidates(require_text(b"return"))
    index.compact()
    assert len(index._segments) == 1 and index.candidates(require_text(b"return")) == found


def only_segment(directory: Path) -> Path:
    (path,) = directory.glob("*.tri")
    return path


@pytest.mark.parametrize("where", ["empty", "cut", "longer", "magic", "version", "tail", "text"])
def test_a_segment_damaged_outside_its_body_is_noticed_when_opened(tmp_path: Path, where: str) -> None:
    build(tmp_path, words(7, 50)).close()
    path = only_segment(tmp_path)
    content = bytearray(path.read_bytes())
    if where == "empty":
        content.clear()
    elif where == "cut":
        del content[-100:]
    elif where == "longer":
        content += b"\0"
    elif where == "magic":
        content[0] ^= 1
    elif where == "version":
        struct.pack_into("<I", content, 8, 99)
    elif where == "tail":
        content[-1] ^= 1
    else:
        content[:] = b"some text that somebody put here\n" * 40
    path.write_bytes(content)
    index = TrigramIndex(tmp_path)
    assert [*index.unusable] == [path.name] and all(index.unusable.values())
    assert index.covered == frozenset() and index.uncovered(range(50)) == list(range(50))
    for blob_id, text in enumerate(words(7, 50)):
        index.add(blob_id, file_trigrams(text))
    index.flush()
    index.compact()
    assert index.unusable == {} and index.covered == set(range(50)) and not path.exists()


def is_damaged(segment: TrigramSegment) -> bool:
    try:
        segment.verify()
    except SegmentDamaged:
        return True
    return False


def test_no_flipped_bit_ever_hides_a_match(tmp_path: Path) -> None:
    texts = words(8, 40)
    build(tmp_path, texts).close()
    path = only_segment(tmp_path)
    sound = path.read_bytes()
    plans = [require_text(b"return"), require_text(texts[7][:6]), require_text(texts[31][-8:])]
    held = [codes_of(text) for text in texts]
    truth = [{blob for blob, codes in enumerate(held) if plan.holds(codes)} for plan in plans]
    rng = random.Random(9)
    noticed = 0
    for position in sorted(rng.sample(range(len(sound)), 250)):
        content = bytearray(sound)
        content[position] ^= 1 << rng.randrange(8)
        path.write_bytes(content)
        index = TrigramIndex(tmp_path)
        for plan, expected in zip(plans, truth, strict=True):
            answer = set(index.candidates(plan))
            assert expected <= answer | set(index.uncovered(range(40)))
        noticed += bool(index.unusable) or any(map(is_damaged, index._segments.values()))
        index.close()
    assert noticed >= 225  # only the header's unused bytes are not covered by a checksum


def test_damage_found_while_searching_makes_every_blob_of_the_segment_a_candidate(tmp_path: Path) -> None:
    build(tmp_path, words(10, 60)).close()
    path = only_segment(tmp_path)
    content = bytearray(path.read_bytes())
    for position in range(64, 64 + BLOCK_BYTES * 2, 16):
        content[position] ^= 0xFF
    path.write_bytes(content)
    index = TrigramIndex(tmp_path)
    assert index.unusable == {}
    found = [index.candidates(require_text(text[:4])) for text in words(10, 60)]
    assert list(range(60)) in found
    assert ["checksum" in reason for reason in index.unusable.values()] == [True]
    assert index.uncovered(range(60)) == list(range(60))


def test_segments_of_another_store_are_not_used(tmp_path: Path) -> None:
    ours = TrigramIndex(tmp_path, b"store one")
    ours.add(1, file_trigrams(b"some words"))
    ours.flush()
    other = TrigramIndex(tmp_path, b"store two")
    assert other.covered == frozenset() and all("another store" in reason for reason in other.unusable.values())
    assert TrigramIndex(tmp_path, b"store one").covered == {1}
    with pytest.raises(ValueError):
        TrigramIndex(tmp_path, b"x" * 17)


def test_a_full_disk_keeps_the_buffer_and_leaves_no_file(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    index = build(tmp_path, [b"sound before"])
    index.add(1, file_trigrams(b"text to come"))

    def full(descriptor: int) -> None:
        raise OSError(errno.ENOSPC, os.strerror(errno.ENOSPC))

    monkeypatch.setattr(os, "fsync", full)
    with pytest.raises(StorageFull):
        index.flush()
    assert len(index._pending) == 1 and len(list(tmp_path.iterdir())) == 1
    monkeypatch.undo()
    assert index.flush() == 1 and index.candidates(require_text(b"text to")) == [1]


def test_left_over_temporary_files_are_ignored_and_swept(tmp_path: Path) -> None:
    index = build(tmp_path, [b"some text"])
    leftover = tmp_path / "0123456789abcdef.tri.tmp"
    leftover.write_bytes(b"half a segment")
    assert TrigramIndex(tmp_path).unusable == {}
    index.compact()
    assert not leftover.exists() and index.covered == {0}


@settings(max_examples=40, deadline=None)
@given(st.lists(st.binary(max_size=60), min_size=1, max_size=12), st.binary(min_size=3, max_size=6))
def test_every_blob_that_contains_a_text_is_a_candidate(
    tmp_path_factory: pytest.TempPathFactory, texts: list[bytes], wanted: bytes
) -> None:
    texts = [*texts, b"x" + wanted + b"y"]
    index = build(tmp_path_factory.mktemp("index"), texts)
    found = index.candidates(require_text(wanted))
    assert {number for number, text in enumerate(texts) if wanted.lower() in text.lower()} <= set(found)
    index.close()
