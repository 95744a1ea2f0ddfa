"""Records of jobs: they outlive their process, and one whose process ended says so."""

from __future__ import annotations

import json
import os
import subprocess
import sys
import time
from pathlib import Path

import pytest
from msgspec import to_builtins
from msgspec.structs import replace

from findling.engine.jobs import CANCELLED, ENDED, PROCESS, STARTING_S, Records, RunningJob, start_process
from findling.engine.library import Library
from findling.engine.library.results import iso_date, job_facts
from findling.engine.small_files import Turns
from findling.model.errors import Cancelled, NotFound, StorageFull
from findling.model.types import Progress


def test_dates_have_milliseconds_and_a_z() -> None:
    assert iso_date(1737369000.0) == "2025-01-20T10:30:00.000Z"
    assert iso_date(1737369000.9996) == "2025-01-20T10:30:00.999Z"


def test_a_job_from_start_to_end(tmp_path: Path) -> None:
    """D24, S3-29, S3-30: the fields, and those that it does not have left out."""
    job = Library(tmp_path).jobs.start("fetch", "fetch_repo")
    job.progress(40)
    job.progress(20)
    seen = Library(tmp_path).jobs.get(job.job.id)
    assert (seen.status, seen.progress, seen.ended) == ("running", 40, None)
    assert job_facts(seen).keys() == {"id", "type", "status", "progress", "startTime"}
    job.end("done", result={"filesProcessed": 3})
    seen = Library(tmp_path).jobs.get(job.job.id)
    assert (seen.status, seen.progress, seen.result) == ("completed", 100, {"filesProcessed": 3})
    assert job_facts(seen)["endTime"] >= job_facts(seen)["startTime"]


def test_a_failed_job_carries_its_error(tmp_path: Path) -> None:
    """S3-38, D24."""
    job = Library(tmp_path).jobs.start("fetch", "fetch_file")
    job.progress(70)
    job.end("failed", error="the server hung up")
    seen = Library(tmp_path).jobs.get(job.job.id)
    assert (seen.status, seen.progress, seen.error, seen.result) == ("failed", 70, "the server hung up", None)


def test_statistics_count_all_jobs(tmp_path: Path) -> None:
    """S3-32."""
    records = Library(tmp_path).jobs
    done = [records.get(records.start("fetch", "fetch_file").end("done").id) for _ in range(2)]
    records.start("fetch", "fetch_repo").end("failed", error="no")
    running = records.start("fetch", "fetch_repo")
    found = records.statistics()
    assert (found.total, found.running, found.completed, found.failed) == (4, 1, 2, 1)
    assert found.average_duration_ms == round(sum(job.duration_s() for job in done) / 2 * 1000)
    assert [job.id for job in records.active()] == [running.job.id]
    running.end("failed", error="stop")


def test_a_job_whose_process_was_killed_has_failed(tmp_path: Path) -> None:
    code = (
        "import sys, time\n"
        "from pathlib import Path\n"
        "from findling.engine.library import Library\n"
        "job = Library(Path(sys.argv[1])).jobs.start('fetch', 'fetch_repo')\n"
        "job.progress(30)\n"
        "print(job.job.id, flush=True)\n"
        "time.sleep(60)\n"
    )
    process = subprocess.Popen([sys.executable, "-c", code, str(tmp_path)], stdout=subprocess.PIPE, text=True)
    assert process.stdout is not None
    id = process.stdout.readline().strip()
    records = Library(tmp_path).jobs
    assert records.get(id).status == "running"
    process.kill()
    process.wait()
    job = records.get(id)
    assert (job.status, job.progress, job.error) == ("failed", 30, ENDED)
    assert records.active() == []
    assert Library(tmp_path).jobs.get(id) == job


@pytest.mark.parametrize("age", [2 * STARTING_S, -3600.0], ids=["long ago", "before the clock was set back"])
def test_a_job_that_no_process_took_has_failed(age: float, tmp_path: Path) -> None:
    records = Library(tmp_path).jobs
    job = records.queue("fetch", "fetch_file")
    assert (records.get(job.id).state, records.get(job.id).status) == ("queued", "running")
    records.write(replace(job, updated=time.time() - age))
    assert (records.get(job.id).status, records.get(job.id).error) == ("failed", ENDED)
    with pytest.raises(NotFound):
        records.take(job.id)


@pytest.mark.skipif(os.name != "posix", reason="elsewhere it is noticed after STARTING_S")
def test_a_job_whose_process_died_on_its_way_has_failed_at_once(tmp_path: Path) -> None:
    records = Library(tmp_path).jobs
    job = records.queue("fetch", "fetch_file")
    process = start_process("no_such_module", cwd=tmp_path, number_in=records.path(job.id, PROCESS))
    process.wait()
    assert (records.get(job.id).status, records.get(job.id).error) == ("failed", ENDED)
    assert not records.active()


