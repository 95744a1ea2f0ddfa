"""Answer judged queries with findling's Engine, write the run, and score it.

    quality.py CORPORA --queries QUERIES.jsonl --run RUN.jsonl [--mode auto] [--against OLDER_RUN.jsonl]

CORPORA holds one folder per repository that the queries name; each is indexed as a root of its own, to the end,
before its first query. RUN gets one line per query, in the order of the queries, with the answer as the command line
shows it: one entry per file, best first. ``ndcg.py`` says how it is scored, and scores it again later.
"""

from __future__ import annotations

import argparse
import json
import statistics
import sys
import time
from collections.abc import Iterator, Sequence
from itertools import groupby
from pathlib import Path
from typing import Any

import ndcg

from findling.engine import Engine
from findling.types import MODES, SearchResult

# More than is scored, so that a run can also be used to study what came just below.
LIMIT = 20

# Where the command line warns. The line of the run keeps the number, so that another bound can be tried later.
LOW_CONFIDENCE = 0.5


def answers(
    corpora: Path, queries: Sequence[ndcg.Judged], *, mode: str, cache: bool, limit: int, low_confidence: float
) -> Iterator[dict[str, Any]]:
    """One line of a run per query, repository by repository."""
    for name, group in groupby(sorted(queries, key=lambda query: query.repo), key=lambda query: query.repo):
        root = corpora / name
        started = time.perf_counter()
        with Engine.open(root, root=root, cache=cache) as engine:
            report = engine.index()
            indexed_s = time.perf_counter() - started
            times = []
            for query in group:
                result = engine.search(query.text, limit=limit, mode=mode, wait_s=0.0)
                times.append(result.took_ms)
                yield run_line(query, result, low_confidence)
        print(
            f"{name}: {report.files} files, {report.chunks} chunks, ready in {indexed_s:.1f} s; "
            f"{len(times)} queries, median {statistics.median(times):.2f} ms",
            file=sys.stderr,
        )


def run_line(query: ndcg.Judged, result: SearchResult, low_confidence: float) -> dict[str, Any]:
    return {
        "repo": query.repo,
        "query_id": query.id,
        "id": query.id,
        "query": query.text,
        "results": [
            {"path": hit.path, "start_line": hit.start_line, "end_line": hit.end_line, "score": hit.score}
            for hit in result.hits
        ],
        "low_confidence": not result.hits or result.confidence < low_confidence,
        "confidence": result.confidence,
        "took_ms": result.took_ms,
    }


def main(arguments: Sequence[str] | None = None) -> int:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("corpora", type=Path)
    parser.add_argument("--queries", type=Path, required=True)
    parser.add_argument("--run", type=Path, required=True, help="write the answers here")
    parser.add_argument("--against", type=Path, help="an older run to compare with, query by query")
    parser.add_argument("--mode", choices=MODES, default="auto")
    parser.add_argument("--limit", type=int, default=LIMIT)
    parser.add_argument("--repos", nargs="*", help="only these repositories")
    parser.add_argument("--low-confidence", type=float, default=LOW_CONFIDENCE, metavar="BELOW")
    parser.add_argument("--cache", action="store_true", help="keep the indexes in the user's cache folder")
    parser.add_argument("--json", type=Path, help="write the numbers here")
    options = parser.parse_args(arguments)

    queries = ndcg.load_queries(options.queries)
    if options.repos:
        queries = [query for query in queries if query.repo in options.repos]
    missing = sorted({query.repo for query in queries if not (options.corpora / query.repo).is_dir()})
    if missing:
        print(f"Not in {options.corpora}: {', '.join(missing)}. Their queries are left out.", file=sys.stderr)
        queries = [query for query in queries if query.repo not in missing]
    if not queries:
        print("No query is left to ask.", file=sys.stderr)
        return 2

    lines = {
        line["id"]: line
        for line in answers(
            options.corpora,
            queries,
            mode=options.mode,
            cache=options.cache,
            limit=options.limit,
            low_confidence=options.low_confidence,
        )
    }
    with options.run.open("w", encoding="utf-8") as file:
        file.writelines(json.dumps(lines[query.id], ensure_ascii=False) + "\n" for query in queries)

    run = ndcg.load_run(options.run)
    report = ndcg.evaluate(queries, run)
    report["took_ms_median"] = statistics.median(line["took_ms"] for line in lines.values())
    print(ndcg.table(report))
    if options.against:
        report["against"] = ndcg.compare(queries, run, ndcg.load_run(options.against))
        print(ndcg.comparison(report["against"]))
    if options.json:
        options.json.write_text(json.dumps(report, indent=1), encoding="utf-8")
    return 1 if missing else 0


if __name__ == "__main__":
    sys.exit(main())
