"""Jobs over one index: every run of its engine is recorded beside it while it lasts. One may go on in the background of
a server while questions are answered (`IndexJobs`), or in a process of its own (`start`) that a first question leaves
behind: one for each folder, gone when it is done. It holds nothing of whoever started it, and nobody waits for it.
"""

from __future__ import annotations

import os
import subprocess
import threading
import time
from collections.abc import Callable, Iterator, Mapping
from contextlib import contextmanager, suppress
from pathlib import Path
from typing import TYPE_CHECKING, Any, Literal

from findling.config import roots
from findling.engine.jobs import Job, Records, RunningJob, start_process
from findling.engine.memory import give_back
from findling.model.errors import FindlingError
from findling.model.plurals import count
from findling.model.types import Progress

if TYPE_CHECKING:
    from findling.engine.engine import Engine
    from findling.engine.store import OpenStore

    OnProgress = Callable[[Progress], None]

RunMode = Literal["full", "incremental"]

REMEMBERED = 20
"""Past jobs that are told of; more is a log, not a status."""

_RECORD_BYTES = 100_000

_AFTER_TEXT = "embedding"
"""The stage of a run in which text and names are committed, and vectors are made."""

_STOP_S = 10.0
"""Within which a job comes to its next step."""

_LOOK_S = 0.05
"""Between two looks at how far a job is; nobody notices so little."""


def records_of(store_dir: Path) -> Records:
    return Records(store_dir, remembered=REMEMBERED, most_bytes=_RECORD_BYTES)


@contextmanager
def running_job(
    store: OpenStore, progress: OnProgress | None, *, kind: Literal["index", "embed"] = "index", whole: bool
) -> Iterator[RunningJob]:
    """What a run calls instead of ``progress``; a run within a job is that job. Nobody is told of it afterwards."""
    if isinstance(progress, RunningJob):
        yield progress
        return
    place = _place_of(*store.manifest_key)
    mode: RunMode = "full" if whole else "incremental"
    job = records_of(store.directory).start(kind, mode, place, seldom=True, on_progress=progress)
    job.kept = False
    try:
        yield job
    finally:
        job.end("done")


def active_job(store: OpenStore) -> Job | None:
    """The job that goes on over what the store shows, None where none is told of; of several the one that last got on.
    Changes nothing."""
    place = _place_of(*store.manifest_key)
    found = [job for job in records_of(store.directory).active() if job.place == place]
    return max(found, key=lambda job: job.updated, default=None)


def stop(store: OpenStore) -> int:
    """Ask the jobs over a folder and its commits to end, wait for that for some seconds; how many there were."""
    records, place = records_of(store.directory), _place_of(*store.manifest_key)
    commits = _place_of(os.fspath(roots.index_owner(store.root)), "")

    def found() -> list[Job]:
        return [job for job in records.active() if job.place == place or job.place.startswith(commits)]

    asked = found()
    for job in asked:
        records.cancel(job.id)
    until = time.monotonic() + _STOP_S
    while time.monotonic() < until and found():
        time.sleep(_LOOK_S)
    return len(asked)


def told(store: OpenStore) -> Iterator[str]:
    """What a status says of the jobs over what the store shows: one that goes on, and the last one's failure."""
    place = _place_of(*store.manifest_key)
    jobs = [job for job in records_of(store.directory).all() if job.place == place]
    if active := next((job for job in jobs if job.is_active), None):
        how_far = f": {active.done:,} of {count(active.total, 'file')}" if active.total else ""
        yield f"The index is being made{how_far}; 'findling stop' ends it."
    elif jobs and jobs[0].state == "failed":
        yield f"The last run over this folder failed: {jobs[0].error}"


def _place_of(root: str, ref: str) -> str:
    """What of a store a job works on: its folder on disk, or a commit."""
    return root if ref == roots.LIVE else f"{root}@{ref}"


def begin(engine: Engine) -> RunningJob | None:
    """A job of this process that takes everything in, recorded by now; None where another is at it."""
    place = _place_of(*engine.manifest_key)
    records = records_of(engine.store_dir)
    job = records.start("index", "full", place)
    first = min((each for each in records.active() if each.place == place), key=lambda each: (each.started, each.id))
    if first.id == job.job.id:
        return job
    job.kept = False
    job.end("cancelled")
    return None


