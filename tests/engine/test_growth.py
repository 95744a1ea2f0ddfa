"""What an index keeps apart of many files says what their own rows say, from the first file on as from any later."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest
from indexes import SMALL, contents, has_grown, integrity, make, places, rows, write

from findling import Engine
from findling.store import growth
from findling.store.reader import IndexReader, OnlyThese

NAMES = ("retrypolicy", "backoff", "evict", "startserver", "absent", "")
MORE = {f"src/more{number}.py": f"class RetryPolicy{number}:\n    def backoff(self): ...\n" for number in range(4)}


def told(engine: Engine) -> list[Any]:
    """What readers say of definitions and terms, by whatever way."""
    reader = IndexReader(engine.store_dir, str(engine.root))
    with reader.snapshot():
        blobs = [file.blob_id for file in reader.listing()]
        keys = sorted({word >> 8 for row in reader.terms(blobs).values() for word in row})[::3]
        paths = {file.blob_id: file.path for file in reader.listing()}

        def shown(found: list[Any]) -> list[tuple[str, str]]:
            return [(paths[row.blob_id], row.qualified_name) for row in found]

        found = [
            reader.term_counts([*keys, 3]),
            shown(reader.named(NAMES, 50)),
            shown(reader.named(["backoff"], 1)),
            shown(reader.named(["backoff"], 50, OnlyThese(set(blobs[:3]), "method"))),
            shown(reader.named_like("retry", prefix=True, limit=50)),
            shown(reader.named_like("off", prefix=False, limit=50)),
        ]
    reader.close()
    return [
        *found,
        places(engine.search("retry a failed request")),
        places(engine.search("RetryPolicy", mode="symbol")),
    ]


def grown_by(root: Path, few: int, monkeypatch: pytest.MonkeyPatch) -> tuple[list[Any], dict[str, Any], bool]:
    """Two runs and a change, with so many files as few."""
    monkeypatch.setattr(growth, "FEW", few)
    with Engine.open(root=make(root, SMALL)) as engine:
        engine.index()
        for path, text in MORE.items():
            write(root, path, text)
        engine.sync()
        write(root, "src/more0.py", "def backoff(): ...\n")
        (root / "src/cache.py").unlink()
        engine.sync()
        assert integrity(engine) == "ok"
        return told(engine), contents(engine), has_grown(engine)


def test_many_files_are_told_of_as_few(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    few, in_few, never = grown_by(tmp_path / "few" / "p", 400, monkeypatch)
    assert not never and any(few)
    for name, most in (("at once", 0), ("in the first run", 3), ("in the second run", 7)):
        many, in_many, grown = grown_by(tmp_path / name / "p", most, monkeypatch)
        assert grown, name
        assert many == few, name
        assert in_many == in_few, name


def test_the_promised_indexes_are_filled_when_there_are_many_files(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(growth, "FEW", 3)
    with Engine.open(root=make(tmp_path / "p")) as engine:
        engine.index()
        plan = rows(engine, "EXPLAIN QUERY PLAN SELECT docs FROM entries WHERE path='src/retry.py'")
        assert any("idx_embeddings_path" in row[3] for row in plan)
        assert all(
            "WHERE blob_id IS NULL" not in sql for (sql,) in rows(engine, "SELECT sql FROM sqlite_schema") if sql
        )
