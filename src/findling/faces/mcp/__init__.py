"""The tools over MCP: a protocol's shell around the registry. Must not know what a tool does.

The SDK takes half a second to import: a server does it when its client has been greeted, and nothing else does.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from findling.model.front_door import front_door

if TYPE_CHECKING:
    from findling.faces.mcp.desk import Desk, make_server
    from findling.faces.mcp.serving import serve
else:
    __getattr__ = front_door(__name__)
