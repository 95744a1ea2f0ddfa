"""What turning text into vectors costs, and finding the nearest of them.

    embedding.py model ROOT            the bundled model: chunks a second and core, a query, opening it
    embedding.py pipeline ROOT         findling around an embedder that takes no time: chunks a second
    embedding.py vectors               nearest of 100,000 vectors of 256 and of 768 numbers, beside the exact scan
    embedding.py provider URL MODEL    1,000 chunks through a server that speaks Ollama's protocol
    embedding.py folder DIR            the same with a model of a folder, in this process
    embedding.py real                  both with all-MiniLM-L6-v2; run it with the Python of `make test-real-embeddings`

``vectors`` and ``pipeline`` work on indexes of their own in a temporary folder. Times are of one process; the load
average stands with each. ``--json FILE`` also writes the numbers.
"""

from __future__ import annotations

import argparse
import json
import os
import re
import statistics
import subprocess
import sys
import tempfile
import time
from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import Any

import numpy as np
from msgspec.structs import replace
from numpy.typing import NDArray

from findling.config import Config
from findling.embedding import Batch, Embedder, Fingerprint, open_embedder
from findling.engine import Engine
from findling.engine.embedding_pass import embed
from findling.engine.store import WRITER_WAIT_S
from findling.search.fusion import NEAR_LEAST, of_vectors
from findling.search.scope import EVERYWHERE
from findling.search.semantic import SemanticChannel, cosines_int8
from findling.store import hamming
from findling.store.local.reader import IndexReader
from findling.store.local.writer import IndexWriter

CHUNK_CHARS = 1500
MODEL_CHUNKS = 5000
QUERIES = 200
OPENINGS = 5

FILES, LINES, CHUNK_LINES = 4000, 125, 5
"""4,000 files of 25 chunks: 100,000 vectors."""

NEAREST = 10
PER_CLUSTER, SPREAD = 50, 0.8
"""Vectors lie in groups, as those of texts do: around 2,000 centres, at a cosine of about 0.78 with theirs."""

PROVIDER_CHUNKS = 1000
_NUMBER = re.compile(r"value (\d+)")

_OPEN = """
import time, numpy
from findling.embedding import open_embedder
import findling.embedding.bundled
began = time.perf_counter()
embedder = open_embedder(verify=False)
opened = time.perf_counter()
embedder.encode_query("where a failed request is sent again")
print(opened - began, time.perf_counter() - began)
"""


class Instant:
    """An embedder that takes no time: a row for each text, out of a table. Any of several threads may ask."""

    problem = None

    def __init__(self, rows: NDArray[np.float32]) -> None:
        self._rows = rows
        self._given = 0
        self.texts: list[str] = []
        self.places: dict[int, int] = {}
        """The number that a text holds -> its row."""
        self.query = rows[0]
        self.fingerprint = Fingerprint("ollama", "instant", "1", rows.shape[1])

    def encode(self, texts: Sequence[str]) -> NDArray[np.float32]:
        return self.embed_batch(texts).rows

    def encode_query(self, text: str) -> NDArray[np.float32]:
        return self.query

    def embed_batch(self, texts: Sequence[str], *, deadline: float | None = None) -> Batch:
        places = (self._given + np.arange(len(texts))) % len(self._rows)
        self._given += len(texts)
        self.texts += texts
        for text, place in zip(texts, places.tolist(), strict=True):
            if found := _NUMBER.search(text):
                self.places[int(found[1])] = place
        return Batch(self._rows[places])


# --- the bundled model -------------------------------------------------------------------------------------------


