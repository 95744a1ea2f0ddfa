"""What runs for the library in the background, and what became of it: a record of each job that outlives its process.

A job's record is a small file in a folder of its own. Whoever runs the job holds that folder's lock, which the system
releases with the process: so a job whose process ended is told from one that still runs. Knows no kind of work.
"""

from __future__ import annotations

import re
import time
import uuid
from collections.abc import Mapping
from contextlib import ExitStack, suppress
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any, Final, Literal

from findling.errors import Cancelled, FindlingError, IndexBusy, NotFound
from findling.library.dates import iso_date, seconds_of
from findling.library.records import LOCK_WAIT_S, failure, make_folder, only_writer, read_json, write_json

JOBS: Final = "jobs"
RECORD: Final = "job.json"

REMEMBERED: Final = 1000
"""Jobs that are kept; the oldest that ended go first."""

REQUEST: Final = "request.json"
STARTING: Final = "starting"
CANCEL: Final = "cancel"

STARTING_S: Final = 30.0
"""A process that has not taken its job by then will not."""

ENDED: Final = "The process that ran it ended before it was done. Ask for it again."

_RECORD_BYTES: Final = 4_000_000
_ID = re.compile(r"[0-9a-f]{12}")

JobType = Literal["fetch_repo", "fetch_file"]
JobState = Literal["running", "completed", "failed"]


@dataclass(frozen=True, slots=True)
class Job:
    """``progress`` is 0 to 100. Times are seconds since 1970; ``ended`` is None while it runs."""

    id: str
    type: JobType
    status: JobState
    progress: int
    started: float
    ended: float | None = None
    error: str = ""
    result: Mapping[str, Any] | None = None

    def duration_s(self, now: float | None = None) -> float:
        """How long it took, or has taken by now."""
        until = self.ended if self.ended is not None else time.time() if now is None else now
        return max(0.0, until - self.started)

    def facts(self) -> dict[str, Any]:
        """As it is shown and written: without what it does not have."""
        facts: dict[str, Any] = {
            "id": self.id,
            "type": self.type,
            "status": self.status,
            "progress": self.progress,
            "startTime": iso_date(self.started),
        }
        if self.ended is not None:
            facts["endTime"] = iso_date(self.ended)
        if self.error:
            facts["error"] = self.error
        if self.result is not None:
            facts["result"] = dict(self.result)
        return facts


@dataclass(frozen=True, slots=True)
class JobStatistics:
    """Of all jobs that are remembered; ``average_duration_ms`` is of those that completed, 0 without any."""

    total: int
    running: int
    completed: int
    failed: int
    average_duration_ms: int


class JobRecords:
    """The jobs in a data folder. Any process may read them; each is written by the one that runs it."""

    def __init__(self, data_directory: Path) -> None:
        self._directory = data_directory / JOBS

    def start(self, type: JobType) -> RunningJob:
        """A new job of this process. Raises the errors of a folder that cannot be written."""
        make_folder(self._directory)
        self._forget_oldest()
        job = Job(uuid.uuid4().hex[:12], type, "running", 0, time.time())
        return RunningJob(self._directory / job.id, job)

    def hand_over(self, type: JobType, request: Mapping[str, Any]) -> tuple[Job, Path]:
        """A new job for a process that is about to start, and the folder that it takes the job from (`taken`)."""
        make_folder(self._directory)
        self._forget_oldest()
        job = Job(uuid.uuid4().hex[:12], type, "running", 0, time.time())
        folder = self._directory / job.id
        make_folder(folder)
        (folder / STARTING).touch(mode=0o600)
        write_json(folder / REQUEST, dict(request))
        write_json(folder / RECORD, job.facts())
        return job, folder

    def cancel(self, id: str) -> Job:
        """Ask a job to stop, which it does at its next step; one that has ended stays as it is. Raises `NotFound`."""
        job = self.get(id)
        if job.status == "running":
            try:
                (self._directory / id / CANCEL).touch(mode=0o600)
            except OSError as error:
                raise failure(error, self._directory / id) from error
        return job

    def get(self, id: str) -> Job:
        """Raises `NotFound`."""
        job = self._read(self._directory / id) if _ID.fullmatch(id) else None
        if job is None:
            raise NotFound(f"Job not found: {id[:80]}")
        return job

    def all(self) -> list[Job]:
        """The newest first."""
        try:
            folders = [path for path in self._directory.iterdir() if _ID.fullmatch(path.name)]
        except OSError:
            return []  # there was never a job
        jobs = [job for job in map(self._read, folders) if job is not None]
        return sorted(jobs, key=lambda job: (-job.started, job.id))

    def active(self) -> list[Job]:
        """Those that run, the oldest first."""
        return [job for job in reversed(self.all()) if job.status == "running"]

    def statistics(self) -> JobStatistics:
        jobs = self.all()
        completed = [job for job in jobs if job.status == "completed"]
        mean = sum(job.duration_s() for job in completed) / len(completed) if completed else 0.0
        return JobStatistics(
            total=len(jobs),
            running=sum(job.status == "running" for job in jobs),
            completed=len(completed),
            failed=sum(job.status == "failed" for job in jobs),
            average_duration_ms=round(mean * 1000),
        )

    def _read(self, folder: Path) -> Job | None:
        """A job's record; one that nobody runs any more although it says so has failed."""
        job = _record(folder)
        if job is None or job.status != "running" or _is_starting(folder):
            return job
        try:
            with only_writer(folder, wait_s=0.0):
                again = _record(folder)  # it may have ended between the two looks
                if again is None or again.status != "running":
                    return again
                with suppress(OSError):  # nobody takes it any more, and it may hold a token in its URL
                    (folder / REQUEST).unlink(missing_ok=True)
                ended = replace(again, status="failed", ended=time.time(), error=ENDED)
                write_json(folder / RECORD, ended.facts())
                return ended
        except IndexBusy:
            return job
        except FindlingError:  # it cannot be written down, but it is known
            return replace(job, status="failed", ended=job.started, error=ENDED)

    def _forget_oldest(self) -> None:
        from findling.store.layout import discard

        ended = [job for job in self.all() if job.status != "running"]
        for job in ended[REMEMBERED - 1 :]:
            with suppress(OSError):  # another process forgets it at the same time
                discard(self._directory / job.id)


