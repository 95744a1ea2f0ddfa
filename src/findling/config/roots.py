"""Which folder is searched, and where its index lies: the root of a path, and the store of a root.

Answers from the file system alone: git's files are read, git is never started, because this runs at the start
of every command. Must not know what is inside a store.

The root of a path is the nearest ancestor that has a ``.findling/`` folder or, where none has one below it, is the top
of a git work tree; else the path itself (for a file: its folder). What is nearest counts, because no index holds a
repository below its root, be it a submodule. Three refinements keep that rule safe:

* The top of a linked work tree has a ``.findling/`` if its main work tree has one: that is its store.
* A ``.findling/`` or ``.git`` above the path counts only if it belongs to the current user, to the superuser or to the
  owner of the path: on a shared machine nobody else can plant a root in ``/tmp``.
* The home folder and folders of the system are never chosen unless they carry a ``.findling/`` already
  (made on purpose with ``--root``).
"""

from __future__ import annotations

import errno
import itertools
import os
import re
import stat
import sys
from pathlib import Path
from typing import Final, NamedTuple

from findling.model.errors import RootError, StorageFull
from findling.model.typed_paths import meant

STORE_NAME: Final = ".findling"

LIVE: Final = "live"
"""The name of the folder on disk in place of a branch's."""

SHORT_COMMIT: Final = 7
"""Characters of a commit's id that are shown to people."""

MOST_ENTRIES: Final = 2_000
"""The most entries of a folder that are searched for repositories."""

_COMMIT: Final = re.compile(r"[0-9a-f]{40}(?:[0-9a-f]{24})?")

_NO_ROOM: Final = (errno.ENOSPC, getattr(errno, "EDQUOT", errno.ENOSPC))
# git writes one short path into each of these files; whatever is longer is something else.
_LINK_FILE_BYTES: Final = 4096
# A configuration of hundreds of remotes; in a longer one nobody looks.
_CONFIG_BYTES: Final = 65_536
_BARE: Final = re.compile(r"^\s*bare\s*=\s*true\b", re.IGNORECASE | re.MULTILINE)
# Enough of the folder's name to recognise it in the cache; the hash makes it unique.
_CACHE_NAME_CHARS: Final = 40
_CACHE_HASH_CHARS: Final = 16

# Compared as a whole: a project inside one of them is fine. Mount points of containers (/mnt, /srv, /opt) are not here.
_SYSTEM_FOLDERS: Final = frozenset(
    {
        *("/bin", "/boot", "/etc", "/home", "/lib", "/lib64", "/root", "/run", "/sbin", "/tmp", "/usr", "/var"),  # noqa: S108 - a name to compare
        "/dev/shm",  # noqa: S108 - a name to compare
        *("/Applications", "/Library", "/System", "/Users", "/Volumes", "/private", "/private/tmp", "/private/var"),
    }
)
# Not files but windows into the kernel: no folder in them can be searched. /dev/shm has files, kept in memory.
_KERNEL_FOLDERS: Final = ("/proc", "/sys", "/dev")
_FILES_IN_MEMORY: Final = "/dev/shm"  # noqa: S108 - a name to compare


class Root(NamedTuple):
    """A folder to search. Both are resolved; ``scope`` is the part asked for, relative with ``/``, "" for all."""

    root: Path
    scope: str


class StoreLocation(NamedTuple):
    """Where a root's index lies, and why there.

    ``reason``: ``root`` (in the root), ``main_worktree`` (in the main work tree of a linked one), ``bare_repository``
    (in that of a linked work tree), ``cache_requested``,
    ``not_writable`` (the root is read-only), ``not_a_folder`` (``.findling`` is a file or a symbolic link).
    """

    directory: Path
    reason: str


def find_root(path: Path | None, *, root: Path | None = None, may_be_gone: bool = False) -> Root:
    """The root of ``path``, and the part of it that ``path`` names.

    ``path`` None means the current folder with no filter. ``root`` is taken literally, system folder or not; then
    ``path`` must lie in it. ``may_be_gone``: another version of the root's files may have ``path``, so it need not be
    on disk. Raises RootError.
    """
    if may_be_gone and path is not None and "\0" not in os.fspath(path) and not os.path.lexists(path):
        gone = Path(os.path.realpath(path))
        above = next(folder for folder in gone.parents if os.path.isdir(folder))  # noqa: PTH112 - too long a name, too
        found = _folder(root) if root is not None else _ancestor_root(above)
        if found is not None:
            return Root(found, _scope(gone, found))
    if root is not None:
        literal = _folder(root)
        return Root(literal, "" if path is None else _scope(_existing(path), literal))
    start = _existing(Path() if path is None else path)
    folder = start if start.is_dir() else start.parent
    found = _ancestor_root(folder) or folder
    if not _has_store(found):
        _check_not_protected(found, f"Name a folder inside it, or insist with --root {found}.")
    _check_readable(found)
    return Root(found, "" if path is None else _scope(start, found))


