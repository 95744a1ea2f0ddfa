"""Records of jobs: they outlive their process, and one whose process ended says so."""

from __future__ import annotations

import os
import subprocess
import sys
import time
from pathlib import Path

import pytest

from findling.errors import NotFound
from findling.library import JobRecords
from findling.library.dates import iso_date
from findling.library.jobs import ENDED, RECORD, REQUEST, STARTING, STARTING_S


def test_dates_have_milliseconds_and_a_z() -> None:
    assert iso_date(1737369000.0) == "2025-01-20T10:30:00.000Z"
    assert iso_date(1737369000.9996) == "2025-01-20T10:30:00.999Z"


def test_a_job_from_start_to_end(tmp_path: Path) -> None:
    """D24, S3-29, S3-30: the fields, and those that it does not have left out."""
    job = JobRecords(tmp_path).start("fetch_repo")
    job.progress(40)
    job.progress(20)
    seen = JobRecords(tmp_path).get(job.job.id)
    assert (seen.status, seen.progress, seen.ended) == ("running", 40, None)
    assert seen.facts().keys() == {"id", "type", "status", "progress", "startTime"}
    job.complete({"filesProcessed": 3})
    seen = JobRecords(tmp_path).get(job.job.id)
    assert (seen.status, seen.progress, seen.result) == ("completed", 100, {"filesProcessed": 3})
    assert seen.facts()["endTime"] >= seen.facts()["startTime"]


def test_a_failed_job_carries_its_error(tmp_path: Path) -> None:
    """S3-38."""
    job = JobRecords(tmp_path).start("fetch_file")
    job.progress(70)
    job.fail("the server hung up")
    seen = JobRecords(tmp_path).get(job.job.id)
    assert (seen.status, seen.progress, seen.error, seen.result) == ("failed", 70, "the server hung up", None)


def test_statistics_count_all_jobs(tmp_path: Path) -> None:
    """S3-32."""
    records = JobRecords(tmp_path)
    done = [records.get(records.start("fetch_file").complete({}).id) for _ in range(2)]
    records.start("fetch_repo").fail("no")
    running = records.start("fetch_repo")
    found = records.statistics()
    assert (found.total, found.running, found.completed, found.failed) == (4, 1, 2, 1)
    assert found.average_duration_ms == round(sum(job.duration_s() for job in done) / 2 * 1000)
    assert [job.id for job in records.active()] == [running.job.id]
    running.fail("stop")


def test_a_job_whose_process_was_killed_has_failed(tmp_path: Path) -> None:
    code = (
        "import sys, time\n"
        "from pathlib import Path\n"
        "from findling.library import JobRecords\n"
        "job = JobRecords(Path(sys.argv[1])).start('fetch_repo')\n"
        "job.progress(30)\n"
        "print(job.job.id, flush=True)\n"
        "time.sleep(60)\n"
    )
    process = subprocess.Popen([sys.executable, "-c", code, str(tmp_path)], stdout=subprocess.PIPE, text=True)
    assert process.stdout is not None
    id = process.stdout.readline().strip()
    records = JobRecords(tmp_path)
    assert records.get(id).status == "running"
    process.kill()
    process.wait()
    job = records.get(id)
    assert (job.status, job.progress, job.error) == ("failed", 30, ENDED)
    assert records.active() == []
    assert JobRecords(tmp_path).get(id).facts() == job.facts()


@pytest.mark.parametrize("age", [2 * STARTING_S, -3600.0], ids=["long ago", "before the clock was set back"])
def test_a_request_that_nobody_took_is_not_kept(age: float, tmp_path: Path) -> None:
    """It may hold a token in its URL."""
    records = JobRecords(tmp_path)
    job, folder = records.hand_over("fetch_file", {"url": "https://example.org/?key=TOPSECRET"})
    assert records.get(job.id).status == "running"
    assert (folder / REQUEST).exists()
    began = time.time() - age
    os.utime(folder / STARTING, (began, began))
    assert (records.get(job.id).status, records.get(job.id).error) == ("failed", ENDED)
    assert not (folder / REQUEST).exists()
    assert b"TOPSECRET" not in b"".join(path.read_bytes() for path in folder.iterdir())


@pytest.mark.parametrize("id", ["", "abc", "../../../etc", "0123456789ab", "0123456789AB", "0123456789ab/"])
def test_an_unknown_job_is_not_found(id: str, tmp_path: Path) -> None:
    with pytest.raises(NotFound, match="Job not found"):
        JobRecords(tmp_path).get(id)


def test_a_record_that_is_not_whole_is_no_job(tmp_path: Path) -> None:
    records = JobRecords(tmp_path)
    job = records.start("fetch_file").complete({})
    (tmp_path / "jobs" / job.id / RECORD).write_text('{"type": "fetch_file"')
    assert records.all() == []
    with pytest.raises(NotFound):
        records.get(job.id)
