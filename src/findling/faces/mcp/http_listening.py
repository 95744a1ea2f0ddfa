"""The socket that HTTP requests come in by, bound before anything else is loaded. Must not know the protocol."""

from __future__ import annotations

import ipaddress
import os
import socket
from dataclasses import dataclass

from findling.faces.mcp.http_options import TOKEN_VARIABLE, HttpOptions
from findling.model.errors import InvalidInput

BACKLOG = 64
"""Connections that wait to be accepted."""


@dataclass(frozen=True, slots=True)
class Listening:
    """A bound socket and whom it is for."""

    socket: socket.socket
    options: HttpOptions
    loopback: bool

    @property
    def url(self) -> str:
        host, port = self.socket.getsockname()[:2]
        return f"http://{f'[{host}]' if ':' in host else host}:{port}/mcp"


def listen(options: HttpOptions) -> Listening:
    """Bind the address. Raises `InvalidInput` if it cannot be had, or reaches other machines and there is no token."""
    try:
        family, _, _, _, address = socket.getaddrinfo(options.host, options.port, type=socket.SOCK_STREAM)[0]
    except OSError as error:
        raise InvalidInput(f"There is no host {options.host!r}: {error.strerror}.") from error
    loopback = ipaddress.ip_address(str(address[0]).partition("%")[0]).is_loopback
    if not loopback and options.token is None:
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
