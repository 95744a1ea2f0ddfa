"""How often following search_code's suggestion finds what the answer itself has missed.

    next_action.py CORPORA --queries QUERIES.jsonl [--cache] [--repos NAME ...] [--json OUT]

Each query is asked of search_code twice: as an agent does, to see what is flagged as not sure; and with a threshold
that flags everything, to see what would be suggested. A program follows it to the letter, once: the sentence
`suggested_action`, by the tool that it names with what it quotes, and the first call of `suggested_next_actions`. A
target counts as found when its file is among the first five results, and for a call that asks for more, when it is
among all of them. "Missed" are the queries whose target is not there without the suggestion. Prints a Markdown table,
with 95 % intervals of a bootstrap over queries.
"""

from __future__ import annotations

import json
import re
import sys
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any, NamedTuple

import asked

from findling.contracts.registry import call
from findling.contracts.workspaces import Workspace
from findling.engine import Engine
from findling.evaluation.judged import Judged
from findling.evaluation.run import corpora, nothing_above
from findling.evaluation.scoring import share

LIMIT = 10
DEPTH = 5
"""Results that somebody looks at before he tries something else."""

FLAG_ALL = 1.0

_SUGGESTION = re.compile(r"Try (locate_symbol|search_code) with (?:natural language: |broader query: )?'(.+)'")


class Followed(NamedTuple):
    """``found``: in the answer itself; ``then``: where the suggestion leads, ``called``: where the first call leads,
    each None where there is none to follow."""

    query: Judged
    flagged: bool
    suggestion: str
    found: bool
    then: bool | None
    called: bool | None


def found_in(query: Judged, facts: Mapping[str, Any], depth: int = DEPTH) -> bool:
    """Whether the file of a target is among the first results."""
    paths = list(dict.fromkeys(result["path"] for result in facts.get("results", [])))
    ends = tuple(f"/{target.path}" for target in query.targets)
    return any(f"/{path}".endswith(ends) if query.by_file else f"/{path}" in ends for path in paths[:depth])


def follow(query: Judged, workspace: Workspace) -> Followed:
    given = {"query": query.text, "limit": LIMIT}
    as_usual = call("search_code", given, workspace).structured or {}
    flagged = call("search_code", {**given, "confidence_threshold": FLAG_ALL}, workspace).structured or {}
    suggestion = flagged["metadata"]["suggested_action"] or ""
    then: bool | None = None
    if match := _SUGGESTION.fullmatch(suggestion):
        key = "name" if match[1] == "locate_symbol" else "query"
        then = found_in(query, call(match[1], {key: match[2], "limit": LIMIT}, workspace).structured or {})
    called: bool | None = None
    if calls := [one for one in flagged["suggested_next_actions"] if one["tool"] in ("locate_symbol", "search_code")]:
        arguments = calls[0]["arguments"]
        answer = call(calls[0]["tool"], arguments, workspace).structured or {}
        called = found_in(query, answer, arguments.get("limit", DEPTH))
    low = bool(as_usual["metadata"]["low_confidence"])
    return Followed(query, low, suggestion, found_in(query, as_usual), then, called)


def row(name: str, rows: Sequence[Followed]) -> dict[str, Any]:
    """What a group of queries comes to."""
    suggested = [one for one in rows if one.then is not None]
    return {
        "queries": name,
        "number": len(rows),
        "found": share([one.found for one in rows]),
        "suggested": len(suggested),
        "then": share([bool(one.then) for one in suggested]),
        "called": share([bool(one.called) for one in rows if one.called is not None]),
        "either": share([one.found or bool(one.then) or bool(one.called) for one in rows]),
    }


def table(rows: Sequence[Mapping[str, Any]]) -> str:
    lines = [
        "| queries | number | found by the answer | with a suggestion to follow | found by following it "
        "| by the first call | by any |",
        "|---|--:|---|--:|---|---|---|",
    ]
    for one in rows:
        shares = [shown(one[key]) for key in ("found", "then", "called", "either")]
        lines.append(
            f"| {one['queries']} | {one['number']} | {shares[0]} | {one['suggested']} | {' | '.join(shares[1:])} |"
        )
    return "\n".join(lines)


def shown(estimate: Any) -> str:
    if estimate.value is None:
        return "-"
    interval = "" if estimate.low is None else f" [{estimate.low:.3f}, {estimate.high:.3f}]"
    return f"{estimate.value:.3f}{interval}"


def main(arguments: Sequence[str] | None = None) -> int:
    parser = asked.parser(__doc__)
    parser.add_argument("--json", type=Path, help="write what became of each query here")
    options = parser.parse_args(arguments)
    queries = asked.queries(options)
    followed: list[Followed] = []
    for corpus in corpora(options.corpora, queries):
        print(corpus.name, file=sys.stderr)
        with nothing_above(corpus.root):
            with Engine.open(root=corpus.root, cache=options.cache) as engine:
                engine.index()
            with Workspace(root=corpus.root, cache=options.cache) as workspace:
                followed += [follow(query, workspace) for query in corpus.queries if query.has_rank]
    groups = {
        "all": followed,
        "flagged as not sure": [one for one in followed if one.flagged],
        "missed by the answer": [one for one in followed if not one.found],
    }
    print(table([row(name, rows) for name, rows in groups.items()]))
    if options.json:
        told = [{**one._asdict(), "query": one.query.text, "id": one.query.id} for one in followed]
        options.json.write_text(json.dumps(told, ensure_ascii=False, indent=1), encoding="utf-8")
    return 0


if __name__ == "__main__":
    sys.exit(main())
