"""What goes on in the background: indexing, embedding and fetching, as one kind of job.

``job`` is the value, ``records`` keeps one small file a job beside what it works on, and writes and cancels it,
``turns`` bounds how many run at once. A job that indexes is recorded in its index's folder, one that fetches in the
library's. Knows no kind of work.
"""

from __future__ import annotations

from findling.engine.jobs.job import Job, JobStatistics
from findling.engine.jobs.records import Records, RunningJob

__all__ = ["Job", "JobStatistics", "Records", "RunningJob"]
