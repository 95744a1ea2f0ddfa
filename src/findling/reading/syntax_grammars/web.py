"""Finders for the languages of web pages: JavaScript, TypeScript, TSX, PHP, CSS, SCSS, GraphQL.

PHP's namespaces are packages: neither symbols nor part of qualified names. Of style sheets only what can be named
elsewhere is a symbol; selectors are not.
"""

from __future__ import annotations

import re
from collections.abc import Mapping
from typing import TYPE_CHECKING

from msgspec.structs import replace

from findling.reading.syntax_grammars.model import (
    FUNCTION,
    MODULE,
    TYPE,
    Define,
    Definition,
    Definitions,
    child_of_type,
    get,
    imports,
    is_constant_name,
    named,
    nth_child,
    text_of,
    value_kind,
)
from findling.reading.syntax_text import first_paragraph

if TYPE_CHECKING:
    from tree_sitter import Node


_FUNCTIONS = frozenset({"arrow_function", "function_expression", "generator_function", "function"})
_WRAPPERS = frozenset({"as_expression", "satisfies_expression", "parenthesized_expression", "non_null_expression"})
_IMPORT = re.compile(rb"(?:await\s+)?(?:require|import)\s*\(")
_EXPORTS = re.compile(r"^(?:module\.)?exports\b\.?")
_SELF = frozenset({"this", "self", "that", "_this"})


def _value(node: Node | None) -> Node | None:
    while node is not None and node.type in _WRAPPERS and node.named_child_count:
        node = nth_child(node, 0)
    return node


def _holder(kind: str, name: str, at: Node, value: Node | None, qualifier: str = "") -> Definition | None:
    """The definition of a name whose value is a function, a class or an object; None for other values."""
    if value is None:
        return None
    if value.type in _FUNCTIONS:
        body = get(value, "body")
        return Definition(kind, name, at, qualifier, body, FUNCTION)
    if value.type == "class":
        return Definition("class", name, at, qualifier, get(value, "body"), TYPE)
    if value.type == "object":
        return Definition("variable", name, at, qualifier, value, TYPE)
    return None


def javascript_declaration(node: Node, text: bytes, place: int) -> Definitions:
    declarators = [child for child in node.named_children if child.type == "variable_declarator"]
    constant = text.startswith(b"const", node.start_byte)
    for declarator in declarators:
        at = get(declarator, "name")
        if at is None or at.type != "identifier":
            continue
        name = text_of(at, text)
        value = _value(get(declarator, "value"))
        extent = None if len(declarators) == 1 else declarator
        kind = "constant" if constant or is_constant_name(name) else "variable"
        if (held := _holder("fn", name, at, value)) is not None:
            is_value = held.kind == "variable"
            if place != FUNCTION or not is_value:
                yield replace(held, kind=kind if is_value else held.kind, extent=extent)
        elif value is None or not imports(value, name, text, _IMPORT, "member_expression"):
            # Functions handed to a call (``memo(() => …)``) are looked into; the name itself is a plain value.
            body = get(value, "arguments") if value is not None and value.type == "call_expression" else None
            if place != FUNCTION:
                yield Definition(kind, name, at, body=body, place=FUNCTION if body is not None else None, extent=extent)
            elif body is not None:
                yield Definition("", body=body, place=FUNCTION)


def javascript_assignment(node: Node, text: bytes, place: int) -> Definitions:
    """``exports.x = function``, ``A.prototype.b = …``, ``a.b = a.c = function``; ``this.x = function`` in functions."""
    targets: list[Node] = []
    right: Node | None = node
    while right is not None and right.type == "assignment_expression":
        left = get(right, "left")
        if left is not None:
            targets.append(left)
        right = get(right, "right")
    value = _value(right)
    if value is None:
        return
    if value.type in ("call_expression", "new_expression", "await_expression"):
        yield Definition("", body=nth_child(node, -1) if right is None else right, place=place)
        return
    for position, target in enumerate(targets):
        if target.type not in ("identifier", "member_expression"):
            continue
        path = text_of(target, text)
        inner = _EXPORTS.sub("", path)
        exported = inner != path
        parts = [part for part in inner.split(".") if part and part not in _SELF]
        prototype = "prototype" in parts
        parts = [part.strip() for part in parts if part != "prototype"]
        if not parts:
            if value.type == "object":
                yield Definition("", body=value, place=TYPE if position == 0 else None)
            elif value.type in _FUNCTIONS or value.type == "class":
                kind, inside = ("class", "type") if value.type == "class" else ("fn", "function")
                yield from Define(kind, unnamed=inside)(value, text, MODULE)
            continue
        if any(
            not part.isidentifier() and not part.replace("$", "_").replace("#", "_").isidentifier() for part in parts
        ):
            continue
        at = get(target, "property") or target
        held = _holder("method" if prototype else "fn", parts[-1], at, value, ".".join(parts[:-1]))
        if held is not None and (held.kind != "variable" or exported or prototype):
            yield replace(held, place=None) if position else held  # the inside belongs to the first name only
        elif held is None and exported and place == MODULE and value.type not in ("identifier", "member_expression"):
            yield Definition(value_kind(parts[-1]), parts[-1], at)


