"""The protocol over HTTP, with the SDK's client: the same tools, progress, cancellation, and a clean end."""

from __future__ import annotations

import asyncio
import http.client
import json
import signal
import subprocess
import sys
import textwrap
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest
from mcp import Client, MCPError
from served import COMMAND, INITIALIZE, JSON, TOKEN, Served

Run = Callable[..., Served]

ERAS = ["legacy", "2026-07-28"]

MODERN = {
    "io.modelcontextprotocol/protocolVersion": "2026-07-28",
    "io.modelcontextprotocol/clientCapabilities": {},
}

PATCHED = """
    import itertools, os, time
    from pathlib import Path
    from findling.engine import Engine
    from findling.faces.mcp import serve
    from findling.faces.http.options import read_options
    from findling.model.types import Progress
    symbols = Engine.symbols
    def odd(self, name, **options):
        if name == "noisy":
            print("NOISE from print")
            os.write(1, b"NOISE from a descriptor\\n")
        for step in itertools.count() if name == "endless" else ():
            options["progress"](Progress("indexing", step, step + 1000))
            time.sleep(0.01)
        return symbols(self, name, **options)
    Engine.symbols = odd
    serve(Path({root!r}), http=read_options("0"))
"""
"""A server whose `find_symbol` is noisy or endless by name."""


def patched(root: Path) -> list[str]:
    return [sys.executable, "-c", textwrap.dedent(PATCHED.format(root=str(root)))]


@pytest.mark.parametrize("version", ["2025-06-18", "2025-11-25"])
def test_the_handshake_touches_nothing(version: str, tmp_path: Path, run: Run) -> None:
    served = run([*COMMAND, str(tmp_path)])
    params = {**INITIALIZE["params"], "protocolVersion": version}
    answer = served.send({**INITIALIZE, "params": params})
    assert answer.message["result"]["protocolVersion"] == version
    session = {"Mcp-Session-Id": answer.headers["mcp-session-id"], "MCP-Protocol-Version": version}
    assert served.send({"jsonrpc": "2.0", "method": "notifications/initialized"}, session).status == 202
    listed = served.send({"jsonrpc": "2.0", "id": 2, "method": "tools/list"}, session)
    assert len(listed.message["result"]["tools"]) >= 13
    assert not (tmp_path / ".findling").exists()
    assert served.send(b"", session, method="DELETE").status == 200
    assert served.send({"jsonrpc": "2.0", "id": 3, "method": "tools/list"}, session).status == 404


@pytest.mark.parametrize("mode", ERAS)
def test_tools_answer_in_both_eras_and_tell_how_far_they_are(mode: str, tmp_path: Path, run: Run) -> None:
    for number in range(80):
        text = "".join(f"def f_{number}_{i}():\n    return {i}\n" for i in range(60))
        (tmp_path / f"part_{number}.py").write_text(text)
    served = run([*COMMAND, str(tmp_path)])
    seen: list[float] = []

    async def ask() -> None:
        async def told(progress: float, total: float | None, message: str | None) -> None:
            assert (total, bool(message)) == (3.0, True)
            seen.append(progress)

        async with Client(served.url, mode=mode) as client:
            result = await client.call_tool("find_symbol", {"name": "f_7_3"}, progress_callback=told)
            assert result.structured_content["symbols"][0]["path"] == "part_7.py"
            refused = await client.call_tool("find_symbol", {"nam": "f_7_3"})
            assert refused.is_error
            assert "Did you mean `name`?" in refused.content[0].text
            with pytest.raises(MCPError, match="no tool called 'nothing'"):
                await client.call_tool("nothing", {})

    asyncio.run(ask())
    assert seen
    assert seen == sorted(set(seen))


def call(name: str, request_id: str, **meta: Any) -> dict[str, Any]:
    params = {"name": "find_symbol", "arguments": {"name": name}, "_meta": {"progressToken": "p", **meta}}
    return {"jsonrpc": "2.0", "id": request_id, "method": "tools/call", "params": params}


def begin(served: Served, message: Any, headers: dict[str, str]) -> http.client.HTTPResponse:
    """Ask, and read as far as the first word of progress."""
    connection = http.client.HTTPConnection("127.0.0.1", served.port, timeout=30)
    connection.request("POST", "/mcp", json.dumps(message), {**JSON, **headers})
    answer = connection.getresponse()
    while b"notifications/progress" not in (line := answer.readline()):
        assert line
    return answer


def session_of(served: Served) -> dict[str, str]:
    opened = served.send(INITIALIZE)
    session = {"Mcp-Session-Id": opened.headers["mcp-session-id"], "MCP-Protocol-Version": "2025-11-25"}
    served.send({"jsonrpc": "2.0", "method": "notifications/initialized"}, session)
    return session


