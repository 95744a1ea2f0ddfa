"""The times and sizes that the requirements name, measured on a folder of real files.

    targets.py FOLDER [--ollama URL --model MODEL]

FOLDER has at least a hundred documents (.md, .rst) and should have ten thousand passages; several repositories in one
folder do. It is only read: documents are copied, and indexes lie in a temporary folder. ``--ollama`` measures with a
model of that server instead of the bundled one: its part of the time is the server's. Prints a Markdown table with the
ids of docs/requirements.md, and ends with status 1 where a floor is missed.
"""

from __future__ import annotations

import argparse
import json
import os
import shutil
import sqlite3
import statistics
import tempfile
import time
from collections.abc import Callable, Iterator, Sequence
from contextlib import closing
from itertools import islice
from pathlib import Path
from typing import Any, NamedTuple

from findling.config import Config
from findling.config.options import Embedding, Semantic
from findling.contracts import Workspace, call
from findling.embedding import open_embedder
from findling.engine import Engine

DOCUMENTS, AGENTS, CHUNKS, ONES = 100, 10, 1_000, 50
MOST_BYTES = 60_000
"""Of a document that is copied: a plan or a page, not a generated reference."""

QUESTIONS = (
    "how is a failed request sent again",
    "installation instructions",
    "how to configure the server",
    "what changed in the last release",
    "error handling",
    "how do I run the tests",
    "write a plugin",
    "command line options",
    "where is the cache stored",
    "deprecated functions",
    "contributing guidelines",
    "database connection settings",
    "parse arguments",
    "which license applies",
    "performance tips",
    "how to report a bug",
    "validate input against a schema",
    "supported platforms",
    "read a file line by line",
    "authentication and tokens",
)
ROUNDS = 3


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("folder", type=Path)
    parser.add_argument("--ollama", default="")
    parser.add_argument("--model", default="nomic-embed-text")
    args = parser.parse_args()
    config = Config()
    if args.ollama:
        config = Config(
            semantic=Semantic(ollama_url=args.ollama), embedding=Embedding(provider="ollama", model=args.model)
        )
    with tempfile.TemporaryDirectory(prefix="findling-targets-") as folder:
        os.environ["XDG_CACHE_HOME"] = str(Path(folder) / "cache")
        print(f"load {os.getloadavg()[0]:.1f}, model {args.model if args.ollama else 'bundled'}\n")
        print("| id | what | floor | measured |\n|---|---|--:|--:|")
        missed = False
        for row in measured(args.folder.resolve(), Path(folder), config):
            late = row.floor is not None and row.value > row.floor
            missed = missed or late
            floor = "" if row.floor is None else f"{row.floor:g} {row.unit}"
            value = row.shown or f"{row.value:.3g} {row.unit}"
            print(f"| {row.id} | {row.what} | {floor} | {value}{': **missed**' if late else ''} |", flush=True)
    raise SystemExit(1 if missed else 0)


class Row(NamedTuple):
    """``value`` in ``unit``, ``shown`` in other words where there are some, and the ``floor`` that it must not
    exceed."""

    id: str
    what: str
    floor: float | None
    value: float
    unit: str
    shown: str = ""


def measured(folder: Path, work: Path, config: Config) -> Iterator[Row]:
    documents = documents_below(folder)
    texts = [path.read_text(encoding="utf-8", errors="replace") for path in documents]
    yield from embedding_one(texts, config)
    yield from a_plan(documents, work / "plan", config)
    yield from a_hundred(documents, work / "docs", config)
    with Workspace(folder, root=folder, cache=True, config=config) as workspace:
        yield from all_of_it(workspace)


def documents_below(folder: Path) -> list[Path]:
    found = sorted(path for ending in ("md", "rst") for path in folder.rglob(f"*.{ending}") if path.is_file())
    found = [path for path in found if 500 < path.stat().st_size < MOST_BYTES]
    if len(found) < DOCUMENTS:
        raise SystemExit(f"{folder} has {len(found)} documents of a usual size; {DOCUMENTS} are needed.")
    step = len(found) // DOCUMENTS
    return found[::step][:DOCUMENTS]


def embedding_one(texts: Sequence[str], config: Config) -> Iterator[Row]:
    provider, model = config.embedding.provider, config.embedding.model
    named = provider == "ollama"
    embedder = open_embedder("ollama", model, config=config) if named else open_embedder()
    times = [seconds(lambda text=text: embedder.encode([text[:2000]])) for text in texts[:ONES]]
    yield Row("S1-39", "one passage, p50", 50, statistics.median(times) * 1000, "ms")


