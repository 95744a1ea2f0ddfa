"""What a team keeps in a store beside indexes: the collections that workers bring up to date, and whose turn it is.

A row of ``sources`` is a collection, or a ref of it, and its job at once. A worker *leases* it: the lease ends by
itself, so a worker that dies gives it back. Each method is one transaction.
"""

from __future__ import annotations

from datetime import datetime, timedelta
from typing import TYPE_CHECKING, Any, Final, NamedTuple

from findling.config.roots import LIVE
from findling.model import errors

if TYPE_CHECKING:
    from collections.abc import Sequence

    from findling.store.postgresql.database import Connection, Database

LEASE_S: Final = 60
"""How long a worker that tells nothing keeps its job."""

ATTEMPTS: Final = 3
"""A job that failed so often in a row is parked: it waits until somebody adds its collection again."""

RETRY_S: Final = 30
"""After how long a job that failed is tried again, times the number of failures."""

_PROBLEM_CHARS: Final = 2_000


class Source(NamedTuple):
    """A collection that workers keep up to date, and the state of its job. Times have a time zone."""

    collection: str
    ref: str
    """Under which branch, tag or commit it is found; '' for none."""
    source: str
    branch: str
    every: timedelta | None
    added_at: datetime
    due_at: datetime | None
    worker: str
    taken_at: datetime | None
    attempts: int
    problem: str
    parked_at: datetime | None
    done_at: datetime | None
    done_count: int
    commit: str
    state: str
    """``running``, ``parked``, ``queued`` (a worker may take it), ``waiting`` (for its time) or ``done``."""
    age_s: float
    """For how long it has been in this state."""


class Lease(NamedTuple):
    """A job that a worker has taken. ``attempt`` counts from 1."""

    collection: str
    ref: str
    source: str
    branch: str
    worker: str
    attempt: int
    commit: str
    """What the collection was made of before; '' for nothing."""
    how: str
    """How that was read, as `finish` was told; '' where somebody else has published or deleted the collection since."""

    @property
    def name(self) -> str:
        """The collection with its ref, for people."""
        return named(self.collection, self.ref)


def named(collection: str, ref: str) -> str:
    """A collection with its ref, for people."""
    return f"{collection} at {ref}" if ref else collection


class Totals(NamedTuple):
    """How many jobs are in each state, and how long the oldest queued one has waited."""

    queued: int = 0
    running: int = 0
    waiting: int = 0
    done: int = 0
    parked: int = 0
    oldest_s: float = 0.0


_STATE: Final = (
    "CASE WHEN parked_at IS NOT NULL THEN 'parked' WHEN lease_until >= now() THEN 'running' "
    "WHEN due_at <= now() THEN 'queued' WHEN due_at IS NOT NULL THEN 'waiting' ELSE 'done' END"
)
_AGE: Final = (
    "extract(epoch FROM now() - CASE WHEN parked_at IS NOT NULL THEN parked_at WHEN lease_until >= now() THEN taken_at "
    "WHEN due_at <= now() THEN due_at ELSE coalesce(done_at, added_at) END)::float8"
)
_ROW: Final = (
    "collection, ref, source, branch, every, added_at, due_at, CASE WHEN lease_until >= now() THEN worker ELSE '' END, "
    f"taken_at, attempts, problem, parked_at, done_at, done_count, commit, {_STATE}, {_AGE}"
)


_PUBLISHED: Final = (
    "coalesce((SELECT string_agg(v.view_id || ':' || v.generation, ' ' ORDER BY v.view_id) FROM views v "
    "WHERE v.owner = '' AND v.collection = sources.collection AND "
    f"v.ref = coalesce(nullif(sources.ref, ''), '{LIVE}')), '')"
)
"""Differs once anything else is published under the name."""


