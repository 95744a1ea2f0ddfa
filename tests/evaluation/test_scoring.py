"""The scores against scores worked out by hand, and against the judges' own scorers where these are at hand."""

from __future__ import annotations

import json
import math
import os
import random
import subprocess
import sys
from pathlib import Path
from typing import Any

import pytest

from findling.evaluation.judged import Answer, Judged, Place, load_queries, load_run
from findling.evaluation.scoring import compare, evaluate, score
from findling.model.reports import Evaluation, Scores

SECOND = 1 / math.log2(3)
THIRD = 1 / math.log2(4)

BENCH = os.environ.get("FINDLING_BENCH", "")


def by_file(*targets: Place, repo: str = "r", name: str = "q") -> Judged:
    return Judged(name, repo, "text", targets, ("kind: semantic",), by_file=True)


def by_span(*targets: Place, repo: str = "r", name: str = "q") -> Judged:
    return Judged(name, repo, "text", targets, ("set: docs",), by_file=False)


A, B = Place("src/a.py", None, None), Place("src/b.py", 10, 20)


@pytest.mark.parametrize(
    ("query", "results", "expected"),
    [
        (by_file(A), [Place("src/a.py")], 1.0),
        (by_file(A), [Place("x.py"), Place("src/a.py", 1, 2)], SECOND),
        (by_file(A), [Place("a.py")], 1.0),
        (by_file(A), [Place("lib/src/a.py")], 1.0),
        (by_file(A), [Place("ba.py")], 0.0),
        (by_file(A), [Place(f"{n}.py") for n in range(10)] + [Place("src/a.py")], 0.0),
        (by_file(B), [Place("src/b.py", 21, 30)], 0.0),
        (by_file(B), [Place("src/b.py")], 1.0),
        (by_file(B), [Place("src/b.py", 20)], 1.0),
        (by_file(A, B), [Place("src/b.py", 1, 99)], 1 / (1 + SECOND)),
        (by_file(), [Place("src/a.py")], 0.0),
        (by_span(B), [Place("b.py", 10, 20)], 0.0),
        (by_span(B), [Place("src/b.py", 20, 25)], 1.0),
        (by_span(B), [Place("x.md", 1, 2), Place("y.md", 1, 2), Place("src/b.py", 5, 10)], THIRD),
        (by_span(B), [], 0.0),
        (by_span(B), None, 0.0),
    ],
)
def test_ndcg_of_one_query(query: Judged, results: list[Place] | None, expected: float) -> None:
    answer = None if results is None else Answer(tuple(results))
    assert score(query, answer).ndcg == pytest.approx(expected)


def test_a_repeated_hit_gains_nothing_and_uses_up_a_rank() -> None:
    other = Place("src/b.py", 50, 60)
    results = (Place("src/b.py", 10, 12), Place("src/b.py", 14, 16), Place("src/b.py", 55, 55))
    found = score(by_span(B, other), Answer(results))
    assert found.ndcg == pytest.approx((1 + THIRD) / (1 + SECOND))
    assert (found.recall, found.mrr, found.first, found.file_ndcg) == (1.0, 1.0, 1, 1.0)


def test_two_targets_under_one_result_give_one_gain() -> None:
    near = Place("src/b.py", 22, 30)
    found = score(by_span(B, near), Answer((Place("src/b.py", 1, 99),)))
    assert found.ndcg == pytest.approx(1 / (1 + SECOND))
    assert found.recall == 1.0


def test_files_are_counted_once_before_the_list_is_cut() -> None:
    repeated = [Place("x.py", line, line) for line in range(1, 12)]
    found = score(by_span(B), Answer((*repeated, Place("src/b.py", 1, 1))))
    assert (found.ndcg, found.file_ndcg) == (0.0, pytest.approx(SECOND))


