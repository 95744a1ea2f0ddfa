"""The tools that agents call: one registry, whatever the transport. Nothing here prints or knows a protocol's SDK.

From Python: ``with Workspace(path) as workspace: call("find_symbol", {"name": "retry"}, workspace)``.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from findling.model.front_door import front_door

if TYPE_CHECKING:
    from findling.contracts.registry import TOOLS, call, select
    from findling.contracts.root_names import check_roots
    from findling.contracts.selection import select_of
    from findling.contracts.workspace import Workspace
    from findling.contracts.workspaces import open_workspace
else:
    __getattr__ = front_door(
        __name__,
        {
            "registry": "TOOLS call select",
            "root_names": "check_roots",
            "selection": "select_of",
            "workspace": "Workspace",
            "workspaces": "open_workspace",
        },
    )

__all__ = ["TOOLS", "Workspace", "call", "check_roots", "open_workspace", "select", "select_of"]
