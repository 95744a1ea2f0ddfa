"""What each family of tools says when it cannot answer: one internal error, four shapes."""

from __future__ import annotations

from typing import Any

from findling.contracts import budget, code_metadata
from findling.contracts.model import Refusal, ToolResult
from findling.contracts.tools import Family, Tool
from findling.contracts.workspace import Workspace
from findling.model import errors

CODE_CODES = frozenset(
    (
        *("invalid_input", "project_not_found", "index_in_progress", "sync_in_progress", "index_not_ready"),
        *(
            "index_stale",
            "index_incompatible",
            "ref_not_indexed",
            "symbol_not_found",
            "file_not_found",
            "internal_error",
        ),
    )
)
"""The only error codes of the code family."""

_AS_CODE = {
    "not_found": "file_not_found",
    "root_error": "project_not_found",
    "index_unavailable": "index_incompatible",
}


_LIBRARY_CAUSES = {
    **dict.fromkeys(("not_found", "file_not_found", "file_access", "root_error"), "file access"),
    **dict.fromkeys(("network_error", "fetch_refused"), "network"),
    **dict.fromkeys(("index_unavailable", "index_incompatible", "index_in_progress", "storage_full"), "storage"),
}
"""Which of the library's four kinds of failure a code is; the others come from processing."""


def refusal_of(error: Refusal | errors.FindlingError, family: Family) -> Refusal:
    """Any deliberate failure as a refusal with one of the family's codes."""
    if isinstance(error, errors.FindlingError):
        data = {"remedy": error.remedy} if error.remedy else {}
        error = Refusal(error.code, error.message if family == "code" else str(error), data)
    if family != "code" or error.code in CODE_CODES:
        return error
    return Refusal(_AS_CODE.get(error.code, "internal_error"), error.message, error.data)


def refused(tool: Tool, refusal: Refusal, workspace: Workspace, ref: object = None) -> ToolResult:
    """The answer that says so, in the family's shape; always with ``is_error``. ``ref``: as the call had it, checked or
    not."""
    if tool.family == "repo":
        return ToolResult(None, [refusal.message], is_error=True)
    if tool.family == "library":
        what = _LIBRARY_CAUSES.get(refusal.code, "processing")
        return ToolResult(None, [f"{tool.name} failed ({what}): {refusal.message}"], is_error=True)
    facts: dict[str, Any]
    if tool.family == "docs":
        facts = {"error": refusal.code, "message": refusal.message}
    else:
        error: dict[str, Any] = {"code": refusal.code, "message": refusal.message}
        if refusal.data:
            error["data"] = refusal.data
        facts = {"error": error, "metadata": code_metadata.of_refusals(workspace, ref)}
    return ToolResult(facts, [budget.dumps(facts)], is_error=True)
