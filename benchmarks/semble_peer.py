"""semble (PyPI) on the same folders and queries, for a table side by side.

    python -m venv PEER && PEER/bin/pip install semble==0.7.0
    PEER/bin/python semble_peer.py CORPORA --queries QUERIES.jsonl --run RUN.jsonl --model findling|DIR [--json OUT]
    python ndcg.py QUERIES.jsonl RUN.jsonl [--against OURS.jsonl]

Runs in an environment of its own, where findling need not be installed. With ``--model findling`` it is given
findling's bundled model, from the sources beside this file, so that what differs is what is made of the vectors; DIR
is an embedding model in model2vec's format (config.json, tokenizer.json, model.safetensors). Nothing is downloaded.
Writes a run that ``ndcg.py`` scores, and prints per repository the time to index and the percentiles of an answer.
"""

from __future__ import annotations

import argparse
import json
import math
import os
import statistics
import sys
import tempfile
import time
from collections.abc import Iterable, Sequence
from itertools import groupby
from pathlib import Path
from typing import Any

import ndcg
import processes

LIMIT = 20
OURS = "findling"

# Each query is asked this often after the answer that is kept; the two are timed apart, as new and asked again.
ROUNDS = 3


class OurModel:
    """findling's bundled model as semble calls a model2vec one."""

    def __init__(self) -> None:
        from findling.embedding.bundled import BundledEmbedder

        self._embedder = BundledEmbedder.open()
        self.dim = self._embedder.fingerprint.dimensions

    def encode(self, sentences: Sequence[str], **_: Any) -> Any:
        return self._embedder.encode(list(sentences))


def give_our_model() -> None:
    """From now on semble's one function that loads a model gives ours."""
    from semble.index import dense  # type: ignore[import-not-found, unused-ignore]

    model = OurModel()
    dense._load_cached = lambda _: model


def measure(root: Path, queries: Iterable[ndcg.Judged], model: str) -> tuple[list[dict[str, Any]], dict[str, Any]]:
    """The run's lines for one repository, and its times."""
    from semble import SembleIndex  # type: ignore[import-not-found, unused-ignore]

    started = time.perf_counter()
    index = SembleIndex.from_path(root, model_path=model)
    indexed_s = time.perf_counter() - started
    lines: list[dict[str, Any]] = []
    new: list[float] = []
    times: list[float] = []
    for query in queries:
        started = time.perf_counter()
        found = index.search(query.text, top_k=LIMIT)
        new.append((time.perf_counter() - started) * 1000)
        for _ in range(ROUNDS):
            started = time.perf_counter()
            index.search(query.text, top_k=LIMIT)
            times.append((time.perf_counter() - started) * 1000)
        results = [
            {
                "path": result.chunk.file_path,
                "start_line": result.chunk.start_line,
                "end_line": result.chunk.end_line,
                "score": float(result.score),
            }
            for result in found
        ]
        line = {"repo": query.repo, "query_id": query.id, "id": query.id, "query": query.text, "results": results}
        lines.append(line)
    times.sort()
    return lines, {
        "chunks": len(index.chunks),
        "index_s": indexed_s,
        "new_ms": new,
        "new_p50_ms": statistics.median(new),
        "p50_ms": times[math.ceil(0.50 * len(times)) - 1],
        "p95_ms": times[math.ceil(0.95 * len(times)) - 1],
        "private_bytes": processes.private_bytes(os.getpid())[0],
    }


def main(arguments: Sequence[str] | None = None) -> int:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("corpora", type=Path)
    parser.add_argument("--queries", type=Path, required=True)
    parser.add_argument("--run", type=Path, required=True, help="write the answers here")
    parser.add_argument("--model", required=True, help=f"{OURS!r}, or a model folder in model2vec's format")
    parser.add_argument("--repos", nargs="*", help="only these repositories")
    parser.add_argument("--json", type=Path, help="write the times here")
    options = parser.parse_args(arguments)
    queries = [
        query
        for query in ndcg.load_queries(options.queries)
        if (options.corpora / query.repo).is_dir() and (not options.repos or query.repo in options.repos)
    ]
    os.environ["HF_HUB_OFFLINE"] = "1"
    model = OURS if options.model == OURS else str(Path(options.model).resolve())
    if model == OURS:
        give_our_model()
    times: dict[str, Any] = {}
    with tempfile.TemporaryDirectory(prefix="semble-peer-") as home, options.run.open("w", encoding="utf-8") as run:
        # It keeps indexes and statistics in the user's folders: give it others, so that every index is built anew.
        os.environ.update(HOME=home, XDG_CACHE_HOME=home, XDG_DATA_HOME=home)
        print(
            "| | chunks | index | new question, p50 | asked again, p50 / p95 | private memory |\n"
            + "|---"
            + "|--:" * 5
            + "|"
        )
        for name, group in groupby(sorted(queries, key=lambda query: query.repo), key=lambda query: query.repo):
            lines, times[name] = measure(options.corpora / name, group, model)
            run.writelines(json.dumps(line, ensure_ascii=False) + "\n" for line in lines)
            print(
                "| {} | {chunks:,} | {index_s:.1f} s | {new_p50_ms:.1f} ms | {p50_ms:.1f} / {p95_ms:.1f} ms | "
                "{megabytes:.0f} MB |".format(name, megabytes=times[name]["private_bytes"] / 1e6, **times[name]),
                flush=True,
            )
        together = [took for numbers in times.values() for took in numbers["new_ms"]]
        print(
            f"\nall: {len(together)} new questions, p50 {statistics.median(together):.1f} ms; "
            f"index {sum(numbers['index_s'] for numbers in times.values()):.1f} s"
        )
    if options.json:
        options.json.write_text(json.dumps(times, indent=1), encoding="utf-8")
    return 0


if __name__ == "__main__":
    sys.exit(main())
