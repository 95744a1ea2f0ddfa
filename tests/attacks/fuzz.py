"""Inputs that nobody would write, by the thousand: each is answered rightly or refused with a typed error.

    python tests/attacks/fuzz.py [SURFACE...] [--seconds 40] [--seed 1]
    python tests/attacks/fuzz.py SURFACE --seed 1 --only 4711     one input again, with its traceback

The time is shared among the surfaces by their weights, and each takes a second more to make itself ready. Prints a
table of what was tried; ends with 1 after a failure.
"""

from __future__ import annotations

import argparse
import os
import random
import shutil
import sys
import tempfile
from collections.abc import Mapping
from pathlib import Path
from typing import NamedTuple

sys.path.insert(0, str(Path(__file__).parents[1]))
sys.path.insert(0, str(Path(__file__).parents[1] / "engine"))
sys.path.insert(0, str(Path(__file__).parents[1] / "reading"))

import fuzzing
import surfaces_of_commands
import surfaces_of_files
import surfaces_of_text


class Weighed(NamedTuple):
    """``weight``: the surface's share of the time."""

    make: fuzzing.Make
    weight: float


SURFACES: Mapping[str, Weighed] = {
    "questions": Weighed(surfaces_of_text.Questions, 4),
    "patterns": Weighed(surfaces_of_text.Patterns, 2),
    "globs": Weighed(surfaces_of_text.Globs, 2),
    "configuration": Weighed(surfaces_of_text.Configurations, 3),
    "arguments": Weighed(surfaces_of_text.Arguments, 4),
    "commands": Weighed(surfaces_of_commands.Commands, 4),
    "urls": Weighed(surfaces_of_text.Urls, 1),
    "branches": Weighed(surfaces_of_text.Branches, 1),
    "windows-names": Weighed(surfaces_of_text.WindowsNames, 1),
    "file-names": Weighed(surfaces_of_files.FileNames, 2),
    "sources": Weighed(surfaces_of_files.Sources, 4),
    "formats": Weighed(surfaces_of_files.Formats, 4),
    "index": Weighed(surfaces_of_files.IndexFiles, 6),
}
KINDS_SHOWN, MORE_SHOWN = 10, 6
"""Different failures of a surface that are shown, and how many of each kind."""


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("surfaces", nargs="*", metavar="SURFACE", help=", ".join(SURFACES))
    parser.add_argument("--seconds", type=float, default=40)
    parser.add_argument("--seed", type=int, default=1)
    parser.add_argument("--only", type=int, help="the number of one input")
    for name, kind in (("child", str), ("first", int), ("folder", Path), ("told", Path)):
        parser.add_argument(f"--{name}", type=kind, help=argparse.SUPPRESS)
    options = parser.parse_args()
    if options.child:
        surface = SURFACES[options.child].make(options.folder)
        fuzzing.work_through(
            surface, options.child, seed=options.seed, first=options.first, seconds=options.seconds, told=options.told
        )
        # Nothing is saved and nobody waits: what a surface left open ends with the process.
        os._exit(0)
    names = options.surfaces or list(SURFACES)
    if unknown := set(names) - set(SURFACES):
        parser.error(f"there is no surface {', '.join(sorted(unknown))}; there are {', '.join(SURFACES)}")
    if options.only is not None:
        return again(names[0], options.seed, options.only)
    return attack(names, options.seed, options.seconds)


def attack(names: list[str], seed: int, seconds: float) -> int:
    if shutil.which("git") is None:
        sys.exit("fuzz needs git: apt install git")
    total = sum(SURFACES[name].weight for name in names)
    found = {}
    for name in names:
        share = seconds * SURFACES[name].weight / total
        found[name] = fuzzing.attack(name, seed=seed, seconds=share, program=Path(__file__))
        print(f"{name}: {len(found[name].failures)} kinds of failure", file=sys.stderr, flush=True)
        for key, texts in list(found[name].failures.items())[:KINDS_SHOWN]:
            print(f"\n--- {name}: {key}, {len(texts)} times; the first:\n{texts[0]}", flush=True)
            for text in texts[1:MORE_SHOWN]:
                print("\n".join(text.splitlines()[:2]), flush=True)
    print(f"\nfuzz, seed {seed}, {seconds:.0f} s:\n\n{fuzzing.table(found)}")
    return 1 if any(each.failures for each in found.values()) else 0


def again(name: str, seed: int, number: int) -> int:
    with tempfile.TemporaryDirectory(prefix="findling-fuzz-") as folder:
        os.environ.update({"FINDLING_DATA_DIR": f"{folder}/data", "HOME": f"{folder}/home", "CI": "1"})
        surface = SURFACES[name].make(Path(folder))
        print(repr(surface.make(random.Random(f"{name} {seed} {number}"))))
        print(fuzzing.attempt(surface, name, seed, number))
    return 0


if __name__ == "__main__":
    sys.exit(main())
