"""A store and a tree that somebody else prepared: nothing outside of the root is read, written or shown."""

from __future__ import annotations

import os
import shutil
import subprocess
import sys
import time
from collections.abc import Callable, Iterator
from contextlib import suppress
from pathlib import Path
from typing import Any

import apsw
import pytest
from indexes import identity_of, integrity, make, places, rows, write
from test_faults import InlinePool

from findling import Engine
from findling.faces.cli import main as cli
from findling.model.collection import of_folder
from findling.model.errors import IndexUnavailable
from findling.outbound import files
from findling.outbound.files import NotRead, RootFiles, read_regular_file
from findling.store.local import checksums, fulltext_files
from findling.store.local.fulltext import FulltextReader
from findling.store.local.lock import WriterLock
from findling.store.local.reader import IndexReader
from findling.store.local.schema import IndexDamaged

SECRET = "xyzzy_outside_token"


@pytest.fixture(autouse=True)
def inline(monkeypatch: pytest.MonkeyPatch) -> None:
    """These tests are about what is in a store, not about who prepares it."""
    monkeypatch.setattr("findling.engine.indexer.WorkerPool", InlinePool)


@pytest.fixture
def root(tmp_path: Path) -> Path:
    return make(tmp_path / "p")


@pytest.fixture
def outside(tmp_path: Path) -> Path:
    """A folder beside the root, which must stay as it is."""
    folder = tmp_path / "outside"
    folder.mkdir()
    (folder / "notes.txt").write_text(f"{SECRET} = 1\n")
    (folder / "plain.txt").write_text("not a database\n")
    connection = apsw.Connection(os.fspath(folder / "victim.db"))
    connection.execute("CREATE TABLE theirs(x); INSERT INTO theirs VALUES ('kept')")
    connection.close()
    return folder


def everything(folder: Path) -> dict[str, bytes]:
    return {
        path.relative_to(folder).as_posix(): path.read_bytes() for path in sorted(folder.rglob("*")) if path.is_file()
    }


def links(folder: Path) -> list[Path]:
    return [path for path in folder.rglob("*") if path.is_symlink()]


# --- the store's files are links ----------------------------------------------------------------------------------

PLANTED = {
    "database": ("index.db", "victim.db"),
    "database of nothing": ("index.db", "not-there.db"),
    "database is text": ("index.db", "plain.txt"),
    "database is a folder": ("index.db", "."),
    "log": ("index.db-wal", "plain.txt"),
    "log of nothing": ("index.db-wal", "not-there"),
    "shared memory": ("index.db-shm", "plain.txt"),
    "journal": ("index.db-journal", "plain.txt"),
    "lock": ("writer.lock", "victim.db"),
    "lock is text": ("writer.lock", "plain.txt"),
    "lock of nothing": ("writer.lock", "not-there"),
    "lock's journal": ("writer.lock-journal", "plain.txt"),
    "text index": ("fulltext", "."),
    "text index's marker": ("fulltext/format", "plain.txt"),
    "text index's state": ("fulltext/meta.json", "plain.txt"),
    "trigrams": ("trigrams", "."),
    "dense": ("dense-1.json", "plain.txt"),
    "dense being written": ("dense-1.units.part", "plain.txt"),
    "something else": ("jobs.json", "plain.txt"),
    "jobs": ("jobs", "."),
}


@pytest.mark.parametrize("kind", PLANTED)
@pytest.mark.parametrize("indexed", [False, True], ids=["new", "indexed"])
def test_a_link_in_the_store_is_replaced_and_its_target_left_alone(
    kind: str, indexed: bool, root: Path, outside: Path
) -> None:
    name, target = PLANTED[kind]
    store = root / ".findling"
    if indexed:
        with Engine.open(root=root) as engine:
            engine.index(embed=False)
    planted = store / name
    planted.parent.mkdir(parents=True, exist_ok=True)
    if planted.is_dir():
        shutil.rmtree(planted)
    planted.unlink(missing_ok=True)
    planted.symlink_to(outside / target)
    before = everything(outside)
    with Engine.open(root=root) as engine:
        engine.status()
        result = engine.search("RetryPolicy", mode="symbol", wait_s=None)
        assert places(result)[0][0] == "src/retry.py"
        assert any("It is rebuilt." in note for note in result.notes), result.notes
        assert engine.grep("LruCache").total_files == 1
        write(root, "src/more.py", "class Later:\n    pass\n")
        engine.sync(["src/more.py"])
        assert engine.search("Later", mode="symbol").hits
        assert integrity(engine) == "ok"
    assert everything(outside) == before
    assert links(store) == []