class Team:
    """The collections and jobs of one store. For any threads."""

    def __init__(self, database: Database) -> None:
        self.database = database

    def _rows(self, sql: str, *values: Any) -> list[tuple[Any, ...]]:
        return self.database.rows(sql, *values)

    # --- what is kept up to date ----------------------------------------------------------------------------------

    def add(self, rows: Sequence[tuple[str, str, str]], every_s: float | None, ref: str = "") -> None:
        """Let workers keep collections up to date, or a ``ref`` of them: (name, source, branch) of each, all of them or
        none. What is known already is queued anew, a parked job too. Raises `InvalidInput` for a name that has another
        source."""
        every = None if every_s is None else timedelta(seconds=every_s)
        with self.database.failures(), self.database.connect() as connection, connection.transaction():
            for name, source, branch in sorted(rows):  # in one order: two lists must not wait for each other
                found = connection.execute(
                    "INSERT INTO sources (collection, ref, source, branch, every) SELECT %s, %s, %s, %s, %s "
                    "WHERE NOT EXISTS (SELECT FROM sources WHERE collection = %s AND source <> %s) "
                    "ON CONFLICT (collection, ref) DO UPDATE SET branch = excluded.branch, every = excluded.every, "
                    "due_at = now(), parked_at = NULL, attempts = 0 RETURNING collection",
                    (name, ref, source, branch, every, name, source),
                ).fetchone()
                if found is None:
                    raise errors.InvalidInput(
                        f"The collection {name!r} has another source.",
                        remedy="Choose another name with --name, or remove the collection first.",
                    )

    def sources(self, names: Sequence[str] = ()) -> list[Source]:
        """The collections in the order of their names. Raises `NotFound` for a name that is none."""
        only = "WHERE collection = ANY(%s) " if names else ""
        found = [
            Source(*row)
            for row in self._rows(f"SELECT {_ROW} FROM sources {only}ORDER BY 1, 2", *([list(names)] if names else ()))
        ]
        for name in names:
            if name not in [each.collection for each in found]:
                raise errors.NotFound(f"No worker keeps a collection {name!r}.", remedy="See 'findling team list'.")
        return found

    def totals(self) -> Totals:
        found = self.database.queue()
        oldest = found.get("queued", (0, 0.0))[1]
        return Totals(**{state: jobs for state, (jobs, _) in found.items()}, oldest_s=oldest)

    def remove(self, name: str, ref: str = "") -> None:
        """Forget a collection with whom it was allowed, and delete all that is published under it; with a ``ref`` that
        alone. Whom it was denied stays: another one of that name must not show. Raises `NotFound`."""
        if not ref:
            self._rows("DELETE FROM rights WHERE collection = %s AND allowed", name)
        known = self._rows("DELETE FROM sources WHERE collection = %s AND %s IN (ref, '') RETURNING 1", name, ref)
        # by now a worker that still fills it cannot publish, and is told so
        if not delete_views(self.database, "", name, ref) and not known:
            raise errors.NotFound(f"There is no collection {named(name, ref)}.", remedy="See 'findling team list'.")

    # --- whose turn it is -----------------------------------------------------------------------------------------

    def take(self, worker: str) -> Lease | None:
        """The job that has waited longest, now this worker's; None where nothing is to be done. ``worker`` is a name
        that no other process has."""
        self._rows(
            "UPDATE sources SET parked_at = now(), worker = '', lease_until = NULL, "
            "problem = 'The worker ' || worker || ' ended before it was done.' "
            "WHERE lease_until < now() AND attempts >= %s",
            ATTEMPTS,
        )
        rows = self._rows(
            "UPDATE sources SET worker = %s, taken_at = now(), lease_until = now() + %s, attempts = attempts + 1, "
            "problem = CASE WHEN worker = '' THEN problem ELSE 'The worker ' || worker || ' ended before it was done.' "
            "END WHERE (collection, ref) = (SELECT collection, ref FROM sources "
            "WHERE due_at <= now() AND parked_at IS NULL AND (lease_until IS NULL OR lease_until < now()) "
            "ORDER BY due_at, collection, ref FOR UPDATE SKIP LOCKED LIMIT 1) "
            "RETURNING collection, ref, source, branch, worker, attempts, commit, "
            f"CASE WHEN published = {_PUBLISHED} THEN how ELSE '' END",
            worker,
            timedelta(seconds=LEASE_S),
        )
        return Lease(*rows[0]) if rows else None

    def renew(self, lease: Lease) -> bool:
        """Keep a job; False where it is not this worker's any more."""
        sql = "UPDATE sources SET lease_until = now() + %s WHERE (collection, ref, worker) = (%s, %s, %s) RETURNING 1"
        return bool(self._rows(sql, timedelta(seconds=LEASE_S), lease.collection, lease.ref, lease.worker))

    def done(self, lease: Lease, commit: str) -> None:
        """Note that a job is done that had nothing to publish. Raises `Cancelled` as `finish`."""
        with self.database.failures(), self.database.connect() as connection, connection.transaction():
            finish(connection, lease, commit)

    def fail(self, lease: Lease, problem: str) -> None:
        """Give a job back that went wrong; it is tried again later, or parked."""
        self._rows(
            "UPDATE sources SET worker = '', lease_until = NULL, problem = %s, due_at = now() + attempts * %s, "
            "parked_at = CASE WHEN attempts >= %s THEN now() END WHERE (collection, ref, worker) = (%s, %s, %s)",
            problem.replace("\0", "")[:_PROBLEM_CHARS],
            timedelta(seconds=RETRY_S),
            ATTEMPTS,
            lease.collection,
            lease.ref,
            lease.worker,
        )

    def release(self, lease: Lease, *, wait: bool = False) -> None:
        """Give a job back untried; with ``wait`` nobody takes it at once."""
        self._rows(
            "UPDATE sources SET worker = '', lease_until = NULL, attempts = greatest(attempts - 1, 0), "
            "due_at = CASE WHEN %s THEN now() + %s ELSE due_at END WHERE (collection, ref, worker) = (%s, %s, %s)",
            wait,
            timedelta(seconds=RETRY_S),
            lease.collection,
            lease.ref,
            lease.worker,
        )


