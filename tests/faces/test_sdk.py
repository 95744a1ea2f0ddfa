"""The SDK is loaded without its client and its framework, and is whole for whoever asks."""

from __future__ import annotations

import subprocess
import sys


def printed(code: str) -> str:
    ran = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    return ran.stdout.strip()


LOAD = (
    "import sys\n"
    "from findling.faces.mcp import Desk, make_server\n"
    "from findling.contracts import Workspace\n"
    "make_server(Desk([], Workspace('.')))\n"
)


def test_a_server_starts_without_the_client() -> None:
    absent = printed(f"{LOAD}print([name for name in ('mcp.client', 'mcp.server.mcpserver') if name in sys.modules])")
    assert absent == "[]"


def test_names_of_the_packages_are_there_when_asked_for() -> None:
    code = (
        "import mcp.server\nfrom mcp import Client, MCPError\nfrom mcp.shared.exceptions import MCPError as same\n"
        "assert MCPError is same\nprint(Client.__name__, mcp.server.MCPServer.__name__)"
    )
    assert printed(LOAD + code) == "Client MCPServer"


def test_what_is_loaded_already_stays_as_it_is() -> None:
    code = "import mcp, mcp.server\nbefore = vars(mcp).copy()\n" + LOAD + "print(vars(mcp) == before)"
    assert printed(code) == "True"
