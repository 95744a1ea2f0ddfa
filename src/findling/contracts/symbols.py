"""Definitions as the tools write them: the repo family's kinds and fields, a file's definitions as a list or tree."""

from __future__ import annotations

import os
from collections.abc import Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Any

from findling.contracts.files import Lines, check_file, inside
from findling.contracts.model import Call, Refusal
from findling.contracts.workspaces import WAIT_S
from findling.model.reports import NOT_YET
from findling.model.types import Freshness, Relations, Step, SymbolHit, mark_of

if TYPE_CHECKING:
    from findling.model.rows import SymbolRow
    from findling.search.names import FileSymbols

_KIND = {"fn": "function", "method": "function", "type_alias": "type", "trait": "interface"}
"""The index's kinds under these tools' names; the others have the same name in both."""


def kind_name(kind: str) -> str:
    return _KIND.get(kind, kind)


def kinds_of(name: str) -> frozenset[str]:
    """The index's kinds that one of these tools' kinds stands for."""
    return frozenset((name, *(kind for kind, known in _KIND.items() if known == name)))


def definition(hit: SymbolHit, lines: Lines) -> dict[str, Any]:
    """The repo family's fields of a definition."""
    scope = hit.qualified_name.removesuffix(hit.name).rstrip(".")
    return _facts(hit.name, hit.kind, hit.path, hit.line, hit.language, scope, hit.signature, lines)


def definitions(found: FileSymbols, lines: Lines) -> list[dict[str, Any]]:
    """The repo family's fields of a file's definitions, by line."""
    rows = sorted(found.symbols, key=lambda row: (row.name_line, row.position))
    return [
        _facts(row.name, row.kind, found.path, row.name_line, found.language, row.scope, row.signature, lines)
        for row in rows
    ]


def related(found: Relations) -> dict[str, Any]:
    """``related``: what belongs to a definition, by how it does, a line each; left out where nothing is known. ``more``
    and ``in_tests`` count what is not listed, ``at_least`` so many where not every file was read."""
    by_role: dict[str, Any] = {}
    for each in found.found:
        by_role.setdefault(each.role, []).append(f"{each.path}:{each.line} {each.marked}")
    counts: dict[str, Any] = {"more": found.more, "in_tests": found.in_tests}
    by_role |= {name: number for name, number in counts.items() if number}
    if found.cut and (found.more or found.in_tests):
        by_role["at_least"] = True
    return {"related": by_role} if by_role else {}


def chain(steps: Sequence[Step]) -> dict[str, Any]:
    """``chain``: the calls that connect places, a line each, indented by how deep the call is; left out without any."""
    lines = [
        f"{'  ' * each.depth}{each.name} {each.path}:{each.line}"
        + (f" (called in line {each.called_at})" if each.called_at else "")
        + mark_of(each.grade)
        for each in steps
    ]
    return {"chain": lines} if lines else {}


def file_symbols(call: Call, path: str) -> tuple[FileSymbols, Freshness]:
    """The definitions of a file, indexed again first if it has changed, and how fresh the index is.

    Raises `Refusal` (``file_not_found``); if the index is not fresh then, indexing goes on in the background.
    """
    engine = call.workspace.engine
    relative, real = inside(engine.root, path)
    on_disk = isinstance(engine.texts, Path)
    if on_disk and os.path.isdir(real):  # noqa: PTH112 - whatever it is called
        raise Refusal("invalid_input", f"path is a directory: {path}")
    freshness, _ = engine.refresh(
        files=(relative,), within=lambda path: path == relative, embed=False, wait_s=WAIT_S, progress=call.progress
    )
    found = engine.file_symbols(relative)
    if found is None and freshness != "fresh":
        call.workspace.finish_in_background()
    if found is None:
        if not on_disk:
            raise Refusal("file_not_found", f"file is not indexed: {path}")
        check_file(real, path)
        why = engine.why(relative)
        waits = why.reason == NOT_YET and freshness != "fresh"
        soon = "ask again in a moment" if engine.auto_index else "semantic.auto_index is false; sync_repo takes it in"
        said = f"yet: {soon}" if waits else why.detail or why.reason
        raise Refusal("file_not_found", f"file is not indexed ({said}): {path}")
    return found, freshness


def outline(rows: Sequence[tuple[int, SymbolRow]]) -> list[dict[str, Any]]:
    """The code family's fields of some of a file's definitions, given with their places in it. Each has its inner ones
    as ``children``; one whose parent is not among them says its ``scope``."""
    nodes = {place: _node(row) for place, row in rows}
    top: list[dict[str, Any]] = []
    for place, row in rows:
        node = nodes[place]
        if (parent := nodes.get(row.parent)) is not None:
            parent.setdefault("children", []).append(node)
        else:
            top.append({**node, "scope": row.scope} if row.scope and row.parent >= 0 else node)
    return top


def _node(row: SymbolRow) -> dict[str, Any]:
    node: dict[str, Any] = {
        "name": row.name,
        "kind": row.kind,
        "line_start": row.start_line,
        "line_end": row.end_line,
    }
    if row.signature:
        node["signature"] = row.signature
    return node


def _facts(
    name: str, kind: str, path: str, line: int, language: str, scope: str, signature: str, lines: Lines
) -> dict[str, Any]:
    facts: dict[str, Any] = {"name": name, "kind": kind_name(kind), "path": path, "line": line, "language": language}
    if text := lines.line(path, line):
        facts["pattern"] = search_pattern(text)
    return {**facts, "scope": scope, "signature": signature}


def search_pattern(line: str) -> str:
    """A line as editors search for it, as in a tags file: ``/^def retry(self):$/``."""
    escaped = line.replace("\\", "\\\\").replace("/", "\\/")
    return f"/^{escaped}$/"
