"""Finders for languages of data and builds: SQL, HCL, Solidity, Make, CMake, Jsonnet; and for Fortran."""

from __future__ import annotations

from typing import TYPE_CHECKING

from findling.reading.syntax_grammars.model import (
    TYPE,
    Definition,
    Definitions,
    Finder,
    child_of_type,
    get,
    named,
    text_of,
    value_kind,
)

if TYPE_CHECKING:
    from tree_sitter import Node


# --- SQL

_SQL_QUOTES = '`"[]'


def sql(kind: str) -> Finder:
    def find(node: Node, text: bytes, place: int) -> Definitions:
        at, schema = get(node, "<object_reference>/name"), get(node, "<object_reference>/schema")
        if child_of_type(node, "object_reference") is None:
            at = child_of_type(node, "identifier")
        qualifier = text_of(schema, text).strip(_SQL_QUOTES) if schema is not None else ""
        body = child_of_type(node, "column_definitions")
        yield from named(kind, at, text, qualifier=qualifier, body=body, strip=_SQL_QUOTES)

    return find


def sql_type(node: Node, text: bytes, place: int) -> Definitions:
    kind = "enum" if child_of_type(node, "enum_elements") is not None else "type_alias"
    yield from sql(kind)(node, text, place)


# --- HCL (Terraform): names as expressions refer to them

_HCL_KINDS = {
    "variable": ("variable", "var"),
    "output": ("variable", "output"),
    "module": ("module", "module"),
    "data": ("struct", "data"),
    "resource": ("struct", ""),
    "provider": ("module", "provider"),
}


def hcl_block(node: Node, text: bytes, place: int) -> Definitions:
    head = child_of_type(node, "identifier")
    if head is None:
        return
    word = text_of(head, text)
    body = child_of_type(node, "body")
    if word == "locals":
        yield Definition("", qualifier="local", body=body, place=TYPE)
        return
    labels = [child for child in node.named_children if child.type == "string_lit"]
    if not labels or place != 0:
        return
    kind, prefix = _HCL_KINDS.get(word, ("struct", word))
    *outer, name = (text_of(label, text).strip('"') for label in labels)
    qualifier = ".".join([prefix, *outer] if prefix else outer)
    yield Definition(kind, name, labels[-1], qualifier, child_of_type(node, "block_start"))


# --- Solidity


def solidity_fallback(node: Node, text: bytes, place: int) -> Definitions:
    written = text[node.start_byte : node.end_byte].split(b"(")[0].split()[0].decode("utf-8", "replace")
    yield Definition("method", written, node, body=get(node, "body"))


# --- Make


def make_rule(node: Node, text: bytes, place: int) -> Definitions:
    targets = child_of_type(node, "targets")
    if targets is None:
        return
    for at in targets.named_children:
        name = text_of(at, text)
        if not name.startswith(".") or "/" in name:  # .PHONY and other settings
            yield Definition("fn", name, at, body=child_of_type(node, "recipe"))


# --- CMake

_CMAKE_TARGETS = {
    "set": "variable", "option": "variable", "add_library": "module", "add_executable": "module",
    "add_custom_target": "module", "project": "module",
}  # fmt: skip


def cmake_command(node: Node, text: bytes, place: int) -> Definitions:
    word, at = child_of_type(node, "identifier"), get(node, "<argument_list>/<argument>")
    kind = _CMAKE_TARGETS.get(text_of(word, text).lower()) if word is not None else None
    if kind is not None and at is not None and "$" not in text_of(at, text):
        yield from named(kind, at, text)


# --- Jsonnet


def _is_function(at: Node, text: bytes) -> bool:
    return text[at.end_byte : at.end_byte + 1] == b"("


def jsonnet_bind(node: Node, text: bytes, place: int) -> Definitions:
    at = child_of_type(node, "id")
    if at is not None:
        yield from named("fn" if _is_function(at, text) else value_kind(text_of(at, text)), at, text)


def jsonnet_field(node: Node, text: bytes, place: int) -> Definitions:
    """Fields that are functions; plain fields are data."""
    at = child_of_type(node, "fieldname")
    if at is not None and _is_function(at, text):
        yield from named("fn", at, text, strip="'\"")


# --- Fortran


def fortran_unit(kind: str, head_type: str, inside: int | None = None) -> Finder:
    def find(node: Node, text: bytes, place: int) -> Definitions:
        head = child_of_type(node, head_type)
        if head is not None:
            at = get(head, "name") or child_of_type(head, "name", "type_name", "operator")
            body = head.next_named_sibling if inside is None else node
            yield from named(kind, at, text, body=body, place=inside)

    return find


def fortran_variables(node: Node, text: bytes, place: int) -> Definitions:
    declarators = node.children_by_field_name("declarator")
    for declarator in declarators:
        inner = get(declarator, "left") or declarator
        head = text[node.start_byte : declarator.start_byte].lower()
        name = text_of(inner, text).partition("(")[0].strip()
        extent = None if len(declarators) == 1 else declarator
        yield Definition("constant" if b"parameter" in head else "variable", name, inner, extent=extent)