def finish(connection: Connection, lease: Lease, commit: str, how: str | None = None) -> None:
    """Note in the transaction that publishes a collection that its job is done. ``how``: in what way its files were
    read, None where nothing was published. Raises `Cancelled` where the job is not this worker's any more: then nothing
    may be published."""
    found = connection.execute(
        "UPDATE sources SET worker = '', lease_until = NULL, attempts = 0, problem = '', done_at = clock_timestamp(), "
        "done_count = done_count + 1, commit = %s, how = coalesce(%s, how), "
        f"published = CASE WHEN %s THEN {_PUBLISHED} ELSE published END, "
        "due_at = CASE WHEN due_at > taken_at THEN due_at ELSE clock_timestamp() + every END "  # added again meanwhile
        "WHERE (collection, ref, worker) = (%s, %s, %s) RETURNING 1",
        (commit, how, how is not None, lease.collection, lease.ref, lease.worker),
    ).fetchone()
    if found is None:
        raise errors.Cancelled(f"{lease.name} was removed, or given to another worker.")


_OF_VIEWS: Final = ("bits", "vectors", "path_postings", "postings", "definitions", "entries", "contents", "skipped")
"""Tables whose rows stand under a view, those first that refer to others."""


def delete_views(database: Database, owner: str, collection: str, ref: str = "") -> bool:
    """Delete what is published under a name, '' for whatever ``ref``; whether there was anything. A writer that fills
    it meanwhile is waited for."""
    with database.failures(), database.connect() as connection, connection.transaction():
        connection.execute("SET LOCAL statement_timeout = 0")
        rows = connection.execute(
            "SELECT view_id FROM views WHERE owner = %s AND collection = %s AND %s IN (ref, '') FOR UPDATE",
            (owner, collection, ref),
        ).fetchall()
        views = [row[0] for row in rows]
        for table in _OF_VIEWS if views else ():
            connection.execute(f"DELETE FROM {table} WHERE view_id = ANY(%s::bigint[])".encode(), (views,))
        connection.execute("DELETE FROM views WHERE view_id = ANY(%s::bigint[])", (views,))
        return bool(views)
