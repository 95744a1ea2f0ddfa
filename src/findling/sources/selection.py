"""Judges whether a file is wanted: by the options, by its name, by its status on disk.

The same for files that a walk finds, for tracked files and for named ones. Never reads the contents of a file.
"""

from __future__ import annotations

import hashlib
import os
import stat
from collections.abc import Collection, Iterable
from functools import cached_property

from msgspec import Struct

from findling.model.format_names import format_of
from findling.model.marks import left_out_by_name
from findling.model.types import SkippedFile
from findling.outbound.files import stamp_of
from findling.sources.ignore_rules import IgnoreRules, IgnoreTree, RuleSet, read_small_text

# ruff: noqa: PTH114, PTH118, PTH120 - tens of thousands of paths: strings cost a tenth of Path objects

Found = tuple[str, int, int]
"""A file to index: path, size in bytes, `files.stamp_of`. A plain tuple: there are tens of thousands of them."""

DEFAULT_MAX_BYTES = 1 << 20  # larger texts are data or made by machines; people write none
DEFAULT_MAX_DOCUMENT_BYTES = 32 << 20  # most of a PDF or a presentation is pictures


class DiscoveryOptions(Struct, frozen=True):
    """What a user chose. ``max_bytes`` is the size of the largest file that is indexed, ``max_document_bytes`` that
    of the largest which is converted to text first (PDF and the like).

    ``include`` and ``exclude`` are globs as in an ignore file: without ``/`` they match a name in every folder,
    with one they start at the root; a folder stands for all that is in it. A file is wanted when ``include`` is
    empty or matches it, and ``exclude`` does not. ``hidden`` adds untracked files whose name or folder starts
    with a dot. Links are never followed. ``files``: these paths and no others, whatever ignores them; then nothing
    is listed. ``most_files``: more than that are left out, the last in the order of their paths. ``pages``: web pages
    and notebooks are documents, too.
    """

    hidden: bool = False
    max_bytes: int = DEFAULT_MAX_BYTES
    include: tuple[str, ...] = ()
    exclude: tuple[str, ...] = ()
    files: tuple[str, ...] = ()
    most_files: int | None = None
    max_document_bytes: int = DEFAULT_MAX_DOCUMENT_BYTES
    pages: bool = False

    @property
    def id(self) -> str:
        """A hash that tells these options from others."""
        return hashlib.sha256(repr(self).encode("utf-8", "surrogatepass")).hexdigest()[:16]

    def limit(self, path: str) -> int:
        """The largest size, in bytes, that the file at ``path`` may have."""
        converted = format_of(path, pages=self.pages)
        return max(self.max_bytes, self.max_document_bytes) if converted else self.max_bytes


def shown(path: str) -> str:
    """``path`` as valid text: bytes that are not UTF-8 appear as ``\\xNN``."""
    return os.fsencode(path).decode("utf-8", "backslashreplace")


def is_text(path: str) -> bool:
    """Whether a name from the disk is valid Unicode, so that it can be stored, compared and shown."""
    if path.isascii():
        return True
    try:
        path.encode()
    except UnicodeEncodeError:
        return False
    return True


def is_hidden(path: str) -> bool:
    """Whether the name, or a folder above it, starts with a dot."""
    return path.startswith(".") or "/." in path


