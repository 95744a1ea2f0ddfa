"""Milvus, which proposes for a store in PostgreSQL where that gets slow. It keeps nothing that cannot be made anew."""

from __future__ import annotations

from typing import TYPE_CHECKING

from findling.model.front_door import front_door

if TYPE_CHECKING:
    from findling.store.milvus.proposals import Milvus
else:
    __getattr__ = front_door(__name__)
