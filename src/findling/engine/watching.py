"""Watching: a thread of a server that takes in changed files as they are saved, so that questions find them there.

One process watches an index, whoever comes first; when it ends, another takes over. Nothing depends on it: each
question looks at the disk itself.
"""

from __future__ import annotations

import logging
import threading
import time
from collections.abc import Callable
from functools import cache
from itertools import filterfalse
from pathlib import Path
from typing import TYPE_CHECKING, Literal, NamedTuple

from findling import sources
from findling.engine.memory import give_back
from findling.model import errors
from findling.model.plurals import count
from findling.store.local.layout import DATABASE, WATCHER
from findling.store.local.lock import WriterLock

if TYPE_CHECKING:
    from findling.engine.engine import Engine
    from findling.model.types import Progress

FAILED_PAUSE_S = 1.0
"""The pause before what failed is tried again."""

STANDBY_S = 2.0
"""How often a process that does not watch looks whether it can: the other watcher has ended, or there is an index."""

PAUSE = 2
"""After a run, the watcher rests for so many times as long as it took, so that it uses a third of a core at most. What
changes meanwhile is indexed in one run."""

TURN_LOOK_S = 0.2
"""How often a watcher that waits for its turn looks whether it should stop."""

POLL_LEAST_S, POLL_PAUSE = 5.0, 50
"""Where the system tells of no changes, every file is looked at this often, but for at most a fiftieth of the time."""

PASSED_OVER = 10_000
"""So many paths that are not to be indexed are remembered, so that a log file that grows is judged once."""

State = Literal["waiting", "standby", "watching", "polling", "stopped"]

_log = logging.getLogger(__name__)


_turns = cache(threading.BoundedSemaphore)
"""The semaphore for a limit on watchers that work at the same time in this process."""


class Watch(NamedTuple):
    """How much is watched now, and in words why not more."""

    state: State
    detail: str = ""


class Watcher:
    """Watches one root. ``open_engine`` is called in the watcher's thread. ``at_once``: at most so many watchers of a
    process index at the same time."""

    def __init__(self, open_engine: Callable[[], Engine], *, at_once: int = 1) -> None:
        self._open_engine = open_engine
        self._at_once = at_once
        self._stop = threading.Event()
        self._thread: threading.Thread | None = None
        self._passed_over: set[str] = set()
        self._free_at = 0.0
        self.watch = Watch("stopped")
        self.taken_in = 0
        """How often the disk was compared with the index."""

    def start(self) -> None:
        self._stop.clear()
        self.watch = Watch("waiting", "the server has just started")
        self._thread = threading.Thread(target=self._run, name="findling-watch", daemon=True)
        self._thread.start()

    def stop(self) -> None:
        """What it takes in just now ends at its next step."""
        self._stop.set()
        if self._thread is not None:
            self._thread.join()
        self.watch = Watch("stopped")

    def _run(self) -> None:
        try:
            while not self._stop.is_set():
                try:
                    self._turn()
                except errors.FindlingError as error:
                    self.watch = Watch("waiting", str(error))
                self._stop.wait(STANDBY_S)
        except Exception:  # noqa: BLE001 - the end of a thread: questions go on looking by themselves
            _log.exception("watching failed; searches look at the disk instead")
            self.watch = Watch("stopped", "it failed; searches look at the disk instead")

    def _turn(self) -> None:
        """Watch for as long as there is an index and this process has the role."""
        with self._open_engine() as engine:  # nothing of the index is opened for that
            root, directory = engine.root, engine.store_dir
        if not (directory / DATABASE).exists():
            self.watch = Watch("waiting", "nothing is indexed yet")
            return
        try:
            role = WriterLock(directory, wait_s=0.0, name=WATCHER)
        except errors.IndexBusy:
            self.watch = Watch("standby", "another process watches")
            return
        try:
            while not self._stop.is_set() and role.stands:
                try:
                    self._listen(root, role)
                except sources.watching.CannotWatch as error:
                    _log.warning("%s is looked at every few seconds instead of watched: %s", root, error)
                    self._poll(str(error), role)
        finally:
            role.release()

    def _listen(self, root: Path, role: WriterLock) -> None:
        """Take in what is heard, until there are folders to listen to that are not: of an index that another process
        is still making not all are known."""
        with self._open_engine() as engine:
            folders = {folder for folder in engine.listed()[1] if (root / folder).is_dir()}
            whole = not engine.coverage().unfinished
        first = True
        waiting: set[str] = set()
        for batch in sources.watching.changes(root, folders, self._stop):
            waiting |= batch - self._passed_over
            if first:  # what changed before anybody listened
                first = False
                self.watch = Watch("watching", count(len(folders), "folder"))
            elif not waiting and not (role.stands and (whole or self._is_unfinished())):
                return
            elif not waiting or time.monotonic() < self._free_at:
                continue
            taken, waiting = waiting, set()
            found = self._take_in()
            if found is None:
                waiting = taken or {""}  # the root: what changed before anybody listened
                continue
            files, there = found
            kept = self._passed_over if len(self._passed_over) < PASSED_OVER else set()
            self._passed_over = (kept | set(filterfalse(_is_rule, taken))) - files - folders - there
            if there - folders or not folders.isdisjoint(taken):
                return  # a folder that was made anew is not listened to any more

    def _is_unfinished(self) -> bool:
        with self._open_engine() as engine:
            return engine.coverage().unfinished

    def _poll(self, why: str, role: WriterLock) -> None:
        self.watch = Watch("polling", why)
        while not self._stop.is_set() and role.stands:
            started = time.monotonic()
            self._take_in()
            self._stop.wait(max(POLL_LEAST_S, POLL_PAUSE * (time.monotonic() - started)))

    def _take_in(self) -> tuple[set[str], set[str]] | None:
        """Bring the index up to date when it is this one's turn; then the files and folders of it, None where that
        could not be."""
        found: tuple[set[str], set[str]] | None = None
        while not _turns(self._at_once).acquire(timeout=TURN_LOOK_S):
            if self._stop.is_set():
                return None
        started = time.monotonic()
        try:
            with self._open_engine() as engine:  # anew each time: what is configured may have changed, too
                found = set(), set()
                if (engine.store_dir / DATABASE).exists():  # else whether there is to be one is a question's to decide
                    found = None
                    engine.refresh(wait_s=None, progress=self._on_progress)
                    self.taken_in += 1
                    found = engine.listed()
        except errors.Cancelled:
            return None
        except errors.FindlingError as error:
            _log.warning("changed files could not be taken in: %s", error)
        finally:
            _turns(self._at_once).release()
            give_back()
        now = time.monotonic()
        self._free_at = now + (FAILED_PAUSE_S if found is None else PAUSE * (now - started))
        return found

    def _on_progress(self, _: Progress) -> None:
        if self._stop.is_set():
            raise errors.Cancelled("The server ends.")


def _is_rule(path: str) -> bool:
    return path.rpartition("/")[2] in sources.watching.RULE_FILES
