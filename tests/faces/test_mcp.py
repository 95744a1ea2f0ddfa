"""The server as a client's process sees it: what goes over the wire, when, and nothing else."""

from __future__ import annotations

import asyncio
import json
import os
import signal
import subprocess
import sys
import textwrap
from collections.abc import Iterator
from pathlib import Path
from typing import IO, Any

import pytest
from mcp import Client, MCPError, StdioServerParameters

COMMAND = [sys.executable, "-m", "findling", "serve"]


@pytest.fixture
def project(tmp_path: Path) -> Path:
    for number in range(30):
        (tmp_path / f"part_{number}.py").write_text(f"def work_{number}():\n    return {number}\n")
    return tmp_path.resolve()


class Wire:
    """A server's process, spoken to in lines of JSON."""

    def __init__(self, process: subprocess.Popen[str]) -> None:
        self.process = process
        assert process.stdin is not None
        assert process.stdout is not None
        self._in: IO[str] = process.stdin
        self._out: IO[str] = process.stdout
        self._id = 0

    def send(self, message: str) -> None:
        self._in.write(message + "\n")
        self._in.flush()

    def ask(self, method: str, **params: Any) -> Any:
        self._id += 1
        self.send(json.dumps({"jsonrpc": "2.0", "id": self._id, "method": method, "params": params}))
        while True:
            answer = json.loads(self._out.readline())
            assert answer["jsonrpc"] == "2.0"
            if answer.get("id") == self._id:
                return answer

    def initialize(self, version: str = "2025-11-25") -> Any:
        client = {"name": "test", "version": "1"}
        answer = self.ask("initialize", protocolVersion=version, capabilities={}, clientInfo=client)
        self.send('{"jsonrpc":"2.0","method":"notifications/initialized"}')
        return answer

    def end(self) -> tuple[int, str]:
        """Close the client's end: (exit status, what was still written)."""
        self._in.close()
        rest = self._out.read()
        return self.process.wait(30), rest


def start(arguments: list[str], **options: Any) -> Wire:
    return Wire(
        subprocess.Popen(
            arguments,
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            stderr=subprocess.PIPE,
            text=True,
            encoding="utf-8",
            **options,
        )
    )


@pytest.fixture
def wire(project: Path) -> Iterator[Wire]:
    opened = start([*COMMAND, str(project)])
    yield opened
    opened.process.kill()
    opened.process.communicate()


@pytest.mark.parametrize("version", ["2025-06-18", "2025-11-25"])
def test_the_handshake_touches_nothing(version: str, project: Path) -> None:
    """S2-1: JSON-RPC over stdio; initialize is answered before an index or a model is opened."""
    opened = start([*COMMAND, "--root", str(project)])
    result = opened.initialize(version)["result"]
    assert (result["protocolVersion"], result["serverInfo"]["name"]) == (version, "findling")
    assert result["capabilities"].keys() == {"tools"}
    assert len(opened.ask("tools/list")["result"]["tools"]) >= 13
    assert opened.end() == (0, "")
    assert not (project / ".findling").exists()


def test_before_the_first_call_nothing_heavy_is_loaded(project: Path) -> None:
    code = f"""
        import asyncio, sys
        from findling.faces import mcp
        from findling.contracts.tools import select
        from findling.contracts.workspaces import Workspace
        server = mcp.make_server(mcp.Desk(select(None), Workspace({str(project)!r})))
        heavy = {{"numpy", "apsw", "tantivy", "tree_sitter", "simsimd", "findling.engine.engine"}}
        print(sorted(heavy & set(sys.modules)))
    """
    ran = subprocess.run([sys.executable, "-c", textwrap.dedent(code)], capture_output=True, text=True, check=True)
    assert ran.stdout.strip() == "[]"


def test_the_command_line_does_without_the_sdk() -> None:
    code = "import findling.contracts.registry, findling.faces.mcp, sys; print('mcp' in sys.modules)"
    ran = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    assert ran.stdout.strip() == "False"


