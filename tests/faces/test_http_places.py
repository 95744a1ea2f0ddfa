"""Who has no token cannot keep those who have one out: times and places for connections, and places for sessions."""

from __future__ import annotations

import asyncio
import http.client
import json
import resource
import socket
import sys
import textwrap
from collections.abc import Callable, Iterator
from contextlib import ExitStack
from pathlib import Path
from typing import Any

import pytest
from served import INITIALIZE, JSON, TOKEN, Served

Run = Callable[..., Served]

KEY = {"Authorization": f"Bearer {TOKEN}"}

HALF = b"POST /mcp HTTP/1.1\r\nHost: localhost\r\n"
"""The first half of a request's head."""

MAY_ASK = (
    f"Authorization: Bearer {TOKEN}\r\nContent-Type: application/json\r\n"
    "Accept: application/json, text/event-stream\r\n"
).encode()

PING = {"jsonrpc": "2.0", "id": 2, "method": "ping"}

PLACES = 8

BOUNDED = """
    import itertools, time
    from pathlib import Path
    from findling.engine import Engine
    from findling.faces.mcp import http, http_connections, http_guard, http_queue, serve
    from findling.faces.http.options import read_options
    from findling.model.types import Progress
    http_connections.MAX_CONNECTIONS = {connections}
    http_connections.REQUEST_S = {request_s}
    http_guard.MAX_SESSIONS = {sessions}
    http_queue.AT_ONCE, http_queue.WAIT_S = {calls}, {wait_s}
    symbols = Engine.symbols
    def odd(self, name, **options):
        for step in itertools.count() if name == "endless" else ():
            options["progress"](Progress("indexing", step, step + 1000))
            time.sleep(0.01)
        return symbols(self, name, **options)
    Engine.symbols = odd
    serve(Path({root!r}), http=read_options("0"))
"""
"""A server with other bounds, whose `find_symbol` is endless by name."""


def bounded(
    root: Path,
    *,
    connections: int = PLACES,
    request_s: float = 600.0,
    sessions: int = 64,
    calls: int = 1_000,
    wait_s: float = 600.0,
) -> list[str]:
    bounds = {"connections": connections, "request_s": request_s, "sessions": sessions}
    text = BOUNDED.format(root=str(root), calls=calls, wait_s=wait_s, **bounds)
    return [sys.executable, "-c", textwrap.dedent(text)]


@pytest.fixture
def opened() -> Iterator[Callable[[Served, bytes], socket.socket]]:
    """Open connections and send something, and keep them until the test's end."""
    with ExitStack() as stack:

        def begin(served: Served, data: bytes) -> socket.socket:
            wire = stack.enter_context(socket.create_connection(("127.0.0.1", served.port), timeout=60))
            wire.sendall(data)
            return wire

        yield begin


Opened = Callable[[Served, bytes], socket.socket]


def all_of(wire: socket.socket) -> bytes:
    """What comes until the server closes the connection, in whatever way."""
    got = b""
    try:
        while piece := wire.recv(65536):
            got += piece
    except ConnectionResetError:
        pass
    return got


def asked(served: Served, headers: dict[str, str], message: Any, method: str = "POST") -> http.client.HTTPResponse:
    """An answer that is still under way."""
    connection = http.client.HTTPConnection("127.0.0.1", served.port, timeout=60)
    connection.request(method, "/mcp", json.dumps(message) if message else None, {**JSON, **headers})
    answer = connection.getresponse()
    assert answer.status == 200
    return answer


def endless(served: Served, session: dict[str, str], number: int = 1) -> http.client.HTTPResponse:
    """A call that has no end."""
    params = {"name": "find_symbol", "arguments": {"name": "endless"}, "_meta": {"progressToken": number}}
    return asked(served, session, {"jsonrpc": "2.0", "id": f"n{number}", "method": "tools/call", "params": params})


def goes_on(answer: http.client.HTTPResponse) -> bool:
    """Whether more of it comes."""
    return any(line.startswith(b"data: {") for line in answer)


def test_half_a_request_is_waited_for_so_long_and_no_longer(project: Path, run: Run, opened: Opened) -> None:
    served = run(bounded(project, request_s=0.5), FINDLING_HTTP_TOKEN=TOKEN)
    assert all_of(opened(served, b"")) == b""
    with_the_token = HALF + MAY_ASK + b"Content-Length: 99\r\n\r\n{"
    for half in (HALF, with_the_token):
        late = all_of(opened(served, half))
        assert late.startswith(b"HTTP/1.1 408 ")
        assert json.loads(late.partition(b"\r\n\r\n")[2])["error"]["code"] == -32600
    # After an answer the rest of the request is not waited for either, nor is the rest of the next one.
    assert all_of(opened(served, HALF + b"Content-Length: 99\r\n\r\n{")).startswith(b"HTTP/1.1 401 ")
    both = all_of(opened(served, HALF + b"Content-Length: 0\r\n\r\n" + HALF))
    assert (both.count(b"HTTP/1.1 401 "), both.count(b"HTTP/1.1 408 ")) == (1, 1)
    assert served.send(INITIALIZE, KEY).status == 200
    assert not any("Traceback" in line for line in served.said)


