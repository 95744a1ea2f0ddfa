"""One PostgreSQL database as a store: its address, its pooled connections, its schema's version, and its failures as
findling's own errors. The only module that knows how to connect.
"""

from __future__ import annotations

import logging
import re
import threading
import time
from collections.abc import Callable, Iterator, Mapping, Sequence
from concurrent.futures import ThreadPoolExecutor
from contextlib import contextmanager, suppress
from importlib import resources
from typing import TYPE_CHECKING, Any, Final, NamedTuple
from urllib.parse import quote

from findling.model import errors
from findling.model.behind import do_behind
from findling.outbound import metrics

# --- statements ---------------------------------------------------------------------------------------------------
# What is asked of the database: a statement, its values, and who takes its rows.

Rows = list[tuple[Any, ...]]


class Statement(NamedTuple):
    sql: str
    values: Sequence[Any]
    take: Callable[[Rows], None]


try:
    import psycopg
    from psycopg import conninfo
    from psycopg_pool import ConnectionPool, PoolTimeout
except ImportError as _missing:
    from findling.model.installing import install_command

    raise errors.ConfigError(
        "A store in PostgreSQL needs packages that are not installed.",
        remedy=f"Run: {install_command('findling[postgresql]')}",
    ) from _missing

if TYPE_CHECKING:
    Connection = psycopg.Connection[tuple[Any, ...]]
    Cursor = psycopg.Cursor[tuple[Any, ...]]

SCHEMA: Final = "findling"

CONNECT_S: Final = 10
"""How long a connection may take to be made; a deadline, as a lost host answers nothing."""

AGAIN_S: Final = 5.0
"""How long nobody waits for a store again after somebody has waited in vain."""

AT_ONCE_S: Final = 1.0
"""A failure within this time is not remembered: to ask again costs little."""

STATEMENT_MS: Final = 30_000
"""How long one statement of a question may take before the database ends it."""

CONNECTIONS: Final = 4
"""The most that one `Database` keeps, or all those together that ask for users; an idle one keeps none."""

_IDLE_S: Final = 60.0

_LOCK_MS: Final = 2_000
"""How long a migration waits for a table: questions that come meanwhile wait behind it."""

_LOCK_TRIES: Final = 60
_LOCK_PAUSE_S: Final = 5.0

logging.getLogger("psycopg").setLevel(logging.CRITICAL)  # what fails is raised, in our words


_PASSWORDS: Final = ("password", "sslpassword")


def shown(options: Mapping[str, Any]) -> str:
    """A store's address as messages show it: its user, hosts, ports and database, and nothing else that it says."""
    hosts = str(options.get("host", "")).split(",")
    ports = str(options.get("port", "")).split(",")
    ports = ports * len(hosts) if len(ports) == 1 else ports
    places = [
        (f"[{host}]" if ":" in host else quote(host, safe="")) + (f":{port}" if port else "")
        for host, port in zip(hosts, ports, strict=False)
    ]
    user = f"{quote(options['user'], safe='')}@" if options.get("user") else ""
    return f"postgresql://{user}{','.join(places)}/{quote(options.get('dbname', ''), safe='')}"


class _Connections:
    """A pool of connections, and the thread that gives them back behind their users."""

    def __init__(self, info: str) -> None:
        self.pool: ConnectionPool[Connection] = ConnectionPool(
            info,
            min_size=0,
            max_size=CONNECTIONS,
            max_idle=_IDLE_S,
            timeout=CONNECT_S,
            kwargs={"autocommit": True},
            open=True,
        )
        self.behind = ThreadPoolExecutor(1, "findling-store")
        self.shared_by = 1

    def close(self) -> None:
        self.behind.shutdown(wait=True)
        self.pool.close()


_of_users: dict[str, _Connections] = {}
"""By address: those that a server has for all of its users. Each question of a user takes one at a time; a question of
several folders takes one for each, so those have their own."""

_of_users_lock = threading.Lock()


class _Outage(NamedTuple):
    """``until``: when (monotonic) the next one may try to connect. ``reason``: why it failed."""

    until: float
    reason: psycopg.Error


_outages: dict[str, _Outage] = {}
"""By address: the stores that could not be reached. For the whole process, so that threads and roots share them."""

_outages_lock = threading.Lock()


