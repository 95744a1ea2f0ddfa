"""Python and Starlark."""

from __future__ import annotations

from collections.abc import Iterable
from typing import TYPE_CHECKING

from findling.reading.syntax_grammars.model import (
    DECORATED,
    FUNCTION,
    GROUP,
    HASH_COMMENTS,
    Define,
    Definition,
    Grammar,
    text_of,
    through,
    value_kind,
)

if TYPE_CHECKING:
    from tree_sitter import Node


def _assignment(node: Node, text: bytes, place: int) -> Iterable[Definition]:
    if place == FUNCTION:
        return
    left = node.child_by_field_name("left")
    if left is None:
        return
    targets = [left] if left.type == "identifier" else left.named_children if left.type == "pattern_list" else []
    for target in targets:
        if target.type == "identifier":
            name = text_of(target, text)
            yield Definition(value_kind(name), name, target)


def _type_alias(node: Node, text: bytes, place: int) -> Iterable[Definition]:
    left = node.child_by_field_name("left")
    if left is not None:
        name = text_of(left, text).partition("[")[0].strip()
        yield Definition("type_alias", name, left)


_BLOCKS = (
    "if_statement elif_clause else_clause try_statement except_clause finally_clause with_statement for_statement "
    "while_statement block match_statement case_clause"
)

PYTHON = Grammar(
    parser="python",
    actions={
        "function_definition": Define("fn"),
        "class_definition": Define("class"),
        "decorated_definition": DECORATED,
        "expression_statement": GROUP,
        "assignment": _assignment,
        "type_alias_statement": _type_alias,
        **through(_BLOCKS),
    },
    comments=HASH_COMMENTS,
    nested=rb"\b(?:def|class)\b",
    docstring=True,
)

STARLARK = Grammar(
    parser="starlark",
    actions={
        "function_definition": Define("fn"),
        "expression_statement": GROUP,
        "assignment": _assignment,
        **through("if_statement else_clause for_statement block"),
    },
    comments=HASH_COMMENTS,
    nested=rb"\bdef\b",
    docstring=True,
)
