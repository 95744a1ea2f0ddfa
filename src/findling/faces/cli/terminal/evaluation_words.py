"""How good answers are, as tables of words: what plain and styled output share. Text only, no styles."""

from __future__ import annotations

from collections.abc import Iterator
from typing import TYPE_CHECKING, NamedTuple

from findling.model.plurals import count

if TYPE_CHECKING:
    from findling.model.reports import Compared, Estimate, Evaluation, FlagScores, Reliability, Report, Scores

INTERVAL = "[95 %]"


class Table(NamedTuple):
    """``heading`` names the columns, that of the row's name first."""

    heading: list[str]
    rows: list[list[str]]


def tables(report: Report) -> Iterator[Table]:
    """The scores; what stated confidence is worth, where it is known; and what is compared, if anything is."""
    evaluation = report.evaluation
    yield Table(_heading(evaluation), _rows(evaluation))
    if evaluation.reliability:
        heading = [
            "confidence",
            "answers",
            "mean stated",
            f"right at the top {INTERVAL}",
            f"in the first five {INTERVAL}",
        ]
        yield Table(heading, [_reliability(row) for row in evaluation.reliability])
    if report.compared:
        heading = [
            "",
            f"NDCG@10 {INTERVAL}",
            f"{report.name} minus it {INTERVAL}",
            "better",
            "equal",
            "worse",
            "p50",
            "p95",
        ]
        yield Table(
            heading, [[report.name, *_whole(evaluation), *_times(evaluation)], *map(_compared, report.compared)]
        )


def lines(report: Report) -> list[str]:
    """What stands under the tables."""
    evaluation = report.evaluation
    said = [*report.said]
    if evaluation.flag is not None:
        said.append(_flag(evaluation.flag))
    if evaluation.latency is not None and not report.compared:
        said.append(f"an answer took {evaluation.latency.p50_ms:.1f} ms, one in twenty more than {_p95(evaluation)}")
    said += [f"written: {path}" for path in report.written]
    return said


def _heading(evaluation: Evaluation) -> list[str]:
    middle = ["files"] if evaluation.rule == "spans" else []
    return ["", "queries", *(f"{name} {INTERVAL}" for name in ("NDCG@10", *middle, "MRR", "recall@10")), "hit@1"]


def _rows(evaluation: Evaluation) -> list[list[str]]:
    """All queries, then each group, then each repository; the columns of `_heading`."""
    named = {"all": evaluation.all, **evaluation.groups}
    named |= {f"repository: {name}": scores for name, scores in evaluation.repositories.items()}
    return [[name, *_scores(scores, evaluation.rule)] for name, scores in named.items()]


def _scores(scores: Scores, rule: str) -> list[str]:
    middle = [scores.file_ndcg] if rule == "spans" else []
    means = [_estimate(estimate) for estimate in (scores.ndcg, *middle, scores.mrr, scores.recall)]
    return [f"{scores.queries:,}", *means, _number(scores.hit1.value)]


def _flag(flag: FlagScores) -> str:
    return (
        f"low confidence: said of {_estimate(flag.recall)} of {count(flag.no_answer, 'query')} without an answer, "
        f"falsely of {_estimate(flag.false_alarm)} of {count(flag.answered, 'query')} answered in the first five; "
        f"precision {_number(flag.precision)}"
    )


def _reliability(row: Reliability) -> list[str]:
    return [
        f"{row.low:.2f} to {row.high:.2f}",
        f"{row.queries:,}",
        f"{row.stated:.3f}",
        _estimate(row.hit1),
        _estimate(row.hit5),
    ]


def _whole(evaluation: Evaluation) -> list[str]:
    """Of the run that is reported, beside those it is compared with."""
    return [_estimate(evaluation.all.ndcg), "", "", "", ""]


def _compared(row: Compared) -> list[str]:
    found = row.comparison
    difference = "-" if found.difference.value is None else f"{found.difference.value:+.4f}"
    if found.difference.low is not None and found.difference.high is not None:
        difference += f" [{found.difference.low:+.4f}, {found.difference.high:+.4f}]"
    counts = [f"{number:,}" for number in (found.better, found.equal, found.worse)]
    return [row.name, _estimate(row.evaluation.all.ndcg), difference, *counts, *_times(row.evaluation)]


def _times(evaluation: Evaluation) -> list[str]:
    if evaluation.latency is None:
        return ["-", "-"]
    return [f"{evaluation.latency.p50_ms:.1f} ms", _p95(evaluation)]


def _p95(evaluation: Evaluation) -> str:
    return f"{evaluation.latency.p95_ms:.1f} ms" if evaluation.latency else "-"


def _estimate(estimate: Estimate) -> str:
    interval = "" if estimate.low is None else f" [{_number(estimate.low)}, {_number(estimate.high)}]"
    return f"{_number(estimate.value)}{interval}"


def _number(value: float | None) -> str:
    return "-" if value is None else f"{value:.4f}"
