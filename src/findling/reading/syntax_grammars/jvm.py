"""Java, Kotlin, Scala and Groovy."""

from __future__ import annotations

import re
from collections.abc import Iterable
from typing import TYPE_CHECKING

from findling.reading.syntax_grammars.model import (
    C_COMMENTS,
    FUNCTION,
    TYPE,
    Define,
    Definition,
    Grammar,
    child_of_type,
    is_constant_name,
    text_of,
    through,
    value_kind,
)

if TYPE_CHECKING:
    from tree_sitter import Node


# --- Java


JAVA = Grammar(
    parser="java",
    actions={
        "class_declaration": Define("class"),
        "record_declaration": Define("class"),
        "interface_declaration": Define("interface"),
        "annotation_type_declaration": Define("interface"),
        "enum_declaration": Define("enum"),
        **through("enum_body_declarations"),
        "method_declaration": Define("method"),
        "annotation_type_element_declaration": Define("method"),
        "constructor_declaration": Define("method"),
        "compact_constructor_declaration": Define("method"),
        "field_declaration": Define("variable", body="", each="declarator", constant=rb"static.*final|final.*static"),
        "constant_declaration": Define("constant", body="", each="declarator"),
    },
    comments=C_COMMENTS,
    annotation=b"@",
)


# --- Kotlin

_KOTLIN_HEAD = re.compile(rb"\b(interface|enum)\b")


def _kotlin_class(node: Node, text: bytes, place: int) -> Iterable[Definition]:
    at = node.child_by_field_name("name")
    if at is None:
        return
    body = child_of_type(node, "class_body", "enum_class_body")
    head = _KOTLIN_HEAD.search(text, node.start_byte, at.start_byte)
    kind = head.group(1).decode() if head else "class"
    yield Definition(kind, text_of(at, text), at, body=body, place=TYPE)


def _kotlin_property(node: Node, text: bytes, place: int) -> Iterable[Definition]:
    declared = child_of_type(node, "variable_declaration")
    at = child_of_type(declared, "identifier") if declared is not None else None
    if at is not None:
        name = text_of(at, text)
        constant = is_constant_name(name) or b"const " in text[node.start_byte : at.start_byte]
        yield Definition("constant" if constant else "variable", name.strip("`"), at)


def _kotlin_companion(node: Node, text: bytes, place: int) -> Iterable[Definition]:
    at = node.child_by_field_name("name")
    body = child_of_type(node, "class_body")
    yield Definition("", qualifier=text_of(at, text) if at is not None else "", body=body, place=TYPE)


def _kotlin_constructor(node: Node, text: bytes, place: int) -> Iterable[Definition]:
    yield Definition("method", "constructor", node, body=child_of_type(node, "block"))


_KOTLIN_ANNOTATION = re.compile(rb"^[ \t]*(?:\w+[ \t]+)*annotation[ \t]+class[ \t]+(\w+)", re.MULTILINE)


def _kotlin_annotation(node: Node, text: bytes, place: int) -> Iterable[Definition]:
    """``@Target(…) annotation class X``: the grammar takes it for an expression."""
    match = _KOTLIN_ANNOTATION.search(text, node.start_byte, node.end_byte)
    if match:
        at = node.descendant_for_byte_range(match.start(1), match.end(1))
        yield Definition("class", match.group(1).decode(), at)


KOTLIN = Grammar(
    parser="kotlin",
    actions={
        "class_declaration": _kotlin_class,
        "object_declaration": _kotlin_class,
        "companion_object": _kotlin_companion,
        "function_declaration": Define("fn", body="<function_body>", strip="`"),
        "secondary_constructor": _kotlin_constructor,
        "property_declaration": _kotlin_property,
        "type_alias": Define("type_alias", name="type", body=""),
        "annotated_expression": _kotlin_annotation,
        **through("block"),
    },
    comments=C_COMMENTS,
    nested=rb"\b(?:fun|class|object)\b",
    annotation=b"@",
    braces=True,
)


# --- Scala


def _scala_value(node: Node, text: bytes, place: int) -> Iterable[Definition]:
    at = node.child_by_field_name("pattern") or node.child_by_field_name("name")
    if at is not None and at.type in ("identifier", "operator_identifier"):
        name = text_of(at, text)
        constant = node.type.startswith("val") and name[:1].isupper()
        value = node.child_by_field_name("value")
        while value is not None and value.type in ("block", "indented_block") and value.named_child_count == 1:
            value = value.named_child(0)
        instance = value if value is not None and value.type == "instance_expression" and place != FUNCTION else None
        inside = TYPE if instance is not None else None
        yield Definition("constant" if constant else "variable", name, at, body=instance, place=inside)


def _scala_given(node: Node, text: bytes, place: int) -> Iterable[Definition]:
    at, body = node.child_by_field_name("name"), node.child_by_field_name("body")
    if at is not None:
        yield Definition("constant", text_of(at, text), at, body=body, place=TYPE)
    else:
        yield Definition("", body=body, place=TYPE)


SCALA = Grammar(
    parser="scala",
    actions={
        "class_definition": Define("class"),
        "object_definition": Define("class"),
        "trait_definition": Define("trait"),
        "enum_definition": Define("enum"),
        "package_object": Define("module"),
        **through("package_clause template_body extension_definition block indented_block instance_expression"),
        "function_definition": Define("fn"),
        "function_declaration": Define("fn"),
        "given_definition": _scala_given,
        "type_definition": Define("type_alias", body=""),
        "val_definition": _scala_value,
        "var_definition": _scala_value,
        "val_declaration": _scala_value,
        "var_declaration": _scala_value,
    },
    comments=C_COMMENTS,
    nested=rb"\b(?:def|class|object|trait)\b",
    annotation=b"@",
)


# --- Groovy


def _groovy_class(node: Node, text: bytes, place: int) -> Iterable[Definition]:
    at, body = node.child_by_field_name("name"), node.child_by_field_name("body")
    if at is not None:
        head = text[node.start_byte : at.start_byte]
        kind = "interface" if b"interface" in head else "trait" if b"trait" in head else "class"
        yield Definition(kind, text_of(at, text), at, body=body, place=TYPE)


def _groovy_declaration(node: Node, text: bytes, place: int) -> Iterable[Definition]:
    at, value = node.child_by_field_name("name"), node.child_by_field_name("value")
    if at is None:
        return
    name = text_of(at, text)
    if value is not None and value.type == "closure":
        yield Definition("fn", name, at, body=value)
    else:
        yield Definition(value_kind(name), name, at)


def _groovy_constructor(node: Node, text: bytes, place: int) -> Iterable[Definition]:
    """``Name(…) { … }`` in a class: the grammar takes it for a call."""
    at = node.child_by_field_name("function")
    if place == TYPE and at is not None and at.type == "identifier" and text[node.end_byte - 1 : node.end_byte] == b"}":
        brace = text.find(b"{", at.end_byte, node.end_byte)
        body = node.descendant_for_byte_range(brace, brace + 1) if brace >= 0 else None
        yield Definition("method", text_of(at, text), at, body=body)


GROOVY = Grammar(
    parser="groovy",
    actions={
        "class_definition": _groovy_class,
        "function_definition": Define("fn", name="function"),
        "function_declaration": Define("fn", name="function"),
        "declaration": _groovy_declaration,
        "function_call": _groovy_constructor,
    },
    comments=C_COMMENTS,
    annotation=b"@",
)
