"""An index that followed a tree's changes is the index of the tree as it stands."""

from __future__ import annotations

import os
import shutil
import tempfile
from pathlib import Path

import pytest
from hypothesis import HealthCheck, Phase, given, settings
from hypothesis import strategies as st
from indexes import contents, integrity, make, places, rows, write

from findling import Engine
from findling.model.types import SearchResult
from findling.store.local.reader import IndexReader
from tests.sizes import size

NAMES = ("alpha.py", "beta.py", "Beta.py", "pkg/gamma.py", "pkg/delta.md", "pkg/sub/omega.js", "notes.txt", "data.json")
PIECES = (
    "def load_config(path):\n    '''Read the settings file.'''\n    return open(path).read()\n\n\n",
    "class RetryPolicy:\n    def backoff(self, attempt):\n        return 2 ** attempt\n\n\n",
    "function startServer(port) {\n  // wait for requests\n  return listen(port);\n}\n\n",
    "# Heading\n\nRequests that fail are retried after a pause.\n\n",
    "## Cache\n\nThe oldest entry is thrown away first.\n\n",
    "TIMEOUT = 30\nlimit = TIMEOUT * 2\n\n",
    "SPÄTER = 'naïve café 漢字'\r\n",
    "x" * 300 + "\n",
)
SECRET = "-----BEGIN RSA PRIVATE KEY-----\nMIIEpAIBAAKCAQEA7\n-----END RSA PRIVATE KEY-----\n"
SPECIAL: tuple[bytes, ...] = (
    b"",
    b"\0\1\2\3" * 40,
    SECRET.encode(),
    "# Überschrift\n".encode("utf-16"),
    b"caf\xe9 au lait\n",
)

names = st.sampled_from(NAMES)
texts = st.lists(st.sampled_from(PIECES), min_size=0, max_size=5).map(lambda parts: "".join(parts).encode())
bodies = st.one_of(texts, texts, texts, st.sampled_from(SPECIAL))
edits = st.one_of(
    st.tuples(st.just("write"), names, bodies),
    st.tuples(st.just("write"), names, bodies),
    st.tuples(st.just("append"), names, texts),
    st.tuples(st.just("rename"), names, names),
    st.tuples(st.just("copy"), names, names),
    st.tuples(st.just("delete"), names, names),
    st.tuples(st.just("touch"), names, names),
    st.tuples(st.just("folder"), names, names),
    st.tuples(st.just("link"), names, names),
    st.tuples(st.just("ignore"), st.sampled_from(("*.md\n", "pkg/\n", "!pkg/\n", "")), names),
    st.tuples(st.just("env"), names, names),
)
scripts = st.lists(st.lists(edits, min_size=1, max_size=5), min_size=2, max_size=4)


def apply(root: Path, edit: tuple[str, str, str | bytes]) -> None:
    """One edit; what the tree does not allow just now is left out."""
    kind, name, other = edit
    path = root / name
    second = root / other if isinstance(other, str) else root
    if kind == "ignore":
        (root / ".findlingignore").write_text(name)
    elif kind == "env":
        write(root, f"{name}.env", "TOKEN=hunter2\n")
    elif kind in ("write", "append") and isinstance(other, bytes):
        if path.is_dir() or path.is_symlink() or any(part.is_file() for part in path.parents):
            return
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_bytes((path.read_bytes() if kind == "append" and path.exists() else b"") + other)
    elif kind in ("rename", "copy") and path.is_file() and not second.exists() and second.parent.is_dir():
        path.rename(second) if kind == "rename" else shutil.copy(path, second)
    elif kind == "delete" and os.path.lexists(path):
        shutil.rmtree(path) if path.is_dir() and not path.is_symlink() else path.unlink()
    elif kind == "touch" and path.is_file():
        path.touch()
    elif kind == "folder" and path.is_file():
        path.unlink()
        write(root, f"{name}/inner.py", PIECES[1])
    elif kind == "link" and not os.path.lexists(path) and path.parent.is_dir():
        path.symlink_to(os.path.relpath(second, path.parent))


QUERIES = ("RetryPolicy", "where are failed requests retried", "read the settings file", "startServer", "cache entry")


def values(result: SearchResult) -> dict[str, float]:
    return {hit.path: hit.rank_value for hit in result.hits}


def assert_same(one: Engine, other: Engine) -> None:
    assert contents(one) == contents(other)
    assert integrity(one) == "ok"
    for pattern in ("TIMEOUT", "e.t", "x{40}", "(?i)retry", "Überschrift|café"):
        mine, theirs = one.grep(pattern), other.grep(pattern)
        assert mine.files == theirs.files
        assert mine.total_occurrences == theirs.total_occurrences
        assert sorted(s.path for s in mine.skipped) == sorted(s.path for s in theirs.skipped)
    for name in ("RetryPolicy", "back", "start_server"):
        assert one.symbols(name).definitions == other.symbols(name).definitions
    for query in QUERIES:
        for mode in ("symbol", "semantic", "keyword", "auto"):
            mine, theirs = (engine.search(query, mode=mode, limit=50) for engine in (one, other))
            assert mine.freshness == theirs.freshness == "fresh"
            assert mine.total == theirs.total, (query, mode)
            if mode in ("symbol", "semantic"):
                assert places(mine) == places(theirs), (query, mode)
                assert values(mine) == pytest.approx(values(theirs)), (query, mode)
            else:
                # Earlier versions of files count in the text index's mean length of a passage, and in nothing else.
                assert values(mine) == pytest.approx(values(theirs), abs=0.2), (query, mode)