def a_plan(documents: Sequence[Path], root: Path, config: Config) -> Iterator[Row]:
    plan = root / "plans" / "0001-plan"
    (plan / "agents").mkdir(parents=True)
    shutil.copyfile(documents[0], plan / "plan.md")
    for number, path in enumerate(documents[1 : 1 + AGENTS]):
        shutil.copyfile(path, plan / "agents" / f"{number:03}_agent.md")
    with Engine.open(root, root=root, cache=True, config=config) as engine:
        took = seconds(engine.index)
        chunks = engine.status().coverage.embedded_chunks
    yield Row("S1-40", f"a plan of {AGENTS} agents from nothing ({chunks} passages)", 2, took, "s")


def a_hundred(documents: Sequence[Path], root: Path, config: Config) -> Iterator[Row]:
    root.mkdir()
    for number, path in enumerate(documents):
        shutil.copyfile(path, root / f"{number:03}_{path.stem}.md")
    with Workspace(root, root=root, cache=True, config=config, background=True) as workspace:
        workspace.engine.index()
        took = seconds(lambda: ask(workspace, "reindex_vectors", force=True))
        yield Row("S1-42", f"{DOCUMENTS} documents again, all vectors", 30, took, "s")
        began = time.monotonic()
        begun = seconds(lambda: ask(workspace, "index_repo", force=True))
        waits = [seconds(lambda: ask(workspace, "search_docs", query=QUESTIONS[0]))]
        while workspace.jobs.active is not None:
            waits.append(seconds(lambda: ask(workspace, "search_docs", query=QUESTIONS[len(waits) % 20])))
        took = time.monotonic() - began
        asked = f"{len(waits)} questions meanwhile, the slowest {ms(max(waits))}"
        yield Row("S1-42", f"the same as a job; {asked}", 30, took, "s")
        yield Row("S1-42", "how soon the call for it returns, as a share of it", 0.5, begun / took, "")
        for tool in ("semantic_search", "search_docs", "query_docs"):
            yield of_questions(workspace, tool, "S1-41, S1-46", f"{tool}, {DOCUMENTS} documents", 100)


def all_of_it(workspace: Workspace) -> Iterator[Row]:
    took = seconds(lambda: workspace.engine.index(embed=False))
    coverage = workspace.engine.status().coverage
    yield Row("S1-46", f"text of {coverage.files:,} files, {coverage.chunks:,} passages, from nothing", None, took, "s")
    took = seconds(workspace.engine.embed)
    chunks = workspace.engine.status().coverage.embedded_chunks
    yield Row("S4-43", f"{CHUNKS:,} passages embedded, of {chunks:,}", 60, took / chunks * CHUNKS, "s")
    yield of_questions(workspace, "search_semantic", "S4-20, S4-44", f"search_semantic over {chunks:,} vectors", 500)
    for tool in ("semantic_search", "search_docs", "query_docs"):
        yield of_questions(workspace, tool, "S1-46", f"{tool}, all of the folder's documents", None)
    yield from size(workspace, chunks)


def size(workspace: Workspace, chunks: int) -> Iterator[Row]:
    database = workspace.engine.store_dir / "index.db"
    with closing(sqlite3.connect(f"file:{database}?mode=ro", uri=True)) as connection:
        (kept,) = connection.execute("SELECT sum(length(data) + length(text_hashes)) FROM vectors").fetchone()
        (dimensions,) = connection.execute("SELECT dimensions FROM models").fetchone()
    some = [len(json.dumps(row["embedding"])) for row in islice(workspace.engine.vectors(), 20)]
    as_json = statistics.mean(some) * 10_000 / 1e6
    what = f"vectors of 10,000 passages, {dimensions} dimensions (as JSON: {as_json:.0f} MB)"
    yield Row("S4-49", what, 120, kept / chunks * 10_000 / 1e6, "MB")


def of_questions(workspace: Workspace, tool: str, id: str, what: str, floor: float | None) -> Row:
    """The time of a question; the floor is of the 95th percentile."""
    ask(workspace, tool, query="warm up")
    times = sorted(seconds(lambda q=q: ask(workspace, tool, query=q)) for _ in range(ROUNDS) for q in QUESTIONS)
    late = times[int(len(times) * 0.95)] * 1000
    shown = f"{ms(statistics.median(times))} / {late:.1f} ms"
    return Row(id, f"{what}, p50 / p95", floor, late, "ms", shown)


def ask(workspace: Workspace, tool: str, **arguments: Any) -> None:
    result = call(tool, arguments, workspace)
    if result.is_error or (result.structured or {}).get("available") is False:
        raise SystemExit(f"{tool}: {result.text_blocks}")


def seconds(work: Callable[[], object]) -> float:
    began = time.perf_counter()
    work()
    return time.perf_counter() - began


def ms(value: float) -> str:
    return f"{value * 1000:.1f} ms"


if __name__ == "__main__":
    main()
