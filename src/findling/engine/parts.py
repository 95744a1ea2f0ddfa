"""The parts of the engine that only some questions need. Each is loaded when it is first asked for."""

from __future__ import annotations

from typing import TYPE_CHECKING

from findling.model.front_door import front_door

if TYPE_CHECKING:
    from findling.engine import (
        answers,
        documents,
        edges,
        embedding_pass,
        explain,
        first_answers,
        index_jobs,
        indexer,
        indexes,
        runs,
        searched,
        state,
        text_search,
    )
else:
    __getattr__ = front_door(__name__)
