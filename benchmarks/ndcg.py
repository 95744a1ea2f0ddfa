"""Scores of a run over judged queries, and how sure a difference between two runs is.

    ndcg.py QUERIES RUN [--against RUN] [--rounds 1000] [--json OUT]

The rule, for both kinds of query files, is that of ``findling.evaluation``: see ``scoring``. It needs nothing but the
standard library, so that a peer's own environment, which has no findling, can score with its sources beside this file.
"""

from __future__ import annotations

import argparse
import importlib.util
import json
import sys
from collections.abc import Sequence
from pathlib import Path

from msgspec import to_builtins

if importlib.util.find_spec("findling") is None:
    sys.path.insert(0, str(Path(__file__).parents[1] / "src"))

from findling.evaluation.judged import Answer, Judged, Place, load_queries, load_run
from findling.evaluation.scoring import ROUNDS, compare, evaluate, score
from findling.model.reports import Comparison, Estimate, Evaluation, Scores

__all__ = [
    "Answer",
    "Judged",
    "Place",
    "compare",
    "comparison",
    "evaluate",
    "load_queries",
    "load_run",
    "reliability",
    "score",
    "table",
]


def table(report: Evaluation) -> str:
    """The report as Markdown."""
    lines = ["| | n | NDCG@10 | 95 % | recall@10 | MRR | hit@1 |", "|---|--:|--:|---|--:|--:|--:|"]
    named: dict[str, Scores] = {"**all**": report.all, **report.groups}
    named |= {f"repository: {name}": scores for name, scores in report.repositories.items()}
    lines += [
        f"| {name} | {scores.queries} | {_number(scores.ndcg.value, 4)} | {_interval(scores.ndcg)} "
        f"| {_number(scores.recall.value)} | {_number(scores.mrr.value)} | {_number(scores.hit1.value)} |"
        for name, scores in named.items()
    ]
    if report.flag is not None:
        flag = report.flag
        lines += [
            "",
            f"Low-confidence flag: recall {_number(flag.recall.value)} of {flag.no_answer} queries without an answer, "
            f"false alarms {_number(flag.false_alarm.value)}, precision {_number(flag.precision)}.",
        ]
    if report.without_a_line:
        lines += ["", f"{report.without_a_line} queries have no line in the run and score 0."]
    return "\n".join(lines)


def reliability(report: Evaluation) -> str:
    """What stated confidence is worth, as Markdown; '' where the run states none."""
    if not report.reliability:
        return ""
    lines = [
        "| stated | questions | mean stated | right place first, 95 % | right place in the first five, 95 % |",
        "|---|--:|--:|---|---|",
    ]
    lines += [
        f"| {row.low:.2f} to {row.high:.2f} | {row.queries} | {row.stated:.2f} "
        f"| {_number(row.hit1.value, 2)} {_interval(row.hit1, 2)} "
        f"| {_number(row.hit5.value, 2)} {_interval(row.hit5, 2)} |"
        for row in report.reliability
    ]
    return "\n".join(lines)


def comparison(found: Comparison) -> str:
    return (
        f"\nDifference {_number(found.difference.value, 4, '+')} {_interval(found.difference, 4, '+')}; better on "
        f"{found.better} queries, equal on {found.equal}, worse on {found.worse}."
    )


def _interval(estimate: Estimate, digits: int = 3, sign: str = "") -> str:
    return f"[{_number(estimate.low, digits, sign)}, {_number(estimate.high, digits, sign)}]"


def _number(value: float | None, digits: int = 3, sign: str = "") -> str:
    return "-" if value is None else f"{value:{sign}.{digits}f}"


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
    if report.reliability:
        print(f"\n{reliability(report)}")
    numbers = to_builtins(report)
    if options.against:
        found = compare(queries, run, load_run(options.against), options.rounds)
        numbers["against"] = to_builtins(found)
        print(comparison(found))
    if options.json:
        options.json.write_text(json.dumps(numbers, indent=1), encoding="utf-8")
    return 0


if __name__ == "__main__":
    sys.exit(main())
