"""What an index of a folder costs from nothing: time, processor time and memory, beside another version; by stage.

    python benchmarks/indexing.py FOLDER ... [--against SRC] [--rounds 3] [--stages]

Each version is run by turns, in a cache of its own, and counts with its fastest round: on a busy machine compare
processor times, and those of one run of this program. ``--against`` names the ``src`` folder of another version; the
two indexes are then compared as well, row by row whatever their ids: files and all that their readings hold, names,
counts of terms, vectors, what was left out. ``--stages`` shows where the indexing process itself spends its
time; what workers take is the rest (`reading.py` takes that apart). Linux only.
"""

from __future__ import annotations

import argparse
import os
import resource
import subprocess
import sys
import tempfile
import time
from collections import Counter
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import processes

from findling.store.local import schema

STAGES = (
    ("findling.sources.discovery", "discover", "list the files"),
    ("findling.engine.indexer", "read_file", "read them"),
    ("findling.store.local.writer", "IndexWriter._blob", "rows of contents"),
    ("findling.store.local.manifest_writer", "ManifestWriter.link", "rows of the manifest"),
    ("findling.store.local.fulltext", "FulltextWriter.add", "hand documents to the text index"),
    ("findling.store.local.writer", "IndexWriter.add_vectors", "rows of vectors"),
    ("findling.store.local.batches", "BatchWriter.commit", "commit"),
    ("findling.engine.runs", "add_vectors", "vectors afterwards"),
)
"""Module, function, what it is for."""

ROWS = {
    "files": "SELECT e.path, e.docs, b.hash, b.language, b.kind, b.size, b.lines, b.encoding, b.generated, "
    "b.body_terms, b.name_terms, b.problem, b.git_id, r.terms, r.symbols, r.chunks, r.text, m.size "
    "FROM manifest_files m JOIN entries e USING (entry_id) JOIN blobs b USING (blob_id) "
    "JOIN readings r USING (blob_id)",
    "names": "SELECT DISTINCT d.squashed, b.hash FROM definitions d JOIN blobs b USING (blob_id)",
    "counts of terms": "SELECT term, sum(files) FROM term_counts GROUP BY term HAVING sum(files)",
    "vectors": "SELECT e.path, v.text_hashes, v.data, m.fingerprint FROM vectors v "
    "JOIN entries e USING (entry_id) JOIN models m USING (model_id)",
    "totals": "SELECT complete, pending, files, chunks, body_terms, name_terms FROM manifests",
    "left out": "SELECT path, reason, detail, size FROM skipped_files",
}
"""What two indexes of the same folder must have in common."""


@dataclass
class Cost:
    wall_s: float = float("inf")
    cpu_s: float = float("inf")
    peak_bytes: int = 0

    def __str__(self) -> str:
        return f"{self.wall_s:.2f} s, {self.cpu_s:.2f} s of the processor, {self.peak_bytes / 1e6:.0f} MB"


def index(root: Path, source: Path, cache: Path) -> Cost:
    """Build the index of ``root`` by a version, in a new ``cache``."""
    env = {**os.environ, "XDG_CACHE_HOME": str(cache), "PYTHONPATH": str(source)}
    env.pop("PYTHONDONTWRITEBYTECODE", None)  # nobody compiles anew what is installed
    before = resource.getrusage(resource.RUSAGE_CHILDREN)
    command = (sys.executable, "-P", "-m", "findling", "index", "--root", str(root), "--cache")
    done = processes.run(command, env=env, index=cache, sample=True)
    after = resource.getrusage(resource.RUSAGE_CHILDREN)
    if done.returncode:
        raise SystemExit(done.stderr.decode())
    cpu_s = after.ru_utime + after.ru_stime - before.ru_utime - before.ru_stime
    return Cost(done.took_s, cpu_s, done.peak_without_index_bytes)


def rows(store: Path) -> Iterator[tuple[str, Counter[Any]]]:
    """What an index holds, by kind, whatever its ids."""
    connection = schema.open_unlinked(store / schema.DATABASE, create=False)
    try:
        for kind, sql in ROWS.items():
            yield kind, Counter(map(tuple, connection.execute(sql)))
    finally:
        connection.close()