@pytest.mark.parametrize("name", ["index.db", "writer.lock", "index.db-wal", "dense-1.json"])
def test_a_folder_in_a_files_place_is_replaced(name: str, root: Path) -> None:
    (root / ".findling" / name / "below").mkdir(parents=True)
    with Engine.open(root=root) as engine:
        assert engine.search("RetryPolicy", wait_s=None).hits
        assert integrity(engine) == "ok"


@pytest.mark.skipif(not hasattr(os, "mkfifo"), reason="needs pipes")
@pytest.mark.parametrize("name", ["index.db", "writer.lock", "fulltext/meta.json", "jobs.json"])
def test_a_pipe_in_the_store_blocks_nobody(name: str, root: Path) -> None:
    pipe = root / ".findling" / name
    pipe.parent.mkdir(parents=True, exist_ok=True)
    os.mkfifo(pipe)
    with Engine.open(root=root) as engine:
        engine.status()
        assert engine.search("RetryPolicy", wait_s=None).hits


def test_readers_and_the_lock_follow_no_link_by_themselves(root: Path, outside: Path) -> None:
    with Engine.open(root=root) as engine:
        engine.index(embed=False)
        store = engine.store_dir
        identity = identity_of(engine)
    (store / "writer.lock").unlink()
    (store / "writer.lock").symlink_to(outside / "victim.db")
    WriterLock(store, wait_s=0).release()
    assert not (store / "writer.lock").is_symlink()
    shutil.move(store / "fulltext", outside / "fulltext")
    (store / "fulltext").symlink_to(outside / "fulltext")
    assert not fulltext_files.usable(store / "fulltext", identity)
    with pytest.raises(IndexDamaged):
        IndexReader(store, str(root))
    (store / "fulltext").unlink()
    shutil.move(store / "index.db", outside / "index.db")
    (store / "index.db").symlink_to(outside / "index.db")
    with pytest.raises(IndexDamaged):
        IndexReader(store, str(root))


def test_links_above_the_store_are_the_users_own(tmp_path: Path) -> None:
    make(tmp_path / "real" / "p")
    (tmp_path / "link").symlink_to(tmp_path / "real")
    with Engine(of_folder(tmp_path / "link" / "p", tmp_path / "link" / "p" / ".findling")) as engine:
        assert engine.index().files
        assert engine.search("RetryPolicy").hits
        assert engine.grep("LruCache").total_files == 1


# --- what the store says of paths ---------------------------------------------------------------------------------


def set_path(store: Path, old: str, new: str) -> None:
    connection = apsw.Connection(os.fspath(store / "index.db"), vfs=checksums.way())
    connection.execute("UPDATE entries SET path=? WHERE path=?", (new, old))
    connection.close()


def shown(engine: Engine) -> str:
    """Everything that a question about the secret shows."""
    said: list[Any] = [engine.grep(SECRET).files]
    for mode in ("auto", "exact", "keyword", "symbol"):
        said += [(hit.path, hit.snippet) for hit in engine.search(SECRET, mode=mode, wait_s=0).hits]
    said.append([(found.path, found.signature) for found in engine.symbols(SECRET, wait_s=0).definitions])
    return repr(said)


@pytest.mark.parametrize("form", ["../outside/notes.txt", "src/../../outside/notes.txt", "absolute", "double"])
def test_a_path_in_the_store_leads_nowhere_else(form: str, root: Path, outside: Path) -> None:
    write(root, "src/mine.txt", f"{SECRET} = 1\n")
    with Engine.open(root=root) as engine:
        engine.index()
        assert f"{SECRET} = 1" in shown(engine)
        secret = outside / "notes.txt"
        path = {"absolute": str(secret), "double": f"/{secret}"}.get(form, form)
        set_path(engine.store_dir, "src/mine.txt", path)
    (root / "src/mine.txt").unlink()
    with Engine.open(root=root) as engine:
        assert f"{SECRET} = 1" not in shown(engine)


