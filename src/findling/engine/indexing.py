"""What a run takes, loaded when there is something to index or embed, or when a job is asked for."""

from __future__ import annotations

from typing import TYPE_CHECKING

from findling.model.front_door import front_door

if TYPE_CHECKING:
    from findling.engine import embedding_pass, first_answers, index_jobs, indexer
else:
    __getattr__ = front_door(
        __name__,
        {
            "embedding_pass": "",
            "first_answers": "",
            "index_jobs": "",
            "indexer": "",
        },
    )

__all__ = ["embedding_pass", "first_answers", "index_jobs", "indexer"]