def taken(folder: Path) -> tuple[RunningJob, dict[str, Any]]:
    """A job that another process handed over, now this one's, and what it is to do. Raises `NotFound` for none."""
    job = _record(folder)
    request = read_json(folder / REQUEST, _RECORD_BYTES)
    if job is None or job.status != "running" or not isinstance(request, dict):
        raise NotFound(f"There is no job to be done in {folder}.")
    running = RunningJob(folder, job, wait_s=LOCK_WAIT_S)
    for name in (STARTING, REQUEST):  # a request may hold a token in its URL
        (folder / name).unlink(missing_ok=True)
    return running, request


def _is_starting(folder: Path) -> bool:
    """Whether the process that is to run a job may still be on its way."""
    try:
        # abs: the clock may have been set back since
        return abs(time.time() - (folder / STARTING).stat().st_mtime) < STARTING_S
    except OSError:
        return False


class RunningJob:
    """A job of this process, until `complete` or `fail`. For one thread."""

    def __init__(self, folder: Path, job: Job, *, wait_s: float = 0.0) -> None:
        self.job = job
        self._folder = folder
        self._role = ExitStack()
        self._role.enter_context(only_writer(folder, wait_s=wait_s))
        self._write(job)

    def check(self) -> None:
        """Raises `Cancelled` when somebody asked for that."""
        if (self._folder / CANCEL).exists():
            raise Cancelled("It was cancelled.")

    def progress(self, percent: int) -> None:
        """``percent`` is 0 to 100; it never goes back."""
        percent = max(self.job.progress, min(100, percent))
        if percent != self.job.progress:
            self._write(replace(self.job, progress=percent))

    def complete(self, result: Mapping[str, Any]) -> Job:
        return self._end(replace(self.job, status="completed", progress=100, result=dict(result)))

    def fail(self, error: str) -> Job:
        return self._end(replace(self.job, status="failed", error=error))

    def _end(self, job: Job) -> Job:
        with self._role:
            self._write(replace(job, ended=time.time()))
        return self.job

    def _write(self, job: Job) -> None:
        write_json(self._folder / RECORD, job.facts())
        self.job = job


def _record(folder: Path) -> Job | None:
    """None without one, and for one that is not whole: it tells nothing."""
    try:
        value = read_json(folder / RECORD, _RECORD_BYTES)
        if value is None:
            return None
        result = value.get("result")
        return Job(
            id=folder.name,
            type=value["type"],
            status=value["status"],
            progress=int(value["progress"]),
            started=seconds_of(value["startTime"]),
            ended=seconds_of(value["endTime"]) if "endTime" in value else None,
            error=str(value.get("error", "")),
            result=result if isinstance(result, dict) else None,
        )
    except (ValueError, TypeError, KeyError, AttributeError, FindlingError):
        return None