def javascript_pair(node: Node, text: bytes, place: int) -> Definitions:
    key = get(node, "key")
    value = _value(get(node, "value"))
    if key is None or value is None or place != TYPE:
        return
    name = text_of(key, text).strip("'\"")
    if value.type == "object":
        yield Definition("", qualifier=name, body=value, place=TYPE)
    elif (held := _holder("method", name, key, value)) is not None:
        yield held


def javascript_field(node: Node, text: bytes, place: int) -> Definitions:
    at = get(node, "name") or get(node, "property")
    if at is None:
        return
    name = text_of(at, text).strip("'\"")
    held = _holder("method", name, at, _value(get(node, "value")))
    if held is not None and held.kind != "variable":
        yield held
    else:
        yield Definition(value_kind(name), name, at)


def javascript_default_object(node: Node, text: bytes, place: int) -> Definitions:
    """``export default { … }``: its functions are the module's interface; objects elsewhere are data."""
    parent = node.parent
    if parent is not None and parent.type == "export_statement":
        yield Definition("", body=node, place=TYPE)


# --- PHP


def php_call(node: Node, text: bytes, place: int) -> Definitions:
    """``Define('NAME', value)``."""
    function, arguments = get(node, "function"), get(node, "arguments")
    if function is None or arguments is None or text_of(function, text).lower() != "define":
        return
    first = nth_child(arguments, 0)
    if first is not None:
        name = text_of(first, text).strip("'\"")
        if name.replace("\\", "_").isidentifier():
            yield Definition("constant", name, first)


# --- style sheets


def css_custom_property(node: Node, text: bytes, place: int) -> Definitions:
    at = nth_child(node, 0)
    if at is not None and text.startswith((b"$", b"--"), at.start_byte):
        yield Definition("variable", text_of(at, text).lstrip("$"), at)


# --- GraphQL


def graphql(kind: str, name_type: str, body_type: str, node: Node, text: bytes, place: int) -> Definitions:
    at, description = child_of_type(node, name_type), child_of_type(node, "description")
    if at is not None:
        doc = first_paragraph(text_of(description, text).strip('"').splitlines()) if description is not None else ""
        yield Definition(kind, text_of(at, text), at, body=child_of_type(node, body_type), doc=doc)


# --- data ---------------------------------------------------------------------------------------------------------
# Finders for languages of data and builds: SQL, HCL, Solidity, Make, CMake, Jsonnet; and for Fortran.


# --- HCL (Terraform): names as expressions refer to them


def hcl_block(kinds: Mapping[str, tuple[str, str]], node: Node, text: bytes, place: int) -> Definitions:
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
    kind, prefix = kinds.get(word, ("struct", word))
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


def cmake_command(targets: Mapping[str, str], node: Node, text: bytes, place: int) -> Definitions:
    word, at = child_of_type(node, "identifier"), get(node, "<argument_list>/<argument>")
    kind = targets.get(text_of(word, text).lower()) if word is not None else None
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


def fortran_unit(kind: str, head_type: str, inside: int | None, node: Node, text: bytes, place: int) -> Definitions:
    head = child_of_type(node, head_type)
    if head is not None:
        at = get(head, "name") or child_of_type(head, "name", "type_name", "operator")
        body = head.next_named_sibling if inside is None else node
        yield from named(kind, at, text, body=body, place=inside)


def fortran_variables(node: Node, text: bytes, place: int) -> Definitions:
    declarators = node.children_by_field_name("declarator")
    for declarator in declarators:
        inner = get(declarator, "left") or declarator
        head = text[node.start_byte : declarator.start_byte].lower()
        name = text_of(inner, text).partition("(")[0].strip()
        extent = None if len(declarators) == 1 else declarator
        yield Definition("constant" if b"parameter" in head else "variable", name, inner, extent=extent)
