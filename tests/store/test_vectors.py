"""Nearest neighbours against the plainest numpy."""

from __future__ import annotations

from itertools import pairwise
from pathlib import Path

import numpy as np
import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from findling.search import semantic
from findling.store import hamming

SIZES = st.tuples(st.integers(0, 60), st.sampled_from([8, 24, 64, 256]))
FROM_SEED = settings(deadline=None, suppress_health_check=[HealthCheck.function_scoped_fixture])


def unit(rng: np.random.Generator, count: int, dimensions: int) -> np.ndarray:
    rows = rng.standard_normal((count, dimensions))
    return (rows / np.linalg.norm(rows, axis=1, keepdims=True)).astype(np.float32)


def quantise(rows: np.ndarray) -> np.ndarray:
    return np.rint(rows * 127).astype(np.int8)


def sign_bits(rows: np.ndarray) -> np.ndarray:
    return np.packbits(rows > 0, axis=-1)


def rounded(query: np.ndarray) -> np.ndarray:
    return np.rint(query * np.float32(127 / float(np.abs(query).max()))).astype(np.int64)


def plain_windows(rows: np.ndarray, offsets: np.ndarray, neighbours: int) -> np.ndarray:
    sums = [
        rows[max(start, row - neighbours) : min(stop, row + neighbours + 1)].astype(np.int64).sum(axis=0)
        for start, stop in pairwise(offsets.tolist())
        for row in range(start, stop)
    ]
    return np.array(sums, np.int64).reshape(len(rows), rows.shape[1])


def plain_cosines(rows: np.ndarray, query: np.ndarray) -> np.ndarray:
    lengths = np.linalg.norm(rows, axis=1) * np.linalg.norm(query)
    return np.divide(rows @ query, lengths, out=np.zeros(len(rows)), where=lengths > 0)


@FROM_SEED
@given(seed=st.integers(0, 2**32), size=SIZES, k=st.integers(0, 70))
def test_top_by_bits_is_the_sorted_scan(seed: int, size: tuple[int, int], k: int) -> None:
    rng = np.random.default_rng(seed)
    bits = rng.integers(0, 256, (size[0], size[1] // 8), np.uint8)
    query = rng.integers(0, 256, size[1] // 8, np.uint8)
    distances = np.unpackbits(bits ^ query, axis=1).sum(axis=1)
    expected = np.argsort(distances, kind="stable").tolist()
    assert np.array_equal(hamming.hamming(bits, query), distances)
    assert hamming.top_by_bits(bits, query, k).tolist() == expected[:k]
    columns = hamming.in_columns(bits)
    assert np.array_equal(hamming.hamming(columns, query), distances)
    assert hamming.top_by_bits(columns, query, k).tolist() == expected[:k]


@FROM_SEED
@given(seed=st.integers(0, 2**32), size=SIZES)
def test_cosines_are_those_of_the_whole_numbers(seed: int, size: tuple[int, int]) -> None:
    """S4-40, S1-44."""
    rng = np.random.default_rng(seed)
    rows = rng.integers(-128, 128, size, np.int8)
    rows[::7] = 0
    query = unit(rng, 1, size[1])[0] * np.float32(3)
    found = semantic.cosines_int8(rows, query)
    assert found.dtype == np.float32
    assert np.allclose(found, plain_cosines(rows.astype(np.float64), rounded(query)), atol=1e-7)
    assert not found[::7].any()


def test_cosines_are_near_those_before_quantising() -> None:
    rng = np.random.default_rng(5)
    rows = unit(rng, 5000, 256)
    query = rows[0] + rows[1]
    error = semantic.cosines_int8(quantise(rows), query) - plain_cosines(rows.astype(np.float64), query)
    assert np.abs(error).max() < 0.015 and error.std() < 0.003


@FROM_SEED
@given(
    seed=st.integers(0, 2**32),
    sizes=st.lists(st.integers(0, 14), min_size=0, max_size=6),
    neighbours=st.sampled_from([0, 1, 4, 20]),
)
def test_windows_are_sums_within_their_file(
    monkeypatch: pytest.MonkeyPatch,
    seed: int,
    sizes: list[int],
    neighbours: int,
) -> None:
    monkeypatch.setattr(semantic, "WINDOW_NEIGHBOURS", neighbours)
    rng = np.random.default_rng(seed)
    offsets = np.cumsum([0, *sizes])
    rows = rng.integers(-127, 128, (offsets[-1], 16), np.int8)
    rows[::3] = 0
    query = unit(rng, 1, 16)[0]
    sums = plain_windows(rows, offsets, neighbours)
    expected = plain_cosines(sums.astype(np.float64), rounded(query))
    assert np.allclose(semantic.window_cosines(rows, query, offsets), expected, atol=1e-6)


def test_a_query_of_zeros_is_like_nothing() -> None:
    rows = np.ones((3, 8), np.int8)
    nothing = np.zeros(8, np.float32)
    assert semantic.cosines_int8(rows, nothing).tolist() == [0, 0, 0]
    assert semantic.window_cosines(rows, nothing, np.array([0, 3])).tolist() == [0, 0, 0]


def test_read_only_mapped_files_can_be_searched(tmp_path: Path) -> None:
    rng = np.random.default_rng(2)
    rows = quantise(unit(rng, 300, 64))
    rows.tofile(tmp_path / "rows")
    sign_bits(rows).tofile(tmp_path / "bits")
    mapped = np.memmap(tmp_path / "rows", np.int8, "r", shape=(300, 64))
    bits = np.memmap(tmp_path / "bits", np.uint8, "r", shape=(300, 8))
    query = rows[17].astype(np.float32)
    assert hamming.top_by_bits(bits, sign_bits(query), 1).tolist() == [17]
    assert semantic.cosines_int8(mapped, query).argmax() == 17
    assert semantic.cosines_int8(mapped[::2], query).tobytes() == semantic.cosines_int8(rows[::2], query).tobytes()
    assert len(semantic.window_cosines(mapped, query, np.array([0, 300]))) == 300


def test_the_exact_neighbour_is_among_the_candidates_by_bits() -> None:
    rng = np.random.default_rng(3)
    rows = unit(rng, 4000, 256)
    stored = quantise(rows)
    bits = sign_bits(stored)
    noise = unit(rng, 50, 256)
    found = 0
    for target in range(50):
        query = rows[target] + np.float32(0.7) * noise[target]
        found += target in hamming.top_by_bits(bits, sign_bits(query), 100).tolist()
    assert found == 50
