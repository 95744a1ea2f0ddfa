"""A second work tree, a branch switch and single files, in a repository that is indexed: seconds and bytes.

    python benchmarks/worktrees.py REPOSITORY [--runs 5]

Clones REPOSITORY into a temporary folder, indexes the clone there, and measures: a linked work tree of the same commit,
from `git worktree add` being done to its first answer and to the end of `findling sync`, and what the index grows by;
a branch on which a hundred files differ, asked for by its name, and switched to; one changed file, named, unnamed and
not at all (nothing changed). Each is a whole process, from start to exit, unless it says otherwise; beside it stands
the processor time of all its processes (user and system), which says more on a busy machine.
"""

from __future__ import annotations

import argparse
import os
import resource
import statistics
import subprocess
import sys
import tempfile
import time
from collections.abc import Callable, Sequence
from pathlib import Path
from typing import NamedTuple

FINDLING = (sys.executable, "-P", "-m", "findling")
CHANGED = 100
QUESTION = "where is the configuration read"


def git(folder: Path, *arguments: str) -> str:
    identity = ("-c", "user.name=x", "-c", "user.email=x@example.org", "-c", "commit.gpgsign=false")
    done = subprocess.run(["git", *identity, *arguments], cwd=folder, check=True, capture_output=True, text=True)
    return done.stdout


class Took(NamedTuple):
    """Seconds: on the clock, and of the processor."""

    wall: float
    processor: float

    def __str__(self) -> str:
        return f"{self.wall:.2f} s ({self.processor:.2f} s)"


def findling(folder: Path, *arguments: str) -> Took:
    """What the command took."""
    used = _used()
    started = time.perf_counter()
    done = subprocess.run([*FINDLING, *arguments], cwd=folder, check=False, capture_output=True, text=True)
    took = time.perf_counter() - started
    if done.returncode not in (0, 1):
        raise SystemExit(f"{' '.join(arguments)} ended with {done.returncode}: {done.stderr}")
    return Took(took, _used() - used)


def _used() -> float:
    """Processor time (seconds) of all children that have ended, and of theirs."""
    children = resource.getrusage(resource.RUSAGE_CHILDREN)
    return children.ru_utime + children.ru_stime


def store_bytes(folder: Path) -> int:
    """Of the index that the main work tree and its linked ones share, its log written back."""
    import apsw

    store = folder / ".findling"
    connection = apsw.Connection(os.fspath(store / "index.db"))
    connection.execute("PRAGMA wal_checkpoint(TRUNCATE)").fetchall()
    connection.close()
    return sum(path.stat().st_size for path in store.rglob("*") if path.is_file())


def make_branch(root: Path) -> None:
    """A branch that differs in a hundred files."""
    git(root, "checkout", "-q", "-b", "bench-branch")
    names = [
        name for name in git(root, "ls-files", "-z").split("\0") if name.endswith((".py", ".go", ".java", ".md", ".ts"))
    ]
    step = max(1, len(names) // CHANGED)
    for number, name in enumerate(names[::step][:CHANGED]):
        with (root / name).open("a") as file:
            file.write(f"\n# bench {number}\n")
    git(root, "commit", "-q", "-a", "-m", "bench")
    git(root, "checkout", "-q", "-")


def median(runs: int, action: Callable[[int], Took]) -> Took:
    return median_of([action(number) for number in range(runs)])


def median_of(times: Sequence[Took]) -> Took:
    walls, processors = zip(*times, strict=True)
    return Took(statistics.median(walls), statistics.median(processors))


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("repository", type=Path)
    parser.add_argument("--runs", type=int, default=5)
    options = parser.parse_args()
    with tempfile.TemporaryDirectory(prefix="findling-worktrees-") as folder:
        root = Path(folder, "main")
        git(Path(folder), "clone", "-q", str(options.repository.resolve()), str(root))
        make_branch(root)
        findling(root, "index")
        files = git(root, "ls-files", "-z").count("\0")
        print(f"{files:,} files; {os.cpu_count()} cores, load {os.getloadavg()[0]:.1f}\n\n| | |\n|---|--:|")
        _worktrees(root, options.runs)
        _branch(root, options.runs)
        _files(root, options.runs)


def _worktrees(root: Path, runs: int) -> None:
    before = store_bytes(root)

    def add(name: str) -> Path:
        tree = root.parent / name
        git(root, "worktree", "add", "-q", "--detach", str(tree))
        return tree

    def first_answer(number: int) -> Took:
        return findling(add(f"tree{number}"), "search", QUESTION)

    answer = median(runs, first_answer)
    findling(root.parent / "tree0", "sync")
    grown = (store_bytes(root) - before) / runs / before
    synced = median(runs, lambda number: findling(add(f"synced{number}"), "sync"))
    print(f"| second work tree, first answer | {answer} |")
    print(f"| second work tree, sync | {synced} |")
    print(f"| index grows by, each | {grown:.1%} |")


def _branch(root: Path, runs: int) -> None:
    before = store_bytes(root)
    by_name = findling(root, "search", "--ref", "bench-branch", QUESTION)
    again = median(runs, lambda _: findling(root, "search", "--ref", "bench-branch", QUESTION))
    grown = (store_bytes(root) - before) / before
    print(f"| search --ref of a branch with {CHANGED} other files, first / again | {by_name} / {again} |")
    print(f"| index grows by | {grown:.1%} |")

    def switch(number: int) -> Took:
        git(root, "checkout", "-q", "-" if number else "bench-branch")
        return findling(root, "search", QUESTION)

    times = [switch(number) for number in range(2 * (runs // 2) + 2)]
    print(f"| search after a switch to it and back, first / later ones | {times[0]} / {median_of(times[1:])} |")


def _files(root: Path, runs: int) -> None:
    file = root / "findling_bench_probe.py"

    def changed(*arguments: str) -> Callable[[int], Took]:
        def run(number: int) -> Took:
            file.write_text(f"def probe_{time.time_ns()}():\n    return {number}\n")
            return findling(root, "sync", *arguments)

        return run

    named, unnamed = median(runs, changed(file.name)), median(runs, changed())
    nothing = median(runs, lambda _: findling(root, "sync"))
    print(f"| sync of one changed file, named / unnamed | {named} / {unnamed} |")
    print(f"| sync with nothing changed | {nothing} |")


if __name__ == "__main__":
    main()
