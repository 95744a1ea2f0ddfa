"""A question that is the path of a file, or the end of one, perhaps with a line: which files are meant.

Words cannot tell: a path's parts stand in the paths of its neighbours, too.
"""

from __future__ import annotations

import re
from typing import TYPE_CHECKING

from findling.model.text_encodings import is_text

if TYPE_CHECKING:
    from findling.model.rows import FileRow
    from findling.store.protocols import Manifests

MOST = 30
"""Files that the end of a path may mean and that are all taken for asked: ``index.js`` may stand in every folder."""

MOST_CHARS = 4_096
"""No system has longer paths."""

_PLACE = re.compile(r"(?P<path>.+?)(?::(?P<line>[1-9][0-9]{0,8})(?::[0-9]{1,9})?)?:?")
_QUOTES = "\"'`,"
_PAIRS = ("()", "[]", "<>", "{}")


def asked(text: str) -> tuple[str, int] | None:
    """The path that a text is, with ``/`` between its parts, and the line behind it, 0 without; None for other texts.

    A name without a dot and a slash is a word like others, or a file at the root: ``LICENSE``.
    """
    text = text.strip().strip(_QUOTES)
    if len(text) > MOST_CHARS or not is_text(text):
        return None
    if text[:1] + text[-1:] in _PAIRS:
        text = text[1:-1]
    found = _PLACE.fullmatch(text)
    if found is None:
        return None
    path = found["path"].replace("\\", "/")
    while path.startswith("./"):
        path = path[2:]
    if path.endswith(("/", ".")) or (_is_word(path) and any(map(str.isspace, path))):
        return None
    return path, int(found["line"] or 0)


def meant(path: str, index: Manifests) -> list[FileRow]:
    """The files that a path means: the one that stands there; else those that end with it; else the longest that
    it ends with, as when it was typed from further up: of two parts at least, unless it is absolute. At most `MOST`.

    What has blanks is a sentence unless it is a path as a whole: not every question with a dot goes through all paths.
    """
    absolute = path.startswith("/") or path[1:3] == ":/"
    rest = path.lstrip("/")
    if (there := index.file_at(rest)) is not None:
        return [there]
    if any(map(str.isspace, rest)) or _is_word(rest):
        return []
    if ends := index.paths_ending(f"/{rest}")[:MOST]:
        return [file for file in map(index.file_at, ends) if file is not None]
    while "/" in rest:
        rest = rest.split("/", 1)[1]
        if ("/" in rest or absolute) and (there := index.file_at(rest)) is not None:
            return [there]
    return []


def _is_word(path: str) -> bool:
    return not ("/" in path or "." in path)
