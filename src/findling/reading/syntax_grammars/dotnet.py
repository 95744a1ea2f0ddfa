"""C# and PowerShell. C# namespaces are packages: neither symbols nor part of qualified names."""

from __future__ import annotations

from collections.abc import Iterable
from typing import TYPE_CHECKING

from findling.reading.syntax_grammars.model import (
    C_COMMENTS,
    FUNCTION,
    GROUP,
    THROUGH,
    TYPE,
    Comments,
    Define,
    Definition,
    Grammar,
    child_of_type,
    children_of_type,
    is_constant_name,
    named,
    text_of,
)

if TYPE_CHECKING:
    from tree_sitter import Node


def _fields(node: Node, text: bytes, place: int) -> Iterable[Definition]:
    declaration = child_of_type(node, "variable_declaration")
    if declaration is None:
        return
    declarators = list(children_of_type(declaration, "variable_declarator"))
    for declarator in declarators:
        at = declarator.child_by_field_name("name")
        if at is None:
            continue
        head = text[node.start_byte : at.start_byte]
        constant = b"const " in head or (b"static" in head and b"readonly" in head)
        extent = None if len(declarators) == 1 else declarator
        yield Definition("constant" if constant else "variable", text_of(at, text), at, extent=extent)


def _property(node: Node, text: bytes, place: int) -> Iterable[Definition]:
    at = node.child_by_field_name("name")
    if at is not None:
        yield Definition("variable", text_of(at, text), at)


def _indexer(node: Node, text: bytes, place: int) -> Iterable[Definition]:
    yield Definition(
        "method", "this", node.child_by_field_name("parameters"), body=child_of_type(node, "accessor_list")
    )


def _operator(node: Node, text: bytes, place: int) -> Iterable[Definition]:
    at = node.child_by_field_name("operator") or node.child_by_field_name("type")
    if at is not None:
        yield Definition("method", f"operator {text_of(at, text)}", at, body=node.child_by_field_name("body"))


def _destructor(node: Node, text: bytes, place: int) -> Iterable[Definition]:
    at = node.child_by_field_name("name")
    if at is not None:
        yield Definition("method", "~" + text_of(at, text), at, body=node.child_by_field_name("body"))


def _record(node: Node, text: bytes, place: int) -> Iterable[Definition]:
    at, body = node.child_by_field_name("name"), node.child_by_field_name("body")
    if at is not None:
        kind = "struct" if b"struct" in text[node.start_byte : at.start_byte] else "class"
        yield Definition(kind, text_of(at, text), at, body=body, place=TYPE)


_THROUGH = (
    "namespace_declaration file_scoped_namespace_declaration declaration_list global_statement block if_statement "
    "preproc_if preproc_else preproc_elif"
)

CSHARP = Grammar(
    parser="csharp",
    actions={
        **dict.fromkeys(_THROUGH.split(), THROUGH),
        "class_declaration": Define("class"),
        "struct_declaration": Define("struct"),
        "interface_declaration": Define("interface"),
        "enum_declaration": Define("enum"),
        "record_declaration": _record,
        "delegate_declaration": Define("type_alias", body=""),
        "method_declaration": Define("method"),
        "constructor_declaration": Define("method"),
        "destructor_declaration": _destructor,
        "operator_declaration": _operator,
        "conversion_operator_declaration": _operator,
        "indexer_declaration": _indexer,
        "local_function_statement": Define("fn"),
        "field_declaration": _fields,
        "event_field_declaration": _fields,
        "event_declaration": _property,
        "property_declaration": _property,
    },
    comments=C_COMMENTS,
    nested=rb"\)\s*(?:=>|\{|where\b)",
    annotation=b"[",
    braces=True,
    conditional="on_error",
)


# --- PowerShell


def _ps_assignment(node: Node, text: bytes, place: int) -> Iterable[Definition]:
    left = child_of_type(node, "left_assignment_expression")
    if left is None:
        return
    name = text_of(left, text).rpartition(":")[2].lstrip("$")
    if name.isidentifier():
        yield Definition("constant" if is_constant_name(name) else "variable", name, left)


def _ps_method(node: Node, text: bytes, place: int) -> Iterable[Definition]:
    at = child_of_type(node, "simple_name")
    if at is not None:
        yield Definition("method", text_of(at, text), at, body=child_of_type(node, "script_block"))


def _ps_property(node: Node, text: bytes, place: int) -> Iterable[Definition]:
    at = child_of_type(node, "variable")
    if at is not None:
        yield Definition("variable", text_of(at, text).lstrip("$"), at)


def _ps_class(node: Node, text: bytes, place: int) -> Iterable[Definition]:
    at = child_of_type(node, "simple_name")
    if at is not None:
        yield Definition("class", text_of(at, text), at, body=node, place=TYPE)


POWERSHELL = Grammar(
    parser="powershell",
    actions={
        **dict.fromkeys(
            ["statement_list", "script_block", "script_block_body", "if_statement", "statement_block"], THROUGH
        ),
        "pipeline": GROUP,
        "assignment_expression": _ps_assignment,
        "function_statement": named("fn", "function_name", "script_block", FUNCTION),
        "class_statement": _ps_class,
        "class_method_definition": _ps_method,
        "class_property_definition": _ps_property,
        "enum_statement": named("enum", "simple_name"),
    },
    comments=Comments(line=(b"#",), block=((b"<#", b"#>"),)),
    nested=rb"(?i)\bfunction\b|\bfilter\b",
)
