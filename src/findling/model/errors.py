"""Every failure that findling raises on purpose, drawn as a tree.

    FindlingError
    ├── InvalidInput          an argument is wrong; the caller can correct it
    │   └── InvalidPattern    a regular expression does not parse, or is too costly to run
    ├── NotFound              a path or name that does not exist
    │   └── RefNotIndexed     a branch, tag or commit that is not there, or may not be indexed
    ├── RootError             a folder cannot be used as a root (missing, no permission, not a folder)
    ├── IndexUnavailable      nothing can answer yet, or an index cannot be read or rebuilt
    │   ├── IndexNewer        written by a later version of findling
    │   ├── StoreUnavailable  the shared store does not answer, or not this user
    │   ├── IndexNotReady     there is none, and the configuration forbids a question to make it
    │   └── IndexBusy         another process holds the writer role for longer than the budget
    ├── StorageFull           the disk has no room; the last good state is intact
    ├── ConfigError           a configuration file or key is wrong
    ├── FetchRefused          an address or a file that is not fetched
    │   └── UrlRefused        a URL that nothing can be fetched from, by its form
    ├── NetworkError          a server cannot be reached, or does not answer as it should
    ├── FileAccess            a file is in the way, or cannot be read or written
    ├── EmbedderUnavailable   an embedding model cannot be loaded or reached
    └── Cancelled             the caller asked for it, or a budget ran out

Each has a stable ``code`` for programs, a message that says what was wrong, and a ``remedy`` that says what to
do. Exceptions of libraries are mapped to these at the module that owns the library; transports map these.
"""

from __future__ import annotations

from typing import Literal


class FindlingError(Exception):
    """Base of all deliberate failures. ``str(error)`` is the message, followed by the remedy when there is one."""

    code = "internal_error"

    def __init__(self, message: str, *, remedy: str = "") -> None:
        super().__init__(message)
        self.message = message
        self.remedy = remedy

    def __str__(self) -> str:
        return f"{self.message} {self.remedy}".strip()


class InvalidInput(FindlingError):
    code = "invalid_input"


class InvalidPattern(InvalidInput):
    """``position`` is the 0-based offset in the pattern where parsing failed, or None."""

    def __init__(self, message: str, *, position: int | None = None, remedy: str = "") -> None:
        super().__init__(message, remedy=remedy)
        self.position = position


class OtherSyntax(InvalidPattern):
    """An expression as another tool writes it, which means something else here."""


class NotFound(FindlingError):
    code = "not_found"


class RefNotIndexed(NotFound):
    code = "ref_not_indexed"


class RootError(FindlingError):
    code = "root_error"


class IndexUnavailable(FindlingError):
    code = "index_unavailable"


class IndexNewer(IndexUnavailable):
    code = "index_incompatible"


class StoreUnavailable(IndexUnavailable):
    code = "store_unavailable"


class IndexNotReady(IndexUnavailable):
    code = "index_not_ready"


class IndexBusy(IndexUnavailable):
    code = "index_in_progress"


class StorageFull(FindlingError):
    code = "storage_full"


class ConfigError(FindlingError):
    code = "config_error"


class FetchRefused(FindlingError):
    code = "fetch_refused"


class UrlRefused(FetchRefused):
    code = "invalid_input"


class NetworkError(FindlingError):
    code = "network_error"


class FileAccess(FindlingError):
    code = "file_access"


class EmbedderUnavailable(FindlingError):
    """``reason``: nobody answers; it answers too late; the model is not there; it has another number of dimensions
    than is configured; anything else."""

    code = "embedder_unavailable"

    def __init__(
        self,
        message: str,
        *,
        remedy: str = "",
        reason: Literal["unreachable", "timeout", "missing", "dimensions", "other"] = "other",
    ) -> None:
        super().__init__(message, remedy=remedy)
        self.reason = reason


class Cancelled(FindlingError):
    code = "cancelled"


CAUSES = {
    **dict.fromkeys(("not_found", "file_not_found", "file_access", "root_error"), "file access"),
    **dict.fromkeys(("network_error", "fetch_refused"), "network"),
    **dict.fromkeys(
        ("index_unavailable", "index_incompatible", "store_unavailable", "index_in_progress", "storage_full"), "storage"
    ),
}
"""Which of the library's four kinds of failure an error's code is; the others come from processing."""
