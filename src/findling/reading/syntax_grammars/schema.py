"""Languages that describe data and services: SQL, Protocol Buffers, GraphQL, HCL, Solidity, SCSS and CSS."""

from __future__ import annotations

from collections.abc import Iterable
from typing import TYPE_CHECKING

from findling.reading.syntax_grammars.model import (
    C_COMMENTS,
    GROUP,
    TYPE,
    Action,
    Comments,
    Define,
    Definition,
    Finder,
    Grammar,
    child_of_type,
    nth_child,
    text_of,
    through,
)
from findling.reading.syntax_text import first_paragraph

if TYPE_CHECKING:
    from tree_sitter import Node


# --- SQL


def _sql(kind: str) -> Finder:
    def find(node: Node, text: bytes, place: int) -> Iterable[Definition]:
        reference = child_of_type(node, "object_reference")
        if reference is None:
            at = child_of_type(node, "identifier")
            if at is not None:
                yield Definition(kind, text_of(at, text).strip('`"[]'), at)
            return
        at, schema = reference.child_by_field_name("name"), reference.child_by_field_name("schema")
        if at is not None:
            qualifier = text_of(schema, text).strip('`"[]') if schema is not None else ""
            yield Definition(
                kind, text_of(at, text).strip('`"[]'), at, qualifier, child_of_type(node, "column_definitions")
            )

    return find


def _sql_type(node: Node, text: bytes, place: int) -> Iterable[Definition]:
    kind = "enum" if child_of_type(node, "enum_elements") is not None else "type_alias"
    yield from _sql(kind)(node, text, place)


SQL = Grammar(
    parser="sql",
    actions={
        "statement": GROUP,
        **through("block transaction"),
        "create_table": _sql("struct"),
        "create_view": _sql("struct"),
        "create_materialized_view": _sql("struct"),
        "create_index": Define("variable", "column", "", strip='`"[]'),
        "create_function": _sql("fn"),
        "create_trigger": _sql("fn"),
        "create_type": _sql_type,
        "create_schema": _sql("module"),
        "create_database": _sql("module"),
        "create_sequence": _sql("variable"),
    },
    comments=Comments(line=(b"--",), block=((b"/*", b"*/"),)),
)


# --- Protocol Buffers


PROTO = Grammar(
    parser="proto",
    actions={
        "message": Define("struct", "<message_name>", "<message_body>"),
        "enum": Define("enum", "<enum_name>", "<enum_body>"),
        "service": Define("interface", "<service_name>", "."),
        "rpc": Define("method", "<rpc_name>", ""),
    },
    comments=C_COMMENTS,
)


# --- GraphQL


def _graphql(kind: str, name_type: str, body_type: str = "") -> Finder:
    def find(node: Node, text: bytes, place: int) -> Iterable[Definition]:
        at, description = child_of_type(node, name_type), child_of_type(node, "description")
        if at is not None:
            doc = first_paragraph(text_of(description, text).strip('"').splitlines()) if description is not None else ""
            body = child_of_type(node, body_type) if body_type else None
            yield Definition(kind, text_of(at, text), at, body=body, doc=doc)

    return find


GRAPHQL = Grammar(
    parser="graphql",
    actions={
        **through("document definition type_system_definition type_definition executable_definition"),
        "object_type_definition": _graphql("class", "name", "fields_definition"),
        "interface_type_definition": _graphql("interface", "name", "fields_definition"),
        "input_object_type_definition": _graphql("struct", "name", "input_fields_definition"),
        "enum_type_definition": _graphql("enum", "name", "enum_values_definition"),
        "union_type_definition": _graphql("type_alias", "name"),
        "scalar_type_definition": _graphql("type_alias", "name"),
        "directive_definition": _graphql("fn", "name"),
        "operation_definition": _graphql("fn", "name", "selection_set"),
        "fragment_definition": _graphql("fn", "fragment_name", "selection_set"),
    },
    comments=Comments(line=(b"#",)),
)


# --- HCL (Terraform): names as expressions refer to them

_HCL_KINDS = {
    "variable": ("variable", "var"),
    "output": ("variable", "output"),
    "module": ("module", "module"),
    "data": ("struct", "data"),
    "resource": ("struct", ""),
    "provider": ("module", "provider"),
}


def _hcl_block(node: Node, text: bytes, place: int) -> Iterable[Definition]:
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


HCL = Grammar(
    parser="hcl",
    actions={**through("body"), "block": _hcl_block, "attribute": Define("variable", "<identifier>", "")},
    comments=Comments(line=(b"#", b"//"), block=((b"/*", b"*/"),)),
)


# --- Solidity


_STATE = Define("variable", body="", constant=rb"constant|immutable")


def _unnamed(name: str) -> Finder:
    def find(node: Node, text: bytes, place: int) -> Iterable[Definition]:
        written = name or text[node.start_byte : node.end_byte].split(b"(")[0].split()[0].decode("utf-8", "replace")
        yield Definition("method", written, node, body=node.child_by_field_name("body"))

    return find


SOLIDITY = Grammar(
    parser="solidity",
    actions={
        "contract_declaration": Define("class"),
        "interface_declaration": Define("interface"),
        "library_declaration": Define("class"),
        "struct_declaration": Define("struct"),
        "enum_declaration": Define("enum"),
        "function_definition": Define("fn"),
        "modifier_definition": Define("fn"),
        "constructor_definition": _unnamed("constructor"),
        "fallback_receive_definition": _unnamed(""),
        "event_definition": Define("struct", body=""),
        "error_declaration": Define("struct", body=""),
        "user_defined_type_definition": Define("type_alias", body=""),
        "constant_variable_declaration": _STATE,
        "state_variable_declaration": _STATE,
    },
    comments=C_COMMENTS,
)


# --- SCSS and CSS: what can be named elsewhere, not selectors


def _custom_property(node: Node, text: bytes, place: int) -> Iterable[Definition]:
    at = nth_child(node, 0)
    if at is not None and text.startswith((b"$", b"--"), at.start_byte):
        yield Definition("variable", text_of(at, text).lstrip("$"), at)


_CSS: dict[str, Action] = {
    **through("rule_set block media_statement supports_statement"),
    "declaration": _custom_property,
    "keyframes_statement": Define("fn", "<keyframes_name>", "<keyframe_block_list>"),
}

CSS = Grammar(parser="css", actions=_CSS, comments=Comments(block=((b"/*", b"*/"),)))

SCSS = Grammar(
    parser="scss",
    actions={
        **_CSS,
        "mixin_statement": Define("fn", "<name>", "<block>"),
        "function_statement": Define("fn", "<name>", "<block>"),
        "placeholder": Define("class", "<name>", "<block>"),
    },
    comments=C_COMMENTS,
)
