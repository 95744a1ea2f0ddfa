#!/usr/bin/env python3
"""Fail where code does what a sentence says: a check by meaning for CI.

    python examples/semantic_grep.py "switches off the verification of certificates" --sure 0.8

Exit status: 0 nothing is so sure, 1 something is, 2 an error.
"""

import argparse
import sys

from findling import Engine, FindlingError


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("sentence")
    parser.add_argument("path", nargs="?", default=".")
    parser.add_argument("--sure", type=float, default=0.8, help="how sure an answer must be, from 0 to 1")
    args = parser.parse_args()
    try:
        with Engine.open(args.path) as engine:
            found = engine.search(args.sentence, kind="code", wait_s=None)
    except FindlingError as error:
        print(error, file=sys.stderr)
        return 2
    if not found.hits or found.confidence < args.sure:
        return 0
    best = found.hits[0]
    print(f"{best.place}: {best.qualified_name or best.name} (confidence {found.confidence:.2f})\n{best.body}")
    return 1


if __name__ == "__main__":
    sys.exit(main())
