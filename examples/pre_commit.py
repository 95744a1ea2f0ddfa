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
            changed = engine.impact(since=ref, tests=True, limit=2_000)
        except FindlingError as error:
            print(error, file=sys.stderr)
            return 2
        gone = {(each.path, each.line, each.enclosing): each for each in changed.gone}
        broken = [use for use in changed.edges if (use.target_path, use.target_line, use.target) in gone]
        for use in broken:
            at = gone[use.target_path, use.target_line, use.target]
            print(
                f"{use.path}:{use.line}: {use.target} is gone ({at.path}:{at.line}), and used here: {use.text.strip()}"
            )
        tests = sorted({test.path for test in changed.tests})
        if tests:
            print(f"tests that reach what changed: {' '.join(tests)}")
    return 1 if broken else 0


if __name__ == "__main__":
    sys.exit(main(*sys.argv[1:2]))
