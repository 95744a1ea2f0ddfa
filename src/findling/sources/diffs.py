"""Which lines of which files differ from a commit, as git tells."""

from __future__ import annotations

import os
import re
from pathlib import Path
from typing import NamedTuple

from findling.model import errors
from findling.outbound.git import run_git
from findling.sources.git_objects import git_arguments
from findling.sources.tracked import why_it_failed

DIFF_BYTES = 64 << 20
"""A longer one is no change that anybody looks at by definitions."""

_HUNK = re.compile(rb"@@ -(\d+)(?:,(\d+))? \+(\d+)(?:,(\d+))? @@")
_ESCAPE = re.compile(rb'\\(?:([0-7]{3})|(["\\abfnrtv]))')
_ESCAPES = {b"a": b"\a", b"b": b"\b", b"f": b"\f", b"n": b"\n", b"r": b"\r", b"t": b"\t", b"v": b"\v"}

_PLAIN_NAME = re.compile(rb"[\w.+-]+")
"""Of a filter: what git takes as a key on its command line, which ends at the first sign of equality."""

Lines = tuple[int, int]
"""The first and the last."""


class ChangedFile(NamedTuple):
    """``now``: its lines on disk that are new or stand where some were taken out; ``before``: the lines of the commit
    that are gone."""

    path: str
    now: list[Lines]
    before: list[Lines]


def changed_lines(root: Path, commit: str) -> list[ChangedFile]:
    """The files of a work tree below ``root`` that differ from a commit: those that git tracks. Raises
    `RefNotIndexed`."""
    words = ["diff", "--no-ext-diff", "--no-textconv", "--no-color", "--no-renames", "--relative", "-U0"]
    words = [*_without_filters(root), *words, "--ignore-submodules=all"]
    ends = ["--src-prefix=a/", "--dst-prefix=b/", "--end-of-options", commit, "--", "."]
    output = run_git([*git_arguments(root), *words, *ends], cwd=root, max_output=DIFF_BYTES)
    if not output.ok:
        raise errors.RefNotIndexed(
            f"git cannot compare {root} with {commit}: {why_it_failed(output)}.",
            remedy="Name a commit, branch or tag of this repository.",
        )
    return _parsed(output.stdout)


def _without_filters(root: Path) -> list[str]:
    """Options that keep git from running the programs which a repository's configuration names for the contents of its
    work tree. Raises `RefNotIndexed` where one has a name that cannot be written as an option."""
    output = run_git([*git_arguments(root), "config", "-z", "--name-only", "--get-regexp", r"^filter\."], cwd=root)
    if output.status not in ("ok", "failed") or output.returncode not in (0, 1):  # 1: there is none
        raise errors.RefNotIndexed(
            f"git cannot read the configuration of {root}: {why_it_failed(output)}.", remedy="Check it with git config."
        )
    names = {key.split(b".", 1)[1].rpartition(b".")[0] for key in output.stdout.split(b"\0") if key}
    if odd := sorted(name for name in names if not _PLAIN_NAME.fullmatch(name)):
        raise errors.RefNotIndexed(
            f"The repository's configuration has a filter named {os.fsdecode(odd[0])!r}, which could run a program.",
            remedy="Take it out with 'git config --remove-section', if you do not know it.",
        )
    return [
        word
        for name in sorted(map(os.fsdecode, names))
        for value in ("clean=", "process=", "required=false")
        for word in ("-c", f"filter.{name}.{value}")
    ]


def _parsed(diff: bytes) -> list[ChangedFile]:
    """The files of a diff without context. Only lines that are no content are looked at."""
    files: dict[str, ChangedFile] = {}
    at: ChangedFile | None = None
    content = 0
    old = ""
    for line in diff.split(b"\n"):
        if content and line[:1] in (b"+", b"-"):
            content -= 1
        elif line.startswith(b"--- "):
            old = _path(line[4:])
        elif line.startswith(b"+++ "):
            path = _path(line[4:]) or old
            at = files.setdefault(path, ChangedFile(path, [], []))
        elif at is not None and (hunk := _HUNK.match(line)):
            first, gone, there, came = (int(number) if number else 1 for number in hunk.groups())
            content = gone + came
            if gone:
                at.before.append((first, first + gone - 1))
            at.now.append((there, there + came - 1) if came else (there, there))
    return list(files.values())


def _path(written: bytes) -> str:
    """A file's path; '' for none. git quotes names with special characters."""
    written = written.rstrip(b"\t")
    if written.startswith(b'"'):
        written = _ESCAPE.sub(_unescaped, written[1:-1])
    return "" if written == b"/dev/null" else os.fsdecode(written[2:])


def _unescaped(match: re.Match[bytes]) -> bytes:
    octal, letter = match.groups()
    return bytes([int(octal, 8) & 0xFF]) if octal else _ESCAPES.get(letter, letter)
