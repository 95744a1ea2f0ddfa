"""What holds for few files must hold among many: scopes, new files beside a written sign-bit file, moved folders."""

from __future__ import annotations

import shutil
from pathlib import Path

import numpy as np
import pytest
from indexes import rows

from findling import Engine
from findling.model.errors import InvalidInput
from findling.search import symbol
from findling.store.local import dense_files
from findling.store.local.dense import DenseIndex
from findling.store.local.reader import IndexReader

DEFINERS = 60


@pytest.fixture(scope="module")
def crowd(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Many files that say and define the same, and one more of the kind in a folder of its own."""
    root = tmp_path_factory.mktemp("crowd")
    for number in range(DEFINERS):
        (root / f"mod{number:03}.py").write_text(f'def run():\n    """Start the needle engine {number}."""\n')
    (root / "zz").mkdir()
    (root / "zz" / "last.py").write_text('def run():\n    """Start the needle engine at last."""\n')
    with Engine.open(root=root) as engine:
        engine.index()
    return root


@pytest.mark.parametrize("mode", ["keyword", "symbol", "semantic", "exact", "auto"])
def test_a_narrow_scope_is_never_crowded_out(crowd: Path, mode: str, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(symbol, "_MAX_DEFINITIONS", 5)
    query = {"symbol": "run", "exact": "needle engine"}.get(mode, "start the needle engine")
    with Engine.open(crowd / "zz", root=None) as engine:
        if engine.root != crowd:
            pytest.fail("the scope's root is not the indexed folder")
        assert [hit.path for hit in engine.search(query, mode=mode, limit=3).hits] == ["zz/last.py"]


def test_a_definition_in_a_narrow_scope_is_found_and_counted(crowd: Path) -> None:
    with Engine.open(crowd / "zz") as engine:
        found = engine.symbols("run")
    assert ([hit.path for hit in found.definitions], found.total_definitions) == (["zz/last.py"], 1)


def test_what_is_new_is_proposed_beside_a_written_sign_bit_file(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(dense_files, "FILE_ROWS", 10)
    for number in range(80):
        (tmp_path / f"log{number}.md").write_text(f"# Log {number}\n\nServers rotate their log files every day.\n")
    with Engine.open(root=tmp_path) as engine:
        engine.index()
        assert list(engine.store_dir.glob("dense-*.bits"))
        (tmp_path / "zebra.md").write_text("# Feeding\n\nHow the zoo feeds its zebras at noon.\n")
        engine.sync(["zebra.md"])
        assert engine.search("feeding zebras at the zoo", mode="semantic").hits[0].path == "zebra.md"
        (about,) = engine.store_dir.glob("dense-*.json")
    expected = nearest(tmp_path)
    state = about.read_text()
    about.write_text(state.replace("in_columns", "width"))  # as a file that is laid out otherwise says it
    assert nearest(tmp_path) == expected
    with Engine.open(root=tmp_path) as engine:
        (tmp_path / "zebra.md").unlink()
        engine.index()
        (tmp_path / "zoo.md").write_text("# Feeding\n\nHow the zoo feeds its zebras at noon.\n")
        engine.index()
    assert "in_columns" in about.read_text()


def test_a_file_that_is_written_all_the_time_leaves_no_trail_in_a_long_lived_process(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(dense_files, "FILE_ROWS", 10)
    for number in range(300):
        (tmp_path / f"log{number}.md").write_text(f"# Log {number}\n\nServers rotate their log files every day.\n")
    with Engine.open(root=tmp_path) as engine:
        engine.index()
        reader = IndexReader(engine.store_dir, str(engine.root))
        with reader.snapshot():
            model_id = reader.models.latest()
            assert model_id is not None
            lived = DenseIndex(reader.models, model_id)
        query = np.random.default_rng(3).normal(size=256).astype(np.float32)
        for number in range(12):
            (tmp_path / "zebra.md").write_text(f"# Feeding {number}\n\nHow the zoo feeds its {number} zebras.\n")
            (tmp_path / f"keeper{number}.md").write_text(f"# Keeper {number}\n\nWho feeds them.\n")
            engine.sync(["zebra.md", f"keeper{number}.md"])
            with reader.snapshot():
                lived.refresh(reader.models)
        with reader.snapshot():
            anew = DenseIndex(reader.models, model_id)
            assert lived.nearest(query, 500, reader.own) == anew.nearest(query, 500, reader.own)
            assert lived.rows - reader.models.vector_count(model_id) < 8, "dead vectors are dropped"
        assert len(lived._units) <= 1 + (24).bit_length(), "few parts to compare"
        reader.close()


def nearest(root: Path) -> list[tuple[str, float]]:
    """Asked of an index that is opened anew."""
    with Engine.open(root=root) as engine:
        hits = engine.search("feeding zebras at the zoo", mode="semantic", wait_s=0.0).hits
    return [(hit.path, hit.rank_value) for hit in hits]


def test_the_manifest_of_a_folder_that_is_gone_goes_too(tmp_path: Path) -> None:
    old, new = tmp_path / "old", tmp_path / "new"
    old.mkdir()
    (old / "a.py").write_text("def kept():\n    return 1\n")
    with Engine.open(root=old) as engine:
        engine.index()
    shutil.move(old, new)
    with Engine.open(root=new) as engine:
        engine.index()
        assert rows(engine, "SELECT root FROM manifests") == [(str(new),)]
        assert engine.symbols("kept").total_definitions == 1


def test_a_line_that_a_file_does_not_have(crowd: Path) -> None:
    with Engine.open(root=crowd) as engine, pytest.raises(InvalidInput, match="2 lines"):
        engine.similar("zz/last.py:99")
