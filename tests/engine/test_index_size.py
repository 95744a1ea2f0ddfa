"""An index takes little room, whatever its size, and what makes it small does not show in what it says."""

from __future__ import annotations

import sqlite3
from contextlib import closing
from pathlib import Path

import apsw
import pytest
from indexes import integrity, make, places, rows

from findling.engine import Engine
from findling.store import checksums, writer
from findling.store.reader import IndexReader
from findling.store.schema import DATABASE

ODD = "# Zäune\r\n\r\nThe “fence” is painted twice.\r\n\r\n## 見出し\r\n\r\n" + "語と文\n\n" * 300 + "\n\n\n## End\n"
PLAIN = "".join(f"## Part {number}\n\nThe request is tried again {number} times.\n\n" for number in range(40))
CODE = "def retry(request):\n    return send(request)\n"


def reading(store: Path) -> sqlite3.Connection:
    """As another program reads an index: this one's SQLite must not have it to itself when that one ends."""
    return sqlite3.connect(f"file:{store / DATABASE}?mode=ro", uri=True)


def page_bytes(engine: Engine) -> int:
    return int(rows(engine, "PRAGMA page_size")[0][0])


def test_an_index_of_one_file_takes_little_room(tmp_path: Path) -> None:
    with Engine.open(root=make(tmp_path / "project", {"a.py": CODE})) as engine:
        engine.index()
        store = engine.store_dir
    assert sum(path.stat().st_size for path in store.rglob("*")) < 64_000


def test_texts_of_documents_are_whole_for_any_client(tmp_path: Path) -> None:
    root = make(tmp_path / "project", {"odd.md": ODD, "plain.md": PLAIN, "empty.md": "", "a.py": CODE})
    with Engine.open(root=root) as engine:
        engine.index()
        reader = IndexReader(engine.store_dir, str(root))
        with reader.snapshot(), closing(reading(engine.store_dir)) as database:
            database.text_factory = bytes
            for path, text in (("odd.md", ODD), ("plain.md", PLAIN)):
                file = reader.file_at(path)
                assert file is not None
                raw = text.encode()
                assert reader.doc_text(file.blob_id) == raw
                shown = database.execute(
                    "SELECT chunk_text FROM doc_embeddings WHERE doc_path=? ORDER BY chunk_index", (path,)
                ).fetchall()
                assert [row[0] for row in shown] == [
                    raw[chunk.start_byte : chunk.end_byte] for chunk in reader.chunks(file.blob_id)
                ]
            code = reader.file_at("a.py")
            assert code is not None and reader.doc_text(code.blob_id) is None
        reader.close()
        coded = rows(engine, "SELECT json_extract(sections, '$.coded') FROM contents WHERE texts IS NOT NULL")
        assert set(coded) == {(0,), (1,)}


def test_a_term_that_is_asked_for_twice_is_counted_once(tmp_path: Path) -> None:
    root = make(tmp_path / "project", {f"{name}.py": CODE for name in "abc"})
    with Engine.open(root=root) as engine:
        engine.index()
        reader = IndexReader(engine.store_dir, str(root))
        with reader.snapshot():
            [file, *_] = reader.listing()
            key = reader.terms([file.blob_id])[file.blob_id][0] >> 8
            assert reader.term_counts([key, key]) == {key: 3}
            assert reader.term_counts([key, 5]) == {key: 3, 5: 0}
        reader.close()


def test_a_large_index_has_large_pages(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    root = make(tmp_path / "project", {"a.py": CODE, "plain.md": PLAIN})
    with Engine.open(root=root) as engine:
        engine.index()
        small, found = page_bytes(engine), places(engine.search("retry request"))
    monkeypatch.setattr(writer, "_LARGE_BYTES", 10)
    with Engine.open(root=root) as engine:
        engine.index(force=True)
        assert page_bytes(engine) > small
        assert places(engine.search("retry request")) == found
        assert integrity(engine) == "ok"
        (root / "b.py").write_text(CODE)
        engine.sync()
        assert rows(engine, "PRAGMA journal_mode") == [("wal",)]


def test_pages_stay_as_they_are_while_somebody_else_has_the_index_open(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    root = make(tmp_path / "project", {"a.py": CODE})
    with Engine.open(root=root) as engine:
        engine.index()
        small = page_bytes(engine)
    (root / "a.py").unlink()
    with Engine.open(root=root) as engine:
        engine.sync()
        engine.index(force=True)
        assert page_bytes(engine) == small
    monkeypatch.setattr(writer, "_LARGE_BYTES", 10)
    (root / "a.py").write_text(CODE)
    other = apsw.Connection(str(engine.store_dir / DATABASE), vfs=checksums.way())
    other.execute("SELECT count(*) FROM entries").fetchall()
    with Engine.open(root=root) as engine:
        engine.index()
        assert page_bytes(engine) == small
        assert engine.search("retry request").hits[0].path == "a.py"
    other.close()
