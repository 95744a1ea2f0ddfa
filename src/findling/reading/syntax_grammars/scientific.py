"""Julia, R and Fortran."""

from __future__ import annotations

import re
from collections.abc import Iterable
from typing import TYPE_CHECKING

from findling.reading.syntax_grammars.model import (
    FUNCTION,
    MODULE,
    TYPE,
    Attach,
    Comments,
    Define,
    Definition,
    Finder,
    Grammar,
    child_of_type,
    nth_child,
    text_of,
    through,
    value_kind,
)
from findling.reading.syntax_text import first_paragraph

if TYPE_CHECKING:
    from tree_sitter import Node


# --- Julia

_JULIA_NAME = re.compile(rb"\s*((?:\w+\.)*)([^\W\d][\w!]*|[^\s\w(]+)")


def _julia_head(node: Node, head: Node, kind: str, text: bytes, body: Node | None) -> Iterable[Definition]:
    match = _JULIA_NAME.match(text, head.start_byte, head.end_byte)
    if match:
        qualifier = match.group(1).decode("utf-8", "replace").strip(".")
        name = match.group(2).decode("utf-8", "replace")
        yield Definition(kind, name, head, qualifier, body, FUNCTION if kind == "fn" else None)


def _julia_function(node: Node, text: bytes, place: int) -> Iterable[Definition]:
    head = child_of_type(node, "signature")
    if head is not None:
        yield from _julia_head(node, head, "fn", text, child_of_type(node, "block"))


def _julia_type(kind: str) -> Finder:
    def find(node: Node, text: bytes, place: int) -> Iterable[Definition]:
        head = child_of_type(node, "type_head")
        if head is not None:
            yield from _julia_head(node, head, kind, text, child_of_type(node, "block"))

    return find


def _julia_assignment(node: Node, text: bytes, place: int) -> Iterable[Definition]:
    left = nth_child(node, 0)
    if left is None:
        return
    if left.type == "call_expression":
        yield from _julia_head(node, left, "fn", text, None)
    elif left.type == "identifier" and place != FUNCTION:
        name = text_of(left, text)
        yield Definition(value_kind(name), name, left)


def _julia_constant(node: Node, text: bytes, place: int) -> Iterable[Definition]:
    assignment = child_of_type(node, "assignment")
    left = nth_child(assignment, 0) if assignment is not None else None
    if left is not None and left.type == "identifier":
        yield Definition("constant", text_of(left, text), left)


def _julia_doc(node: Node, text: bytes) -> str:
    lines = text_of(node, text).strip('"').splitlines()
    return first_paragraph([line for line in lines if not line.startswith("    ")])


JULIA = Grammar(
    parser="julia",
    actions={
        **through("block if_statement macrocall_expression macro_argument_list"),
        "module_definition": Define("module", body="<block>"),
        "function_definition": _julia_function,
        "macro_definition": _julia_function,
        "struct_definition": _julia_type("struct"),
        "abstract_definition": _julia_type("interface"),
        "primitive_definition": _julia_type("type_alias"),
        "const_statement": _julia_constant,
        "assignment": _julia_assignment,
        "string_literal": Attach(doc=_julia_doc),
    },
    comments=Comments(line=(b"#",), block=((b"#=", b"=#"),)),
    nested=rb"\bfunction\b",
)


# --- R

_R_CALLS = {
    "setClass": "class", "setRefClass": "class", "R6Class": "class", "setGeneric": "fn", "setMethod": "method",
    "setValidity": "method",
}  # fmt: skip


