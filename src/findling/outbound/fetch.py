"""Fetches a file from a server that is not trusted, piece by piece. Each redirect is checked like the first URL.

Nothing of the user's is sent: no cookies, no credentials but those that a worker was given for a code host, and the
environment's proxies are not used.
"""

from __future__ import annotations

import contextlib
import re
import time
from collections.abc import Callable, Iterator
from email.utils import parsedate_to_datetime
from http import HTTPStatus
from typing import Final, NamedTuple
from urllib.parse import urljoin

from msgspec import Struct

from findling.model.errors import FetchRefused, NetworkError
from findling.outbound.addresses import Target, addresses_of, target_of
from findling.outbound.connection import Connection, Head
from findling.outbound.credentials import NO_CREDENTIALS, Credentials

MAX_REDIRECTS: Final = 5
_REDIRECTS: Final = (301, 302, 303, 307, 308)


class Pace(Struct, frozen=True):
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
    """The first ``size`` bytes of a file, and the validator (such as an ETag) that names this version of it."""

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
    """Fetch ``url`` and hand its body to ``take``, piece by piece, with the announced size of the whole file.

    ``have``: what was fetched before; only the rest is asked for. Before the first piece ``begin`` is told where the
    pieces go on (after ``have``, or at 0 where the server sends all again), and the validator for a later rest, '' if
    there is none. ``check`` is called between pieces and may raise. Raises `FetchRefused` for a URL,
    address or redirect that is not allowed and for a body longer than ``max_bytes``, `NetworkError` for everything
    that servers do wrong. What ``take``, ``begin`` and ``check`` raise is passed on as it is.
    """
    with _answered(url, allowed_hosts, have, check, pace) as answer:
        extent = _extent(answer, have)
        if extent is not None:
            start, announced = extent
            begin(Part(start, _validator(answer.head)))
            answer.connection.within(pace.whole_s)
            size = _body(answer, start, announced, max_bytes, take, check, pace)
            return Fetched(answer.url.partition("#")[0], answer.target, size)
    return fetch(
        answer.url, allowed_hosts=allowed_hosts, max_bytes=max_bytes, take=take, begin=begin, check=check, pace=pace
    )


def located(
    url: str, *, allowed_hosts: tuple[str, ...], pace: Pace = USUAL, credentials: Credentials = NO_CREDENTIALS
) -> str:
    """Where redirects lead in the end, each checked as by `fetch`. Of the last answer only the head is read. The server
    of ``url`` is sent those of ``credentials`` that are for it. Raises `FetchRefused` for a redirect to another server
    that there are credentials for: they would open whatever the first one chooses."""
    with _answered(url, allowed_hosts, None, lambda: None, pace, credentials) as answer:
        _extent(answer, None)
        return answer.url


class _Answer(NamedTuple):
    """``url``: where redirects have led; the body is still to be read from ``connection``."""

    url: str
    target: Target
    connection: Connection
    head: Head


@contextlib.contextmanager
def _answered(
    url: str,
    allowed_hosts: tuple[str, ...],
    have: Part | None,
    check: Callable[[], None],
    pace: Pace,
    credentials: Credentials = NO_CREDENTIALS,
) -> Iterator[_Answer]:
    """The answer at the end of all redirects, each of which is checked like the first URL."""
    rest = {"Range": f"bytes={have.size}-", "If-Range": have.validator} if have else {}
    secure = False
    first = target_of(url, allowed_hosts)
    stayed = True
    for _ in range(MAX_REDIRECTS + 1):
        target = target_of(url, allowed_hosts)
        stayed = stayed and (target.scheme, target.authority) == (first.scheme, first.authority)
        if secure and target.scheme != "https":
            raise FetchRefused(f"The server redirects from https to {target.shown}.")
        secure = target.scheme == "https"
        authorization = credentials.header_for(target)
        if authorization and not stayed:
            raise FetchRefused(
                f"{first.shown} redirects to {target.host}, for which fetch.credentials has a line.",
                remedy="If the repository has moved there, add its new address instead.",
            )
        check()
        addresses = addresses_of(target)
        with _told(target):
            connection = Connection(target, addresses, stall_s=pace.stall_s, within_s=pace.head_s)
        with connection:
            with _told(target):
                own = {"Authorization": authorization} if authorization else {}
                head = connection.ask("GET", {"Accept": "*/*", **rest, **own})
            if head.status not in _REDIRECTS:
                yield _Answer(url, target, connection, head)
                return
        place = head.headers.get("location", "")
        if not place:
            raise NetworkError(f"{target.host} redirects and does not say where.")
        url = _joined(url, place)
    raise NetworkError(f"The server redirects more than {MAX_REDIRECTS} times.")


