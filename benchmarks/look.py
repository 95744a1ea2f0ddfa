"""What the look at the disk costs that goes before each question, in folders of several sizes.

    look.py FOLDER [FOLDER ...] [--before PYTHON] [--after PYTHON] [--rounds N]

Copies each FOLDER (with its .git, where it has one) beside the others in a temporary place, indexes the copy without
vectors, and prints a Markdown table: the look of a question when nothing has changed, by an engine that stays open, as
the least of the rounds by the clock and by processor time (git's with it); a look that goes only by the system's
events; and the first look of a new process, imports included. A FOLDER of the form NAME=FILES is made up: so many small
files, 8 in a folder, half of them in git's index. With ``--before`` another interpreter's findling is measured by turns
in the same run.
"""

from __future__ import annotations

import argparse
import json
import os
import shutil
import subprocess
import sys
import tempfile
from collections.abc import Sequence
from pathlib import Path

WANTED_MS = ((500, 3), (6_000, 20), (20_000, 50))
"""Up to so many files, a look should take so long on an idle machine."""

IN_A_FOLDER = 8

MEASURE = """
import json, resource, sys, time
root, rounds = sys.argv[1], int(sys.argv[2])
from findling import Engine
engine = Engine.open(root=root)
began = time.perf_counter()
first = engine.refresh(embed=False, wait_s=60.0)
first_ms = (time.perf_counter() - began) * 1000
try:
    from findling.engine import freshness
    freshness.SMALL_CHECK_S = 60.0
except ImportError:
    pass
def used():
    both = [resource.getrusage(who) for who in (resource.RUSAGE_SELF, resource.RUSAGE_CHILDREN)]
    return sum(each.ru_utime + each.ru_stime for each in both)
def rounds_of():
    clock, processor = [], []
    for _ in range(rounds):
        wall, cpu = time.perf_counter(), used()
        found = engine.refresh(embed=False, wait_s=60.0)
        clock.append((time.perf_counter() - wall) * 1000)
        processor.append((used() - cpu) * 1000)
    assert found[0] == "fresh", found
    return min(clock), min(processor)
found = {"first": first_ms, "files": engine.status().coverage.files, "look": rounds_of()}
if hasattr(engine, "listen"):
    engine.listen()
    engine.refresh(embed=False, wait_s=60.0)
    found["events"] = rounds_of()
print(json.dumps(found))
"""


def main(arguments: Sequence[str] | None = None) -> int:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("folders", nargs="+", metavar="FOLDER")
    parser.add_argument("--before")
    parser.add_argument("--after", default=sys.executable)
    parser.add_argument("--rounds", type=int, default=15)
    parser.add_argument("--turns", type=int, default=3)
    options = parser.parse_args(arguments)
    pythons = {"before": options.before, "after": options.after} if options.before else {"after": options.after}
    print(
        f"load {os.getloadavg()[0]:.1f}, the least of {options.rounds * options.turns}; ms by the clock / processor\n"
    )
    print("| | files | wanted | " + "".join(f"look, {which} | " for which in pythons) + "by events | new process |")
    print("|---|--:|--:|" + "--:|" * (len(pythons) + 2))
    with tempfile.TemporaryDirectory() as place:
        for folder in options.folders:
            print(row(folder, Path(place), pythons, options.rounds, options.turns), flush=True)
    return 0


def row(folder: str, place: Path, pythons: dict[str, str], rounds: int, turns: int) -> str:
    copies = {which: laid(folder, place / which) for which in pythons}
    for which, python in pythons.items():
        subprocess.run(
            [python, "-m", "findling", "index", "--no-embed", "--root", copies[which]], check=True, capture_output=True
        )
    best: dict[str, dict[str, list[float]]] = {which: {} for which in pythons}
    files = 0
    for _ in range(turns):
        for which, python in pythons.items():
            command = [python, "-c", MEASURE, copies[which], str(rounds)]
            found = json.loads(subprocess.run(command, check=True, capture_output=True, text=True).stdout)
            files = found.pop("files")
            for name, value in found.items():
                values = value if isinstance(value, list) else [value]
                least = best[which].get(name, values)
                best[which][name] = [min(pair) for pair in zip(least, values, strict=True)]
    wanted = next((most for bound, most in WANTED_MS if files <= bound), WANTED_MS[-1][1])
    after = best["after"]
    cells = [" / ".join(f"{value:.1f}" for value in best[which]["look"]) for which in pythons]
    if "before" in best:
        cells[-1] += f" ({after['look'][1] / best['before']['look'][1]:.2f} of it)"
    events = " / ".join(f"{value:.2f}" for value in after["events"]) if "events" in after else ""
    for copy in copies.values():
        shutil.rmtree(copy)
    name = folder.partition("=")[0] if "=" in folder else Path(folder).name
    return f"| {name} | {files:,} | {wanted} | {' | '.join(cells)} | {events} | {after['first'][0]:.0f} |"


def laid(folder: str, place: Path) -> Path:
    """A copy of a folder, or one that is made up, below ``place``."""
    name, _, files = folder.partition("=")
    target = place / Path(name).name
    if not files:
        shutil.copytree(folder, target, symlinks=True, ignore=shutil.ignore_patterns(".findling"))
        return target
    for number in range(int(files)):
        if number == int(files) // 2:
            for words in (["init", "-q"], ["add", "."]):
                subprocess.run(["git", *words], cwd=target, check=True)
        part = number // IN_A_FOLDER
        file = target / f"part{part // 64}/sub{part}/module{number}.py"
        file.parent.mkdir(parents=True, exist_ok=True)
        file.write_text(f"def made_up_{number}():\n    return {number}\n", encoding="utf-8")
    return target


if __name__ == "__main__":
    raise SystemExit(main())
