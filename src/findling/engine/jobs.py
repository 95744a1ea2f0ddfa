"""What goes on in the background: indexing, embedding and fetching, as one kind of job. Knows no kind of work.

The record of a job is a small file beside what it works on, which any process may read, and which outlives the one that
runs it.

Whoever runs a job holds a lock of the job's, which the system releases with the process: so a job whose process ended
is told from one that still runs. Reading changes nothing.
"""

from __future__ import annotations

import os
import re
import subprocess
import sys
import threading
import time
from collections.abc import Callable, Mapping
from contextlib import suppress
from itertools import islice
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any, BinaryIO, Final, Literal

from msgspec import Meta, Struct, ValidationError, convert, to_builtins
from msgspec.structs import replace

from findling.config.sources import CONFIG_VARIABLE
from findling.engine.small_files import LOCK_WAIT_S, failure, make_folder, read_json, write_json
from findling.model.errors import Cancelled, FindlingError, IndexBusy, NotFound
from findling.model.types import OnProgress, Progress
from findling.outbound import certificates
from findling.store import local as store
from findling.store.local import layout

if TYPE_CHECKING:
    from findling.store.local.lock import WriterLock

JOBS: Final = "jobs"
"""The folder of records, in the folder of what the jobs work on."""

STARTING_S: Final = 30.0
"""A process that has not taken its job by then will not."""

PROCESS: Final = "process"
"""The ending of a file of a queued job with the number of the process that is to take it: should that one die before,
nobody waits for it."""

_NUMBER_BYTES: Final = 20

TOLD_EVERY_S: Final = 1.0
"""Between two tellings of a run, and before the first: most runs are over by then, and write nothing."""

ASK_AGAIN: Final = " Ask for it again."
ENDED: Final = f"The process that ran it ended before it was done.{ASK_AGAIN}"
CANCELLED: Final = "It was cancelled."

_ID = re.compile(r"[0-9a-f]{12}")
_RECORD_NAME = re.compile(r"[0-9a-f]{12}\.json")


Kind = Literal["index", "embed", "fetch"]
Mode = Literal["full", "incremental", "fetch_repo", "fetch_file"]
State = Literal["queued", "running", "done", "failed", "cancelled"]

TEXT_CHARS: Final = 5_000
"""Of a text in a record: the longest is the path of a root, or what a server said of a failure."""

Text = Annotated[str, Meta(max_length=TEXT_CHARS)]
Count = Annotated[int, Meta(ge=0)]
Time = Annotated[float, Meta(ge=0, lt=1e11)]
"""Before the year 5138, the last that dates are written in."""


