"""What servers are sent so that they let a worker in: the lines of one private file, each for one host.

A line is ``https://USER:PASSWORD@HOST[:PORT]``, as git's own store of credentials has it; a token stands as the
password. What is sent is never part of a message.
"""

from __future__ import annotations

import base64
import os
import stat
from pathlib import Path
from typing import TYPE_CHECKING, Final
from urllib.parse import unquote, urlsplit

from findling.model.errors import ConfigError

if TYPE_CHECKING:
    from findling.outbound.addresses import Target

_MOST_BYTES = 100_000


class Credentials:
    """``file``: None for none. It is read when a server is first asked. Raises `ConfigError` for one that cannot be
    read, that others can read, or that has a line of another form."""

    def __init__(self, file: str | None) -> None:
        self._file = file
        self._headers: dict[tuple[str, str], str] | None = None

    def header_for(self, target: Target) -> str:
        """The value of ``Authorization`` for a server, '' where the file has nothing for it."""
        if self._headers is None:
            self._headers = _headers_of(Path(self._file).expanduser()) if self._file else {}
        return self._headers.get((target.scheme, target.authority), "")


NO_CREDENTIALS: Final = Credentials(None)


def _headers_of(path: Path) -> dict[tuple[str, str], str]:
    try:
        with path.open("rb") as file:
            state = os.fstat(file.fileno())
            text = file.read(_MOST_BYTES).decode("utf-8", "replace")
    except OSError as error:
        raise ConfigError(f"The file of fetch.credentials cannot be read: {error.strerror}.") from error
    if os.name == "posix" and state.st_mode & (stat.S_IRWXG | stat.S_IRWXO):
        raise ConfigError("The file of fetch.credentials can be read by others.", remedy=f"chmod 600 {path}")
    headers: dict[tuple[str, str], str] = {}
    for number, line in enumerate(text.splitlines(), 1):
        if not line.strip() or line.startswith("#"):
            continue
        try:
            parts = urlsplit(line.strip())
            user, password, host, port = parts.username, parts.password, parts.hostname, parts.port
        except ValueError:
            user = password = host = port = None
        if parts.scheme not in ("http", "https") or not host or user is None or password is None:
            raise ConfigError(
                f"Line {number} of the file of fetch.credentials cannot be read.",
                remedy="Write https://USER:PASSWORD@HOST, with %XX for other characters.",
            )
        place = host if port is None else f"{host}:{port}"
        joined = f"{unquote(user)}:{unquote(password)}".encode()
        headers[parts.scheme, place] = f"Basic {base64.b64encode(joined).decode('ascii')}"
    return headers
