"""Swift. Extensions define nothing themselves; their members are named after the extended type."""

from __future__ import annotations

from collections.abc import Iterable
from typing import TYPE_CHECKING

from findling.reading.syntax_grammars.model import (
    C_COMMENTS,
    MODULE,
    TYPE,
    Define,
    Definition,
    Finder,
    Grammar,
    text_of,
    through,
)

if TYPE_CHECKING:
    from tree_sitter import Node

_KINDS = {"class": "class", "struct": "struct", "enum": "enum", "actor": "class"}


def _class(node: Node, text: bytes, place: int) -> Iterable[Definition]:
    word, at = node.child_by_field_name("declaration_kind"), node.child_by_field_name("name")
    body = node.child_by_field_name("body")
    if word is None or at is None:
        return
    name = text_of(at, text).partition("<")[0]
    kind = _KINDS.get(text_of(word, text))
    if kind is None:
        yield Definition("", qualifier=name, body=body, place=TYPE)
    else:
        yield Definition(kind, name, at, body=body, place=TYPE)


def _property(node: Node, text: bytes, place: int) -> Iterable[Definition]:
    pattern = node.child_by_field_name("name")
    at = pattern.child_by_field_name("bound_identifier") if pattern is not None else None
    if pattern is None or at is None:
        return
    head = text[node.start_byte : at.start_byte]
    constant = head.rstrip().endswith(b"let") and (place == MODULE or b"static" in head)
    yield Definition("constant" if constant else "variable", text_of(at, text), at)


def _method(name: str) -> Finder:
    def find(node: Node, text: bytes, place: int) -> Iterable[Definition]:
        yield Definition("method", name, node.child_by_field_name("name"), body=node.child_by_field_name("body"))

    return find


SWIFT = Grammar(
    parser="swift",
    actions={
        "class_declaration": _class,
        "protocol_declaration": Define("interface"),
        "function_declaration": Define("fn"),
        "protocol_function_declaration": Define("fn"),
        "init_declaration": _method("init"),
        "deinit_declaration": _method("deinit"),
        "subscript_declaration": _method("subscript"),
        "property_declaration": _property,
        "protocol_property_declaration": _property,
        "typealias_declaration": Define("type_alias", body=""),
        "associatedtype_declaration": Define("type_alias", body=""),
        **through("statements"),
    },
    comments=C_COMMENTS,
    nested=rb"\b(?:func|struct|class|enum)\b",
    annotation=b"@",
    braces=True,
)
