"""Bash, Windows batch files and Vim script."""

from __future__ import annotations

from collections.abc import Iterable
from typing import TYPE_CHECKING

from findling.reading.syntax_grammars.model import (
    GROUP,
    HASH_COMMENTS,
    Comments,
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
    at = node.child_by_field_name("name")
    if at is not None and at.type == "variable_name":
        name = text_of(at, text)
        yield Definition(value_kind(name), name, at)


_BLOCKS = (
    "if_statement else_clause elif_clause case_statement case_item compound_statement subshell do_group "
    "for_statement while_statement list redirected_statement"
)

BASH = Grammar(
    parser="bash",
    actions={
        **through(_BLOCKS),
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
    actions={"label": _label, "variable_assignment": Define("variable", "<variable_name>", "")},
    comments=Comments(line=(b"::", b"REM ", b"rem ", b"@REM ")),
)


# --- Vim script


def _vim_command(node: Node, text: bytes, place: int) -> Iterable[Definition]:
    at = node.child_by_field_name("name")
    if at is not None and at.type == "command_name":
        yield Definition("fn", text_of(at, text), at)


VIM = Grammar(
    parser="vim",
    actions={
        **through("if_statement else_statement elseif_statement body"),
        "function_definition": Define("fn", "<function_declaration>/name", "<body>"),
        "let_statement": Define("variable", "<scoped_identifier identifier>", ""),
        "const_statement": Define("constant", "<scoped_identifier identifier>", ""),
        "command_statement": _vim_command,
    },
    comments=Comments(line=(b'"',)),
)
