"""Fetching as jobs: what was asked for becomes a file, or a repository's files, in a collection of the library's own.

``running`` starts a job and does it; ``fetch_requests`` says what was asked for, ``fetch_file`` and ``fetch_repo``
(with ``repo_tree`` and ``repo_bundle``) get it.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from findling.model.front_door import front_door

if TYPE_CHECKING:
    from findling.engine.library.fetching.fetch_file import sweep
    from findling.engine.library.fetching.fetch_requests import read_request
    from findling.engine.library.fetching.running import run_here, start
else:
    __getattr__ = front_door(__name__)
