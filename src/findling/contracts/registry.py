"""The one way to call a tool: validate, run, shape the answer or the refusal.

Every transport calls `call`; none of them knows a tool.
"""

from __future__ import annotations

import logging
from collections.abc import Mapping
from typing import Any

from msgspec.structs import replace

from findling.contracts import budget, code_metadata, several
from findling.contracts.model import Arguments, Call, Refusal, Reply, ToolResult
from findling.contracts.schema import validate
from findling.contracts.tools import LIKE_CODE, Family, Tool, find
from findling.contracts.untrusted import marked
from findling.contracts.workspaces import Workspace
from findling.model.errors import CAUSES, FindlingError
from findling.model.types import OnProgress
from findling.search.query import shortened

_log = logging.getLogger(__name__)


def call(
    name: str,
    arguments: object,
    workspace: Workspace,
    *,
    progress: OnProgress | None = None,
) -> ToolResult:
    """The answer of the tool ``name``; a refusal or failure is an answer with ``is_error``.

    ``progress`` is told how far indexing is and may raise `errors.Cancelled`. Raises `InvalidInput` for a name that
    is no tool's, and nothing else.
    """
    tool = find(name)
    given: Mapping[str, Any] = {}
    ref = arguments.get("ref") if isinstance(arguments, Mapping) else None
    try:
        given = validate(tool.schema, arguments)
        given, notes = _readable(given)
        page = budget.page_of(name, given)
        reply = _noted(several.handle(tool, Call(workspace, progress, notes, page.offset), given), notes)
        if reply.listing is not None:
            budget.check(page, reply.listing)
    except FindlingError as error:
        refusal = refusal_of(error, tool.family)
        if refusal.code in _NO_FILE:
            refusal.message = _with_nearest(refusal.message, workspace, given)
        return refused(tool, refusal, workspace, ref)
    except Exception as error:  # noqa: BLE001 - a defect, too, is an answer: raising would end the caller's session
        _log.exception("tool %s failed", name)
        return refused(tool, Refusal("internal_error", f"Unexpected {type(error).__name__} in {name}."), workspace, ref)
    return _finished(reply, given.get("max_tokens"), page)


_NO_FILE = frozenset(("file_not_found", "not_found"))


def _with_nearest(message: str, workspace: Workspace, given: Arguments) -> str:
    """A sentence on a file that is none, with those that were probably meant, as paths of the same form."""
    path = next((given[key] for key in ("path", "docPath", "filePath") if key in given), "")
    near: list[str] = []
    for name, root in workspace.by_name.items() if path else ():
        try:
            engine = root.engine
            begins = f"{engine.root}/" if path.startswith("/") else f"{name}/" if name else ""
            if path.startswith(begins):
                near += [begins + each for each in engine.paths_like(path.removeprefix(begins))]
        except FindlingError:
            continue  # a root that cannot be opened has no files to name
    near = [each for each in near if each != path]  # one that was deleted a moment ago may be indexed still
    return f"{message.rstrip('.')}. Did you mean {' or '.join(near)}?" if near else message


_NO_CHARACTER = "\ufffd"
"""In place of what is no character, such as half of an emoji: a message is read with it."""


def _readable(given: Arguments) -> tuple[Arguments, tuple[str, ...]]:
    """The arguments with a query of bearable length, and notes on what of it could not be read."""
    if "query" not in given:
        return given, ()
    query, cut = shortened(given["query"])
    notes = [cut] if cut else []
    if _NO_CHARACTER in query:
        notes.append("A part of the query is not a character, such as half of an emoji; it was replaced by U+FFFD.")
    return {**given, "query": query}, tuple(notes)


def _noted(reply: Reply, notes: tuple[str, ...]) -> Reply:
    """The answer with what there is to say of its question: of the code family among its warnings, else among its
    notes. An answer in text blocks has them already (`Call.notes`)."""
    if not notes or reply.facts is None:
        return reply
    if (metadata := reply.facts.get("metadata")) is None:
        return replace(reply, facts={**reply.facts, "notes": [*notes, *reply.facts.get("notes", ())]})
    warnings = [*notes, *metadata.get("warnings", ())]
    return replace(reply, facts={**reply.facts, "metadata": {**metadata, "warnings": warnings}})


def _finished(reply: Reply, max_tokens: int | None, page: budget.Page) -> ToolResult:
    facts = reply.facts and marked(reply.facts)
    if reply.text is not None or facts is None:
        return ToolResult(facts, reply.text or [], reply.is_error)
    whole_page = len(facts[reply.items]) if reply.items else 0
    facts = budget.cut_to(facts, reply.items, max_tokens)
    if reply.listing is not None:
        facts = budget.with_cursor(facts, reply.items, whole_page, page, reply.listing)
    return ToolResult(facts, [budget.dumps(facts)], reply.is_error)


# --- what each family says when it cannot answer: one internal error, four shapes ------------------------------------


CODE_CODES = frozenset(
    (
        *("invalid_input", "project_not_found", "index_in_progress", "sync_in_progress", "index_not_ready"),
        *(
            "index_stale",
            "cursor_stale",
            "index_incompatible",
            "store_unavailable",
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


def refusal_of(error: FindlingError, family: Family) -> Refusal:
    """Any deliberate failure as a refusal with one of the family's codes."""
    if not isinstance(error, Refusal):
        data = {"remedy": error.remedy} if error.remedy else {}
        error = Refusal(error.code, error.message if family in LIKE_CODE else str(error), data)
    if family not in LIKE_CODE or error.code in CODE_CODES:
        return error
    return Refusal(_AS_CODE.get(error.code, "internal_error"), error.message, error.data)


def refused(tool: Tool, refusal: Refusal, workspace: Workspace, ref: object = None) -> ToolResult:
    """The answer that says so, in the family's shape; always with ``is_error``. ``ref``: as the call had it, checked or
    not."""
    if tool.family == "repo":
        return ToolResult(None, [refusal.message], is_error=True)
    if tool.family == "library":
        what = CAUSES.get(refusal.code, "processing")
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
