"""Four bits a dimension: signs and zero rows are kept, cosines move little, sums are of one unit."""

from __future__ import annotations

import numpy as np
import pytest
from numpy.typing import NDArray

from findling.model import vector_codes
from findling.model.reading import row_bytes
from findling.search import semantic

DIMENSIONS = 256


@pytest.fixture
def unit_rows() -> NDArray[np.float32]:
    rows = np.random.default_rng(7).standard_normal((400, DIMENSIONS)).astype(np.float32)
    unit: NDArray[np.float32] = rows / np.linalg.norm(rows, axis=1, keepdims=True)
    return unit


def test_a_row_takes_half_a_byte_a_dimension(unit_rows: NDArray[np.float32]) -> None:
    packed = vector_codes.encode(unit_rows)
    assert packed.shape == (400, row_bytes(DIMENSIONS))
    assert vector_codes.decode(packed.tobytes(), DIMENSIONS).shape == unit_rows.shape


def test_cosines_move_as_little_as_the_documentation_says(unit_rows: NDArray[np.float32]) -> None:
    decoded = vector_codes.decode(vector_codes.encode(unit_rows).tobytes(), DIMENSIONS).astype(np.float64)
    queries = unit_rows[:20].astype(np.float64)
    true = unit_rows.astype(np.float64) @ queries.T
    kept = decoded @ queries.T / np.linalg.norm(decoded, axis=1, keepdims=True)
    assert np.abs(np.diag(kept[:20]) - 1).max() < 0.01
    apart = ~np.eye(400, 20, dtype=bool)
    assert np.std((kept - true)[apart]) < 0.0075
    assert np.abs((decoded**2).sum(axis=1) / (decoded**2).sum(axis=1).mean() - 1).max() < 0.12


def test_signs_survive_and_so_do_rows_without_a_vector(unit_rows: NDArray[np.float32]) -> None:
    unit_rows[3] = 0
    decoded = vector_codes.decode(vector_codes.encode(unit_rows).tobytes(), DIMENSIONS)
    assert not decoded[3].any()
    known = np.delete(np.arange(400), 3)
    assert ((decoded[known] >= 0) == (unit_rows[known] >= 0)).all()
    assert semantic.cosines_int8(decoded, unit_rows[0])[3] == 0


def test_data_of_another_length_is_refused() -> None:
    with pytest.raises(ValueError, match="reshape"):
        vector_codes.decode(b"x" * 129, DIMENSIONS)


def test_numbers_beyond_the_outermost_level_are_the_outermost_level() -> None:
    row = np.zeros((1, DIMENSIONS), np.float32)
    row[0, 0], row[0, 1] = np.float32(0.8), np.float32(-0.6)
    decoded = vector_codes.decode(vector_codes.encode(row).tobytes(), DIMENSIONS)
    assert decoded[0, 0] == 127
    assert decoded[0, 1] == -127


def test_sign_bits_are_those_of_the_decoded_rows() -> None:
    rows = np.random.default_rng(5).normal(size=(40, 64)).astype(np.float32)
    rows[3] = -np.abs(rows[3])
    rows /= np.linalg.norm(rows, axis=1, keepdims=True)
    rows[7] = 0
    data = vector_codes.encode(rows).tobytes()
    wanted = np.packbits(vector_codes.decode(data, 64) >= 0, axis=1)
    assert np.array_equal(vector_codes.sign_bits(data, 64), wanted)
