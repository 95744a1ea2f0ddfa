"""findling grep beside ripgrep, letter by letter: what each prints for the same question, on any folder.

    python benchmarks/grep_letters.py ROOT [ROOT...] [--rg PATH]
    python benchmarks/grep_letters.py --record tests/data/grep_letters.json

Both are asked in ROOT. ripgrep is given the files that findling searches, by name, since the two leave out different
ones; output (but for carriage returns, which end a line here) and exit status must be the same. Prints a Markdown row
for each question, with the first line that differs. With --record the answers of ripgrep on the small tree of
`tests/grep_tree.py` are written, with which the tests compare where there is no ripgrep.
"""

from __future__ import annotations

import argparse
import json
import subprocess
import sys
import tempfile
from itertools import pairwise
from pathlib import Path

sys.path.insert(0, str(Path(__file__).parents[1] / "tests"))

import grep_tree
from findling.engine import Engine

RG = ("--no-config", "--line-number", "--with-filename", "--no-heading", "--color=never", "--sort=path")


def searched(root: Path, globs: list[str]) -> list[str]:
    """The files that findling searches, in its order."""
    with (
        Engine.open(root, root=root) as engine,
        engine.grep_stream("(?!)", shape="without", path_globs=globs) as found,
    ):
        return [file.path for file in found]


def ran(command: list[str], root: Path) -> tuple[str, int]:
    done = subprocess.run(command, cwd=root, capture_output=True, check=False)
    return done.stdout.decode("utf-8", "replace").replace("\r\n", "\n"), done.returncode


def by_ripgrep(rg: str, root: Path, words: list[str], files: list[str]) -> tuple[str, int]:
    """``files``: by name, which ripgrep searches whatever -g says; none for all that it finds by itself."""
    mapped = [{"-L": "--files-without-match"}.get(word, word) for word in words]
    return ran([rg, *RG, *mapped, *files], root)


def by_findling(root: Path, words: list[str]) -> tuple[str, int]:
    return ran([sys.executable, "-m", "findling", "grep", "--no-heading", "--root", ".", *words], root)


def record(rg: str, target: Path) -> None:
    with tempfile.TemporaryDirectory() as folder:
        root = Path(folder)
        grep_tree.lay_out(root)
        version = ran([rg, "--version"], root)[0].split("\n")[0]
        answers = []
        for words in grep_tree.QUESTIONS:
            out, status = by_ripgrep(rg, root, words, [])
            answers.append({"words": words, "out": out, "status": status})
    target.write_text(json.dumps({"by": version, "answers": answers}, indent=1, ensure_ascii=False) + "\n")


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("roots", type=Path, nargs="*")
    parser.add_argument("--rg", default="rg", help="the program (rg)")
    parser.add_argument("--record", type=Path, metavar="FILE")
    options = parser.parse_args()
    if options.record:
        record(options.rg, options.record)
        return 0
    differing = 0
    for root in options.roots:
        every = searched(root.resolve(), [])
        print(f"\n{root.name}: {len(every):,} files\n\n| words | lines | |\n|---|--:|---|")
        for words in grep_tree.REAL_QUESTIONS:
            globs = [glob for letter, glob in pairwise(words) if letter == "-g"]
            files = searched(root.resolve(), globs) if globs else every
            ours, theirs = by_findling(root, words), by_ripgrep(options.rg, root, words, files)
            differing += ours != theirs
            print(f"| `{' '.join(words)}` | {theirs[0].count(chr(10)):,} | {_difference(ours, theirs)} |", flush=True)
    return 1 if differing else 0


def _difference(ours: tuple[str, int], theirs: tuple[str, int]) -> str:
    if ours == theirs:
        return "same"
    if ours[1] != theirs[1]:
        return f"status {ours[1]} instead of {theirs[1]}"
    pairs = zip(ours[0].split("\n"), theirs[0].split("\n"), strict=False)
    mine, other = next(((a, b) for a, b in pairs if a != b), ("(more or fewer lines)", ""))
    return f"{mine[:80]!r} instead of {other[:80]!r}"


if __name__ == "__main__":
    sys.exit(main())
