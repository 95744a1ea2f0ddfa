"""Every tool with the SDK's client over HTTP, in both eras: what `make e2e` asks with programs from npm, in short."""

from __future__ import annotations

import asyncio
import json
import subprocess
import sys
from collections.abc import Iterator, Mapping
from pathlib import Path
from typing import Any

import pytest
from jsonschema import Draft202012Validator
from mcp import Client

from findling.contracts import TOOLS

LISTED = [name for name, tool in TOOLS.items() if not tool.destructive]
SERVED = [name for name in LISTED if not TOOLS[name].open_world]
"""Those that start a job have no answer twice the same."""

BAD: Mapping[str, Any] = {"no_such_argument": True}


@pytest.fixture(scope="module")
def url(indexed: Path) -> Iterator[str]:
    command = [sys.executable, "-m", "findling", "serve", "--http", "0", "--root", str(indexed)]
    process = subprocess.Popen(command, stdout=subprocess.DEVNULL, stderr=subprocess.PIPE, text=True)
    assert process.stderr is not None
    yield next(line.split()[-1] for line in process.stderr if "serving http://" in line)
    process.terminate()
    process.communicate(timeout=30)
    assert process.returncode == 0


async def a_job_runs(client: Client) -> bool:
    status = await client.call_tool("index_status", {})
    return bool(status.structured_content["active_job"])


@pytest.mark.parametrize("mode", ["legacy", "2026-07-28"])
def test_every_tool_over_http(mode: str, url: str, good_calls: Mapping[str, Mapping[str, Any]]) -> None:
    async def ask() -> None:
        async with Client(url, mode=mode) as client:
            listed = {tool.name: tool for tool in (await client.list_tools()).tools}
            assert list(listed) == LISTED
            for name in SERVED:
                tool = listed[name]
                assert tool.title
                assert tool.annotations is not None
                Draft202012Validator.check_schema(tool.input_schema)
                schema = Draft202012Validator(tool.input_schema)
                assert schema.is_valid(good_calls[name])
                assert not schema.is_valid(BAD)
                good = await client.call_tool(name, dict(good_calls[name]))
                assert not good.is_error, good.content
                if good.structured_content is not None:
                    assert json.loads(good.content[0].text) == good.structured_content
                while TOOLS[name].writes and await a_job_runs(client):
                    await asyncio.sleep(0.02)
                bad = await client.call_tool(name, dict(BAD))
                assert bad.is_error
                assert "no_such_argument" in bad.content[0].text

    asyncio.run(ask())
