"""The product's server over its own HTTP transport, with what the conformance suite asks for beside its tools.

python tests/e2e/fixture_server.py PORT ROOT
"""

from __future__ import annotations

import asyncio
import sys
from collections.abc import Sequence
from typing import Any

from fixtures import RICH_SCHEMA, fixtures
from mcp.server.lowlevel import Server
from mcp.types import (
    CallToolRequestParams,
    EmptyResult,
    ListToolsResult,
    PaginatedRequestParams,
    SetLevelRequestParams,
    SubscribeRequestParams,
    UnsubscribeRequestParams,
)

from findling.contracts.tools import Tool, select
from findling.contracts.workspaces import Workspace
from findling.faces.http.options import listen, read_options
from findling.faces.mcp.desk import Desk, make_server
from findling.faces.mcp.http import serve_on

FROM_FIXTURES = (
    *("prompts/list", "prompts/get", "resources/list", "resources/templates/list", "resources/read"),
    *("completion/complete",),
)


def with_fixtures(tools: Sequence[Tool], desk: Desk) -> Server[Any]:
    server = make_server(desk)
    theirs = fixtures._lowlevel_server
    server.middleware.extend(theirs.middleware[len(server.middleware) :])  # the boundary that seals request states
    for method in FROM_FIXTURES:
        entry = theirs.get_request_handler(method)
        assert entry is not None, method
        server.add_request_handler(method, entry.params_type, entry.handler)

    ours = {tool.name for tool in tools}
    entries = {method: theirs.get_request_handler(method) for method in ("tools/list", "tools/call")}

    async def list_tools(context: Any, params: PaginatedRequestParams) -> ListToolsResult:
        listed = await desk.list_tools(context, params)
        more = await entries["tools/list"].handler(context, params)
        for tool in more.tools:
            if tool.name == "json_schema_2020_12_tool":
                tool.input_schema = RICH_SCHEMA
        return ListToolsResult(tools=[*listed.tools, *more.tools])

    async def call_tool(context: Any, params: CallToolRequestParams) -> Any:
        handler = desk.call_tool if params.name in ours else entries["tools/call"].handler
        return await handler(context, params)

    async def accept(_context: Any, _params: Any) -> EmptyResult:
        return EmptyResult()

    server.add_request_handler("tools/list", PaginatedRequestParams, list_tools)
    server.add_request_handler("tools/call", CallToolRequestParams, call_tool)
    server.add_request_handler("logging/setLevel", SetLevelRequestParams, accept)
    server.add_request_handler("resources/subscribe", SubscribeRequestParams, accept)
    server.add_request_handler("resources/unsubscribe", UnsubscribeRequestParams, accept)
    return server


async def main(port: str, root: str) -> None:
    tools = select(None)
    desk = Desk(tools, Workspace(root, background=True))
    try:
        await serve_on(listen(read_options(port)), with_fixtures(tools, desk), stop=desk.stop_calls)
    finally:
        await desk.close()


if __name__ == "__main__":
    asyncio.run(main(sys.argv[1], sys.argv[2]))
