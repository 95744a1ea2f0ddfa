"""Whether time tells a hidden collection from one that does not exist: calls of both kinds in turns, and the AUC.

    python benchmarks/hidden.py URL USER HIDDEN [--calls 1000]

URL is the address of a role that serves users, USER may not see the collection HIDDEN. .50: they cannot be told apart.
"""

from __future__ import annotations

import argparse
import os
import random
import statistics
import time
from bisect import bisect_left, bisect_right
from collections.abc import Sequence
from pathlib import Path

from msgspec.structs import replace

from findling import Engine, config
from findling.model.errors import IndexNotReady


def auc(one: Sequence[float], other: Sequence[float]) -> float:
    """How likely a value of one is larger than one of the other, ties half."""
    ordered = sorted(other)
    won = sum(bisect_left(ordered, value) + bisect_right(ordered, value) for value in one)
    return won / (2 * len(one) * len(other))


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("url")
    parser.add_argument("user")
    parser.add_argument("hidden")
    parser.add_argument("--calls", type=int, default=1000)
    args = parser.parse_args()
    names = (args.hidden, "-" * len(args.hidden))
    loaded = config.load(Path(os.devnull)).config
    engines = [
        Engine.open(
            root=Path.cwd(),
            config=replace(loaded, person=args.user, store=replace(loaded.store, url=args.url, collections=(name,))),
        )
        for name in names
    ]
    taken: tuple[list[float], list[float]] = ([], [])
    for _ in range(args.calls + 20):
        for side in random.sample((0, 1), 2):
            began = time.perf_counter()
            try:
                engines[side].search("where are failed requests sent again")
            except IndexNotReady:
                pass
            else:
                raise SystemExit(f"{names[side]} is seen")
            taken[side].append((time.perf_counter() - began) * 1000)
    hidden, absent = (values[20:] for values in taken)  # the first ones connect
    found = auc(hidden, absent)
    print(f"hidden {statistics.median(hidden):.3f} ms, absent {statistics.median(absent):.3f} ms (medians)")
    print(f"AUC {max(found, 1 - found):.3f} of {args.calls} calls each")


if __name__ == "__main__":
    main()