def repositories_in(folder: Path) -> list[Path]:
    """The git repositories in a folder or one folder deeper, by path; none where it is a repository itself. Hidden
    folders and links are not looked into."""
    if _is_git_top(folder) or is_bare(folder):
        return []
    found: list[Path] = []
    for child in _plain_folders(folder):
        if _is_git_top(child):
            found.append(child)
        else:
            found += [inner for inner in _plain_folders(child) if _is_git_top(inner)]
    return found


MOST_PROJECTS: Final = 50
"""Repositories of a folder that are searched together."""

BESIDE: Final = "."
"""The name of a folder itself, before the paths of files that are in none of its repositories."""


def projects_in(root: Path) -> tuple[dict[str, Path], int]:
    """The repositories in a folder, and itself where files lie beside them, by the names that stand before their paths;
    and how many more there are. None of a folder without any."""
    found = repositories_in(root)
    folders = {os.path.relpath(folder, root).replace(os.sep, "/"): folder for folder in found[:MOST_PROJECTS]}
    above = {parent for each in found for parent in each.parents}
    if found and any(path not in found and path not in above and path.name[0] != "." for path in root.iterdir()):
        folders[BESIDE] = root
    return folders, max(0, len(found) - MOST_PROJECTS)


def _plain_folders(folder: Path) -> list[Path]:
    """Of the first entries of a folder those that are folders, by name; none where it cannot be read."""
    try:
        with os.scandir(folder) as entries:
            few = itertools.islice(entries, MOST_ENTRIES)
            return sorted(Path(e.path) for e in few if e.name[0] != "." and e.is_dir(follow_symlinks=False))
    except OSError:
        return []


def addable(path: Path) -> Path:
    """The resolved path of a file or folder that may be taken into an index as it stands, rules above it apart.

    Raises RootError for what is missing, cannot be read, or is never indexed unasked (the home folder, folders of the
    system).
    """
    resolved = _existing(path)
    if resolved.is_dir():
        _check_not_protected(resolved, "Name a folder inside it.")
        _check_readable(resolved)
    elif not os.access(resolved, os.R_OK):
        raise _no_permission(resolved)
    return resolved


def store_location(root: Path, *, cache: bool = False, create: bool = True) -> StoreLocation:
    """Where the index of ``root`` (as find_root returns it) lies; with ``create`` the folder exists afterwards.

    A new folder gets a ``.gitignore`` of its own that hides it from git. Without ``create`` nothing is written,
    and whether the root takes files is judged by its permissions. Raises RootError when neither the root nor the
    user's cache folder can be written, StorageFull when the disk has no room.
    """
    owner = index_owner(root)
    reason = "root" if owner == root else "bare_repository" if is_bare(owner) else "main_worktree"
    if cache:
        return _cache_location(owner, "cache_requested", create)
    directory = owner / STORE_NAME
    try:
        mode = directory.lstat().st_mode
    except FileNotFoundError:
        mode = None
    except PermissionError:
        return _cache_location(owner, "not_writable", create)
    # A link could lead the index anywhere on the disk, and a cloned repository may bring one along.
    if mode is not None and not stat.S_ISDIR(mode):
        return _cache_location(owner, "not_a_folder", create)
    if not os.access(owner if mode is None else directory, os.W_OK | os.X_OK):
        return _cache_location(owner, "not_writable", create)
    if create:
        try:
            _make(directory)
        except OSError:
            return _cache_location(owner, "not_writable", create)
    return StoreLocation(directory, reason)


def main_worktree(worktree: Path) -> Path | None:
    """The main work tree that the linked work tree with this top folder belongs to; None for any other folder.

    Linked means that both sides say so: ``.git`` names ``COMMON/worktrees/NAME``, and that folder names this ``.git``.
    So a ``.git`` file that came with somebody's archive cannot point at another repository.
    """
    common = _linked_to(worktree)
    # A bare repository has no main work tree, a submodule's lies where its configuration says.
    if common is None or common.name != ".git" or not common.parent.is_dir():
        return None
    return common.parent


def index_owner(root: Path) -> Path:
    """The folder whose index a root's lies in: of a linked work tree the main one, or the bare repository."""
    main = main_worktree(root)
    if main is not None:
        return main
    common = _linked_to(root)
    return root if common is None or not (is_bare(common) and _says_bare(common)) else common


