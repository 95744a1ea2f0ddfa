"""The one registry of tools, and the one way to call them: validate, run, shape the answer or the refusal.

Every transport calls `call`; none of them knows a tool.
"""

from __future__ import annotations

import logging
from collections.abc import Callable, Iterable, Mapping
from dataclasses import replace
from difflib import get_close_matches
from typing import Any

from findling.contracts import budget, code, docs, library, repo, several
from findling.contracts.failures import refusal_of, refused
from findling.contracts.model import Arguments, Call, Refusal, Reply, Tool, ToolResult
from findling.contracts.schema import validate
from findling.contracts.selection import select_of
from findling.contracts.workspace import Workspace
from findling.model.errors import FindlingError, InvalidInput
from findling.model.types import Progress
from findling.search.query import shortened

TOOLS: Mapping[str, Tool] = {tool.name: tool for tool in (*code.TOOLS, *docs.TOOLS, *library.TOOLS, *repo.TOOLS)}

_log = logging.getLogger(__name__)


def call(
    name: str,
    arguments: object,
    workspace: Workspace,
    *,
    progress: Callable[[Progress], None] | None = None,
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
        given, notes = _shortened(given)
        reply = _noted(several.handle(tool, Call(workspace, progress, notes), given), notes)
    except (Refusal, FindlingError) as error:
        return refused(tool, refusal_of(error, tool.family), workspace, ref)
    except Exception as error:  # noqa: BLE001 - a defect, too, is an answer: raising would end the caller's session
        _log.exception("tool %s failed", name)
        return refused(tool, Refusal("internal_error", f"Unexpected {type(error).__name__} in {name}."), workspace, ref)
    return _finished(reply, given.get("max_tokens"))


def find(name: str) -> Tool:
    """Raises `InvalidInput` with the nearest name."""
    if name in TOOLS:
        return TOOLS[name]
    near = get_close_matches(name, TOOLS, 1)
    hint = f"Did you mean {near[0]!r}?" if near else f"The tools are {', '.join(TOOLS)}."
    raise InvalidInput(f"There is no tool called {name[:60]!r}.", remedy=hint)


def select(names: Iterable[str] | None, *, allow_delete: bool = False) -> list[Tool]:
    """As `select_of`, from the registry."""
    return select_of(TOOLS, names, allow_delete=allow_delete)


def _shortened(given: Arguments) -> tuple[Arguments, tuple[str, ...]]:
    """The arguments with a query of bearable length, and what there is to say of it."""
    if "query" not in given:
        return given, ()
    query, cut = shortened(given["query"])
    return ({**given, "query": query}, (cut,)) if cut else (given, ())


def _noted(reply: Reply, notes: tuple[str, ...]) -> Reply:
    """The answer with what there is to say of its question: of the code family among its warnings, else among its
    notes. An answer in text blocks has them already (`Call.notes`)."""
    if not notes or reply.facts is None:
        return reply
    if (metadata := reply.facts.get("metadata")) is None:
        return replace(reply, facts={**reply.facts, "notes": [*notes, *reply.facts.get("notes", ())]})
    warnings = [*notes, *metadata.get("warnings", ())]
    return replace(reply, facts={**reply.facts, "metadata": {**metadata, "warnings": warnings}})


def _finished(reply: Reply, max_tokens: int | None) -> ToolResult:
    if reply.text is not None or reply.facts is None:
        return ToolResult(reply.facts, reply.text or [], reply.is_error)
    facts = budget.cut_to(reply.facts, reply.items, budget.allowed_chars(max_tokens))
    return ToolResult(facts, [budget.dumps(facts)], reply.is_error)
