"""Many repositories, a few workers, some of them killed: is each done, and each once?

    python benchmarks/workers.py postgresql://USER@HOST/DATABASE [--repositories 1000] [--workers 3] [--kill 2]

The database is new and empty. The repositories are folders of a few files each.
"""

from __future__ import annotations

import argparse
import os
import subprocess
import sys
import tempfile
import time
from collections import Counter
from pathlib import Path

from findling.store.postgresql import Database, Team


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("url")
    parser.add_argument("--repositories", type=int, default=1000)
    parser.add_argument("--workers", type=int, default=3)
    parser.add_argument("--kill", type=int, default=2)
    args = parser.parse_args()
    database = Database(args.url)
    database.migrate()
    team = Team(database)
    with tempfile.TemporaryDirectory() as base:
        rows = []
        for number in range(args.repositories):
            folder = Path(base, f"r{number}")
            folder.mkdir()
            for part in range(3):
                (folder / f"part_{part}.py").write_text(f"def part_{number}_{part}():\n    return {number}\n")
            rows.append((folder.name, str(folder), ""))
        team.add(rows, None)
        environment = {**os.environ, "FINDLING_DATA_DIR": str(Path(base, "data"))}
        command = [sys.executable, "-m", "findling", "worker", "--store", args.url]
        began = time.perf_counter()
        running = [_started(command, environment) for _ in range(args.workers)]
        for each in range(args.kill):
            while team.totals().done < (each + 1) * args.repositories // (args.kill + 2):
                time.sleep(0.2)
            running.pop().kill()
        while (found := team.totals()).done + found.parked < args.repositories:
            time.sleep(0.5)
        took = time.perf_counter() - began
        for process in running:
            process.terminate()
            process.wait()
    times = Counter(each.done_count for each in team.sources())
    print(f"{args.repositories} repositories, {args.workers} workers, {args.kill} killed: {took:.0f} s")
    print(f"done {found.done}, parked {found.parked}; times each was done: {dict(times)}")
    database.close()


def _started(command: list[str], environment: dict[str, str]) -> subprocess.Popen[bytes]:
    return subprocess.Popen(command, env=environment, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL)


if __name__ == "__main__":
    main()
