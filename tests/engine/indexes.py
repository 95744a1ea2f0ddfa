"""What the tests of this folder ask of a store: its contents without its ids, so that two stores can be compared."""

from __future__ import annotations

import os
import time
from pathlib import Path
from typing import Any

import apsw

from findling import Engine
from findling.model.types import SearchResult
from findling.store.local import checksums


def rows(engine: Engine, sql: str, *values: Any) -> list[Any]:
    connection = apsw.Connection(os.fspath(engine.store_dir / "index.db"), vfs=checksums.way())
    try:
        return list(connection.execute(sql, values))
    finally:
        connection.close()


def integrity(engine: Engine) -> str:
    return str(rows(engine, "PRAGMA integrity_check")[0][0])


def identity_of(engine: Engine) -> bytes:
    return bytes(rows(engine, "SELECT value FROM meta WHERE key='identity'")[0][0])


def contents(engine: Engine) -> dict[str, Any]:
    """Everything that the tables say about the engine's root."""
    manifest = rows(engine, "SELECT manifest_id FROM manifests WHERE root=? AND ref='live'", str(engine.root))[0][0]
    files = {}
    for path, blob_id, entry_id in rows(
        engine,
        "SELECT path, blob_id, entry_id FROM manifest_files JOIN entries USING (entry_id) WHERE manifest_id=?",
        manifest,
    ):
        files[path] = {
            "blob": rows(engine, "SELECT * FROM blobs WHERE blob_id=?", blob_id)[0][1:],
            "reading": reading(engine, blob_id),
            "definitions": rows(engine, "SELECT squashed FROM definitions WHERE blob_id=? ORDER BY 1", blob_id),
            "vectors": rows(engine, "SELECT text_hashes, data FROM vectors WHERE entry_id=?", entry_id),
        }
    return {
        "files": files,
        "term_counts": term_counts(engine, manifest),
        "totals": {name: value for name, value in manifest_row(engine).items() if name not in _NOT_COMPARED},
        "skipped": sorted(rows(engine, "SELECT path, reason, detail FROM skipped_files WHERE manifest_id=?", manifest)),
    }


_NOT_COMPARED = ("manifest_id", "root", "ref", "synced_at", "counts")


def reading(engine: Engine, blob_id: int) -> dict[str, Any]:
    """A content's parts as they are packed."""
    parts = ("terms", "symbols", "chunks", "text")
    [row] = rows(engine, f"SELECT {', '.join(parts)} FROM readings WHERE blob_id=?", blob_id)
    return dict(zip(parts, row, strict=True))


def term_counts(engine: Engine, manifest: int) -> dict[int, int]:
    """Files that have a term."""
    [(shared,)] = rows(engine, "SELECT counts FROM manifests WHERE manifest_id=?", manifest)
    sums = "SELECT term, sum(files) FROM term_counts WHERE counted_under IN (?, ?) GROUP BY term"
    return {term: files for term, files in rows(engine, sums, manifest, shared) if files}


def manifest_row(engine: Engine) -> dict[str, Any]:
    names = [row[1] for row in rows(engine, "PRAGMA table_info(manifests)")]
    row = rows(engine, "SELECT * FROM manifests WHERE root=? AND ref='live'", str(engine.root))[0]
    return dict(zip(names, row, strict=True))


YESTERDAY = time.time() - 86_400


def places(result: SearchResult) -> list[tuple[str, int, int]]:
    return [(hit.path, hit.start_line, hit.end_line) for hit in result.hits]


def write(root: Path, path: str, text: str | bytes) -> None:
    target = root / path
    target.parent.mkdir(parents=True, exist_ok=True)
    target.write_bytes(text.encode() if isinstance(text, str) else text)


SMALL = {
    "src/retry.py": (
        "class RetryPolicy:\n    '''How often a failed request is sent again.'''\n\n"
        "    def backoff(self, attempt):\n        return 2 ** attempt\n\n\n"
        "def send_again(request, policy):\n    return policy.backoff(request.attempt)\n"
    ),
    "src/cache.py": (
        "class LruCache:\n    def evict(self):\n"
        "        '''Throw the oldest entry away.'''\n        self.items.pop(0)\n\n\n"
        "def load_cache(path):\n    return LruCache()\n"
    ),
    "src/app.js": "export function startServer(port) {\n  return listen(port);\n}\n",
    "docs/guide.md": (
        "# Guide\n\nHow to start the server.\n\n## Retrying\n\nFailed requests are retried with a backoff.\n"
    ),
    "tests/test_retry.py": (
        "from src.retry import RetryPolicy\n\n\ndef test_backoff():\n    assert RetryPolicy().backoff(1) == 2\n"
    ),
}


def make(root: Path, files: dict[str, str] | None = None) -> Path:
    """``files`` below ``root``, saved yesterday: what was saved a moment before it was read is rightly read once
    more, and a test that counts changes would count that one on a machine that is fast enough."""
    root.mkdir(parents=True, exist_ok=True)
    for path, text in (SMALL if files is None else files).items():
        write(root, path, text)
        of_yesterday(root / path)
    return root


def of_yesterday(*files: Path) -> None:
    for file in files:
        os.utime(file, (YESTERDAY, YESTERDAY))
