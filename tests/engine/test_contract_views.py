"""The older systems' tables, opened with the standard library's SQLite: every name and column, and what they say."""

from __future__ import annotations

import hashlib
import json
import sqlite3
from contextlib import closing
from pathlib import Path

import numpy as np
import pytest
from indexes import make, write

from findling.embedding import open_embedder
from findling.engine import Engine

GUIDE = "# Retrying\n\nFailed requests are tried again, wörld.\n\n## Budgets\n\nA budget bounds the tries.\n"
SOURCE = 'def retry_request(request):\n    """Send it again."""\n    return send(request)\n'
COLUMNS = {
    "doc_embeddings": (
        "id doc_path chunk_index chunk_text chunk_header content_hash model_name model_dim vec_rowid created_at"
    ),
    "vec_documents": "rowid embedding",
    "embeddings": "id path start_line end_line content_hash embedding model created_at",
}


@pytest.fixture
def database(tmp_path: Path) -> Path:
    root = make(tmp_path / "project", {"docs/guide.md": GUIDE, "src/retry.py": SOURCE, "signs.md": "…\n"})
    with Engine.open(root=root) as engine:
        engine.index()
        write(root, "src/retry.py", SOURCE + "\n\nRETRIES = 3\n")
        engine.sync()
        return engine.store_dir / "index.db"


def rows(database: Path, sql: str) -> list[tuple[object, ...]]:
    with closing(sqlite3.connect(f"file:{database}?mode=ro", uri=True)) as connection:
        return connection.execute(sql).fetchall()


@pytest.mark.parametrize("name", COLUMNS)
def test_every_column_is_there_under_its_name(database: Path, name: str) -> None:
    """S1-25, S4-16."""
    columns = COLUMNS[name].split()
    with closing(sqlite3.connect(f"file:{database}?mode=ro", uri=True)) as connection:
        found = connection.execute(f"SELECT {', '.join(columns)} FROM {name}")
        assert [column[0] for column in found.description] == columns
        kept = found.fetchall()
    assert kept
    nullable = {"chunk_header"}
    assert all(
        value is not None or column in nullable for row in kept for column, value in zip(columns, row, strict=True)
    )


def test_documents_are_there_with_their_text_and_headings(database: Path) -> None:
    """S1-6, S1-14."""
    found = rows(
        database,
        "SELECT chunk_index, chunk_text, chunk_header, content_hash, model_dim FROM doc_embeddings "
        "WHERE doc_path='docs/guide.md' ORDER BY chunk_index",
    )
    assert [(row[0], row[2]) for row in found] == [(0, "Retrying"), (1, "Budgets")]
    for _, text, _, content_hash, dimensions in found:
        assert isinstance(text, str) and text in GUIDE
        assert content_hash == hashlib.sha256(text.encode()).hexdigest()
        assert dimensions == 256
    assert {row[0] for row in rows(database, "SELECT doc_path FROM doc_embeddings")} == {"docs/guide.md", "signs.md"}


def test_every_chunk_is_there_once_with_its_vector(database: Path) -> None:
    """S4-17, S4-7."""
    found = rows(database, "SELECT path, start_line, end_line, content_hash, embedding, created_at FROM embeddings")
    assert {row[0] for row in found} == {"docs/guide.md", "src/retry.py", "signs.md"}
    assert len({row[:3] for row in found}) == len(found)
    source = SOURCE + "\n\nRETRIES = 3\n"
    for path, start, end, content_hash, embedding, created_at in found:
        vector = np.array(json.loads(str(embedding)))
        assert vector.shape == (256,)
        assert np.linalg.norm(vector) == pytest.approx(1, abs=0.05)
        assert isinstance(created_at, int) and created_at > 1_700_000_000
        if path == "src/retry.py":
            text = "".join(source.splitlines(keepends=True)[int(str(start)) - 1 : int(str(end))])
            hashes = {hashlib.sha256(cut.encode()).hexdigest() for cut in (text, text.removesuffix("\n"))}
            assert content_hash in hashes


def test_vectors_mean_what_the_embedder_means(database: Path) -> None:
    """S1-44."""
    [(embedding,)] = rows(
        database,
        "SELECT embedding FROM vec_documents v JOIN doc_embeddings d ON v.rowid = d.vec_rowid "
        "WHERE d.chunk_header='Budgets'",
    )
    vector = np.array(json.loads(str(embedding)))
    embedder = open_embedder()
    near = float(vector @ embedder.encode_query("guide Budgets: a budget bounds the tries"))
    far = float(vector @ embedder.encode_query("sqlite journal file locking"))
    assert near > 0.6 > far + 0.2


def test_what_they_are_looked_up_by_is_indexed(database: Path) -> None:
    """S1-26, S4-16."""
    names = {row[0] for row in rows(database, "SELECT name FROM sqlite_master WHERE type='index'")}
    assert names >= {"idx_doc_path", "idx_model", "idx_content_hash", "idx_embeddings_path", "idx_embeddings_hash"}
