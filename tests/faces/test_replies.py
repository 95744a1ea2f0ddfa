"""Whatever is sent as a request is answered at once, over stdin and stdout and over HTTP, and so is what comes next."""

from __future__ import annotations

import json
import queue
import subprocess
import sys
import threading
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest
from served import INITIALIZE, TOKEN, Served

from findling.faces.mcp.http_guard import MAX_REQUEST_BYTES

PARSE_ERROR, INVALID_REQUEST = -32700, -32600

LONG = 1 << 24
"""The longest message over stdin, in bytes."""

META = {"io.modelcontextprotocol/protocolVersion": "2026-07-28", "io.modelcontextprotocol/clientCapabilities": {}}


def call(arguments: str) -> str:
    """A call of `find_symbol` with these arguments, as JSON text."""
    params = f'{{"name":"find_symbol","arguments":{arguments}}}'
    return f'{{"jsonrpc":"2.0","id":"x","method":"tools/call","params":{params}}}'


def for_either_era(text: str) -> bytes:
    """The same call with what a request over HTTP brings in the newer era; in the older one it is of no account."""
    return encoded(text.replace('"params":{', f'"params":{{"_meta":{json.dumps(META)},'))


def id_last(request: str) -> str:
    """The same request with its members in the order of the SDK for JavaScript."""
    return "{" + request.removeprefix('{"jsonrpc":"2.0","id":"x",').removesuffix("}") + ',"jsonrpc":"2.0","id":"x"}'


DEEP = call("[" * 100_000 + "]" * 100_000)
HUGE_NUMBER = call(f'{{"name":"work_1","limit":{"9" * 10_000}}}')

REFUSED: dict[str, tuple[str, int, object]] = {
    "deep": (DEEP, PARSE_ERROR, "x"),
    "deep, id last": (id_last(DEEP), PARSE_ERROR, "x"),
    "deep, never closed": (call("[" * 100_000), PARSE_ERROR, "x"),
    "a huge number": (HUGE_NUMBER, PARSE_ERROR, "x"),
    "a huge number, id last": (id_last(HUGE_NUMBER), PARSE_ERROR, "x"),
    "a huge number as id": (f'{{"jsonrpc":"2.0","id":{"9" * 10_000},"method":"ping"}}', PARSE_ERROR, None),
    "cut off": (call('{"name":"work_1"}')[:-60], PARSE_ERROR, "x"),
    "a call inside of what is cut off": ('{"method":"m","params":{"id":5', PARSE_ERROR, None),
    "an id inside of the arguments": ('{"method":"m","params":{"id":5},"x":}', PARSE_ERROR, None),
    "text": ("this is not JSON", PARSE_ERROR, None),
    "no method": ('{"jsonrpc":"2.0","id":"x"}', INVALID_REQUEST, "x"),
    "a method that is none": ('{"jsonrpc":"2.0","id":7,"method":3}', INVALID_REQUEST, 7),
    "no version": ('{"id":"x","method":"ping"}', INVALID_REQUEST, "x"),
    "params that are a list": ('{"jsonrpc":"2.0","id":"x","method":"ping","params":[]}', INVALID_REQUEST, "x"),
    "an id of null": ('{"jsonrpc":"2.0","id":null,"method":"ping"}', INVALID_REQUEST, None),
    "an id of true": ('{"jsonrpc":"2.0","id":true,"method":"ping"}', INVALID_REQUEST, None),
    "a fraction as id": ('{"jsonrpc":"2.0","id":1.5,"method":"ping"}', INVALID_REQUEST, None),
    "nothing in it": ("{}", INVALID_REQUEST, None),
    "several at once": ('[{"jsonrpc":"2.0","id":"x","method":"ping"}]', INVALID_REQUEST, None),
    "a number": ("1", INVALID_REQUEST, None),
}

ANSWERED = {
    "half an emoji": call('{"name":"work_1 \\ud83d"}'),
    "the other half": call('{"name":"work_1 \\uDE00 x"}'),
    "halves in the wrong order": call('{"name":"work_1 \\ude00\\ud83d"}'),
    "half an emoji as name": call('{"name":"work_1","\\ud83d":1}'),
    "bytes that are no text": call('{"name":"work_1 \udcff"}'),
    "a mark of the byte order": "\ufeff" + call('{"name":"work_1"}'),
}


def encoded(text: str) -> bytes:
    return text.encode("utf-8", "surrogateescape")


class Wire:
    """A server's process on stdin and stdout, spoken to in bytes."""

    def __init__(self, root: Path) -> None:
        command = [sys.executable, "-m", "findling", "serve", str(root)]
        self.process = subprocess.Popen(command, stdin=-1, stdout=-1, stderr=subprocess.DEVNULL)
        self._messages: queue.Queue[Any] = queue.Queue()
        threading.Thread(target=self._read, daemon=True).start()
        self.send(json.dumps(INITIALIZE).encode())
        assert self.next()["id"] == 1

    def _read(self) -> None:
        assert self.process.stdout is not None
        for line in self.process.stdout:
            self._messages.put(json.loads(line))

    def send(self, line: bytes) -> None:
        assert self.process.stdin is not None
        self.process.stdin.write(line + b"\n")
        self.process.stdin.flush()

    def next(self) -> Any:
        return self._messages.get(timeout=60)

    def replies(self, line: bytes) -> list[Any]:
        """What comes back for it until the answer to the next request."""
        self.send(line)
        self.send(b'{"jsonrpc":"2.0","id":"after","method":"ping"}')
        got = []
        while (message := self.next())["id"] != "after":
            got.append(message)
        return got


