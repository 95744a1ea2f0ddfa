"""Answer judged queries with findling's Engine, write the run, score it, and compare it with an older one.

    quality.py CORPORA --queries QUERIES.jsonl --run RUN.jsonl [--mode auto] [--against OLDER_RUN.jsonl]

CORPORA holds one folder per repository that the queries name; each is indexed as a root of its own, to the end,
before its first query. RUN gets one line per query with the answer as the command line shows it: one entry per file,
best first. ``findling eval`` does the same for whoever has no older run; ``ndcg.py`` scores a run again later.
"""

from __future__ import annotations

import json
import statistics
import sys
import time
from collections.abc import Sequence
from pathlib import Path

import asked
import ndcg
from msgspec import to_builtins

from findling.engine import Engine
from findling.evaluation.judged import answer_of
from findling.evaluation.run import LIMIT, corpora, nothing_above, run_line
from findling.model.types import LOW_CONFIDENCE, MODES


def main(arguments: Sequence[str] | None = None) -> int:
    parser = asked.parser(__doc__)
    parser.add_argument("--run", type=Path, required=True, help="write the answers here")
    parser.add_argument("--against", type=Path, help="an older run to compare with, query by query")
    parser.add_argument("--mode", choices=MODES, default="auto")
    parser.add_argument("--limit", type=int, default=LIMIT)
    parser.add_argument("--low-confidence", type=float, default=LOW_CONFIDENCE, metavar="BELOW")
    parser.add_argument("--json", type=Path, help="write the numbers here")
    options = parser.parse_args(arguments)

    queries = asked.queries(options)
    missing = sorted({query.repo for query in queries if not (options.corpora / query.repo).is_dir()})
    if missing:
        print(f"Not in {options.corpora}: {', '.join(missing)}. Their queries are left out.", file=sys.stderr)
        queries = [query for query in queries if query.repo not in missing]
    if not queries:
        print("No query is left to ask.", file=sys.stderr)
        return 2

    run = {}
    all_times = []
    with options.run.open("w", encoding="utf-8") as file:
        for corpus in corpora(options.corpora, queries):
            started = time.perf_counter()
            opened = Engine.open(corpus.root, root=corpus.root, cache=options.cache)
            with nothing_above(corpus.root), opened as engine:
                indexed = engine.index()
                indexed_s = time.perf_counter() - started
                times = []
                for query in corpus.queries:
                    result = engine.search(query.text, limit=options.limit, mode=options.mode, wait_s=0.0)
                    line = run_line(query, result, options.low_confidence)
                    file.write(json.dumps(line, ensure_ascii=False) + "\n")
                    run[query.id] = answer_of(line)
                    times.append(result.took_ms)
            all_times += times
            print(
                f"{corpus.name}: {indexed.files} files, {indexed.chunks} chunks, ready in {indexed_s:.1f} s; "
                f"{len(times)} queries, median {statistics.median(times):.2f} ms",
                file=sys.stderr,
            )

    report = ndcg.evaluate(queries, run)
    numbers = to_builtins(report) | {"took_ms_median": statistics.median(all_times)}
    print(ndcg.table(report))
    if options.against:
        found = ndcg.compare(queries, run, ndcg.load_run(options.against))
        numbers["against"] = to_builtins(found)
        print(ndcg.comparison(found))
    if options.json:
        options.json.write_text(json.dumps(numbers, indent=1), encoding="utf-8")
    return 1 if missing else 0


if __name__ == "__main__":
    sys.exit(main())