def test_stdout_carries_the_protocol_alone(project: Path) -> None:
    """S2-1: whatever is printed while a tool runs, by Python, by a child or by native code, goes to stderr."""
    code = f"""
        import os, subprocess, sys
        from findling.engine import Engine
        from findling.faces.mcp import serve
        symbols = Engine.symbols
        def noisy(self, *arguments, **options):
            print("NOISE from print")
            sys.__stdout__.write("NOISE from the first stdout\\n")
            os.write(1, b"NOISE from a descriptor\\n")
            subprocess.run([sys.executable, "-c", "print('NOISE from a child', input() if 0 else '')"], check=True)
            assert sys.stdin.read() == ""
            return symbols(self, *arguments, **options)
        Engine.symbols = noisy
        serve(root := __import__("pathlib").Path({str(project)!r}), roots=[root])
    """
    opened = start([sys.executable, "-c", textwrap.dedent(code)])
    opened.initialize()
    answer = opened.ask("tools/call", name="find_symbol", arguments={"name": "work_7"})
    assert answer["result"]["structuredContent"]["symbols"][0]["path"] == "part_7.py"
    status, rest = opened.end()
    assert (status, rest) == (0, "")
    assert opened.process.stderr is not None
    assert opened.process.stderr.read().count("NOISE") == 4


def test_bad_lines_and_bad_calls_do_not_end_the_server(wire: Wire) -> None:
    wire.initialize()
    wire.send("this is not JSON")
    wire.send('{"jsonrpc":"2.0"}')
    unknown = wire.ask("tools/call", name="find_symbl", arguments={})
    assert unknown["error"]["code"] == -32602
    assert "find_symbol" in unknown["error"]["message"]
    assert "error" in wire.ask("no/such/method")
    bad = wire.ask("tools/call", name="find_symbol", arguments={"name": "", "limit": 3})["result"]
    assert bad["isError"] is True
    assert bad["content"] == [{"type": "text", "text": "Parameter `name` must not be blank."}]
    good = wire.ask("tools/call", name="find_symbol", arguments={"name": "work_3"})["result"]
    assert good["isError"] is False


def test_files_arrive_verbatim_as_text(wire: Wire, project: Path) -> None:
    text = 'a "quoted"\r\n\ttab \\ and ü\n'
    (project / "odd.txt").write_bytes(text.encode())
    wire.initialize()
    result = wire.ask("tools/call", name="get_file", arguments={"path": "odd.txt"})["result"]
    assert result["content"] == [{"type": "text", "text": text, "_meta": {"findling/untrusted": True}}]
    assert "structuredContent" not in result


def test_an_interrupt_ends_the_server_at_once(wire: Wire) -> None:
    wire.initialize()
    wire.ask("tools/call", name="find_symbol", arguments={"name": "work_3"})
    wire.process.send_signal(signal.SIGINT)
    assert wire.process.wait(20) == 130


def test_many_and_large_messages_in_one_piece(wire: Wire) -> None:
    wire.initialize()
    call = {"name": "find_symbol", "arguments": {"name": "work_3"}}
    messages = [
        json.dumps({"jsonrpc": "2.0", "id": f"n{number}", "method": "tools/call", "params": call})
        for number in range(100)
    ]
    wire.send("\n".join([*messages, "x" * 500_000]))
    assert wire.process.stdout is not None
    answered = {json.loads(wire.process.stdout.readline())["id"] for _ in [*messages, "what is no JSON"]}
    assert answered == {None, *(f"n{number}" for number in range(100))}
    long = wire.ask("tools/call", name="hybrid_search", arguments={"query": "ü" * 200_000})
    assert "only the first 100,000 were searched for" in long["result"]["structuredContent"]["notes"][0]


def listed(arguments: list[str]) -> list[str]:
    opened = start([*COMMAND, *arguments])
    opened.initialize()
    names = [tool["name"] for tool in opened.ask("tools/list")["result"]["tools"]]
    assert opened.end()[0] == 0
    return names


def test_families_and_single_tools_can_be_chosen(project: Path) -> None:
    repo = ["search_semantic", "hybrid_search", "search_keyword", "find_symbol", "list_defs_in_file", "get_file"]
    assert listed([str(project), "--tools", "repo,search_code"]) == ["search_code", *repo]


@pytest.mark.parametrize(
    ("arguments", "said"),
    [
        (["--tools", "cod"], "Did you mean 'code'?"),
        (["--root", "/no/such/folder"], "/no/such/folder"),
        (["--tools", ","], "has no name in it"),
    ],
)
def test_a_server_that_cannot_work_says_so_and_ends(arguments: list[str], said: str, project: Path) -> None:
    ran = subprocess.run(
        [*COMMAND, *arguments], cwd=project, stdin=subprocess.DEVNULL, capture_output=True, text=True, timeout=30
    )
    assert (ran.returncode, ran.stdout) == (2, "")
    assert said in ran.stderr


