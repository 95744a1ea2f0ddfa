"""Fetching as jobs: what was asked for becomes a file, or a repository's files, in a collection of the library's own.

``running`` starts a job (``process`` is its process) and does it; ``fetch_requests`` and ``fetch_names`` say
what was asked for, ``fetch_file`` and ``fetch_repo`` (with ``repo_tree``, ``repo_bundle`` and ``repo_home``) get it,
``fetched`` is the collection that it goes into, ``parts`` what an interrupted one has left.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from findling.model.front_door import front_door

if TYPE_CHECKING:
    from findling.engine.library.fetching.fetch_requests import read_request
    from findling.engine.library.fetching.parts import sweep
    from findling.engine.library.fetching.running import run_here, start
else:
    __getattr__ = front_door(
        __name__,
        {
            "fetch_requests": "read_request",
            "parts": "sweep",
            "running": "run_here start",
        },
    )

__all__ = ["read_request", "run_here", "start", "sweep"]