def compare(one: Path, other: Path) -> str:
    """What two indexes have in common, and where they differ."""
    told = []
    for (kind, mine), (_, theirs) in zip(rows(one), rows(other), strict=True):
        differing = (mine - theirs).total() + (theirs - mine).total()
        told.append(f"{kind} {mine.total():,} " + ("the same" if not differing else f"and {differing:,} DIFFERENT"))
    return "; ".join(told)


def store_of(cache: Path) -> Path:
    (found,) = cache.rglob(schema.DATABASE)
    return found.parent


def stages(root: Path) -> str:
    """Run in a process of its own: a table of what the indexing process does."""
    import importlib

    from findling import Engine

    took: Counter[str] = Counter()

    def timed(function: Callable[..., Any], name: str) -> Callable[..., Any]:
        def wrapped(*args: Any, **options: Any) -> Any:
            began = time.thread_time()
            try:
                return function(*args, **options)
            finally:
                took[name] += time.thread_time() - began

        return wrapped

    for module, path, name in STAGES:
        owner: Any = importlib.import_module(module)
        *classes, function = path.split(".")
        for part in classes:
            owner = getattr(owner, part)
        setattr(owner, function, timed(getattr(owner, function), name))
    began = time.thread_time()
    with tempfile.TemporaryDirectory() as cache:
        os.environ["XDG_CACHE_HOME"] = cache
        with Engine.open(root=root, cache=True) as engine:
            engine.index()
    whole = time.thread_time() - began
    own = resource.getrusage(resource.RUSAGE_SELF)
    workers = resource.getrusage(resource.RUSAGE_CHILDREN)
    lines = [f"  {name:34} {took[name]:7.2f} s" for _, _, name in STAGES]
    lines.append(f"  {'else, in the same thread':34} {whole - sum(took.values()):7.2f} s")
    others = own.ru_utime + own.ru_stime - time.thread_time()
    lines.append(f"  {'its other threads (the text index)':34} {others:7.2f} s")
    lines.append(f"  {'worker processes':34} {workers.ru_utime + workers.ru_stime:7.2f} s")
    return "\n".join(lines)


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("folders", type=Path, nargs="+")
    parser.add_argument("--against", type=Path, help="the src folder of another version")
    parser.add_argument("--rounds", type=int, default=3)
    parser.add_argument("--stages", action="store_true")
    parser.add_argument("--only-stages", action="store_true", help=argparse.SUPPRESS)
    options = parser.parse_args()
    if options.only_stages:
        print(stages(options.folders[0].resolve()))
        return
    own = Path(__file__).resolve().parent.parent / "src"
    versions = [options.against.resolve(), own] if options.against else [own]
    for folder in options.folders:
        root = folder.resolve()
        costs = [Cost() for _ in versions]
        with tempfile.TemporaryDirectory(prefix="findling-indexing-") as scratch:
            caches = [Path(scratch)]
            for round_ in range(options.rounds):
                caches = [Path(scratch) / f"{round_}-{number}" for number in range(len(versions))]
                for best, source, cache in zip(costs, versions, caches, strict=True):
                    cost = index(root, source, cache)
                    best.wall_s, best.cpu_s = min(best.wall_s, cost.wall_s), min(best.cpu_s, cost.cpu_s)
                    best.peak_bytes = max(best.peak_bytes, cost.peak_bytes)
            print(f"{folder.name}: {costs[-1]}")
            if options.against:
                before, now = costs
                print(f"  before: {before}; {before.wall_s / now.wall_s:.2f} and {before.cpu_s / now.cpu_s:.2f} times")
                print(f"  {compare(*map(store_of, caches))}", flush=True)
        if options.stages:
            command = (sys.executable, __file__, str(root), "--only-stages")
            print(subprocess.run(command, check=True, capture_output=True, text=True).stdout, end="", flush=True)


if __name__ == "__main__":
    main()
