"""A folder of git mirrors: which repositories it holds, and their newest commit's files, read as git objects.

Nothing is checked out, no filter and no hook runs, nothing is fetched, and nothing of a repository is executed.
"""

from __future__ import annotations

import posixpath
import random
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path

from findling.outbound.git import GitDialogue, run_git
from findling.sources.git_objects import git_arguments, is_bare

MAX_FILE_BYTES = 200_000
"""Larger files are data, generated or bundled."""

_LIST_TIMEOUT_S = 120.0
_DEPTH = 2
_PLAIN_FILES = (b"100644", b"100755")
_LINK = b"120000"

_LINK_STEPS = 4
"""Of a link that leads to a link; nobody needs more."""


@dataclass(frozen=True, slots=True)
class Mirror:
    """``name`` is ``owner/name``; ``path`` the git directory or the work tree that has one, absolute. ``linked``: the
    folder has it as a symbolic link, and what it is called need not be what it is."""

    name: str
    path: Path
    linked: bool = False


@dataclass(frozen=True, slots=True)
class Entry:
    """A file of a commit: its path from the root, its object and its bytes; a ``link`` has its target as text."""

    path: str
    object_id: bytes
    size: int
    link: bool = False


def find_mirrors(folder: Path) -> list[Mirror]:
    """The repositories in ``folder`` by name: ``owner/name``, ``owner/name.git`` or ``owner+name``, each the git
    directory itself, a work tree, or a folder that holds it as ``repo``. A symbolic link is listed, for whoever tells
    why it is not mined; a link to a folder of them is not."""
    top = folder.resolve()  # git is started in the mirror, and would look for a relative path from there
    found = [
        Mirror(
            "/".join(place.relative_to(top).parts).replace("+", "/", 1).removesuffix(".git"), git, place.is_symlink()
        )
        for place, git in _repositories(top, _DEPTH)
    ]
    return sorted(found, key=lambda mirror: mirror.name.lower())


def _repositories(folder: Path, depth: int) -> Iterator[tuple[Path, Path]]:
    """Each repository's own folder, and where git finds it."""
    for child in sorted(folder.iterdir()):
        if not child.is_dir():
            continue
        git = next((at for at in (child, child / "repo") if is_bare(at) or (at / ".git").is_dir()), None)
        if git is not None:
            yield child, git
        elif depth > 1 and not child.is_symlink():
            yield from _repositories(child, depth - 1)


def head_commit(mirror: Mirror) -> str:
    """The commit that HEAD means, as hexadecimal digits; '' when there is none."""
    output = run_git([*git_arguments(mirror.path), "rev-parse", "--verify", "HEAD^{commit}"], cwd=mirror.path)
    return output.stdout.decode("ascii", "replace").strip() if output.ok else ""


def tree(mirror: Mirror, commit: str) -> list[Entry]:
    """The plain files and links of a commit, whatever their size; of one whose object is missing here, -1. Submodules
    are none."""
    output = run_git(
        [*git_arguments(mirror.path), "ls-tree", "-r", "-l", "-z", "--full-tree", commit],
        cwd=mirror.path,
        timeout_s=_LIST_TIMEOUT_S,
    )
    found = []
    for row in output.stdout.split(b"\0") if output.ok else ():
        head, _, path = row.partition(b"\t")
        fields = head.split()
        if len(fields) == 4 and fields[0] in (*_PLAIN_FILES, _LINK):
            size = int(fields[3]) if fields[3].isdigit() else -1
            found.append(Entry(path.decode("utf-8", "replace"), fields[2], size, fields[0] == _LINK))
    return found


def readable(found: Sequence[Entry]) -> list[Entry]:
    """Of a tree the plain files of at most `MAX_FILE_BYTES`."""
    return [entry for entry in found if not entry.link and 0 <= entry.size <= MAX_FILE_BYTES]


def entries(mirror: Mirror, commit: str) -> list[Entry]:
    """The plain files of a commit of at most `MAX_FILE_BYTES`. Links and submodules are none."""
    return readable(tree(mirror, commit))


def read_texts(mirror: Mirror, wanted: Sequence[Entry]) -> Iterator[tuple[Entry, str]]:
    """The files that are UTF-8 text, in order; the others are left out. Raises OSError when git ends early."""
    for entry, data in _read(mirror, wanted):
        try:
            text = data.decode("utf-8")
        except UnicodeDecodeError:
            continue
        if "\0" not in text:
            yield entry, text.replace("\r\n", "\n")


def read_anyhow(mirror: Mirror, wanted: Sequence[Entry], found: Sequence[Entry]) -> dict[str, str | None]:
    """What stands in each of some files by path, links followed within the tree ``found``: bytes that are no UTF-8
    are replaced; None is for those that are too large, are missing, or lead nowhere. Raises OSError as `read_texts`."""
    by_path = {entry.path: entry for entry in found}
    read: dict[str, str | None] = dict.fromkeys(entry.path for entry in wanted)
    asked = {entry.path: entry for entry in wanted}
    for _ in range(_LINK_STEPS):
        objects = {entry.path: entry for entry in asked.values() if 0 <= entry.size <= MAX_FILE_BYTES}
        texts = {entry.path: data.decode("utf-8", "replace") for entry, data in _read(mirror, list(objects.values()))}
        followed = {}
        for path, entry in asked.items():
            if entry.path not in texts:
                continue
            if not entry.link:
                read[path] = texts[entry.path]
                continue
            target = posixpath.normpath(posixpath.join(posixpath.dirname(entry.path), texts[entry.path]))
            if target in by_path:
                followed[path] = by_path[target]
        asked = followed
    return read


def _read(mirror: Mirror, wanted: Sequence[Entry]) -> Iterator[tuple[Entry, bytes]]:
    with GitDialogue([*git_arguments(mirror.path), "cat-file", "--batch"], cwd=mirror.path) as git:
        for entry in wanted:
            git.say(entry.object_id)
            answer = git.line().split()
            if len(answer) != 3:
                continue
            data = git.exactly(int(answer[2]))
            git.exactly(1)
            yield entry, data


def sample(found: Sequence[Entry], most: int, seed: int) -> list[Entry]:
    """At most ``most`` files, chosen by ``seed``."""
    chosen = list(found)
    random.Random(seed).shuffle(chosen)
    return chosen[:most]
