"""How many answers hold a file that was saved a second ago, while files change all the time and the machine is busy.

    python benchmarks/saved.py [--seconds 120] [--files 3000] [--changes 30] [--busy 2]

A server answers a question each second about a word that was written into a file one second before. Meanwhile
others of its files change, so many a second, and some processes do nothing but take processor time. An answer that
lacks the word must not be called fresh.
"""

from __future__ import annotations

import argparse
import json
import multiprocessing
import os
import random
import shutil
import sys
import tempfile
import time
from collections import Counter
from pathlib import Path

sys.path.insert(0, str(Path(__file__).parents[1] / "tests" / "attacks"))

from asked_servers import AskedServer

SAVED_BEFORE_S = 1.0


def lay_out(root: Path, files: int) -> None:
    chance = random.Random(7)
    words = [f"{a}_{b}" for a in ("read", "write", "open", "close", "merge", "retry") for b in ("file", "row", "page")]
    for number in range(files):
        path = root / f"pkg{number // 60}" / f"part{number}.py"
        path.parent.mkdir(parents=True, exist_ok=True)
        lines = [
            f"def {chance.choice(words)}_{number}_{place}(value):\n    return {chance.choice(words)}(value, {place})\n"
            for place in range(chance.randint(5, 40))
        ]
        path.write_text("\n".join(lines))


def change(root: str, files: int, a_second: int) -> None:
    """Change files until the process is ended."""
    chance = random.Random(1)
    count = 0
    while True:
        number = chance.randrange(files)
        path = Path(root) / f"pkg{number // 60}" / f"part{number}.py"
        count += 1
        path.write_text(f"{path.read_text()}\ndef changed_{count}():\n    return {count}\n")
        time.sleep(1 / a_second)


def spin() -> None:
    while True:
        pass


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--seconds", type=float, default=120)
    parser.add_argument("--files", type=int, default=3000)
    parser.add_argument("--changes", type=int, default=30)
    parser.add_argument("--busy", type=int, default=2)
    options = parser.parse_args()
    base = Path(tempfile.mkdtemp(prefix="findling-saved-"))
    os.environ["XDG_CACHE_HOME"] = str(base / "cache")
    root = base / "project"
    lay_out(root, options.files)
    server = AskedServer(root)
    while json.loads(server.tool("search_code", query="retry_file")[1])["metadata"]["freshness_status"] != "fresh":
        time.sleep(1)
    others = [multiprocessing.Process(target=spin, daemon=True) for _ in range(options.busy)]
    if options.changes:
        others.append(multiprocessing.Process(target=change, args=(str(root), options.files, options.changes)))
    for other in others:
        other.start()
    chance = random.Random(2)
    seen: Counter[str] = Counter()
    took: list[float] = []
    until = time.monotonic() + options.seconds
    while time.monotonic() < until:
        word = f"saved{chance.randrange(1 << 48):012x}"
        number = chance.randrange(options.files)
        path = f"pkg{number // 60}/saved{number}.py" if chance.random() < 0.5 else f"pkg{number // 60}/part{number}.py"
        with (root / path).open("a") as file:
            file.write(f"\ndef {word}():\n    return 0\n")
        time.sleep(SAVED_BEFORE_S)
        began = time.monotonic()
        facts = json.loads(server.tool("search_code", query=word)[1])
        took.append(time.monotonic() - began)
        holds = any(found["path"] == path for found in facts.get("results", ()))
        said = facts["metadata"]
        seen[f"{'holds' if holds else 'LACKS'} {said['freshness_status']} {said['result_completeness']}"] += 1
    for other in others:
        other.kill()
        other.join()
    server.kill()
    shutil.rmtree(base, ignore_errors=True)  # an indexer in the background may end a moment later
    took.sort()
    held = sum(times for what, times in seen.items() if what.startswith("holds"))
    print(f"{held} of {len(took)} answers hold the file ({held / len(took):.1%})")
    for what, times in seen.most_common():
        print(f"  {times:4} {what}")
    print(f"  took {took[len(took) // 2]:.2f} s at the median, {took[-1]:.2f} s at most")


if __name__ == "__main__":
    main()
