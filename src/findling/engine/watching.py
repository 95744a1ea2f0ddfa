"""Watching: a thread of a server that takes in changed files as they are saved, so that questions find them there.

One process watches an index, whoever comes first; when it ends, another takes over. Nothing depends on it: each
question looks at the disk itself.
"""

from __future__ import annotations

import logging
import os
import threading
import time
from collections.abc import Callable, Iterable, Mapping
from functools import cache
from pathlib import Path
from typing import TYPE_CHECKING, Literal, NamedTuple

from findling import sources
from findling.engine.freshness import SYNC_FILES
from findling.engine.memory import give_back
from findling.model import errors
from findling.model.plurals import count
from findling.store.layout import DATABASE, WATCHER
from findling.store.lock import WriterLock

if TYPE_CHECKING:
    from findling.engine.engine import Engine
    from findling.model.types import Progress

STANDBY_S = 2.0
"""How often a process asks whether the watching has become free, or an index has come to be."""

QUIET_S = 0.9
"""A burst of more than a few files is taken in once nothing has come for so long."""

FEW_FILES = 20
"""So many are taken in at once: somebody saved them."""

LONGEST_S = 10.0
"""A burst that goes on is taken in after so long."""

PAUSE = 2
"""After taking something in, so many times as long as it took nothing is taken in: a third of a core at most."""

TURN_LOOK_S = 0.2
"""How soon one that waits for its turn hears that it is to stop."""

POLL_LEAST_S, POLL_PAUSE = 5.0, 50
"""Without the system's help everything is looked at this often, and at most a fiftieth of the time."""

KEPT_OPEN_S = 20.0
"""How long the index stays open after a change: the next one is quicker by a third, but an idle server needs little."""

REFUSED_KEPT = 10_000
"""Paths that were no files to index, remembered so that a log that grows is judged once."""

State = Literal["waiting", "standby", "watching", "polling", "stopped"]

_log = logging.getLogger(__name__)


_turns = cache(threading.BoundedSemaphore)
"""For so many watchers of this process at once; all that have the same limit share one."""


class Watch(NamedTuple):
    """What is watched just now, and why not more, in words."""

    state: State
    detail: str = ""


