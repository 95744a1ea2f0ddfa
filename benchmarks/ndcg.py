"""Scores of a run over judged queries, and how sure a difference between two runs is. Standard library only.

    ndcg.py QUERIES RUN [--against RUN] [--rounds 2000] [--json OUT]

Two kinds of query files, told apart by their keys, each with the rule that its judgments were made for:

* *files* (``query_id``, ``category``, ``language``): a target is a file, or a file and a range of lines. A result hits
  a target when the paths are equal or one is a whole-component suffix of the other and, where the target has lines,
  the ranges overlap. Each target takes the rank of its first hit; each rank that was taken gains 1.
  The headline is the mean over repositories of a repository's mean.
* *spans* (``id``, ``set``, ``kind``): a target is a range of lines. A result hits it when the path is equal and the
  ranges overlap, and gains 1 if it hits a target that no better result has hit. The headline is the mean over
  queries. Queries without targets have no rank to measure: what counts is ``low_confidence``.

In both, the first ten results count as they are given (repeated files use up ranks) and NDCG is the sum of
1 / log2(rank + 1) over the gains, divided by the same sum with every target on top. A query without a line in the run
scores 0. Intervals are 95 % percentile bootstraps: queries are drawn anew within each repository.
"""

from __future__ import annotations

import argparse
import json
import math
import random
import sys
from collections import defaultdict
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

DEPTH = 10
ROUNDS = 2000
SEED = 7

# The results among which an answered query must have a hit before a low-confidence flag counts as a false alarm.
ALARM_DEPTH = 5


@dataclass(frozen=True)
class Target:
    path: str
    start_line: int | None
    end_line: int | None


@dataclass(frozen=True)
class Judged:
    """A query with its targets. ``groups`` are the headings under which it is reported, such as its kind."""

    id: str
    repo: str
    text: str
    targets: tuple[Target, ...]
    groups: tuple[str, ...]
    by_file: bool


@dataclass(frozen=True)
class Result:
    path: str
    start_line: int | None = None
    end_line: int | None = None


@dataclass(frozen=True)
class Answer:
    results: tuple[Result, ...]
    low_confidence: bool | None = None


@dataclass(frozen=True)
class Score:
    """``recall`` is the share of targets that were hit, ``mrr`` 1 / rank of the first hit; all within DEPTH."""

    ndcg: float
    recall: float
    mrr: float
    first: int | None


def load_queries(path: Path) -> list[Judged]:
    return [_judged(json.loads(line)) for line in path.read_text(encoding="utf-8").splitlines() if line.strip()]


def load_run(path: Path) -> dict[str, Answer]:
    """Answers by the id of their query, which a line calls ``query_id`` or ``id``."""
    run = {}
    for text in path.read_text(encoding="utf-8").splitlines():
        if text.strip():
            line = json.loads(text)
            results = tuple(
                Result(_plain_path(found["path"]), found.get("start_line"), found.get("end_line"))
                for found in line["results"]
            )
            run[str(line.get("query_id") or line["id"])] = Answer(results, line.get("low_confidence"))
    return run


def score(query: Judged, answer: Answer | None) -> Score:
    """The score of one query that has targets."""
    results = answer.results[:DEPTH] if answer else ()
    hits = [[_hits(result, target, query.by_file) for target in query.targets] for result in results]
    firsts = [next((rank for rank, row in enumerate(hits, 1) if row[at]), None) for at in range(len(query.targets))]
    ranks = sorted({rank for rank in firsts if rank is not None})
    ideal = range(1, min(DEPTH, len(query.targets)) + 1)
    return Score(
        ndcg=_gain(ranks) / _gain(ideal),
        recall=sum(rank is not None for rank in firsts) / len(firsts),
        mrr=1 / ranks[0] if ranks else 0.0,
        first=ranks[0] if ranks else None,
    )


