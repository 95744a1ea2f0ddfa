"""A store that many machines share: filling a view of it from a folder, and asking it."""

from __future__ import annotations

from typing import TYPE_CHECKING

from findling.model.front_door import front_door

if TYPE_CHECKING:
    from findling.engine.remote import filling, texts
    from findling.store.postgresql import Rights, Source, Team
else:
    __getattr__ = front_door(__name__)