class Database:
    """Connections to one store. For any threads. Connects when it is first asked; raises the typed errors only.

    ``user``: whom the rows are read for, '' for whoever may see all that is not private.
    """

    def __init__(self, url: str, *, user: str = "") -> None:
        try:
            given = conninfo.conninfo_to_dict(url)
            self._info = conninfo.make_conninfo(
                url,
                connect_timeout=CONNECT_S,
                application_name="findling",
                options=f"-c search_path={SCHEMA} -c statement_timeout={STATEMENT_MS} -c jit=off",
            )
        except psycopg.Error:  # which may repeat a password
            raise errors.ConfigError(
                "The store's address cannot be read, or has an option that PostgreSQL does not know.",
                remedy="Write postgresql://USER@HOST:PORT/DATABASE.",
            ) from None
        if any(given.get(name) for name in _PASSWORDS):
            raise errors.ConfigError(
                "The store's address holds a password, which others could read.",
                remedy="Set it in PGPASSFILE (~/.pgpass) or PGPASSWORD.",
            )
        self.url = "this server" if user else shown(given)  # where the database is concerns no user
        self.user = user
        self._connections: _Connections | None = None
        self._opening = threading.Lock()

    # --- connections ------------------------------------------------------------------------------------------

    def connect(self) -> Connection:
        """A connection of its own, for a writer; the caller closes it."""
        with self._failures(), self._connecting():
            return psycopg.connect(self._info, autocommit=True)

    def give_up(self, connection: Connection) -> None:
        """Close a writer's connection; what it did not commit is as if it had never been."""
        with suppress(psycopg.Error):  # of a lost connection; whoever lost it has been told
            connection.rollback()  # a server may notice later that a connection was closed
        connection.close()

    def begin(self, statements: Sequence[Statement], views: Sequence[int] = ()) -> Connection:
        """Ask statements in one round trip, as the first ones of a read-only transaction; its connection, to be given
        back with `end` or `drop`. ``views``: those that the transaction is about; of others a user sees nothing. A
        connection that was lost since it was used last is no failure."""
        with self._failures():
            for left in range(CONNECTIONS, -1, -1):
                pool = self._open_connections().pool
                with self._connecting():
                    connection = pool.getconn()
                try:
                    self._send(connection, statements, views)
                except psycopg.OperationalError:
                    lost = connection.closed
                    self.drop(connection)
                    if not (lost and left):
                        raise
                except BaseException:
                    self.drop(connection)
                    raise
                else:
                    return connection
        raise AssertionError("the last attempt raises or returns")

    def ask(self, connection: Connection, statements: Sequence[Statement]) -> None:
        """Ask further statements in one round trip."""
        with self._failures():
            self._send(connection, statements, None)

    def _send(self, connection: Connection, statements: Sequence[Statement], begins: Sequence[int] | None) -> None:
        cursors = []
        with metrics.timed("store"), connection.pipeline():
            if begins is not None:
                connection.execute("BEGIN ISOLATION LEVEL REPEATABLE READ, READ ONLY")
                scope = f"{{{','.join(map(str, begins))}}}"
                connection.execute(
                    "SELECT set_config('findling.user', %s, true), set_config('findling.scope', %s, true)",
                    (self.user, scope),
                )
            for statement in statements:
                cursor = connection.cursor(binary=True)
                cursor.execute(statement.sql.encode(), statement.values or None)
                cursors.append(cursor)
        for cursor, statement in zip(cursors, statements, strict=True):
            statement.take(cursor.fetchall())

    def _open_connections(self) -> _Connections:
        with self._opening:
            if self._connections is None:
                self._connections = self._shared() or self._checked()
            return self._connections

    def _shared(self) -> _Connections | None:
        """What other users of the same address have opened."""
        with _of_users_lock:
            found = _of_users.get(self._info) if self.user else None
            if found is not None:
                found.shared_by += 1
            return found

    def _checked(self) -> _Connections:
        """New connections to a store whose schema this findling knows."""
        self.check_version()
        if not self.user:
            return _Connections(self._info)
        with _of_users_lock:
            if (found := _of_users.get(self._info)) is None:
                found = _of_users[self._info] = _Connections(self._info)
            else:  # another user was as quick
                found.shared_by += 1
            return found

    def end(self, connection: Connection) -> None:
        """End a connection's transaction and give it back, behind the caller, who has all that he asked for."""
        connections = self._connections
        assert connections is not None

        def end() -> None:
            try:
                connection.execute("COMMIT", prepare=False)  # prepared it would take two trips instead of one
            except psycopg.Error:
                connection.close()  # the pool makes another one
            finally:
                connections.pool.putconn(connection)

        do_behind(connections.behind, end)

    def drop(self, connection: Connection) -> None:
        """Give back a connection that failed."""
        assert self._connections is not None
        connection.close()
        self._connections.pool.putconn(connection)

    def close(self) -> None:
        with self._opening:
            connections, self._connections = self._connections, None
        if connections is None:
            return
        with _of_users_lock:
            connections.shared_by -= 1
            if connections.shared_by:
                return
            if self.user:
                del _of_users[self._info]
        connections.close()

    @contextmanager
    def failures(self) -> Iterator[None]:
        """A block that raises findling's errors in place of the database's."""
        with self._failures():
            yield

    @contextmanager
    def _failures(self) -> Iterator[None]:
        try:
            yield
        except psycopg.Error as error:
            raise self._said(error) from error

    @contextmanager
    def _connecting(self) -> Iterator[None]:
        """A block that gets a connection. Once one has waited for it in vain, the others fail at once for `AGAIN_S`;
        then one of them tries, and the others still fail at once until it has a connection."""
        began = time.monotonic()
        with _outages_lock:
            if (outage := _outages.get(self._info)) is not None:
                if began < outage.until:
                    raise outage.reason.with_traceback(None)
                _outages[self._info] = _Outage(began + 2 * CONNECT_S, outage.reason)
        try:
            try:
                yield
            except PoolTimeout as error:
                # The pool keeps the reason to itself: one attempt of ours is told it.
                psycopg.connect(self._info).close()
                raise errors.IndexBusy(
                    f"All {CONNECTIONS} connections to {self.url} are in use.", remedy="Ask again in a moment."
                ) from error
        except psycopg.Error as reason:
            ended = time.monotonic()
            if outage is not None or ended - began >= AT_ONCE_S:
                _outages[self._info] = _Outage(ended + AGAIN_S, reason)
            raise
        except BaseException:
            _outages.pop(self._info, None)
            raise
        _outages.pop(self._info, None)

    def _said(self, error: psycopg.Error) -> errors.FindlingError:
        """What an error of the driver means to a user, and what helps."""
        text = _first_line(error)
        for kind, pattern, sentence, remedy in _MEANINGS:
            if isinstance(error, kind) and pattern.search(str(error)):
                said = sentence.format(url=self.url)
                return errors.StoreUnavailable(said if self.user else f"{said} ({text})", remedy=remedy)
        if self.user:
            return errors.StoreUnavailable(f"The store at {self.url} failed.", remedy=_ASK_ADMIN)
        return errors.StoreUnavailable(f"The store at {self.url} failed: {text}.", remedy="Its log may say why.")

    def collections(self) -> list[str]:
        """The names of the published collections that the user may see."""
        names: list[str] = []
        sql = "SELECT * FROM collections() ORDER BY 1"
        self.end(self.begin([Statement(sql, (), lambda rows: names.extend(row[0] for row in rows))]))
        return names

    def sees_everything(self) -> bool:
        """Whether the role that this connects as sees what no user is allowed."""
        found: list[bool] = []
        sql = "SELECT trusted() OR rolsuper OR rolbypassrls FROM pg_roles WHERE rolname = current_user"
        self.end(self.begin([Statement(sql, (), lambda rows: found.extend(row[0] for row in rows))]))
        return found != [False]

    def user_of(self, token: bytes) -> str | None:
        """Whose a token is, by its hash; None for nobody's."""
        found: list[str | None] = []
        sql = "SELECT person_of(%s)"
        self.end(self.begin([Statement(sql, (token,), lambda rows: found.extend(row[0] for row in rows))]))
        return found[0]

    def queue(self) -> dict[str, tuple[int, float]]:
        """How many jobs are in each state, and how long the oldest of them has waited, in seconds."""
        found: dict[str, tuple[int, float]] = {}

        def take(rows: Rows) -> None:
            found.update({state: (jobs, oldest) for state, jobs, oldest in rows})

        self.end(self.begin([Statement("SELECT * FROM queue()", (), take)]))
        return found

    def rows(self, sql: str, *values: Any) -> list[tuple[Any, ...]]:
        """The rows of one statement that may write, which is a transaction of its own."""
        with self._failures(), self.connect() as connection:
            cursor = connection.execute(sql.encode(), values or None)
            return cursor.fetchall() if cursor.description else []

    # --- the schema's version -----------------------------------------------------------------------------------

    def check_version(self) -> None:
        """Raises `IndexNotReady` where there is no schema, and the errors of one that this findling does not know."""
        with self._failures(), self.connect() as connection:
            version = _version(connection)
        newest = len(migrations())
        if version == 0:
            raise errors.IndexNotReady(
                f"There is no index of findling in {self.url}.",
                remedy=f"Run 'findling index --store {self.url} PATH'; it makes one.",
            )
        if version > newest:
            raise errors.IndexNewer(
                f"The store at {self.url} has version {version} of the schema, and this findling knows {newest}.",
                remedy="Update findling.",
            )
        if version < newest:
            raise errors.IndexUnavailable(
                f"The store at {self.url} has version {version} of the schema; this findling needs {newest}.",
                remedy=f"Run 'findling index --store {self.url} PATH' as the owner of the database; it migrates.",
            )

    def migrate(self) -> int:
        """Bring the schema to the newest version, one migration a transaction; the version. Whoever connects, what is
        made belongs to the schema's owner. Raises `IndexBusy` where others keep a table for minutes."""
        with self._failures(), self.connect() as connection:
            connection.execute("SET statement_timeout = 0")
            connection.execute("SELECT pg_advisory_lock(hashtext('findling migrations'))")
            version = _version(connection)
            steps = migrations()
            if version > len(steps):
                raise errors.IndexNewer(
                    f"The store at {self.url} has version {version} of the schema, and this findling knows "
                    f"{len(steps)}.",
                    remedy="Update findling.",
                )
            if version == len(steps):
                return version
            owner = connection.execute(
                "SELECT quote_ident(pg_get_userbyid(nspowner)) FROM pg_namespace WHERE nspname = %s", (SCHEMA,)
            ).fetchone()
            if owner is None:
                connection.execute(f"CREATE SCHEMA {SCHEMA}".encode())
            else:
                connection.execute(f"SET ROLE {owner[0]}".encode())
            connection.execute(f"SET lock_timeout = {_LOCK_MS}".encode())
            for number, sql in enumerate(steps[version:], version + 1):
                self._migrate(connection, number, sql)
            return len(steps)

    def _migrate(self, connection: Connection, number: int, sql: bytes) -> None:
        for _ in range(_LOCK_TRIES):
            try:
                with connection.transaction():
                    connection.execute("CREATE TABLE IF NOT EXISTS migrations (number int PRIMARY KEY)")
                    connection.execute(sql)
                    connection.execute("INSERT INTO migrations VALUES (%s)", (number,))
                    return
            except psycopg.errors.LockNotAvailable:  # a writer or a long question has a table
                time.sleep(_LOCK_PAUSE_S)
        raise errors.IndexBusy(
            f"Others use {self.url} without a pause, so its schema cannot be migrated.",
            remedy="Run this again once workers and 'findling index' have ended.",
        )


