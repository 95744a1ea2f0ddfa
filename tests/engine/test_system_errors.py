"""What the system may do to an index: a clock set back, no more open files, a disk that is read-only."""

from __future__ import annotations

import os
import re
import resource
import shutil
import subprocess
import sys
import time
from collections.abc import Iterator, Sequence
from contextlib import suppress
from pathlib import Path

import pytest
from indexes import SMALL, contents, identity_of, integrity, make, places, write

from findling import Engine
from findling.embedding import Batch
from findling.embedding.bundled import BundledEmbedder
from findling.engine import embedding_pass
from findling.engine.watching import Watcher
from findling.model import errors
from findling.store.local.writer import IndexWriter
from tests.sizes import size

DAY_NS = 24 * 3600 * 10**9

# --- the clock ----------------------------------------------------------------------------------------------------


def test_files_of_the_future_are_read_once(tmp_path: Path) -> None:
    root = make(tmp_path / "p")
    for path in root.rglob("*.*"):
        os.utime(path, ns=(time.time_ns() + DAY_NS,) * 2)
    with Engine.open(root=root) as engine:
        engine.index()
        assert engine.sync().changed == 0
        assert engine.search("RetryPolicy").freshness == "fresh"


def test_a_clock_that_is_set_back_hides_no_edit(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    root = make(tmp_path / "p")
    with Engine.open(root=root) as engine:
        engine.index()
        now, now_ns = time.time(), time.time_ns()
        monkeypatch.setattr(time, "time", lambda: now - 86_400)
        monkeypatch.setattr(time, "time_ns", lambda: now_ns - DAY_NS)
        file = root / "src/cache.py"
        old = file.read_text()
        file.write_text(old.replace("LruCache", "MruCache"))  # as long as it was
        os.utime(file, ns=(now_ns - DAY_NS, now_ns - DAY_NS))
        result = engine.symbols("MruCache", wait_s=None)
        assert [hit.path for hit in result.definitions] == ["src/cache.py"]
        assert result.freshness == "fresh"
        assert not engine.symbols("LruCache", wait_s=None).definitions
        assert engine.search("MruCache", mode="semantic", wait_s=None).coverage.missing_vectors == 0


# --- what is not to be had ----------------------------------------------------------------------------------------


def test_no_more_open_files_cost_the_question_and_not_the_index(tmp_path: Path) -> None:
    root = make(tmp_path / "p")
    with Engine.open(root=root) as engine:
        engine.index()
        before = places(engine.search("RetryPolicy", mode="keyword", wait_s=0))
        identity = identity_of(engine)
    soft, hard = resource.getrlimit(resource.RLIMIT_NOFILE)
    held = len(os.listdir("/proc/self/fd")) if sys.platform == "linux" else 64
    refused = 0
    try:
        for spare in range(-12, 12):  # numbers below that are free count, too
            resource.setrlimit(resource.RLIMIT_NOFILE, (held + spare, hard))
            try:
                with Engine.open(root=root) as engine:
                    engine.search("RetryPolicy", mode="keyword", wait_s=0)
            except (errors.FindlingError, OSError):
                refused += 1
    finally:
        resource.setrlimit(resource.RLIMIT_NOFILE, (soft, hard))
    assert refused
    with Engine.open(root=root) as engine:
        assert identity_of(engine) == identity
        assert places(engine.search("RetryPolicy", mode="keyword", wait_s=0)) == before
        assert integrity(engine) == "ok"


@pytest.fixture
def disk(tmp_path: Path) -> Iterator[Path]:
    mount = tmp_path / "disk"
    mount.mkdir()
    made = subprocess.run(
        ["mount", "-t", "tmpfs", "-o", "size=20m", "none", str(mount)], capture_output=True, check=False
    )
    if made.returncode:
        pytest.skip("a file system cannot be mounted here")
    yield mount
    subprocess.run(["umount", "-l", str(mount)], check=True)


def test_a_disk_that_becomes_read_only(disk: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("XDG_CACHE_HOME", str(tmp_path / "cache"))
    root = make(disk / "p")
    with Engine.open(root=root) as engine:
        engine.index()
        before = places(engine.search("RetryPolicy", mode="symbol", wait_s=None))
    subprocess.run(["mount", "-o", "remount,ro", str(disk)], check=True)
    with Engine.open(root=root) as engine:
        assert places(engine.search("RetryPolicy", mode="symbol", wait_s=None)) == before
        assert engine.store_dir.is_relative_to(tmp_path / "cache")
    subprocess.run(["mount", "-o", "remount,rw", str(disk)], check=True)
    write(root, "src/later.py", "class WrittenLater:\n    pass\n")
    with Engine.open(root=root) as engine:
        assert engine.store_dir == root / ".findling"
        assert [hit.path for hit in engine.symbols("WrittenLater", wait_s=None).definitions] == ["src/later.py"]
        assert integrity(engine) == "ok"


def fill(disk: Path) -> Path:
    """A file that takes all the room there is."""
    filler = disk / "filler"
    with filler.open("wb", buffering=0) as file, suppress(OSError):
        while True:
            file.write(bytes(1_000))
    return filler


def test_a_full_disk_is_said_of_an_index_that_it_keeps_from_being_whole(disk: Path) -> None:
    """First its vectors are missing, then all of its files, which a question reads."""
    root = make(disk / "p")
    with Engine.open(root=root) as engine:
        engine.index(embed=False)
        fill(disk)
        found = engine.status()
        assert (found.indexing_status, found.freshness) == ("ready", "fresh")
        assert any("cannot be found by meaning yet" in note for note in found.notes), found.notes
        assert any("is full" in note for note in found.notes), found.notes
    (disk / "filler").unlink()
    writer = IndexWriter(root / ".findling")
    manifest = writer.manifest(str(root), "live")
    writer.remove(manifest, list(writer.known_files(manifest)))
    writer.finish(manifest, complete=False, pending=1)
    writer.commit()
    writer.close()
    fill(disk)
    with Engine.open(root=root) as engine:
        answer = engine.search("RetryPolicy")
        assert answer.freshness == "stale" and answer.hits
        assert any("Free some" in note for note in answer.notes)


def test_a_first_question_is_answered_on_a_disk_that_is_full(disk: Path) -> None:
    root = make(disk / "p", {f"m{n}.py": f"def function_{n}():\n    return {n}\n" for n in range(150)})
    filler = fill(disk)
    for ask in range(2):
        with Engine.open(root=root) as engine:
            answer = engine.search("function_77")
            assert answer.hits[0].path == "m77.py", ask
            assert answer.freshness == "stale" and "full" in answer.stale_reason
            assert any("Free some" in note for note in answer.notes)
            with pytest.raises(errors.StorageFull):
                engine.index()
    filler.unlink()
    with Engine.open(root=root) as engine:
        assert engine.index().complete
        assert engine.search("function_77").freshness == "fresh"
        assert integrity(engine) == "ok"


def test_of_very_many_files_a_first_question_sees_what_there_is_time_for(tmp_path: Path) -> None:
    """A hundred times what is read in the long form, and a file of two gigabytes among them."""
    most = size(10_000, 200_000)
    for number in range(most):
        path = tmp_path / f"{number // 1000}" / f"m{number}.py"
        path.parent.mkdir(exist_ok=True)
        path.write_text(f"value_{number} = {number}\n")
    (tmp_path / "near.py").write_text("def needle_of_all():\n    return 1\n")
    with (tmp_path / "large.txt").open("wb") as file:
        file.truncate(2 << 30)
    with Engine.open(root=tmp_path) as engine:
        answer = engine.search("needle_of_all")
    assert answer.hits[0].path == "near.py"
    listed = answer.coverage.scanned + sum(_left(note) for note in answer.notes)
    not_listed = any("some folders were not even listed" in note for note in answer.notes)
    assert listed < most + 1 if not_listed else listed == most + 1


def _left(note: str) -> int:
    """How many files a note says were not gone through."""
    said = re.search(r"\(([\d,]+) more were not", note)
    return int(said[1].replace(",", "")) if said else 0


# --- embedding and watching ---------------------------------------------------------------------------------------


def test_the_nth_embedding_fails(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(embedding_pass, "_FILES_PER_BATCH", 1)
    root = make(tmp_path / "p", dict(list(SMALL.items())[:2]))
    with Engine.open(root=root) as engine:
        engine.index(embed=False)
        shutil.copytree(root, tmp_path / "kept")
        engine.index()
        whole = contents(engine)
    left = 0
    encode = BundledEmbedder.embed_batch

    def failing(self: BundledEmbedder, texts: Sequence[str], *, deadline: float | None = None) -> Batch:
        nonlocal left
        left -= 1
        if left == 0:
            raise errors.EmbedderUnavailable("It went away.")
        return encode(self, texts, deadline=deadline)

    n = 0
    while left <= 0:
        n += 1
        left = n
        shutil.rmtree(root)
        shutil.copytree(tmp_path / "kept", root)
        with pytest.MonkeyPatch.context() as broken:
            broken.setattr(BundledEmbedder, "embed_batch", failing)
            with Engine.open(root=root) as engine:
                assert engine.index().complete
        with Engine.open(root=root) as engine:
            missing = engine.search("RetryPolicy", wait_s=0).coverage.missing_vectors
            assert bool(missing) == (left <= 0)
            engine.index()
            assert contents(engine) == whole
    assert n == len(whole["files"]) + 1


def test_a_watcher_goes_on_after_what_it_could_not_take_in(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    root = make(tmp_path / "p")
    with Engine.open(root=root) as engine:
        engine.index()
    failures = [errors.StorageFull("no room"), errors.IndexBusy("busy"), errors.IndexUnavailable("no answer")]
    refresh, sync = Engine.refresh, Engine.sync

    def failing(method: object) -> object:
        def called(self: Engine, *arguments: object, **options: object) -> object:
            if failures:
                raise failures.pop()
            return method(self, *arguments, **options)  # type: ignore[operator]

        return called

    monkeypatch.setattr(Engine, "refresh", failing(refresh))
    monkeypatch.setattr(Engine, "sync", failing(sync))
    watcher = Watcher(lambda: Engine.open(root=root))
    watcher.start()
    try:
        until = time.monotonic() + 30
        number = 0
        while failures or not watcher.taken_in:
            assert time.monotonic() < until, (watcher.watch, failures)
            write(root, "src/saved.py", f"def saved_{number}():\n    pass\n")
            number += 1
            time.sleep(0.2)
    finally:
        watcher.stop()
    with Engine.open(root=root) as engine:
        found = engine.symbols(f"saved_{number - 1}", wait_s=None)
        assert [hit.path for hit in found.definitions] == ["src/saved.py"]
