#!/usr/bin/env python3
"""Which documents speak of what has changed since a branch, tag or commit?

python examples/docs_for_diff.py main
"""

import sys

from findling import Engine, FindlingError


def main(ref: str = "HEAD") -> int:
    with Engine.open() as engine:
        try:
            changed = engine.impact(since=ref)
        except FindlingError as error:
            print(error, file=sys.stderr)
            return 2
        for line in changed.documents:
            print(f"{line.place}: {line.text.strip()}")
    return 0


if __name__ == "__main__":
    sys.exit(main(*sys.argv[1:2]))
