"""The process of one job that fetches: what to fetch comes by standard input, how it went is in the job's record."""

from __future__ import annotations

import json
import sys
from pathlib import Path
from typing import Final

from findling.engine.library.fetching import running
from findling.engine.library.fetching.fetch_requests import read_request
from findling.engine.library.library import Library
from findling.model.errors import FindlingError

BROKEN: Final = 70
"""Exit status of a process whose job failed for a defect of ours."""


def main(directory: str, id: str) -> int:
    """Do the job ``id`` of the library in ``directory``, as stdin says."""
    with Library(Path(directory)) as library:
        job = library.jobs.take(id)
        try:
            request = read_request(json.load(sys.stdin.buffer))
        except ValueError:
            job.end("failed", error="processing: its request cannot be read")
            return BROKEN
        try:
            running.run_here(library, request, job)
        except FindlingError:
            return 1  # it is in the record
    return 0


if __name__ == "__main__":
    sys.exit(main(*sys.argv[1:]))
