"""Perl, Dart and Zig."""

from __future__ import annotations

import re
from collections.abc import Iterable
from typing import TYPE_CHECKING

from findling.reading.syntax_grammars.model import (
    ATTRIBUTE,
    C_COMMENTS,
    FUNCTION,
    HASH_COMMENTS,
    MODULE,
    TYPE,
    Define,
    Definition,
    Grammar,
    child_of_type,
    children_of_type,
    imports,
    nth_child,
    text_of,
    through,
    value_kind,
)

if TYPE_CHECKING:
    from tree_sitter import Node


# --- Perl: ``package X;`` names what follows, up to the next one

_PERL_PACKAGE = re.compile(rb"^[ \t]*package\s+([\w:]+)\s*;", re.MULTILINE)
# How far back a subroutine's package statement is looked for.
_PERL_LOOK_BACK = 100_000


def _perl_package(node: Node, text: bytes, place: int) -> Iterable[Definition]:
    at, body = child_of_type(node, "package_name"), node.child_by_field_name("body")
    if at is not None:
        qualifier, _, name = text_of(at, text).replace("::", ".").rpartition(".")
        yield Definition("module", name, at, qualifier, body, FUNCTION if body is not None else None)


def _perl_sub(node: Node, text: bytes, place: int) -> Iterable[Definition]:
    at = node.child_by_field_name("name")
    if at is None:
        return
    qualifier = ""
    if place == MODULE:
        window = text[max(0, node.start_byte - _PERL_LOOK_BACK) : node.start_byte]
        packages = _PERL_PACKAGE.findall(window)
        qualifier = packages[-1].decode("utf-8", "replace").replace("::", ".") if packages else ""
    yield Definition("fn", text_of(at, text), at, qualifier, node.child_by_field_name("body"))


def _perl_assignment(node: Node, text: bytes, place: int) -> Iterable[Definition]:
    left = node.child_by_field_name("variable")
    if left is None or left.type != "variable_declaration":
        return
    for at in left.named_children:
        if at.type in ("scalar_variable", "array_variable", "hash_variable"):
            name = text_of(at, text).lstrip("$@%")
            yield Definition(value_kind(name), name, at)


PERL = Grammar(
    parser="perl",
    actions={
        **through("block if_statement"),
        "package_statement": _perl_package,
        "function_definition": _perl_sub,
        "binary_expression": _perl_assignment,
        "use_constant_statement": Define("constant", name="constant", body="", local=False),
    },
    comments=HASH_COMMENTS,
    nested=rb"\bsub\b",
    braces=True,
)


# --- Dart: a signature and its body are neighbours


def _dart_function(node: Node, text: bytes, place: int) -> Iterable[Definition]:
    signature = node
    if node.type in ("method_signature", "declaration"):
        signature = next(children_of_type(node, *_DART_SIGNATURES), node)
    body = node.next_named_sibling
    body = body if body is not None and body.type == "function_body" else None
    if signature.type in ("constructor_signature", "constant_constructor_signature", "factory_constructor_signature"):
        names = list(children_of_type(signature, "identifier"))
        if names:
            written = ".".join(text_of(name, text) for name in names)
            yield Definition("method", written, names[-1], body=body, until=body)
        return
    at = signature.child_by_field_name("name") or child_of_type(signature, "identifier")
    if at is not None and signature.type in _DART_SIGNATURES:
        yield Definition("fn", text_of(at, text), at, body=body, place=FUNCTION, until=body)
    elif signature.type == "operator_signature":
        yield Definition("method", "operator", signature, body=body, until=body)
    elif node.type == "declaration":
        yield from _dart_variables(node, text, place)


_DART_SIGNATURES = (
    "function_signature", "getter_signature", "setter_signature", "constructor_signature",
    "constant_constructor_signature", "factory_constructor_signature", "operator_signature",
)  # fmt: skip


def _dart_variables(node: Node, text: bytes, place: int) -> Iterable[Definition]:
    holders = (
        [node]
        if node.type.endswith("_list")
        else list(children_of_type(node, "static_final_declaration_list", "initialized_identifier_list"))
    )
    for holder in holders:
        entries = holder.named_children
        for entry in entries:
            at = child_of_type(entry, "identifier")
            if at is None:
                continue
            head = text[text.rfind(b"\n", 0, at.start_byte) + 1 : at.start_byte]
            kind = "constant" if b"const " in head or (b"static" in head and b"final" in head) else "variable"
            yield Definition(kind, text_of(at, text), at, extent=None if len(entries) == 1 else entry)


def _dart_extension(node: Node, text: bytes, place: int) -> Iterable[Definition]:
    at, body = node.child_by_field_name("name"), node.child_by_field_name("body")
    if at is not None:
        yield Definition("class", text_of(at, text), at, body=body, place=TYPE)
    else:
        yield Definition("", body=body, place=TYPE)


DART = Grammar(
    parser="dart",
    actions={
        **dict.fromkeys(["annotation", "const_builtin", "final_builtin"], ATTRIBUTE),
        "class_definition": Define("class"),
        "mixin_declaration": Define("trait", "<identifier>", "<class_body>"),
        "enum_declaration": Define("enum"),
        "extension_declaration": _dart_extension,
        "type_alias": Define("type_alias", "<type_identifier>", ""),
        "function_signature": _dart_function,
        "getter_signature": _dart_function,
        "setter_signature": _dart_function,
        "method_signature": _dart_function,
        "declaration": _dart_function,
        "static_final_declaration_list": _dart_variables,
        "initialized_identifier_list": _dart_variables,
        **through("block local_function_declaration lambda_expression"),
    },
    comments=C_COMMENTS,
    nested=rb"\)\s*(?:async\*?\s*)?(?:\{|=>)",
    annotation=b"@",
)


# --- Zig: types are values

_ZIG_TYPES = {
    "struct_declaration": "struct",
    "union_declaration": "struct",
    "opaque_declaration": "struct",
    "enum_declaration": "enum",
    "error_set_declaration": "enum",
}
_ZIG_IMPORT = re.compile(rb"@import\(")


def _zig_variable(node: Node, text: bytes, place: int) -> Iterable[Definition]:
    at = child_of_type(node, "identifier")
    count = node.named_child_count
    value = nth_child(node, count - 1) if count > 1 else None
    if at is None:
        return
    name = text_of(at, text)
    if value is not None and value.type in _ZIG_TYPES:
        yield Definition(_ZIG_TYPES[value.type], name, at, body=value, place=TYPE)
        return
    if value is not None and imports(value, name, text, _ZIG_IMPORT, "field_expression"):
        return
    constant = b"const" in text[node.start_byte : at.start_byte]
    yield Definition("constant" if constant else "variable", name, at)


ZIG = Grammar(
    parser="zig",
    actions={
        **through("block expression_statement field_expression return_expression comptime_declaration"),
        "variable_declaration": _zig_variable,
        "function_declaration": Define("fn"),
        **through("struct_declaration union_declaration enum_declaration", TYPE),
    },
    comments=C_COMMENTS,
    nested=rb"\b(?:struct|union|enum|opaque)\b",
)
