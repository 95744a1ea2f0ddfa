"""The options of an HTTP server: its address, its token, and the names of hosts and origins. Plain values.

Read before anything is loaded; must not know the SDK. A token never comes from an argument, which every user of the
machine can read, and is never shown.
"""

from __future__ import annotations

import ipaddress
import os
import re
import socket
import stat
from collections.abc import MutableMapping, Sequence
from pathlib import Path

from msgspec import Struct

from findling.model.errors import InvalidInput

TOKEN_VARIABLE = "FINDLING_HTTP_TOKEN"  # noqa: S105 - the variable's name

LOOPBACK_HOST = "127.0.0.1"
LOOPBACK_NAMES = ("localhost", "127.0.0.1", "[::1]")

MIN_TOKEN, MAX_TOKEN = 16, 512
"""Characters. Fewer can be guessed; more is no token but some other file."""

_HEADER = re.compile(r"[A-Za-z0-9-]{1,100}")
_TOKEN = re.compile(r"[A-Za-z0-9._~+/=-]+")
_NAME = r"(?:\[[0-9a-f:.]+\]|[a-z0-9_](?:[a-z0-9._-]*[a-z0-9_])?)"
_HOST = re.compile(rf"(?P<name>{_NAME})(?::(?P<port>\d{{1,5}}))?")
_ORIGIN = re.compile(rf"(?P<scheme>[a-z][a-z0-9+.-]*)://(?P<name>{_NAME})(?::(?P<port>\d{{1,5}}))?")


class HttpOptions(Struct, frozen=True):
    """Where a server listens and whom it answers.

    ``port`` 0 takes a free one. ``hosts``: further names (``name`` or ``name:port``) that a request may be addressed
    to; ``origins``: further origins (``https://name[:port]``) whose pages may ask. Loopback names always may.
    ``token``: what every request has to bring, None for none. ``users``: every request has to bring the token of a user
    of the shared store, or come from one of ``proxies`` (addresses) with a user's name in the header ``user_header``.
    """

    host: str
    port: int
    token: str | None = None
    hosts: tuple[str, ...] = ()
    origins: tuple[str, ...] = ()
    users: bool = False
    user_header: str = ""
    proxies: tuple[str, ...] = ()
    metrics: tuple[str, int] | None = None
    """Host and port for whoever runs the server, None for none."""

    def __repr__(self) -> str:
        return f"HttpOptions({self.host!r}, {self.port!r}, hosts={self.hosts!r}, origins={self.origins!r})"

    def allows_host(self, header: str) -> bool:
        """Whether a request with this ``Host`` was meant for this server, and not led here by a foreign name."""
        found = _HOST.fullmatch(header.lower())
        return found is not None and (found["name"] in (*LOOPBACK_NAMES, *self.hosts) or found[0] in self.hosts)

    def allows_origin(self, header: str) -> bool:
        """Whether a page of this ``Origin`` may ask."""
        found = _ORIGIN.fullmatch(header.lower())
        if found is None:
            return False
        return found[0] in self.origins or (found["scheme"] in ("http", "https") and found["name"] in LOOPBACK_NAMES)


def read_options(
    address: str,
    *,
    hosts: Sequence[str] = (),
    origins: Sequence[str] = (),
    token_file: Path | None = None,
    users: bool = False,
    user_header: str | None = None,
    proxies: Sequence[str] = (),
    metrics: str | None = None,
    environ: MutableMapping[str, str] = os.environ,
) -> HttpOptions:
    """What was typed, checked. The token is taken out of ``environ``, so that no child process inherits it.

    Raises `InvalidInput`.
    """
    in_environment = environ.pop(TOKEN_VARIABLE, "")
    token = _token_of_file(token_file) if token_file is not None else in_environment.strip() or None
    if token is not None:
        _check_token(token, str(token_file) if token_file is not None else TOKEN_VARIABLE)
    if users and token is not None:
        raise InvalidInput(
            "With --users each user has a token, and one for all is set as well.",
            remedy=f"Leave --token-file and {TOKEN_VARIABLE} out.",
        )
    if (user_header is not None or proxies) and not (users and user_header and proxies):
        raise InvalidInput("--user-header, --proxy and --users belong together.", remedy="Give all three, or --users.")
    if user_header is not None and not _HEADER.fullmatch(user_header):
        raise InvalidInput(f"--user-header {user_header!r} is not the name of a header.")
    for proxy in proxies:
        try:
            ipaddress.ip_address(proxy)
        except ValueError as error:
            raise InvalidInput(f"--proxy {proxy!r} is not an address.", remedy="Write one such as 10.0.0.7.") from error
    host, port = host_and_port(address)
    return HttpOptions(
        host,
        port,
        token,
        tuple(_checked(_HOST, text, "--allow-host", "a name such as box.example") for text in hosts),
        tuple(_checked(_ORIGIN, text, "--allow-origin", "an origin such as https://app.example") for text in origins),
        users,
        (user_header or "").lower(),
        tuple(proxies),
        host_and_port(metrics) if metrics is not None else None,
    )


