"""Whatever breaks while an index is written or read: each file is old or new, and the next run puts it right."""

from __future__ import annotations

import contextlib
import errno
import os
import random
import shutil
import signal
import subprocess
import sys
import textwrap
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import apsw
import pytest
from indexes import SMALL, contents, integrity, make, places, write

from findling import Engine
from findling.engine import indexer
from findling.model import errors
from findling.model.types import SearchResult
from findling.reading import pool, worker, worker_process
from findling.store.local import checksums, fulltext
from findling.store.local.lock import WriterLock
from sizes import size

QUERIES = ("RetryPolicy", "where are failed requests retried", "start the server")


class InlinePool:
    """Prepares in this process: the faults here are the store's, and a process per run would take minutes."""

    size = 1

    def __init__(self, _: int | None = None, *, vectors: bool = False, **_options: object) -> None:
        self._asked = worker_process.VECTORS if vectors else ""
        self._answers: list[list[tuple[int, Any]]] = []

    def __enter__(self) -> InlinePool:
        return self

    def __exit__(self, *_: object) -> None:
        self._answers.clear()

    @property
    def in_flight(self) -> int:
        return len(self._answers)

    def warm_up(self, _: int | None = None) -> None:
        pass

    def keep(self, _: int) -> None:
        pass

    def submit(self, batch: list[pool.Task]) -> None:
        answers = worker.answers_to((self._asked, [(task.path, task.data, True) for task in batch], 20.0))
        self._answers.append([(task.key, answer) for task, answer in zip(batch, answers, strict=True)])

    def collect(self, _: float | None = None) -> list[tuple[int, Any]] | None:
        return self._answers.pop(0)