def build_again(root: Path, beside: Path) -> Engine:
    """An index from scratch of a copy of the tree; the copy has the same name, which ranking looks at."""
    copy = beside / root.name
    shutil.copytree(root, copy, symlinks=True, ignore=shutil.ignore_patterns(".findling"))
    engine = Engine.open(root=copy)
    engine.index()
    return engine


@settings(
    max_examples=size(3, 6),
    derandomize=True,
    phases=(Phase.explicit, Phase.generate),  # shrinking would take minutes; a script is short enough to read
    suppress_health_check=list(HealthCheck),
)
@given(script=scripts)
def test_an_index_that_followed_random_edits_is_the_index_of_the_tree(script: list[list[tuple[str, str, str]]]) -> None:
    with tempfile.TemporaryDirectory() as base:
        root = Path(base, "one", "project")
        make(root, {"alpha.py": PIECES[0] + PIECES[1], "pkg/gamma.py": PIECES[1] * 2, "pkg/delta.md": PIECES[3]})
        with Engine.open(root=root) as engine, Engine.open(root=root) as witness:
            engine.index()
            assert witness.search("RetryPolicy").hits
            for step, step_edits in enumerate(script):
                for edit in step_edits:
                    apply(root, edit)
                if step % 2:
                    engine.sync()
                else:
                    engine.search("anything", wait_s=None)
            engine.sync()
            with build_again(root, Path(base, "two")) as scratch:
                assert_same(engine, scratch)
                assert_same(witness, scratch)


def test_earlier_versions_of_a_file_neither_pile_up_nor_crowd_it_out(tmp_path: Path) -> None:
    root = make(tmp_path / "project", {"other.py": PIECES[0]})
    rounds = 12
    with Engine.open(root=root) as engine:
        engine.index()
        for number in range(rounds):
            write(root, "busy.py", "".join(f"{PIECES[1]}VERSION = {number}\n" for _ in range(30)))
            engine.sync()
        stored = rows(engine, "SELECT count(*) FROM entries WHERE path='busy.py'")[0][0]
        assert stored < rounds / 2
        for table in ("readings", "definitions"):
            assert not rows(engine, f"SELECT 1 FROM {table} WHERE blob_id NOT IN (SELECT blob_id FROM blobs)")
        for mode in ("auto", "keyword", "semantic", "symbol"):
            assert engine.search("RetryPolicy backoff", mode=mode).hits[0].path == "busy.py", mode
        with build_again(root, tmp_path / "again") as scratch:
            assert_same(engine, scratch)


def test_what_is_in_no_file_any_more_changes_no_order(tmp_path: Path) -> None:
    """The best passage that there is decides what the others are worth: of those that are searched."""
    asked = "idle connection timeout pool"
    filler = "filler words here and there\n" * 30
    write(tmp_path, "b.md", f"# Other things\n\nThe pool keeps a connection and drops idle sockets.\n{filler}")
    write(tmp_path, "idle_timeout.py", "def close_all():\n    return 1\n")
    for number in range(12):
        write(tmp_path, f"n{number}.md", f"# Note {number}\n\nsome unrelated text number {number}\n")
    with Engine.open(root=tmp_path) as engine:
        engine.index(embed=False)
        before = engine.search(asked, mode="keyword", wait_s=0.0)
        write(tmp_path, "ghost.md", f"# {asked}\n\n{asked}\n")
        engine.sync(["ghost.md"])
        (tmp_path / "ghost.md").unlink()
        engine.sync(["ghost.md"])
        after = engine.search(asked, mode="keyword", wait_s=0.0)
        assert [hit.path for hit in after.hits] == [hit.path for hit in before.hits]
        assert values(after) == pytest.approx(values(before), abs=0.1)


def test_ids_are_handed_back_when_they_were_not_used(tmp_path: Path) -> None:
    root = make(tmp_path / "project", {"one.py": PIECES[0]})
    with Engine.open(root=root) as engine:
        engine.index()
        before = dict(rows(engine, "SELECT key, value FROM meta WHERE key LIKE 'next_%'"))
        for number in range(3):
            write(root, "one.py", f"VALUE = {number}\n")
            engine.sync()
        after = dict(rows(engine, "SELECT key, value FROM meta WHERE key LIKE 'next_%'"))
    used = {key: after[key] - value for key, value in before.items()}
    assert used == {"next_blob": 3, "next_entry": 3, "next_vector": 3}


def test_how_rare_a_term_is_does_not_depend_on_what_was_deleted_or_lies_beside(tmp_path: Path) -> None:
    """A term of every earlier version would count as common, and its only file be ranked as of a common word."""
    plain = {f"n{number}.py": f"def step_{number}():\n    return 'walk run stop'\n" for number in range(12)}
    root = make(tmp_path / "project", plain)
    asked = ("beacon walk", "beacon", "walk run stop beacon")
    with Engine.open(root=root) as engine:
        engine.index(embed=False)
        for number in range(8):
            for name in ("a.py", "b.py", "c.py"):
                write(root, name, f"def beacon_{number}():\n    return 'beacon {number} {name}'\n")
            engine.sync()
        for name in ("b.py", "c.py"):
            (root / name).unlink()
        engine.sync()
        reader = IndexReader(engine.store_dir, str(engine.root))
        with reader.snapshot():
            assert reader.others(), "earlier versions are kept for a while"
        reader.close()
        with build_again(root, tmp_path / "again") as scratch:
            for query in asked:
                mine, theirs = (one.search(query, mode="keyword", wait_s=0.0) for one in (engine, scratch))
                assert places(mine) == places(theirs), query
                assert values(mine) == pytest.approx(values(theirs), abs=0.05), query
