"""Bash, Windows batch files and Vim script."""

from __future__ import annotations

from collections.abc import Iterable
from typing import TYPE_CHECKING

from findling.reading.syntax_grammars.model import (
    GROUP,
    HASH_COMMENTS,
    THROUGH,
    Comments,
    Define,
    Definition,
    Grammar,
    child_of_type,
    is_constant_name,
    named,
    text_of,
)

if TYPE_CHECKING:
    from tree_sitter import Node


def _assignment(node: Node, text: bytes, place: int) -> Iterable[Definition]:
    at = node.child_by_field_name("name")
    if at is not None and at.type == "variable_name":
        name = text_of(at, text)
        yield Definition("constant" if is_constant_name(name) else "variable", name, at)


_BLOCKS = (
    "if_statement else_clause elif_clause case_statement case_item compound_statement subshell do_group "
    "for_statement while_statement list redirected_statement"
)

BASH = Grammar(
    parser="bash",
    actions={
        **dict.fromkeys(_BLOCKS.split(), THROUGH),
        "function_definition": Define("fn"),
        "declaration_command": GROUP,
        "variable_assignment": _assignment,
    },
    comments=HASH_COMMENTS,
    nested=rb"\)\s*[{(]|\bfunction\b",
)


# --- Batch: a label is what ``call`` can name


def _label(node: Node, text: bytes, place: int) -> Iterable[Definition]:
    yield Definition("fn", text_of(node, text).strip().lstrip(":").strip(), node)


BATCH = Grammar(
    parser="batch",
    actions={"label": _label, "variable_assignment": named("variable", "variable_name")},
    comments=Comments(line=(b"::", b"REM ", b"rem ", b"@REM ")),
)


# --- Vim script


def _vim_function(node: Node, text: bytes, place: int) -> Iterable[Definition]:
    head = child_of_type(node, "function_declaration")
    at = head.child_by_field_name("name") if head is not None else None
    if at is not None:
        yield Definition("fn", text_of(at, text), at, body=child_of_type(node, "body"))


def _vim_let(node: Node, text: bytes, place: int) -> Iterable[Definition]:
    at = child_of_type(node, "scoped_identifier", "identifier")
    if at is not None:
        yield Definition("constant" if node.type == "const_statement" else "variable", text_of(at, text), at)


def _vim_command(node: Node, text: bytes, place: int) -> Iterable[Definition]:
    at = node.child_by_field_name("name")
    if at is not None and at.type == "command_name":
        yield Definition("fn", text_of(at, text), at)


VIM = Grammar(
    parser="vim",
    actions={
        **dict.fromkeys(["if_statement", "else_statement", "elseif_statement", "body"], THROUGH),
        "function_definition": _vim_function,
        "let_statement": _vim_let,
        "const_statement": _vim_let,
        "command_statement": _vim_command,
    },
    comments=Comments(line=(b'"',)),
)