def _linked_to(worktree: Path) -> Path | None:
    """The folder that all work trees of a repository share, for a linked one."""
    git_file = worktree / ".git"
    git_dir = _git_dir_of_file(git_file)
    if git_dir is None:
        return None
    common_text = _short_file(git_dir / "commondir")
    back_text = _short_file(git_dir / "gitdir")
    if not common_text or not back_text:
        return None
    common = Path(os.path.realpath(git_dir / common_text))
    linked = git_dir.parent == common / "worktrees"
    answered = os.path.realpath(git_dir / back_text) == os.path.realpath(git_file)
    return common if linked and answered else None


def _says_bare(repository: Path) -> bool:
    """Whether its configuration says that it is bare; a submodule's does not."""
    config = _short_file(repository / "config", _CONFIG_BYTES)
    return config is not None and _BARE.search(config) is not None


def is_bare(root: Path) -> bool:
    """Whether the folder itself is a repository without a work tree."""
    return not (root / ".git").exists() and (root / "HEAD").is_file() and (root / "objects").is_dir()


def git_folders(top: Path) -> tuple[Path, Path] | None:
    """The folder in which git keeps what belongs to the work tree with this top folder, and the one of all work trees
    of the repository, which is the same where there is only one. None where there is no repository."""
    git_dir = _git_dir_of_file(top / ".git") or top / ".git"
    if not git_dir.is_dir():
        return None
    common = _short_file(git_dir / "commondir")
    return git_dir, Path(os.path.realpath(git_dir / common)) if common else git_dir


def checked_out(root: Path) -> str:
    """The checked-out branch's name; a short commit when none is; ``live`` without git or a work tree."""
    for folder in () if is_bare(root) else (root, *root.parents):
        git_dir = _git_dir_of_file(folder / ".git") or folder / ".git"
        head = _short_file(git_dir / "HEAD")
        if head is None:
            continue
        if head.startswith("ref:"):
            return head.removeprefix("ref:").strip().removeprefix("refs/heads/") or LIVE
        return head[:SHORT_COMMIT] if _COMMIT.fullmatch(head) else LIVE
    return LIVE


def _ancestor_root(folder: Path) -> Path | None:
    trusted = _trusted_owners(folder)
    for candidate in (folder, *folder.parents):
        near = candidate == folder
        if _has_store(candidate) and (near or _owner(candidate / STORE_NAME) in trusted):
            return candidate
        # A repository of the home folder says nothing of a folder in it.
        if not near and _protected_name(candidate):
            continue
        if _is_git_top(candidate) and (near or _owner(candidate / ".git") in trusted):
            return candidate
    return None


def _has_store(folder: Path) -> bool:
    mode = _mode(folder / STORE_NAME, follow=False)
    return mode is not None and stat.S_ISDIR(mode)


def _is_git_top(folder: Path) -> bool:
    mode = _mode(folder / ".git")
    if mode is None:
        return False
    if stat.S_ISDIR(mode):
        return _mode(folder / ".git" / "HEAD", follow=False) is not None
    return _git_dir_of_file(folder / ".git") is not None


def _git_dir_of_file(git_file: Path) -> Path | None:
    """The existing folder that a ``.git`` file names: the case of work trees and submodules."""
    text = _short_file(git_file)
    if text is None or not text.startswith("gitdir:"):
        return None
    git_dir = Path(os.path.realpath(git_file.parent / text.removeprefix("gitdir:").strip()))
    return git_dir if git_dir.is_dir() else None


def _short_file(path: Path, most: int = _LINK_FILE_BYTES) -> str | None:
    """The stripped text of a small regular file; None for anything else, a pipe in its place included."""
    mode = _mode(path)
    if mode is None or not stat.S_ISREG(mode):
        return None
    try:
        with path.open("rb") as file:
            data = file.read(most + 1)
    except OSError:
        return None
    if len(data) > most or b"\0" in data:
        return None
    return os.fsdecode(data).strip()


def _mode(path: Path, *, follow: bool = True) -> int | None:
    try:
        return (path.stat() if follow else path.lstat()).st_mode
    except OSError:
        return None


def _owner(path: Path) -> int | None:
    try:
        return path.lstat().st_uid
    except OSError:
        return None


def _trusted_owners(folder: Path) -> frozenset[int | None]:
    user = os.geteuid() if hasattr(os, "geteuid") else 0
    return frozenset({user, 0, _owner(folder)})


