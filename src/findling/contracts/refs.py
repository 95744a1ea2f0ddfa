"""Which version of the files a call is about, as its answer names it."""

from __future__ import annotations

from findling.config.roots import LIVE as LIVE
from findling.config.roots import SHORT_COMMIT as SHORT_COMMIT
from findling.config.roots import checked_out
from findling.contracts.root_names import NamedRoots, Root


def current_ref(root: Root) -> str:
    """The checked-out branch's name; a short commit when none is; ``live`` without git, or where roots differ."""
    if isinstance(root, NamedRoots):
        refs = {checked_out(folder) for folder in root.folders.values()}
        return refs.pop() if len(refs) == 1 else LIVE
    return checked_out(root)


def check_ref(root: Root, asked: str | None) -> str:
    """What an answer calls the ref that was asked for: the folder's own name for what is checked out.

    That there is one, `Workspace.at` has made sure of.
    """
    current = current_ref(root)
    return current if asked is None or asked == LIVE else asked
