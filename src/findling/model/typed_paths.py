"""Turns typed operands into paths on disk and paths in a root. Opens no file."""

from __future__ import annotations

import os
from typing import TYPE_CHECKING, TypeAlias

from findling.model.errors import InvalidInput

if TYPE_CHECKING:
    from pathlib import Path

StrPath: TypeAlias = "str | os.PathLike[str]"
"""A path as a caller may give it."""

CHECK = "Check the path."

_MOST_NAMES = 10_000
"""Of a folder, among which a mistyped one is looked for."""

# ruff: noqa: PTH100, PTH112, PTH118, PTH119, PTH120 - a Path would cost the start, and resolves where it must not


def as_path(text: str | None) -> Path | None:
    from pathlib import Path

    if text is None:
        return None
    if not text:
        raise InvalidInput("A path is empty.", remedy="Name a folder or a file; '.' is the current folder.")
    return Path(text)


def split_target(target: str) -> tuple[str, str]:
    """FILE and ":LINE" ("" without one). A file whose name really ends so is taken as a file."""
    file, colon, line = target.rpartition(":")
    if not colon or not line.isascii() or not line.isdigit() or os.path.lexists(target):
        return target, ""
    return file, f":{line}"


def is_text(path: Path) -> bool:
    """Whether a path can be written in UTF-8. On Linux a name may hold any bytes."""
    try:
        str(path).encode()
    except UnicodeEncodeError:
        return False
    return True


def nearest_folder(name: str) -> str:
    """The folder of a file, or the nearest one above that is there."""
    folder = os.path.dirname(os.path.abspath(name))
    while not os.path.isdir(folder):
        folder = os.path.dirname(folder)
    return folder


def meant(name: str) -> str:
    """What to do about a path that is not there: the nearest name in its folder, if one is near."""
    from difflib import get_close_matches

    try:
        folder, wanted = os.path.split(name.rstrip("/"))
        known = os.listdir(folder or ".")[:_MOST_NAMES]  # noqa: PTH208 - as above
        close = get_close_matches(wanted, known, n=1)
    except (OSError, ValueError):
        close = []
    return f"Did you mean {os.path.join(folder, close[0])!r}?" if close else CHECK


def inside(root: Path, name: str) -> str:
    """A typed file as a path of the index: relative to the root. The file itself may be a link, or be gone."""
    relative = os.path.relpath(_really_at(name), root)
    if relative == os.pardir or relative.startswith(os.pardir + os.sep):
        raise InvalidInput(f"{name!r} does not lie in the root {str(root)!r}.", remedy="Name files of one root.")
    return relative.replace(os.sep, "/")


def lies_in(root: Path, name: str) -> bool:
    """Whether a typed file or folder lies in the root, as it is written or where it really is."""
    written = os.path.abspath(name)
    top = os.path.join(root, "")
    return any(path + os.sep == top or path.startswith(top) for path in (written, _really_at(name)))


def _really_at(name: str) -> str:
    absolute = os.path.abspath(name)
    return os.path.join(os.path.realpath(os.path.dirname(absolute)), os.path.basename(absolute))
