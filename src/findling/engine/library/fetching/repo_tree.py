"""A commit's files, read from git's objects and written below a folder by nobody but us: no checkout, so no filters, no
hooks, no links, no submodules; and only what is wanted, has a sound name, and is no secret.

What is there from last time stays as it is, so that only what changed is indexed again.
"""

from __future__ import annotations

import os
from collections.abc import Callable
from contextlib import closing
from pathlib import Path
from typing import Any, Final

from msgspec import Struct

from findling.config.sources import PROJECT_FILES
from findling.engine.library.collections import Quota
from findling.engine.library.fetching.fetch_requests import path_problem
from findling.engine.small_files import failure, make_folder, read_json, write_json
from findling.model.errors import FetchRefused, NetworkError
from findling.model.marks import LFS_POINTER, is_lfs_pointer, left_out_by_name, looks_secret
from findling.outbound.files import NotRead
from findling.sources.git_objects import FILE_MODES, LINK, RefFiles, listed
from findling.sources.selection import DiscoveryOptions, Selection

MAX_FILES: Final = 50_000
MAX_FILE_BYTES: Final = 32 << 20
MAX_TREE_BYTES: Final = 500 << 20
"""Of one repository: what is written, not what is fetched."""

_STATE_BYTES: Final = 64_000_000
_MOST_NAMED: Final = 100
"""Files that are left out and named in the result; the others are counted."""


class Tree(Struct):
    """What was written: path to git's name of the content. ``left_out`` are (path, why)."""

    files: dict[str, str] = {}
    changed: int = 0
    removed: int = 0
    size: int = 0
    left_out: list[tuple[str, str]] = []

    def leave_out(self, path: str, why: str) -> None:
        self.left_out.append((path.encode("utf-8", "replace").decode(), why))

    def facts(self) -> dict[str, Any]:
        facts: dict[str, Any] = {"filesChanged": self.changed, "filesRemoved": self.removed}
        if self.left_out:
            facts["leftOut"] = len(self.left_out)
            facts["leftOutFiles"] = [f"{path}: {why}" for path, why in self.left_out[:_MOST_NAMED]]
        return facts


def write_tree(
    repository: Path,
    commit: str,
    folder: Path,
    state: Path,
    include: tuple[str, ...],
    exclude: tuple[str, ...],
    quota: Quota,
    step: Callable[[float], None],
) -> Tree:
    """Make ``folder`` hold the wanted files of ``commit``, and no others. ``state`` remembers what it holds, for one
    process at a time; it lies on the same disk.

    ``step`` is told the share that is done, and may raise. Raises `FetchRefused` for what is too much,
    `StorageFull` for more than ``quota`` allows.
    """
    make_folder(folder)
    tree = Tree()
    wanted = _wanted(repository, commit, folder, include, exclude, tree)
    before = _before(state)
    for path in before.keys() - wanted.keys():
        _remove(folder, path)
        tree.removed += 1
    waiting = {
        path: name for path, (name, _) in wanted.items() if before.get(path) != name or not _is_there(folder, path)
    }
    quota.take(sum(wanted[path][1] for path in waiting))
    written = {path: name for path, (name, _) in wanted.items() if path not in waiting}
    # Whatever happens from here on: what is not known to be whole is written again.
    write_json(state, written)
    with closing(RefFiles(repository, commit, {path: bytes.fromhex(name) for path, name in waiting.items()})) as files:
        for done, (path, name) in enumerate(waiting.items(), 1):
            read = files.read(path, MAX_FILE_BYTES)
            if isinstance(read, NotRead):
                raise NetworkError(f"The server left out the content of {path[:200]}.")
            data = read[1]
            step(done / len(waiting))
            if is_lfs_pointer(data):
                tree.leave_out(path, LFS_POINTER[1])
            elif looks_secret(data, path):
                tree.leave_out(path, "it contains a private key or a token")
            else:
                _write(folder, path, data, state.with_suffix(".partial"))
                written[path] = name
                tree.changed += 1
                continue
            if path in before:
                _remove(folder, path)
    tree.files = dict(sorted(written.items()))
    tree.size = sum(wanted[path][1] for path in written)
    write_json(state, tree.files)
    return tree


def _wanted(
    repository: Path, commit: str, folder: Path, include: tuple[str, ...], exclude: tuple[str, ...], tree: Tree
) -> dict[str, tuple[str, int]]:
    """Path to (git's name of the content, size)."""
    selection = Selection(os.fspath(folder), DiscoveryOptions(include=include, exclude=exclude))
    found: dict[str, tuple[str, int]] = {}
    folded: dict[str, str] = {}
    total = 0
    for path, file in listed(repository, commit).items():
        if file.mode not in FILE_MODES:
            tree.leave_out(path, "a link" if file.mode == LINK else "a repository of its own")
            continue
        problem = path_problem(path)
        if problem:
            tree.leave_out(path, problem)
            continue
        if _is_ours(path):
            tree.leave_out(path, "that name is for findling's own index and configuration")
            continue
        if selection.filtered(path) is not None:
            continue
        named = left_out_by_name(path)
        if named is not None and named[0] == "secret":
            tree.leave_out(path, named[1])
        elif (size := file.size or 0) > MAX_FILE_BYTES:
            tree.leave_out(path, f"it has more than {MAX_FILE_BYTES:,} bytes")
        elif (other := _clash(folded, path)) is not None:
            tree.leave_out(path, f"its path differs from that of {other} in case only")
        else:
            found[path] = file.git_id, size
            total += size
            if len(found) > MAX_FILES or total > MAX_TREE_BYTES:
                raise FetchRefused(
                    f"More than {MAX_FILES:,} files or {MAX_TREE_BYTES:,} bytes match the patterns.",
                    remedy="Narrow options.includePatterns.",
                )
    return found


_OURS: Final = frozenset(name.split("/")[0] for name in PROJECT_FILES)
"""Folders and files that an index or a configuration is looked for in, below any folder that is searched."""


def _is_ours(path: str) -> bool:
    """Whether a path is, for some system, that of an index or a configuration of ours, which a stranger wrote here."""
    return any(part.casefold().rstrip(". ") in _OURS for part in path.split("/"))


def _clash(folded: dict[str, str], path: str) -> str | None:
    """The path met earlier that some systems do not tell from this one; also where a folder is a file's namesake."""
    parts = path.split("/")
    for depth in range(1, len(parts) + 1):
        part = "/".join(parts[:depth])
        other = folded.setdefault(part.casefold(), part)
        if other != part:
            return other
    return None


# --- the folder ------------------------------------------------------------------------------------------------


def _before(state: Path) -> dict[str, str]:
    try:
        value = read_json(state, _STATE_BYTES)
    except ValueError:
        return {}  # damaged: everything is written again
    if not isinstance(value, dict):
        return {}
    return {path: str(name) for path, name in value.items() if not path_problem(path)}


def _is_there(folder: Path, path: str) -> bool:
    target = folder / path
    return target.is_file() and not target.is_symlink()


def _write(folder: Path, path: str, data: bytes, partial: Path) -> None:
    """``partial``: where it is written first, apart from the files: there a kill leaves what is not whole."""
    target = folder / path
    try:
        make_folder(target.parent)
        with partial.open("wb") as out:
            out.write(data)
        partial.replace(target)
    except OSError as error:
        partial.unlink(missing_ok=True)
        raise failure(error, target) from error


def _remove(folder: Path, path: str) -> None:
    target = folder / path
    try:
        target.unlink(missing_ok=True)
        for parent in target.parents:
            if parent == folder:
                break
            parent.rmdir()
    except OSError:
        return  # not empty: something else is in it
