"""How well stated confidence tells questions without an answer from those with one, from runs of `findling eval`.

    unsure.py QUERIES RUN [--elsewhere QUERIES RUN] [--removed REMOVED.jsonl] [--plot NAME]

``--elsewhere``: questions without an answer that stand in a file of their own. ``--removed``: those of them that the
repository answers after all, a line with ``id`` for each. ``--plot``: writes NAME.svg, the curve.

Three classes: *answered* has a right file among the first ten, *missed* has none although there is one, *none* has no
answer. Prints the share of *none* that is flagged at a threshold which flags so many of those with an answer; then, at
the threshold in use and by repository and by kind of question (its first word), how many of each class are flagged, and
the AUC: how often a question without an answer is less sure than one with an answer.
"""

from __future__ import annotations

import argparse
import json
import sys
from collections.abc import Callable, Iterable, Sequence
from pathlib import Path
from typing import NamedTuple

from findling.evaluation import plots
from findling.evaluation.judged import load_queries, load_run
from findling.evaluation.scoring import score
from findling.model.types import LOW_CONFIDENCE

ALARMS = (0.02, 0.04, 0.05, 0.08, 0.1, 0.15, 0.2)
"""Shares of the questions with an answer that may be flagged falsely."""

QUESTION_WORDS = ("how", "what", "where", "why")
CLASSES = ("none", "answered", "missed")


class Row(NamedTuple):
    repo: str
    kind: str
    of: str
    confidence: float


def rows(queries: Path, run: Path, removed: Iterable[str] = ()) -> list[Row]:
    """The class and the stated confidence of each question that was asked."""
    asked, left_out = load_run(run), frozenset(removed)
    found = []
    for query in load_queries(queries):
        answer = asked.get(query.id)
        if answer is None or query.id in left_out:
            continue
        first = query.text.split()[0].lower()
        kind = first if first in QUESTION_WORDS else "other"
        of = "none" if not query.targets else "answered" if score(query, answer).file_ndcg else "missed"
        found.append(Row(query.repo, kind, of, answer.confidence or 0.0))
    return found


def auc(low: Sequence[float], high: Sequence[float]) -> float | None:
    """How often a value of ``low`` is below one of ``high``; ties count half."""
    if not low or not high:
        return None
    return sum((one < other) + (one == other) / 2 for one in low for other in high) / (len(low) * len(high))


def curve(none: Sequence[float], judged: Sequence[float]) -> list[tuple[float, float]]:
    """At each threshold, the share of ``judged`` below it and the share of ``none`` below it."""
    thresholds = sorted({*none, *judged, 1.01})
    return [(_below(judged, at), _below(none, at)) for at in thresholds]


def at_alarms(points: Sequence[tuple[float, float]], alarms: float) -> float:
    """The most that is flagged rightly where no more than ``alarms`` are flagged falsely."""
    return max((right for wrong, right in points if wrong <= alarms), default=0.0)


def _below(values: Sequence[float], at: float) -> float:
    return sum(value < at for value in values) / len(values) if values else 0.0


def table(found: Sequence[Row], by: Callable[[Row], str]) -> list[str]:
    """A line for each group: each class, how many there are and which share is flagged, and the AUC."""
    lines = []
    for name in sorted({by(row) for row in found}):
        of = {each: [row.confidence for row in found if by(row) == name and row.of == each] for each in CLASSES}
        known = auc(of["none"], of["answered"] + of["missed"])
        cells = (
            f"{len(values)} | {_below(values, LOW_CONFIDENCE):.2f}" if values else "0 | –" for values in of.values()
        )
        lines.append(f"| {name} | {' | '.join(cells)} | {'–' if known is None else f'{known:.3f}'} |")
    return lines


def main(arguments: Sequence[str] | None = None) -> int:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("queries", type=Path)
    parser.add_argument("run", type=Path)
    parser.add_argument("--elsewhere", type=Path, nargs=2, metavar=("QUERIES", "RUN"))
    parser.add_argument("--removed", type=Path)
    parser.add_argument("--plot", type=Path)
    options = parser.parse_args(arguments)
    removed = []
    if options.removed:
        removed = [json.loads(line)["id"] for line in options.removed.read_text(encoding="utf-8").splitlines()]
    found = rows(options.queries, options.run)
    if options.elsewhere:
        found += rows(*options.elsewhere, removed)
    none, answered, missed = ([row.confidence for row in found if row.of == each] for each in CLASSES)
    points = curve(none, answered + missed)
    print(f"| false alarms | {' | '.join(f'{alarms:.0%}' for alarms in ALARMS)} | AUC |")
    print(f"|---|{'--:|' * (len(ALARMS) + 1)}")
    known = auc(none, answered + missed)
    print(f"| flagged | {' | '.join(f'{at_alarms(points, alarms):.2f}' for alarms in ALARMS)} | {known or 0:.3f} |")
    missed_auc = auc(missed, answered)
    if missed_auc is not None:
        print(f"\nMissed by the ranking against answered: AUC {missed_auc:.3f}.")
    print("\n| | none | flagged | answered | flagged | missed | flagged | AUC |\n|---|--:|--:|--:|--:|--:|--:|--:|")
    print("\n".join(table(found, lambda row: "**all**") + table(found, lambda row: row.repo)))
    print("\n".join(table(found, lambda row: f"*{row.kind}*")))
    if options.plot:
        by_repo = {"all": points}
        for repo in sorted({row.repo for row in found}):
            here = [row for row in found if row.repo == repo]
            of = [[row.confidence for row in here if (row.of == "none") is without] for without in (True, False)]
            if all(of):
                by_repo[repo] = curve(*of)
        drawn = plots.curves(by_repo, "Questions without an answer that are flagged", "false alarms", "flagged rightly")
        options.plot.with_name(f"{options.plot.name}.svg").write_bytes(drawn[".svg"])
    return 0


if __name__ == "__main__":
    sys.exit(main())