class Watcher:
    """Of one root. ``open_engine`` is called in the watcher's thread. ``at_once``: so many watchers of a process at the
    most take something in at once."""

    def __init__(self, open_engine: Callable[[], Engine], *, at_once: int = 1) -> None:
        self._open_engine = open_engine
        self._at_once = at_once
        self._stop = threading.Event()
        self._thread: threading.Thread | None = None
        self._refused: set[str] = set()
        self._free_at = 0.0
        self._heard_until = 0.0
        """Up to when (seconds since 1970) nothing was missed."""
        self._engine: Engine | None = None
        self.watch = Watch("stopped")
        self.taken_in = 0
        """Runs that found something to do."""

    def start(self) -> None:
        self._stop.clear()
        self.watch = Watch("waiting", "nothing is indexed yet")
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
                self._let_go()
                self._stop.wait(STANDBY_S)
        except Exception:  # noqa: BLE001 - the end of a thread: questions go on looking by themselves
            _log.exception("watching failed; questions go on looking at the disk themselves")
            self.watch = Watch("stopped", "it failed; questions look at the disk themselves")
        finally:
            self._let_go()

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
            self._watch(root, role)
        finally:
            self._let_go()
            role.release()

    # --- listening ------------------------------------------------------------------------------------------

    def _watch(self, root: Path, role: WriterLock) -> None:
        extra: set[str] = set()
        self._heard_until = time.time()
        while not self._stop.is_set() and role.stands:
            folders = self._folders(root) | {folder for folder in extra if (root / folder).is_dir()}
            try:
                heard = sources.watching.changes(root, folders, self._stop)
                extra |= self._listen(root, heard, folders, role)
            except sources.watching.CannotWatch as error:
                _log.warning("%s is looked at every few seconds instead of watched: %s", root, error)
                self._poll(str(error), role)

    def _listen(self, root: Path, heard: Iterable[Mapping[str, bool]], folders: set[str], role: WriterLock) -> set[str]:
        """Take in what is heard until there are folders to listen to that are not; those."""
        first = True
        waiting: dict[str, bool] = {}
        since = last = time.monotonic()
        for batch in heard:
            now = time.monotonic()
            if first:
                first = False
                self.watch = Watch("watching", count(len(folders), "folder"))
                self._take_in(root, None)  # what changed before anybody listened
                missed = self._folders(root) - folders
                if missed := missed | sources.watching.unheard_folders(root, folders, self._heard_until):
                    return missed
            self._heard_until = time.time()
            if batch:
                since = since if waiting else now
                last = now
                waiting.update(batch)
            if not waiting:
                if not role.stands:
                    return set()
                if self._engine is not None and now - self._free_at > KEPT_OPEN_S:
                    self._let_go()
                continue
            settled = len(waiting) <= FEW_FILES or now - last >= QUIET_S or now - since >= LONGEST_S
            if not settled or now < self._free_at:
                continue
            taken, waiting = waiting, {}
            fresh = sources.watching.new_folders(
                root, [name for name, there in taken.items() if there and name not in folders]
            )
            everything = bool(fresh) or _concerns_all(taken, folders)
            self._take_in(root, None if everything else list(taken))
            if everything:
                fresh |= self._folders(root) - folders
            if fresh or not folders.isdisjoint(taken):  # a folder that was made anew is not listened to any more
                return fresh
        return set()

    def _poll(self, why: str, role: WriterLock) -> None:
        self.watch = Watch("polling", why)
        while not self._stop.is_set() and role.stands:
            started = time.monotonic()
            self._take_in(None, None)
            self._stop.wait(max(POLL_LEAST_S, POLL_PAUSE * (time.monotonic() - started)))

    # --- taking in ------------------------------------------------------------------------------------------

    def _folders(self, root: Path) -> set[str]:
        return sources.watching.folders_of(root, self._opened().known_paths())

    def _opened(self) -> Engine:
        if self._engine is None:
            self._engine = self._open_engine()
        return self._engine

    def _let_go(self) -> None:
        """Close the index, and hand its memory back."""
        if self._engine is not None:
            self._engine.close()
            self._engine = None
            give_back()

    def _take_in(self, root: Path | None, paths: list[str] | None) -> None:
        """Bring these paths (None: everything) up to date when it is this one's turn. What cannot be now, the next
        question tries again."""
        while not _turns(self._at_once).acquire(timeout=TURN_LOOK_S):
            if self._stop.is_set():
                return
        try:
            self._bring_up_to_date(root, paths)
        finally:
            _turns(self._at_once).release()

    def _bring_up_to_date(self, root: Path | None, paths: list[str] | None) -> None:
        started = time.monotonic()
        try:
            if paths is None:
                self._let_go()  # what is configured may have changed, too
            engine = self._opened()
            if not (engine.store_dir / DATABASE).exists():
                return  # deleted: whether there is to be one again is a question's to decide
            if paths is None or root is None or len(paths) > SYNC_FILES:
                self._refused.clear()
                engine.refresh(wait_s=None, progress=self._on_progress)
                self.taken_in += 1
            else:
                wanted = self._wanted(engine, [path for path in paths if path not in self._refused])
                if wanted:
                    engine.sync(wanted, progress=self._on_progress)
                    self.taken_in += 1
        except errors.Cancelled:
            return
        except errors.FindlingError as error:
            _log.warning("changed files could not be taken in: %s", error)
        now = time.monotonic()
        self._free_at = now + PAUSE * (now - started)

    def _wanted(self, engine: Engine, paths: list[str]) -> list[str]:
        """Those that are to be indexed and changed, or are indexed and gone."""
        if not paths:
            return []
        changed, refused = engine.changed(paths)
        if len(self._refused) > REFUSED_KEPT:
            self._refused.clear()
        self._refused |= refused
        return changed

    def _on_progress(self, _: Progress) -> None:
        if self._stop.is_set():
            raise errors.Cancelled("The server ends.")


def _concerns_all(taken: Mapping[str, bool], folders: set[str]) -> bool:
    """Whether more than the files themselves may have changed: rules, folders, or how a name is written."""
    if any(name in folders or name.rpartition("/")[2] in sources.watching.RULE_FILES for name in taken):
        return True
    # Where upper and lower case are one, a renamed file still stands at its old name.
    return os.path.normcase("A") == "a" and not all(taken.values())
