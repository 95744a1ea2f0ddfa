"""PHP. Namespaces are packages: neither symbols nor part of qualified names."""

from __future__ import annotations

from collections.abc import Iterable
from typing import TYPE_CHECKING

from findling.reading.syntax_grammars.model import (
    FUNCTION,
    GROUP,
    THROUGH,
    Comments,
    Define,
    Definition,
    Grammar,
    child_of_type,
    children_of_type,
    is_constant_name,
    nth_child,
    text_of,
)

if TYPE_CHECKING:
    from tree_sitter import Node


def _constants(node: Node, text: bytes, place: int) -> Iterable[Definition]:
    elements = list(children_of_type(node, "const_element"))
    for element in elements:
        at = child_of_type(element, "name")
        if at is not None:
            yield Definition("constant", text_of(at, text), at, extent=None if len(elements) == 1 else element)


def _properties(node: Node, text: bytes, place: int) -> Iterable[Definition]:
    elements = list(children_of_type(node, "property_element"))
    for element in elements:
        at = element.child_by_field_name("name")
        if at is not None:
            name = text_of(at, text).lstrip("$")
            yield Definition("variable", name, at, extent=None if len(elements) == 1 else element)


def _assignment(node: Node, text: bytes, place: int) -> Iterable[Definition]:
    left, right = node.child_by_field_name("left"), node.child_by_field_name("right")
    if left is None or right is None or left.type != "variable_name" or place == FUNCTION:
        return
    name = text_of(left, text).lstrip("$")
    if right.type in ("anonymous_function", "arrow_function"):
        yield Definition("fn", name, left, body=right.child_by_field_name("body"))
    else:
        yield Definition("constant" if is_constant_name(name) else "variable", name, left)


def _define(node: Node, text: bytes, place: int) -> Iterable[Definition]:
    """``define('NAME', value)``."""
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
        **dict.fromkeys(_BLOCKS.split(), THROUGH),
        "expression_statement": GROUP,
        "function_definition": Define("fn"),
        "method_declaration": Define("method"),
        "class_declaration": Define("class"),
        "interface_declaration": Define("interface"),
        "trait_declaration": Define("trait"),
        "enum_declaration": Define("enum"),
        "const_declaration": _constants,
        "property_declaration": _properties,
        "assignment_expression": _assignment,
        "function_call_expression": _define,
    },
    comments=Comments(line=(b"//", b"#"), block=((b"/*", b"*/"),)),
    nested=rb"(?i)\bfunction\s+\w|\bclass\s+\w",
    annotation=b"#[",
)
