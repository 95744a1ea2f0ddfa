"""The Python API and its parts: ``engine`` is what callers see, each other module answers one question for it.

``store`` holds what is open, ``configuration`` what is wanted, ``semantics`` the embedder; ``freshness`` decides when
to index, ``runs`` does it; ``answers`` asks the search, ``scope`` says which files a question is about, ``shown`` reads
them for the answer, ``state`` tells what is indexed.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from findling.model.front_door import front_door

if TYPE_CHECKING:
    from findling.engine import freshness, indexes, state
    from findling.engine.configuration import Recipe
    from findling.engine.engine import GREP_LINES, Engine
    from findling.engine.engines import Engines, collection_of, of_each
    from findling.engine.index_jobs import IndexJobs
    from findling.engine.refs import MAX_REF_CHARS, find_ref, ref_names
    from findling.engine.repositories import Repositories, repositories_of, status_of, without_known
    from findling.engine.scope import NOTHING_CHECKED_OUT
    from findling.engine.semantics import open_chosen
    from findling.engine.watching import Watch, Watcher
else:
    __getattr__ = front_door(__name__)
