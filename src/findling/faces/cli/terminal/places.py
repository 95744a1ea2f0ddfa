"""How a path of the index is written for people: so that it can be opened from the current folder.

Relative when the root and the current folder lie in one another, absolute otherwise. JSON does not use this:
there paths stay relative to the root.
"""

from __future__ import annotations

import os
from pathlib import Path


class Places:
    def __init__(self, root: Path, current: Path | None) -> None:
        """``current`` is the current folder, None when there is none (deleted, or not readable)."""
        self._root = root
        self._current = current if current is not None and _related(root, current) else None

    def shown(self, path: str) -> str:
        if self._current == self._root:
            return path
        absolute = str(self._root / path)
        text = absolute if self._current is None else os.path.relpath(absolute, self._current)
        return text.replace(os.sep, "/")

    def link(self, path: str) -> str:
        """A ``file:`` address; every character that could end an escape sequence is quoted."""
        from urllib.parse import quote

        return "file://" + quote(os.fsencode(self._root / path))


def current_folder() -> Path | None:
    try:
        return Path.cwd()
    except OSError:
        return None


def _related(root: Path, current: Path) -> bool:
    at_top = current == Path(current.anchor)
    return not at_top and (root.is_relative_to(current) or current.is_relative_to(root))
