"""The scorer against scores worked out by hand."""

from __future__ import annotations

import json
import math
import sys
from pathlib import Path
from typing import Any

import pytest

sys.path.insert(0, str(Path(__file__).parents[2] / "benchmarks"))

import ndcg

SECOND = 1 / math.log2(3)
THIRD = 1 / math.log2(4)


def result(path: str, start: int | None = None, end: int | None = None) -> ndcg.Result:
    return ndcg.Result(path, start, end)


def by_file(*targets: ndcg.Target, repo: str = "r", name: str = "q") -> ndcg.Judged:
    return ndcg.Judged(name, repo, "text", targets, ("kind: semantic",), by_file=True)


def by_span(*targets: ndcg.Target, repo: str = "r", name: str = "q") -> ndcg.Judged:
    return ndcg.Judged(name, repo, "text", targets, ("set: docs",), by_file=False)


A, B = ndcg.Target("src/a.py", None, None), ndcg.Target("src/b.py", 10, 20)


@pytest.mark.parametrize(
    ("query", "results", "expected"),
    [
        (by_file(A), [result("src/a.py")], 1.0),
        (by_file(A), [result("x.py"), result("src/a.py", 1, 2)], SECOND),
        (by_file(A), [result("a.py")], 1.0),
        (by_file(A), [result("lib/src/a.py")], 1.0),
        (by_file(A), [result("src/aa.py"), result("rc/a.py")], 0.0),
        (by_file(A, B), [result("src/a.py"), result("src/b.py", 15, 30)], 1.0),
        (by_file(A, B), [result("src/b.py", 21, 30), result("src/a.py"), result("src/b.py", 1, 10)], None),
        (by_file(A), [result("x.py")] * 10 + [result("src/a.py")], 0.0),
        (by_file(A), [], 0.0),
        (by_span(B), [result("src/b.py", 20, 40)], 1.0),
        (by_span(B), [result("lib/src/b.py", 10, 20)], 0.0),
        (by_span(B), [result("./src/b.py", 10, 20)], 0.0),
        (by_span(B), [result("src/b.py", 21, 22), result("src/b.py", 1, 9), result("src/b.py")], THIRD),
    ],
)
def test_ndcg_of_one_query(query: ndcg.Judged, results: list[ndcg.Result], expected: float | None) -> None:
    if expected is None:
        expected = (SECOND + THIRD) / (1 + SECOND)
    assert ndcg.score(query, ndcg.Answer(tuple(results))).ndcg == pytest.approx(expected)


def test_a_repeated_hit_gains_nothing_and_uses_up_a_rank() -> None:
    other = ndcg.Target("src/b.py", 50, 60)
    results = (result("src/b.py", 10, 12), result("src/b.py", 14, 16), result("src/b.py", 55, 55))
    found = ndcg.score(by_span(B, other), ndcg.Answer(results))
    assert found.ndcg == pytest.approx((1 + THIRD) / (1 + SECOND))
    assert (found.recall, found.mrr, found.first) == (1.0, 1.0, 1)


def test_two_targets_under_one_result_give_one_gain() -> None:
    near = ndcg.Target("src/b.py", 22, 30)
    found = ndcg.score(by_span(B, near), ndcg.Answer((result("src/b.py", 1, 99),)))
    assert found.ndcg == pytest.approx(1 / (1 + SECOND))
    assert found.recall == 1.0


def test_the_headline_of_files_is_the_mean_over_repositories() -> None:
    queries = [by_file(A, repo="one", name="1"), by_file(A, repo="two", name="2"), by_file(A, repo="two", name="3")]
    run = {"1": ndcg.Answer((result("src/a.py"),)), "2": ndcg.Answer((result("x"), result("src/a.py")))}
    report = ndcg.evaluate(queries, run, rounds=50)
    assert report["all"]["ndcg"] == pytest.approx((1 + SECOND / 2) / 2)
    assert report["without_a_line"] == 1
    assert report["all"]["low"] <= report["all"]["ndcg"] <= report["all"]["high"]
    assert report["repositories"]["two"]["ndcg"] == pytest.approx(SECOND / 2)


def test_the_headline_of_spans_is_the_mean_over_queries() -> None:
    queries = [by_span(B, repo="one", name="1"), by_span(B, repo="two", name="2"), by_span(B, repo="two", name="3")]
    run = {"1": ndcg.Answer((result("src/b.py", 10, 10),))}
    assert ndcg.evaluate(queries, run, rounds=10)["all"]["ndcg"] == pytest.approx(1 / 3)


def test_flags_are_judged_against_answered_and_unanswerable_queries() -> None:
    hit = (result("src/b.py", 10, 10),)
    queries = [by_span(name="none1"), by_span(name="none2"), by_span(B, name="good"), by_span(B, name="bad")]
    run = {
        "none1": ndcg.Answer(hit, low_confidence=True),
        "none2": ndcg.Answer(hit, low_confidence=False),
        "good": ndcg.Answer(hit, low_confidence=True),
        "bad": ndcg.Answer((), low_confidence=True),
    }
    report = ndcg.evaluate(queries, run, rounds=10)
    assert report["all"]["queries"] == 2
    assert report["low_confidence"] == {"no_answer": 2, "recall": 0.5, "false_alarm": 1.0, "precision": 0.5}


def test_a_comparison_is_made_query_by_query() -> None:
    queries = [by_file(A, name=str(number)) for number in range(4)]
    good, bad = ndcg.Answer((result("src/a.py"),)), ndcg.Answer((result("x"), result("src/a.py")))
    run = {"0": good, "1": good, "2": bad, "3": bad}
    other = {"0": bad, "1": bad, "2": good, "3": bad}
    found = ndcg.compare(queries, run, other, rounds=200)
    assert found["difference"] == pytest.approx((1 - SECOND) / 4)
    assert (found["better"], found["equal"], found["worse"]) == (2, 1, 1)
    assert found["low"] < found["difference"] < found["high"]
    same = ndcg.compare(queries, run, run, rounds=50)
    assert (same["difference"], same["low"], same["high"]) == (0, 0, 0)


def test_both_kinds_of_files_are_read(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    public: dict[str, Any] = {
        "query_id": "r#0",
        "repo": "r",
        "query": "q",
        "category": "symbol",
        "language": "go",
        "relevant": [{"path": "a.go", "start_line": None, "end_line": None}],
    }
    own: dict[str, Any] = {
        "id": "r#1",
        "repo": "r",
        "query": "q",
        "set": "docs",
        "kind": "de",
        "relevant": [{"path": "a.md", "start_line": 3, "end_line": 4}],
    }
    lines = [
        {"query_id": "r#0", "id": "r#0", "results": [{"path": "a.go", "start_line": 1, "end_line": 2, "score": 1.0}]},
        {"id": "r#1", "results": [{"path": "a.md", "start_line": 4, "end_line": 9}], "low_confidence": False},
    ]
    run = tmp_path / "run.jsonl"
    run.write_text("\n".join(map(json.dumps, lines)))
    for query, group in ((public, "kind: symbol"), (own, "kind: docs/de")):
        path = tmp_path / "queries.jsonl"
        path.write_text(json.dumps(query) + "\n")
        out = tmp_path / "out.json"
        assert ndcg.main([str(path), str(run), "--against", str(run), "--rounds", "20", "--json", str(out)]) == 0
        report = json.loads(out.read_text())
        assert report["groups"][group]["ndcg"] == 1.0
        assert report["against"]["equal"] == 1
        assert f"| {group} | 1 | 1.0000 |" in capsys.readouterr().out
