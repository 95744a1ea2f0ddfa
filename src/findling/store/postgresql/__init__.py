"""An index in PostgreSQL, for many machines: the truth of a team, which also proposes."""

from __future__ import annotations

from typing import TYPE_CHECKING

from findling.model.front_door import front_door

if TYPE_CHECKING:
    from findling.store.postgresql.beside import bring_up, said_of
    from findling.store.postgresql.database import Database
    from findling.store.postgresql.reader import PostgresIndex, View
    from findling.store.postgresql.rights import Rights, hashed
    from findling.store.postgresql.team import Lease, Source, Team, Totals, delete_views, finish, named
    from findling.store.postgresql.writer import ViewWriter
else:
    __getattr__ = front_door(__name__)
