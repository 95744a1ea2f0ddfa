"""Which version of the files the folder on disk is: the name of what is checked out. Reads git's files."""

from __future__ import annotations

import os
import re
from pathlib import Path

from findling.tools.model import Refusal

LIVE = "live"
SHORT_COMMIT = 7
"""Characters of a commit's name that people read."""

_HEAD_BYTES = 4096
_COMMIT = re.compile(r"[0-9a-f]{40}(?:[0-9a-f]{24})?")


def current_ref(root: Path) -> str:
    """The checked-out branch's name; a short commit when none is; ``live`` without git."""
    for folder in (root, *root.parents):
        head = _head(folder / ".git")
        if head is None:
            continue
        if head.startswith("ref:"):
            return head.removeprefix("ref:").strip().removeprefix("refs/heads/") or LIVE
        return head[:SHORT_COMMIT] if _COMMIT.fullmatch(head) else LIVE
    return LIVE


def check_ref(root: Path, asked: str | None) -> str:
    """The ref that is searched when ``asked`` is asked for. Raises `Refusal` for one that is not the folder's."""
    current = current_ref(root)
    if asked is None or asked in (LIVE, current):
        return current
    raise Refusal(
        "ref_not_indexed",
        f"The ref {asked!r} is not indexed; the folder on disk is {current!r}. Leave `ref` out to search it.",
        {"ref": asked, "available": [current]},
    )


def _head(git: Path) -> str | None:
    text = _short_text(git / "HEAD")
    if text is not None:
        return text
    pointer = _short_text(git)  # a linked work tree or a submodule: a file that names git's folder
    if pointer is None or not pointer.startswith("gitdir:"):
        return None
    return _short_text(git.parent / pointer.removeprefix("gitdir:").strip() / "HEAD")


def _short_text(path: Path) -> str | None:
    try:
        if not path.is_file():
            return None
        with path.open("rb") as file:
            return os.fsdecode(file.read(_HEAD_BYTES)).strip()
    except OSError:
        return None
