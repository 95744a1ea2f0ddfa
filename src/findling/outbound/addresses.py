"""Decides which servers may be fetched from: what a URL may look like, and which addresses its host may have.

A URL comes from a document, a model or a redirect, so it is not trusted. Its host is resolved once, here, and the
connection goes to the addresses that were checked: a name that resolves differently a moment later gains nothing.
"""

from __future__ import annotations

import ipaddress
import re
import socket
import threading
from typing import Final
from urllib.parse import SplitResult, urlsplit

from msgspec import Struct

from findling.model.errors import FetchRefused, NetworkError, UrlRefused
from findling.model.text_encodings import is_text

MAX_URL_CHARS: Final = 2048
RESOLVE_S: Final = 10.0
"""The longest that a name is looked up."""

PORTS: Final = {"http": 80, "https": 443}

_HOST = re.compile(r"[a-z0-9_](?:[a-z0-9._-]{0,251}[a-z0-9_])?\.?")
_NAT64: Final = ipaddress.ip_network("64:ff9b::/96")

_UNICAST: Final = ipaddress.ip_network("2000::/3")
"""All IPv6 addresses that registries give out. Site-local ones lie outside."""

_NOT_OPEN: Final = tuple(
    map(
        ipaddress.ip_network,
        (
            *(
                "192.0.0.0/24",
                "2001::/23",
                "3fff::/20",
            ),  # protocols, documentation; older Pythons miss them
            *("192.88.99.0/24", "192.52.193.0/24"),  # the nearest relay of 6to4 or AMT: any machine may claim to be it
            *("192.31.196.0/24", "192.175.48.0/24", "2620:4f:8000::/48"),  # AS112: answers for private addresses
            "168.63.129.16/32",  # Azure's host, as its virtual machines reach it, with what is meant for them alone
        ),
    )
)
"""Addresses that look public and are not: set aside by the registries, or by a provider for its own machines."""

_Address = ipaddress.IPv4Address | ipaddress.IPv6Address


class Target(Struct, frozen=True):
    """A URL that may be asked for. ``path`` with its query; ``permitted``: the user allowed this host by name."""

    scheme: str
    host: str
    port: int
    path: str
    permitted: bool

    @property
    def shown(self) -> str:
        """The URL for people and logs, without the query, which may hold a token."""
        return f"{self.scheme}://{self.authority}{self.path.partition('?')[0]}"

    @property
    def authority(self) -> str:
        """The server as URLs and requests name it."""
        host = _shown(self.host)
        return host if self.port == PORTS[self.scheme] else f"{host}:{self.port}"


def target_of(url: str, allowed_hosts: tuple[str, ...] = ()) -> Target:
    """``url`` taken apart. Raises `UrlRefused` for anything but a plain http or https URL, and `FetchRefused` for a
    port that is not allowed; never repeats the URL whole.

    ``allowed_hosts``: ``name`` or ``name:port``, hosts whose addresses and ports are not judged.
    """
    if len(url) > MAX_URL_CHARS:
        raise UrlRefused(f"The URL has more than {MAX_URL_CHARS} characters.")
    if any(char <= " " or char == "\x7f" for char in url) or "\\" in url:
        raise UrlRefused("The URL has white space, control characters or backslashes in it.")
    if not is_text(url):
        raise UrlRefused("The URL has a byte in it that is not UTF-8.", remedy="Write it as %XX.")
    try:
        parts = urlsplit(url)
        port = parts.port
    except ValueError as error:
        raise UrlRefused("The URL cannot be read.") from error
    if parts.scheme not in PORTS or "://" not in url[:10]:
        named = f", not {parts.scheme[:20]}" if parts.scheme else ""
        raise UrlRefused(f"Only http and https URLs are fetched{named}.")
    if "@" in parts.netloc:
        raise UrlRefused("The URL has a user name or password in it.", remedy="Nothing is fetched with credentials.")
    host = _host_of(parts)
    port = port if port is not None else PORTS[parts.scheme]
    permitted = _is_named(host, port, allowed_hosts)
    if not permitted and port not in PORTS.values():
        raise FetchRefused(
            f"Port {port} is not allowed for fetching.",
            remedy=f"fetch.allowed_hosts in the user's configuration may name {_shown(host)}:{port}.",
        )
    path = _quoted(parts.path or "/") + (f"?{_quoted(parts.query)}" if parts.query else "")
    return Target(parts.scheme, host, port, path, permitted)


