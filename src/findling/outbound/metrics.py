"""Counts and times of this process, in Prometheus' text format. Knows nothing of what is counted."""

from __future__ import annotations

import threading
import time
from bisect import bisect_left
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from typing import Final

from findling.model.errors import FindlingError

BOUNDS_S: Final = (0.005, 0.01, 0.025, 0.05, 0.1, 0.25, 0.5, 1.0, 2.5, 5.0, 10.0)
"""The buckets of a histogram, in seconds."""

Labels = tuple[tuple[str, str], ...]

_lock = threading.Lock()
_counts: dict[tuple[str, Labels], float] = {}
_times: dict[str, list[float]] = {}
"""For each stage: how many answers took at most each bound, how many there were, and their seconds in total."""


def count(name: str, **labels: str) -> None:
    """Add one to a counter. ``labels`` take few values."""
    key = name, tuple(sorted(labels.items()))
    with _lock:
        _counts[key] = _counts.get(key, 0) + 1


def took(stage: str, seconds: float) -> None:
    """Add the time of one stage of an answer."""
    with _lock:
        row = _times.setdefault(stage, [0.0] * (len(BOUNDS_S) + 2))
        for place in range(bisect_left(BOUNDS_S, seconds), len(BOUNDS_S) + 1):
            row[place] += 1
        row[-1] += seconds


@contextmanager
def timed(stage: str) -> Iterator[None]:
    """Measure a block as one stage of an answer."""
    began = time.perf_counter()
    try:
        yield
    finally:
        took(stage, time.perf_counter() - began)


def text(gauges: Callable[[], dict[str, float]] = dict) -> str:
    """All of it as Prometheus reads it. ``gauges``: what is so now, by name with labels; may raise the store's errors,
    and is left out then."""
    lines: list[str] = []
    with _lock:
        for name, labels in sorted(_counts):
            if f"# TYPE {name} counter" not in lines:
                lines.append(f"# TYPE {name} counter")
            written = ",".join(f'{key}="{_escaped(value)}"' for key, value in labels)
            lines.append(f"{name}{{{written}}} {_number(_counts[name, labels])}")
        if _times:
            lines.append("# TYPE findling_seconds histogram")
        for stage, row in sorted(_times.items()):
            for bound, number in zip((*map(str, BOUNDS_S), "+Inf"), row, strict=False):
                lines.append(f'findling_seconds_bucket{{stage="{stage}",le="{bound}"}} {_number(number)}')
            lines += [
                f'findling_seconds_sum{{stage="{stage}"}} {row[-1]:.6f}',
                f'findling_seconds_count{{stage="{stage}"}} {_number(row[-2])}',
            ]
    try:
        found = gauges()
    except FindlingError:
        found = {}
    for name in dict.fromkeys(each.partition("{")[0] for each in found):
        lines.append(f"# TYPE {name} gauge")
        lines += [f"{each} {_number(value)}" for each, value in found.items() if each.partition("{")[0] == name]
    return "".join(f"{line}\n" for line in lines)


def _number(value: float) -> str:
    """All its digits: a counter that is rounded stands still."""
    return str(int(value)) if float(value).is_integer() else repr(value)


def _escaped(value: str) -> str:
    return value.replace("\\", "\\\\").replace('"', '\\"').replace("\n", "\\n")