def test_a_tool_that_is_not_served_cannot_be_called(project: Path) -> None:
    opened = start([*COMMAND, str(project), "--tools", "repo"])
    opened.initialize()
    assert opened.ask("tools/call", name="search_code", arguments={"query": "x"})["error"]["code"] == -32602
    opened.end()


def test_progress_rises_while_a_question_indexes(project: Path) -> None:
    """The first question of a folder tells how far it is, when the client asks for that."""
    for number in range(200):
        (project / f"more_{number}.py").write_text(
            "".join(f"def f_{number}_{i}():\n    return {i}\n" for i in range(60))
        )
    seen: list[tuple[float, float | None]] = []

    async def ask() -> None:
        async def told(progress: float, total: float | None, message: str | None) -> None:
            seen.append((progress, total))

        server = StdioServerParameters(command=COMMAND[0], args=[*COMMAND[1:], str(project)])
        async with Client(server, mode="legacy") as client:
            result = await client.call_tool("find_symbol", {"name": "f_7_3"}, progress_callback=told)
            assert not result.is_error

    asyncio.run(ask())
    assert seen
    assert [progress for progress, _ in seen] == sorted({progress for progress, _ in seen})
    assert {total for _, total in seen} == {3.0}


def test_a_cancelled_call_stops_and_the_next_one_is_answered(project: Path) -> None:
    code = f"""
        import time
        from findling.engine import Engine
        from findling.model.errors import Cancelled
        from findling.faces.mcp import serve
        from findling.model.types import Progress
        symbols = Engine.symbols
        def endless(self, name, **options):
            if name != "endless":
                return symbols(self, name, **options)
            for step in range(3000):
                options["progress"](Progress("indexing", step, 3000))
                time.sleep(0.01)
        Engine.symbols = endless
        serve(__import__("pathlib").Path({str(project)!r}))
    """
    opened = start([sys.executable, "-c", textwrap.dedent(code)])
    opened.initialize()
    call = {"name": "find_symbol", "arguments": {"name": "endless"}, "_meta": {"progressToken": "p"}}
    opened.send(json.dumps({"jsonrpc": "2.0", "id": "slow", "method": "tools/call", "params": call}))
    assert opened.process.stdout is not None
    assert json.loads(opened.process.stdout.readline())["method"] == "notifications/progress"
    opened.send(json.dumps({"jsonrpc": "2.0", "method": "notifications/cancelled", "params": {"requestId": "slow"}}))
    answer = opened.ask("tools/call", name="find_symbol", arguments={"name": "work_1"})
    assert answer["result"]["structuredContent"]["symbols"][0]["name"] == "work_1"
    assert opened.end()[0] == 0


def test_unknown_tools_are_an_error_of_the_protocol(project: Path) -> None:
    async def ask() -> None:
        server = StdioServerParameters(command=COMMAND[0], args=[*COMMAND[1:], str(project), "--tools", "repo"])
        async with Client(server, mode="2026-07-28") as client:
            for name, said in (
                ("nothing", "no tool called 'nothing'"),
                ("find_symbl", "Did you mean 'find_symbol'"),
                ("query_docs", "query_docs is not served here. It is of the family docs: .* --tools docs."),
                ("flush_all", "--tools library --allow-delete."),
            ):
                with pytest.raises(MCPError, match=said):
                    await client.call_tool(name, {})

    asyncio.run(ask())


def test_tool_reads_arguments_from_stdin_and_refuses_what_is_no_json(project: Path) -> None:
    command = [sys.executable, "-m", "findling", "tool"]
    ran = subprocess.run(
        [*command, "find_symbol", "-", str(project)],
        input='{"name": "work_2"}',
        capture_output=True,
        text=True,
        timeout=60,
        env={**os.environ, "PYTHONIOENCODING": "utf-8"},
    )
    assert (ran.returncode, json.loads(ran.stdout)["symbols"][0]["line"]) == (0, 1)
    for arguments, said in ((["find_symbol", "{"], "not JSON"), (["find_symbl", "{}"], "Did you mean 'find_symbol'?")):
        ran = subprocess.run([*command, *arguments], cwd=project, capture_output=True, text=True, timeout=60)
        assert (ran.returncode, ran.stdout) == (2, "")
        assert said in ran.stderr
