"""PHP. Namespaces are packages: neither symbols nor part of qualified names."""

from __future__ import annotations

from collections.abc import Iterable
from typing import TYPE_CHECKING

from findling.reading.syntax_grammars.model import (
    FUNCTION,
    GROUP,
    Comments,
    Define,
    Definition,
    Grammar,
    nth_child,
    text_of,
    through,
    value_kind,
)

if TYPE_CHECKING:
    from tree_sitter import Node


def _assignment(node: Node, text: bytes, place: int) -> Iterable[Definition]:
    left, right = node.child_by_field_name("left"), node.child_by_field_name("right")
    if left is None or right is None or left.type != "variable_name" or place == FUNCTION:
        return
    name = text_of(left, text).lstrip("$")
    if right.type in ("anonymous_function", "arrow_function"):
        yield Definition("fn", name, left, body=right.child_by_field_name("body"))
    else:
        yield Definition(value_kind(name), name, left)


def _define(node: Node, text: bytes, place: int) -> Iterable[Definition]:
    """``Define('NAME', value)``."""
    function, arguments = node.child_by_field_name("function"), node.child_by_field_name("arguments")
    if function is None or arguments is None or text[function.start_byte : function.end_byte].lower() != b"define":
        return
    first = nth_child(arguments, 0)
    if first is not None:
        name = text_of(first, text).strip("'\"")
        if name.replace("\\", "_").isidentifier():
            yield Definition("constant", name, first)


_BLOCKS = "compound_statement if_statement else_clause else_if_clause colon_block namespace_definition"

PHP = Grammar(
    parser="php",
    actions={
        **through(_BLOCKS),
        "expression_statement": GROUP,
        "function_definition": Define("fn"),
        "method_declaration": Define("method"),
        "class_declaration": Define("class"),
        "interface_declaration": Define("interface"),
        "trait_declaration": Define("trait"),
        "enum_declaration": Define("enum"),
        "const_declaration": Define("constant", "<name>", "", "<const_element>"),
        "property_declaration": Define("variable", body="", each="<property_element>", strip="$"),
        "assignment_expression": _assignment,
        "function_call_expression": _define,
    },
    comments=Comments(line=(b"//", b"#"), block=((b"/*", b"*/"),)),
    nested=rb"(?i)\bfunction\s+\w|\bclass\s+\w",
    annotation=b"#[",
)
