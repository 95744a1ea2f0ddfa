"""Similarity: monotone, 0 and 1 where cosines have them, and measured for the bundled model."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from findling.embedding import Fingerprint, open_embedder
from findling.embedding.bundled_files import Calibration, calibration_of

COSINES = st.floats(min_value=-1, max_value=1, allow_nan=False)


def test_the_bundled_model_is_measured_and_others_are_taken_as_they_are() -> None:
    """S0-3: the usual threshold stands where it tells questions with an answer from others (cosine 0.41)."""
    bundled = calibration_of(open_embedder().fingerprint)
    assert bundled.least_cosine(0.7) == pytest.approx(0.41, abs=0.01)
    other = calibration_of(Fingerprint("ollama", "nomic-embed-text", "1", 768))
    assert other == Calibration(1.0)
    assert other.similarity(0.42) == pytest.approx(0.42)


@given(st.floats(min_value=1, max_value=20), COSINES, COSINES)
def test_order_is_kept(exponent: float, one: float, other: float) -> None:
    calibration = Calibration(exponent)
    low, high = sorted((one, other))
    assert 0 <= calibration.similarity(low) <= calibration.similarity(high) <= 1


@given(st.floats(min_value=1, max_value=20), st.floats(min_value=0.01, max_value=1))
def test_thresholds_are_the_inverse(exponent: float, similarity: float) -> None:
    calibration = Calibration(exponent)
    assert calibration.similarity(calibration.least_cosine(similarity)) == pytest.approx(similarity, abs=1e-6)


def test_the_ends_stay() -> None:
    calibration = Calibration(3.4)
    assert (calibration.similarity(0), calibration.similarity(1), calibration.similarity(-1)) == (0, 1, 0)
    assert calibration.least_cosine(0) == -1
