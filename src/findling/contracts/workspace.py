"""Where tools work: one root with its engine, its index and its jobs, opened when they are first needed.

A workspace is for one thread, as its engine is; jobs have their own. Must not know any tool.
"""

from __future__ import annotations

import logging
import statistics
import time
from collections import deque
from collections.abc import Callable, Mapping, Sequence
from typing import TYPE_CHECKING

from findling import engine
from findling.contracts.refs import current_ref
from findling.engine import library
from findling.model.errors import FindlingError

if TYPE_CHECKING:
    from findling.config import Config
    from findling.engine import Engine
    from findling.engine.index_jobs import IndexJobs
    from findling.engine.library import Library
    from findling.engine.library.sources import Source
    from findling.engine.watching import Watch, Watcher
    from findling.model.typed_paths import StrPath
    from findling.model.types import Progress

WAIT_S = 2.0
"""How long a question may index before it answers with what is there."""

ASK_S = 0.5
"""What a question that waited for a job keeps of its time, to look at the disk and for what changed since."""

_log = logging.getLogger(__name__)

OPEN_REFS = 2
"""Refs that stay open beside what is checked out, as in the engine."""

_LATENCIES = 50
"""Searches whose time is remembered, for advice on the embedding model."""


class Workspace:
    """One root. ``path`` and ``root`` as for `Engine.open`; nothing is opened or read before it is asked for.

    ``background``: work that a question leaves undone goes on after the answer (a server does that; a command ends).
    ``config`` is obeyed instead of what is configured for the root. ``name`` is the root's among several.
    """

    def __init__(
        self,
        path: StrPath | None = None,
        *,
        root: StrPath | None = None,
        cache: bool = False,
        config: Config | None = None,
        background: bool = False,
        name: str = "",
    ) -> None:
        self._path, self._root, self._cache = path, root, cache
        self._name = name
        self._given = config
        self.background = background
        self.started = time.monotonic()
        self._engine: Engine | None = None
        self._jobs: IndexJobs | None = None
        self._latencies: deque[float] = deque(maxlen=_LATENCIES)
        self._library: Library | None = None
        self._documents: Source | None = None
        self._ref = ""
        self._ref_name = ""
        self._at: dict[str, Workspace] = {}
        self._watcher: Watcher | None = None
        self.absent: Mapping[str, FindlingError] = {}
        """Where there are several roots: those without the ref that was asked for, and what is said of them."""

    def at(self, ref: str | None) -> Workspace:
        """The workspace of a branch, tag or commit; this one for what is checked out. It is closed with this one.

        Raises `RefNotIndexed`.
        """
        found = engine.find_ref(self.engine.root, ref)
        if found is None:
            return self
        workspace = self._at.pop(found.commit_id, None)
        if workspace is None:
            workspace = Workspace(
                self._path,
                root=self._root,
                cache=self._cache,
                config=self._given,
                background=self.background,
                name=self._name,
            )
            workspace._ref = found.commit_id
            workspace.started = self.started
        workspace._ref_name = found.name
        self._at[found.commit_id] = workspace
        while len(self._at) > OPEN_REFS:
            self._at.pop(next(iter(self._at))).close()
        return workspace

    @property
    def ref_name(self) -> str:
        """What answers call the version of the files that is searched. Raises `errors.RootError`."""
        return self._ref_name or current_ref(self.engine.root)

    @property
    def roots(self) -> Sequence[Workspace]:
        """The workspaces of single roots that this one stands for."""
        return (self,)

    @property
    def engine(self) -> Engine:
        """Raises `errors.RootError`."""
        if self._engine is None:
            self._engine = self._open_engine()
        return self._engine

    @property
    def config(self) -> Config:
        """What is configured for the root. Raises `errors.ConfigError`."""
        return self.engine.config

    @property
    def jobs(self) -> IndexJobs:
        if self._jobs is None:
            self._jobs = engine.IndexJobs(self._open_engine, self.engine.store_dir, self.engine.manifest_key)
        return self._jobs

    @property
    def library(self) -> Library:
        """What was added to the library, whatever the root. Raises `errors.ConfigError`."""
        if self._library is None:
            self._library = library.Library.open()
        return self._library

    @property
    def documents(self) -> Source:
        """The root's documents for a search of the library. Raises `errors.RootError`."""
        if self._documents is None:
            root = self.engine.root
            self._documents = library.Source(self._name or root.name or str(root), self.engine, kind="docs")
        return self._documents

    def finish_in_background(self, ref: str) -> None:
        """Take in what the last question left out, unless a job does that already or nothing may go on.

        Where a question takes nothing in, this does not either.
        """
        if self.background and self.engine.auto_index and not self._looked_lately():
            self.jobs.start("incremental", force=False, ref=ref, asked_for=False)

    def wait_for_text(self, wait_s: float | None, progress: Callable[[Progress], None] | None = None) -> float | None:
        """Before a question that text and names answer: wait for those that a job takes in just now, at most so long.

        What is left of the time, for the question. ``progress`` as for `contracts.model.Call`.
        """
        if self._jobs is None or wait_s is None:
            return wait_s
        started = time.monotonic()
        self._jobs.wait_for_text(max(0.0, wait_s - ASK_S), progress)
        return max(ASK_S, started + wait_s - time.monotonic())

    def _looked_lately(self) -> bool:
        """Whether nothing is known to be left, and all was looked at too short a time ago to be worth it again."""
        if not self.engine.only_unlooked:
            return False
        looks = [look for look in (self.engine.last_whole_look, self.jobs.last_run) if look is not None]
        return any(time.monotonic() - ended < engine.freshness.CHECK_PAUSE * cost for ended, cost in looks)

    def watch(self) -> None:
        """Take in files as they are saved, unless that is not wanted. What is wrong is each call's to say."""
        try:
            opened = self.engine
            if not (opened.auto_index and opened.config.semantic.watch):
                return
        except FindlingError:
            return
        self._watcher = engine.Watcher(self._open_engine, at_once=opened.config.library.max_file_watcher_concurrency)
        self._watcher.start()
        opened.listen()

    @property
    def watched(self) -> Watch | None:
        """What is watched; None where nothing is to be."""
        return self._watcher.watch if self._watcher is not None else None

    def index_in_background(self) -> None:
        """Bring the whole index up to date, unless a job runs already. Failures are the job's, or are logged."""
        try:
            self.jobs.start("full", force=False, ref=current_ref(self.engine.root))
        except FindlingError as error:
            _log.warning("the index is not brought up to date: %s", error)

    def note_latency(self, milliseconds: float) -> None:
        self._latencies.append(milliseconds)

    def latency_ms(self) -> float | None:
        """The usual time of the searches made here, None when there were none."""
        return statistics.median(self._latencies) if self._latencies else None

    def finish(self) -> None:
        """Wait for what goes on in the background: the end of a command whose process ends with it."""
        for workspace in self._at.values():
            workspace.finish()
        if self._jobs is not None:
            self._jobs.wait()

    def rest(self) -> None:
        """Close what questions have opened; the next one opens it again. What goes on in the background goes on."""
        for workspace in self._at.values():
            workspace.rest()
        self._close_opened()

    def close(self) -> None:
        """Stops what goes on in the background; what it has taken in stays."""
        while self._at:
            self._at.popitem()[1].close()
        if self._watcher is not None:
            self._watcher.stop()
            self._watcher = None
        if self._jobs is not None:
            self._jobs.stop()
        self._close_opened()
        self._jobs = self._engine = None

    def _close_opened(self) -> None:
        if self._documents is not None:
            self._documents.close()
        if self._library is not None:
            self._library.close()
        if self._engine is not None:
            self._engine.close()
        self._documents = self._library = None

    def __enter__(self) -> Workspace:
        return self

    def __exit__(self, *_: object) -> None:
        self.close()

    def _open_engine(self) -> Engine:
        return engine.Engine.open(
            self._path, root=self._root, cache=self._cache, config=self._given, ref=self._ref or None
        )