def migrations() -> list[bytes]:
    """The statements of each migration, in order."""
    folder = resources.files(__package__) / "migrations"
    return [each.read_bytes() for each in sorted(folder.iterdir(), key=lambda each: each.name)]


def _version(connection: Connection) -> int:
    """The number of the last migration; 0 for a database without an index."""
    found = connection.execute("SELECT to_regclass(%s) IS NOT NULL", (f"{SCHEMA}.migrations",)).fetchone()
    if found is None or not found[0]:
        return 0
    newest = connection.execute("SELECT max(number) FROM migrations").fetchone()
    return int(newest[0] or 0) if newest else 0


def _first_line(error: BaseException) -> str:
    return str(error).strip().split("\n", 1)[0].rstrip(".")


_ASK_ADMIN = "Ask whoever runs the database."

_MEANINGS: Final[tuple[tuple[type[psycopg.Error], re.Pattern[str], str, str], ...]] = (
    (
        psycopg.Error,
        re.compile("password authentication failed|no password supplied"),
        "The store at {url} refuses the password.",
        "Set it in PGPASSFILE (~/.pgpass) or PGPASSWORD.",
    ),
    (
        psycopg.Error,
        re.compile("SSL|certificate|TLS"),
        "The store at {url} and this machine do not agree on TLS.",
        "Set sslmode and sslrootcert in the address, as in '?sslmode=verify-full&sslrootcert=FILE'.",
    ),
    (
        psycopg.Error,
        re.compile('database "[^"]*" does not exist'),
        "There is no such database at {url}.",
        "Make it with 'createdb', or correct the address.",
    ),
    (
        psycopg.Error,
        re.compile('role "[^"]*" does not exist|no pg_hba.conf entry'),
        "The store at {url} does not let this user in.",
        _ASK_ADMIN,
    ),
    (
        psycopg.errors.InsufficientPrivilege,
        re.compile(""),
        "The store at {url} does not allow this.",
        "Use the address of the owner of the tables; a role that serves users needs 'findling team role NAME' first.",
    ),
    (
        psycopg.errors.ReadOnlySqlTransaction,
        re.compile(""),
        "The store at {url} is read-only; nothing was changed.",
        "Use the address of the primary server.",
    ),
    (
        psycopg.errors.QueryCanceled,
        re.compile(""),
        "The store at {url} took too long.",
        "Ask for less, or look what else it does.",
    ),
    (
        psycopg.errors.DiskFull,
        re.compile(""),
        "The store at {url} has no room left; nothing was changed.",
        _ASK_ADMIN,
    ),
    (
        psycopg.OperationalError,
        re.compile(""),
        "The store at {url} cannot be reached.",
        "Check the address, and whether the database runs.",
    ),
)
"""What the driver's errors mean, the first that fits."""
