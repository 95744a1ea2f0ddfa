"""Vectors that are dear: what was made is kept, and nobody waits for the rest."""

from __future__ import annotations

import time
from collections.abc import Iterator, Sequence
from pathlib import Path

import apsw
import numpy as np
import pytest
from numpy.typing import NDArray

from findling import Engine
from findling.embedding import Batch, Fingerprint
from findling.engine import embedding_pass
from findling.store.local import checksums
from findling.store.local.reader import IndexReader
from findling.store.local.writer import IndexWriter

AT_ONCE = 7


class Dear:
    """An embedder that makes so many vectors in the time of one question, and counts them."""

    def __init__(self, provider: str = "voyage") -> None:
        self.fingerprint = Fingerprint(provider, "dear", "1", 8)
        self.problem = None
        self.made: list[str] = []

    def encode_query(self, text: str) -> NDArray[np.float32]:
        return np.full(8, 8**-0.5, np.float32)

    def encode(self, texts: Sequence[str]) -> NDArray[np.float32]:
        return self.embed_batch(texts).rows

    def embed_batch(self, texts: Sequence[str], *, deadline: float | None = None) -> Batch:
        done = texts if deadline is None else texts[:AT_ONCE]
        self.made += done
        rows = np.zeros((len(done), 8), np.float32)
        for row, text in zip(rows, done, strict=True):
            row[len(text) % 8] = 1.0
        return Batch(rows)


@pytest.fixture
def reader(tmp_path: Path) -> Iterator[IndexReader]:
    body = "    value = compute(a, 'some text that makes each function long enough for a chunk of its own')\n" * 20
    (tmp_path / "large.py").write_text("\n\n".join(f"def fn_{n}(a):\n{body}" for n in range(24)))
    (tmp_path / "small.py").write_text("def small(): pass\n")
    with Engine.open(root=tmp_path) as engine:
        engine.index(embed=False)
        yield engine._store.reader


def embed(reader: IndexReader, root: Path, embedder: Dear, deadline: float | None = None, anew: bool = False) -> int:
    return embedding_pass.embed(
        lambda: IndexWriter(reader.directory), reader, root, embedder, max_bytes=1 << 20, deadline=deadline, anew=anew
    )


def test_what_is_made_of_a_large_file_within_a_question_is_made_once(reader: IndexReader, tmp_path: Path) -> None:
    dear = Dear()
    chunks = reader.manifest.chunks if reader.manifest else 0
    assert chunks > 2 * AT_ONCE
    for _ in range(chunks // AT_ONCE + 2):
        embed(reader, tmp_path, dear, time.monotonic() + 60)
    assert len(dear.made) == len(set(dear.made)) == chunks
    with reader.snapshot():
        model_id = reader.models.id_of(dear.fingerprint.id)
        assert reader.models.embedded_chunks(model_id) == chunks and reader.models.latest() == model_id == 1
        assert not reader.models.unembedded(1)
    at_once = Dear("other")
    embed(reader, tmp_path, at_once)
    tables = apsw.Connection(str(reader.directory / "index.db"), vfs=checksums.way())
    kept = list(tables.execute("SELECT entry_id, model_id, text_hashes, data FROM vectors ORDER BY 1, 2"))
    assert [row[1] for row in kept] == [1, 2, 1, 2], "nothing is left of what was begun"
    assert [row[2:] for row in kept[::2]] == [row[2:] for row in kept[1::2]], "the same as made in one go"


def test_what_is_begun_is_no_vector_yet(reader: IndexReader, tmp_path: Path) -> None:
    dear = Dear()
    embed(reader, tmp_path, dear, time.monotonic() + 60)
    with reader.snapshot():
        waiting = {row[2] for row in reader.models.unembedded(1)}
        assert "large.py" in waiting
        entry = next(file.entry_id for file in reader.all_files() if file.path == "large.py")
        assert not reader.vectors([entry], 1) and reader.models.latest() in (None, 1)
    assert embed(reader, tmp_path, dear, anew=True) == (reader.manifest.chunks if reader.manifest else 0)


@pytest.mark.parametrize("provider", ["local", "ollama"])
def test_only_the_bundled_model_keeps_others_from_writing(provider: str, reader: IndexReader, tmp_path: Path) -> None:
    class Slow(Dear):
        def embed_batch(self, texts: Sequence[str], *, deadline: float | None = None) -> Batch:
            IndexWriter(reader.directory).close()  # raises while the writer role is taken
            return super().embed_batch(texts, deadline=deadline)

    assert embed(reader, tmp_path, Slow(provider)) > 0


class Choosy(Dear):
    """It takes no text with some words in it."""

    def embed_batch(self, texts: Sequence[str], *, deadline: float | None = None) -> Batch:
        made = super().embed_batch(texts, deadline=deadline)
        refused = {number: "no" for number in range(len(made.rows)) if "def fn_1(" in texts[number]}
        made.rows[list(refused)] = 0.0
        return Batch(made.rows, refused)


def test_a_text_that_failed_at_the_head_of_a_large_file_is_not_asked_for_with_each_go(
    reader: IndexReader, tmp_path: Path
) -> None:
    choosy = Choosy()
    chunks = reader.manifest.chunks if reader.manifest else 0
    for _ in range(chunks // AT_ONCE + 2):
        embed(reader, tmp_path, choosy, time.monotonic() + 60)
    assert sum("def fn_1(" in text for text in choosy.made) == 1 and len(choosy.made) == chunks
    at_once = Choosy("other")
    embed(reader, tmp_path, at_once)
    tables = apsw.Connection(str(reader.directory / "index.db"), vfs=checksums.way())
    kept = list(tables.execute("SELECT text_hashes, data FROM vectors ORDER BY entry_id, model_id"))
    assert kept[::2] == kept[1::2] and bytes(8) in kept[0][0] + kept[2][0]
    told: list[embedding_pass.EmbeddedFile] = []
    embedding_pass.embed(
        lambda: IndexWriter(reader.directory),
        reader,
        tmp_path,
        choosy,
        max_bytes=1 << 20,
        failed_too=True,
        on_file=told.append,
    )
    assert sum("def fn_1(" in text for text in choosy.made) == 2 and [file.failed for file in told] == [1]
