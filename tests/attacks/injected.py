"""The n-th system call of indexing, embedding, watching or fetching fails, or ends the process: what is left then.

Needs strace, which counts calls for each thread of each process apart.
"""

from __future__ import annotations

import os
import re
import shutil
import subprocess
import textwrap
import time
from collections.abc import Mapping
from pathlib import Path
from typing import Any, NamedTuple

from file_servers import FileServer
from indexes import SMALL, contents, identity_of, integrity, make, write
from killable import Forked

from findling import Engine
from findling.engine.jobs import Records
from findling.engine.library import Library
from findling.engine.library.fetching.fetch_requests import FileRequest
from findling.engine.library.fetching.running import run_here

WRITES, SYNCS = "write,pwrite64,writev", "fsync,fdatasync"
RENAMES, READS = "rename,renameat,renameat2", "pread64"

FAULTS: Mapping[str, tuple[str, str]] = {
    "write": (WRITES, "error=ENOSPC"),
    "fsync": (SYNCS, "error=EIO"),
    "rename": (RENAMES, "error=EIO"),
    "read": (READS, "error=EIO"),
    "kill": (f"{WRITES},{SYNCS},{RENAMES}", "signal=SIGKILL"),
}
"""Which calls, and what becomes of the n-th. SQLite reads its files by `pread64`, Python the sources by `read`."""

_BEGINS = """
    import sys, time
    from pathlib import Path
    from findling import Engine; from findling.model import errors
    from findling.engine import embedding_pass, indexer
    from findling.store.local import dense_files
    indexer._TASK_FILES, indexer._COMMIT_FILES = 1, 2
    embedding_pass._FILES_PER_BATCH, embedding_pass._COMMIT_CHUNKS, dense_files.FILE_ROWS = 2, 2, 1
    root = Path(sys.argv[1])
    print("ready", flush=True)
    sys.stdin.readline()  # until somebody traces it
"""

WORK: Mapping[str, str] = {
    "index": "Engine.open(root=root).index(embed=False)",
    "embed": "Engine.open(root=root).embed()",
    "watch": """
        from findling.engine.watching import Watcher
        watcher = Watcher(lambda: Engine.open(root=root))
        watcher.start()
        until = time.monotonic() + 120
        while not watcher.taken_in and time.monotonic() < until:
            time.sleep(0.05)
        watcher.stop()
    """,
    "fetch": """
        from findling.engine.library import Library
        from findling.engine.library.fetching.fetch_requests import FileRequest
        with Library.open() as library:
            job = library.fetch(FileRequest(sys.argv[2], "lava.md", overwrite=True))
            until = time.monotonic() + 120
            while time.monotonic() < until:
                found = library.jobs.get(job.id)
                if found.status != "running":
                    break
                time.sleep(0.05)
    """,
}

ENDS_S = 240.0
"""Of work that is not over by then it is said that it hangs."""

OLD_LAVA, NEW_LAVA = (b"# Lava\n\nLava flows slowly.\n" * 40, b"# Lava\n\nLava flows quickly now.\n" * 60)


def change(root: Path) -> None:
    write(root, "src/retry.py", SMALL["src/retry.py"].replace("send_again", "send_twice") + "\nMORE = 1\n")
    write(root, "src/added.py", "class AddedLater:\n    pass\n")
    (root / "src/cache.py").unlink()
    os.rename(root / "docs/guide.md", root / "docs/manual.md")


class Outcome(NamedTuple):
    """``met``: whether the fault came about. ``said``: what the process wrote to stderr."""

    met: bool
    said: str


def run_with(fault: str, n: int, code: str, *arguments: str, log: Path, store: Path) -> Outcome:
    """Run ``code`` with a fault. ``store``: the folder that is kept; a read is one of its files, and not of a library
    that the process loads, without which no program can go on."""
    calls, what = FAULTS[fault]
    kept = [file for file in store.rglob("*") if file.is_file()] if fault == "read" else []
    kept += [file.with_name(f"{file.name}-wal") for file in kept if file.suffix == ".db"]
    body = textwrap.indent(textwrap.dedent(code).strip(), "    ")
    whole = f"{textwrap.dedent(_BEGINS)}\ntry:\n{body}\nexcept errors.FindlingError:\n    pass\n"
    log.unlink(missing_ok=True)
    complaints = log.with_suffix(".said")
    complaints.unlink(missing_ok=True)
    process = Forked(whole, arguments, complaints)
    process.stdout.readline()
    tracer = f"strace -f -qq -o {log} -p {process.pid} -e trace={calls} -e inject={calls}:{what}:when={n}".split()
    tracer += [part for file in kept for part in ("-P", str(file))]
    with subprocess.Popen(tracer, stderr=subprocess.DEVNULL) as tracing:
        while "TracerPid:\t0\n" in Path(f"/proc/{process.pid}/status").read_text():
            assert tracing.poll() is None, "strace cannot trace: sysctl kernel.yama.ptrace_scope=0"
            time.sleep(0.002)
        print(file=process.stdin, flush=True)
        ended = process.ends_within(ENDS_S)
        process.kill()
    assert ended, f"it hangs: {complaints.read_text()[-2000:]}"
    trace = log.read_text(errors="replace")
    met = "(INJECTED)" in trace or (fault == "kill" and "killed by SIGKILL" in trace)
    return Outcome(met, complaints.read_text() if complaints.exists() else "")


def without_vectors(files: Mapping[str, Any]) -> dict[str, Any]:
    return {path: {**rows, "vectors": None} for path, rows in files.items()}