def test_a_drop_now_and_then_does_not_lengthen_it(project: Path, run: Run, opened: Opened) -> None:
    served = run(bounded(project, request_s=0.5), FINDLING_HTTP_TOKEN=TOKEN)
    wire = opened(served, HALF)
    wire.settimeout(0.05)
    for _ in range(400):
        try:
            wire.sendall(b"x")
            if wire.recv(65536):
                return
        except TimeoutError:
            continue
        except (BrokenPipeError, ConnectionResetError):
            return
    pytest.fail("it is still waited for")


def new_session(served: Served, headers: dict[str, str] = KEY) -> dict[str, str]:
    answer = served.send(INITIALIZE, headers)
    assert answer.status == 200
    return {**headers, "Mcp-Session-Id": answer.headers["mcp-session-id"]}


def statuses(served: Served, *sessions: dict[str, str]) -> list[int]:
    return [served.send(PING, session).status for session in sessions]


def test_halves_of_requests_leave_room_for_whole_ones(project: Path, run: Run, opened: Opened) -> None:
    served = run(bounded(project), FINDLING_HTTP_TOKEN=TOKEN)
    first = opened(served, HALF)
    for _ in range(4 * PLACES):
        opened(served, HALF)
    assert all_of(first) == b""
    for _ in range(3):
        assert served.send(INITIALIZE, KEY).status == 200
    assert not any("Traceback" in line for line in served.said)


def test_who_was_refused_makes_room_too(project: Path, run: Run, opened: Opened) -> None:
    served = run(bounded(project), FINDLING_HTTP_TOKEN=TOKEN)
    for key in (b"", b"Authorization: Bearer not-the-token\r\n"):
        for _ in range(2 * PLACES):
            assert opened(served, HALF + key + b"Content-Length: 99\r\n\r\n{").recv(12) == b"HTTP/1.1 401"
        assert served.send(INITIALIZE, KEY).status == 200


def test_who_has_shown_the_token_stays(project: Path, run: Run, opened: Opened) -> None:
    served = run(bounded(project), FINDLING_HTTP_TOKEN=TOKEN)
    listening = new_session(served)
    stream = asked(served, listening, None, "GET")
    slow = endless(served, new_session(served))
    body = json.dumps(INITIALIZE).encode()
    writing = opened(served, HALF + MAY_ASK + b"Content-Length: %d\r\n\r\n" % len(body) + body[:9])
    assert served.send(INITIALIZE, KEY).status == 200
    for _ in range(4 * PLACES):
        opened(served, HALF)
    assert served.send(INITIALIZE, KEY).status == 200
    writing.sendall(body[9:])
    assert writing.recv(12) == b"HTTP/1.1 200"
    assert goes_on(slow)
    assert served.send(b"", listening, method="GET").status == 409  # the stream is still there
    stream.close()


def test_places_of_those_who_may_ask_are_taken_from_nobody(project: Path, run: Run) -> None:
    served = run(bounded(project, connections=2), FINDLING_HTTP_TOKEN=TOKEN)
    slow, stream = endless(served, new_session(served)), asked(served, new_session(served), None, "GET")
    turned_away = served.send(INITIALIZE, KEY)
    assert turned_away.status == 503 and int(turned_away.headers["retry-after"]) > 0
    assert goes_on(slow)
    stream.close()


def test_without_a_token_a_call_stays_as_long_as_somebody_asks_less(project: Path, run: Run, opened: Opened) -> None:
    served = run(bounded(project))
    slow = endless(served, new_session(served, {}))
    unfinished = HALF + b"Content-Type: application/json\r\nContent-Length: 99\r\n\r\n{"
    for data in (HALF, unfinished, b"GET /nothing HTTP/1.1\r\nHost: localhost\r\n\r\n"):
        for _ in range(4 * PLACES):
            opened(served, data)
        assert served.send(INITIALIZE).status == 200
    assert goes_on(slow)


def test_without_a_token_calls_without_end_lock_nobody_out(project: Path, run: Run) -> None:
    served = run(bounded(project))
    session = new_session(served, {})
    slow = [endless(served, session, number) for number in range(2 * PLACES)]
    assert served.send(INITIALIZE).status == 200
    assert slow


def test_the_longest_idle_session_makes_room(project: Path, run: Run) -> None:
    served = run(bounded(project, sessions=3), FINDLING_HTTP_TOKEN=TOKEN)
    first, second, third = (new_session(served) for _ in range(3))
    assert statuses(served, first) == [200]
    fourth = new_session(served)
    assert statuses(served, first, second, third, fourth) == [200, 404, 200, 200]


def test_a_session_with_a_call_under_way_stays(project: Path, run: Run) -> None:
    served = run(bounded(project, sessions=2), FINDLING_HTTP_TOKEN=TOKEN)
    slow = endless(served, new_session(served))
    sessions = [new_session(served) for _ in range(3)]
    assert statuses(served, *sessions) == [404, 404, 200]
    assert goes_on(slow)


