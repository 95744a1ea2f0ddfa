"""When a question is asked by meaning, and how much that weighs."""

from __future__ import annotations

from typing import Any

import pytest

from findling.model.types import Gate, Query, Skip
from findling.search import gate

OPEN = Gate({"natural_language": 0.5, "error": 0.0}, sure=0.85)


@pytest.mark.parametrize(
    ("given", "intent", "confidence", "expected"),
    [
        (OPEN, "natural_language", 0.0, None),
        (OPEN, "natural_language", 0.85, "sure"),
        (OPEN, "error", 0.0, "ratio"),
        (OPEN, "symbol", 0.0, "intent"),
        (Gate({"symbol": 1.0}), "symbol", 0.99, None),
        (Gate({"symbol": 1.0}, closed=True), "symbol", 0.99, "closed"),
        (Gate({"symbol": 1.0}, sure=0.0), "symbol", 0.0, "sure"),
        (Gate({}), "path", 0.0, "intent"),
    ],
)
def test_the_first_reason_that_holds(given: Gate, intent: Any, confidence: float, expected: Skip | None) -> None:
    assert gate.skipped(given, intent, confidence) == expected


@pytest.mark.parametrize(
    ("confidence", "sure", "expected"),
    [
        (0.0, 0.85, 0.5),
        (0.55, 0.85, 0.5),
        (0.70, 0.85, 0.25),
        (0.85, 0.85, 0.0),
        (0.9, 0.85, 0.0),
        (0.3, 0.5, 0.5),
        (0.5, 0.5, 0.0),
        (0.99, 1.0, 0.5 * 0.01 / 0.45),
    ],
)
def test_the_ratio_fades_as_text_grows_sure(confidence: float, sure: float, expected: float) -> None:
    """S2-17, S2-43, S2-44."""
    given = Gate({"natural_language": 0.5}, sure)
    assert gate.ratio(given, "natural_language", confidence) == pytest.approx(expected)


@pytest.mark.parametrize(
    ("query", "expected"),
    [
        (Query("how are requests sent"), True),
        (Query("send_request"), True),
        (Query("how are requests sent", mode="keyword"), False),
        (Query("how are requests sent", gate=OPEN), True),
        (Query("send_request", gate=OPEN), False),
        (Query("how are requests sent", gate=Gate({"natural_language": 1.0}, closed=True)), False),
    ],
)
def test_vectors_are_made_only_for_a_question_that_may_need_them(query: Query, expected: bool) -> None:
    assert gate.needs_vectors(query) is expected
