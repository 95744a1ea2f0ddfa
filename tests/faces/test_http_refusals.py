"""Who is turned away over HTTP, each by a real request to a real process."""

from __future__ import annotations

from pathlib import Path

import pytest
from served import INITIALIZE, TOKEN, Served

from findling.faces.mcp.http_guard import MAX_REQUEST_BYTES

KEY = {"Authorization": f"Bearer {TOKEN}"}


def test_with_the_token_it_answers(guarded: Served) -> None:
    answer = guarded.send(INITIALIZE, KEY)
    assert (answer.status, answer.message["result"]["serverInfo"]["name"]) == (200, "findling")
    assert guarded.send(INITIALIZE, {"Authorization": f"bearer  {TOKEN} "}).status == 200


@pytest.mark.parametrize(
    "given",
    [
        {},
        {"Authorization": ""},
        {"Authorization": "Bearer"},
        {"Authorization": f"Bearer {TOKEN[:-1]}"},
        {"Authorization": f"Bearer {TOKEN}x"},
        {"Authorization": f"Basic {TOKEN}"},
        {"Authorization": TOKEN},
        {"X-Authorization": f"Bearer {TOKEN}"},
        {"Cookie": f"token={TOKEN}"},
    ],
)
def test_without_it_nobody_gets_in(given: dict[str, str], guarded: Served) -> None:
    answer = guarded.send(INITIALIZE, given)
    assert (answer.status, answer.headers["www-authenticate"]) == (401, 'Bearer realm="findling"')
    assert "token" in answer.message["error"]["message"]


def test_the_token_opens_nothing_from_another_place(guarded: Served) -> None:
    assert guarded.send(INITIALIZE, path=f"/mcp?token={TOKEN}&access_token={TOKEN}").status == 401
    assert guarded.send(b"", method="GET", path="/anything").status == 401
    assert guarded.send(b"", KEY, method="GET", path="/anything").status == 404
    twice = f"Authorization: Bearer {TOKEN}\r\nAuthorization: Bearer other\r\n"
    assert b" 401 " in guarded.raw(f"GET /mcp HTTP/1.1\r\nHost: localhost\r\n{twice}\r\n".encode())


@pytest.mark.parametrize(
    "host", ["localhost", "localhost:1", "LOCALHOST:80", "127.0.0.1", "[::1]:5", "box.example", "box.example:8443"]
)
def test_its_own_names_are_answered(host: str, guarded: Served) -> None:
    assert guarded.send(INITIALIZE, {**KEY, "Host": host}).status == 200


@pytest.mark.parametrize(
    "host",
    [
        *(
            "evil.example",
            "localhost.evil.example",
            "evil-localhost",
            "localhost.",
            "localhost:",
            "localhost:1:2",
            "::1",
        ),
        *("user@localhost", "localhost/", "127.0.0.1.nip.example", "0.0.0.0", "2130706433", "sub.box.example", ""),
    ],
)
def test_foreign_names_that_lead_here_are_misdirected(host: str, guarded: Served) -> None:
    answer = guarded.send(INITIALIZE, {**KEY, "Host": host})
    assert answer.status == 421
    assert "--allow-host" in answer.message["error"]["message"]


def test_no_host_and_two_hosts_are_refused(guarded: Served) -> None:
    assert b" 421 " in guarded.raw(b"GET /mcp HTTP/1.0\r\n\r\n")
    two = guarded.raw(b"GET /mcp HTTP/1.1\r\nHost: localhost\r\nHost: evil.example\r\n\r\n")
    assert b" 400 " in two or b" 421 " in two


@pytest.mark.parametrize("origin", ["http://localhost", "http://127.0.0.1:3000", "http://[::1]:1", "https://localhost"])
def test_pages_of_this_machine_may_ask(origin: str, guarded: Served) -> None:
    answer = guarded.send(INITIALIZE, {**KEY, "Origin": origin})
    assert answer.status == 200
    assert "access-control-allow-origin" not in answer.headers  # a page that was not named cannot read it


@pytest.mark.parametrize(
    "origin",
    [
        *("https://evil.example", "null", "http://localhost.evil.example", "http://evil.example:80/http://localhost"),
        *("file://", "http://app.example", "https://app.example:444", "https://sub.app.example", "ftp://localhost", ""),
    ],
)
def test_foreign_pages_are_forbidden(origin: str, guarded: Served) -> None:
    answer = guarded.send(INITIALIZE, {**KEY, "Origin": origin})
    assert answer.status == 403
    assert "--allow-origin" in answer.message["error"]["message"]
    preflight = {"Origin": origin, "Access-Control-Request-Method": "POST"}
    assert guarded.send(b"", preflight, method="OPTIONS").status == 403


def test_a_named_page_may_ask_and_read(guarded: Served) -> None:
    page = {"Origin": "https://app.example"}
    wanted = {
        "Access-Control-Request-Method": "POST",
        "Access-Control-Request-Headers": "authorization,mcp-session-id",
    }
    preflight = guarded.send(b"", {**page, **wanted}, method="OPTIONS")
    assert (preflight.status, preflight.headers["access-control-allow-origin"]) == (200, "https://app.example")
    answer = guarded.send(INITIALIZE, {**KEY, **page})
    assert (answer.status, answer.headers["access-control-allow-origin"]) == (200, "https://app.example")
    assert guarded.send(INITIALIZE, page).status == 401
    elsewhere = guarded.send(b"", {**wanted, "Origin": "http://localhost:3000"}, method="OPTIONS")
    assert elsewhere.status == 400
    assert "access-control-allow-origin" not in elsewhere.headers


def test_large_requests_are_not_taken_in(guarded: Served) -> None:
    head = (
        f"POST /mcp HTTP/1.1\r\nHost: localhost\r\nAuthorization: Bearer {TOKEN}\r\nContent-Type: application/json\r\n"
    )
    assert b" 413 " in guarded.raw(f"{head}Content-Length: {MAX_REQUEST_BYTES + 1}\r\n\r\n".encode())
    piece = b"10000\r\n" + b"x" * 0x10000 + b"\r\n"
    assert b" 413 " in guarded.raw(
        f"{head}Transfer-Encoding: chunked\r\n\r\n".encode() + piece * (MAX_REQUEST_BYTES >> 16) + b"1\r\nx\r\n"
    )
    assert b" 400 " in guarded.raw(head.encode() + b"X-Much: " + b"x" * 40_000)
    assert guarded.send(INITIALIZE, KEY).status == 200


def test_what_is_no_message_is_refused(guarded: Served) -> None:
    assert guarded.send(b"this is not JSON", KEY).status == 400
    assert guarded.send([INITIALIZE], KEY).status == 400
    assert guarded.send(INITIALIZE, {**KEY, "Content-Type": "text/plain"}).status == 400
    assert guarded.send(INITIALIZE, {**KEY, "Accept": "text/html"}).status == 406
    assert guarded.send(INITIALIZE, {**KEY, "Mcp-Session-Id": "0" * 32}).status == 404
    assert guarded.send({**INITIALIZE, "method": "tools/list"}, KEY).status == 400
    assert guarded.send(b"", KEY, method="PUT").status == 405


def test_the_token_is_told_to_nobody(guarded: Served) -> None:
    for given in ({}, {"Authorization": f"Bearer {TOKEN}x"}, {**KEY, "Host": "evil.example"}):
        assert TOKEN.encode() not in guarded.send(INITIALIZE, given).body
    assert not any(TOKEN in line for line in guarded.said)
    arguments = Path(f"/proc/{guarded.process.pid}/cmdline")
    if arguments.exists():
        assert TOKEN.encode() not in arguments.read_bytes()
