"""What each signal of the ranking is worth: all judged queries with one signal left out at a time.

    ablation.py CORPORA --queries QUERIES.jsonl [--mode auto] [--cache]

The corpora are indexed first where they are not yet. A difference is of the mean over repositories, with the interval
of a paired bootstrap over queries (`ndcg.compare`); one that holds 0 says that the signal shows no effect here.
"""

from __future__ import annotations

import argparse
import sys
from collections.abc import Sequence
from pathlib import Path

import ndcg

from findling.engine import Engine
from findling.search.ranking import formula
from findling.types import MODES

LIMIT = 10


def ask(engines: dict[str, Engine], queries: Sequence[ndcg.Judged], mode: str) -> dict[str, ndcg.Answer]:
    """The answers to all queries, by the query's id."""
    run = {}
    for query in queries:
        result = engines[query.repo].search(query.text, limit=LIMIT, mode=mode, wait_s=0.0)
        places = tuple(ndcg.Result(hit.path, hit.start_line, hit.end_line) for hit in result.hits)
        run[query.id] = ndcg.Answer(places, None)
    return run


def main(arguments: Sequence[str] | None = None) -> int:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("corpora", type=Path)
    parser.add_argument("--queries", type=Path, required=True)
    parser.add_argument("--mode", choices=MODES, default="auto")
    parser.add_argument("--cache", action="store_true", help="keep the indexes in the user's cache folder")
    options = parser.parse_args(arguments)
    queries = ndcg.load_queries(options.queries)
    engines = {}
    for repo in sorted({query.repo for query in queries}):
        root = options.corpora / repo
        engines[repo] = Engine.open(root, root=root, cache=options.cache)
        engines[repo].index()
    weights = dict(formula.SIGNALS)
    full = ask(engines, queries, options.mode)
    print("| left out | NDCG@10 | difference | 95 % |\n|---|--:|--:|---|")
    print(f"| nothing | {ndcg.evaluate(queries, full).all.ndcg.value:.4f} | | |")
    for name, signal in weights.items():
        formula.SIGNALS = {**weights, name: formula.Signal(0.0, signal.words)}
        without = ask(engines, queries, options.mode)
        found = ndcg.compare(queries, without, full).difference
        headline = ndcg.evaluate(queries, without).all.ndcg.value
        print(f"| {name} | {headline:.4f} | {found.value:+.4f} | [{found.low:+.4f}, {found.high:+.4f}] |", flush=True)
    formula.SIGNALS = weights
    return 0


if __name__ == "__main__":
    sys.exit(main())