def _existing(path: Path) -> Path:
    """The resolved path of an existing file or folder."""
    try:
        resolved = Path(os.path.realpath(path, strict=True))
        mode = resolved.stat().st_mode
    except (FileNotFoundError, NotADirectoryError) as error:
        raise RootError(f"There is no file or folder {str(path)!r}.", remedy=meant(os.fspath(path))) from error
    except PermissionError as error:
        raise _no_permission(path) from error
    except (OSError, ValueError) as error:
        reason = error.strerror if isinstance(error, OSError) and error.strerror else str(error)
        raise RootError(f"The path {str(path)!r} cannot be used: {reason}.", remedy="Check the path.") from error
    if not (stat.S_ISDIR(mode) or stat.S_ISREG(mode)):
        raise RootError(f"{str(path)!r} is neither a file nor a folder.", remedy="Name a file or a folder.")
    return resolved


def _folder(path: Path) -> Path:
    resolved = _existing(path)
    if not resolved.is_dir():
        raise RootError(f"The root {str(path)!r} is not a folder.", remedy="Give --root a folder.")
    _check_readable(resolved)
    return resolved


def _check_readable(folder: Path) -> None:
    if not os.access(folder, os.R_OK | os.X_OK):
        raise _no_permission(folder)


def _no_permission(path: Path) -> RootError:
    return RootError(f"No permission to read {str(path)!r}.", remedy="Change its permissions, or name another path.")


def _scope(path: Path, root: Path) -> str:
    try:
        relative = path.relative_to(root)
    except ValueError as error:
        raise RootError(
            f"{str(path)!r} does not lie in the root {str(root)!r}.", remedy="Name a path inside the root."
        ) from error
    return "" if relative == Path() else relative.as_posix()


def _check_not_protected(folder: Path, remedy: str) -> None:
    if name := _protected_name(folder):
        raise RootError(f"{folder} is {name}; findling does not index it as a whole.", remedy=remedy)


def _protected_name(folder: Path) -> str:
    """Why a folder must not be indexed unasked, in words; "" for an ordinary folder."""
    if folder == Path(folder.anchor):
        return "the top of the file system"
    if str(folder) == os.path.realpath(os.path.expanduser("~")):  # noqa: PTH111 - the Path method raises without a home
        return "the home folder"
    if sys.platform == "win32":
        names = ("SystemRoot", "ProgramFiles", "ProgramFiles(x86)", "ProgramData")
        return "a folder of the system" if str(folder) in {os.environ.get(name) for name in names} else ""
    of_kernel = any(folder.is_relative_to(kernel) for kernel in _KERNEL_FOLDERS)
    inside_kernel = of_kernel and not folder.is_relative_to(_FILES_IN_MEMORY)
    return "a folder of the system" if inside_kernel or str(folder) in _SYSTEM_FOLDERS else ""


def cache_folder() -> Path:
    """Where findling keeps what it can make anew, by the platform's convention."""
    import platformdirs

    return Path(platformdirs.user_cache_dir("findling", appauthor=False))


def _cache_location(owner: Path, reason: str, create: bool) -> StoreLocation:
    import hashlib

    name = re.sub(r"[^A-Za-z0-9._-]+", "-", owner.name)[:_CACHE_NAME_CHARS] or "root"
    digest = hashlib.sha256(os.fsencode(os.path.realpath(owner))).hexdigest()[:_CACHE_HASH_CHARS]
    directory = cache_folder() / f"{name}-{digest}"
    if create:
        make_store(directory, instead_of=owner)
    return StoreLocation(directory, reason)


def make_store(directory: Path, *, instead_of: Path | None = None) -> None:
    """Make a folder for an index. ``instead_of``: where it would have been. Raises RootError, StorageFull."""
    try:
        _make(directory)
    except OSError as error:
        why, remedy = error.strerror or error, "Check its permissions."
        if instead_of is None:
            raise RootError(f"The folder {directory} cannot be written: {why}.", remedy=remedy) from error
        remedy = "Set XDG_CACHE_HOME to a folder that can be written."
        places = f"Neither {instead_of} nor the cache folder {directory}"
        raise RootError(f"{places} can be written: {why}.", remedy=remedy) from error


def _make(directory: Path) -> None:
    """Raises OSError, StorageFull."""
    hiding = directory / ".gitignore"
    try:
        directory.parent.mkdir(mode=0o700, parents=True, exist_ok=True)
        # Private, because the index repeats words of files that others may not be allowed to read.
        directory.mkdir(mode=0o700, exist_ok=True)
        try:
            file = hiding.open("x", encoding="utf-8")
        except FileExistsError:
            status = hiding.lstat()
            if status.st_size or not stat.S_ISREG(status.st_mode):
                return
            file = hiding.open("r+", encoding="utf-8")  # a full disk or a crash has left it empty
        with file:
            file.write("*\n")
    except OSError as error:
        if error.errno in _NO_ROOM:
            raise StorageFull(f"No room for the index in {directory}.", remedy="Free some space.") from error
        raise
