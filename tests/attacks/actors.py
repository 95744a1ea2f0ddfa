"""Processes that index, embed, search, watch and fetch while others edit or end them; and what must hold after all."""

from __future__ import annotations

import os
import random
import shutil
import textwrap
from collections.abc import Callable
from pathlib import Path

from gits import commit, git
from indexes import contents, integrity, write
from killable import Forked

from findling import Engine

_SMALL_BATCHES = """
    import os, sys, random, threading, time
    # whoever started this is gone when its end of the pipe is
    threading.Thread(target=lambda: (sys.stdin.read(), os._exit(0)), daemon=True).start()
    from findling import Engine; from findling.model import errors
    from findling.engine import indexer, embedding_pass
    indexer._TASK_FILES, indexer._COMMIT_FILES = 4, 8
    embedding_pass._FILES_PER_BATCH = 10
    root, seed = sys.argv[1], int(sys.argv[2])
    chance = random.Random(seed)
    print("ready", flush=True)

    def goes_on(work):
        # a kill between the two is one in the middle
        print("begins", flush=True)
        try:
            work()
        except (errors.IndexBusy, errors.RefNotIndexed):
            pass
        print("ends", flush=True)
"""

INDEX = (
    _SMALL_BATCHES
    + """
    while True:
        with Engine.open(root=root) as engine:
            goes_on(engine.index)
"""
)

EMBED = (
    _SMALL_BATCHES
    + """
    while True:
        with Engine.open(root=root) as engine:
            goes_on(lambda: (engine.index(embed=False), engine.embed(force=True)))
"""
)

BACKGROUND = (
    _SMALL_BATCHES
    + """
    from findling.engine import background_process, index_jobs
    background_process._step_back = lambda: None  # where others are busy it would never come to anything
    with Engine.open(root=root) as engine:
        directory, key = engine.store_dir, engine.manifest_key
    def run():
        background_process.main(root, str(directory), key[1], index_jobs.queue(directory, key).id)
    while True:
        goes_on(run)
"""
)

FETCH = (
    _SMALL_BATCHES
    + """
    from findling.engine.library import Library
    from findling.engine.library.fetching.fetch_requests import FileRequest, RepoRequest
    from findling.engine.library.fetching.running import run_here
    from pathlib import Path
    file, repository = sys.argv[3:]
    with Library(Path(root)) as library:
        while True:
            for request in (FileRequest(file, "lava.md", overwrite=True), RepoRequest(repository)):
                job = library.jobs.start("fetch", request.type)
                goes_on(lambda: run_here(library, request, job))
"""
)

REFS = (
    _SMALL_BATCHES
    + """
    while True:
        with Engine.open(root=root) as engine:
            for ref in ("feature", "main", "HEAD", "HEAD~1"):
                goes_on(lambda: engine.search("Thing retry", ref=ref, wait_s=None))
"""
)

SEARCH = (
    _SMALL_BATCHES
    + """
    with Engine.open(root=root) as engine:
        while True:
            try:
                engine.search(f"Thing{chance.randrange(60)}", wait_s=chance.choice((0, 0.05, 1.0)))
            except errors.IndexNotReady:
                pass  # without time a question begins no index
            engine.grep("retry_[0-3]")
            engine.symbols("act", wait_s=0)
            time.sleep(0.01)
"""
)

WATCH = (
    _SMALL_BATCHES
    + """
    from findling.engine.watching import Watcher
    from findling.sources import watching
    watching.TURN_MS = 200
    watcher = Watcher(lambda: Engine.open(root=root))
    watcher.start()
    while True:
        time.sleep(1)
"""
)

ACTORS = {
    "index": INDEX,
    "refs": REFS,
    "search": SEARCH,
    "watch": WATCH,
    "embed": EMBED,
    "background": BACKGROUND,
    "fetch": FETCH,
}


class Actor:
    """One such process. ``kill`` ends it as hard as can be, and says whether it was in the middle of something.

    They go on for ever, so one that ended by itself has failed: then ``kill`` raises `AssertionError`.
    """

    def __init__(self, name: str, root: Path, seed: int, *arguments: str) -> None:
        self.name = name
        code = textwrap.dedent(ACTORS[name])
        self._process = Forked(code, [str(root), str(seed), *arguments], root.with_name(f"{root.name}.{name}.log"))
        self._process.stdout.readline()

    def kill(self) -> bool:
        alive = self._process.alive
        said = self._process.kill()
        assert alive, f"{self.name} ended by itself: {self._process.complaints.read_text()[-2000:]}"
        return said.split()[-1:] == ["begins"]


