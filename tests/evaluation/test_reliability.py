"""What stated confidence is worth, how long answers take, and which queries two runs answer differently well."""

from __future__ import annotations

from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from findling.evaluation.judged import Answer, Judged, Place, load_run
from findling.evaluation.scoring import CONFIDENCE_EDGES, compare, evaluate, share
from findling.model.errors import InvalidInput


def query(number: int, path: str = "a.py") -> Judged:
    return Judged(f"q{number}", "r", f"text {number}", (Place(path, None, None),), ("kind: x",), by_file=True)


def answer(*paths: str, confidence: float | None = None, took_ms: float | None = None) -> Answer:
    return Answer(tuple(Place(path) for path in paths), None, confidence, took_ms)


def test_ranges_are_counted_by_hand() -> None:
    queries = [query(number) for number in range(5)]
    run = {
        "q0": answer("a.py", confidence=0.2),
        "q1": answer("x.py", "a.py", confidence=0.96),
        "q2": answer("a.py", confidence=1.0),
        "q3": answer("x.py", confidence=0.5),  # an edge belongs to the range above it
        "q4": answer("a.py"),  # nothing was stated
    }
    low, middle, high = evaluate(queries, run).reliability
    assert (low.low, low.high, low.queries, low.stated, low.hit1.value) == (0.0, 0.5, 1, 0.2, 1.0)
    assert (middle.low, middle.queries, middle.hit1.value, middle.hit5.value) == (0.5, 1, 0.0, 0.0)
    assert (high.low, high.high, high.queries) == (0.95, 1.0, 2)
    assert high.stated == pytest.approx(0.98) and high.hit1.value == 0.5 and high.hit5.value == 1.0


def test_an_answer_to_what_has_none_is_wrong_however_sure_it_is() -> None:
    spans = Judged("s", "r", "text", (Place("a.py", 1, 2),), (), by_file=False)
    nothing = Judged("n", "r", "text", (), (), by_file=False)
    sure = answer("a.py", confidence=0.97)
    (row,) = evaluate([spans, nothing], {"s": sure, "n": sure}).reliability
    assert (row.queries, row.hit1.value, row.hit5.value) == (2, 0.5, 0.5)


@given(st.lists(st.floats(0, 1), min_size=1, max_size=30))
def test_every_stated_confidence_is_in_one_range(stated: list[float]) -> None:
    queries = [query(number) for number in range(len(stated))]
    run = {f"q{number}": answer("a.py", confidence=value) for number, value in enumerate(stated)}
    rows = evaluate(queries, run, rounds=0).reliability
    assert sum(row.queries for row in rows) == len(stated)
    assert [row.low for row in rows] == sorted({row.low for row in rows}) and {row.low for row in rows} <= {
        *CONFIDENCE_EDGES
    }
    assert all(row.low - 1e-9 <= row.stated <= row.high + 1e-9 for row in rows)


def test_times_are_the_middle_and_what_one_in_twenty_exceeds() -> None:
    queries = [query(number) for number in range(100)]
    run = {f"q{number}": answer("a.py", took_ms=float(number + 1)) for number in range(100)}
    latency = evaluate(queries, run, rounds=0).latency
    assert latency is not None and (latency.p50_ms, latency.p95_ms) == (50.0, 95.0)
    assert evaluate(queries, {}, rounds=0).latency is None


def test_changes_are_named_greatest_first() -> None:
    queries = [query(number) for number in range(3)]
    one = {"q0": answer("a.py"), "q1": answer("x.py", "a.py"), "q2": answer("a.py")}
    other = {"q0": answer("a.py"), "q1": answer("a.py"), "q2": answer("x.py")}
    found = compare(queries, one, other)
    assert [(change.id, change.ndcg, change.other) for change in found.changes] == [
        ("q2", 1.0, 0.0),
        ("q1", pytest.approx(0.6309, abs=1e-4), 1.0),
    ]
    assert (found.better, found.equal, found.worse) == (1, 1, 1)


def test_a_share_has_an_interval_around_it() -> None:
    found = share([True] * 30 + [False] * 70)
    assert found.value == 0.3 and found.low is not None and found.high is not None
    assert 0.2 <= found.low < 0.3 < found.high <= 0.4
    assert share([]).value is None


@pytest.mark.parametrize(
    "field",
    [
        '"confidence": 1.5',
        '"confidence": "high"',
        '"took_ms": -1',
        '"took_ms": true',
        '"took_ms": 1e999',
        '"took_ms": 1' + "0" * 400,
    ],
)
def test_what_is_no_number_is_told_with_its_line(tmp_path: Path, field: str) -> None:
    run = tmp_path / "run.jsonl"
    run.write_text(f'{{"id": "q0", "results": []}}\n{{"id": "q1", "results": [], {field}}}\n')
    with pytest.raises(InvalidInput, match=r"run.jsonl line 2: (Expected `float|Number out of range).* - at `"):
        load_run(run)
