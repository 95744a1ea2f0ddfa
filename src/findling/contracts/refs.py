"""Which version of the files a call is about, as its answer names it."""

from __future__ import annotations

from typing import TYPE_CHECKING

from findling.config.roots import LIVE as LIVE
from findling.config.roots import SHORT_COMMIT as SHORT_COMMIT
from findling.config.roots import checked_out

if TYPE_CHECKING:
    from findling.contracts.workspace import Workspace


def check_ref(workspace: Workspace, asked: str | None) -> str:
    """What an answer calls the ref that was asked for: for what is checked out the branch's name, a short commit when
    there is none; ``live`` without git, or where roots differ.

    That there is such a ref, `Workspace.at` has made sure of.
    """
    if asked is not None and asked != LIVE:
        return asked
    refs = {checked_out(root.engine.root) for root in workspace.roots}
    return refs.pop() if len(refs) == 1 else LIVE
