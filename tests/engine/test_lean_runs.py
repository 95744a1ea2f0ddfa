"""What a run with little to do leaves out, and that nothing is missed for it."""

from __future__ import annotations

import os
from collections.abc import Callable
from pathlib import Path

import pytest
from indexes import make, rows, write

from findling import Engine
from findling.config import roots
from findling.embedding import bundled_files
from findling.engine import embedding_pass
from findling.engine.indexer import Indexer
from findling.engine.store import OpenStore
from findling.model.collection import of_folder
from findling.reading import pool
from findling.store.local import dense_files, writer
from findling.store.local.models import Models
from findling.store.local.reader import IndexReader

FILES = {f"m{n}.py": f"def function_{n}():\n    return 'value {n}'\n" for n in range(6)}


@pytest.fixture
def root(tmp_path: Path) -> Path:
    return make(tmp_path / "p", {**FILES, "guide.md": "# Guide\n\nWords of a guide.\n"})


def reader_of(engine: Engine) -> IndexReader:
    return IndexReader(engine.store_dir, *engine.manifest_key)


def test_files_without_vectors_are_told_alike_by_whoever_asks(root: Path) -> None:
    with Engine.open(root=root) as engine:
        engine.index()
        for name in ("m1.py", "m3.py", "guide.md"):
            write(root, name, f"{(root / name).read_text()}\nmore = '{name}'\n")
        engine.search("more", mode="keyword", wait_s=None)
        reader = reader_of(engine)
        with reader.snapshot():
            (model_id,) = (row[0] for row in reader.models.every())
            lacking = reader.models.unembedded(model_id)
            assert {row[2] for row in lacking} == {"m1.py", "m3.py", "guide.md"}
            assert reader.models.count_unembedded(model_id) == 3
            assert sorted(reader.models.unembedded(model_id, [*FILES, "guide.md"])) == sorted(lacking)
            assert sorted(reader.models.unembedded(model_id, failed_too=True)) == sorted(lacking)
            assert {row[2] for row in reader.models.unembedded(model_id, docs=False)} == {"m1.py", "m3.py"}
            assert reader.models.unembedded(model_id, ["m0.py"]) == []
            assert len(reader.models.unembedded(-1)) == 7
        reader.close()
        assert engine.sync(["m1.py"]).embedded == 1  # not changed since, but without a vector
        assert engine.sync().embedded == 2
        assert engine.sync().embedded == 0


def test_the_embedder_is_foretold(root: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    with Engine.open(root=root) as engine:
        engine.index()
    store = OpenStore(of_folder(root, root / ".findling"))
    foretold = store.semantics.expected()
    embedder = store.semantics.embedder()
    assert embedder is not None and foretold == embedder.fingerprint == store.semantics.expected()
    store.close()
    assert OpenStore(of_folder(root, root / ".findling")).semantics.expected() == foretold
    monkeypatch.setattr(bundled_files, "MODEL_DIR", root / "no-model")
    assert OpenStore(of_folder(root, root / ".findling")).semantics.expected() is None
    monkeypatch.undo()
    write(root, "findling.toml", "[index]\nmax_file_bytes = 900000\n")  # says nothing of the model
    assert OpenStore(of_folder(root, root / ".findling")).semantics.expected() == foretold
    write(root, "findling.toml", "[semantic]\nenabled = false\n")
    assert OpenStore(of_folder(root, root / ".findling")).semantics.expected() is None


def test_an_index_of_another_models_vectors_is_not_taken_for_complete(root: Path) -> None:
    with Engine.open(root=root) as engine:
        engine.index()
        rows(engine, "UPDATE models SET fingerprint = 'bundled/older/0123456789ab'")
    with Engine.open(root=root) as engine:
        assert engine.sync().embedded == 7


def test_what_is_done_while_workers_are_busy_is_done_once_and_for_new_contents_only(root: Path) -> None:
    done: list[str] = []
    store = roots.store_location(root).directory

    def sync(**options: object) -> None:
        Indexer(root, store, workers=1, meanwhile=lambda: done.append("once")).sync(**options)  # type: ignore[arg-type]

    sync()
    assert done == ["once"]
    sync()
    os.utime(root / "m1.py", (1, 1))
    sync()
    assert done == ["once"]
    write(root, "m1.py", "changed = 1\n")
    sync(paths=["m1.py"], deadline=0.0)  # there is no time for anything else
    assert done == ["once"]
    write(root, "m1.py", "changed = 2\n")
    sync(paths=["m1.py"])
    assert done == ["once"] * 2


def test_a_known_content_starts_no_model(root: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    with Engine.open(root=root) as engine:
        engine.index()
        monkeypatch.setattr(embedding_pass, "embed", lambda *_, **__: pytest.fail("nothing lacks a vector"))
        os.utime(root / "m1.py", (1, 1))
        assert (engine.sync(["m1.py"]).changed, engine.sync().changed) == (1, 0)


@pytest.mark.parametrize("others", [False, True])
def test_garbage_is_found_however_it_is_looked_for(others: bool, root: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(writer, "KEEP_UNREFERENCED", 2)
    with Engine.open(root=root) as engine:
        engine.index(embed=False)
        if others:  # another manifest with fewer files makes the bound no worse
            rows(engine, "INSERT INTO manifests(root, ref, files) VALUES (?, 'live', 3)", str(root.parent))
        for name in ("m0.py", "m1.py"):
            (root / name).unlink()
        engine.sync()
        assert rows(engine, "SELECT count(*) FROM entries") == [(7,)]
        (root / "m2.py").unlink()
        engine.sync()
        assert rows(engine, "SELECT count(*) FROM entries") == [(5,)], "what left just now may come back"
        assert {file.path for file in engine.grep("function_").files} == {"m3.py", "m4.py", "m5.py"}


def test_the_file_of_sign_bits_is_looked_at_again_once_more_than_a_few_rows_are_new(
    root: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(dense_files, "FILE_ROWS", 1)
    counted: list[int] = []
    real: Callable[[Models, int], int] = Models.vector_count

    def counting(self: Models, model_id: int) -> int:
        counted.append(model_id)
        return real(self, model_id)

    with Engine.open(root=root) as engine:
        engine.index()
        monkeypatch.setattr(Models, "vector_count", counting)
        monkeypatch.setattr(dense_files, "FEW_SHARE", 0.5)
        write(root, "m1.py", "changed = 1\n")
        engine.sync(["m1.py"])
        assert counted == []
        monkeypatch.setattr(dense_files, "FEW_SHARE", 0.0)
        write(root, "m1.py", "changed = 2\n")
        engine.sync(["m1.py"])
        assert counted
        assert engine.search("changed", mode="semantic", wait_s=None).hits


def test_a_run_that_finds_nothing_new_starts_no_worker(root: Path) -> None:
    with Engine.open(root=root) as engine:
        engine.index()
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(pool.Worker, "start", lambda _: pytest.fail("nothing is new"))
        assert Indexer(root, root / ".findling").sync().changed == 0
