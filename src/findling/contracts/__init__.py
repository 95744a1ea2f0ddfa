"""The tools that agents call: one registry, whatever the transport. Nothing here prints or knows a protocol's SDK.

From Python: ``with Workspace(path) as workspace: call("find_symbol", {"name": "retry"}, workspace)``.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from findling.model.front_door import front_door

if TYPE_CHECKING:
    from findling.contracts.registry import TOOLS, call
    from findling.contracts.workspace import Workspace
else:
    __getattr__ = front_door(
        __name__,
        {
            "registry": "TOOLS call",
            "workspace": "Workspace",
        },
    )

__all__ = ["TOOLS", "Workspace", "call"]
