"""Runs a surface on seeded inputs in a process that may be lost, and tells what failed and how to repeat it.

The parent watches: a process that ends by itself, or works on one input for too long, costs that input and is started
again behind it.
"""

from __future__ import annotations

import faulthandler
import json
import mmap
import os
import random
import resource
import signal
import struct
import subprocess
import sys
import tempfile
import time
import traceback
from collections.abc import Callable, Mapping
from dataclasses import astuple, dataclass, field
from pathlib import Path
from typing import Any, Protocol

from findling.model.errors import FindlingError

HANG_S = 240.0
"""Of an input that is not ready by then it is said that it hangs; on an idle machine none takes a tenth of it."""

MEMORY_MB = 1_500
"""What a process may grow to, above all that a surface may read on purpose."""

SHOWN_CHARS = 1_500
"""Of an input that failed; it can be had whole by its seed and number."""


class Surface(Protocol):
    """What is attacked. A class of it is made once in each process, with a folder of its own to work in."""

    inputs: int
    """How many inputs are in what `make` makes."""

    def make(self, chance: random.Random) -> Any: ...

    def check(self, made: Any) -> None:
        """Returns for a right answer, raises `FindlingError` for a refusal, and anything else for a failure."""


class Progress:
    """Counts that the parent reads while the process goes on, also of one that was lost."""

    _FIELDS = struct.Struct("qqqqdddd")

    def __init__(self, path: Path) -> None:
        with path.open("r+b") as file:
            self._map = mmap.mmap(file.fileno(), self._FIELDS.size)

    @classmethod
    def new(cls, path: Path) -> Progress:
        path.write_bytes(bytes(cls._FIELDS.size))
        return cls(path)

    def write(self, counts: Counts) -> None:
        self._map[:] = self._FIELDS.pack(
            *astuple(counts)
        )  # in one piece: `pack_into` begins with zeros, which can be seen

    def read(self) -> Counts:
        return Counts(*self._FIELDS.unpack_from(self._map, 0))


@dataclass
class Counts:
    """``next``: the number of the case that is worked on. ``busy``: since when, by the monotonic clock; ``began``: when
    the first was, 0 while the process makes itself ready."""

    next: int = 0
    answered: int = 0
    refused: int = 0
    failed: int = 0
    slowest_s: float = 0.0
    mb: float = 0.0
    busy: float = 0.0
    began: float = 0.0

    def add(self, more: Counts) -> None:
        self.answered += more.answered
        self.refused += more.refused
        self.failed += more.failed
        self.slowest_s = max(self.slowest_s, more.slowest_s)
        self.mb = max(self.mb, more.mb)


@dataclass
class Found:
    """What became of a surface. ``failures`` by what they have in common."""

    counts: Counts = field(default_factory=Counts)
    failures: dict[str, list[str]] = field(default_factory=dict)

    def failed(self, key: str, text: str) -> None:
        self.failures.setdefault(key, []).append(text)


def case(surface: Surface, name: str, seed: int, number: int) -> Any:
    return surface.make(random.Random(f"{name} {seed} {number}"))


def attack(name: str, *, seed: int, seconds: float, program: Path, first: int = 0) -> Found:
    """Attack a surface for so long, by ``program``, which knows it by its name. Making ready is not counted."""
    found = Found()
    left = seconds
    with tempfile.TemporaryDirectory(prefix=f"findling-fuzz-{name}-") as folder:
        while left > 0:
            counts = _one_process(found, name, seed, first, left, program, Path(folder))
            first = counts.next
            left -= time.monotonic() - counts.began if counts.began else left
    return found


def _one_process(found: Found, name: str, seed: int, first: int, seconds: float, program: Path, folder: Path) -> Counts:
    """Work with one process until the time is over or it is lost; ``next`` is then the next process's first."""
    progress = Progress.new(folder / "progress")
    progress.write(Counts(first, busy=time.monotonic()))
    work = Path(tempfile.mkdtemp(dir=folder))
    said, failures = folder / "said", folder / "failures"
    failures.write_text("")
    command = [sys.executable, str(program), "--child", name, "--seed", str(seed), "--first", str(first)]
    with said.open("w") as log:
        process = subprocess.Popen(
            [*command, "--seconds", str(seconds), "--folder", str(work), "--told", str(folder)],
            stdin=subprocess.DEVNULL,
            stdout=log,
            stderr=log,
            env=_apart(work),
            start_new_session=True,
        )
    problem = ""
    while process.poll() is None:
        time.sleep(0.05)
        if time.monotonic() - progress.read().busy > HANG_S:
            problem = "it hangs"
            process.send_signal(signal.SIGABRT)  # faulthandler says where
            time.sleep(0.5)
            process.kill()
            process.wait()
    counts = progress.read()
    if process.returncode and not problem:
        problem = f"its process ended with {process.returncode}"
    for line in failures.read_text().splitlines():
        found.failed(*json.loads(line))
    if problem:
        counts.failed += 1
        found.failed(
            problem, f"{_again(name, seed, counts.next)}\n{problem}\n{said.read_text(errors='replace')[-3000:]}"
        )
        counts.next += 1
    found.counts.add(counts)
    return counts