def test_the_headline_of_files_is_the_mean_over_repositories() -> None:
    queries = [by_file(A, repo="one", name="1"), by_file(A, repo="two", name="2"), by_file(A, repo="two", name="3")]
    run = {"1": Answer((Place("src/a.py"),)), "2": Answer((Place("x"), Place("src/a.py")))}
    report = evaluate(queries, run, rounds=50)
    assert report.rule == "files"
    assert report.all.ndcg.value == pytest.approx((1 + SECOND / 2) / 2)
    assert report.all.mrr.value == pytest.approx((1 + 0.5 / 2) / 2)
    assert report.all.recall.value == pytest.approx((1 + 1 / 2) / 2)
    assert report.without_a_line == 1
    assert report.repositories["two"].ndcg.value == pytest.approx(SECOND / 2)
    # One query of the first repository never changes; of the second both, one or none may be the answered one.
    assert report.all.ndcg.low == pytest.approx(1 / 2)
    assert report.all.ndcg.high == pytest.approx((1 + SECOND) / 2)


def test_the_headline_of_spans_is_the_mean_over_queries() -> None:
    queries = [by_span(B, repo="one", name="1"), by_span(B, repo="two", name="2"), by_span(B, repo="two", name="3")]
    report = evaluate(queries, {"1": Answer((Place("src/b.py", 10, 10),))}, rounds=10)
    assert report.rule == "spans"
    assert report.all.ndcg.value == pytest.approx(1 / 3)


def test_one_query_has_no_interval_and_none_no_mean() -> None:
    alone = evaluate([by_span(B)], {}).all
    assert (alone.ndcg.value, alone.ndcg.low, alone.ndcg.high) == (0.0, None, None)
    nothing = evaluate([by_span()], {}).all
    assert (nothing.queries, nothing.ndcg.value) == (0, None)


def test_flags_are_judged_against_answered_and_unanswerable_queries() -> None:
    hit = (Place("src/b.py", 10, 10),)
    queries = [by_span(name="none1"), by_span(name="none2"), by_span(B, name="good"), by_span(B, name="bad")]
    run = {
        "none1": Answer(hit, low_confidence=True),
        "none2": Answer(hit, low_confidence=False),
        "good": Answer(hit, low_confidence=True),
        "bad": Answer((), low_confidence=True),
    }
    report = evaluate(queries, run, rounds=10)
    assert report.all.queries == 2
    assert report.flag is not None
    assert (report.flag.no_answer, report.flag.answered) == (2, 1)
    assert (report.flag.recall.value, report.flag.false_alarm.value, report.flag.precision) == (0.5, 1.0, 0.5)


def test_a_comparison_is_made_query_by_query() -> None:
    queries = [by_file(A, name=str(number)) for number in range(4)]
    good, bad = Answer((Place("src/a.py"),)), Answer((Place("x"), Place("src/a.py")))
    run = {"0": good, "1": good, "2": bad, "3": bad}
    other = {"0": bad, "1": bad, "2": good, "3": bad}
    found = compare(queries, run, other, rounds=200)
    assert found.difference.value == pytest.approx((1 - SECOND) / 4)
    assert (found.better, found.equal, found.worse) == (2, 1, 1)
    assert found.difference.low is not None and found.difference.high is not None
    assert found.difference.low < (1 - SECOND) / 4 < found.difference.high
    same = compare(queries, run, run, rounds=50).difference
    assert (same.value, same.low, same.high) == (0, 0, 0)


# --- the judges' own scorers --------------------------------------------------------------------------------------

needs_bench = pytest.mark.skipif(
    not BENCH, reason="set FINDLING_BENCH to the folder with score.py, score_own.py and their queries"
)


def made_up_run(queries: list[Judged], path: Path) -> None:
    """Answers good and bad: right files at random ranks, their lines or others, repeated, and some missing."""
    draw = random.Random(3)
    with path.open("w") as file:
        for query in queries:
            if draw.random() < 0.05:
                continue
            found: list[dict[str, Any]] = [
                {"path": f"other/{number}.py", "start_line": 1, "end_line": 9, "score": 0.1} for number in range(15)
            ]
            for target in query.targets:
                start = (target.start_line or 1) + draw.choice([-40, -3, 0, 1, 2, 60])
                place = {"path": draw.choice(["", "./"]) + target.path, "start_line": start, "end_line": start + 5}
                place |= draw.choice([{}, {}, {"start_line": None, "end_line": None}, {"end_line": None}])
                for _ in range(draw.choice([0, 1, 1, 2])):
                    found.insert(draw.randrange(len(found)), place)
            low = draw.choice([True, False])
            line = {"repo": query.repo, "query_id": query.id, "id": query.id, "query": query.text}
            file.write(json.dumps({**line, "results": found, "low_confidence": low}) + "\n")


