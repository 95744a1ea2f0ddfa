"""Indexing that goes on while questions are answered: one job at a time for a root, and what became of the last ones.

A job has an engine and a thread of its own. The record of past jobs stands beside the index, so that another process
can tell of them.
"""

from __future__ import annotations

import json
import os
import threading
import time
import uuid
from collections.abc import Callable
from contextlib import suppress
from dataclasses import asdict, dataclass, replace
from datetime import UTC, datetime
from pathlib import Path
from typing import TYPE_CHECKING, Any, Literal

from findling.errors import Cancelled, FindlingError

if TYPE_CHECKING:
    from findling.engine import Engine
    from findling.types import Progress

RECORD = "jobs.json"
REMEMBERED = 20
"""Past jobs that are told of; more is a log, not a status."""

_RECORD_BYTES = 100_000
"""A record that is larger was not written here."""

_AFTER_TEXT = "embedding"
"""The stage of a run in which text and names are committed, and vectors are made."""

_LOOK_S = 0.05
"""Between two looks at how far a job is; nobody notices so little."""

Mode = Literal["full", "incremental"]


@dataclass(frozen=True, slots=True)
class Job:
    """One run of the indexer. ``changed_files`` and ``duration_ms`` are None while it runs."""

    job_id: str
    ref: str
    mode: Mode
    status: Literal["running", "published", "failed"]
    created_at: str
    changed_files: int | None = None
    duration_ms: int | None = None
    error: str = ""

    def facts(self) -> dict[str, Any]:
        """As it is shown: without an empty error."""
        return {key: value for key, value in asdict(self).items() if key != "error" or value}


class Jobs:
    """The jobs of one root. ``open_engine`` is called in the job's thread."""

    def __init__(self, open_engine: Callable[[], Engine], store_dir: Path) -> None:
        self._open_engine = open_engine
        self._store_dir = store_dir
        self._lock = threading.Lock()
        self._active: Job | None = None
        self._thread: threading.Thread | None = None
        self._stop = threading.Event()
        self._progress: Progress | None = None
        self.last_run: tuple[float, float] | None = None
        """When a job last took everything in (monotonic seconds), and how many seconds that took."""

    @property
    def active(self) -> Job | None:
        with self._lock:
            return self._active

    @property
    def progress(self) -> Progress | None:
        """How far the active job is, None when there is none or it has not said yet."""
        with self._lock:
            return self._progress if self._active else None

    def start(self, mode: Mode, *, force: bool, ref: str, asked_for: bool = True) -> Job | None:
        """The job that was begun; None when one is running already. One that nobody ``asked_for`` is told of
        afterwards only where it had something to do."""
        with self._lock:
            if self._active is not None:
                return None
            job = Job(uuid.uuid4().hex[:12], ref, mode, "running", datetime.now(UTC).isoformat(timespec="seconds"))
            self._active, self._progress = job, None
            arguments = (job, force, asked_for)
            self._thread = threading.Thread(target=self._run, args=arguments, name="findling-job", daemon=True)
            self._thread.start()
            return job

    def wait(self, timeout_s: float | None = None) -> None:
        thread = self._thread
        if thread is not None:
            thread.join(timeout_s)

    def wait_for_text(self, wait_s: float | None, on_progress: Callable[[Progress], None] | None = None) -> None:
        """Wait, at most so long, until text and names of what the active job takes in are there.

        ``on_progress`` is told how far it is meanwhile, and may raise `errors.Cancelled`.
        """
        deadline = None if wait_s is None else time.monotonic() + wait_s
        while self.active is not None and (deadline is None or time.monotonic() < deadline):
            progress = self.progress
            if progress is not None and progress.stage == _AFTER_TEXT:
                return
            if progress is not None and on_progress is not None:
                on_progress(progress)
            left = _LOOK_S if deadline is None else deadline - time.monotonic()
            self.wait(max(0.0, min(_LOOK_S, left)))

    def stop(self) -> None:
        """End the active job at its next step; what it has taken in stays."""
        self._stop.set()
        self.wait()

    def recent(self) -> list[Job]:
        """Past jobs, the newest first."""
        try:
            with (self._store_dir / RECORD).open("rb") as file:
                rows = json.loads(file.read(_RECORD_BYTES))
            return [Job(**row) for row in rows]
        except (OSError, ValueError, TypeError):
            return []  # none yet, or not written by this version: nothing else depends on it

    def _run(self, job: Job, force: bool, asked_for: bool) -> None:
        started = time.monotonic()
        idle = False
        changed: int | None = None
        problem = ""
        try:
            with self._open_engine() as engine:
                if job.mode == "full":
                    report = engine.index(force=force, progress=self._on_progress)
                else:
                    report = engine.sync(progress=self._on_progress)
                changed = report.changed + report.removed
                idle = not (changed or report.embedded)
                now = time.monotonic()
                self.last_run = (now, now - started)
        except FindlingError as error:
            problem = str(error)
        except Exception as error:  # noqa: BLE001 - the end of a thread: what is not said here is lost
            problem = f"unexpected {type(error).__name__}: {error}"
        done = replace(
            job,
            status="failed" if problem else "published",
            changed_files=changed,
            duration_ms=round((time.monotonic() - started) * 1000),
            error=problem,
        )
        from findling.engine.memory import give_back

        give_back()
        with self._lock:
            if asked_for or problem or not idle:
                self._record(done)
            self._active = None

    def _on_progress(self, progress: Progress) -> None:
        with self._lock:
            self._progress = progress
        if self._stop.is_set():
            raise Cancelled("Indexing was stopped.")

    def _record(self, job: Job) -> None:
        rows = [asdict(known) for known in (job, *self.recent())][:REMEMBERED]
        path = self._store_dir / RECORD
        with suppress(OSError):  # the index itself said already if its folder cannot be written
            partial = path.with_suffix(f".{os.getpid()}.tmp")
            partial.write_text(json.dumps(rows), encoding="utf-8")
            partial.replace(path)
