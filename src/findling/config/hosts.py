"""Whether a URL stays on this machine. Looks at its text only: no name is ever resolved here."""

from __future__ import annotations

from typing import Final

_MAX_URL_CHARS: Final = 2048


def problem(url: str) -> str:
    """What makes ``url`` unfit to be a server's address, in words that follow "must be"; "" for a good one."""
    from urllib.parse import urlsplit

    if len(url) > _MAX_URL_CHARS or any(character <= " " or character == "\x7f" for character in url):
        return "a URL without white space or control characters"
    try:
        parts = urlsplit(url)
        host, _ = parts.hostname, parts.port
    except ValueError:
        return "an http or https URL"
    if parts.scheme not in ("http", "https") or not host or "\\" in url:
        return "an http or https URL"
    if parts.username is not None or parts.password is not None:
        return "a URL without user name and password"
    if parts.query or parts.fragment:
        return "a URL without ? and #"
    return ""


def is_loopback(url: str) -> bool:
    """Whether a good URL names this machine itself: ``localhost``, 127.0.0.0/8 or ::1."""
    import ipaddress
    from urllib.parse import urlsplit

    host = urlsplit(url).hostname or ""
    if host.rstrip(".") == "localhost":
        return True
    try:
        return ipaddress.ip_address(host).is_loopback
    except ValueError:
        return False
