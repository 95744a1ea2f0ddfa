"""The tools that agents call: one registry, whatever the transport. Nothing here prints or knows a protocol's SDK.

From Python: ``with Workspace(path) as workspace: call("find_symbol", {"name": "retry"}, workspace)``.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from findling.model.front_door import front_door

if TYPE_CHECKING:
    from findling.contracts.registry import call
    from findling.contracts.tools import TOOLS, select, why_not_served
    from findling.contracts.workspaces import Workspace, check_roots
else:
    __getattr__ = front_door(__name__)