class Job(Struct, frozen=True, forbid_unknown_fields=True):
    """Times are seconds since 1970. ``stage``, ``done`` and ``total`` as in `types.Progress`, told at ``updated``.

    ``place``: what it works on, such as a root; ``ref``: the version of it as people call it, '' where nobody said.
    A ``queued`` job waits for its turn, or for its process.
    """

    id: Text
    kind: Kind
    mode: Mode
    place: Text
    state: State
    started: Time
    updated: Time
    ended: Time | None = None
    ref: Text = ""
    stage: Text = ""
    done: Count = 0
    total: Count = 0
    error: Text = ""
    result: Mapping[str, Any] | None = None

    @property
    def is_active(self) -> bool:
        return self.state in ("queued", "running")

    @property
    def status(self) -> Literal["running", "completed", "failed"]:
        """The state for those who know these three."""
        return "running" if self.is_active else "completed" if self.state == "done" else "failed"

    @property
    def progress(self) -> int:
        """Percent of its stage; 100 when it is done."""
        if self.state == "done":
            return 100
        return min(100, 100 * self.done // self.total) if self.total else 0

    @property
    def pending(self) -> int:
        """Files that it has still to take in, as far as that is known by now."""
        return max(0, self.total - self.done) if self.stage == "indexing" else 0

    def duration_s(self) -> float:
        """How long it took, or has taken by now."""
        return max(0.0, (time.time() if self.ended is None else self.ended) - self.started)


class JobStatistics(Struct, frozen=True):
    """Of all jobs that are remembered; ``average_duration_ms`` is of those that completed, 0 without any."""

    total: int
    running: int
    completed: int
    failed: int
    average_duration_ms: int


def from_record(row: Any) -> Job | None:
    """The inverse of `write`; None for what it has not written: an index may come with a repository."""
    try:
        job = convert(row, Job)
    except ValidationError:
        return None
    return job if job.is_active == (job.ended is None) else None


class Records:
    """The jobs in the folder ``place``. ``remembered`` that ended are kept.

    ``most_bytes`` of a record: what is larger was not written here.
    """

    def __init__(self, place: Path, *, remembered: int, most_bytes: int) -> None:
        self.place = place
        self.folder = place / JOBS
        self._remembered = remembered
        self._most_bytes = most_bytes

    def start(
        self,
        kind: Kind,
        mode: Mode,
        place: str = "",
        *,
        ref: str = "",
        seldom: bool = False,
        on_progress: OnProgress | None = None,
    ) -> RunningJob:
        """A new job of this process, recorded by now. Raises the errors of a folder that cannot be written.

        ``seldom``: it is recorded once it has run for a while, where that is possible, and every now and then.
        """
        job = RunningJob(self, _new(kind, mode, place, ref, "running"), TOLD_EVERY_S if seldom else None, on_progress)
        if not seldom:
            job.record()
        return job

    def queue(self, kind: Kind, mode: Mode, place: str = "") -> Job:
        """A new job for a process that is about to start, and will `take` it."""
        job = _new(kind, mode, place, "", "queued")
        self.write(job)
        return job

    def take(self, id: str) -> RunningJob:
        """A queued job, now this process's. Raises `NotFound`."""
        job = self.get(id)
        if job.state != "queued":
            raise NotFound(f"Job {id} does not wait for a process.")
        running = RunningJob(self, replace(job, state="running", updated=time.time()))
        running.record()
        return running

    def cancel(self, id: str) -> Job:
        """Ask a job to stop, which it does at its next step; one that has ended stays as it is. Raises `NotFound`."""
        job = self.get(id)
        if job.is_active:
            path = self.path(id, "cancel")
            try:
                path.touch(mode=0o600)
            except OSError as error:
                raise failure(error, path) from error
        return job

    def get(self, id: str) -> Job:
        """Raises `NotFound`."""
        job = self._read(id) if _ID.fullmatch(id) else None
        if job is None:
            raise NotFound(f"Job not found: {id[:80]}")
        return job

    def all(self) -> list[Job]:
        """The newest first."""
        jobs = [job for id in self._ids() if (job := self._read(id)) is not None]
        return sorted(jobs, key=lambda job: (-job.started, job.id))

    def active(self) -> list[Job]:
        """Those that run or wait for it, the oldest first."""
        return [job for job in reversed(self.all()) if job.is_active]

    def recent(self) -> list[Job]:
        """Those that ended, the newest first."""
        return [job for job in self.all() if not job.is_active]

    def statistics(self) -> JobStatistics:
        jobs = self.all()
        completed = [job.duration_s() for job in jobs if job.status == "completed"]
        return JobStatistics(
            total=len(jobs),
            running=sum(job.status == "running" for job in jobs),
            completed=len(completed),
            failed=sum(job.status == "failed" for job in jobs),
            average_duration_ms=round(1000 * sum(completed) / len(completed)) if completed else 0,
        )

    # --- for the jobs themselves ----------------------------------------------------------------------------

    def path(self, id: str, ending: str) -> Path:
        """A file of a job's: all begin with its id, and go with its record."""
        return self.folder / f"{id}.{ending}"

    def write(self, job: Job) -> None:
        make_folder(self.folder)
        write_json(self.path(job.id, "json"), to_builtins(job))

    def forget_oldest(self) -> None:
        for old in self.recent()[self._remembered :]:
            self.forget(old.id)
        self._sweep()

    def _sweep(self) -> None:
        """Delete what a process left that was killed while it wrote a record, or before its job had one."""
        for path in self.folder.glob("*.*"):
            id, _, ending = path.name.partition(".")
            with suppress(OSError):  # another process sweeps, too
                half = ending.endswith(".tmp") or (ending in ("lock", PROCESS) and not self.path(id, "json").exists())
                if half and abs(time.time() - path.stat().st_mtime) > STARTING_S:  # abs: the clock may be set back
                    path.unlink()

    def forget(self, id: str) -> None:
        for path in self.folder.glob(f"{id}.*"):
            with suppress(OSError):  # another process forgets it at the same time, or has it open
                path.unlink()

    def _ids(self) -> list[str]:
        if layout.not_a_folder(self.folder):
            return []  # a link that came with a repository
        try:
            names = (path.name for path in self.folder.iterdir())
            # a bound for a folder that was filled by somebody else
            return [name[:12] for name in islice(filter(_RECORD_NAME.fullmatch, names), 4 * self._remembered)]
        except OSError:
            return []  # there was never a job

    def _read(self, id: str) -> Job | None:
        """A job by its record; one that nobody runs any more although it says so has failed."""
        job = self._record(id)
        if job is None or not job.is_active or self._is_alive(job):
            return job
        again = self._record(id)  # it may have ended between the two looks
        if again is None or not again.is_active:
            return again
        return replace(again, state="failed", ended=again.updated, error=ENDED)

    def _record(self, id: str) -> Job | None:
        """None without one, and for one that is not whole: it tells nothing."""
        path = self.path(id, "json")
        if layout.not_a_folder(self.folder) or layout.not_a_file(path):
            return None
        try:
            job = from_record(read_json(path, self._most_bytes))
        except (ValueError, RecursionError, FindlingError):
            return None
        return job if job is not None and job.id == id else None

    def _is_alive(self, job: Job) -> bool:
        """Whether a process holds its lock, or may still be on its way."""
        if job.state == "queued" and abs(time.time() - job.updated) < STARTING_S:  # abs: the clock may be set back
            file = self.path(job.id, PROCESS)
            return layout.not_a_file(file) or _exists(file)
        path = self.path(job.id, "lock")
        if not path.exists():
            return False
        try:
            store.WriterLock(self.folder, wait_s=0.0, name=path.name).release()
        except IndexBusy:
            return True
        except FindlingError:
            return False  # who may not take a lock cannot ask whether it is taken
        return False


def _exists(file: Path) -> bool:
    """Whether the process whose number is in a file is there; True where that is not known."""
    try:
        with file.open("rb") as opened:
            number = int(opened.read(_NUMBER_BYTES))
    except (OSError, ValueError):  # the process may be about to start
        return True
    if os.name != "posix" or number <= 0:  # elsewhere `os.kill` would end the process
        return True
    try:
        os.kill(number, 0)
    except (ProcessLookupError, OverflowError):
        return False
    except OSError:  # it is another user's
        return True
    return True


def _new(kind: Kind, mode: Mode, place: str, ref: str, state: State) -> Job:
    now = time.time()
    return Job(os.urandom(6).hex(), kind, mode, place[:TEXT_CHARS], state, now, now, ref=ref[:TEXT_CHARS])


class RunningJob:
    """A job of this process, which its work calls with each step; for the work's thread, but for `stop`.

    ``every_s``: its record follows within so many seconds, and that it cannot be written is the work's to tell; without
    one it is always up to date. ``kept``: whether it is remembered when it has ended.
    """

    def __init__(
        self,
        records: Records,
        job: Job,
        every_s: float | None = None,
        on_progress: OnProgress | None = None,
    ) -> None:
        self.job = job
        self.kept = True
        self._records = records
        self._every_s = every_s
        self._next_at = time.monotonic() + (every_s or 0.0)
        self._on_progress = on_progress
        self._lock: WriterLock | None = None
        self._stopped = threading.Event()

    def __call__(self, progress: Progress) -> None:
        """Raises `Cancelled` when somebody asked for that."""
        if self._on_progress is not None:
            self._on_progress(progress)
        self.check()
        self._told("running", progress.stage, progress.done, progress.total)

    def indexing(self, begun: int) -> OnProgress:
        """Told how far indexing is, it tells that on from ``begun`` percent, and ends it when that was asked for."""

        def tell(progress: Progress) -> None:
            self.check()
            if progress.total:
                share = 0.5 * progress.done / progress.total + (0.5 if progress.stage == "embedding" else 0.0)
                self.progress(begun + int((99 - begun) * min(1.0, share)))

        return tell

    def progress(self, percent: int) -> None:
        """``percent`` is 0 to 100; it never goes back."""
        if self.job.progress < (percent := min(100, percent)):
            self._told("running", "fetching", percent, 100)

    def check(self) -> None:
        """Raises `Cancelled` when somebody asked for that."""
        if self._stopped.is_set() or (self._lock is not None and self._records.path(self.job.id, "cancel").exists()):
            raise Cancelled(CANCELLED)

    def waits(self) -> bool:
        """Tells that it waits for its turn, and is to wait on. Raises `Cancelled` when somebody asked for that."""
        if self._on_progress is not None:
            self._on_progress(Progress(self.job.stage or "listing", self.job.done, self.job.total))
        self.check()
        if self.job.state != "queued" or self._lock is None:
            self._told("queued", self.job.stage, self.job.done, self.job.total)
        return True

    def stop(self) -> None:
        """Ask it to stop, from any thread."""
        self._stopped.set()

    def carry_out(
        self, work: Callable[[], Mapping[str, Any]], words: Callable[[BaseException], str] = str
    ) -> Mapping[str, Any]:
        """Do ``work``, and record its result. Raises what went wrong, recorded too, as ``words`` say it."""
        try:
            result = work()
        except BaseException as error:
            with suppress(FindlingError):  # that it cannot be recorded is less than what failed
                if isinstance(error, Cancelled | KeyboardInterrupt | SystemExit):
                    self.end("cancelled", error=CANCELLED)
                else:
                    self.end("failed", error=words(error))
            raise
        self.end("done", result=result)
        return result

    def end(self, state: State, *, error: str = "", result: Mapping[str, Any] | None = None) -> Job:
        now = time.time()
        self.job = replace(
            self.job, state=state, updated=now, ended=now, error=error[:TEXT_CHARS], result=result and dict(result)
        )
        locked = self._lock is not None
        try:
            if self.kept:
                self.record()
            else:
                self._remove("json")
        finally:  # whoever looks at what could not be recorded sees that nobody runs it
            if self._lock is not None:
                self._lock.release()
                self._lock = None
                self._remove("lock", "cancel", PROCESS)
        if self.kept or locked:
            self._records.forget_oldest()
        return self.job

    def record(self) -> None:
        """Write the record as things are."""
        place, folder = self._records.place, self._records.folder
        if self._every_s is not None and (not place.is_dir() or layout.not_a_folder(folder)):
            return  # it is for others to make, or to clear of what came with a repository
        try:
            make_folder(folder)
            if self._lock is None and self.job.is_active:
                self._lock = store.WriterLock(folder, wait_s=LOCK_WAIT_S, name=f"{self.job.id}.lock")
            self._records.write(self.job)
        except FindlingError:
            if self._every_s is None:
                raise

    def _remove(self, *endings: str) -> None:
        for ending in endings:
            with suppress(OSError):  # somebody has it open to look at it, where that keeps it
                self._records.path(self.job.id, ending).unlink(missing_ok=True)

    def _told(self, state: State, stage: str, done: int, total: int) -> None:
        self.job = replace(self.job, state=state, updated=time.time(), stage=stage, done=done, total=total)
        now = time.monotonic()
        ends = self._lock is not None and done >= total > 0  # what comes after a stage may take long
        if now >= self._next_at or ends:
            self._next_at = now + (self._every_s or 0.0)
            self.record()


_PATHS: Final = (CONFIG_VARIABLE, *certificates.VARIABLES)
"""Variables of the environment that name a file or a folder."""


def start_process(
    module: str,
    *arguments: str,
    cwd: Path | str,
    stdin: int = subprocess.DEVNULL,
    stderr: int | BinaryIO = subprocess.DEVNULL,
    flags: int = 0,
    env: Mapping[str, str] | None = None,
    number_in: Path,
) -> subprocess.Popen[bytes]:
    """Run a module in a process of its own: Ctrl-C and the end of the terminal are for the one that asked. The number
    of the process is written into a file of the job that it is to take (`PROCESS`).

    ``env``: its environment, in which the paths of `_PATHS` become absolute, as it runs in another folder. ``flags``:
    to create it with, on Windows. Raises OSError.
    """
    env = os.environ if env is None else env
    env = {**env, **{name: os.path.abspath(env[name]) for name in _PATHS if env.get(name)}}  # noqa: PTH100
    apart: dict[str, Any] = {"creationflags": flags | getattr(subprocess, "CREATE_NO_WINDOW", 0)}
    if os.name == "posix":
        apart = {"start_new_session": True}
    command = [sys.executable, "-P", "-m", module, *arguments]
    process = subprocess.Popen(
        command, stdin=stdin, stdout=subprocess.DEVNULL, stderr=stderr, cwd=cwd, env=env, **apart
    )
    with suppress(OSError):  # without it, a process that died is noticed after `STARTING_S`
        number_in.write_bytes(str(process.pid).encode())
    threading.Thread(target=process.wait, daemon=True).start()  # else it stays in the system's list when it has ended
    return process
