"""Finders for languages that run on a virtual machine: Kotlin, Scala, Groovy, C#, PowerShell, Dart.

Packages and C#'s namespaces are neither symbols nor part of qualified names.
"""

from __future__ import annotations

import re
from typing import TYPE_CHECKING

from findling.reading.syntax_grammars.model import (
    FUNCTION,
    TYPE,
    Definition,
    Definitions,
    child_of_type,
    children_of_type,
    get,
    named,
    text_of,
    value_kind,
)

if TYPE_CHECKING:
    from tree_sitter import Node


# --- Kotlin


_KOTLIN_ANNOTATION = re.compile(rb"^[ \t]*(?:\w+[ \t]+)*annotation[ \t]+class[ \t]+(\w+)", re.MULTILINE)


def kotlin_annotation(node: Node, text: bytes, place: int) -> Definitions:
    """``@Target(…) annotation class X``: the grammar takes it for an expression."""
    match = _KOTLIN_ANNOTATION.search(text, node.start_byte, node.end_byte)
    if match:
        yield from named("class", node.descendant_for_byte_range(match.start(1), match.end(1)), text)


# --- Scala


def scala_value(node: Node, text: bytes, place: int) -> Definitions:
    at = get(node, "pattern") or get(node, "name")
    if at is not None and at.type in ("identifier", "operator_identifier"):
        constant = node.type.startswith("val") and text_of(at, text)[:1].isupper()
        value = get(node, "value")
        while value is not None and value.type in ("block", "indented_block") and value.named_child_count == 1:
            value = value.named_child(0)
        instance = value if value is not None and value.type == "instance_expression" and place != FUNCTION else None
        inside = TYPE if instance is not None else None
        yield from named("constant" if constant else "variable", at, text, body=instance, place=inside)


# --- Groovy


def groovy_declaration(node: Node, text: bytes, place: int) -> Definitions:
    at, value = get(node, "name"), get(node, "value")
    if at is not None:
        closure = value is not None and value.type == "closure"
        yield from named("fn" if closure else value_kind(text_of(at, text)), at, text, body=value if closure else None)


def groovy_constructor(node: Node, text: bytes, place: int) -> Definitions:
    """``Name(…) { … }`` in a class: the grammar takes it for a call."""
    at = get(node, "function")
    if place == TYPE and at is not None and at.type == "identifier" and text[node.end_byte - 1 : node.end_byte] == b"}":
        brace = text.find(b"{", at.end_byte, node.end_byte)
        body = node.descendant_for_byte_range(brace, brace + 1) if brace >= 0 else None
        yield from named("method", at, text, body=body)


# --- C#


# --- PowerShell


def powershell_assignment(node: Node, text: bytes, place: int) -> Definitions:
    left = child_of_type(node, "left_assignment_expression")
    if left is not None and (name := text_of(left, text).rpartition(":")[2].lstrip("$")).isidentifier():
        yield Definition(value_kind(name), name, left)


# --- Dart: a signature and its body are neighbours

_DART_SIGNATURES = (
    "function_signature", "getter_signature", "setter_signature", "constructor_signature",
    "constant_constructor_signature", "factory_constructor_signature", "operator_signature",
)  # fmt: skip
_DART_LISTS = ("static_final_declaration_list", "initialized_identifier_list")


def dart_function(node: Node, text: bytes, place: int) -> Definitions:
    signature = node
    if node.type in ("method_signature", "declaration"):
        signature = child_of_type(node, *_DART_SIGNATURES) or node
    body = node.next_named_sibling
    body = body if body is not None and body.type == "function_body" else None
    if signature.type in _DART_SIGNATURES[3:6]:
        names = list(children_of_type(signature, "identifier"))
        if names:
            written = ".".join(text_of(name, text) for name in names)
            yield Definition("method", written, names[-1], body=body, until=body)
        return
    at = get(signature, "name") or child_of_type(signature, "identifier")
    if at is not None and signature.type in _DART_SIGNATURES:
        yield Definition("fn", text_of(at, text), at, body=body, place=FUNCTION, until=body)
    elif signature.type == "operator_signature":
        yield Definition("method", "operator", signature, body=body, until=body)
    elif node.type == "declaration":
        yield from dart_variables(node, text, place)


def dart_variables(node: Node, text: bytes, place: int) -> Definitions:
    for holder in [node] if node.type in _DART_LISTS else children_of_type(node, *_DART_LISTS):
        entries = holder.named_children
        for entry in entries:
            at = child_of_type(entry, "identifier")
            if at is not None:
                head = text[text.rfind(b"\n", 0, at.start_byte) + 1 : at.start_byte]
                kind = "constant" if b"const " in head or (b"static" in head and b"final" in head) else "variable"
                yield Definition(kind, text_of(at, text), at, extent=None if len(entries) == 1 else entry)