@pytest.fixture(scope="module")
def wire(project: Path) -> Iterator[Wire]:
    opened = Wire(project)
    yield opened
    opened.process.kill()
    opened.process.wait()


@pytest.mark.parametrize(("text", "code", "request_id"), REFUSED.values(), ids=REFUSED)
def test_what_is_no_request_is_refused_on_stdout(text: str, code: int, request_id: object, wire: Wire) -> None:
    (reply,) = wire.replies(encoded(text))
    assert (reply["id"], reply["error"]["code"]) == (request_id, code)


@pytest.mark.parametrize("text", ANSWERED.values(), ids=ANSWERED)
def test_what_can_be_mended_is_answered_on_stdout(text: str, wire: Wire) -> None:
    wire.send(encoded(text))
    reply = wire.next()
    assert (reply["id"], "result" in reply) == ("x", True)


def test_what_is_mended_is_the_broken_half_alone(wire: Wire) -> None:
    wire.send(call('{"nam\\ud83d\\ude00\\\\ud83d\\ud83d":1}').encode())
    assert "`nam😀\\ud83d\ufffd`" in wire.next()["result"]["content"][0]["text"]


@pytest.mark.parametrize("request_id", ['"x"', "17"])
@pytest.mark.parametrize("last", [False, True])
def test_a_line_that_is_too_long_is_refused_by_its_id(request_id: str, last: bool, wire: Wire) -> None:
    text = call(f'{{"name":"{"x" * LONG}"}}')
    line = (id_last(text) if last else text).replace('"id":"x"', f'"id":{request_id}').encode()
    (reply,) = wire.replies(line)
    assert (reply["id"], reply["error"]["code"]) == (json.loads(request_id), INVALID_REQUEST)
    assert "16777216 bytes" in reply["error"]["message"]


@pytest.mark.skipif(not Path("/proc/self/status").exists(), reason="the peak of another process is read from /proc")
def test_a_line_without_end_is_not_kept_in_memory(project: Path) -> None:
    opened = Wire(project)

    def peak() -> int:
        status = Path(f"/proc/{opened.process.pid}/status").read_text()
        return int(status.partition("VmHWM:")[2].split()[0]) << 10

    opened.send(encoded(call('{"name":"work_1"}')))
    assert opened.next()["id"] == "x"  # what a first answer loads is in memory from now on
    before = peak()
    (reply,) = opened.replies(b'{"jsonrpc":"2.0","id":"x","method":"' + b"x" * 12 * LONG)
    assert reply["error"]["code"] == INVALID_REQUEST
    assert peak() - before < 8 * LONG
    opened.process.kill()
    opened.process.wait()


@pytest.mark.parametrize(
    "text",
    [
        '{"jsonrpc":"2.0","method":"notifications/unknown"}',
        '{"jsonrpc":"2.0","method":"notifications/unknown","params":3}',
        '{"jsonrpc":"2.0","method":"notifications/unknown","params":{"x":"\\ud83d"}}',
        '{"jsonrpc":"2.0","id":"x","result":{}}',
        '{"jsonrpc":"2.0","id":"x","error":{"code":1,"message":"no"}}',
        "",
        " \r",
    ],
)
def test_what_asks_nothing_is_not_answered(text: str, wire: Wire) -> None:
    assert wire.replies(encoded(text)) == []


@pytest.fixture(scope="module", params=["2025-11-25", "2026-07-28"])
def headers(request: pytest.FixtureRequest, guarded: Served) -> dict[str, str]:
    """What requests bring in either era."""
    key = {"Authorization": f"Bearer {TOKEN}", "MCP-Protocol-Version": request.param}
    if request.param == "2026-07-28":
        return {**key, "Mcp-Method": "tools/call", "Mcp-Name": "find_symbol"}
    opened = guarded.send(INITIALIZE, {"Authorization": key["Authorization"]})
    return {**key, "Mcp-Session-Id": opened.headers["mcp-session-id"]}


def answers_on(served: Served, headers: dict[str, str]) -> None:
    answer = served.send(for_either_era(call('{"name":"work_1"}')), headers)
    assert answer.message["result"]["structuredContent"]["symbols"]


@pytest.mark.parametrize(("text", "code", "request_id"), REFUSED.values(), ids=REFUSED)
def test_what_is_no_request_is_refused_over_http(
    text: str, code: int, request_id: object, guarded: Served, headers: dict[str, str]
) -> None:
    answer = guarded.send(encoded(text), headers)
    assert (answer.status, answer.headers["content-type"]) == (400, "application/json")
    assert (answer.message["id"], answer.message["error"]["code"]) == (request_id, code)
    answers_on(guarded, headers)


@pytest.mark.parametrize("text", ANSWERED.values(), ids=ANSWERED)
def test_what_can_be_mended_is_answered_over_http(text: str, guarded: Served, headers: dict[str, str]) -> None:
    answer = guarded.send(for_either_era(text), headers)
    assert (answer.status, answer.message["id"], "result" in answer.message) == (200, "x", True)


def test_a_body_that_is_too_long_is_refused_over_http(guarded: Served, headers: dict[str, str]) -> None:
    answer = guarded.send(encoded(call(f'{{"name":"{"x" * MAX_REQUEST_BYTES}"}}')), headers)
    assert (answer.status, answer.message["error"]["code"]) == (413, INVALID_REQUEST)
    answers_on(guarded, headers)


def test_notifications_are_taken_without_an_answer_over_http(guarded: Served, headers: dict[str, str]) -> None:
    answer = guarded.send(b'{"jsonrpc":"2.0","method":"notifications/unknown","params":{"x":"\\ud83d"}}', headers)
    assert (answer.status, answer.body) == (202, b"")