def model(root: Path) -> dict[str, Any]:
    texts = pieces(root, MODEL_CHUNKS)
    embedder = open_embedder()
    embedder.encode(texts[: len(texts) // 10])  # words are remembered; the first texts meet them
    began, used = time.perf_counter(), time.process_time()
    embedder.encode(texts)
    used, took = time.process_time() - used, time.perf_counter() - began
    asked = [" ".join(text.split()[:8]) for text in texts[:: max(1, len(texts) // QUERIES)]]
    times = []
    for text in asked:
        at = time.perf_counter()
        embedder.encode_query(text)
        times.append((time.perf_counter() - at) * 1000)
    opened = [
        [float(number) * 1000 for number in subprocess.check_output([sys.executable, "-c", _OPEN]).split()]
        for _ in range(OPENINGS)
    ]
    return {
        "model": f"{embedder.fingerprint.model}, {embedder.fingerprint.dimensions} dimensions",
        "chunks": len(texts),
        "characters of a chunk": round(statistics.mean(map(len, texts))),
        "chunks/s of processor time": round(len(texts) / used),
        "chunks/s of wall time": round(len(texts) / took),
        "query ms p50": round(statistics.median(times), 3),
        "query ms p95": round(float(np.percentile(times, 95)), 3),
        "open ms": round(statistics.median(opening for opening, _ in opened), 1),
        "open and first query ms": round(statistics.median(both for _, both in opened), 1),
    }


def pieces(root: Path, count: int) -> list[str]:
    """Texts of `CHUNK_CHARS` from the files of a folder, in path order."""
    found: list[str] = []
    for path in sorted(root.rglob("*")):
        if path.suffix not in (".py", ".js", ".ts", ".go", ".java", ".c", ".h", ".rs", ".md") or not path.is_file():
            continue
        text = path.read_text(encoding="utf-8", errors="replace")
        found += [text[at : at + CHUNK_CHARS] for at in range(0, len(text) - CHUNK_CHARS, CHUNK_CHARS)]
        if len(found) >= count:
            return found[:count]
    if not found:
        sys.exit(f"{root} holds no source of {CHUNK_CHARS} characters")
    return found


# --- findling around an embedder ---------------------------------------------------------------------------------


def pipeline(root: Path) -> dict[str, Any]:
    rows = unit(np.random.default_rng(1).standard_normal((4096, 768)).astype(np.float32))
    with Engine.open(root.resolve(), root=root.resolve(), cache=True) as engine:
        engine.index(embed=False)
        began, used = time.perf_counter(), time.process_time()
        chunks = embed_all(engine, Instant(rows))
        used, took = time.process_time() - used, time.perf_counter() - began
    return {
        "chunks": chunks,
        "dimensions": rows.shape[1],
        "chunks/s of wall time": round(chunks / took),
        "chunks/s of processor time": round(chunks / used),
    }


def embed_all(engine: Engine, embedder: Embedder) -> int:
    from findling.store.local.reader import IndexReader

    reader = IndexReader(engine.store_dir, *engine.manifest_key)
    try:
        return embed(
            lambda: IndexWriter(engine.store_dir, wait_s=WRITER_WAIT_S),
            reader,
            engine.root,
            embedder,
            max_bytes=engine.config.index.max_file_bytes,
        )
    finally:
        reader.close()


# --- the nearest vectors -----------------------------------------------------------------------------------------


def nearest(folder: Path) -> dict[str, Any]:
    root = folder / "many"
    root.mkdir()
    number = 0
    for file in range(FILES):
        lines = [f"value {number + line} {(number + line) * 7919 % 9973}" for line in range(LINES)]
        number += LINES
        (root / f"f{file:05}.conf").write_text("\n".join(lines) + "\n", encoding="utf-8")
    small = replace(Config().semantic, chunk_max_lines=CHUNK_LINES, chunk_overlap_lines=0)
    told: dict[str, Any] = {}
    with Engine.open(root, root=root, config=replace(Config(), semantic=small)) as engine:
        report = engine.index(embed=False)
        for dimensions in (256, 768):
            rows = grouped(report.chunks, dimensions)
            embedder = Instant(rows)
            told["chunks"] = embed_all(engine, embedder)
            told[f"{dimensions} dimensions"] = ask(engine, embedder, rows)
    return told


def ask(engine: Engine, embedder: Instant, rows: NDArray[np.float32]) -> dict[str, Any]:
    """The nearest by bits of all and int8 of the best, as arrays; by the index (the same bits, then every stored vector
    of the files that they name); and by a scan of all float32 vectors."""
    dice = np.random.default_rng(2)
    reader = IndexReader(engine.store_dir, *engine.manifest_key)
    with reader.snapshot():
        model_id = reader.models.id_of(embedder.fingerprint.id)
    assert model_id is not None
    channel = SemanticChannel(reader, embedder, model_id)
    bits = np.packbits(rows >= 0, axis=1)
    whole_rows = np.rint(rows * (127 / np.abs(rows).max())).astype(np.int8)
    arrays, whole, scanned, right, right_arrays = [], [], [], [], []
    try:
        for turn in range(QUERIES + 1):
            near_one = rows[dice.integers(len(rows))] + SPREAD / 2 * unit(dice.standard_normal((1, rows.shape[1])))[0]
            embedder.query = unit(near_one[np.newaxis].astype(np.float32))[0]
            at = time.perf_counter()
            candidates = hamming.top_by_bits(bits, np.packbits(embedder.query >= 0), NEAR_LEAST)
            near = cosines_int8(whole_rows[candidates], embedder.query)
            by_arrays = candidates[np.argsort(-near, kind="stable")[:NEAREST]]
            between = time.perf_counter()
            with reader.snapshot():
                found = of_vectors(reader, channel, channel.encode(f"question {turn}"), EVERYWHERE, NEAREST)
            done = time.perf_counter()
            cosines = rows @ embedder.query
            best = set(np.argpartition(-cosines, NEAREST)[:NEAREST].tolist())
            if not turn:
                continue  # the first opens the files
            arrays.append((between - at) * 1000)
            right_arrays.append(len(best & set(by_arrays.tolist())) / NEAREST)
            whole.append((done - between) * 1000)
            scanned.append((time.perf_counter() - done) * 1000)
            right.append(len(best & {embedder.places[number_of(near)] for near in found}) / NEAREST)
    finally:
        reader.close()
    return {
        "arrays ms p50": round(statistics.median(arrays), 2),
        f"arrays recall@{NEAREST}": round(statistics.mean(right_arrays), 3),
        "from the index ms p50": round(statistics.median(whole), 2),
        "from the index ms p95": round(float(np.percentile(whole, 95)), 2),
        f"from the index recall@{NEAREST}": round(statistics.mean(right), 3),
        "exact scan in float32 ms p50": round(statistics.median(scanned), 2),
    }


def number_of(near: Any) -> int:
    """The number in the first line of a passage, from where it stands."""
    return int(Path(near.path).stem[1:]) * LINES + near.line_start - 1


def grouped(count: int, dimensions: int) -> NDArray[np.float32]:
    """Unit vectors around common centres, those of a group not one after the other."""
    dice = np.random.default_rng(dimensions)
    centres = unit(dice.standard_normal((max(1, count // PER_CLUSTER), dimensions)).astype(np.float32))
    rows = centres[dice.integers(len(centres), size=count)]
    apart = dice.standard_normal((count, dimensions)).astype(np.float32)
    return unit(rows + SPREAD * unit(apart))


def unit(rows: NDArray[np.float32]) -> NDArray[np.float32]:
    found: NDArray[np.float32] = (rows / np.linalg.norm(rows, axis=1, keepdims=True)).astype(np.float32)
    return found


# --- a real model ------------------------------------------------------------------------------------------------


def source_chunks() -> list[str]:
    """A thousand chunks of this repository's source, as findling cuts and embeds them."""
    source = Path(__file__).resolve().parent.parent / "src"
    recorder = Instant(np.ones((1, 8), np.float32))
    with Engine.open(source, root=source, cache=True) as engine:
        engine.index(embed=False)
        embed_all(engine, recorder)
    return recorder.texts[:PROVIDER_CHUNKS]


def provider(embedder: Embedder, texts: Sequence[str]) -> dict[str, Any]:
    """All chunks at once, then some queries."""
    began, used = time.perf_counter(), time.process_time()
    made = embedder.embed_batch(texts)
    took, used = time.perf_counter() - began, time.process_time() - used
    times = []
    for text in texts[:20]:
        at = time.perf_counter()
        embedder.encode_query(" ".join(text.split()[:8]))
        times.append((time.perf_counter() - at) * 1000)
    return {
        "model": f"{embedder.fingerprint.model}, {embedder.fingerprint.dimensions} dimensions",
        "chunks": len(texts),
        "characters of a chunk": round(statistics.mean(map(len, texts))),
        "failed": len(made.failed),
        "seconds": round(took, 1),
        "chunks/s": round(len(texts) / took, 1),
        "processor seconds of this process": round(used, 1),
        "query ms p50": round(statistics.median(times), 1),
    }


def real(folder: Path) -> dict[str, Any]:
    """llama.cpp's server as Ollama, and the int8 model of ONNX in this process."""
    sys.path.insert(0, str(Path(__file__).resolve().parent.parent / "tests" / "real_embeddings"))
    import llama_as_ollama
    import minilm

    texts = source_chunks()
    gguf = folder / "all-minilm-f16.gguf"
    minilm.write_gguf(gguf)
    with llama_as_ollama.serving(gguf) as url:
        served = provider(of_server(url, llama_as_ollama.MODEL), texts)
    here = open_embedder("local", str(minilm.onnx_folder(folder / "onnx")))
    return {"served": served, "in this process": provider(here, texts)}


def of_server(url: str, name: str) -> Embedder:
    semantic = replace(Config().semantic, ollama_url=url, timeout_ms=120_000)
    return open_embedder("ollama", name, config=replace(Config(), semantic=semantic))


# --- the command -------------------------------------------------------------------------------------------------


def flat(told: dict[str, Any], before: str = "") -> Iterator[tuple[str, Any]]:
    for name, value in told.items():
        if isinstance(value, dict):
            yield from flat(value, f"{before}{name}: ")
        else:
            yield f"{before}{name}", value


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("what", choices=("model", "pipeline", "vectors", "provider", "folder", "real"))
    parser.add_argument("where", nargs="*", help="ROOT, URL MODEL, or DIR")
    parser.add_argument("--json", type=Path)
    args = parser.parse_args()
    wanted = {"model": 1, "pipeline": 1, "vectors": 0, "provider": 2, "folder": 1, "real": 0}[args.what]
    if len(args.where) != wanted:
        parser.error(f"{args.what} takes {wanted} arguments")
    with tempfile.TemporaryDirectory(prefix="findling-bench-") as name:
        os.environ["XDG_CACHE_HOME"] = name
        load = os.getloadavg()[0]
        if args.what == "model":
            told = model(Path(args.where[0]))
        elif args.what == "pipeline":
            told = pipeline(Path(args.where[0]))
        elif args.what == "vectors":
            told = nearest(Path(name).resolve())
        elif args.what == "provider":
            told = provider(of_server(*args.where), source_chunks())
        elif args.what == "real":
            told = real(Path(name))
        else:
            told = provider(open_embedder("local", str(Path(args.where[0]).resolve())), source_chunks())
    told["load"] = f"{load:.1f} before, {os.getloadavg()[0]:.1f} after"
    for key, value in flat(told):
        print(f"{key}: {value}")
    if args.json:
        args.json.write_text(json.dumps({args.what: told}, indent=1) + "\n", encoding="utf-8")


if __name__ == "__main__":
    main()
