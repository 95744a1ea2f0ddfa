"""Quantising: the documented bound, signs, and that "no vector" survives."""

from __future__ import annotations

import numpy as np
from hypothesis import given
from hypothesis import strategies as st
from hypothesis.extra.numpy import arrays

from findling.embedding.quantise import SCALE, dequantise, known_rows, quantise, sign_bits


@st.composite
def unit_rows(draw: st.DrawFn) -> np.ndarray:
    dimensions = draw(st.sampled_from([1, 3, 8, 64, 256]))
    count = draw(st.integers(0, 5))
    rows = draw(arrays(np.float64, (count, dimensions), elements=st.floats(-1, 1, width=32)))
    lengths = np.linalg.norm(rows, axis=1, keepdims=True)
    return np.divide(rows, lengths, out=np.zeros_like(rows), where=lengths > 0).astype(np.float32)


@given(unit_rows())
def test_errors_stay_within_the_documented_bound(rows: np.ndarray) -> None:
    stored = quantise(rows)
    error = dequantise(stored).astype(np.float64) - rows
    step = 0.5 / SCALE + 1e-6
    assert stored.dtype == np.int8 and stored.shape == rows.shape
    assert np.abs(error).max(initial=0) <= step
    assert np.linalg.norm(error, axis=1).max(initial=0) <= np.sqrt(rows.shape[1]) * step


@given(unit_rows())
def test_rows_are_zero_after_quantising_only_if_they_were(rows: np.ndarray) -> None:
    assert known_rows(quantise(rows)).tolist() == known_rows(rows).tolist()


@given(unit_rows())
def test_sign_bits_unpack_to_signs(rows: np.ndarray) -> None:
    stored = quantise(rows)
    bits = sign_bits(stored)
    assert bits.shape == (len(rows), -(-rows.shape[1] // 8))
    unpacked = np.unpackbits(bits, axis=1, count=rows.shape[1]).astype(bool)
    assert np.array_equal(unpacked, stored > 0)
    assert not (unpacked & (rows <= 0)).any()


def test_the_ends_of_the_range_are_kept() -> None:
    assert quantise(np.array([[1.0, -1.0, 0.0]], np.float32)).tolist() == [[127, -127, 0]]
    assert quantise(np.array([[1.01, -1.01]], np.float32)).tolist() == [[127, -127]]


def test_one_row_is_as_good_as_many() -> None:
    row = np.array([0.6, -0.8, 0, 0, 0, 0, 0, 0.1], np.float32)
    assert np.array_equal(sign_bits(quantise(row)), sign_bits(quantise(row[np.newaxis]))[0])