class Bench:
    """A folder with an index, always at the same place (an index names its root), and what it is to become."""

    def __init__(self, base: Path) -> None:
        self.base = base
        self.root = base / "work" / "p"
        self._kept = base / "kept"
        make(self.root)
        with Engine.open(root=self.root) as engine:
            engine.index(embed=False)
            self.identity = identity_of(engine)
            self.old = without_vectors(contents(engine)["files"])
        self._keep("text")
        with Engine.open(root=self.root) as engine:
            engine.index()
        self._keep("vectors")
        change(self.root)
        copy = base / "scratch" / "p"
        shutil.copytree(self.root, copy, ignore=shutil.ignore_patterns(".findling"))
        with Engine.open(root=copy) as engine:
            engine.index()
            self.whole = contents(engine)
            self.found = self._answers(engine)
        self.new = without_vectors(self.whole["files"])

    def _keep(self, name: str) -> None:
        shutil.copytree(self.root, self._kept / name, symlinks=True)

    def lay_out(self, work: str) -> None:
        shutil.rmtree(self.root)
        shutil.copytree(self._kept / ("text" if work == "embed" else "vectors"), self.root, symlinks=True)
        change(self.root)

    def _answers(self, engine: Engine) -> list[object]:
        return [
            engine.grep("re[a-z]+").files,
            engine.symbols("retry", wait_s=None).definitions,
            [hit.path for hit in engine.search("send it once more", mode="semantic", wait_s=None).hits],
        ]

    def check(self, *, unreadable: bool) -> None:
        """Each document is old or new; and the next run makes of it what there would be from scratch.

        ``unreadable``: the disk gave an error where it was read, which SQLite calls damage, so all was made anew.
        """
        with Engine.open(root=self.root) as engine:
            engine.search("RetryPolicy", wait_s=0)
            if not unreadable:
                assert identity_of(engine) == self.identity, "it cost the whole index"
            if engine.status().indexing_status == "ready":
                for path, rows in without_vectors(contents(engine)["files"]).items():
                    assert rows in [side[path] for side in (self.old, self.new) if path in side], path
            assert integrity(engine) == "ok"
        with Engine.open(root=self.root) as engine:
            assert engine.index().complete
            assert contents(engine) == self.whole
            assert self._answers(engine) == self.found
            assert integrity(engine) == "ok"
            assert_no_stray_files(engine.store_dir)


def assert_no_stray_files(store: Path) -> None:
    """After the next job there, an hour later: until then somebody may still be writing."""
    for path in store.rglob("*.tmp"):
        os.utime(path, (time.time() - 3600,) * 2)
    Records(store, remembered=100, most_bytes=1 << 16).start("index", "full").end("done")
    left = [path.name for path in store.rglob("*") if re.search(r"\.(part|partial|tmp)\b", path.name)]
    assert not left, left


def check_fetched(data: Path) -> None:
    """The file is the old or the new one, and can be asked."""
    saved = data / "files" / "lava.md"
    assert saved.read_bytes() in (OLD_LAVA, NEW_LAVA)
    with Library.open() as library:
        library.refresh()
        text = saved.read_text()
        passages = library.search("how does lava flow", min_score=0.0).passages
        assert passages and all(passage.content.strip().split("\n")[-1] in text for passage in passages)


def allow(base: Path, data: Path, *hosts: str) -> None:
    """From now on processes have this library, and may fetch from these hosts."""
    config = base / "config" / "findling" / "config.toml"
    config.parent.mkdir(parents=True, exist_ok=True)
    named = ", ".join(f'"{host}"' for host in hosts)
    config.write_text(f"[fetch]\nallowed_hosts = [{named}]\n[library]\nmaxFileProcessingConcurrency = 1\n")
    os.environ.update({"FINDLING_DATA_DIR": str(data), "XDG_CONFIG_HOME": str(base / "config")})


def fetch_anew(url: str) -> None:
    with Library.open() as library:
        run_here(library, FileRequest(url, "lava.md", overwrite=True), library.jobs.start("fetch", "file"))


def fail_nth(work: str, fault: str, n: int, bench: Bench) -> bool:
    """Whether there was an n-th call to fail. Raises `AssertionError` for whatever is wrong after it."""
    log = bench.base / "trace"
    if work == "fetch":
        return _fail_nth_of_fetching(fault, n, bench.base, log)
    bench.lay_out(work)
    outcome = run_with(fault, n, WORK[work], str(bench.root), log=log, store=bench.root / ".findling")
    assert "Traceback" not in outcome.said, outcome.said
    bench.check(unreadable=fault == "read")
    return outcome.met


def _fail_nth_of_fetching(fault: str, n: int, base: Path, log: Path) -> bool:
    data = base / "data"
    shutil.rmtree(data, ignore_errors=True)
    with FileServer({"/lava.md": OLD_LAVA}) as server:
        allow(base, data, server.host)
        url = f"{server.url}/lava.md"
        fetch_anew(url)
        server.answers["/lava.md"] = NEW_LAVA
        outcome = run_with(fault, n, WORK["fetch"], str(data), url, log=log, store=data)
        assert "Traceback" not in outcome.said, outcome.said
        check_fetched(data)
        fetch_anew(url)
        assert (data / "files" / "lava.md").read_bytes() == NEW_LAVA
        check_fetched(data)
        assert os.listdir(data / "files") == ["lava.md"]
    return outcome.met
