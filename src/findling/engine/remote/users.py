"""The users of a shared store as a server meets them: whose a token is, and what a server for users must be."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager

from findling.engine import remote
from findling.model import errors


@contextmanager
def open_team(url: str, *, migrate: bool) -> Iterator[remote.Team]:
    """The team's part of a store. ``migrate``: bring its schema up to date; else one that is not raises the store's
    errors."""
    database = remote.Database(url)
    try:
        if migrate:
            database.migrate()
        else:
            database.check_version()
        yield remote.Team(database)
    finally:
        database.close()


class Users:
    """Raises the store's errors, also that there is none, and `ConfigError` where the address is that of a role that
    would see everything: then no right would hold."""

    def __init__(self, url: str) -> None:
        self._database = remote.Database(url)
        self._hashed = remote.hashed
        if self._database.sees_everything():
            self._database.close()
            raise errors.ConfigError(
                f"The role of {self._database.url} sees every collection, whatever users are allowed.",
                remedy="Serve with the address of a role that 'findling team role NAME' has prepared.",
            )

    def of_token(self, token: str) -> str | None:
        """The user whose a token is; None for nobody's."""
        return self._database.user_of(self._hashed(token))

    def check(self) -> None:
        """Raises the store's errors where it does not answer."""
        self._database.queue()

    def gauges(self) -> dict[str, float]:
        """The jobs of the store's workers, by the names of metrics."""
        return gauges(self._database.queue())

    def close(self) -> None:
        self._database.close()


def gauges(queue: dict[str, tuple[int, float]]) -> dict[str, float]:
    """How many jobs are in each state, and how long the oldest queued one has waited, by the names of metrics."""
    found: dict[str, float] = {f'findling_jobs{{state="{state}"}}': jobs for state, (jobs, _) in queue.items()}
    found["findling_queue_oldest_seconds"] = queue.get("queued", (0, 0.0))[1]
    return found
