"""Whole processes seen from outside: how long a command takes, and how much private memory it and its children hold.

Linux only: reads ``/proc``. Standard library only.
"""

from __future__ import annotations

import os
import subprocess
import tempfile
import threading
import time
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path

PROC = Path("/proc")

# A short command is sampled often, a long one at a pace that takes under 5 % of one core (reading the maps of three
# busy processes takes about 5 ms): each pause is longer than the last by this factor, up to the longest.
FIRST_PAUSE_S = 0.004
PAUSE_GROWTH = 1.1
LONGEST_PAUSE_S = 0.1

# A command that hangs must not hang the benchmark.
TIMEOUT_S = 3600.0


@dataclass(frozen=True)
class Finished:
    """``first_output_s`` is the time to the first byte on standard output (None: there was none)."""

    returncode: int
    took_s: float
    first_output_s: float | None
    peak_private_bytes: int
    peak_without_index_bytes: int
    stdout: bytes
    stderr: bytes


def run(
    command: Sequence[str],
    *,
    env: Mapping[str, str],
    index: Path | None = None,
    cwd: Path | None = None,
    sample: bool = False,
) -> Finished:
    """Run a command to its end. ``sample`` follows its memory; mapped files below ``index`` are told apart."""
    with tempfile.TemporaryFile() as errors:
        started = time.perf_counter()
        process = subprocess.Popen(
            command, stdin=subprocess.DEVNULL, stdout=subprocess.PIPE, stderr=errors, env=dict(env), cwd=cwd
        )
        assert process.stdout is not None
        sampler = MemorySampler(process.pid, index) if sample else None
        stop = threading.Timer(TIMEOUT_S, process.kill)
        stop.start()
        try:
            first = process.stdout.read(1)
            first_output_s = time.perf_counter() - started if first else None
            output = first + process.stdout.read()
            returncode = process.wait()
            took_s = time.perf_counter() - started
        finally:
            stop.cancel()
            if sampler:
                sampler.stop()
        errors.seek(0)
        return Finished(
            returncode,
            took_s,
            first_output_s,
            sampler.peak if sampler else 0,
            sampler.peak_without_index if sampler else 0,
            output,
            errors.read(),
        )


class MemorySampler:
    """Samples the private memory of a process and its descendants, summed, in a thread of its own, until stopped."""

    def __init__(self, pid: int, index: Path | None) -> None:
        self.peak = 0
        self.peak_without_index = 0
        self._pid = pid
        self._index = index
        self._stopped = threading.Event()
        self._thread = threading.Thread(target=self._sample, daemon=True)
        self._thread.start()

    def stop(self) -> None:
        self._stopped.set()
        self._thread.join()

    def _sample(self) -> None:
        pause_s = FIRST_PAUSE_S
        while True:
            total, mapped = tree_private_bytes(self._pid, self._index)
            self.peak = max(self.peak, total)
            self.peak_without_index = max(self.peak_without_index, total - mapped)
            if self._stopped.wait(pause_s):
                return
            pause_s = min(pause_s * PAUSE_GROWTH, LONGEST_PAUSE_S)


def tree_private_bytes(pid: int, index: Path | None = None) -> tuple[int, int]:
    """Private memory (clean and dirty pages) of a process and its descendants, and how much of it maps ``index``."""
    found = [private_bytes(member, index) for member in family(pid)]
    return sum(total for total, _ in found), sum(mapped for _, mapped in found)


def family(pid: int) -> list[int]:
    """The process and all its descendants that are alive now."""
    parents: dict[int, int] = {}
    for entry in PROC.iterdir():
        if entry.name.isdigit():
            try:
                stat = (entry / "stat").read_bytes()
            except OSError:  # it ended meanwhile
                continue
            # The name, in brackets, may hold anything; the parent is the second field after it.
            parents[int(entry.name)] = int(stat[stat.rindex(b")") + 2 :].split()[1])
    members = [pid]
    for member in members:
        members += [child for child, parent in parents.items() if parent == member]
    return members


def private_bytes(pid: int, index: Path | None = None) -> tuple[int, int]:
    """Private memory of one process, and how much of it maps files below ``index``; (0, 0) when it has ended."""
    folder = os.fsencode(index) + b"/" if index else None
    total = mapped = 0
    try:
        if folder is None:
            return _kilobytes((PROC / str(pid) / "smaps_rollup").read_bytes()), 0
        mappings = (PROC / str(pid) / "smaps").read_bytes()
    except OSError:  # it ended meanwhile
        return 0, 0
    in_index = False
    for line in mappings.splitlines():
        if line.startswith((b"Private_Clean:", b"Private_Dirty:", b"Private_Hugetlb:")):
            size = int(line.split()[1]) * 1024
            total += size
            mapped += size if in_index else 0
        elif not line[:1].isupper():
            in_index = folder in line
    return total, mapped


def _kilobytes(rollup: bytes) -> int:
    names = (b"Private_Clean:", b"Private_Dirty:", b"Private_Hugetlb:")
    return sum(int(line.split()[1]) * 1024 for line in rollup.splitlines() if line.startswith(names))
