"""The scores of a run over judged queries, and how sure a difference between two runs is. Pure, standard library only.

Each form of query (see `judged`) has the rule that its judgments were made for:

* *files*: a result hits a target when the paths are equal or one is a whole-component suffix of the other and, where
  the target has lines, the ranges overlap. The headline is the mean over repositories of a repository's mean.
* *spans*: a result hits a target when the path is equal and the ranges overlap. The headline is the mean over queries.
  Queries without an answer have no rank to measure: what counts is ``low_confidence``.

In both, the first DEPTH results count as they are given (repeated files use up ranks), each target takes the rank of
its first hit, each rank that was taken gains 1, and NDCG is the sum of 1 / log2(rank + 1) over the gains, divided by
the same sum with every target on top. A query without a line in the run scores 0.

Intervals hold 95 % of the means that come out when queries are drawn anew with a fixed seed: within each repository
for files, among all for spans.
"""

from __future__ import annotations

import math
import random
from bisect import bisect_right
from collections import defaultdict
from collections.abc import Iterable, Mapping, Sequence
from typing import Final

from msgspec import Struct

from findling.evaluation.judged import Answer, Judged, Place
from findling.model.reports import Change, Comparison, Estimate, Evaluation, FlagScores, Latency, Reliability, Scores

DEPTH: Final = 10

#: Draws of an interval, and where they begin: those of the spans' judges, so that the same numbers come out.
ROUNDS: Final = 1000
SEED: Final = 7

#: The results among which an answered query must have a hit before a low-confidence flag counts as a false alarm.
ALARM_DEPTH: Final = 5

#: Where ranges of stated confidence begin: below one half an answer is flagged; most answers are near 1.
CONFIDENCE_EDGES: Final = (0.0, 0.5, 0.65, 0.8, 0.9, 0.95)

_LOW: Final = 0.025
_HIGH: Final = 0.975


class Score(Struct, frozen=True):
    """The scores of one query's first DEPTH results. ``recall`` is the share of targets that were hit; ``first`` the
    rank of the first hit. ``file_ndcg``: with one entry for each path, and files as targets."""

    ndcg: float
    recall: float
    mrr: float
    first: int | None
    file_ndcg: float


def score(query: Judged, answer: Answer | None) -> Score:
    """The score of one query that `has_rank`."""
    results = answer.results[:DEPTH] if answer else ()
    hits = [[_hits(result, target, query.by_file) for target in query.targets] for result in results]
    firsts = [next((rank for rank, row in enumerate(hits, 1) if row[at]), None) for at in range(len(query.targets))]
    ranks = sorted({rank for rank in firsts if rank is not None})
    files = {target.path for target in query.targets}
    seen = list(dict.fromkeys(result.path for result in answer.results)) if answer else []
    file_ranks = [rank for rank, path in enumerate(seen[:DEPTH], 1) if path in files]
    return Score(
        ndcg=_ndcg(ranks, len(query.targets)),
        recall=sum(rank is not None for rank in firsts) / len(firsts) if firsts else 0.0,
        mrr=1 / ranks[0] if ranks else 0.0,
        first=ranks[0] if ranks else None,
        file_ndcg=_ndcg(file_ranks, len(files)),
    )


def _hits(result: Place, target: Place, by_file: bool) -> bool:
    if result.path != target.path:
        suffix = result.path.endswith("/" + target.path) or target.path.endswith("/" + result.path)
        if not (by_file and suffix):
            return False
    if target.start_line is None or target.end_line is None or result.start_line is None:
        return True
    last = result.start_line if result.end_line is None else result.end_line
    return result.start_line <= target.end_line and last >= target.start_line


def _ndcg(ranks: Sequence[int], targets: int) -> float:
    return _gain(ranks) / _gain(range(1, min(DEPTH, targets) + 1)) if targets else 0.0


def _gain(ranks: Iterable[int]) -> float:
    return sum(1 / math.log2(rank + 1) for rank in ranks)


# --- a whole run ----------------------------------------------------------------------------------------------

_Row = tuple[Judged, Score]


def evaluate(queries: Sequence[Judged], run: Mapping[str, Answer], rounds: int = ROUNDS) -> Evaluation:
    """All numbers of one run: overall, by group, by repository, and what the low-confidence flag is worth."""
    rows = [(query, score(query, run.get(query.id))) for query in queries if query.has_rank]
    by_file = all(query.by_file for query in queries)
    groups = {group for query, _ in rows for group in query.groups}
    repositories = {query.repo for query, _ in rows}
    return Evaluation(
        rule="files" if by_file else "spans",
        all=_summary(rows, by_file, rounds),
        groups={
            name: _summary([row for row in rows if name in row[0].groups], by_file, rounds) for name in sorted(groups)
        },
        repositories={
            name: _summary([row for row in rows if row[0].repo == name], by_file, rounds)
            for name in sorted(repositories)
        },
        without_a_line=sum(query.id not in run for query in queries),
        flag=None if by_file else _flag_scores(queries, rows, run, rounds),
        reliability=_reliability(queries, run, rounds),
        latency=_latency([answer.took_ms for query, _ in rows if (answer := run.get(query.id)) is not None]),
    )


def _summary(rows: Sequence[_Row], by_file: bool, rounds: int) -> Scores:
    values = [
        (
            query.repo,
            (found.ndcg, found.recall, found.mrr, found.file_ndcg, float(found.first == 1), _in_top(found)),
        )
        for query, found in rows
    ]
    ndcg, recall, mrr, file_ndcg, hit1, hit5 = _estimates(_groups(values, by_file), 6, rounds)
    return Scores(len(rows), ndcg, mrr, recall, file_ndcg, hit1, hit5)