class IndexJobs:
    """The jobs of one root in this process, one at a time: each has a thread and an engine (``open_engine``)."""

    def __init__(self, open_engine: Callable[[], Engine], store_dir: Path, place: tuple[str, str]) -> None:
        """``place``: as `Engine.manifest_key`."""
        self._open_engine = open_engine
        self._records = records_of(store_dir)
        self._place = _place_of(*place)
        self._lock = threading.Lock()
        self._job: RunningJob | None = None
        self._thread: threading.Thread | None = None
        self.last_run: tuple[float, float] | None = None
        """When a job last took everything in (monotonic seconds), and how many seconds that took."""

    @property
    def active(self) -> Job | None:
        with self._lock:
            return self._job.job if self._job else None

    def start(self, mode: RunMode, *, force: bool, ref: str, asked_for: bool = True) -> Job | None:
        """The job that was begun; None when one is running already. One that nobody ``asked_for`` is told of
        afterwards only where it had something to do."""
        with self._lock:
            if self._job is not None:
                return None
            self._job = job = self._records.start("index", mode, self._place, ref=ref, seldom=True)
            arguments = (job, force, asked_for)
            self._thread = threading.Thread(target=self._run, args=arguments, name="findling-job", daemon=True)
            self._thread.start()
            return job.job

    def wait(self, timeout_s: float | None = None) -> None:
        thread = self._thread
        if thread is not None:
            thread.join(timeout_s)

    def wait_for_text(self, wait_s: float | None, on_progress: OnProgress | None = None) -> None:
        """Wait, at most so long, until text and names of what the active job takes in are there.

        ``on_progress`` is told how far it is meanwhile, and may raise `errors.Cancelled`.
        """
        deadline = None if wait_s is None else time.monotonic() + wait_s
        while (job := self.active) is not None and (deadline is None or time.monotonic() < deadline):
            if job.stage == _AFTER_TEXT:
                return
            if job.stage and on_progress is not None:
                on_progress(Progress(job.stage, job.done, job.total))
            left = _LOOK_S if deadline is None else deadline - time.monotonic()
            self.wait(max(0.0, min(_LOOK_S, left)))

    def stop(self) -> None:
        """End the active job at its next step; what it has taken in stays."""
        with self._lock:
            if self._job is not None:
                self._job.stop()
        self.wait()

    def recent(self) -> list[Job]:
        """Past jobs, the newest first."""
        return self._records.recent()

    def _run(self, job: RunningJob, force: bool, asked_for: bool) -> None:
        def work() -> Mapping[str, Any]:
            started = time.monotonic()
            with self._open_engine() as engine:
                if job.job.mode == "full":
                    report = engine.index(force=force, progress=job)
                else:
                    report = engine.sync(progress=job)
            now = time.monotonic()
            self.last_run = (now, now - started)
            changed = report.changed + report.removed
            job.kept = asked_for or bool(changed or report.embedded)
            return {"changed_files": changed}

        with suppress(Exception):  # it is in the record
            job.carry_out(work, words)
        give_back()
        with self._lock:
            self._job = None


def words(error: BaseException) -> str:
    """What a record says of a failure."""
    return str(error) if isinstance(error, FindlingError) else f"unexpected {type(error).__name__}: {error}"


# --- in a process of its own --------------------------------------------------------------------------------------


def start(store: OpenStore) -> bool:
    """Leave a process behind that finishes the index of ``store``, at the lowest priority, unless none is wanted;
    whether one is at it now."""
    if not store.configuration.background:
        return False
    if active_job(store) is not None:
        return True
    low = getattr(subprocess, "IDLE_PRIORITY_CLASS", 0)
    try:
        start_process(
            "findling.engine.background_process",
            os.fspath(store.root),
            os.fspath(store.directory),
            store.manifest_key[1],
            cwd=store.root.anchor,
            flags=low,
        )
    except OSError:  # the next question tries again; this one has its answer
        return False
    return True
