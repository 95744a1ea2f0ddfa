"""What servers are sent so that they let a worker in: the lines of one private file, each for one host, or what a
private program says of a host, which is asked as git asks a credential helper (``PROGRAM get``).

A line is ``https://USER:PASSWORD@HOST[:PORT]``, as git's own store of credentials has it; a token stands as the
password. What is sent is never part of a message.
"""

from __future__ import annotations

import base64
import os
import stat
import subprocess
from pathlib import Path
from typing import Final
from urllib.parse import unquote, urlsplit

from findling.model.errors import ConfigError, FetchRefused
from findling.outbound.addresses import Target, target_of

_MOST_BYTES = 100_000

_HELPER_S = 30
"""How long a program may take to answer."""


class Credentials:
    """``file``: None for none. It is read when a server is first asked; one that its owner may execute is a program,
    and is asked for each server. Raises `ConfigError` for one that cannot be read, that others can read, or that has a
    line of another form, a second line for a host, or too many bytes; and for a program that fails."""

    def __init__(self, file: str | None) -> None:
        self._path = Path(file).expanduser() if file else None
        self._headers: dict[tuple[str, str, int], str] | None = None

    def header_for(self, target: Target) -> str:
        """The value of ``Authorization`` for a server, '' where there is nothing for it."""
        if self._headers is None:
            self._headers = _headers_of(self._path) if self._path and not _is_program(self._path) else {}
        server = _server(target)
        if server not in self._headers:
            self._headers[server] = _header_from(self._path, server) if self._path and _is_program(self._path) else ""
        return self._headers[server]


NO_CREDENTIALS: Final = Credentials(None)


def _headers_of(path: Path) -> dict[tuple[str, str, int], str]:
    try:
        with path.open("rb") as file:
            state = os.fstat(file.fileno())
            data = file.read(_MOST_BYTES + 1)
    except OSError as error:
        raise ConfigError(f"The file of fetch.credentials cannot be read: {error.strerror}.") from error
    _check_private(path, state)
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


def _check_private(path: Path, state: os.stat_result) -> None:
    if os.name == "posix" and state.st_mode & (stat.S_IRWXG | stat.S_IRWXO):
        raise ConfigError("The file of fetch.credentials can be read by others.", remedy=f"chmod go= {path}")


def _is_program(path: Path) -> bool:
    return os.name == "posix" and path.is_file() and bool(path.stat().st_mode & stat.S_IXUSR)


def _header_from(program: Path, server: tuple[str, str, int]) -> str:
    """What a program has for a server; '' where it names no password. What it prints is never repeated."""
    _check_private(program, program.stat())
    scheme, host, port = server
    place = host if port == {"http": 80, "https": 443}.get(scheme) else f"{host}:{port}"
    try:
        ran = subprocess.run(
            [program, "get"],
            input=f"protocol={scheme}\nhost={place}\n\n".encode(),
            stdout=subprocess.PIPE,
            stderr=subprocess.DEVNULL,
            timeout=_HELPER_S,
            check=True,
        )
    except (OSError, subprocess.SubprocessError) as error:
        raise ConfigError(f"The program of fetch.credentials failed: {type(error).__name__}.") from None
    said = dict(line.partition("=")[::2] for line in ran.stdout[:_MOST_BYTES].decode("utf-8", "replace").splitlines())
    return _basic(said.get("username", ""), said["password"]) if said.get("password") else ""


def _basic(user: str, password: str) -> str:
    return f"Basic {base64.b64encode(f'{user}:{password}'.encode()).decode('ascii')}"


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
    return _server(target), _basic(unquote(user), unquote(password))


def _server(target: Target) -> tuple[str, str, int]:
    """A server, whichever way its name is written."""
    return target.scheme, target.host.rstrip("."), target.port
