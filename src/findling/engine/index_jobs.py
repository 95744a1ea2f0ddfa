"""Jobs over one index: every run of its engine is recorded beside it while it lasts. One may go on in the background of
a server while questions are answered (`IndexJobs`), or in a process of its own (`start`) that a first question leaves
behind: one for each folder, gone when it is done. It holds nothing of whoever started it, and nobody waits for it.
"""

from __future__ import annotations

import os
import subprocess
import threading
import time
from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager, suppress
from pathlib import Path
from typing import TYPE_CHECKING, Any, Literal

from findling.config import roots
from findling.engine.jobs import ASK_AGAIN, PROCESS, Job, Records, RunningJob, start_process
from findling.engine.memory import give_back
from findling.engine.store import CHECK_PAUSE, OpenStore
from findling.model.errors import FindlingError, NotFound, StorageFull
from findling.model.plurals import count
from findling.model.types import OnProgress
from findling.store.local.schema import full, is_full

if TYPE_CHECKING:
    from findling.engine.engine import Engine


RunMode = Literal["full", "incremental"]

REMEMBERED = 20
"""Past jobs that are told of; more is a log, not a status."""

_RECORD_BYTES = 100_000

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
    """The job of a run, to call instead of ``progress``; a run within a job belongs to that job. It is not kept when it
    has ended."""
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
    """The running job over the same files as the store, None without one; of several the one with the latest progress.
    Changes nothing."""
    found = [job for job in _jobs_over(store) if job.is_active]
    return max(found, key=lambda job: job.updated, default=None)


def _jobs_over(store: OpenStore) -> list[Job]:
    """The jobs over the same files as the store, the newest first."""
    place = _place_of(*store.manifest_key)
    return [job for job in records_of(store.directory).all() if job.place == place]


def _failure_of(jobs: Sequence[Job]) -> Iterator[str]:
    """A note that the last of these jobs failed, if it did."""
    if jobs and jobs[0].state == "failed":
        yield f"The last run over this folder failed: {jobs[0].error.removesuffix(ASK_AGAIN)}"


def stop(store: OpenStore) -> int:
    """How many jobs over a folder and its commits were asked to end. Waits some seconds until they have."""
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
    """Notes for a status: a job that is running over the same files, or the failure of the last one."""
    jobs = _jobs_over(store)
    if active := next((job for job in jobs if job.is_active), None):
        how_far = f": {active.done:,} of {count(active.total, 'file')}" if active.total else ""
        yield f"The index is being built{how_far}; 'findling stop' stops that."
    else:
        yield from _failure_of(jobs)


def _place_of(root: str, ref: str) -> str:
    """The name of what a job works on: a folder on disk, or a commit of it."""
    return root if ref == roots.LIVE else f"{root}@{ref}"


def queue(directory: Path, manifest_key: tuple[str, str]) -> Job:
    """A job that takes everything in, for a process that is about to start and will `begin` it. Recorded here already,
    so that it can be stopped before the process is ready. Raises the errors of a folder that cannot be written."""
    return records_of(directory).queue("index", "full", _place_of(*manifest_key))


def begin(engine: Engine, id: str) -> RunningJob | None:
    """A queued job, now this process's; None where another is at it, or nobody waits for it any more."""
    records = records_of(engine.store_dir)
    try:
        job = records.take(id)
    except NotFound:
        return None
    place = job.job.place
    first = min((each for each in records.active() if each.place == place), key=lambda each: (each.started, each.id))
    if first.id == id:
        return job
    job.kept = False
    job.end("cancelled")
    return None


MOST_REST_S = 10.0
"""After a job that found nothing, none begins for so long that nobody asked for: files that change then wait for it."""


_turn = threading.Lock()
"""Held by the job of this process that works: each has worker processes and open files of its own, and a server may
have many roots."""

_TURN_LOOK_S = 0.2
"""How often a job that waits for its turn looks whether it should stop."""


class IndexJobs:
    """The jobs of what an engine searches in this process, one at a time: each has a thread and an engine."""

    def __init__(self, engine: Engine) -> None:
        self._another = engine.another
        self._records = records_of(engine.store_dir)
        self._place = _place_of(*engine.manifest_key)
        self._lock = threading.Lock()
        self._job: RunningJob | None = None
        self._thread: threading.Thread | None = None
        self._rests_until = 0.0
        """Until then (monotonic seconds) no job begins that nobody asked for: the last one found nothing to do."""

    @property
    def active(self) -> Job | None:
        with self._lock:
            return self._job.job if self._job else None

    def start(self, mode: RunMode, *, force: bool, ref: str, asked_for: bool = True) -> Job | None:
        """The job that was begun; None when one is running already. One that nobody ``asked_for`` is told of
        afterwards only where it had something to do, and does not begin a short time after one that had nothing."""
        with self._lock:
            if self._job is not None or (not asked_for and time.monotonic() < self._rests_until):
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
            while not _turn.acquire(timeout=_TURN_LOOK_S):
                job.check()
            try:
                return take_in()
            finally:
                _turn.release()

        def take_in() -> Mapping[str, Any]:
            started = time.monotonic()
            with self._another() as engine:
                if job.job.mode == "full":
                    report = engine.index(force=force, progress=job)
                else:
                    report = engine.sync(progress=job)
            changed = report.changed + report.removed
            found_work = bool(changed or report.embedded)
            now = time.monotonic()
            rest_s = 0.0 if found_work else min(CHECK_PAUSE * (now - started), MOST_REST_S)
            self._rests_until = now + rest_s
            job.kept = asked_for or found_work
            return {"changed_files": changed}

        with suppress(Exception):  # it is in the record
            job.carry_out(work, words)
        give_back()
        with self._lock:
            self._job = None


def words(error: BaseException) -> str:
    """A failure in the words of a job's record."""
    return str(error) if isinstance(error, FindlingError) else f"unexpected {type(error).__name__}: {error}"


# --- in a process of its own --------------------------------------------------------------------------------------


def start(store: OpenStore) -> bool:
    """Leave a process behind that finishes the index of ``store``, at the lowest priority, unless none is wanted;
    whether one is at it now. Raises `StorageFull` where nobody could finish it."""
    if is_full(store.directory):
        raise full(store.directory)
    if not store.configuration.background:
        return False
    jobs = _jobs_over(store)
    if any(job.is_active for job in jobs):
        return True
    store.notes += (f"{failed} Another one begins." for failed in _failure_of(jobs))
    low = getattr(subprocess, "IDLE_PRIORITY_CLASS", 0)
    try:
        job = queue(store.directory, store.manifest_key)
    except StorageFull:
        raise
    except FindlingError:  # such as a folder that cannot be written
        return False
    try:
        start_process(
            "findling.engine.background_process",
            os.fspath(store.root),
            os.fspath(store.directory),
            store.manifest_key[1],
            job.id,
            cwd=store.root.anchor,
            flags=low,
            number_in=records_of(store.directory).path(job.id, PROCESS),
        )
    except OSError:  # the next question tries again; this one has its answer
        records_of(store.directory).forget(job.id)
        return False
    return True