def host_and_port(text: str) -> tuple[str, int]:
    """Host and port of ``[HOST:]PORT``. Raises `InvalidInput`."""
    host, colon, port = text.rpartition(":")
    if not colon:
        host = LOOPBACK_HOST
    form = _HOST.fullmatch(f"{host.lower()}:{port}")
    if form is None or not form["port"] or not port.isascii() or int(port) > 65_535:
        raise InvalidInput(
            f"{text!r} is not [HOST:]PORT.", remedy="Write a port, such as 8765, or host and port, such as [::1]:8765."
        )
    return host.strip("[]"), int(port)


def _checked(form: re.Pattern[str], text: str, option: str, example: str) -> str:
    value = text.lower().rstrip("/")
    if not form.fullmatch(value):
        raise InvalidInput(f"{option} {text!r} is not valid.", remedy=f"Write {example}; patterns are not supported.")
    return value


def _token_of_file(path: Path) -> str:
    try:
        with path.open("rb") as file:
            state = os.fstat(file.fileno())
            text = file.read(MAX_TOKEN + 3) if stat.S_ISREG(state.st_mode) else b""
    except OSError as error:
        raise InvalidInput(f"The token's file {str(path)!r} cannot be read: {error.strerror}.") from error
    if os.name == "posix" and state.st_mode & (stat.S_IRWXG | stat.S_IRWXO):
        raise InvalidInput(f"The token's file {str(path)!r} can be read by others.", remedy=f"chmod 600 {path}")
    return text.decode("ascii", "replace").strip()


def _check_token(token: str, place: str) -> None:
    if not MIN_TOKEN <= len(token) <= MAX_TOKEN or not _TOKEN.fullmatch(token):
        raise InvalidInput(
            f"{place} does not hold a token: {MIN_TOKEN} to {MAX_TOKEN} letters, digits and ._~+/=- in one line.",
            remedy="Make one: python -c 'import secrets; print(secrets.token_urlsafe(32))'",
        )


# --- the socket that requests come in by, bound before anything else is loaded ---------------------------------------


BACKLOG = 64
"""Connections that wait to be accepted."""


class Listening(Struct, frozen=True):
    """A bound socket and whom it is for."""

    socket: socket.socket
    options: HttpOptions
    loopback: bool

    @property
    def address(self) -> str:
        """``http://HOST:PORT``"""
        host, port = self.socket.getsockname()[:2]
        return f"http://{f'[{host}]' if ':' in host else host}:{port}"


def listen(options: HttpOptions) -> Listening:
    """Bind the address. Raises `InvalidInput` if it cannot be had, or reaches other machines and there is no token."""
    try:
        family, _, _, _, address = socket.getaddrinfo(options.host, options.port, type=socket.SOCK_STREAM)[0]
    except OSError as error:
        raise InvalidInput(f"There is no host {options.host!r}: {error.strerror}.") from error
    loopback = ipaddress.ip_address(str(address[0]).partition("%")[0]).is_loopback
    if not loopback and options.token is None and not options.users:
        raise InvalidInput(
            f"{options.host} can be reached from other machines, and there is no token.",
            remedy=f"Set {TOKEN_VARIABLE} or --token-file, or leave the host out to serve this machine alone.",
        )
    opened = socket.socket(family, socket.SOCK_STREAM)
    try:
        if os.name == "posix":  # elsewhere it would let another program take the address over
            opened.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
        opened.bind(address)
        opened.listen(BACKLOG)
    except OSError as error:
        opened.close()
        raise InvalidInput(
            f"Cannot listen on {options.host} port {options.port}: {error.strerror}.",
            remedy="Choose another port; 0 takes a free one.",
        ) from error
    return Listening(opened, options, loopback)