def _judged(line: Mapping[str, Any]) -> Judged:
    targets = tuple(
        Target(_plain_path(target["path"]), target.get("start_line"), target.get("end_line"))
        for target in line["relevant"]
    )
    if "query_id" in line:
        groups = (f"kind: {line['category']}", f"language: {line['language']}")
        return Judged(line["query_id"], line["repo"], line["query"], targets, groups, by_file=True)
    groups = (f"set: {line['set']}", f"kind: {line['set']}/{line['kind']}")
    return Judged(line["id"], line["repo"], line["query"], targets, groups, by_file=False)


def _plain_path(path: str) -> str:
    path = path.replace("\\", "/")
    while path.startswith("./"):
        path = path[2:]
    return path


def _hits(result: Result, target: Target, by_file: bool) -> bool:
    if result.path != target.path:
        suffix = result.path.endswith("/" + target.path) or target.path.endswith("/" + result.path)
        if not (by_file and suffix):
            return False
    if target.start_line is None or target.end_line is None or result.start_line is None:
        return True
    last = result.start_line if result.end_line is None else result.end_line
    return result.start_line <= target.end_line and last >= target.start_line


def _gain(ranks: Iterable[int]) -> float:
    return sum(1 / math.log2(rank + 1) for rank in ranks)


# --- means and intervals --------------------------------------------------------------------------------------

Rows = Sequence[tuple[Judged, Score]]
Mean = Callable[[Mapping[str, Sequence[float]]], float]


def mean_over_repositories(by_repo: Mapping[str, Sequence[float]]) -> float:
    return _mean([_mean(values) for values in by_repo.values()])


def mean_over_queries(by_repo: Mapping[str, Sequence[float]]) -> float:
    return _mean([value for values in by_repo.values() for value in values])


def interval(by_repo: Mapping[str, Sequence[float]], mean: Mean, rounds: int = ROUNDS) -> tuple[float, float]:
    """95 % of the means that come out when each repository's queries are drawn anew, with a fixed seed."""
    draw = random.Random(SEED)
    means = sorted(
        mean({repo: draw.choices(values, k=len(values)) for repo, values in by_repo.items()}) for _ in range(rounds)
    )
    return means[int(0.025 * rounds)], means[min(rounds - 1, int(0.975 * rounds))]


def summary(rows: Rows, mean: Mean, rounds: int = ROUNDS) -> dict[str, Any]:
    ndcg = _by_repo(rows, lambda found: found.ndcg)
    low, high = interval(ndcg, mean, rounds)
    return {
        "queries": len(rows),
        "ndcg": mean(ndcg),
        "low": low,
        "high": high,
        "recall": mean(_by_repo(rows, lambda found: found.recall)),
        "mrr": mean(_by_repo(rows, lambda found: found.mrr)),
        "hit1": mean(_by_repo(rows, lambda found: float(found.first == 1))),
    }


def evaluate(queries: Sequence[Judged], run: Mapping[str, Answer], rounds: int = ROUNDS) -> dict[str, Any]:
    """All numbers of one run: overall, by group, by repository, and what the low-confidence flag is worth."""
    rows = [(query, score(query, run.get(query.id))) for query in queries if query.targets]
    mean = headline_mean(queries)
    report: dict[str, Any] = {
        "all": summary(rows, mean, rounds),
        "groups": {},
        "repositories": {},
        "without_a_line": sum(query.id not in run for query in queries),
    }
    for name in sorted({group for query, _ in rows for group in query.groups}):
        report["groups"][name] = summary([row for row in rows if name in row[0].groups], mean, rounds)
    for name in sorted({query.repo for query, _ in rows}):
        report["repositories"][name] = summary([row for row in rows if row[0].repo == name], mean, rounds)
    flags = {query.id: bool((run.get(query.id) or Answer(())).low_confidence) for query in queries}
    unanswerable = [flags[query.id] for query in queries if not query.targets]
    answered = [flags[query.id] for query, found in rows if found.first is not None and found.first <= ALARM_DEPTH]
    if unanswerable:
        flagged = sum(unanswerable) + sum(answered)
        report["low_confidence"] = {
            "no_answer": len(unanswerable),
            "recall": _mean([float(flag) for flag in unanswerable]),
            "false_alarm": _mean([float(flag) for flag in answered]),
            "precision": sum(unanswerable) / flagged if flagged else math.nan,
        }
    return report


