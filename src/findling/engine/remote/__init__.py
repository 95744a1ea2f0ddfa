"""A store that many machines share: filling a view of it from a folder, and asking it.

The clients of its servers are extras, and loaded when one of them is asked for.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from findling.model.front_door import front_door

if TYPE_CHECKING:
    from findling.engine.remote import filling, texts
    from findling.store.milvus import Milvus
    from findling.store.postgresql import (
        Database,
        PostgresIndex,
        Rights,
        Source,
        Team,
        View,
        ViewWriter,
        bring_up,
        delete_views,
        finish,
        hashed,
        named,
        said_of,
    )
else:
    __getattr__ = front_door(__name__)