def _apart(work: Path) -> dict[str, str]:
    """An environment that reaches nobody's own files."""
    kept = {name: value for name, value in os.environ.items() if not name.startswith(("FINDLING", "XDG_", "GIT_"))}
    own = {"HOME": str(work / "home"), "FINDLING_DATA_DIR": str(work / "data"), "TMPDIR": str(work)}
    return {**kept, **own, "CI": "1", "GIT_CONFIG_NOSYSTEM": "1", "PYTHONHASHSEED": "0"}


def _again(name: str, seed: int, number: int) -> str:
    return f"again: python tests/attacks/fuzz.py {name} --seed {seed} --only {number}"


def work_through(surface: Surface, name: str, *, seed: int, first: int, seconds: float, told: Path) -> None:
    """The work of one process: case after case, until the time is over."""
    faulthandler.enable()
    progress, counts = Progress(told / "progress"), Counts(first, began=time.monotonic())
    until = counts.began + seconds
    with (told / "failures").open("a") as failures:
        while time.monotonic() < until:
            counts.busy = time.monotonic()
            progress.write(counts)
            try:
                outcome = attempt(surface, name, seed, counts.next)
            except Exception as error:
                counts.failed += 1
                print(json.dumps([_key(error), _text(surface, name, seed, counts.next)]), file=failures, flush=True)
            else:
                counts.answered += surface.inputs if outcome == "answered" else 0
                counts.refused += surface.inputs if outcome == "refused" else 0
            counts.slowest_s = max(counts.slowest_s, time.monotonic() - counts.busy)
            before, counts.mb = counts.mb, _most_memory_mb()
            if counts.mb > MEMORY_MB >= before:
                counts.failed += 1
                print(json.dumps(["memory", f"{_again(name, seed, counts.next)}\n{counts.mb} MB"]), file=failures)
            counts.next += 1
            progress.write(counts)


def _most_memory_mb() -> float:
    """The most that this process has held at a time. `ru_maxrss` would count what its parent held when it began it."""
    try:
        status = Path("/proc/self/status").read_text()
    except FileNotFoundError:
        return resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / 1e3
    return next(int(line.split()[1]) / 1e3 for line in status.splitlines() if line.startswith("VmHWM:"))


def attempt(surface: Surface, name: str, seed: int, number: int) -> str:
    """``answered`` or ``refused``. Raises whatever is a failure."""
    made = case(surface, name, seed, number)
    try:
        surface.check(made)
    except FindlingError as error:
        _check_words(error)
        return "refused"
    return "answered"


def _check_words(error: FindlingError) -> None:
    """A refusal is a sentence that any terminal and any JSON can take."""
    words = str(error)
    assert words.strip(), "a refusal without words"
    words.encode()
    assert len(words) < 20_000, f"a refusal of {len(words)} characters"


def _key(error: BaseException) -> str:
    """What failures with the same cause have in common."""
    frames = traceback.extract_tb(error.__traceback__)
    last = next((frame for frame in reversed(frames) if "/findling/" in frame.filename), frames[-1])
    return f"{type(error).__name__} at {Path(last.filename).name}:{last.lineno}"


def _text(surface: Surface, name: str, seed: int, number: int) -> str:
    made = repr(case(surface, name, seed, number))
    shown = made if len(made) <= SHOWN_CHARS else f"{made[:SHOWN_CHARS]}... ({len(made)} characters)"
    return f"{_again(name, seed, number)}\ninput: {shown}\n{traceback.format_exc(limit=-8)}"


def table(found: Mapping[str, Found]) -> str:
    rows = [
        "| surface | inputs | answered | refused | failures | slowest, s | memory, MB |",
        "|---|--:|--:|--:|--:|--:|--:|",
    ]
    for name, each in found.items():
        counts = each.counts
        tried = counts.answered + counts.refused + counts.failed
        rows.append(
            f"| {name} | {tried:,} | {counts.answered:,} | {counts.refused:,} | {counts.failed:,} "
            f"| {counts.slowest_s:.2f} | {counts.mb:.0f} |"
        )
    total = sum(each.counts.answered + each.counts.refused + each.counts.failed for each in found.values())
    failed = sum(each.counts.failed for each in found.values())
    return "\n".join([*rows, f"| **all** | {total:,} | | | {failed:,} | | |"])


Make = Callable[[Path], Surface]