def compare(
    queries: Sequence[Judged], run: Mapping[str, Answer], other: Mapping[str, Answer], rounds: int = ROUNDS
) -> dict[str, Any]:
    """The difference run - other of NDCG, query by query: its mean, interval, and how many queries each one wins."""
    mean = headline_mean(queries)
    differences: dict[str, list[float]] = defaultdict(list)
    for query in queries:
        if query.targets:
            pair = score(query, run.get(query.id)).ndcg - score(query, other.get(query.id)).ndcg
            differences[query.repo].append(pair)
    values = [value for group in differences.values() for value in group]
    low, high = interval(differences, mean, rounds)
    return {
        "difference": mean(differences),
        "low": low,
        "high": high,
        "better": sum(value > 0 for value in values),
        "equal": sum(value == 0 for value in values),
        "worse": sum(value < 0 for value in values),
    }


def headline_mean(queries: Sequence[Judged]) -> Mean:
    return mean_over_repositories if all(query.by_file for query in queries) else mean_over_queries


def _by_repo(rows: Rows, value: Callable[[Score], float]) -> dict[str, list[float]]:
    groups: dict[str, list[float]] = defaultdict(list)
    for query, found in rows:
        groups[query.repo].append(value(found))
    return groups


def _mean(values: Sequence[float]) -> float:
    return sum(values) / len(values) if values else math.nan


# --- as a table -----------------------------------------------------------------------------------------------


def table(report: Mapping[str, Any]) -> str:
    """The report as Markdown."""
    lines = ["| | n | NDCG@10 | 95 % | recall@10 | MRR | hit@1 |", "|---|--:|--:|---|--:|--:|--:|"]
    named = {"**all**": report["all"], **report["groups"]}
    named |= {f"repository: {name}": numbers for name, numbers in report["repositories"].items()}
    lines += [
        f"| {name} | {numbers['queries']} | {numbers['ndcg']:.4f} | [{numbers['low']:.3f}, {numbers['high']:.3f}] "
        f"| {numbers['recall']:.3f} | {numbers['mrr']:.3f} | {numbers['hit1']:.3f} |"
        for name, numbers in named.items()
    ]
    if "low_confidence" in report:
        flag = report["low_confidence"]
        lines += [
            "",
            f"Low-confidence flag: recall {flag['recall']:.3f} of {flag['no_answer']} queries without an answer, "
            f"false alarms {flag['false_alarm']:.3f}, precision {flag['precision']:.3f}.",
        ]
    if report["without_a_line"]:
        lines += ["", f"{report['without_a_line']} queries have no line in the run and score 0."]
    return "\n".join(lines)


def comparison(difference: Mapping[str, Any]) -> str:
    return (
        "\nDifference {difference:+.4f} [{low:+.4f}, {high:+.4f}]; better on {better} queries, equal on {equal}, "
        "worse on {worse}.".format(**difference)
    )


def main(arguments: Sequence[str] | None = None) -> int:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("queries", type=Path)
    parser.add_argument("run", type=Path)
    parser.add_argument("--against", type=Path, help="a second run, to compare with query by query")
    parser.add_argument("--rounds", type=int, default=ROUNDS, help="bootstrap rounds")
    parser.add_argument("--json", type=Path, help="write the numbers here")
    options = parser.parse_args(arguments)
    queries, run = load_queries(options.queries), load_run(options.run)
    report = evaluate(queries, run, options.rounds)
    print(table(report))
    if options.against:
        report["against"] = compare(queries, run, load_run(options.against), options.rounds)
        print(comparison(report["against"]))
    if options.json:
        options.json.write_text(json.dumps(report, indent=1), encoding="utf-8")
    return 0


if __name__ == "__main__":
    sys.exit(main())
