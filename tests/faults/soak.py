"""Random edits, branch switches, searches, watching and kills by several processes, for as long as you like.

    python tests/faults/soak.py [--minutes 30] [--seed 1] [--folder DIR]

Every round ends with a comparison with an index from scratch, and with a count of what is left: open descriptors,
processes, temporary files, bytes on disk. A round that fails prints its seed and stops.
"""

from __future__ import annotations

import argparse
import os
import random
import sys
import tempfile
import time
from pathlib import Path

sys.path.insert(0, str(Path(__file__).parents[1] / "engine"))

from actors import Actor, assert_nothing_lost, edit, lay_out

ROUND_S = 12.0


def left_over(root: Path) -> str:
    store = root / ".findling"
    size = sum(path.stat().st_size for path in store.rglob("*") if path.is_file())
    temporary = [path.name for path in store.rglob("*.tmp*")]
    children = Path(f"/proc/{os.getpid()}/task/{os.getpid()}/children").read_text().split()
    return f"{size / 1e6:.2f} MB, {len(os.listdir('/proc/self/fd'))} descriptors, {len(children)} children, {temporary}"


def one_round(root: Path, beside: Path, seed: int) -> tuple[int, int]:
    chance = random.Random(seed)
    names = ["search", "search", *chance.choices(("index", "refs", "watch"), k=3)]
    actors = [Actor(name, root, seed + place) for place, name in enumerate(names)]
    until = time.monotonic() + ROUND_S
    edits = kills = 0
    while time.monotonic() < until:
        edit(root, chance)
        edits += 1
        time.sleep(chance.uniform(0, 0.3))
        if chance.random() < 0.1:
            victim = chance.randrange(len(actors))
            complaint = actors[victim].end()
            assert not complaint, complaint
            actors[victim] = Actor(names[victim], root, seed)
            kills += 1
    for actor in actors:
        complaint = actor.end()
        assert not complaint, complaint
    assert_nothing_lost(root, beside)
    return edits, kills


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--minutes", type=float, default=30)
    parser.add_argument("--seed", type=int, default=1)
    parser.add_argument("--folder", type=Path)
    options = parser.parse_args()
    base = options.folder or Path(tempfile.mkdtemp(prefix="findling-soak-"))
    root = lay_out(base / "project")
    until = time.monotonic() + options.minutes * 60
    seed = options.seed
    while time.monotonic() < until:
        print(f"seed {seed} in {root}", flush=True)
        edits, kills = one_round(root, base / "again", seed)
        print(f"  {edits} edits, {kills} kills; {left_over(root)}", flush=True)
        seed += 1


if __name__ == "__main__":
    main()