def test_a_cancelled_call_stops_and_the_next_one_is_answered(project: Path, run: Run) -> None:
    served = run(patched(project))
    session = session_of(served)
    begin(served, call("endless", "slow"), session)
    cancel = {"jsonrpc": "2.0", "method": "notifications/cancelled", "params": {"requestId": "slow"}}
    assert served.send(cancel, session).status == 202
    # One call is answered at a time: this one would wait for the other, which has no end.
    assert served.send(call("work_1", "next"), session).status == 200
    modern = {"MCP-Protocol-Version": "2026-07-28", "Mcp-Method": "tools/call", "Mcp-Name": "find_symbol"}
    begin(served, call("endless", "slow", **MODERN), modern).close()  # whoever hangs up does not want the answer
    assert served.send(call("work_2", "next", **MODERN), modern).message["result"]["structuredContent"]["symbols"]


def test_what_is_printed_stays_out_of_the_answers(project: Path, run: Run) -> None:
    served = run(patched(project))
    session = session_of(served)
    answer = served.send(call("noisy", "n"), session)
    assert "NOISE" not in answer.body.decode()
    assert served.end(signal.SIGTERM) == 0
    assert served.process.stdout is not None
    assert served.process.stdout.read() == b""
    assert served.says("NOISE", times=2)


@pytest.mark.parametrize("number", [signal.SIGINT, signal.SIGTERM])
def test_a_signal_ends_it_cleanly_in_the_middle_of_work(number: signal.Signals, project: Path, run: Run) -> None:
    served = run(patched(project))
    session = session_of(served)
    stream = http.client.HTTPConnection("127.0.0.1", served.port, timeout=30)
    stream.request("GET", "/mcp", headers={**session, "Accept": "text/event-stream"})
    assert stream.getresponse().status == 200
    begin(served, call("endless", "slow"), session)
    assert served.end(number) == 0
    assert not any("Traceback" in line for line in served.said)


def test_clients_at_the_same_time_get_their_own_answers(project: Path, run: Run) -> None:
    served = run([*COMMAND, str(project)])

    async def ask(number: int) -> None:
        async with Client(served.url, mode=ERAS[number % 2]) as client:
            for _ in range(5):
                result = await client.call_tool("find_symbol", {"name": f"work_{number}", "limit": 1})
                assert result.structured_content["symbols"][0]["path"] == f"part_{number}.py"

    async def all_of_them() -> None:
        await asyncio.gather(*(ask(number) for number in range(6)))

    asyncio.run(all_of_them())


@pytest.mark.parametrize(
    ("arguments", "said"),
    [
        (["--http", "0.0.0.0:0"], "can be reached from other machines, and there is no token"),
        (["--http", "[::]:0"], "can be reached from other machines, and there is no token"),
        (["--http", "nonsense"], "is not [HOST:]PORT"),
        (["--http", "70000"], "is not [HOST:]PORT"),
        (["--http", "no-such-host.invalid:1"], "There is no host"),
        (["--http", "0", "--allow-host", "*"], "patterns are not supported"),
        (["--allow-host", "box.example"], "--allow-host is for --http"),
        (["--http", "0", "--token-file", "/no/such/file"], "cannot be read"),
    ],
)
def test_what_would_be_unsafe_or_senseless_is_said_at_once(arguments: list[str], said: str, project: Path) -> None:
    command = [sys.executable, "-m", "findling", "serve", *arguments, str(project)]
    ran = subprocess.run(command, stdin=subprocess.DEVNULL, capture_output=True, text=True, timeout=30)
    assert (ran.returncode, ran.stdout) == (2, "")
    assert said in ran.stderr


def test_a_port_that_is_taken_is_said(project: Path, guarded: Served) -> None:
    command = [sys.executable, "-m", "findling", "serve", "--http", str(guarded.port), str(project)]
    ran = subprocess.run(command, stdin=subprocess.DEVNULL, capture_output=True, text=True, timeout=30)
    assert ran.returncode == 2
    assert f"Cannot listen on 127.0.0.1 port {guarded.port}" in ran.stderr


def test_with_a_token_it_can_be_opened_to_others(project: Path, tmp_path: Path, run: Run) -> None:
    file = tmp_path / "token"
    file.write_text(f"{TOKEN}\n")
    file.chmod(0o600)
    served = run([*COMMAND[:-1], "0.0.0.0:0", "--token-file", str(file), str(project)])
    assert served.says("only requests to localhost are answered; --allow-host")
    assert served.send(INITIALIZE).status == 401
    key = {"Authorization": f"Bearer {TOKEN}"}
    assert served.send(INITIALIZE, key).status == 200
    assert served.send(INITIALIZE, {**key, "Host": f"192.0.2.7:{served.port}"}).status == 421
