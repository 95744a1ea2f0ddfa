"""What is looked at again before a question, and what that may cost; what cannot be looked at at all."""

from __future__ import annotations

from pathlib import Path

import pytest
from indexes import make, write

from findling import Engine, errors
from findling.engine import freshness
from findling.ingest import indexer
from findling.types import SkippedFile


@pytest.fixture
def root(tmp_path: Path) -> Path:
    return make(tmp_path / "root")


def test_a_file_that_failed_is_looked_at_when_it_is_changed(root: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    write(root, "odd.py", "def first():\n    pass\n")
    add = indexer.Indexer._write

    def failing(self: indexer.Indexer, *arguments: object) -> None:
        writer, manifest, content, answer, run = arguments
        if content.file.path == "odd.py":  # type: ignore[attr-defined]
            answer = SkippedFile("odd.py", "failed", "its worker process died")
        add(self, writer, manifest, content, answer, run)  # type: ignore[arg-type]

    with Engine.open(root=root) as engine:
        with monkeypatch.context() as patch:
            patch.setattr(indexer.Indexer, "_write", failing)
            assert [file.path for file in engine.index().failed] == ["odd.py"]
        assert not engine.grep("def first").files
        write(root, "odd.py", "def edited_since():\n    pass\n")
        assert [file.path for file in engine.grep("edited_since").files] == ["odd.py"]


def test_only_runs_are_followed_by_another_look(root: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    with Engine.open(root=root) as engine:
        engine.index()
        look, clock = freshness._look, [0.0]
        looks: list[int] = []

        class Time:
            @staticmethod
            def monotonic() -> float:
                return clock[0]

        def slow(*arguments: object) -> object:
            looks.append(1)
            clock[0] += 2 * freshness.LONG_RUN_S
            return look(*arguments)  # type: ignore[arg-type]

        monkeypatch.setattr(freshness, "time", Time)
        monkeypatch.setattr(freshness, "_look", slow)
        assert engine.grep("def").freshness == "fresh"
        assert len(looks) == 1


@pytest.mark.parametrize("path", ["bad\udcff.py", "x" * 300, "a/" * 3_000, "a\0b"])
def test_what_cannot_be_a_path_is_refused(path: str, root: Path) -> None:
    with Engine.open(root=root) as engine:
        engine.index()
        with pytest.raises(errors.InvalidInput):
            engine.sync([path])
        with pytest.raises(errors.FindlingError):
            engine.similar(path)


def test_what_others_put_beside_the_index_stays(root: Path) -> None:
    with Engine.open(root=root) as engine:
        engine.index()
        write(engine.store_dir, "notes/mine.txt", "mine")
        write(engine.store_dir, "todo.txt", "mine")
        engine.index(force=True)
        assert (engine.store_dir / "notes/mine.txt").exists()
        assert (engine.store_dir / "todo.txt").exists()
