"""A background job as a value, and as its record on disk. Pure."""

from __future__ import annotations

import math
import time
from collections.abc import Mapping
from dataclasses import asdict, dataclass, fields
from typing import Any, Final, Literal, get_args

Kind = Literal["index", "embed", "fetch"]
Mode = Literal["full", "incremental", "fetch_repo", "fetch_file"]
State = Literal["queued", "running", "done", "failed", "cancelled"]

TEXT_CHARS: Final = 5_000
"""Of a text in a record: the longest is the path of a root, or what a server said of a failure."""


@dataclass(frozen=True, slots=True)
class Job:
    """Times are seconds since 1970. ``stage``, ``done`` and ``total`` as in `types.Progress`, told at ``updated``.

    ``place``: what it works on, such as a root; ``ref``: the version of it as people call it, '' where nobody said.
    A ``queued`` job waits for its turn, or for its process.
    """

    id: str
    kind: Kind
    mode: Mode
    place: str
    state: State
    started: float
    updated: float
    ended: float | None = None
    ref: str = ""
    stage: str = ""
    done: int = 0
    total: int = 0
    error: str = ""
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


@dataclass(frozen=True, slots=True)
class JobStatistics:
    """Of all jobs that are remembered; ``average_duration_ms`` is of those that completed, 0 without any."""

    total: int
    running: int
    completed: int
    failed: int
    average_duration_ms: int


def record_of(job: Job) -> dict[str, Any]:
    return asdict(job)


def from_record(row: Any) -> Job | None:
    """The inverse of `record_of`; None for what it has not written: an index may come with a repository."""
    if not isinstance(row, dict) or row.keys() != {field.name for field in fields(Job)}:
        return None
    texts = (row[name] for name in ("id", "kind", "mode", "place", "state", "ref", "stage", "error"))
    counts = (row["done"], row["total"])
    times = (row["started"], row["updated"], 0 if row["ended"] is None else row["ended"])
    sound = (
        all(isinstance(text, str) and len(text) <= TEXT_CHARS for text in texts)
        and (row["kind"], row["mode"], row["state"]) in _WORDS
        and all(type(count) is int and count >= 0 for count in counts)
        and all(type(when) in (int, float) and math.isfinite(when) and 0 <= when < _END_OF_TIME for when in times)
        and (row["ended"] is None) == (row["state"] in ("queued", "running"))
        and (row["result"] is None or isinstance(row["result"], dict))
    )
    return Job(**row) if sound else None


_END_OF_TIME: Final = 1e11
"""Later than any year that dates are written in: 5138."""

_WORDS: Final = frozenset(
    (kind, mode, state) for kind in get_args(Kind) for mode in get_args(Mode) for state in get_args(State)
)
