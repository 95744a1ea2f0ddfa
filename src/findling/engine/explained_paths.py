"""One path, judged as listing and reading would judge it: is it wanted, and if not, which rule is in the way.

Asks the code that decides and has no rule of its own, apart from what makes a path impossible to ask about: it is
not there, lies outside, or leads through a link. Knows nothing of an index.
"""

from __future__ import annotations

import os
import stat
from pathlib import Path
from typing import NamedTuple

from findling import reading
from findling.model.format_names import format_of
from findling.model.types import SkippedFile
from findling.sources.looking import read_file
from findling.sources.named_paths import look_at
from findling.sources.selection import DiscoveryOptions, Found, Selection, is_text, shown

# ruff: noqa: PTH118, PTH119, PTH120 - plain strings, as in selection

_MOST_PATTERNS_CHARS = 200  # of the include patterns that are repeated in a sentence
_BEFORE_NAMES = frozenset(("hidden", "ignored", "default_ignored"))  # lifting these does not help with the others


class Verdict(NamedTuple):
    """``path`` is relative to the root, "." for the root itself.

    ``refusal``: why it is not wanted as a whole, None when it is. ``found`` are the wanted files: itself, or those in
    the folder; ``left_out`` is what is not wanted in the folder, without what git itself ignores there.
    """

    path: str
    is_folder: bool
    refusal: SkippedFile | None
    found: list[Found]
    left_out: list[SkippedFile]


def judge(root: Path, path: str, options: DiscoveryOptions) -> Verdict:
    """``path``: absolute, or relative to the root. Only status and ignore files are read."""
    selection = Selection(os.path.realpath(root), options)
    relative = from_root(root, path)
    if isinstance(relative, SkippedFile):
        return _refused(relative)
    is_folder, impossible = _reach(selection, relative)
    if impossible is not None:
        return _refused(impossible, path=relative)
    looked = look_at(root, [relative], None, options)
    refusal = _refusal(selection, relative, is_folder, looked.found, looked.skipped)
    return Verdict(relative, is_folder, refusal, looked.found, looked.skipped if is_folder else [])


def from_root(root: Path, path: str) -> str | SkippedFile:
    """A path (absolute, or from the root) as the index writes it, "." for the root; why it cannot be in an index."""
    real = os.path.realpath(root)
    relative = _relative(real, path)
    if relative is None:
        return SkippedFile(shown(path), "outside_root", f"it does not lie in {shown(real)}")
    if not is_text(relative):
        return SkippedFile(relative, "undecodable_name", "its name is not valid UTF-8")
    return relative


def content_refusal(root: Path, path: str, options: DiscoveryOptions) -> SkippedFile | None:
    """Why a file that listing wants is left out once it is read: unreadable, secret, binary, minified, unknown
    encoding, or what keeps a document from being converted; None when it is not."""
    read = read_file(root, path, options.limit(path))
    if isinstance(read, SkippedFile):
        return read
    if format_of(path):  # its reader may hang or crash
        with reading.WorkerPool(1) as pool:
            pool.submit([reading.Task(0, path, read[1])])
            answers = pool.collect()
        prepared: object = answers[0][1] if answers else None
    else:
        prepared = reading.prepare.prepare(path, read[1], with_syntax=False)
    return prepared if isinstance(prepared, SkippedFile) else None


def _refused(refusal: SkippedFile, *, path: str | None = None) -> Verdict:
    return Verdict(refusal.path if path is None else path, False, refusal, [], [])


def _relative(root: str, path: str) -> str | None:
    """``path`` from the root as it is written, else as its folder really is; None outside."""
    written = os.path.normpath(os.path.join(root, path))
    try:
        real = os.path.join(os.path.realpath(os.path.dirname(written)), os.path.basename(written))
    except (OSError, ValueError):
        real = written
    for name in (written, real):
        if name == root:
            return "."
        if name.startswith(root.rstrip("/") + "/"):
            return name[len(root.rstrip("/")) + 1 :]
    return None


def _reach(selection: Selection, path: str) -> tuple[bool, SkippedFile | None]:
    """Whether it is a folder, and what keeps it from being asked about."""
    parts = [] if path == "." else path.split("/")
    is_folder = True
    for depth in range(1, len(parts) + 1):
        part = "/".join(parts[:depth])
        try:
            mode = os.lstat(selection.prefix + part).st_mode
        except (FileNotFoundError, NotADirectoryError, ValueError):
            return False, SkippedFile(path, "not_found", "there is no such file or folder")
        except OSError as error:
            return False, SkippedFile(path, "unreadable", error.strerror or str(error))
        is_folder = stat.S_ISDIR(mode)
        if depth < len(parts) and stat.S_ISLNK(mode):
            link = selection.look(part)
            if isinstance(link, SkippedFile):
                return False, SkippedFile(path, link.reason, f"{part} is {link.detail}")
    return is_folder, None


def _refusal(
    selection: Selection, path: str, is_folder: bool, found: list[Found], skipped: list[SkippedFile]
) -> SkippedFile | None:
    """The rule about the path itself; for a folder without a wanted file also the one that all in it share."""
    if found:
        return None
    own = next((skip for skip in skipped if skip.path.rstrip("/") == path), None)
    if own is None and len({(skip.reason, skip.detail) for skip in skipped}) == 1:
        own = skipped[0]
    if own is None:
        words = "no file in this folder is to be indexed" if is_folder else "it went away while it was looked at"
        return SkippedFile(path, "no_files" if is_folder else "not_found", words)
    detail = own.detail
    if own.reason == "not_included":
        patterns = ", ".join(selection.options.include)
        cut = patterns if len(patterns) <= _MOST_PATTERNS_CHARS else patterns[:_MOST_PATTERNS_CHARS] + "..."
        detail = f"{detail}: {cut}"
    by_name = selection.by_name(path) if not is_folder and own.reason in _BEFORE_NAMES else None
    if by_name is not None:
        detail = f"{detail}; it would be left out as {by_name.reason} as well: {by_name.detail}"
    return SkippedFile(path, own.reason, detail)
