"""A shared store beside the index on this machine, in one run: equal answers, time in the store, quality, sizes.

    python benchmarks/scale.py postgresql://USER@HOST/DATABASE CORPORA --queries FILE [--repos NAME ...] [--judge]

CORPORA is a folder of folders, each of which is indexed both ways (locally in the user's cache folder); FILE has a
judged question a line, with ``repo`` and ``query``. Differences are printed as they are found. The first question of
each folder is asked before anything is timed. The store's time is what the questions wait for the database, and for
Milvus where FINDLING_MILVUS names one.
"""

from __future__ import annotations

import argparse
import json
import os
import statistics
import time
from collections.abc import Iterator, Sequence
from math import log2
from pathlib import Path
from typing import Any

from findling import Engine
from findling.store.postgresql.database import Database

LIMIT = 10


class Waited:
    """What questions wait for the database, and how often."""

    def __init__(self) -> None:
        self.seconds = 0.0
        self.trips = 0
        for name in ("begin", "ask"):
            setattr(Database, name, self._timed(getattr(Database, name)))

    def _timed(self, method: Any) -> Any:
        def called(*args: Any) -> Any:
            began = time.perf_counter()
            try:
                return method(*args)
            finally:
                self.seconds += time.perf_counter() - began
                self.trips += 1

        return called

    def take(self) -> tuple[float, int]:
        found = self.seconds * 1000, self.trips
        self.seconds, self.trips = 0.0, 0
        return found


def questions_of(file: Path, repos: Sequence[str]) -> dict[str, list[dict[str, Any]]]:
    found: dict[str, list[dict[str, Any]]] = {}
    for line in file.read_text(encoding="utf-8").splitlines():
        row = json.loads(line)
        if not repos or row["repo"] in repos:
            found.setdefault(row["repo"], []).append(row)
    return found


def opened(folder: Path, url: str | None) -> Engine:
    if url is None:
        os.environ.pop("FINDLING_STORE", None)
    else:
        os.environ["FINDLING_STORE"] = url
    return Engine.open(root=folder, cache=True)


def asked(engine: Engine, query: str) -> tuple[list[tuple[str, int, int]], float]:
    began = time.perf_counter()
    result = engine.search(query, limit=LIMIT, wait_s=0)
    took = (time.perf_counter() - began) * 1000
    if said := [note for note in result.notes if "PostgreSQL proposed" in note]:
        print(f"  {said[0]}", flush=True)
    return [(hit.path, hit.start_line, hit.end_line) for hit in result.hits], took


def ndcg(places: Sequence[tuple[str, int, int]], relevant: Sequence[dict[str, Any]]) -> float:
    """Over files, each counted once, at `LIMIT`."""
    wanted = {row["path"] for row in relevant}
    files = list(dict.fromkeys(path for path, _, _ in places))
    gained = sum(1 / log2(at + 2) for at, path in enumerate(files) if path in wanted)
    best = sum(1 / log2(at + 2) for at in range(min(LIMIT, len(wanted))))
    return gained / best if best else 0.0


def percentiles(values: Sequence[float]) -> str:
    ordered = sorted(values)
    return f"{statistics.median(ordered):.0f} / {ordered[int(len(ordered) * 0.95)]:.0f}"


def compared(folder: Path, rows: Sequence[dict[str, Any]], url: str, waited: Waited) -> Iterator[dict[str, Any]]:
    """What each question of a folder came to."""
    with opened(folder, None) as local:
        began = time.perf_counter()
        local.index()
        local_s = time.perf_counter() - began
        with opened(folder, url) as remote:
            began = time.perf_counter()
            report = remote.index()
            remote_s = time.perf_counter() - began
            began = time.perf_counter()
            remote.index()
            again_s = time.perf_counter() - began
            print(
                f"{folder.name}: {report.files:,} files, {report.chunks:,} new chunks; "
                f"indexed in {local_s:.1f} s here, {remote_s:.1f} s in the store, again in {again_s:.2f} s",
                flush=True,
            )
            for engine in (local, remote):
                asked(engine, "the first question opens everything")
            for row in rows:
                here, here_ms = asked(local, row["query"])
                waited.take()
                there, there_ms = asked(remote, row["query"])
                store_ms, trips = waited.take()
                if here != there:
                    print(f"  differs: {row['query'][:100]!r}\n    here  {here[:4]}\n    there {there[:4]}", flush=True)
                yield {
                    "same": here == there,
                    "here_ms": here_ms,
                    "there_ms": there_ms,
                    "store_ms": store_ms,
                    "trips": trips,
                    "ndcg": (ndcg(here, row.get("relevant", ())), ndcg(there, row.get("relevant", ()))),
                }


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("url")
    parser.add_argument("corpora", type=Path)
    parser.add_argument("--queries", type=Path, required=True)
    parser.add_argument("--repos", nargs="*", default=())
    args = parser.parse_args()
    waited = Waited()
    found: list[dict[str, Any]] = []
    for name, rows in questions_of(args.queries, args.repos).items():
        if (args.corpora / name).is_dir():
            found += compared(args.corpora / name, rows, args.url, waited)
    if not found:
        raise SystemExit("No question's folder is there.")
    print(f"\nequal answers: {sum(row['same'] for row in found)} of {len(found)}")
    here, there = (statistics.mean(row["ndcg"][side] for row in found) for side in (0, 1))
    print(f"NDCG@{LIMIT}: {here:.4f} here, {there:.4f} in the store")
    print(f"ms a question, p50 / p95: {percentiles([row['here_ms'] for row in found])} here, ", end="")
    print(f"{percentiles([row['there_ms'] for row in found])} with the store, of which it took ", end="")
    print(percentiles([row["store_ms"] for row in found]))
    trips = [row["trips"] for row in found]
    print(f"round trips: {statistics.median(trips):.0f} / {max(trips)} (p50 / most); ", end="")
    print(f"{sum(count <= 4 for count in trips)} of {len(trips)} in four")


if __name__ == "__main__":
    main()
