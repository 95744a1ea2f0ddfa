"""Every tool of the registry gives one answer: from Python, the command line and MCP of both eras."""

from __future__ import annotations

import asyncio
import json
import os
import re
import sys
from collections.abc import Mapping
from pathlib import Path
from typing import Any

import pytest
from mcp import Client, StdioServerParameters

import forked
from findling.contracts import TOOLS, Workspace, call
from findling.contracts.model import text_block
from findling.contracts.untrusted import UntrustedText

COMMAND = [sys.executable, "-m", "findling"]

OF_THE_MOMENT = frozenset(
    (
        *("uptime_seconds", "job_id", "last_indexed_at", "recent_jobs", "active_job"),
        *("query_latency_ms", "latency_ms", "next_cursor"),
    )
)
"""Fields that tell the time or number a run or a state of the index: two calls cannot agree on them."""

LISTED = [name for name, tool in TOOLS.items() if not tool.destructive]
SERVED = [name for name in LISTED if not TOOLS[name].open_world]
"""Those that start a job have no answer twice the same."""
"""What is served unless somebody asks for more; `test_library_tools` proves the others."""

BAD: Mapping[str, Any] = {"no_such_argument": True}

_TIMES = re.compile(r'(?<= in )\d+(?=ms$)|(?<="searchTime":)\d+')


OF_A_SERVER = "watching"
"""Only a server watches its folder, and says how that goes."""


def timeless(value: Any) -> Any:
    if isinstance(value, dict):
        return {
            key: type(item).__name__ if key in OF_THE_MOMENT else timeless(item)
            for key, item in value.items()
            if key != OF_A_SERVER
        }
    if isinstance(value, str):
        return _TIMES.sub("0", value)
    return [timeless(item) for item in value] if isinstance(value, list) else value


def from_python(root: Path, calls: Mapping[str, Any]) -> dict[str, tuple[Any, bool]]:
    answers = {}
    with Workspace(root, root=root) as workspace:
        for name, arguments in calls.items():
            result = call(name, arguments, workspace)
            answers[name] = (result.as_json(), result.is_error)
            workspace.finish()
    return answers


def from_command_line(root: Path, calls: Mapping[str, Any]) -> dict[str, tuple[Any, bool]]:
    answers = {}
    for name, arguments in calls.items():
        ran = forked.findling("tool", name, json.dumps(arguments), "--root", str(root), cwd=root, env=os.environ)
        assert ran.returncode in (0, 2), ran.stderr
        answers[name] = (json.loads(ran.stdout), ran.returncode == 2)
    return answers


async def over_mcp(root: Path, calls: Mapping[str, Any], mode: str) -> dict[str, tuple[Any, bool]]:
    server = StdioServerParameters(
        command=COMMAND[0],
        args=[*COMMAND[1:], "serve", "--root", str(root)],
        env={"FINDLING_DATA_DIR": os.environ["FINDLING_DATA_DIR"]},
    )
    answers: dict[str, tuple[Any, bool]] = {}
    async with Client(server, mode=mode) as client:
        served = {tool.name: tool for tool in (await client.list_tools()).tools}
        assert list(served) == LISTED
        for name, arguments in calls.items():
            assert served[name].input_schema == TOOLS[name].published_schema
            result = await client.call_tool(name, dict(arguments))
            blocks = [block.model_dump(by_alias=True, exclude_none=True) for block in result.content]
            texts = [block["text"] for block in blocks]
            if result.structured_content is not None:
                # Clients show one of the two: they must say the same.
                assert json.loads(texts[0]) == result.structured_content
                answers[name] = (result.structured_content, result.is_error)
            else:
                answers[name] = ({"content": blocks, "isError": result.is_error}, result.is_error)
            while TOOLS[name].writes and not result.is_error and await job_runs(client):
                await asyncio.sleep(0.02)
    return answers


async def job_runs(client: Client) -> bool:
    status = await client.call_tool("index_status", {})
    return bool(status.structured_content["active_job"])


def as_over_mcp(name: str, answer: Any) -> Any:
    """What a program gets as JSON, in the form that a client of the protocol gets: text alone for some tools."""
    if TOOLS[name].text_only and "content" in answer and isinstance(answer["content"], str):
        return {"content": [text_block(UntrustedText(answer["content"]))], "isError": False}
    return answer


@pytest.mark.parametrize("mode", ["legacy", "2026-07-28"])
def test_every_tool_gives_the_same_answer_everywhere(
    mode: str, indexed: Path, good_calls: Mapping[str, Mapping[str, Any]]
) -> None:
    assert set(good_calls) == set(SERVED), "a tool without a call here is not proved"
    python = from_python(indexed, good_calls)
    mcp = asyncio.run(over_mcp(indexed, good_calls, mode))
    for name in SERVED:
        answer, is_error = python[name]
        assert not is_error, answer
        assert timeless(as_over_mcp(name, answer)) == timeless(mcp[name][0]), name
        assert not mcp[name][1]


def test_the_command_line_prints_what_python_gets(indexed: Path, good_calls: Mapping[str, Mapping[str, Any]]) -> None:
    python = from_python(indexed, good_calls)
    typed = from_command_line(indexed, good_calls)
    assert list(typed) == list(python)
    for name, (answer, is_error) in typed.items():
        assert timeless(answer) == timeless(python[name][0]), name
        assert not is_error


def test_refusals_are_the_same_everywhere(indexed: Path) -> None:
    calls = dict.fromkeys(SERVED, BAD)
    python = from_python(indexed, calls)
    mcp = asyncio.run(over_mcp(indexed, calls, "legacy"))
    some = dict.fromkeys(("search_code", "find_symbol", "get_file"), BAD)
    assert all(is_error for _, is_error in python.values())
    assert mcp == python
    assert from_command_line(indexed, some) == {name: python[name] for name in some}
