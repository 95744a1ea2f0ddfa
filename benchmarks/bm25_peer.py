"""The yardstick: plain BM25 over windows of 50 lines, one entry per file. Standard library only.

    bm25_peer.py CORPORA --queries QUERIES.jsonl --run RUN.jsonl

Identifiers are split, lower case, not stemmed; the path's words are added to every window. k1 1.5, b 0.75
(Robertson and Zaragoza, 2009). Every text file up to 1 MB is searched. No heuristics: what an index adds to this is
what it is worth.
"""

from __future__ import annotations

import argparse
import json
import math
import re
import sys
from collections import Counter, defaultdict
from collections.abc import Iterator, Sequence
from pathlib import Path

import ndcg

WINDOW_LINES = 50
MAX_BYTES = 1_000_000
K1, B = 1.5, 0.75
LIMIT = 20

_PART = re.compile(r"[A-Z]+(?=[A-Z][a-z])|[A-Z]?[a-z]+|[A-Z]+|\d+|[^\W\d_a-zA-Z]")


def tokens(text: str) -> list[str]:
    return [part.lower() for part in _PART.findall(text)]


def windows(root: Path) -> Iterator[tuple[str, int, int, Counter[str]]]:
    """path, first line, last line and term counts of every window below a folder."""
    for file in sorted(root.rglob("*")):
        path = file.relative_to(root).as_posix()
        if not file.is_file() or path.startswith((".git/", ".findling/")) or file.stat().st_size > MAX_BYTES:
            continue
        data = file.read_bytes()
        if b"\0" in data[:8192]:
            continue
        lines = data.decode("utf-8", "replace").split("\n")
        named = Counter(tokens(path))
        for start in range(0, len(lines), WINDOW_LINES):
            counts = Counter(tokens("\n".join(lines[start : start + WINDOW_LINES])))
            yield path, start + 1, min(len(lines), start + WINDOW_LINES), counts + named


def search(pieces: Sequence[tuple[str, int, int, Counter[str]]], queries: Sequence[ndcg.Judged]) -> Iterator[dict]:
    postings: dict[str, list[tuple[int, int]]] = defaultdict(list)
    lengths = []
    for number, (*_, counts) in enumerate(pieces):
        lengths.append(sum(counts.values()))
        for term, count in counts.items():
            postings[term].append((number, count))
    mean = sum(lengths) / max(1, len(lengths))
    for query in queries:
        scores: dict[int, float] = defaultdict(float)
        for term in tokens(query.text):
            found = postings.get(term, ())
            idf = math.log(1 + (len(pieces) - len(found) + 0.5) / (len(found) + 0.5))
            for number, count in found:
                norm = K1 * (1 - B + B * lengths[number] / mean)
                scores[number] += idf * count * (K1 + 1) / (count + norm)
        best: dict[str, dict] = {}
        for number in sorted(scores, key=lambda number: (-scores[number], number)):
            path, start, end, _ = pieces[number]
            best.setdefault(path, {"path": path, "start_line": start, "end_line": end, "score": scores[number]})
            if len(best) == LIMIT:
                break
        yield {"repo": query.repo, "query_id": query.id, "id": query.id, "results": list(best.values())}


def main(arguments: Sequence[str] | None = None) -> int:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("corpora", type=Path)
    parser.add_argument("--queries", type=Path, required=True)
    parser.add_argument("--run", type=Path, required=True)
    options = parser.parse_args(arguments)
    queries = ndcg.load_queries(options.queries)
    with options.run.open("w", encoding="utf-8") as file:
        for repo in sorted({query.repo for query in queries}):
            asked = [query for query in queries if query.repo == repo]
            for line in search(list(windows(options.corpora / repo)), asked):
                file.write(json.dumps(line, ensure_ascii=False) + "\n")
    print(ndcg.table(ndcg.evaluate(queries, ndcg.load_run(options.run))))
    return 0


if __name__ == "__main__":
    sys.exit(main())