def test_only_a_queued_job_is_taken(tmp_path: Path) -> None:
    records = Library(tmp_path).jobs
    running = records.take(records.queue("fetch", "fetch_file").id)
    assert records.get(running.job.id).state == "running"
    with pytest.raises(NotFound):
        records.take(running.job.id)
    running.end("done")


def test_a_job_is_cancelled_by_its_id_whatever_it_does(tmp_path: Path) -> None:
    records = Library(tmp_path).jobs
    for job in (records.start("fetch", "fetch_file"), records.start("index", "full")):

        def work(job: RunningJob = job) -> dict[str, object]:
            job(Progress("indexing", 1, 3))
            Library(tmp_path).jobs.cancel(job.job.id)
            job(Progress("indexing", 2, 3))
            return {}

        with pytest.raises(Cancelled):
            job.carry_out(work)
        seen = records.get(job.job.id)
        assert (seen.state, seen.status, seen.error, seen.done) == ("cancelled", "failed", CANCELLED, 1)
        assert records.cancel(seen.id) == seen, "it has ended, and stays as it is"
    assert {path.suffix for path in records.folder.iterdir()} == {".json"}


@pytest.mark.parametrize("seldom", [False, True])
def test_the_oldest_jobs_that_ended_are_forgotten(seldom: bool, tmp_path: Path) -> None:
    records = Records(tmp_path, remembered=2, most_bytes=10_000)
    running = records.start("index", "full")
    ended = [records.start("index", "full", seldom=seldom).end("done") for _ in range(4)]
    left = sorted((job.started, job.id) for job in ended)[-2:]
    assert sorted((job.started, job.id) for job in records.recent()) == left
    assert [job.id for job in records.active()] == [running.job.id]
    running.end("done")


def test_what_a_killed_process_had_half_written_is_swept_up_later(tmp_path: Path) -> None:
    jobs = Library(tmp_path).jobs
    running = jobs.start("fetch", "fetch_repo")
    left = [jobs.folder / "0123456789ab.json.77.tmp", jobs.folder / "0123456789ab.lock"]
    written = jobs.folder / "ba9876543210.json.78.tmp"
    for path in (*left, written):
        path.touch()
    for path in left:
        os.utime(path, (time.time() - 2 * STARTING_S,) * 2)
    jobs.start("fetch", "fetch_file").end("done")
    assert not any(path.exists() for path in left)
    assert written.exists(), "it may be replaced by its writer in a moment"
    assert jobs.get(running.job.id).status == "running"
    running.end("done")


def test_turns_bound_how_many_do_the_same(tmp_path: Path) -> None:
    turns = Turns(tmp_path / "turns", 2)
    with turns.taken(lambda: False) as first, turns.taken(lambda: False) as second:
        with turns.taken(lambda: False) as third:
            assert (first, second, third) == (True, True, False)

        def stop() -> bool:
            raise Cancelled("no more")

        with pytest.raises(Cancelled), turns.taken(stop):
            raise AssertionError("there was no place")
    with turns.taken(lambda: False) as again:
        assert again


@pytest.mark.parametrize("id", ["", "abc", "../../../etc", "0123456789ab", "0123456789AB", "0123456789ab/"])
def test_an_unknown_job_is_not_found(id: str, tmp_path: Path) -> None:
    with pytest.raises(NotFound, match="Job not found"):
        Library(tmp_path).jobs.get(id)


def test_a_record_that_is_not_whole_is_no_job(tmp_path: Path) -> None:
    records = Library(tmp_path).jobs
    job = records.start("fetch", "fetch_file").end("done")
    whole = json.dumps(to_builtins(job))
    path = records.path(job.id, "json")
    for text in (whole[:-1], "[]", "{}", "[" * 9_000, whole.replace(job.id, "0" * 12), " " * 4_000_000 + whole):
        path.write_text(text)
        assert records.all() == []
        with pytest.raises(NotFound):
            records.get(job.id)
    path.write_text(whole)
    assert records.all() == [job]


def test_a_job_that_cannot_be_recorded_keeps_its_own_error_and_frees_its_place(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    job = Library(tmp_path).jobs.start("fetch", "fetch_repo")
    monkeypatch.setattr(Records, "write", lambda *_: (_ for _ in ()).throw(StorageFull("full")))

    def work() -> None:
        raise ValueError("of the work")

    with pytest.raises(ValueError, match="of the work"):
        job.carry_out(work)
    monkeypatch.undo()
    assert Library(tmp_path).jobs.get(job.job.id).status == "failed"
