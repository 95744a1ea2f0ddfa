"""What a server is made of, but for what its first answers take: each part is loaded when it is first asked for."""

from __future__ import annotations

from typing import TYPE_CHECKING

from findling.model.front_door import front_door

if TYPE_CHECKING:
    from findling.faces.mcp import desk, http, stdio
else:
    __getattr__ = front_door(__name__)