@pytest.mark.parametrize("place", ["src/deep", "src"])
def test_a_folder_replaced_by_a_link_is_not_entered(place: str, root: Path, outside: Path) -> None:
    write(root, "src/deep/notes.txt", f"{SECRET} = 1\n")
    (outside / "deep").mkdir()
    shutil.copy(outside / "notes.txt", outside / "deep")
    with Engine.open(root=root) as engine, Engine.open(root=root) as opened:
        engine.index()
        assert f"{SECRET} = 1" in shown(opened)
        engine.close()
        status = (root / "src/deep/notes.txt").stat()
        for copy in (outside / "notes.txt", outside / "deep/notes.txt"):
            os.utime(copy, ns=(status.st_atime_ns, status.st_mtime_ns))
        shutil.rmtree(root / place)
        (root / place).symlink_to(outside, target_is_directory=True)
        for one in (engine, opened):
            assert f"{SECRET} = 1" not in shown(one)
        engine.sync(["src/deep/notes.txt"])
        engine.index()
        assert f"{SECRET} = 1" not in shown(engine)


# --- the reader of files ------------------------------------------------------------------------------------------


@pytest.fixture(params=["folders", "paths"])
def way(request: pytest.FixtureRequest, monkeypatch: pytest.MonkeyPatch) -> Iterator[str]:
    """Both ways of reading: in open folders, and by whole paths where a system cannot do that."""
    if request.param == "paths":
        monkeypatch.setattr(files, "_BELOW", False)
    elif not files._BELOW:
        pytest.skip("the system opens nothing below an open folder")
    yield request.param


def reason(root: Path, path: str, most: int = 1000) -> str:
    read = read_regular_file(root, path, most)
    assert isinstance(read, NotRead), path
    with RootFiles(root) as opened:
        status = opened.status(path)
    assert read.reason in ("not_a_file", "too_large") or isinstance(status, NotRead), path
    return read.reason


@pytest.mark.usefixtures("way")
def test_only_regular_files_inside_are_read(root: Path, outside: Path) -> None:
    (root / "link.txt").symlink_to(outside / "notes.txt")
    (root / "inner.txt").symlink_to(root / "src/app.js")
    (root / "linked").symlink_to(outside, target_is_directory=True)
    (root / "same").symlink_to(root / "src", target_is_directory=True)
    secret = str(outside / "notes.txt")
    for path in ("../outside/notes.txt", "src/../../outside/notes.txt", "src/../src/app.js", "./src/app.js"):
        assert reason(root, path) == "outside"
    for path in (secret, f"/{secret}", "/src/app.js", "src//app.js", "src/..", "src/"):
        assert reason(root, path) == "outside"
    for path in ("", ".", "..", "a\0b", "src\0/a", "\ud800/a"):
        assert reason(root, path) == "outside"
    for path in ("link.txt", "inner.txt", "src"):
        assert reason(root, path) == "not_a_file"
    for path in ("linked/notes.txt", "same/app.js", "missing", "src/missing", "src/app.js/below", "no/such/folder"):
        assert reason(root, path) == "not_found"
    assert reason(root, "src/app.js", 10) == "too_large"
    if hasattr(os, "mkfifo"):
        os.mkfifo(root / "pipe")
        assert reason(root, "pipe") == "not_a_file"


@pytest.mark.usefixtures("way")
def test_reading_on_after_any_path_gives_each_files_own_bytes(tmp_path: Path) -> None:
    root = tmp_path / "deep"
    deep = "/".join(f"d{n}" for n in range(40))
    paths = ["top.txt", "d0/one.txt", "d0/d1/two.txt", f"{deep}/bottom.txt", f"{deep}/e/lower.txt", "x/y/z/other.txt"]
    for path in paths:
        write(root, path, path)
    opened = RootFiles(root)
    for first in [*paths, "missing/at/all", f"{deep}/missing/file", "../deep/top.txt", "d0/d1/missing"]:
        for second in paths:
            opened.read(first, 1000)
            read = opened.read(second, 1000)
            assert not isinstance(read, NotRead)
            assert read[1] == second.encode()
            assert read[0].st_size == len(second)
    opened.close()
    assert not isinstance(opened.read(paths[3], 1000), NotRead)


