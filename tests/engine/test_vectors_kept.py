"""Vectors belong to content: what is known is not embedded again."""

from __future__ import annotations

import os
import shutil
from collections.abc import Callable, Sequence
from pathlib import Path
from typing import Any

import pytest
from indexes import SMALL, integrity, make, rows, write

from findling import Engine
from findling.embedding.bundled import BundledEmbedder


def test_only_what_changed_is_embedded(tmp_path: Path) -> None:
    """S1-15, S1-55, S4-46."""
    files = {f"m{n}.py": f"def function_{n}():\n    return 'value {n}'\n" for n in range(12)}
    for name, text in files.items():
        (tmp_path / name).write_text(text)
    with Engine.open(root=tmp_path) as engine:
        assert engine.index().embedded == 12
        assert engine.index().embedded == 0
        for name in files:
            os.utime(tmp_path / name, (1_000_000_000, 1_000_000_000))  # touched, not changed
        assert engine.index().embedded == 0
        (tmp_path / "m3.py").write_text("def another():\n    return 'quite another value'\n")
        assert engine.index().embedded == 1
        (tmp_path / "m3.py").write_text(files["m3.py"])
        assert engine.index().changed == 1
        coverage = engine.status().coverage
        assert coverage.embedded_chunks == coverage.chunks == 12


def test_of_a_changed_file_only_the_changed_text_is_embedded(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """S1-15, S1-55, S4-46."""
    sent: list[str] = []
    embed = BundledEmbedder.embed_batch

    def spied(self: BundledEmbedder, texts: Sequence[str], **how: Any) -> Any:
        sent.extend(texts)
        return embed(self, texts, **how)

    monkeypatch.setattr(BundledEmbedder, "embed_batch", spied)
    write(tmp_path, "tea.md", "# Water\n\nJust below boiling.\n\n# Leaves\n\nOne spoon for each cup.\n")
    with Engine.open(root=tmp_path) as engine:
        engine.index()
        write(tmp_path, "tea.md", "# Water\n\nJust below boiling.\n\n# Leaves\n\nTwo spoons for each pot.\n")
        sent.clear()
        engine.sync(["tea.md"])
    assert len(sent) == 1 and "Two spoons" in sent[0]


def test_coverage_counts_what_has_vectors(tmp_path: Path) -> None:
    for name in ("one", "two"):
        (tmp_path / f"{name}.py").write_text(f"def {name}():\n    return '{name}'\n")
    with Engine.open(root=tmp_path) as engine:
        engine.index()
        (tmp_path / "three.py").write_text("def three():\n    return 3\n")
        coverage = engine.search("three", mode="keyword").coverage  # taken in, and embedded when that is needed
        assert (coverage.chunks, coverage.embedded_chunks) == (3, 2)
        coverage = engine.search("three", mode="hybrid").coverage
        assert (coverage.chunks, coverage.embedded_chunks) == (3, 3)
        (tmp_path / "one.py").unlink()
        coverage = engine.search("three", mode="hybrid").coverage
        assert (coverage.chunks, coverage.embedded_chunks) == (2, 2)


def test_rows_of_contents_are_read_once_whatever_is_written_meanwhile(tmp_path: Path) -> None:
    (tmp_path / "kept.py").write_text("def kept():\n    return 1\n")
    (tmp_path / "changed.py").write_text("def before():\n    return 1\n")
    with Engine.open(root=tmp_path) as engine, Engine.open(root=tmp_path) as other:
        engine.index()
        assert [hit.name for hit in engine.search("kept", wait_s=0.0).hits][:1] == ["kept"]
        (tmp_path / "changed.py").write_text("def after():\n    return kept()\n")
        other.index()
        assert [hit.name for hit in engine.search("after", wait_s=0.0).hits][:1] == ["after"]
        assert not engine.symbols("before", wait_s=0.0).definitions
        assert [hit.name for hit in engine.search("kept", wait_s=0.0).hits][:1] == ["kept"]


def test_what_is_remembered_of_files_outlives_the_writing_of_vectors(tmp_path: Path) -> None:
    (tmp_path / "first.py").write_text("def first():\n    return 1\n")
    with Engine.open(root=tmp_path) as engine, Engine.open(root=tmp_path) as other:
        engine.index(embed=False)
        reader = engine._store.reader
        with reader.snapshot():
            known, generation = reader.listed.known_files(), reader.generation
            assert reader.models.embedded_chunks(reader.models.latest()) == 0
        assert other.reembed(None, anew=False).chunks == 1
        with reader.snapshot():
            assert reader.listed.known_files() is known and reader.generation > generation
            assert reader.models.embedded_chunks(reader.models.latest()) == 1
        (tmp_path / "second.py").write_text("def second():\n    return 2\n")
        other.sync()
        with reader.snapshot():
            assert set(reader.listed.known_files()) == {"first.py", "second.py"}


def test_vectors_are_made_in_the_order_in_which_files_were_taken_in(tmp_path: Path) -> None:
    """Those first that the first question was likely to be about."""
    root = make(tmp_path / "p")
    with Engine.open(root=root) as engine:
        engine.index(embed=False)
        write(root, "a_later_one.py", "def later():\n    pass\n")
        engine.index(embed=False)
        reader = engine._store.reader
        with reader.snapshot():
            waiting = [path for _, _, path, _ in reader.models.unembedded(1)]
    assert len(waiting) == len(SMALL) + 1
    assert waiting[-1] == "a_later_one.py"


def noting(real: Callable[..., Any], made: list[str]) -> Callable[..., Any]:
    def called(self: BundledEmbedder, texts: Sequence[str]) -> Any:
        made.extend(texts)
        return real(self, texts)

    return called


@pytest.mark.parametrize("opened", [False, True])
def test_losing_the_text_index_costs_no_vector(opened: bool, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """A service may have been paid for them. ``opened``: somebody who has the tables open meets the loss."""
    root = make(tmp_path / "p")
    with Engine.open(root=root) as engine:
        engine.index()
        question = "how an old entry is thrown away"
        before = [(hit.path, hit.start_line, round(hit.rank_value, 6)) for hit in engine.search(question).hits]
        store = engine.store_dir
    with Engine.open(root=root) as engine:
        if opened:
            assert engine.grep("def").total_lines
        shutil.rmtree(store / "fulltext")
        with monkeypatch.context() as patch:
            made: list[str] = []
            patch.setattr(BundledEmbedder, "encode", noting(BundledEmbedder.encode, made))
            notes = engine.search("retry", mode="keyword", wait_s=None).notes
            report = engine.index()
        assert (report.files, report.complete, made) == (len(SMALL), True, [])
        assert any("text index" in note and "rebuilt" in note for note in notes)
        found = engine.search(question)
        assert [(hit.path, hit.start_line, round(hit.rank_value, 6)) for hit in found.hits] == before
        write(root, "src/new.py", "def brand_new():\n    pass\n")
        engine.sync()
        assert rows(engine, "SELECT count(*) FROM entries") == [(len(SMALL) + 1,)], "nothing is left of the old ones"
        assert integrity(engine) == "ok"