def of_scorer(script: str, run: Path, queries: Path, out: Path) -> dict[str, Any]:
    command = [sys.executable, str(Path(BENCH) / script), str(run), "--queries", str(queries), "--json", str(out)]
    subprocess.run(command, check=True, capture_output=True, timeout=60)
    numbers: dict[str, Any] = json.loads(out.read_text())
    return numbers


def evaluated(queries: Path, tmp_path: Path) -> tuple[Evaluation, Path]:
    run = tmp_path / "run.jsonl"
    made_up_run(load_queries(queries), run)
    return evaluate(load_queries(queries), load_run(run)), run


@needs_bench
def test_files_score_as_their_judges_score_them(tmp_path: Path) -> None:
    queries = Path(BENCH) / "queries.jsonl"
    report, run = evaluated(queries, tmp_path)
    theirs = of_scorer("score.py", run, queries, tmp_path / "theirs.json")
    pairs = [(report.all, theirs["overall_repo_macro"])]
    pairs += [(report.groups[f"kind: {name}"], numbers) for name, numbers in theirs["by_category"].items()]
    pairs += [(report.groups[f"language: {name}"], numbers) for name, numbers in theirs["by_language"].items()]
    pairs += [(report.repositories[name], numbers) for name, numbers in theirs["by_repo"].items()]
    assert len(pairs) > 20
    for ours, numbers in pairs:
        assert ours.queries == numbers["n"]
        got = (ours.ndcg.value, ours.recall.value, ours.mrr.value, ours.hit1.value)
        assert got == pytest.approx(tuple(numbers[name] for name in ("ndcg", "recall", "mrr", "hit1")), abs=1e-12)
    assert report.without_a_line == theirs["queries_without_run"] > 0


@needs_bench
def test_spans_score_as_their_judges_score_them(tmp_path: Path) -> None:
    queries = Path(BENCH) / "own_dev.jsonl"
    report, run = evaluated(queries, tmp_path)
    theirs = of_scorer("score_own.py", run, queries, tmp_path / "theirs.json")
    pairs: list[tuple[Scores, dict[str, Any]]] = [(report.all, theirs["all"])]
    pairs += [(report.groups[f"set: {name}"], numbers) for name, numbers in theirs["sets"].items()]
    pairs += [(report.groups[f"kind: {name}"], numbers) for name, numbers in theirs["kinds"].items()]
    pairs += [(report.repositories[name], numbers) for name, numbers in theirs["repos"].items()]
    for ours, numbers in pairs:
        assert ours.queries == numbers["n"]
        assert (ours.hit1.value, ours.hit5.value) == pytest.approx((numbers["hit1"], numbers["hit5"]))
        for estimate, name in ((ours.ndcg, "ndcg"), (ours.file_ndcg, "file"), (ours.mrr, "mrr")):
            expected = (numbers[name], *numbers[f"{name}_ci"])
            got = (estimate.value, estimate.low, estimate.high)
            assert [math.nan if value is None else value for value in got] == pytest.approx(expected, nan_ok=True)
    flag, their_flag = report.flag, theirs["low_confidence"]
    assert flag is not None
    assert (flag.no_answer, flag.answered) == (their_flag["no_answer"], their_flag["answered_in_top5"])
    assert flag.precision == pytest.approx(their_flag["precision"])
    for estimate, name in ((flag.recall, "recall"), (flag.false_alarm, "false_alarm")):
        assert (estimate.value, estimate.low, estimate.high) == pytest.approx(
            (their_flag[name], *their_flag[f"{name}_ci"])
        )