def lay_out(root: Path) -> Path:
    """A repository with two branches."""
    for number in range(40):
        write(root, f"pkg{number % 4}/mod{number}.py", body(number, 0))
    git(root, "init", "-q", "-b", "main")
    write(root, ".gitignore", "*.log\n")
    commit(root, "one")
    git(root, "checkout", "-q", "-b", "feature")
    for number in range(0, 40, 5):
        write(root, f"pkg{number % 4}/mod{number}.py", body(number, 1))
    git(root, "mv", "pkg1", "moved")
    commit(root, "two")
    git(root, "checkout", "-q", "main")
    return root


def body(number: int, version: int) -> str:
    return (
        f"class Thing{number}:\n    def act{number}(self):\n        return retry_{number % 7}({version})\n"
        + f"VALUE_{version} = 'x'\n" * (version % 40)
    )


def edit(root: Path, chance: random.Random) -> None:
    """One change of the kinds that editors and git make."""
    files = [path for path in root.rglob("*.py") if ".findling" not in path.parts]
    kind = chance.choice(
        ("write", "write", "atomic", "delete", "rename", "new", "log", "branch", "commit", "move", "chmod", "document")
    )
    version = chance.randrange(1000)
    if kind == "branch":
        # What was edited stands in the way of a switch now and then, as it does for people.
        git(root, "add", "-A")
        git(root, "stash", "-q", "-u") if chance.random() < 0.5 else git(
            root, "commit", "-q", "--allow-empty", "-m", "x"
        )
        git(root, "checkout", "-q", chance.choice(("main", "feature")))
    elif kind == "commit":
        commit(root, f"version {version}")
    elif kind == "log":
        write(root, "server.log", f"line {version}\n")
    elif kind == "new" or not files:
        write(root, f"new{chance.randrange(3)}/deep/mod{version}.py", body(version, 0))
    else:
        file = chance.choice(files)
        if kind == "write":
            file.write_text(body(version, version))
        elif kind == "atomic":
            beside = file.with_name(f".{file.name}.tmp")
            beside.write_text(body(version, version))
            os.replace(beside, file)
        elif kind == "delete":
            file.unlink()
        elif kind == "chmod":
            file.chmod(chance.choice((0o755, 0o644)))
        elif kind == "document":
            write(root, f"docs/note{chance.randrange(4)}.md", f"# Note {version}\n\nThing{version} retries again.\n")
        elif kind == "rename":
            os.rename(file, file.with_name(f"renamed{version}.py"))
        elif kind == "move":
            target = file.parent.with_name(f"folder{version}")
            if not target.exists():  # a folder of an earlier round, with files in it
                os.rename(file.parent, target)


def assert_nothing_lost(root: Path, beside: Path, *, refs: tuple[str, ...] = ("main", "feature")) -> None:
    """The index, brought up to date, answers like one from scratch, for the folder and for refs."""
    shutil.rmtree(beside, ignore_errors=True)
    copy = beside / root.name
    shutil.copytree(root, copy, symlinks=True, ignore=shutil.ignore_patterns(".findling"))
    with Engine.open(root=root) as engine, Engine.open(root=copy) as scratch:
        scratch.index()
        engine.index()
        assert engine.search("Thing1", wait_s=None).freshness == "fresh"
        _assert_same(engine, scratch)
        for ref in refs:
            engine.at(ref).index()
            scratch.at(ref).index()
            _assert_answers(engine.at(ref), scratch.at(ref))
        assert contents(engine)["files"].keys() == contents(scratch)["files"].keys()
        assert integrity(engine) == "ok"


def _assert_same(engine: Engine, scratch: Engine) -> None:
    mine, theirs = contents(engine), contents(scratch)
    assert mine["term_counts"] == theirs["term_counts"]
    assert mine["files"] == theirs["files"]
    assert mine["totals"] == theirs["totals"]
    assert mine["skipped"] == theirs["skipped"]
    _assert_answers(engine, scratch)


def _assert_answers(engine: Engine, scratch: Engine) -> None:
    questions: list[Callable[[Engine], object]] = [
        lambda asked: asked.grep("retry_[0-6]|Thing").files,
        lambda asked: asked.symbols("Thing1").definitions,
        lambda asked: [(h.path, h.start_line) for h in asked.search("Thing3 act", mode="symbol", wait_s=None).hits],
        lambda asked: sorted(h.path for h in asked.search("retry", mode="semantic", limit=200, wait_s=None).hits),
    ]
    for question in questions:
        assert question(engine) == question(scratch)
