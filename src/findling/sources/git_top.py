"""Where the work tree of a folder begins."""

from __future__ import annotations

import os


def find_git_top(root: str) -> str | None:
    """The nearest folder, from ``root`` (absolute) upwards, with a ``.git`` in it; None when there is none.

    Like git it does not look into the folders of GIT_CEILING_DIRECTORIES and above, unless one is the root.
    """
    listed = os.environ.get("GIT_CEILING_DIRECTORIES", "").split(os.pathsep)
    ceilings = {os.path.realpath(ceiling) for ceiling in listed if os.path.isabs(ceiling)}  # noqa: PTH117
    folder = root
    while True:
        if os.path.lexists(os.path.join(folder, ".git")):  # noqa: PTH118
            return folder
        above = os.path.dirname(folder)  # noqa: PTH120
        if above == folder or above in ceilings:
            return None
        folder = above
