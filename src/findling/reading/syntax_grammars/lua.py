"""Lua. ``M.f`` and ``M:f`` are named with their table."""

from __future__ import annotations

import re
from collections.abc import Iterable
from typing import TYPE_CHECKING

from findling.reading.syntax_grammars.model import (
    FUNCTION,
    GROUP,
    Comments,
    Definition,
    Grammar,
    child_of_type,
    imports,
    text_of,
    through,
    value_kind,
)

if TYPE_CHECKING:
    from tree_sitter import Node

_IMPORT = re.compile(rb"require")
_PATH = re.compile(r"^[\w.:]+$")


def _path(node: Node, text: bytes) -> tuple[str, str]:
    """``a.b.c`` or ``a.b:c`` as qualifier and name; two empty strings for computed names."""
    written = text_of(node, text)
    if not _PATH.match(written):
        return "", ""
    qualifier, _, name = written.replace(":", ".").rpartition(".")
    return qualifier, name


def _function(node: Node, text: bytes, place: int) -> Iterable[Definition]:
    at = node.child_by_field_name("name")
    if at is None:
        return
    qualifier, name = _path(at, text)
    if name:
        kind = "method" if at.type == "method_index_expression" else "fn"
        inner = at.child_by_field_name("field") or at.child_by_field_name("method") or at
        yield Definition(kind, name, inner, qualifier, node.child_by_field_name("body"), FUNCTION)


def _assignment(node: Node, text: bytes, place: int) -> Iterable[Definition]:
    targets, values = child_of_type(node, "variable_list"), child_of_type(node, "expression_list")
    if targets is None:
        return
    held = values.named_children if values is not None else []
    for position, target in enumerate(targets.named_children):
        if target.type not in ("identifier", "dot_index_expression"):
            continue
        qualifier, name = _path(target, text)
        at = target.child_by_field_name("field") or target
        value = held[position] if position < len(held) else None
        if not name:
            continue
        if value is not None and value.type == "function_definition":
            yield Definition("fn", name, at, qualifier, value.child_by_field_name("body"), FUNCTION)
        elif place != FUNCTION and not (
            value is not None and imports(value, name, text, _IMPORT, "dot_index_expression")
        ):
            kind = value_kind(name)
            table = value if value is not None and value.type == "table_constructor" else None
            yield Definition(kind, name, at, qualifier, table, FUNCTION if table is not None else None)


def _field(node: Node, text: bytes, place: int) -> Iterable[Definition]:
    at, value = node.child_by_field_name("name"), node.child_by_field_name("value")
    if at is None or value is None or at.type != "identifier":
        return
    if value.type == "function_definition":
        yield Definition("fn", text_of(at, text), at, body=value.child_by_field_name("body"), place=FUNCTION)
    elif value.type == "table_constructor":
        yield Definition("", qualifier=text_of(at, text), body=value, place=FUNCTION)


_BLOCKS = (
    "if_statement else_statement elseif_statement do_statement for_statement while_statement block return_statement"
)

LUA = Grammar(
    parser="lua",
    actions={
        **through(_BLOCKS),
        "function_declaration": _function,
        "variable_declaration": GROUP,
        "assignment_statement": _assignment,
        "field": _field,
    },
    comments=Comments(line=(b"---", b"--"), block=((b"--[[", b"]]"),)),
    nested=rb"\bfunction\b",
)