class Selection:
    """Judges paths of one root. ``root`` is an absolute path without a slash at the end, its links resolved."""

    def __init__(self, root: str, options: DiscoveryOptions) -> None:
        self.root = root
        self.prefix = root if root.endswith("/") else root + "/"
        self.options = options
        self.filters = bool(options.include or options.exclude)
        self._folders: dict[str, bool] = {"": True}

    @cached_property
    def _include(self) -> IgnoreTree:
        return IgnoreTree(self.root, (), IgnoreRules([("", RuleSet(self.options.include))]), folders=())

    @cached_property
    def _exclude(self) -> IgnoreTree:
        return IgnoreTree(self.root, (), IgnoreRules([("", RuleSet(self.options.exclude))]), folders=())

    def filtered(self, path: str) -> SkippedFile | None:
        """Why the user's globs leave out a path; None where they do not."""
        rule = self._exclude.ignores(path) if self.options.exclude else None
        if rule is not None:
            return SkippedFile(path, "excluded", f"the exclude pattern {rule.pattern} matches it")
        if self.options.include and self._include.ignores(path) is None:
            return SkippedFile(path, "not_included", "no include pattern matches it")
        return None

    def tracked_place(self, path: str, own: IgnoreTree | None) -> SkippedFile | None:
        """Why a path that git tracks is left out by where it stands: our own ignore files are ``own``."""
        if is_hidden(path) and not NEVER_FOLDERS.isdisjoint(path.split("/")):
            return SkippedFile(shown(path), *INTERNAL)
        if not is_text(path):
            return SkippedFile(shown(path), *NOT_UTF8)
        rule = None if own is None else own.ignores(path)
        return None if rule is None else SkippedFile(path, "ignored", rule.words)

    def by_name(self, path: str) -> SkippedFile | None:
        """Why a path is left out by its name or by the user's globs; None where it is not."""
        if self.filters:
            skip = self.filtered(path)
            if skip is not None:
                return skip
        left_out = left_out_by_name(path)
        return None if left_out is None else SkippedFile(path, *left_out)

    def look(self, path: str) -> Found | SkippedFile | None:
        """The file's status on disk, judged; None when it is not there."""
        try:
            status = os.lstat(self.prefix + path)
        except (FileNotFoundError, NotADirectoryError):
            return None
        except (OSError, ValueError) as error:
            return SkippedFile(path, "unreadable", str(error))
        return self.judge(path, status)

    def judge(self, path: str, status: os.stat_result, *, in_real_folder: bool = False) -> Found | SkippedFile:
        """A file's status: regular files up to the size limit are wanted, empty ones too (their names are found).

        ``in_real_folder``: the caller knows that no folder above the file is a link.
        """
        mode = status.st_mode
        if stat.S_ISREG(mode):
            size = status.st_size
            if size > self.options.max_bytes and size > (limit := self.options.limit(path)):
                return SkippedFile(path, "too_large", f"{size:,} bytes, the limit is {limit:,}")
            if not in_real_folder and not self.lies_in_real_folders(path):
                return SkippedFile(path, "symlink_outside", "a folder above it is a symbolic link")
            return path, size, stamp_of(status)
        if stat.S_ISLNK(mode):
            return self._judge_link(path)
        if stat.S_ISDIR(mode):
            return SkippedFile(path, "nested_repository", "a repository of its own, searched when it is named")
        return SkippedFile(path, "not_a_file", "a pipe, socket or device")

    def lies_in_real_folders(self, path: str) -> bool:
        """Whether no folder above ``path`` is a link."""
        return self._is_real_folder(path.rpartition("/")[0])

    def _is_real_folder(self, folder: str) -> bool:
        """Whether no part of ``folder`` is a link. Remembered, because many files share a folder."""
        known = self._folders.get(folder)
        if known is None:
            outer = folder.rpartition("/")[0]
            known = (not outer or self._is_real_folder(outer)) and not os.path.islink(self.prefix + folder)
            self._folders[folder] = known
        return known

    def _judge_link(self, path: str) -> SkippedFile:
        target = os.path.realpath(self.prefix + path)
        if target == self.root or target.startswith(self.prefix):
            return SkippedFile(path, "symlink_inside", f"a link to {shown(target[len(self.prefix) :]) or '.'}")
        return SkippedFile(path, "symlink_outside", "a link that leaves the root")


def judge_all(selection: Selection, paths: Iterable[str], files: list[Found], skipped: list[SkippedFile]) -> None:
    """Add each path to ``files`` or to ``skipped``, by its name and its status. Missing files are passed over."""
    by_name, look = selection.by_name, selection.look
    for path in paths:
        judged = by_name(path) or look(path)
        if isinstance(judged, tuple):
            files.append(judged)
        elif judged is not None:
            skipped.append(judged)