def _in_top(found: Score) -> float:
    return float(found.first is not None and found.first <= ALARM_DEPTH)


def _flag_scores(
    queries: Sequence[Judged], rows: Sequence[_Row], run: Mapping[str, Answer], rounds: int
) -> FlagScores | None:
    flags = {query.id: bool(run[query.id].low_confidence) if query.id in run else False for query in queries}
    caught = [float(flags[query.id]) for query in queries if not query.has_rank]
    if not caught:
        return None
    alarms = [float(flags[query.id]) for query, found in rows if _in_top(found)]
    flagged = sum(caught) + sum(alarms)
    return FlagScores(
        no_answer=len(caught),
        recall=_estimate(caught, rounds),
        answered=len(alarms),
        false_alarm=_estimate(alarms, rounds),
        precision=sum(caught) / flagged if flagged else None,
    )


def _reliability(queries: Sequence[Judged], run: Mapping[str, Answer], rounds: int) -> tuple[Reliability, ...]:
    """A row for each range of confidence in which there are answers; of a query without an answer none is right."""
    stated: dict[int, list[tuple[float, Score]]] = defaultdict(list)
    for query in queries:
        answer = run.get(query.id)
        if answer is not None and answer.confidence is not None:
            found = score(query, answer)
            stated[bisect_right(CONFIDENCE_EDGES, answer.confidence) - 1].append((answer.confidence, found))
    edges = (*CONFIDENCE_EDGES, 1.0)
    return tuple(
        Reliability(
            low=edges[at],
            high=edges[at + 1],
            queries=len(of_range),
            stated=_mean([confidence for confidence, _ in of_range]),
            hit1=_estimate([float(found.first == 1) for _, found in of_range], rounds),
            hit5=_estimate([_in_top(found) for _, found in of_range], rounds),
        )
        for at, of_range in sorted(stated.items())
    )


def _latency(times: Sequence[float | None]) -> Latency | None:
    known = sorted(time for time in times if time is not None)
    if not known:
        return None
    return Latency(*(known[math.ceil(share * len(known)) - 1] for share in (0.5, 0.95)))


def compare(
    queries: Sequence[Judged], run: Mapping[str, Answer], other: Mapping[str, Answer], rounds: int = ROUNDS
) -> Comparison:
    """The difference run - other of NDCG, query by query."""
    changes = [
        Change(
            query.id,
            query.repo,
            query.text,
            score(query, run.get(query.id)).ndcg,
            score(query, other.get(query.id)).ndcg,
        )
        for query in queries
        if query.has_rank
    ]
    values = [(change.repo, (change.ndcg - change.other,)) for change in changes]
    differences = [difference for _, (difference,) in values]
    by_file = all(query.by_file for query in queries)
    changed = [change for change in changes if change.ndcg != change.other]
    return Comparison(
        changes=tuple(sorted(changed, key=lambda change: (-abs(change.ndcg - change.other), change.id))),
        difference=_estimates(_groups(values, by_file), 1, rounds)[0],
        better=sum(difference > 0 for difference in differences),
        equal=sum(difference == 0 for difference in differences),
        worse=sum(difference < 0 for difference in differences),
    )


# --- means and intervals --------------------------------------------------------------------------------------

_Values = tuple[float, ...]
"""What is measured of one query."""


def _groups(values: Sequence[tuple[str, _Values]], by_file: bool) -> list[list[_Values]]:
    """The values of each repository, for files; for spans one group of all, in the order of the queries."""
    by_repo: dict[str, list[_Values]] = defaultdict(list)
    for repo, of_query in values:
        by_repo[repo if by_file else ""].append(of_query)
    return list(by_repo.values())


def share(values: Sequence[bool], rounds: int = ROUNDS) -> Estimate:
    """How many of them are true, and the interval."""
    return _estimate([float(value) for value in values], rounds)


def _estimate(values: Sequence[float], rounds: int) -> Estimate:
    return _estimates([[(value,) for value in values]] if values else [], 1, rounds)[0]


def _estimates(groups: Sequence[Sequence[_Values]], width: int, rounds: int) -> list[Estimate]:
    """The mean over groups of each of the ``width`` values that every query has, and its interval."""
    if not groups:
        return [Estimate(None, None, None)] * width
    means = _means(groups)
    if not rounds or all(len(group) < 2 for group in groups):  # single queries have no spread that could be known
        return [Estimate(mean, None, None) for mean in means]
    draw = random.Random(SEED)  # noqa: S311 - a sequence that is always the same is what is wanted
    drawn = [_means([draw.choices(group, k=len(group)) for group in groups]) for _ in range(rounds)]
    low, high = int(_LOW * rounds), min(rounds - 1, int(_HIGH * rounds))
    ordered = [sorted(column) for column in zip(*drawn, strict=True)]
    return [Estimate(mean, column[low], column[high]) for mean, column in zip(means, ordered, strict=True)]


def _means(groups: Sequence[Sequence[_Values]]) -> list[float]:
    """The mean over the groups of a group's mean."""
    of_groups = [[_mean(column) for column in zip(*group, strict=True)] for group in groups]
    return [_mean(column) for column in zip(*of_groups, strict=True)]


def _mean(values: Sequence[float]) -> float:
    return sum(values) / len(values)
