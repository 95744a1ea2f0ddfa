"""The tools that agents call: one registry, whatever the transport. Nothing here prints or knows a protocol's SDK.

From Python: ``with Workspace(path) as workspace: call("find_symbol", {"name": "retry"}, workspace)``.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from findling.contracts.registry import TOOLS as TOOLS
    from findling.contracts.registry import call as call
    from findling.contracts.workspace import Workspace as Workspace

__all__ = ["TOOLS", "Workspace", "call"]


def __getattr__(name: str) -> Any:
    if name in ("TOOLS", "call"):
        from findling.contracts import registry

        return getattr(registry, name)
    if name == "Workspace":
        from findling.contracts.workspace import Workspace

        return Workspace
    raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
