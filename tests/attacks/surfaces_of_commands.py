"""The command line, in a folder whose files have hostile names and lines, and with a library."""

from __future__ import annotations

import gc
import io
import os
import random
import re
import sys
from contextlib import redirect_stderr, redirect_stdout
from pathlib import Path

import mutation
from gits import git
from surfaces_of_text import PATTERNS, QUESTIONS, Refused
from surfaces_of_text import project as small_project

from findling import Engine, Library
from findling.faces.cli.main import main

EVIL = "class Evil:\n    def needle(self):\n        return 'needle'\n"
LINES = "x = 'needle \x1b[2J\x1b]0;t\x07 \u202e rtl'\r\ny = 'needle'\n\tz = 'needle \x0c \x85 \u2028'\nneedle: 7:8:9\n"
NAMES = (
    *("a\nb.py", "esc\x1b]0;t\x07.py", "\u202egpj.py", "a.py:12:3", "a.py:1-3", "--flag.py", "-e.py", "back\\slash.py"),
    *("dir\nwith/nl.py", "quote'\".py", "$(id).py", "`id`.py", "tab\tx.py", "cr\rx.py", "sp ace:5.py", "~/x.py"),
)
SHOWN = {name: name.translate({ord("\n"): "\u240a", ord("\r"): "\u240d"}) for name in NAMES}
"""How a name is written into a pipe: in one line."""

FILES = {**dict.fromkeys(NAMES, EVIL), "lines.py": LINES}
LETTERS = ("-F", "-i", "-w", "-v", "-U", "-o", "-c", "-l", "-L", "-q", "-S", "--json", "--count-matches", "-C2", "-m1")
PLACED = re.compile(r"([:-])(\d+)(?:[:-](\d+))?\1")


class Commands:
    """What is printed of a file are its lines, each behind its own number; everything wrong is said in a sentence."""

    inputs = 1

    def __init__(self, folder: Path) -> None:
        self._root = small_project(folder)
        for name, text in FILES.items():
            file = self._root / name
            file.parent.mkdir(exist_ok=True)
            file.write_bytes(text.encode())
        git(self._root, "add", "-A")
        with Engine.open(root=self._root) as engine:
            assert engine.index().complete
        with Library.open() as library:
            library.add(self._root / "docs")
        os.chdir(self._root)

    def make(self, chance: random.Random) -> list[str]:
        name = chance.choice((*NAMES, "lines.py", "src/retry.py", "docs", "nowhere.py"))
        lines = chance.choice(("1", "1-3", "3-1", "0", "2-99", "1:7", "9" * 30, "-1", "\u0661"))
        word = chance.choice(("needle", "retry", "Evil", chance.choice(PATTERNS), chance.choice(QUESTIONS)))
        operands = [
            ["grep", "--vimgrep", "-e", word],
            ["grep", "-W", "-e", word, "--", name],
            ["grep", *chance.sample(LETTERS, 2), "-e", word, "--", name],
            ["symbol", "--", f"{name}:{lines}"],
            [chance.choice(("callers", "callees", "impact", "search", "symbol")), "--", f"{name}:{lines}"],
            [chance.choice(("search", "why", "map", "similar")), "--", chance.choice((name, word))],
            ["library", "search", "--limit", "3", "--", word],
            ["trace", "--", word, f"{name}:{lines}"],
        ]
        made = chance.choice(operands)
        if chance.random() < 0.5:
            at = chance.randrange(1, len(made))
            made[at] = mutation.mutated(chance, made[at], surrogates=chance.random() < 0.3)
        # a command is given neither NUL nor what no byte stands for
        return [part.translate({0: None, 0xD800: "\udcff", 0xDFFF: "\udcff"}) for part in made]

    def check(self, made: list[str]) -> None:
        printed, said = (io.TextIOWrapper(io.BytesIO(), "utf-8", errors="strict", newline="") for _ in range(2))
        stdin, sys.stdin = sys.stdin, io.StringIO()
        try:
            with redirect_stdout(printed), redirect_stderr(said):
                status = main(made)
        finally:
            sys.stdin = stdin
            gc.set_threshold(700)  # one command, which is over then, leaves its garbage to the end of the process
        stdout, stderr = (_text(stream) for stream in (printed, said))
        assert not re.search(r"^(findling: unexpected|Traceback)", stderr, re.MULTILINE), stderr
        if status == 2:
            raise Refused(stderr)
        assert status in (0, 1), status
        options = {part for part in made[1:] if part.startswith("-")}
        if made[0] == "grep" and made[1] in ("--vimgrep", "-W") and options <= {made[1], "-e", "--", *NAMES}:
            for line in stdout.split("\n")[:-1]:
                _check_line(line, column=made[1] == "--vimgrep")


def _text(stream: io.TextIOWrapper) -> str:
    stream.flush()
    return stream.buffer.getvalue().decode("utf-8", "surrogateescape")  # type: ignore[attr-defined]


def _check_line(line: str, *, column: bool) -> None:
    """A line of a file stands behind its number; ``column``: and behind that of a match in it."""
    if line == "--":
        return
    own = [name for name in FILES if line.startswith((f"{SHOWN.get(name, name)}:", f"{SHOWN.get(name, name)}-"))]
    for name in own:
        placed = PLACED.match(line, len(SHOWN.get(name, name)))
        texts = FILES[name].split("\n")
        if placed and bool(placed[3]) == column and int(placed[2]) <= len(texts):
            text = texts[int(placed[2]) - 1].rstrip("\r")
            if line[placed.end() :].rstrip("\r") == text and int(placed[3] or 1) <= len(text.encode()) + 1:
                return
    assert not own, f"no line of {own}: {line!r}"
