"""Who may search which collections of a store: users, groups, what these are allowed or denied, and tokens.

Changes hold from the next question on: the database decides, by row security, in each transaction. Only the owner of
the tables can change anything here.
"""

from __future__ import annotations

import hashlib
import re
import secrets
from typing import TYPE_CHECKING, Any, Final

from findling.model import errors

if TYPE_CHECKING:
    from findling.store.postgresql.database import Database

EVERY: Final = "*"
"""Stands for all collections, in place of a name."""

_NAME = re.compile(r"[\w.@+-]{1,200}")

_SEEN: Final = (
    "views contents entries skipped postings path_postings definitions frequencies term_counts vectors bits embedded "
    "models migrations"
)
"""Tables that a role that serves reads; row security says which rows."""


class Rights:
    """The users and groups of one store. For any threads."""

    def __init__(self, database: Database) -> None:
        self.database = database

    def _rows(self, sql: str, *values: Any) -> list[tuple[Any, ...]]:
        return self.database.rows(sql, *values)

    # --- users and groups -----------------------------------------------------------------------------------------

    def add_user(self, name: str) -> None:
        _check(name)
        self._rows("INSERT INTO persons (name) VALUES (%s) ON CONFLICT DO NOTHING", name)

    def remove_user(self, name: str) -> None:
        """Delete a user with all memberships and tokens. Raises `NotFound`."""
        self._gone("DELETE FROM persons WHERE name = %s RETURNING 1", f"There is no user {name!r}.", name)

    def add_to_group(self, group: str, users: list[str]) -> None:
        """Make a group where there is none, and put users into it. Raises `NotFound` for one that there is not."""
        _check(group)
        known = [row[0] for row in self._rows("SELECT name FROM persons WHERE name = ANY(%s)", users)]
        for name in users:
            if name not in known:
                raise errors.NotFound(f"There is no user {name!r}.", remedy=f"Run 'findling team user add {name}'.")
        self._rows("INSERT INTO teams (name) VALUES (%s) ON CONFLICT DO NOTHING", group)
        self._rows(
            "INSERT INTO members (person, team) SELECT unnest(%s::text[]), %s ON CONFLICT DO NOTHING", users, group
        )

    def remove_from_group(self, group: str, users: list[str]) -> None:
        """Take users out of a group; without ``users`` forget the group with what it is allowed. Raises `NotFound`."""
        if not users:
            self._gone("DELETE FROM teams WHERE name = %s RETURNING 1", f"There is no group {group!r}.", group)
            return
        self._gone(
            "DELETE FROM members WHERE team = %s AND person = ANY(%s) RETURNING 1",
            f"None of them is in the group {group!r}.",
            group,
            users,
        )

    def judge(self, group: str, collection: str, *, allowed: bool) -> bool:
        """Allow a group a collection, or deny it; ``*`` stands for every one. False where no collection of that name is
        published or kept up to date: the right holds once there is one. Raises `NotFound` without the group."""
        self._gone(
            "INSERT INTO rights (team, collection, allowed) SELECT name, %s, %s FROM teams WHERE name = %s "
            "ON CONFLICT (team, collection) DO UPDATE SET allowed = excluded.allowed RETURNING 1",
            f"There is no group {group!r}.",
            collection,
            allowed,
            group,
        )
        known = (
            "SELECT 1 FROM views WHERE owner = '' AND collection = %s UNION SELECT 1 FROM sources WHERE collection = %s"
        )
        return collection == EVERY or bool(self._rows(known, collection, collection))

    def forget(self, group: str, collection: str) -> None:
        """Take back what `judge` allowed or denied. Raises `NotFound` if it said nothing."""
        self._gone(
            "DELETE FROM rights WHERE team = %s AND collection = %s RETURNING 1",
            f"The group {group!r} is neither allowed nor denied {collection!r}.",
            group,
            collection,
        )

    def listed(self) -> tuple[list[tuple[str, list[str], int]], list[tuple[str, list[tuple[str, bool]]]]]:
        """(user, groups, tokens) of each user, and (group, what it is allowed or denied) of each group."""
        users = self._rows(
            "SELECT p.name, array(SELECT team FROM members m WHERE m.person = p.name ORDER BY 1), "
            "(SELECT count(*) FROM tokens t WHERE t.person = p.name) FROM persons p ORDER BY 1"
        )
        rights = self._rows("SELECT team, collection, allowed FROM rights ORDER BY 1, 2")
        groups = [row[0] for row in self._rows("SELECT name FROM teams ORDER BY 1")]
        return (
            [(row[0], list(row[1]), int(row[2])) for row in users],
            [(group, [(row[1], bool(row[2])) for row in rights if row[0] == group]) for group in groups],
        )

    def _gone(self, sql: str, otherwise: str, *values: Any) -> None:
        if not self._rows(sql, *values):
            raise errors.NotFound(otherwise, remedy="See 'findling team user list'.")

    # --- tokens ---------------------------------------------------------------------------------------------------

    def new_token(self, user: str) -> str:
        """A new token with which a user logs in at a server. Only its hash is kept. Raises `NotFound` without such a
        user."""
        token = secrets.token_urlsafe(32)
        self._gone(
            "INSERT INTO tokens (hash, person) SELECT %s, name FROM persons WHERE name = %s RETURNING 1",
            f"There is no user {user!r}.",
            hashed(token),
            user,
        )
        return token

    def revoke(self, user: str) -> None:
        """Forget all tokens of a user. Raises `NotFound` where there is none."""
        self._gone("DELETE FROM tokens WHERE person = %s RETURNING 1", f"The user {user!r} has no token.", user)

    # --- the role that serves -------------------------------------------------------------------------------------

    def let_serve(self, role: str) -> None:
        """Let a role of the database read for users, and nothing else. Raises `InvalidInput` for one that would see
        everything, and `NotFound`."""
        rows = self._rows(
            "SELECT rolsuper OR rolbypassrls OR pg_has_role(rolname, nspowner, 'MEMBER'), quote_ident(rolname) "
            "FROM pg_roles, pg_namespace WHERE rolname = %s AND nspname = 'findling'",
            role,
        )
        if not rows:
            raise errors.NotFound(f"The database has no role {role!r}.", remedy="Make it with 'createuser'.")
        if rows[0][0]:
            raise errors.InvalidInput(
                f"The role {role!r} sees everything, whatever users are allowed.",
                remedy="Make one that is no superuser, has no BYPASSRLS and is no member of the owner's.",
            )
        self._rows(f"GRANT USAGE ON SCHEMA findling TO {rows[0][1]}")
        self._rows(f"GRANT SELECT ON {', '.join(_SEEN.split())} TO {rows[0][1]}")


def hashed(token: str) -> bytes:
    """The hash of a token, as the store keeps it; a token is long and random, so one round is enough."""
    return hashlib.sha256(token.encode("utf-8", "surrogatepass")).digest()


def _check(name: str) -> None:
    if not _NAME.fullmatch(name):
        raise errors.InvalidInput(
            f"{name!r} cannot be the name of a user or group.", remedy="Use letters, digits and . _ @ + -."
        )