@pytest.fixture
def inline(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(indexer, "WorkerPool", InlinePool)
    monkeypatch.setattr("findling.store.local.dense_files.FILE_ROWS", 1)


def change(root: Path) -> None:
    write(root, "src/retry.py", SMALL["src/retry.py"].replace("send_again", "send_twice") + "\nMORE = 1\n")
    write(root, "src/added.py", "class AddedLater:\n    pass\n")
    (root / "src/cache.py").unlink()
    os.rename(root / "docs/guide.md", root / "docs/manual.md")


def index_again(root: Path, beside: Path) -> Engine:
    copy = beside / root.name
    shutil.copytree(root, copy, symlinks=True, ignore=shutil.ignore_patterns(".findling"))
    engine = Engine.open(root=copy)
    engine.index()
    return engine


def answers(engine: Engine, **options: Any) -> list[object]:
    found: list[object] = [places(engine.search(query, mode="symbol", **options)) for query in QUERIES]
    # by meaning and not by text: BM25's statistics know dead documents for a while, and near ties change places
    found += [places(engine.search(query, mode="semantic", **options)) for query in QUERIES]
    found.append(engine.grep("re[a-z]+").files)
    found.append(engine.symbols("retry", **options).definitions)
    return found


def assert_recovers(root: Path, beside: Path) -> None:
    """The next command on ``root`` answers like an index from scratch."""
    with Engine.open(root=root) as engine, index_again(root, beside) as scratch:
        assert answers(engine) == answers(scratch)
        engine.sync()
        assert contents(engine) == contents(scratch)
        assert integrity(engine) == "ok"


# --- the n-th operation fails -------------------------------------------------------------------------------------


class Countdown:
    """Lets ``n - 1`` operations through, breaks the next one, and lets the rest through again."""

    def __init__(self, n: int) -> None:
        self.left = n

    def __call__(self) -> bool:
        self.left -= 1
        return self.left == 0

    @property
    def reached(self) -> bool:
        return self.left <= 0


def fail_sqlite(monkeypatch: pytest.MonkeyPatch, due: Countdown, begins: tuple[str, ...]) -> None:
    class Failing(apsw.Connection):
        def execute(self, sql: str, *args: Any, **options: Any) -> Any:
            if sql.startswith(begins) and due():
                raise apsw.FullError("database or disk is full")
            return super().execute(sql, *args, **options)

        def executemany(self, sql: str, *args: Any, **options: Any) -> Any:
            if sql.startswith(begins) and due():
                raise apsw.FullError("database or disk is full")
            return super().executemany(sql, *args, **options)

    monkeypatch.setattr(apsw, "Connection", Failing)


def fail_commits(monkeypatch: pytest.MonkeyPatch, due: Countdown) -> None:
    fail_sqlite(monkeypatch, due, ("COMMIT",))


def fail_writes(monkeypatch: pytest.MonkeyPatch, due: Countdown) -> None:
    fail_sqlite(monkeypatch, due, ("INSERT", "UPDATE", "DELETE", "BEGIN IMMEDIATE"))


def fail_text_commits(monkeypatch: pytest.MonkeyPatch, due: Countdown) -> None:
    class Failing(fulltext.FulltextWriter):
        def commit(self) -> None:
            if due():
                raise errors.StorageFull("no room for the text index")
            super().commit()

    monkeypatch.setattr(fulltext, "FulltextWriter", Failing)


def fail_after_text_commits(monkeypatch: pytest.MonkeyPatch, due: Countdown) -> None:
    class Failing(fulltext.FulltextWriter):
        def commit(self) -> None:
            super().commit()
            if due():
                raise errors.StorageFull("no room, but the text index is written")

    monkeypatch.setattr(fulltext, "FulltextWriter", Failing)


def fail_replaces(monkeypatch: pytest.MonkeyPatch, due: Countdown) -> None:
    replace = Path.replace

    def failing(self: Path, target: Path) -> Path:
        if due():
            raise OSError(errno.ENOSPC, "No space left on device")
        return replace(self, target)

    monkeypatch.setattr(Path, "replace", failing)


def fail_reads(monkeypatch: pytest.MonkeyPatch, due: Countdown) -> None:
    read = os.read

    def failing(descriptor: int, size: int) -> bytes:
        if due():
            raise OSError(errno.EIO, "Input/output error")
        return read(descriptor, size)

    monkeypatch.setattr("findling.outbound.files.os.read", failing)


@pytest.mark.parametrize(
    ("fail", "step"),
    [
        (fail_commits, 1),
        (fail_writes, 23),
        (fail_text_commits, 1),
        (fail_after_text_commits, 1),
        (fail_replaces, 1),
        (fail_reads, 3),
    ],
)
@pytest.mark.usefixtures("inline")
def test_the_nth_operation_fails(
    fail: Callable[[pytest.MonkeyPatch, Countdown], None], step: int, tmp_path: Path
) -> None:
    with index_again(make(tmp_path / "old" / "p"), tmp_path / "was") as engine:
        old = contents(engine)["files"]
    changed = make(tmp_path / "new" / "p")
    change(changed)
    with index_again(changed, tmp_path / "will") as engine:
        new = contents(engine)["files"]
    good = make(tmp_path / "good" / "p")
    with Engine.open(root=good) as engine:
        engine.index()
    n = 1
    while True:
        root = tmp_path / str(n) / "p"
        shutil.copytree(good, root)
        # The tables name their root; a copied store belongs to another one, so it is indexed here.
        with Engine.open(root=root) as engine:
            engine.index()
            change(root)
            due = Countdown(n)
            with pytest.MonkeyPatch.context() as broken:
                fail(broken, due)
                try:
                    report = engine.sync()
                except errors.StorageFull:
                    assert due.reached
                else:
                    assert not due.reached or fail is fail_reads or report.complete
        with Engine.open(root=root) as engine:
            for path, rows in contents(engine)["files"].items():
                without = {**rows, "vectors": None}
                known = [{**side[path], "vectors": None} for side in (old, new) if path in side]
                assert without in known, path
            assert integrity(engine) == "ok"
            assert engine.search("RetryPolicy", wait_s=0).hits
        assert_recovers(root, tmp_path / f"{n}-again")
        if not due.reached:
            break
        n += step
    assert n > 1


# --- the process is killed ----------------------------------------------------------------------------------------

MANY = {
    f"pkg{n % 4}/mod{n}.py": f"class Thing{n}:\n    def act{n}(self):\n        return retry_{n % 7}({n})\n"
    for n in range(60)
}
INDEX = """
    import sys
    from findling import Engine
    from findling.engine import indexer, embedding_pass
    indexer._TASK_FILES, indexer._COMMIT_FILES = 4, 8
    embedding_pass._FILES_PER_BATCH, embedding_pass._COMMIT_CHUNKS = 10, 10
    def tell(progress):
        print(progress.stage, progress.done, flush=True)
    Engine.open(root=sys.argv[1]).index(progress=tell)
    print("done", flush=True)
"""

EMBED_AFTERWARDS = INDEX.replace(
    ".index(progress=tell)",
    ".index(embed=False, progress=tell)\n    Engine.open(root=sys.argv[1]).index(progress=tell)",
)


def start(root: Path, code: str = INDEX) -> subprocess.Popen[str]:
    return subprocess.Popen(
        [sys.executable, "-c", textwrap.dedent(code), str(root)],
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        text=True,
    )


@pytest.mark.parametrize(
    ("line", "code"),
    [(1, INDEX), (4, INDEX), (9, INDEX), (13, INDEX), (19, EMBED_AFTERWARDS), (22, EMBED_AFTERWARDS)][:: size(2, 1)],
)
def test_the_indexing_process_is_killed(line: int, code: str, tmp_path: Path) -> None:
    root = make(tmp_path / "p", MANY)
    process = start(root, code)
    assert process.stdout is not None
    for _ in range(line):
        said = process.stdout.readline()
    process.send_signal(signal.SIGKILL)
    process.communicate()
    assert said
    with index_again(root, tmp_path / "again") as scratch, Engine.open(root=root) as engine:
        whole = contents(scratch)["files"]
        if (engine.store_dir / "index.db").exists():
            engine.search("Thing1", wait_s=0.001)
            assert integrity(engine) == "ok"
            found = contents(engine)["files"]
            assert all({**rows, "vectors": None} == {**whole[path], "vectors": None} for path, rows in found.items())
        engine.index()
        assert contents(engine) == contents(scratch)
        assert answers(engine) == answers(scratch)


# --- no room ------------------------------------------------------------------------------------------------------


@pytest.fixture
def tiny_disk(tmp_path: Path) -> Iterator[Path]:
    mount = tmp_path / "disk"
    mount.mkdir()
    done = subprocess.run(
        ["mount", "-t", "tmpfs", "-o", "size=3m", "none", str(mount)], capture_output=True, check=False
    )
    if done.returncode:
        pytest.skip("a file system of a few megabytes cannot be mounted here")
    yield mount
    subprocess.run(["umount", "-l", str(mount)], check=True)


@pytest.mark.usefixtures("inline")
def test_a_full_disk_is_said_and_the_last_good_state_answers(tiny_disk: Path, tmp_path: Path) -> None:
    root = make(tiny_disk / "p")
    with Engine.open(root=root) as engine:
        engine.index()
        before = answers(engine)
        outside = tmp_path / "more"
        make(outside, {f"m{n}.py": "".join(f"# the value is {i} of {n}\n" for i in range(900)) for n in range(99)})
        (root / "more").mkdir()
        for file in outside.iterdir():
            shutil.copy(file, root / "more")
            if os.statvfs(tiny_disk).f_bavail * os.statvfs(tiny_disk).f_frsize < 700_000:
                break
        with pytest.raises(errors.StorageFull):
            for _ in range(3):
                engine.index()
                write(root, "more/m0.py", os.urandom(150_000).hex())
        assert answers(engine, wait_s=0)[:3] == before[:3]
    with Engine.open(root=root) as engine:
        assert places(engine.search("RetryPolicy", mode="symbol", wait_s=0)) == before[0]
        assert integrity(engine) == "ok"
        shutil.rmtree(root / "more")
        engine.index(force=True)
        assert answers(engine) == before


@pytest.mark.usefixtures("inline")
def test_without_a_free_byte_an_index_that_was_closed_answers(tiny_disk: Path) -> None:
    root = make(tiny_disk / "p")
    changed = next(path for path in sorted(root.rglob("*.py")) if "RetryPolicy" in path.read_text())
    with Engine.open(root=root) as engine:
        engine.index()
        before = answers(engine)
    with (tiny_disk / "filling").open("wb", buffering=0) as filling, contextlib.suppress(OSError):
        while True:
            filling.write(bytes(4096))
    with changed.open("r+b") as file:
        text = file.read()
        file.seek(0)
        file.write(text.replace(b"RetryPolicy", b"RetryPalicy"))
    with Engine.open(root=root) as engine:
        found = engine.search("RetryPalicy", mode="symbol")
        assert [hit.path for hit in found.hits] == [changed.relative_to(root).as_posix()]
        assert not engine.search("RetryPolicy", mode="symbol").hits
        assert (found.freshness, found.stale_reason) == ("stale", "the disk that holds the index is full")
        with pytest.raises(errors.StorageFull):
            engine.sync()
        with pytest.raises(errors.StorageFull, match="Too little disk space"):
            engine.index(force=True)
        assert places(engine.search("RetryPolicy", mode="symbol", wait_s=0)) == before[0]
        (tiny_disk / "filling").unlink()
        after = engine.search("RetryPalicy", mode="exact")
        assert after.freshness == "fresh"
        assert [hit.path for hit in after.hits] == [changed.relative_to(root).as_posix()]
    with Engine.open(root=make(tiny_disk / "other")) as engine:
        with (tiny_disk / "filling").open("wb", buffering=0) as filling, contextlib.suppress(OSError):
            while True:
                filling.write(bytes(4096))
        first = engine.search("RetryPolicy")
        assert first.hits and any("Free some" in note for note in first.notes)


def test_a_limit_on_file_sizes_is_a_full_disk(tmp_path: Path) -> None:
    root = make(tmp_path / "p")
    with Engine.open(root=root) as engine:
        engine.index()
        before = answers(engine)
    make(root, {f"more/m{n}.py": "".join(f"value_{n}_{i} = {i}\n" for i in range(2000)) for n in range(40)})
    process = start(
        root,
        """
        import resource, sys
        from findling import Engine; from findling.model import errors
        resource.setrlimit(resource.RLIMIT_FSIZE, (400_000, 400_000))
        try:
            Engine.open(root=sys.argv[1]).index()
        except errors.FindlingError as error:
            print(type(error).__name__, flush=True)
        """,
    )
    out, err = process.communicate(timeout=60)
    assert out.strip() in ("StorageFull", "IndexUnavailable"), err
    assert "Traceback" not in err
    with Engine.open(root=root) as engine:
        assert places(engine.search("RetryPolicy", mode="symbol", wait_s=0)) == before[0]
    shutil.rmtree(root / "more")
    assert_recovers(root, tmp_path / "again")


# --- two at once --------------------------------------------------------------------------------------------------


def test_two_processes_that_index_at_once_make_one_index(tmp_path: Path) -> None:
    root = make(tmp_path / "p", MANY)
    both = [start(root), start(root)]
    for process in both:
        out, err = process.communicate(timeout=60)
        assert process.returncode == 0, err
        assert out.splitlines()[-1] == "done"
    assert_recovers(root, tmp_path / "again")


def test_who_searches_while_another_process_writes_is_told(tmp_path: Path) -> None:
    root = make(tmp_path / "p")
    with Engine.open(root=root) as engine:
        engine.index()
        lock = WriterLock(engine.store_dir, wait_s=0)
        try:
            write(root, "src/new.py", "class BrandNew:\n    pass\n")
            result = engine.search("RetryPolicy")
            assert result.freshness == "syncing"
            assert result.hits
        finally:
            lock.release()
        assert engine.search("BrandNew").hits[0].path == "src/new.py"


# --- damage -------------------------------------------------------------------------------------------------------


def put(path: Path, data: bytes) -> None:
    """New contents in a new file: cutting one short that is mapped into memory kills any process on any system."""
    beside = path.with_name(f".{path.name}.new")
    beside.write_bytes(data)
    os.replace(beside, path)


def flip(path: Path, share: float = 0.2, seed: int = 1) -> None:
    data = bytearray(path.read_bytes())
    for at in random.Random(seed).sample(range(len(data)), max(1, int(len(data) * share))):
        data[at] ^= 0x55
    put(path, bytes(data))


def each(pattern: str, change: Callable[[Path], object]) -> Callable[[Path], None]:
    def damage(store: Path) -> None:
        found = [path for path in store.glob(pattern) if path.is_file()]
        assert found, pattern
        for path in found:
            change(path)

    return damage


def halve(path: Path) -> None:
    put(path, path.read_bytes()[: path.stat().st_size // 2])


def older(path: Path) -> None:
    connection = apsw.Connection(os.fspath(path), vfs=checksums.way())
    connection.execute("PRAGMA user_version=999999; PRAGMA user_version=-1")
    connection.close()


def overwrite_pages(path: Path) -> None:
    data = bytearray(path.read_bytes())
    for page in range(1, len(data) // 4096):
        data[page * 4096 : page * 4096 + 200] = b"\xa5" * 200
    put(path, bytes(data))


DAMAGE = {
    "flipped": each("index.db", flip),
    "pages overwritten": each("index.db", overwrite_pages),
    "truncated": each("index.db", halve),
    "cut to one page": each("index.db", lambda path: put(path, path.read_bytes()[:4096])),
    "empty": each("index.db", lambda path: put(path, b"")),
    "text": each("index.db", lambda path: put(path, b"this is no database " * 400)),
    "missing": each("index.db", Path.unlink),
    "another program's": each("index.db", lambda path: foreign(path)),
    "older": each("index.db", older),
    "text index missing": lambda store: shutil.rmtree(store / "fulltext"),
    "text index emptied": each("fulltext/*", lambda path: put(path, b"")),
    "text index halved": each("fulltext/*", halve),
    "text index without segments": each("fulltext/*.idx", Path.unlink),
    "text index of another format": each("fulltext/format", lambda path: put(path, b"0")),
    "text index not a folder": lambda store: (shutil.rmtree(store / "fulltext"), (store / "fulltext").write_text("x")),
    "lock file": lambda store: put(store / "writer.lock", b"garbage" * 1000),
    "dense halved": each("dense-*", halve),
    "dense flipped": each("dense-*.json", flip),
    "everything": lambda store: shutil.rmtree(store),
}


def foreign(path: Path) -> None:
    for file in path.parent.glob("index.db*"):
        file.unlink()
    connection = apsw.Connection(os.fspath(path), vfs=checksums.way())
    connection.execute("CREATE TABLE meta(a, b, c); INSERT INTO meta VALUES (1, 2, 3)")
    connection.close()


@pytest.fixture(scope="module")
def sound(tmp_path_factory: pytest.TempPathFactory) -> tuple[Path, list[object], list[object]]:
    base = tmp_path_factory.mktemp("sound")
    with pytest.MonkeyPatch.context() as patched:
        patched.setattr("findling.store.local.dense_files.FILE_ROWS", 1)
        root = make(base / "p")
        with Engine.open(root=root) as engine:
            engine.index()
            before = answers(engine, wait_s=None)
            change(root)
            after = answers(engine, wait_s=None)
            shutil.rmtree(root)
            make(root)
            engine.index(force=True)
            assert list(engine.store_dir.glob("dense-*.bits"))
    return root, before, after


@pytest.mark.usefixtures("inline")
@pytest.mark.parametrize("kind", DAMAGE)
@pytest.mark.parametrize("opened", [False, True], ids=["closed", "open"])
def test_a_damaged_store_is_built_anew_or_still_right(
    kind: str, opened: bool, sound: tuple[Path, list[object], list[object]]
) -> None:
    root, before, after = sound
    shutil.rmtree(root)
    make(root)
    with Engine.open(root=root) as engine, Engine.open(root=root) as second:
        engine.index(force=True)
        if opened:
            assert answers(second) == before
        engine.close()
        # A checkpoint, so that the damage is not healed by the log.
        if not opened:
            shutil.copytree(engine.store_dir, root / "copy")
            shutil.rmtree(engine.store_dir)
            (root / "copy").rename(engine.store_dir)
        DAMAGE[kind](engine.store_dir)
        second.status()
        notes: list[str] = []
        result = second.search(QUERIES[0], mode="symbol", wait_s=None)
        notes += result.notes
        assert [places(result), *answers(second, wait_s=None)[1:]] == before
        change(root)
        assert answers(second, wait_s=None) == after
        assert integrity(second) == "ok"
        third = second.status()
        assert third.indexing_status == "ready"


@pytest.mark.parametrize("kind", ["older", "text index missing", "pages overwritten"])
def test_named_files_are_not_all_that_a_damaged_store_is_built_anew_from(kind: str, tmp_path: Path) -> None:
    root = make(tmp_path / "p")
    with Engine.open(root=root) as engine:
        files = engine.index(embed=False).files
        store = engine.store_dir
    DAMAGE[kind](store)
    with Engine.open(root=root) as engine:
        report = engine.sync(["src/retry.py"])
        assert (report.files, report.complete) == (files, True) and files > 1
        assert engine.status().indexing_status == "ready"


def test_an_index_of_a_later_format_is_left_alone(tmp_path: Path) -> None:
    root = make(tmp_path / "p")
    with Engine.open(root=root) as engine:
        engine.index()
    connection = apsw.Connection(os.fspath(root / ".findling/index.db"), vfs=checksums.way())
    connection.execute("PRAGMA user_version=4711")
    connection.close()
    size = (root / ".findling/index.db").stat().st_size
    with Engine.open(root=root) as engine:
        for ask in (lambda: engine.search("RetryPolicy"), engine.index, engine.sync):
            with pytest.raises(errors.IndexNewer):
                ask()
        assert engine.grep("RetryPolicy").total_files, "an exact search needs no index"
        assert engine.status().indexing_status == "failed"
    assert (root / ".findling/index.db").stat().st_size == size


def test_the_store_or_the_root_vanishes_under_an_open_engine(tmp_path: Path) -> None:
    root = make(tmp_path / "p")
    with Engine.open(root=root) as engine:
        engine.index()
        before = answers(engine)
        shutil.rmtree(engine.store_dir)
        assert engine.status().indexing_status == "not_indexed"
        assert answers(engine, wait_s=None) == before
        assert (root / ".findling/.gitignore").read_text() == "*\n"
        shutil.rmtree(root)
        with pytest.raises(errors.FindlingError):
            engine.search("RetryPolicy")


def test_a_store_built_anew_by_another_process_is_noticed(tmp_path: Path) -> None:
    root = make(tmp_path / "p")
    with Engine.open(root=root) as mine, Engine.open(root=root) as theirs:
        mine.index()
        assert mine.search("RetryPolicy").hits
        change(root)
        theirs.index(force=True)
        result: SearchResult = mine.search("AddedLater")
        assert result.hits[0].path == "src/added.py"
        assert result.freshness == "fresh"
        assert not mine.grep("LruCache").files