@pytest.mark.skipif(not Path("/proc/self/fd").is_dir(), reason="counts this process's open files")
def test_no_folder_stays_open(root: Path) -> None:
    before = len(os.listdir("/proc/self/fd"))
    for path in ("src/app.js", "src/missing", "no/file", "../x", "src/" + "a/" * 300 + "b", "a\0/b", "src"):
        read_regular_file(root, path, 1000)
        RootFiles(root).read(path, 1000)
    assert len(os.listdir("/proc/self/fd")) == before


# --- damage -------------------------------------------------------------------------------------------------------

ROWS = {
    "no text in paths": "UPDATE entries SET path=CAST(x'ff80fe' || path AS TEXT)",
    "no text in names": "UPDATE readings SET symbols=CAST(replace(hex(symbols), 'A5', 'A5FF') AS BLOB)",
    "cut symbols": "UPDATE readings SET symbols=substr(symbols, 1, 11) WHERE symbols<>x'90'",
    "symbols of no kind": "UPDATE readings SET symbols=x'9198a161a162ff01010101a0a0'",
    "no text in languages": "UPDATE blobs SET language=CAST(x'ff' AS TEXT)",
    "cut terms": "UPDATE readings SET terms=substr(terms, 1, 7)",
    "terms are numbers": "UPDATE readings SET terms=5",
    "cut chunks": "UPDATE readings SET chunks=substr(chunks, 1, 5)",
    "chunks are numbers": "UPDATE readings SET chunks=5",
    "no generation": "UPDATE meta SET value='x' WHERE key='generation'",
    "no identity": "UPDATE meta SET value='x' WHERE key='identity'",
    "cut vectors": "UPDATE vectors SET data=substr(data, 1, 100)",
}


@pytest.mark.parametrize("kind", ROWS)
def test_rows_that_findling_did_not_write_are_damage(kind: str, root: Path) -> None:
    with Engine.open(root=root) as engine:
        engine.index()
        before = places(engine.search("where are failed requests retried"))
        store = engine.store_dir
    connection = apsw.Connection(os.fspath(store / "index.db"), vfs=checksums.way())
    connection.execute(ROWS[kind])
    connection.close()
    with Engine.open(root=root) as engine:
        engine.status()
        result = engine.search("where are failed requests retried", wait_s=None)
        assert places(result) == before
        notes = [*result.notes, *engine.symbols("RetryPolicy", wait_s=None).notes]
        write(root, "src/retry.py", "class RetryPolicy:\n    pass\n")
        notes += engine.sync().notes
        assert engine.grep("class RetryPolicy").total_files == 1
        assert any("It is rebuilt." in note for note in notes), kind
        assert integrity(engine) == "ok"


@pytest.mark.parametrize(
    "column",
    [
        "blob_id) NOT IN ('integer','null'); COMMIT; VACUUM INTO '{}'; --\" TEXT",
        "odd\" \"TEXT'); COMMIT; VACUUM INTO '{}'; --\"",
    ],
)
def test_names_in_a_store_are_no_statements(root: Path, tmp_path: Path, column: str) -> None:
    with Engine.open(root=root) as engine:
        engine.index()
        store = engine.store_dir
    made = tmp_path / "made.db"
    connection = apsw.Connection(os.fspath(store / "index.db"), vfs=checksums.way())
    connection.execute(f'ALTER TABLE readings ADD COLUMN "{column.format(made)}')
    connection.execute("UPDATE readings SET terms=x'ff00ff', symbols=x'010203ffff', chunks=x'ff'")
    connection.close()
    with Engine.open(root=root) as engine:
        with suppress(IndexUnavailable):  # nobody may build it anew
            engine.search("where are failed requests retried", wait_s=0)
        assert engine.search("RetryPolicy", wait_s=None).hits[0].path == "src/retry.py"
    assert not made.exists()


