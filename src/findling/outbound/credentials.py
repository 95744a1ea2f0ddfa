"""What servers are sent so that they let a worker in: the lines of one private file, each for one host.

A line is ``https://USER:PASSWORD@HOST[:PORT]``, as git's own store of credentials has it; a token stands as the
password. What is sent is never part of a message.
"""

from __future__ import annotations

import base64
import os
import stat
from pathlib import Path
from typing import Final
from urllib.parse import unquote, urlsplit

from findling.model.errors import ConfigError, FetchRefused
from findling.outbound.addresses import Target, target_of

_MOST_BYTES = 100_000


class Credentials:
    """``file``: None for none. It is read when a server is first asked. Raises `ConfigError` for one that cannot be
    read, that others can read, or that has a line of another form, a second line for a host, or too many bytes."""

    def __init__(self, file: str | None) -> None:
        self._file = file
        self._headers: dict[tuple[str, str, int], str] | None = None

    def header_for(self, target: Target) -> str:
        """The value of ``Authorization`` for a server, '' where the file has nothing for it."""
        if self._headers is None:
            self._headers = _headers_of(Path(self._file).expanduser()) if self._file else {}
        return self._headers.get(_server(target), "")


NO_CREDENTIALS: Final = Credentials(None)


def _headers_of(path: Path) -> dict[tuple[str, str, int], str]:
    try:
        with path.open("rb") as file:
            state = os.fstat(file.fileno())
            data = file.read(_MOST_BYTES + 1)
    except OSError as error:
        raise ConfigError(f"The file of fetch.credentials cannot be read: {error.strerror}.") from error
    if os.name == "posix" and state.st_mode & (stat.S_IRWXG | stat.S_IRWXO):
        raise ConfigError("The file of fetch.credentials can be read by others.", remedy=f"chmod 600 {path}")
    if len(data) > _MOST_BYTES:
        raise ConfigError(f"The file of fetch.credentials has more than {_MOST_BYTES:,} bytes.")
    headers: dict[tuple[str, str, int], str] = {}
    for number, line in enumerate(data.decode("utf-8", "replace").splitlines(), 1):
        if not line.strip() or line.startswith("#"):
            continue
        server, header = _read(line.strip(), number)
        if headers.setdefault(server, header) != header:
            raise ConfigError(f"Line {number} of the file of fetch.credentials is the second one for its host.")
    return headers


def _read(line: str, number: int) -> tuple[tuple[str, str, int], str]:
    """The server of a line, and its header. What the line says is never repeated."""
    try:
        parts = urlsplit(line)
        pair, _, place = parts.netloc.rpartition("@")
        target = target_of(f"{parts.scheme}://{place}", (place,))  # any port may be named
    except (ValueError, FetchRefused):
        target, pair = None, ""
    user, _, password = pair.partition(":")
    if target is None or not user or ":" not in pair:
        raise ConfigError(
            f"Line {number} of the file of fetch.credentials cannot be read.",
            remedy="Write https://USER:PASSWORD@HOST, with %XX for other characters.",
        )
    if parts.path.strip("/") or parts.query or parts.fragment:
        raise ConfigError(
            f"Line {number} of the file of fetch.credentials has a path, and credentials are for a whole host.",
            remedy="Leave the path out if all repositories of that host may be read with these.",
        )
    joined = f"{unquote(user)}:{unquote(password)}".encode()
    return _server(target), f"Basic {base64.b64encode(joined).decode('ascii')}"


def _server(target: Target) -> tuple[str, str, int]:
    """A server, whichever way its name is written."""
    return target.scheme, target.host.rstrip("."), target.port
