"""The door to servers that are not trusted: one file from a URL, in pieces, through redirects that are looked at one by
one. Nothing of the user's is sent: no cookies, no credentials, no proxy of the environment's.

What is done with the pieces is the caller's affair.
"""

from __future__ import annotations

import contextlib
import http.client
import re
import socket
import ssl
import threading
import time
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from email.utils import parsedate_to_datetime
from typing import Final, NamedTuple
from urllib.parse import urljoin

from findling.errors import FetchRefused, NetworkError
from findling.outbound.addresses import Target, addresses_of, target_of

MAX_REDIRECTS: Final = 5
_PIECE: Final = 1 << 16
_REDIRECTS: Final = (301, 302, 303, 307, 308)


@dataclass(frozen=True, slots=True)
class Pace:
    """How slow a server may be, in seconds: until its answer begins, between two pieces, altogether; and how many
    bytes a second it must send on the average, from ``grace_s`` on."""

    head_s: float = 30.0
    stall_s: float = 30.0
    whole_s: float = 1800.0
    grace_s: float = 20.0
    bytes_per_s: float = 1024.0


USUAL: Final = Pace()


class Fetched(NamedTuple):
    """``url``: where the file was in the end. ``size`` is the whole file's."""

    url: str
    target: Target
    size: int


class Part(NamedTuple):
    """The first ``size`` bytes of a file, and its server's name for this very state of it."""

    size: int
    validator: str


class Interrupted(NetworkError):
    """The connection ended in the middle of the body."""


def fetch(
    url: str,
    *,
    allowed_hosts: tuple[str, ...],
    max_bytes: int,
    take: Callable[[bytes, int | None], None],
    begin: Callable[[Part], None] = lambda _: None,
    have: Part | None = None,
    check: Callable[[], None] = lambda: None,
    pace: Pace = USUAL,
) -> Fetched:
    """Ask for ``url`` and hand the answer's body to ``take``, piece by piece, with the size that was announced for all.

    ``have``: what is there already; only the rest is asked for. Before the first piece ``begin`` is told what the
    pieces come after: that, or nothing where the server does not go on; and by which validator the rest may be asked
    for later, '' if it may not. ``check`` is called between pieces and may raise. Raises `FetchRefused` for a URL,
    address or redirect that is not allowed and for a body longer than ``max_bytes``, `NetworkError` for everything
    that servers do wrong. What ``take``, ``begin`` and ``check`` raise is passed on as it is.
    """
    secure = False
    for _ in range(MAX_REDIRECTS + 1):
        target = target_of(url, allowed_hosts)
        if secure and target.scheme != "https":
            raise FetchRefused(f"The server leads from https to {target.shown}.")
        secure = target.scheme == "https"
        check()
        following = _one(target, addresses_of(target), max_bytes, take, begin, have, check, pace)
        if isinstance(following, int):
            return Fetched(url.partition("#")[0], target, following)
        if following == _FROM_THE_START:
            have = None
            continue
        url = _joined(url, following)
    raise NetworkError(f"The server leads to another place more than {MAX_REDIRECTS} times.")


def located(url: str, *, allowed_hosts: tuple[str, ...], pace: Pace = USUAL) -> str:
    """Where redirects lead in the end, each looked at as by `fetch`; of the last answer only the head is read."""

    def enough(_: bytes, __: int | None) -> None:
        raise _Enough

    for _ in range(MAX_REDIRECTS + 1):
        target = target_of(url, allowed_hosts)
        try:
            following = _one(target, addresses_of(target), _ANY_SIZE, enough, lambda _: None, None, lambda: None, pace)
        except _Enough:
            return url
        if isinstance(following, int):
            return url
        url = _joined(url, following)
        if target.scheme == "https" and not url.startswith("https:"):
            raise FetchRefused(f"The server leads from {target.shown} to a place without https.")
    raise NetworkError(f"The server leads to another place more than {MAX_REDIRECTS} times.")


def _joined(url: str, place: str) -> str:
    try:
        return urljoin(url, place)
    except ValueError as error:
        raise NetworkError("The server leads to a place whose URL cannot be read.") from error


class _Enough(Exception):
    """The answer has begun."""


_ANY_SIZE: Final = 1 << 62

_FROM_THE_START: Final = ""
"""In place of a redirect: the rest cannot be had, the whole may."""


def _one(
    target: Target,
    addresses: tuple[str, ...],
    max_bytes: int,
    take: Callable[[bytes, int | None], None],
    begin: Callable[[Part], None],
    have: Part | None,
    check: Callable[[], None],
    pace: Pace,
) -> int | str:
    """The size of the file, or where a redirect leads."""
    connection = _Pinned(target, addresses, pace)
    late = threading.Event()
    try:
        with _told(target, late), _within(pace.head_s, connection, late):
            rest = {"Range": f"bytes={have.size}-", "If-Range": have.validator} if have else {}
            connection.request("GET", target.path, headers={**_HEADERS, **rest})
            response = connection.getresponse()
        if late.is_set():
            raise NetworkError(f"{target.host} takes too long.")
        if response.status in _REDIRECTS:
            place = response.getheader("Location") or ""
            if not place:
                raise NetworkError(f"{target.host} leads to another place and does not say where.")
            return place
        if have and response.status == http.client.REQUESTED_RANGE_NOT_SATISFIABLE:
            return _FROM_THE_START
        partial = have is not None and response.status == http.client.PARTIAL_CONTENT
        if response.status != http.client.OK and not partial:
            reason = "".join(char for char in response.reason if char.isprintable())[:60]
            raise NetworkError(f"{target.host} answered {response.status} {reason}".rstrip() + ".")
        if (response.getheader("Content-Encoding") or "identity").strip().lower() != "identity":
            raise NetworkError(f"{target.host} sent a compressed answer, which was not asked for.")
        if have and partial:
            start, announced = have.size, _whole_size(response, have)
            if announced is None:
                return _FROM_THE_START
        else:
            start, announced = 0, response.length
        begin(Part(start, _validator(response)))
        with _within(pace.whole_s, connection, late):
            size = _body(target, response, late, start, announced, max_bytes, take, check, pace)
    finally:
        connection.close()
    if late.is_set():
        raise NetworkError(f"{target.host} takes too long.")
    return size