# Version control and our own store: never indexed, even if git tracks files in them.
NEVER_FOLDERS = frozenset((".git", ".findling", ".hg", ".svn", ".jj", ".bzr", "_darcs", ".pijul", "CVS"))

# Left out everywhere unless git tracks a file inside: installed packages and caches, never written by people.
_INSTALLED_FOLDERS = frozenset(
    ("node_modules", "bower_components", "jspm_packages", "__pycache__", "__pypackages__", "venv", "virtualenv",
     "site-packages", "elm-stuff", "Pods", "Carthage")
)  # fmt: skip

# Outside git, where no .gitignore need exist: build output, told from a source folder of that name by what made it.
_OUTPUT_FOLDERS: dict[str, tuple[str, ...]] = {
    "target": ("Cargo.toml", "pom.xml", "build.sbt", "project.clj"),
    "build": ("build.gradle", "build.gradle.kts", "CMakeLists.txt", "setup.py", "pyproject.toml", "package.json",
              "pubspec.yaml", "meson.build"),
    "dist": ("package.json", "pyproject.toml", "setup.py", "setup.cfg", "dist.ini"),
    "out": ("package.json", "build.gradle", "build.gradle.kts", "CMakeLists.txt"),
    "bin": (".csproj", ".fsproj", ".vbproj"),
    "obj": (".csproj", ".fsproj", ".vbproj"),
    "_build": ("mix.exs", "dune-project", "rebar.config", "conf.py"),
    "deps": ("mix.exs",),
    "zig-out": ("build.zig",),
    "coverage": ("package.json",),
}  # fmt: skip

CACHE_TAG = "CACHEDIR.TAG"
_CACHE_TAG_START = b"Signature: 8a477f597d28d172789f06886806bc55"  # bford.info/cachedir


INTERNAL = ("internal", "belongs to version control or to findling")
NOT_UTF8 = ("undecodable_name", "its name is not valid UTF-8")


def untracked_folder_reason(name: str) -> str | None:
    """Why a folder of this name is left out unless git tracks what is in it; None when it is not."""
    if name in _INSTALLED_FOLDERS or name.endswith(".egg-info"):
        return f"{name} holds installed packages or caches"
    return None


def output_folder_reason(name: str, siblings: Iterable[str]) -> str | None:
    """Why the folder ``name`` beside ``siblings`` is build output; None when it is not."""
    makers = _OUTPUT_FOLDERS.get(name)
    if makers is not None:
        for sibling in siblings:
            if sibling in makers or (makers[0][0] == "." and sibling.endswith(makers)):
                return f"output of {sibling}"
    return None


def marked_folder_reason(folder: str, names: Collection[str]) -> str | None:
    """Why a folder with the entries ``names`` says of itself that it is no source; None when it does not."""
    if "pyvenv.cfg" in names:
        return "a Python environment"
    if CACHE_TAG in names:
        text = read_small_text(f"{folder}/{CACHE_TAG}")
        if text is not None and os.fsencode(text[:64]).startswith(_CACHE_TAG_START):
            return f"marked as a cache by {CACHE_TAG}"
    return None


def find_git_top(root: str) -> str | None:
    """The nearest folder, from ``root`` (absolute) upwards, with a ``.git`` in it; None when there is none.

    Like git it does not look into the folders of GIT_CEILING_DIRECTORIES and above, unless one is the root.
    """
    listed = os.environ.get("GIT_CEILING_DIRECTORIES", "").split(os.pathsep)
    ceilings = {os.path.realpath(ceiling) for ceiling in listed if os.path.isabs(ceiling)}  # noqa: PTH117
    folder = root
    while True:
        if os.path.lexists(os.path.join(folder, ".git")):
            return folder
        above = os.path.dirname(folder)
        if above == folder or above in ceilings:
            return None
        folder = above


def folders_above(paths: Iterable[str]) -> set[str]:
    """All folders that the paths lie in, the root ('') included."""
    found = {""}
    for path in paths:
        folder = path.rpartition("/")[0]
        while folder not in found:
            found.add(folder)
            folder = folder.rpartition("/")[0]
    return found
