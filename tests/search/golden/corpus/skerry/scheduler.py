"""Jobs that run again and again."""

from __future__ import annotations

import heapq
import logging
from collections.abc import Callable
from dataclasses import dataclass, field

log = logging.getLogger(__name__)


@dataclass(order=True)
class Job:
    """Something to do every ``period_s`` seconds; ordered by when it is due."""

    due_at: float
    period_s: float = field(compare=False)
    run: Callable[[], None] = field(compare=False)
    name: str = field(compare=False)


class Scheduler:
    """A heap of jobs, the most urgent first."""

    def __init__(self) -> None:
        self._jobs: list[Job] = []

    def every(self, period_s: float, name: str, run: Callable[[], None]) -> None:
        heapq.heappush(self._jobs, Job(0.0, period_s, run, name))

    def run_due(self, now: float) -> int:
        """Run what is due; a job that fails is logged and comes up again at its next turn."""
        ran = 0
        while self._jobs and self._jobs[0].due_at <= now:
            job = heapq.heappop(self._jobs)
            try:
                job.run()
            except Exception:
                log.exception("job %s failed", job.name)
            ran += 1
            job.due_at = now + job.period_s
            heapq.heappush(self._jobs, job)
        return ran
