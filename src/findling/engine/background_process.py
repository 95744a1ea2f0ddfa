"""The process that finishes an index in the background (`index_jobs.start`)."""

from __future__ import annotations

import os
import sys
from contextlib import suppress
from pathlib import Path

from findling.config.roots import cache_folder
from findling.engine import index_jobs
from findling.engine.engine import Engine
from findling.engine.small_files import Turns
from findling.model.collection import of_folder
from findling.model.errors import FindlingError

_NICE = 19

TURNS = "turns"
AT_ONCE = 2
"""So many of these processes work at the same time, and the others wait: a question about a folder of repositories
starts one for each."""


def _step_back() -> None:
    """Give this process the lowest priority, so that it runs when nothing else wants the processor."""
    with suppress(OSError):
        if hasattr(os, "nice"):
            os.nice(_NICE)
        if hasattr(os, "SCHED_IDLE"):
            os.sched_setscheduler(0, os.SCHED_IDLE, os.sched_param(0))


def main(root: str, directory: str, ref: str, job_id: str) -> int:
    """Index a folder, or a commit of it, to the end, as the queued job, which `status` tells of and `findling stop`
    ends; 1 where that failed."""
    _step_back()
    with Engine(of_folder(Path(root), Path(directory))) as opened:
        engine = opened.at(ref)
        job = index_jobs.begin(engine, job_id)
        if job is None:
            return 0

        def work() -> dict[str, int]:
            job.check()  # it may have been stopped before it began
            with Turns(cache_folder() / TURNS, AT_ONCE).taken(job.waits):
                return {"changed_files": engine.index(progress=job).changed}

        try:
            job.carry_out(work, index_jobs.words)
        except FindlingError:
            return 1
    return 0


if __name__ == "__main__":
    sys.exit(main(*sys.argv[1:]))
