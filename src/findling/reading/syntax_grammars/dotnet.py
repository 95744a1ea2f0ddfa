"""C# and PowerShell. C# namespaces are packages: neither symbols nor part of qualified names."""

from __future__ import annotations

from collections.abc import Iterable
from typing import TYPE_CHECKING

from findling.reading.syntax_grammars.model import (
    C_COMMENTS,
    GROUP,
    TYPE,
    Comments,
    Define,
    Definition,
    Grammar,
    child_of_type,
    text_of,
    through,
    value_kind,
)

if TYPE_CHECKING:
    from tree_sitter import Node


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


_FIELDS = Define(
    "variable",
    body="",
    each="<variable_declaration>/<variable_declarator>",
    constant=rb"const |static.*readonly|readonly.*static",
)

_THROUGH = (
    "namespace_declaration file_scoped_namespace_declaration declaration_list global_statement block if_statement "
    "preproc_if preproc_else preproc_elif"
)

CSHARP = Grammar(
    parser="csharp",
    actions={
        **through(_THROUGH),
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
        "field_declaration": _FIELDS,
        "event_field_declaration": _FIELDS,
        "event_declaration": Define("variable", body=""),
        "property_declaration": Define("variable", body=""),
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
        yield Definition(value_kind(name), name, left)


POWERSHELL = Grammar(
    parser="powershell",
    actions={
        **through("statement_list script_block script_block_body if_statement statement_block"),
        "pipeline": GROUP,
        "assignment_expression": _ps_assignment,
        "function_statement": Define("fn", "<function_name>", "<script_block>"),
        "class_statement": Define("class", "<simple_name>", "."),
        "class_method_definition": Define("method", "<simple_name>", "<script_block>", inside=False),
        "class_property_definition": Define("variable", "<variable>", "", strip="$"),
        "enum_statement": Define("enum", "<simple_name>", ""),
    },
    comments=Comments(line=(b"#",), block=((b"<#", b"#>"),)),
    nested=rb"(?i)\bfunction\b|\bfilter\b",
)
