"""What only a removed work tree had leaves the index with the next run over the whole folder."""

from __future__ import annotations

import time
from pathlib import Path

import pytest
from gits import commit, git
from indexes import contents, integrity, make, places, rows, write

from findling import Engine
from findling.engine import indexer
from findling.store.local import connections

FILES = {f"src/m{n}.py": f"class Kept{n}:\n    '''Number {n} stays where it is.'''\n" for n in range(6)}
OTHER = "".join(f"def only_there_{n}():\n    '''Nobody else has number {n}.'''\n    return {n}\n" for n in range(400))


def test_its_bytes_are_given_back(tmp_path: Path) -> None:
    root, tree = make(tmp_path / "main", FILES), tmp_path / "linked"
    git(root, "init", "-q")
    commit(root)
    with Engine.open(root=root) as engine:
        engine.index()
        before = contents(engine)
        git(root, "worktree", "add", "-q", "--detach", str(tree))
        write(tree, "src/other.py", OTHER)
        with Engine.open(root=tree) as linked:
            linked.index()
            assert linked.store_dir == engine.store_dir
            assert linked.symbols("only_there_7").definitions
        pages = rows(engine, "PRAGMA page_count")
        assert len(rows(engine, "SELECT 1 FROM entries")) == len(FILES) + 1
        git(root, "worktree", "remove", "--force", str(tree))
        report = engine.sync()
        assert (report.changed, report.removed) == (0, 0)
        for table in ("blobs", "entries", "vectors", "readings"):
            assert len(rows(engine, f"SELECT 1 FROM {table}")) == len(FILES), table
        assert rows(engine, "PRAGMA freelist_count") == [(0,)]
        assert rows(engine, "PRAGMA page_count") < pages
        assert integrity(engine) == "ok"
        assert contents(engine) == before
        assert places(engine.search("Kept3", mode="keyword"))[0][0] == "src/m3.py"
        assert engine.grep("only_there").total_lines == 0
        assert engine.grep("stays where").total_files == len(FILES)


def test_other_rights_everywhere_cost_nobody_what_is_indexed(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Every file's state is another one then, as in a work tree that was made again at the same place."""
    many = {f"src/m{n}.py": f"class Kept{n}:\n    '''Number {n} stays where it is.'''\n" for n in range(150)}
    root = make(tmp_path / "main", many)
    git(root, "init", "-q")
    commit(root)
    monkeypatch.setattr(indexer, "_LEAST_S", 0.0)
    with Engine.open(root=root) as engine:
        engine.index()
        git(root, "commit", "-q", "--allow-empty", "-m", "another")
        with Engine.open(root=root, ref="HEAD") as named:
            named.index()
        before = rows(engine, "SELECT count(*) FROM vectors")
        for file in root.rglob("*.py"):
            file.chmod(0o600)
        left = indexer.Indexer(root, engine.store_dir).sync(deadline=time.monotonic())
        assert not left.complete
        assert engine.symbols("Kept99", wait_s=0).definitions
        assert engine.grep("stays where").total_files == len(many)
        assert rows(engine, "SELECT count(*) FROM vectors") == before
        engine.sync()
        assert engine.status().coverage.files == len(many)
        assert rows(engine, "SELECT count(*) FROM vectors") == before


def test_a_root_that_cannot_be_asked_is_not_gone(tmp_path: Path) -> None:
    root = make(tmp_path / "main", FILES)
    with Engine.open(root=root) as engine:
        engine.index(embed=False)
        manifests = "SELECT root FROM manifests WHERE ref='live' ORDER BY root"
        odd = "/" + "x" * 300  # no name of a file is so long
        connection = connections.connect(engine.store_dir / "index.db")
        connection.execute(
            "INSERT INTO manifests(root, ref, counts) SELECT ?, 'live', counts FROM manifests LIMIT 1", (odd,)
        )
        connection.close()
        assert engine.sync().complete
        assert (odd,) in rows(engine, manifests)