def addresses_of(target: Target) -> tuple[str, ...]:
    """The addresses of the target's host. Raises `FetchRefused` when one is not public, unless the user permitted the
    host, and `NetworkError` for a name without any."""
    found = _resolved(target.host, target.port)
    if not found:
        raise NetworkError(f"There is no server called {target.host}.")
    if not target.permitted:
        for address in found:
            if not is_public(address):
                subject = address if address == target.host else f"{target.host} is at {address}, which"
                raise FetchRefused(
                    f"{subject} is not a public address.",
                    remedy=f"fetch.allowed_hosts in the user's configuration may name {target.host}.",
                )
    return tuple(found)


def is_public(address: str) -> bool:
    """Whether an address is on the open internet: not this machine, a private net, a cloud's metadata or a group."""
    try:
        parsed = ipaddress.ip_address(address.partition("%")[0])
    except ValueError:
        return False
    return all(
        each.is_global
        and (each.version == 4 or each in _UNICAST)
        and not each.is_multicast
        and not each.is_reserved
        and not any(each in net for net in _NOT_OPEN if net.version == each.version)
        for each in _meant(parsed)
    )


def _meant(address: _Address) -> list[_Address]:
    """The addresses that an address leads to: itself, or with it the IPv4 address that is embedded in it."""
    if isinstance(address, ipaddress.IPv4Address):
        return [address]
    if address.ipv4_mapped is not None:
        return [address.ipv4_mapped]
    inner = [address.sixtofour, *(address.teredo or ())]
    if address in _NAT64:
        return [ipaddress.IPv4Address(int(address) & 0xFFFFFFFF)]
    return [address, *(each for each in inner if each is not None)]


def _host_of(parts: SplitResult) -> str:
    host = parts.hostname or ""
    if ":" in host:
        try:
            address = ipaddress.IPv6Address(host)
            if address.scope_id:
                raise ValueError("it has a zone")
            return str(address)
        except ValueError as error:
            raise UrlRefused("The URL's IP address is not valid.") from error
    try:
        host = host.encode("idna").decode("ascii").lower()
    except UnicodeError as error:
        raise UrlRefused("The URL's host is not a valid name.") from error
    if not _HOST.fullmatch(host):
        raise UrlRefused("The URL's host is not a valid name.")
    return host


def _shown(host: str) -> str:
    """A host as it stands in a URL."""
    return f"[{host}]" if ":" in host else host


def _is_named(host: str, port: int, allowed_hosts: tuple[str, ...]) -> bool:
    plain = host.rstrip(".")
    names = {plain, _shown(plain), f"{_shown(plain)}:{port}"}
    return any(allowed.strip().lower().rstrip(".") in names for allowed in allowed_hosts)


def _quoted(text: str) -> str:
    from urllib.parse import quote

    return quote(text, safe="/:;=,@&%!$'()*+~?-._")


def _resolved(host: str, port: int) -> list[str]:
    """Every address of a name, each once; asking takes RESOLVE_S at most. Raises `NetworkError`."""
    found: list[str] = []
    failed: list[OSError] = []

    def ask() -> None:
        try:
            for *_, place in socket.getaddrinfo(host, port, type=socket.SOCK_STREAM):
                if str(place[0]) not in found:
                    found.append(str(place[0]))
        except (OSError, UnicodeError) as error:
            failed.append(error if isinstance(error, OSError) else OSError(str(error)))

    thread = threading.Thread(target=ask, daemon=True)
    thread.start()
    thread.join(RESOLVE_S)
    if thread.is_alive():
        raise NetworkError(f"Looking up {host} takes too long.")
    if failed:
        raise NetworkError(f"There is no server called {host}: {failed[0].strerror or failed[0]}.")
    return list(found)
