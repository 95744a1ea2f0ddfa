"""What another process does to an index while this one works on it, or reads it, does no harm to either."""

from __future__ import annotations

import threading
from collections.abc import Callable, Sequence
from pathlib import Path

import apsw
import numpy as np
import pytest
from indexes import identity_of, rows

from findling import Engine
from findling.embedding import Batch, Fingerprint
from findling.engine import embedding_pass, indexer
from findling.engine.store import OpenStore
from findling.model import errors
from findling.model.types import SkippedFile
from findling.reading import worker_process
from findling.reading.limits import ChunkLimits, DocLimits
from findling.reading.pool import Task, WorkerPool
from findling.store.local.reader import IndexReader
from findling.store.local.schema import CutOtherwise, IndexDamaged, map_error
from findling.store.local.writer import IndexWriter

FILES = 4


class Slow:
    """An embedder asked over a connection, with one dimension for each file; ``meanwhile`` happens while it works."""

    provider = "ollama"

    def __init__(self, meanwhile: Callable[[], None]) -> None:
        self.fingerprint = Fingerprint(self.provider, "m", "v", 8)
        self._meanwhile = meanwhile

    def embed_batch(self, texts: Sequence[str], *, deadline: float | None = None) -> Batch:
        self._meanwhile()
        return Batch(np.eye(8, dtype=np.float32)[[0] * len(texts)], {})


@pytest.fixture
def engine(tmp_path: Path) -> Engine:
    for number in range(FILES):
        (tmp_path / f"m{number}.py").write_text(f"def alpha{number}():\n    pass\n")
    return Engine.open(root=tmp_path)


def embed(engine: Engine, reader: IndexReader, meanwhile: Callable[[], None]) -> int:
    return embedding_pass.embed(
        lambda: IndexWriter(engine.store_dir),
        reader,
        engine.root,
        Slow(meanwhile),  # type: ignore[arg-type]
        max_bytes=1 << 20,
    )


def test_vectors_are_not_written_to_an_index_that_was_built_anew(engine: Engine) -> None:
    engine.index(embed=False)
    reader = IndexReader(engine.store_dir, *engine.manifest_key)

    def rebuild() -> None:
        (engine.root / "m0.py").rename(engine.root / "zz.py")
        with Engine.open(root=engine.root) as other:
            other.index(force=True, embed=False)

    with pytest.raises(errors.IndexBusy, match="rebuilt"):
        embed(engine, reader, rebuild)
    assert rows(engine, "SELECT count(*) FROM vectors") == [(0,)]
    with pytest.raises(errors.IndexBusy, match="rebuilt"):  # before anything is made, too
        embed(engine, reader, lambda: pytest.fail("asked for vectors of files that are gone"))
    reader.close()
    engine.close()


def test_what_was_embedded_waits_for_another_writer(engine: Engine) -> None:
    engine.index(embed=False)
    reader = IndexReader(engine.store_dir, *engine.manifest_key)
    timers: list[threading.Timer] = []

    def keep_busy() -> None:
        writing = apsw.Connection(str(engine.store_dir / "writer.lock"))
        writing.execute("BEGIN IMMEDIATE")
        timers.append(threading.Timer(0.3, writing.close))
        timers[0].start()

    assert embed(engine, reader, keep_busy) == FILES
    assert rows(engine, "SELECT count(*) FROM vectors") == [(FILES,)]
    timers[0].join()
    reader.close()
    engine.close()


def test_a_question_between_two_vectors_leaves_the_index_alone(engine: Engine) -> None:
    engine.index()
    identity = identity_of(engine)
    vectors = engine.vectors()
    first = next(vectors)
    assert engine.search("alpha1", mode="keyword").hits
    assert len({first["id"], *(vector["id"] for vector in vectors)}) == FILES
    assert identity_of(engine) == identity
    engine.close()


@pytest.mark.parametrize(
    ("statement", "damage"),
    [("SELECT 1 FROM gone", True), ("SELECT gone FROM t", True), ("SELEKT", False), ("SELECT upper()", False)],
)
def test_only_what_is_missing_from_the_file_is_damage(statement: str, damage: bool, tmp_path: Path) -> None:
    connection = apsw.Connection(":memory:")
    connection.execute("CREATE TABLE t (x)")
    with pytest.raises(apsw.SQLError) as raised:
        connection.execute(statement).fetchall()
    if damage:
        assert isinstance(map_error(raised.value, tmp_path), IndexDamaged)
    else:
        with pytest.raises(apsw.SQLError):
            map_error(raised.value, tmp_path)


SMALLER = ChunkLimits(DocLimits(200, 0))


def test_an_index_that_was_cut_otherwise_is_not_relabelled(engine: Engine) -> None:
    engine.index(embed=False)
    with pytest.raises(CutOtherwise):
        indexer.Indexer(engine.root, engine.store_dir, limits=SMALLER).sync()
    assert engine.index(embed=False).files == FILES  # and the writer role was given back
    engine.close()


def test_an_index_that_another_process_cut_otherwise_meanwhile_is_built_anew(
    engine: Engine, monkeypatch: pytest.MonkeyPatch
) -> None:
    looked = OpenStore.start_over_if_cut_otherwise
    times = 0

    def after_the_look(store: OpenStore, wait_s: float) -> bool:
        nonlocal times
        times += 1
        found = looked(store, wait_s)
        if times == 1:
            indexer.Indexer(store.root, store.directory, limits=SMALLER, workers=1).sync()
        return found

    monkeypatch.setattr(OpenStore, "start_over_if_cut_otherwise", after_the_look)
    report = engine.index(embed=False)
    assert times == 2
    assert report.changed == FILES
    assert any("rebuilt" in note for note in report.notes)
    assert rows(engine, "SELECT value FROM meta WHERE key='chunking'") in ([], [("",)])
    engine.close()


def test_an_answer_that_cannot_be_read_is_reported_not_waited_for(monkeypatch: pytest.MonkeyPatch) -> None:
    def unreadable(*_: object) -> None:
        raise AttributeError("no such field")

    monkeypatch.setattr(worker_process, "read_frame", unreadable)
    with WorkerPool(1) as pool:
        pool.submit([Task(0, "a.py", b"x = 1\n")])
        answers = pool.collect(30)
    assert answers is not None
    assert isinstance(answers[0][1], SkippedFile)


def test_a_batch_has_an_answer_whatever_goes_wrong(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(worker_process, "read_frame", lambda _: [])  # fewer answers than files
    with WorkerPool(1) as pool:
        pool.submit([Task(0, "a.py", b"x = 1\n")])
        answers = pool.collect(30)
    assert answers is not None
    assert [(key, type(answer)) for key, answer in answers] == [(0, SkippedFile)]
