"""Who may see the page: the browser that was given the link, and no other page in it.

The token of the link is exchanged for a cookie at once, so that it stands in no address that is bookmarked or shared.
Every answer carries the headers that keep a page to itself.
"""

from __future__ import annotations

import hmac
import html
import secrets
from collections.abc import Sequence
from urllib.parse import parse_qsl, urlencode

from findling.faces.http.running import WRONG_HOST, App, Message, Receive, Scope, Send, header_values

POLICY = (
    "default-src 'none'; script-src 'self'; style-src 'self'; img-src 'self'; connect-src 'self'; "
    "form-action 'self'; base-uri 'none'; frame-ancestors 'none'"
)

HEADERS: Sequence[tuple[bytes, bytes]] = (
    (b"content-security-policy", POLICY.encode()),
    (b"x-content-type-options", b"nosniff"),
    (b"referrer-policy", b"no-referrer"),
    (b"cross-origin-opener-policy", b"same-origin"),
    (b"cross-origin-resource-policy", b"same-origin"),
)


class Visitors:
    """Passes on the requests of who has the token or, after the first, the cookie."""

    def __init__(self, app: App, token: str) -> None:
        self._app, self._token = app, token
        self._secret = secrets.token_urlsafe(24)

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        if scope["type"] != "http":
            await self._app(scope, receive, send)
            return
        query = parse_qsl(scope["query_string"].decode("latin-1"), keep_blank_values=True)
        given = [value for name, value in query if name == "token"]
        if given and all(_same(value, self._token) for value in given):
            await self._let_in(scope, send, [pair for pair in query if pair[0] != "token"])
        elif not self._has_cookie(scope):
            await send_text(send, 403, "This page is for whoever has its link: 'findling ui' prints it.")
        elif not _asked_here(scope):
            await send_text(send, 403, "Requests from other web pages are refused.")
        else:
            await self._app(scope, receive, _with_headers(send))

    def _cookie_name(self, scope: Scope) -> str:
        server = scope.get("server") or ("", 0)
        return f"findling-{server[1]}"  # browsers give a cookie to every port of a host

    def _has_cookie(self, scope: Scope) -> bool:
        """Whether our cookie is among those of the host. Other servers of the host set cookies of any form, which
        parsers of whole headers refuse."""
        name = self._cookie_name(scope)
        for header in header_values(scope, b"cookie"):
            for cookie in header.decode("latin-1").split(";"):
                found, _, value = cookie.strip().partition("=")
                if found == name and _same(value, self._secret):
                    return True
        return False

    async def _let_in(self, scope: Scope, send: Send, query: Sequence[tuple[str, str]]) -> None:
        """Set the cookie, and lead to the address without the token. By a page, as a browser that comes from another
        site would not send the cookie where it is redirected to."""
        cookie = f"{self._cookie_name(scope)}={self._secret}; Path=/; HttpOnly; SameSite=Strict"
        address = html.escape(f"/?{urlencode(query)}" if query else "/")
        body = f'<!doctype html><title>findling</title><meta http-equiv="refresh" content="0;url={address}">'
        headers = [(b"content-type", b"text/html; charset=utf-8"), (b"set-cookie", cookie.encode("ascii"))]
        await _send(send, 200, headers, body)


def _same(given: str, wanted: str) -> bool:
    return hmac.compare_digest(given.encode("utf-8", "replace"), wanted.encode())


def _asked_here(scope: Scope) -> bool:
    """Whether this page itself asks, or somebody who typed or followed an address; what changes something only the
    page may ask for."""
    host = header_values(scope, b"host")
    origins = header_values(scope, b"origin")
    if any(origin != b"http://" + host[0] for origin in origins):
        return False
    if scope["method"] not in ("GET", "HEAD"):
        return bool(origins)
    site = header_values(scope, b"sec-fetch-site")
    if all(value in (b"same-origin", b"none") for value in site):
        return True
    return header_values(scope, b"sec-fetch-dest") == [b"document"]


def _with_headers(send: Send) -> Send:
    async def send_on(message: Message) -> None:
        if message["type"] == "http.response.start":
            message["headers"] = [*message["headers"], *HEADERS]
        await send(message)

    return send_on


async def refuse_address(send: Send, status: int) -> None:
    """Refuse a request because of its host or origin, as `http.guard.AddressGuard` calls for."""
    wrong_host = status == WRONG_HOST
    await send_text(send, status, f"This {'host name' if wrong_host else 'origin'} is not served here.")


async def send_text(send: Send, status: int, text: str) -> None:
    await _send(send, status, [(b"content-type", b"text/plain; charset=utf-8")], text)


async def _send(send: Send, status: int, headers: Sequence[tuple[bytes, bytes]], text: str) -> None:
    body = text.encode()
    length = (b"content-length", str(len(body)).encode())
    rows = [*headers, length, (b"cache-control", b"no-store"), *HEADERS]
    await send({"type": "http.response.start", "status": status, "headers": rows})
    await send({"type": "http.response.body", "body": body})
