"""The git history of a folder: its commits, and the present names of the files that each changed.

git runs through `findling.outbound.git`: bounded in time and output, without a shell, and with everything off that a
repository's own configuration could start. Knows nothing of questions.
"""

from __future__ import annotations

import os
import re
from collections.abc import Iterator, Mapping
from pathlib import Path
from typing import Final, NamedTuple

from findling.model.errors import InvalidInput, NotFound
from findling.outbound.git import GitOutput, run_git
from findling.sources.git_objects import git_arguments

LOG_S: Final = 60.0
"""Time for reading the history; of a large repository with a cold disk the newest commits come well within it."""

MOST_COMMITS: Final = 5_000
FEWER_COMMITS: Final = 500
"""How many commits are read, and how many if that took too long."""

MAX_OUTPUT: Final = 128 * 1024 * 1024
RENAMES_COMPARED: Final = 200
"""Files of one commit among which renames are looked for; a commit that moves more is a mass change anyway."""

_STATUS = re.compile(rb"[AMDTUXB]|[RC]\d*")
_HEADER = b"\x01"
_OUT_OF_MEMORY = re.compile(rb"out of memory|cannot allocate memory", re.IGNORECASE)


class Commit(NamedTuple):
    """``paths`` has what each changed file was called after it, and what it is called at present: None for one that is
    gone, or was another file then."""

    id: str
    subject: str
    paths: Mapping[str, str | None]


class _Change(NamedTuple):
    status: str
    old: str
    new: str


def commits(root: Path) -> list[Commit]:
    """The commits without merges that changed something below a folder, the newest first; paths from there.

    Raises NotFound where no repository is, InvalidInput where git cannot read it.
    """
    output = _log(root, MOST_COMMITS)
    if output.status in ("timed_out", "too_large"):
        output = _log(root, FEWER_COMMITS)
    if output.status == "failed" and _OUT_OF_MEMORY.search(output.stderr):
        output = _log(root, FEWER_COMMITS, renames=False)  # files too large to be compared were moved
    if not output.ok:
        words = output.stderr.decode("utf-8", "replace").strip().split("\n")[0][:200]
        if output.status == "missing" or "not a git repository" in words:
            raise NotFound(f"{root} has no history: {words or 'git is not installed'}.", remedy="Name a git work tree.")
        raise InvalidInput(f"git cannot read the history of {root}: {words or output.status}.")
    return list(_at_present(_parsed(output.stdout)))


def _log(root: Path, most: int, *, renames: bool = True) -> GitOutput:
    return run_git(
        [
            *git_arguments(root),
            *("-c", "log.showRoot=true"),  # else the first commit has no files
            "log",
            f"--max-count={most}",
            "--no-merges",
            "--no-show-signature",  # it would start whatever the repository calls gpg
            "--no-ext-diff",
            "--no-textconv",
            "--no-color",
            "--no-notes",
            "--encoding=UTF-8",
            "--name-status",
            *(("--find-renames", f"-l{RENAMES_COMPARED}") if renames else ("--no-renames",)),
            "--relative",
            "-z",
            "--format=%x01%H %s",
            "HEAD",
            "--",
            ".",
        ],
        cwd=root,
        timeout_s=LOG_S,
        max_output=MAX_OUTPUT,
        little_memory=True,  # the files that are compared are read as a whole
    )


def _parsed(data: bytes) -> Iterator[tuple[str, str, list[_Change]]]:
    """(id, subject, changes) of each commit, in git's order."""
    fields = iter(data.split(b"\0"))
    commit: tuple[str, str, list[_Change]] | None = None
    for field in fields:
        word = field.lstrip(b"\n")
        if word.startswith(_HEADER):
            if commit is not None:
                yield commit
            name, _, subject = word[len(_HEADER) :].partition(b" ")
            commit = (name.decode("ascii", "replace"), subject.decode("utf-8", "replace"), [])
        elif commit is not None and _STATUS.fullmatch(word):
            status = word[:1].decode("ascii")
            old = os.fsdecode(next(fields, b""))
            new = os.fsdecode(next(fields, b"")) if status in "RC" else old
            commit[2].append(_Change(status, old, new))
    if commit is not None:
        yield commit


def _at_present(history: Iterator[tuple[str, str, list[_Change]]]) -> Iterator[Commit]:
    """From the newest to the oldest: what came to each name since then is known when a commit is reached."""
    now: dict[str, str | None] = {}
    for name, subject, changes in history:
        paths = {change.new: None if change.status == "D" else now.get(change.new, change.new) for change in changes}
        yield Commit(name, subject, paths)
        now.update(_before(changes, now))


def _before(changes: list[_Change], now: Mapping[str, str | None]) -> dict[str, str | None]:
    """What the names mean in the commits before: a new file had none, a renamed one another."""
    names: dict[str, str | None] = {}
    for change in changes:
        if change.status in "ARCD":
            names[change.new] = None
    for change in changes:
        if change.status == "R":
            names[change.old] = now.get(change.new, change.new)
    return names
