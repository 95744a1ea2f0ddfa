"""Makes one HTTP request over a connection of its own, before one deadline.

h11 writes the request and reads the answer. The socket is ours, because HTTP libraries restart their timeout with each
piece, so that a server that drips can hold them forever. The environment's proxies and passwords are ignored; its
certificate authorities count. Bodies are not decompressed.
"""

from __future__ import annotations

import math
import socket
import time
from collections.abc import Mapping, Sequence
from typing import Final, NamedTuple, Self

import h11

from findling.outbound.addresses import Target
from findling.outbound.certificates import tls_context

_PIECE: Final = 1 << 16


class Head(NamedTuple):
    """An answer's status and headers, whose names are in lower case."""

    status: int
    reason: str
    headers: Mapping[str, str]

    @property
    def length(self) -> int | None:
        """The length of the body in bytes, None where the server does not say it."""
        said = None if "transfer-encoding" in self.headers else self.headers.get("content-length")
        return None if said is None else int(said)


class Connection:
    """A connection to the first of ``addresses`` that answers, whatever the host's name means by now; certificates must
    be the name's. A context, which closes it.

    Raises OSError for what servers do wrong, TimeoutError among them where one step takes longer than ``stall_s`` or
    all of them longer than ``within_s``, and ValueError for what cannot be sent.
    """

    def __init__(self, target: Target, addresses: Sequence[str], *, stall_s: float, within_s: float = math.inf) -> None:
        self._target = target
        self._stall_s = stall_s
        self._deadline = time.monotonic() + within_s
        self._http = h11.Connection(h11.CLIENT)
        tls = tls_context() if target.scheme == "https" else None
        failure = OSError("its name has no address")
        for address in addresses:
            try:
                self._socket = socket.create_connection((address, target.port), self._left_s())
                if tls is not None:
                    with self._socket as plain:  # closes nothing once TLS has taken it over
                        plain.settimeout(self._left_s())
                        self._socket = tls.wrap_socket(plain, server_hostname=target.host)
                return
            except OSError as error:
                failure = error
        raise failure

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *_: object) -> None:
        self._socket.close()

    def within(self, seconds: float) -> None:
        """Set a new deadline, ``seconds`` from now, for all that follows."""
        self._deadline = time.monotonic() + seconds

    def ask(self, method: str, headers: Mapping[str, str], body: bytes = b"") -> Head:
        """Send the one request, and read how the answer begins. No header is part of an error."""
        sent = {
            "Host": self._target.authority,
            "User-Agent": "findling",
            "Accept-Encoding": "identity",
            "Connection": "close",
            **headers,
            **({"Content-Length": str(len(body))} if body else {}),
        }
        try:
            request = h11.Request(method=method, target=self._target.path, headers=list(sent.items()))
        except h11.LocalProtocolError:
            raise ValueError("its path cannot be sent in an HTTP request") from None
        events = (request, h11.Data(data=body), h11.EndOfMessage())
        data = b"".join(self._http.send(event) for event in events)
        self._socket.settimeout(self._left_s())
        self._socket.sendall(data)
        while not isinstance(event := self._event(), h11.Response):
            pass  # "100 Continue" and the like
        names = {name.decode("latin-1"): value.decode("latin-1") for name, value in event.headers}
        return Head(event.status_code, event.reason.decode("latin-1"), names)

    def read(self) -> bytes:
        """The next piece of the body, b'' at its end."""
        event = self._event()
        return bytes(event.data) if isinstance(event, h11.Data) else b""

    def _event(self) -> object:
        data = None
        try:
            while (event := self._http.next_event()) is h11.NEED_DATA:
                self._socket.settimeout(self._left_s())
                data = self._socket.recv(_PIECE)
                self._http.receive_data(data)
        except h11.RemoteProtocolError as error:
            raise ConnectionError("it broke off" if data == b"" else "it does not speak HTTP") from error
        return event

    def _left_s(self) -> float:
        left = min(self._stall_s, self._deadline - time.monotonic())
        if left <= 0:
            raise TimeoutError("it takes too long")
        return left
