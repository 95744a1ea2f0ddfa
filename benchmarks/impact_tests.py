"""How right the tests are that an impact names, beside the tests that ran the definition.

    impact_tests.py FOLDER PACKAGE COVERAGE [--steps N] [--functions N]

COVERAGE is the data file of the package's own tests, run with a context for each test:

    printf '[run]\\ndynamic_context = test_function\\n' > rc
    coverage run --rcfile=rc --source=PACKAGE -m pytest tests

Of the functions below PACKAGE (a folder inside FOLDER) that at least one test ran and at most `MOST` of the tests, so
many are drawn at random. A test function counts once, whatever its parameters. Printed, as means over the functions:
the share of the tests that ran a function that its impact names (recall), and the share of the named tests that ran it
(precision; of functions without a named test there is none). The index is the one in the user's cache folder.
"""

from __future__ import annotations

import argparse
import random
import sqlite3
import statistics
from collections import defaultdict
from pathlib import Path

from findling.engine import Engine

MOST = 0.5
"""A function that more of the tests run says nothing of which ones a change reaches."""

ALL = 1_000_000
"""Rows that an answer may have: none is to be left out."""


def ran_lines(data: Path) -> dict[str, dict[str, set[int]]]:
    """File -> test -> the lines that it ran. A line is a bit of the numbers in the data file."""
    found: dict[str, dict[str, set[int]]] = defaultdict(lambda: defaultdict(set))
    with sqlite3.connect(data) as database:
        rows = database.execute(
            "SELECT file.path, context.context, line_bits.numbits FROM line_bits"
            " JOIN file ON file.id = file_id JOIN context ON context.id = context_id WHERE context.context != ''"
        )
        for path, context, bits in rows:
            test = context.rpartition(".")[2]
            found[path][test] |= {at * 8 + bit for at, byte in enumerate(bits) for bit in range(8) if byte >> bit & 1}
    return found


def main() -> None:
    parser = argparse.ArgumentParser(description=(__doc__ or "").split("\n", 1)[0])
    parser.add_argument("folder", type=Path)
    parser.add_argument("package")
    parser.add_argument("coverage", type=Path)
    parser.add_argument("--steps", type=int, default=3)
    parser.add_argument("--functions", type=int, default=50)
    given = parser.parse_args()
    ran = ran_lines(given.coverage)
    tests = {test for by_test in ran.values() for test in by_test}
    drawn: list[tuple[str, str, set[str]]] = []
    with Engine.open(given.folder, root=given.folder, cache=True) as engine:
        engine.index()
        for path, by_test in sorted(ran.items()):
            relative = Path(path).relative_to(given.folder.resolve()).as_posix()
            if not relative.startswith(given.package):
                continue
            held = engine.file_symbols(relative)
            for symbol in held.symbols if held is not None else ():
                if symbol.kind not in ("fn", "method"):
                    continue
                body = range(symbol.name_line + 1, symbol.end_line + 1)  # the line of the name runs at import
                reached = {test for test, lines in by_test.items() if lines & set(body)}
                if reached and len(reached) <= MOST * len(tests):
                    drawn.append((relative, symbol.qualified_name, reached))
        random.Random(1).shuffle(drawn)
        recalls, precisions = [], []
        for path, name, reached in drawn[: given.functions]:
            found = engine.impact(f"{path}:{name}", steps=given.steps, limit=ALL)
            named = {each.name.rpartition(".")[2] for each in found.tests} & tests
            recalls.append(len(named & reached) / len(reached))
            if named:
                precisions.append(len(named & reached) / len(named))
    if not recalls:
        parser.error(f"no test of {given.coverage} ran a function below {given.package}: was it run with contexts?")
    shown, precision = len(recalls), statistics.mean(precisions or [0.0])
    print(f"{len(tests)} tests, {shown} of {len(drawn)} functions, {given.steps} steps")
    print(f"recall {statistics.mean(recalls):.3f}, precision {precision:.3f} (of {len(precisions)})")


if __name__ == "__main__":
    main()