def _validator(response: http.client.HTTPResponse) -> str:
    """What the rest of this very state of the file can be asked for by, '' where nothing tells it from others."""
    tag = (response.getheader("ETag") or "").strip()
    if tag.startswith('"') and tag.isprintable() and len(tag) <= _VALIDATOR_CHARS:
        return tag
    changed, now = response.getheader("Last-Modified") or "", response.getheader("Date") or ""
    try:
        apart = parsedate_to_datetime(now) - parsedate_to_datetime(changed)
    except (TypeError, ValueError, OverflowError):
        return ""
    # Within its second a file may have changed twice.
    return changed if apart.total_seconds() >= _SURELY_OLD_S and len(changed) <= _VALIDATOR_CHARS else ""


def _whole_size(response: http.client.HTTPResponse, have: Part) -> int | None:
    """How long the file is whose rest this is; None where it is not what comes after ``have``, of the same state. The
    answer may hold less than all of the rest."""
    found = _CONTENT_RANGE.fullmatch((response.getheader("Content-Range") or "").strip())
    if found is None or _validator(response) not in ("", have.validator):
        return None
    first, last, whole = map(int, found.groups())
    return whole if first == have.size and first <= last < whole else None


_CONTENT_RANGE: Final = re.compile(r"bytes ([0-9]{1,18})-([0-9]{1,18})/([0-9]{1,18})")
_VALIDATOR_CHARS: Final = 200
_SURELY_OLD_S: Final = 60.0
"""A date of change is a strong validator from then on (RFC 9110, 8.8.2.2)."""


@contextlib.contextmanager
def _told(target: Target, late: threading.Event, failure: type[NetworkError] = NetworkError) -> Iterator[None]:
    """What fails in the block is the server's failure."""
    try:
        yield
    except (OSError, ValueError, http.client.HTTPException) as error:
        if late.is_set() or isinstance(error, TimeoutError):
            raise NetworkError(f"{target.host} takes too long.") from error
        why = str(error) if isinstance(error, OSError) else type(error).__name__
        raise failure(f"The connection to {target.host} failed: {why}.") from error


def _body(
    target: Target,
    response: http.client.HTTPResponse,
    late: threading.Event,
    start: int,
    announced: int | None,
    max_bytes: int,
    take: Callable[[bytes, int | None], None],
    check: Callable[[], None],
    pace: Pace,
) -> int:
    """The size of the file, whose first ``start`` bytes are not sent; ``announced`` is what it should be."""
    if announced is not None and announced > max_bytes:
        raise FetchRefused(f"The file has {announced:,} bytes, the limit is {max_bytes:,}.")
    size = start
    began = time.monotonic()
    while True:
        with _told(target, late, Interrupted):
            piece = response.read1(_PIECE)
        if late.is_set():
            raise NetworkError(f"{target.host} takes too long.")
        if not piece:
            break
        size += len(piece)
        if size > max_bytes:
            raise FetchRefused(f"The file has more than {max_bytes:,} bytes.")
        check()
        taken = time.monotonic() - began
        if taken > pace.grace_s and size - start < taken * pace.bytes_per_s:
            raise NetworkError(f"{target.host} sends less than {pace.bytes_per_s:,.0f} bytes a second.")
        take(piece, announced)
    if announced is not None and size < announced:
        raise Interrupted(f"{target.host} broke off after {size:,} of {announced:,} bytes.")
    return size


_HEADERS: Final = {
    "User-Agent": "findling",
    "Accept": "*/*",
    "Accept-Encoding": "identity",
    "Connection": "close",
}


class _Pinned(http.client.HTTPConnection):
    """A connection to one of these addresses, whatever the name means by now; certificates are the name's."""

    def __init__(self, target: Target, addresses: tuple[str, ...], pace: Pace) -> None:
        super().__init__(target.host, target.port, timeout=pace.stall_s)
        self._target = target
        self._addresses = addresses
        self._pace = pace

    def connect(self) -> None:
        until = time.monotonic() + self._pace.head_s
        failure: OSError | None = None
        for address in self._addresses:
            left = until - time.monotonic()
            if left <= 0:
                break
            try:
                sock = socket.create_connection((address, self._target.port), min(left, self._pace.stall_s))
                sock.settimeout(self._pace.stall_s)
                self.sock = sock
                if self._target.scheme == "https":
                    context = ssl.create_default_context()
                    self.sock = context.wrap_socket(sock, server_hostname=self._target.host)
                return
            except OSError as error:
                failure = error
        raise failure or TimeoutError("no connection in time")


@contextlib.contextmanager
def _within(seconds: float, connection: http.client.HTTPConnection, late: threading.Event) -> Iterator[None]:
    """End the connection when the block takes longer: a timeout on a socket bounds each read, not a server that
    drips."""

    def end() -> None:
        late.set()
        sock = connection.sock
        if sock is not None:
            with contextlib.suppress(OSError):  # it ended by itself
                sock.shutdown(socket.SHUT_RDWR)

    timer = threading.Timer(seconds, end)
    timer.daemon = True
    timer.start()
    try:
        yield
    finally:
        timer.cancel()