def test_the_stream_of_a_session_that_makes_room_ends(project: Path, run: Run) -> None:
    served = run(bounded(project, sessions=2), FINDLING_HTTP_TOKEN=TOKEN)
    first = new_session(served)
    stream = asked(served, first, None, "GET")
    second, third = new_session(served), new_session(served)
    stream.read()  # to its end
    assert statuses(served, first, second, third) == [404, 200, 200]


def test_clients_that_never_say_goodbye_lock_nobody_out(project: Path, run: Run) -> None:
    served = run(bounded(project, sessions=64), FINDLING_HTTP_TOKEN=TOKEN)
    sessions = [new_session(served) for _ in range(100)]
    assert statuses(served, *sessions) == [404] * 36 + [200] * 64


# --- calls -------------------------------------------------------------------------------------------------------


CALL: dict[str, Any] = {
    "jsonrpc": "2.0",
    "id": 3,
    "method": "tools/call",
    "params": {"name": "index_status", "arguments": {}},
}


def cancel(served: Served, session: dict[str, str], slow: http.client.HTTPResponse) -> None:
    """End the first endless call, whose answer nobody reads any more."""
    message = {"jsonrpc": "2.0", "method": "notifications/cancelled", "params": {"requestId": "n1"}}
    assert served.send(message, session).status == 202
    slow.close()


def test_a_call_waits_for_its_turn_and_not_for_ever(project: Path, run: Run) -> None:
    served = run(bounded(project, calls=1, wait_s=0.5), FINDLING_HTTP_TOKEN=TOKEN)
    session = new_session(served)
    slow = endless(served, session)
    late = served.send(CALL, session)
    assert late.status == 503 and int(late.headers["retry-after"]) > 0
    assert late.message["error"]["code"] == -32603
    assert statuses(served, session) == [200], "what is no call waits for nothing"
    assert goes_on(slow)
    cancel(served, session, slow)
    while (answer := served.send(CALL, session)).status == 503:
        continue  # until the server has noticed
    assert "result" in answer.message


def test_who_has_gone_takes_no_turn(project: Path, run: Run, opened: Opened) -> None:
    served = run(bounded(project, calls=1, wait_s=60.0), FINDLING_HTTP_TOKEN=TOKEN)
    session = new_session(served)
    slow = endless(served, session)
    endless_call = {**CALL, "params": {"name": "find_symbol", "arguments": {"name": "endless"}}}
    body = json.dumps(endless_call).encode()
    head = HALF + MAY_ASK + f"Mcp-Session-Id: {session['Mcp-Session-Id']}\r\n".encode()
    opened(served, head + b"Content-Length: %d\r\n\r\n" % len(body) + body).close()
    cancel(served, session, slow)
    assert "result" in served.send(CALL, session).message


async def call_once(port: int) -> bytes:
    reader, writer = await asyncio.open_connection("127.0.0.1", port)
    meta = {f"io.modelcontextprotocol/{name}": value for name, value in ERA.items()}
    body = json.dumps({**CALL, "params": {**CALL["params"], "_meta": meta}}).encode()
    writer.write(HALF + MAY_ASK + ERA_HEADERS + b"Connection: close\r\nContent-Length: %d\r\n\r\n" % len(body) + body)
    answer = await reader.read()
    writer.close()
    return answer


ERA = {"protocolVersion": "2026-07-28", "clientCapabilities": {}}
ERA_HEADERS = b"Mcp-Protocol-Version: 2026-07-28\r\nMcp-Method: tools/call\r\nMcp-Name: index_status\r\n"


async def calls_at_once(port: int, clients: int) -> list[bytes]:
    return await asyncio.gather(*(call_once(port) for _ in range(clients)))


def test_two_hundred_clients_at_once_are_all_answered(guarded: Served) -> None:
    answers = asyncio.run(calls_at_once(guarded.port, 200))
    assert all(answer.startswith(b"HTTP/1.1 200") and b'"result"' in answer for answer in answers)


def test_a_thousand_clients_at_once_are_answered_or_told_when_to_come_again(project: Path, run: Run) -> None:
    served = run(bounded(project, connections=1200, calls=8, wait_s=2.0), FINDLING_HTTP_TOKEN=TOKEN)
    soft, hard = resource.getrlimit(resource.RLIMIT_NOFILE)
    if hard < 2000:
        pytest.skip("a process may have fewer than 2,000 files open here")
    resource.setrlimit(resource.RLIMIT_NOFILE, (max(soft, min(hard, 2000)), hard))
    answers = asyncio.run(calls_at_once(served.port, 1000))
    answered = [b'"result"' in answer and answer.startswith(b"HTTP/1.1 200") for answer in answers]
    told = [answer.startswith(b"HTTP/1.1 503") and b"retry-after: " in answer.lower() for answer in answers]
    assert all(one or other for one, other in zip(answered, told, strict=True))
    assert any(answered)


def test_sessions_that_have_ended_take_no_place(project: Path, run: Run) -> None:
    served = run(bounded(project, sessions=2), FINDLING_HTTP_TOKEN=TOKEN)
    kept = new_session(served)
    for _ in range(5):
        assert served.send(b"", new_session(served), method="DELETE").status == 200
    assert statuses(served, kept) == [200]
