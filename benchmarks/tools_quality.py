"""Judged queries asked of tools as an agent calls them, beside the command line's `auto`, scored by one rule.

    tools_quality.py CORPORA --queries QUERIES.jsonl [--cache] [--repos NAME ...]

CORPORA as for ``quality.py``. Each repository is indexed to the end first. An answer counts one entry per file, the
first of each. Prints a Markdown table: NDCG@10 with its 95 % interval, and each tool's difference from `auto`, paired
by query; then the difference of hybrid_search from search_keyword.
"""

from __future__ import annotations

import sys
from collections.abc import Mapping, Sequence
from typing import Any

import asked

from findling.contracts.registry import call
from findling.contracts.workspaces import Workspace
from findling.engine import Engine
from findling.evaluation.judged import Answer, Judged, answer_of
from findling.evaluation.run import LIMIT, corpora, nothing_above, run_line
from findling.evaluation.scoring import compare, evaluate
from findling.model.reports import Estimate

TOOLS: Mapping[str, Mapping[str, Any]] = {
    "search_code": {"limit": LIMIT},
    "hybrid_search": {"top_k": LIMIT},
    "search_keyword": {"top_k": LIMIT},
    "search_semantic": {"top_k": LIMIT},
}


def main(arguments: Sequence[str] | None = None) -> int:
    options = asked.parser(__doc__).parse_args(arguments)
    queries = asked.queries(options)
    runs: dict[str, dict[str, Answer]] = {name: {} for name in ("auto", *TOOLS)}
    for corpus in corpora(options.corpora, queries):
        print(corpus.name, file=sys.stderr)
        with nothing_above(corpus.root), Engine.open(root=corpus.root, cache=options.cache) as engine:
            engine.index()
            for query in corpus.queries:
                answer = engine.search(query.text, limit=LIMIT, wait_s=0.0)
                runs["auto"][query.id] = answer_of(run_line(query, answer))
            with Workspace(root=corpus.root, cache=options.cache) as workspace:
                for query in corpus.queries:
                    for name, options_of in TOOLS.items():
                        facts = call(name, {"query": query.text, **options_of}, workspace).structured or {}
                        runs[name][query.id] = answer_of(line_of(query, facts["results"]))
    print("| asked | NDCG@10 | minus `auto` |\n|---|---|---|")
    for name, run in runs.items():
        found = evaluate(queries, run).all.ndcg
        apart = "" if name == "auto" else shown(compare(queries, run, runs["auto"]).difference, "+")
        print(f"| {name} | {shown(found)} | {apart} |")
    better = compare(queries, runs["hybrid_search"], runs["search_keyword"])
    print(f"\nhybrid_search minus search_keyword: {shown(better.difference, '+')}")
    return 0


def line_of(query: Judged, results: Sequence[Mapping[str, Any]]) -> dict[str, Any]:
    """A tool's answer as a line of a run."""
    first: dict[str, Mapping[str, Any]] = {}
    for result in results:
        first.setdefault(result["path"], result)
    return {
        "id": query.id,
        "repo": query.repo,
        "query": query.text,
        "results": [
            {
                "path": path,
                "start_line": result.get("line_start", result.get("start_line")),
                "end_line": result.get("line_end", result.get("end_line")),
                "score": result["score"],
            }
            for path, result in first.items()
        ],
        "low_confidence": False,
    }


def shown(estimate: Estimate, sign: str = "") -> str:
    values = ["-" if value is None else f"{value:{sign}.4f}" for value in (estimate.value, estimate.low, estimate.high)]
    return f"{values[0]} [{values[1]}, {values[2]}]"


if __name__ == "__main__":
    sys.exit(main())