def _joined(url: str, place: str) -> str:
    try:
        return urljoin(url, place)
    except ValueError as error:
        raise NetworkError("The server redirects to a URL that cannot be read.") from error


def _extent(answer: _Answer, have: Part | None) -> tuple[int, int | None] | None:
    """How much of the file comes before the body, and the file's size if it is known. None where the server cannot send
    the rest that was asked for, but perhaps the whole."""
    head, host = answer.head, answer.target.host
    if have and head.status == HTTPStatus.REQUESTED_RANGE_NOT_SATISFIABLE:
        return None
    partial = have if head.status == HTTPStatus.PARTIAL_CONTENT else None
    if head.status != HTTPStatus.OK and not partial:
        reason = "".join(char for char in head.reason if char.isprintable())[:60]
        raise NetworkError(f"{host} answered {head.status} {reason}".rstrip() + ".")
    if head.headers.get("content-encoding", "identity").strip().lower() != "identity":
        raise NetworkError(f"{host} sent a compressed answer, which was not asked for.")
    if not partial:
        return 0, head.length
    size = _whole_size(head, partial)
    return None if size is None else (partial.size, size)


def _validator(head: Head) -> str:
    """The validator by which the rest of this state of the file can be asked for; '' without a reliable one."""
    tag = head.headers.get("etag", "").strip()
    if tag.startswith('"') and tag.isprintable() and len(tag) <= _VALIDATOR_CHARS:
        return tag
    changed, now = head.headers.get("last-modified", ""), head.headers.get("date", "")
    try:
        apart = parsedate_to_datetime(now) - parsedate_to_datetime(changed)
    except (TypeError, ValueError, OverflowError):
        return ""
    # A file may have changed twice within one second.
    return changed if apart.total_seconds() >= _SURELY_OLD_S and len(changed) <= _VALIDATOR_CHARS else ""


def _whole_size(head: Head, have: Part) -> int | None:
    """The size of the whole file; None where the answer is not what follows ``have`` of the same state. The answer may
    have less than all of the rest."""
    found = _CONTENT_RANGE.fullmatch(head.headers.get("content-range", "").strip())
    if found is None or _validator(head) not in ("", have.validator):
        return None
    first, last, whole = map(int, found.groups())
    return whole if first == have.size and first <= last < whole else None


_CONTENT_RANGE: Final = re.compile(r"bytes ([0-9]{1,18})-([0-9]{1,18})/([0-9]{1,18})")
_VALIDATOR_CHARS: Final = 200
_SURELY_OLD_S: Final = 60.0
"""A date of change that is this old is a strong validator (RFC 9110, 8.8.2.2)."""


@contextlib.contextmanager
def _told(target: Target, failure: type[NetworkError] = NetworkError) -> Iterator[None]:
    """Raise failures of the block as failures of the server."""
    try:
        yield
    except TimeoutError as error:
        raise NetworkError(f"{target.host} takes too long.") from error
    except (OSError, ValueError) as error:
        raise failure(f"The connection to {target.host} failed: {error}.") from error


def _body(
    answer: _Answer,
    start: int,
    announced: int | None,
    max_bytes: int,
    take: Callable[[bytes, int | None], None],
    check: Callable[[], None],
    pace: Pace,
) -> int:
    """Hand on the body; returns the file's size. Its first ``start`` bytes are not sent. ``announced``: that size."""
    if announced is not None and announced > max_bytes:
        raise FetchRefused(f"The file has {announced:,} bytes, the limit is {max_bytes:,}.")
    host = answer.target.host
    size = start
    began = time.monotonic()
    while True:
        with _told(answer.target, Interrupted):
            piece = answer.connection.read()
        if not piece:
            break
        size += len(piece)
        if size > max_bytes:
            raise FetchRefused(f"The file has more than {max_bytes:,} bytes.")
        check()
        taken = time.monotonic() - began
        if taken > pace.grace_s and size - start < taken * pace.bytes_per_s:
            raise NetworkError(f"{host} sends less than {pace.bytes_per_s:,.0f} bytes a second.")
        take(piece, announced)
    if announced is not None and size < announced:
        raise Interrupted(f"{host} broke off after {size:,} of {announced:,} bytes.")
    return size