def _r_assignment(node: Node, text: bytes, place: int) -> Iterable[Definition]:
    operator, left = node.child_by_field_name("operator"), node.child_by_field_name("lhs")
    right = node.child_by_field_name("rhs")
    if operator is None or left is None or right is None:
        return
    written = text[operator.start_byte : operator.end_byte]
    if written in (b"->", b"->>"):
        left, right = right, left
    elif written not in (b"<-", b"=", b"<<-", b":="):
        return
    if left.type not in ("identifier", "string"):
        return
    name = text_of(left, text).strip("`'\"")
    if right.type == "function_definition":
        yield Definition("fn", name, left, body=right.child_by_field_name("body"), place=FUNCTION)
    elif right.type == "call" and _r_called(right, text) in ("R6Class", "setRefClass", "ggproto"):
        yield Definition("class", name, left, body=right.child_by_field_name("arguments"), place=TYPE)
    elif place != FUNCTION:
        yield Definition(value_kind(name), name, left)


def _r_called(node: Node, text: bytes) -> str:
    function = node.child_by_field_name("function")
    return text_of(function, text).rpartition("::")[2] if function is not None else ""


def _r_call(node: Node, text: bytes, place: int) -> Iterable[Definition]:
    word, arguments = _r_called(node, text), node.child_by_field_name("arguments")
    if arguments is None:
        return
    if place == TYPE and word == "list":
        yield Definition("", body=arguments, place=TYPE)
        return
    kind = _R_CALLS.get(word)
    first = child_of_type(arguments, "argument")
    value = first.child_by_field_name("value") if first is not None else None
    if kind is not None and value is not None and value.type == "string":
        yield Definition(kind, text_of(value, text).strip("'\""), value)


def _r_argument(node: Node, text: bytes, place: int) -> Iterable[Definition]:
    """``public = list(push = function() …)`` inside a class."""
    at, value = node.child_by_field_name("name"), node.child_by_field_name("value")
    if place != TYPE or at is None or value is None:
        return
    if value.type == "function_definition":
        yield Definition("method", text_of(at, text), at, body=value.child_by_field_name("body"))
    elif value.type == "call":
        yield from _r_call(value, text, place)


R = Grammar(
    parser="r",
    actions={
        **through("braced_expression if_statement"),
        "binary_operator": _r_assignment,
        "call": _r_call,
        "argument": _r_argument,
    },
    comments=Comments(line=(b"#'", b"#")),
    nested=rb"\bfunction\b|\\\(",
)


# --- Fortran


def _fortran_unit(kind: str, head_type: str, place: int | None = None) -> Finder:
    def find(node: Node, text: bytes, where: int) -> Iterable[Definition]:
        head = child_of_type(node, head_type)
        at = None
        if head is not None:
            at = head.child_by_field_name("name") or child_of_type(head, "name", "type_name", "operator")
        if head is not None and at is not None:
            body = head.next_named_sibling
            symbol = Definition(kind, text_of(at, text), at, body=body)
            if place is None:
                yield symbol
            else:
                yield Definition(kind, symbol.name, at, body=node, place=place)

    return find


def _fortran_variables(node: Node, text: bytes, place: int) -> Iterable[Definition]:
    declarators = node.children_by_field_name("declarator")
    for declarator in declarators:
        inner = declarator.child_by_field_name("left") or declarator
        head = text[node.start_byte : declarator.start_byte].lower()
        name = text_of(inner, text).partition("(")[0].strip()
        extent = None if len(declarators) == 1 else declarator
        yield Definition("constant" if b"parameter" in head else "variable", name, inner, extent=extent)


FORTRAN = Grammar(
    parser="fortran",
    actions={
        "module": _fortran_unit("module", "module_statement", MODULE),
        "submodule": _fortran_unit("module", "submodule_statement", MODULE),
        "program": _fortran_unit("module", "program_statement", FUNCTION),
        **through("internal_procedures"),
        "function": _fortran_unit("fn", "function_statement"),
        "subroutine": _fortran_unit("fn", "subroutine_statement"),
        "interface": _fortran_unit("interface", "interface_statement"),
        "derived_type_definition": _fortran_unit("struct", "derived_type_statement"),
        "variable_declaration": _fortran_variables,
    },
    comments=Comments(line=(b"!!", b"!")),
)
