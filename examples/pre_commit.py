#!/usr/bin/env python3
"""Before a commit: what does it take away that something still uses, and which tests reach what it changes?

    python examples/pre_commit.py [REF]        # REF: what the work tree is compared with (HEAD)

As `.git/hooks/pre-commit`: exec python examples/pre_commit.py. Exit status: 1 where something that is gone is used.
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
        broken = 0
        for gone in changed.gone:
            name = gone.enclosing
            for use in engine.symbols(name, references=True).references:
                print(f"{use.place}: {name} is gone ({gone.place}), and used here: {use.text.strip()}")
                broken += 1
        tests = sorted({test.path for test in changed.tests})
        if tests:
            print(f"tests that reach what changed: {' '.join(tests)}")
    return 1 if broken else 0


if __name__ == "__main__":
    sys.exit(main(*sys.argv[1:2]))
