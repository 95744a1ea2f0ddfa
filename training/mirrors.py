"""A folder of git mirrors: which repositories it holds, and their newest commit's files, read as git objects.

Nothing is checked out, no filter and no hook runs, nothing is fetched, and nothing of a repository is executed.
"""

from __future__ import annotations

import random
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path

from findling.ingest.git_objects import git_arguments, is_bare
from findling.outbound import GitDialogue, run_git

MAX_FILE_BYTES = 200_000
"""Larger files are data, generated or bundled."""

_LIST_TIMEOUT_S = 120.0
_DEPTH = 2
_PLAIN_FILES = (b"100644", b"100755")


@dataclass(frozen=True, slots=True)
class Mirror:
    """``name`` is ``owner/name``; ``path`` the git directory or the work tree that has one."""

    name: str
    path: Path


@dataclass(frozen=True, slots=True)
class Entry:
    """A file of a commit: its path from the root, its object and its bytes."""

    path: str
    object_id: bytes
    size: int


def find_mirrors(folder: Path) -> list[Mirror]:
    """The repositories in ``folder`` by name: ``owner/name``, ``owner/name.git`` or ``owner+name``, each the git
    directory itself, a work tree, or a folder that holds it as ``repo``."""
    found = [
        Mirror("/".join(place.relative_to(folder).parts).replace("+", "/", 1).removesuffix(".git"), git)
        for place, git in _repositories(folder, _DEPTH)
    ]
    return sorted(found, key=lambda mirror: mirror.name.lower())


def _repositories(folder: Path, depth: int) -> Iterator[tuple[Path, Path]]:
    """Each repository's own folder, and where git finds it."""
    for child in sorted(folder.iterdir()):
        if not child.is_dir() or child.is_symlink():
            continue
        git = next((at for at in (child, child / "repo") if is_bare(at) or (at / ".git").is_dir()), None)
        if git is not None:
            yield child, git
        elif depth > 1:
            yield from _repositories(child, depth - 1)


def head_commit(mirror: Mirror) -> str:
    """The commit that HEAD means, as hexadecimal digits; '' when there is none."""
    output = run_git([*git_arguments(mirror.path), "rev-parse", "--verify", "HEAD^{commit}"], cwd=mirror.path)
    return output.stdout.decode("ascii", "replace").strip() if output.ok else ""


def entries(mirror: Mirror, commit: str) -> list[Entry]:
    """The plain files of a commit of at most `MAX_FILE_BYTES`. Links and submodules are none."""
    output = run_git(
        [*git_arguments(mirror.path), "ls-tree", "-r", "-l", "-z", "--full-tree", commit],
        cwd=mirror.path,
        timeout_s=_LIST_TIMEOUT_S,
    )
    found = []
    for row in output.stdout.split(b"\0") if output.ok else ():
        head, _, path = row.partition(b"\t")
        fields = head.split()
        if len(fields) != 4 or fields[0] not in _PLAIN_FILES or not fields[3].isdigit():
            continue  # no size: the object is missing here
        if int(fields[3]) <= MAX_FILE_BYTES:
            found.append(Entry(path.decode("utf-8", "replace"), fields[2], int(fields[3])))
    return found


def read_texts(mirror: Mirror, wanted: Sequence[Entry]) -> Iterator[tuple[Entry, str]]:
    """The files that are UTF-8 text, in order; the others are left out. Raises OSError when git ends early."""
    with GitDialogue([*git_arguments(mirror.path), "cat-file", "--batch"], cwd=mirror.path) as git:
        for entry in wanted:
            git.say(entry.object_id)
            answer = git.line().split()
            if len(answer) != 3:
                continue
            data = git.exactly(int(answer[2]))
            git.exactly(1)
            try:
                text = data.decode("utf-8")
            except UnicodeDecodeError:
                continue
            if "\0" not in text:
                yield entry, text.replace("\r\n", "\n")


def sample(found: Sequence[Entry], most: int, seed: int) -> list[Entry]:
    """At most ``most`` files, chosen by ``seed``."""
    chosen = list(found)
    random.Random(seed).shuffle(chosen)
    return chosen[:most]