def test_a_mistake_in_the_program_is_no_damage(root: Path) -> None:
    with Engine.open(root=root) as engine:
        engine.index()
        reader = IndexReader(engine.store_dir, str(root))
        for module in ("findling.search.part", "findling.store.part"):
            part: dict[str, Any] = {"__name__": module}
            exec("def fail(error):\n    raise error", part)  # as a part of the program
            undecodable = UnicodeDecodeError("utf-8", b"a mistake", 0, 1, "a mistake")
            for mistake in (ValueError("a mistake"), TypeError("a mistake"), KeyError("a mistake"), undecodable):
                with pytest.raises(type(mistake), match="a mistake"), reader.snapshot():
                    part["fail"](mistake)
        reader.close()


CHANGES: dict[str, Callable[[bytes], bytes]] = {
    "cut": lambda data: data[:-40],
    "emptied": lambda _: b"",
    "longer": lambda data: data + b"\0",
    "overwritten": lambda data: bytes(len(data)),
    "one byte": lambda data: data[:9] + bytes([data[9] ^ 1]) + data[10:],
}


@pytest.mark.parametrize("change", [*CHANGES, "gone"])
def test_a_changed_segment_is_noticed_before_it_is_used(change: str, root: Path) -> None:
    with Engine.open(root=root) as engine:
        engine.index(embed=False)
        before = places(engine.search("failed requests", mode="keyword"))
        store = engine.store_dir
        identity = identity_of(engine)
    for ending in (".term", ".idx", ".fast", ".fieldnorm", ".store"):
        (path,) = (store / "fulltext").glob(f"*{ending}")
        was = path.with_name("was")
        path.rename(was)
        if change != "gone":
            path.write_bytes(CHANGES[change](was.read_bytes()))
        assert not fulltext_files.usable(store / "fulltext", identity), ending
        if ending != ".store":
            path.unlink(missing_ok=True)
            was.rename(path)
            assert fulltext_files.usable(store / "fulltext", identity), ending
    with Engine.open(root=root) as engine:
        result = engine.search("failed requests", mode="keyword", wait_s=None)
        assert places(result) == before
        assert any("It is rebuilt." in note for note in result.notes)


def test_a_sound_text_index_stays_usable_however_it_changes(root: Path) -> None:
    with Engine.open(root=root) as engine:
        engine.index()
        identity = identity_of(engine)
        directory = engine.store_dir / "fulltext"
        for n in range(12):
            write(root, f"src/m{n % 4}.py", f"class Number{n}:\n    value = {n}\n")
            assert engine.search(f"Number{n}", mode="keyword").hits[0].path == f"src/m{n % 4}.py"
            assert fulltext_files.usable(directory, identity)
        copy = directory.with_name("copy")
        shutil.copytree(directory, copy, copy_function=shutil.copyfile, ignore=shutil.ignore_patterns(".tmp*"))
        assert fulltext_files.usable(copy, identity)
        shutil.rmtree(copy)


def break_unnoticed(path: Path, at: int, value: int) -> None:
    """Another byte in a file, with its size and time as they were."""
    status, data = path.stat(), bytearray(path.read_bytes())
    data[at] = value
    beside = path.with_name("beside")
    beside.write_bytes(data)
    os.utime(beside, ns=(status.st_atime_ns, status.st_mtime_ns))
    beside.replace(path)


