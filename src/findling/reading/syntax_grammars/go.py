"""Go."""

from __future__ import annotations

import re
from collections.abc import Iterable
from typing import TYPE_CHECKING

from findling.reading.syntax_grammars.model import (
    C_COMMENTS,
    GROUP,
    TYPE,
    Define,
    Definition,
    Finder,
    Grammar,
    child_of_type,
    text_of,
)

if TYPE_CHECKING:
    from tree_sitter import Node

_RECEIVER = re.compile(rb"\(\s*(?:\w+\s+)?\*?\s*\(?\*?(\w+)")


def _method(node: Node, text: bytes, place: int) -> Iterable[Definition]:
    name, receiver = node.child_by_field_name("name"), node.child_by_field_name("receiver")
    if name is None or receiver is None:
        return
    match = _RECEIVER.match(text, receiver.start_byte, receiver.end_byte)
    qualifier = match.group(1).decode("utf-8", "replace") if match else ""
    yield Definition("method", text_of(name, text), name, qualifier, node.child_by_field_name("body"))


def _type(node: Node, text: bytes, place: int) -> Iterable[Definition]:
    name, value = node.child_by_field_name("name"), node.child_by_field_name("type")
    if name is None or value is None:
        return
    if value.type == "struct_type":
        yield Definition("struct", text_of(name, text), name, body=child_of_type(value, "field_declaration_list"))
    elif value.type == "interface_type":
        yield Definition("interface", text_of(name, text), name, body=value, place=TYPE)
    else:
        yield Definition("type_alias", text_of(name, text), name)


def _values(kind: str) -> Finder:
    def find(node: Node, text: bytes, place: int) -> Iterable[Definition]:
        for name in node.children_by_field_name("name"):
            if text[name.start_byte : name.end_byte] != b"_":
                yield Definition(kind, text_of(name, text), name)

    return find


GO = Grammar(
    parser="go",
    actions={
        "function_declaration": Define("fn"),
        "method_declaration": _method,
        "type_declaration": GROUP,
        "type_spec": _type,
        "type_alias": Define("type_alias", body=""),
        "method_elem": Define("method"),
        "const_declaration": GROUP,
        "const_spec": _values("constant"),
        "var_declaration": GROUP,
        "var_spec_list": GROUP,
        "var_spec": _values("variable"),
    },
    comments=C_COMMENTS,
)