@pytest.mark.parametrize("at_once", [True, False])
def test_a_bit_of_the_text_index_that_a_disk_has_changed_is_noticed(
    at_once: bool, root: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """It would hide a match, or a word. A large index is read while it is used; its vectors are kept."""
    wanted = "failed requests are sent"

    def asked(engine: Engine) -> tuple[Any, Any]:
        return places(engine.search(wanted, mode="keyword")), engine.grep("retr", limit=100).total_lines

    with Engine.open(root=root) as engine:
        engine.index()
        before, vectors = asked(engine), engine.coverage().embedded_chunks
    if not at_once:
        monkeypatch.setattr(fulltext_files, "READ_AT_ONCE", 0)
    for ending in (".term", ".idx", ".fieldnorm"):
        (path,) = (engine.store_dir / "fulltext").glob(f"*{ending}")
        break_unnoticed(path, path.stat().st_size // 3, path.read_bytes()[path.stat().st_size // 3] ^ 8)
        with Engine.open(root=root) as engine:
            assert not at_once or asked(engine) == before
            for _ in range(100):
                if (now := asked(engine)) == before and not fulltext_files.is_damaged(path.parent):
                    break
                time.sleep(0.01)
            assert now == before
            assert not path.exists(), "built anew"
            assert engine.coverage().embedded_chunks == vectors > 0


def test_the_librarys_panic_is_damage_and_the_index_is_built_anew(root: Path) -> None:
    with Engine.open(root=root) as engine:
        engine.index(embed=False)
        before = places(engine.search("failed requests", mode="keyword"))
        store = engine.store_dir
    (path,) = (store / "fulltext").glob("*.fast")
    break_unnoticed(path, -108, 0xFF)
    with pytest.raises(IndexDamaged) as raised:
        FulltextReader(store / "fulltext").search({("body", "failed"): 1.0}, 10)
    assert type(raised.value.__cause__).__name__ == "PanicException"
    with Engine.open(root=root) as engine:
        result = engine.search("failed requests", mode="keyword", wait_s=None)
        assert places(result) == before
        assert any("It is rebuilt." in note for note in result.notes)


# --- the command line ---------------------------------------------------------------------------------------------


class Panic(BaseException):
    pass


@pytest.mark.parametrize(
    ("raised", "status"),
    [(Panic("no sense"), 2), (GeneratorExit(), 2), (ValueError("x"), 2), (KeyboardInterrupt(), 130)],
)
def test_whatever_breaks_is_an_error_and_never_nothing_found(
    raised: BaseException, status: int, capsys: pytest.CaptureFixture[str], tmp_path: Path
) -> None:
    def failing(*_: object, **__: object) -> Any:
        raise raised

    assert cli.main(["search", "word", str(tmp_path)], open_engine=failing) == status
    assert capsys.readouterr().err.startswith("findling: ")


def test_an_exit_that_is_asked_for_stays_one(tmp_path: Path) -> None:
    asked: Callable[..., Any] = lambda *_, **__: sys.exit(7)  # noqa: E731
    with pytest.raises(SystemExit, match="7"):
        cli.main(["search", "word", str(tmp_path)], open_engine=asked)


# --- what the project's files are not -----------------------------------------------------------------------------


def test_no_file_of_the_project_is_imported(tmp_path: Path) -> None:
    root = make(tmp_path / "project", {"src/retry.py": "class RetryPolicy:\n    pass\n"})
    ran = tmp_path / "ran"
    for module in ("tree_sitter", "numpy", "apsw", "tantivy", "regex", "findling", "hashlib", "semble_grammars"):
        write(root, f"{module}.py", f"open({os.fspath(ran)!r}, 'a').write({module!r})\n")
    home = {**os.environ, "HOME": os.fspath(tmp_path), "XDG_CACHE_HOME": os.fspath(tmp_path / "cache")}
    console = Path(sys.executable).with_name("findling")
    start = [os.fspath(console)] if console.exists() else [sys.executable, "-P", "-m", "findling"]
    for arguments in (["index"], ["search", "RetryPolicy"], ["tool", "find_symbol", '{"name": "RetryPolicy"}']):
        done = subprocess.run(
            [*start, *arguments], cwd=root, env=home, capture_output=True, text=True, timeout=120, check=False
        )
        assert done.returncode == 0, done.stderr
    assert not ran.exists(), ran.read_text()


@pytest.mark.skipif(not checksums.available(), reason="SQLite's extension for it is not there")
def test_a_bit_that_the_disk_has_changed_in_a_row_is_damage(root: Path) -> None:
    store = root / ".findling"
    with Engine.open(root=root) as engine:
        engine.index()
        before = places(engine.search("failed requests"))
        identity = identity_of(engine)
        assert integrity(engine) == "ok"
        vector = max(row[0] for row in rows(engine, "SELECT data FROM vectors"))
        rows(engine, "PRAGMA wal_checkpoint(TRUNCATE)")
    data = bytearray((store / "index.db").read_bytes())
    data[data.index(vector[:100]) + 50] ^= 4
    (store / "index.db").write_bytes(data)
    with Engine.open(root=root) as engine:
        result = engine.search("failed requests", wait_s=None)
        assert places(result) == before and identity_of(engine) != identity
        assert any("It is rebuilt." in note for note in result.notes)
