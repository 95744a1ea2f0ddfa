"""Languages with a runtime below them: Java, Kotlin, Scala, Groovy, C#, PowerShell, Dart.

Packages and C#'s namespaces are neither symbols nor part of qualified names.
"""

from __future__ import annotations

import re
from typing import TYPE_CHECKING

from findling.reading.syntax_grammars.model import (
    ATTRIBUTE,
    FUNCTION,
    GROUP,
    TYPE,
    Define,
    Definition,
    Definitions,
    Grammar,
    child_of_type,
    children_of_type,
    get,
    is_constant_name,
    named,
    text_of,
    through,
    value_kind,
)

if TYPE_CHECKING:
    from tree_sitter import Node

GRAMMARS = {
    "java": Grammar(
        "java",
        {
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
            "field_declaration": Define(
                "variable", body="", each="declarator", words={rb"static.*final|final.*static": "constant"}
            ),
            "constant_declaration": Define("constant", body="", each="declarator"),
        },
        annotation=b"@",
    )
}


# --- Kotlin


def _kotlin_property(node: Node, text: bytes, place: int) -> Definitions:
    at = get(node, "<variable_declaration>/<identifier>")
    if at is not None:
        constant = is_constant_name(text_of(at, text)) or b"const " in text[node.start_byte : at.start_byte]
        yield from named("constant" if constant else "variable", at, text, strip="`")


def _kotlin_constructor(node: Node, text: bytes, place: int) -> Definitions:
    yield Definition("method", "constructor", node, body=child_of_type(node, "block"))


_KOTLIN_ANNOTATION = re.compile(rb"^[ \t]*(?:\w+[ \t]+)*annotation[ \t]+class[ \t]+(\w+)", re.MULTILINE)


def _kotlin_annotation(node: Node, text: bytes, place: int) -> Definitions:
    """``@Target(…) annotation class X``: the grammar takes it for an expression."""
    match = _KOTLIN_ANNOTATION.search(text, node.start_byte, node.end_byte)
    if match:
        yield from named("class", node.descendant_for_byte_range(match.start(1), match.end(1)), text)


_KOTLIN_CLASS = Define(
    "class", body="<class_body enum_class_body>", words={rb"\binterface\b": "interface", rb"\benum\b": "enum"}
)

GRAMMARS["kotlin"] = Grammar(
    "kotlin",
    {
        "class_declaration": _KOTLIN_CLASS,
        "object_declaration": _KOTLIN_CLASS,
        "companion_object": Define("", body="<class_body>", inside=TYPE, unnamed=TYPE),
        "function_declaration": Define("fn", body="<function_body>", strip="`"),
        "secondary_constructor": _kotlin_constructor,
        "property_declaration": _kotlin_property,
        "type_alias": Define("type_alias", name="type", body=""),
        "annotated_expression": _kotlin_annotation,
        **through("block"),
    },
    nested=rb"\b(?:fun|class|object)\b",
    annotation=b"@",
    braces=True,
)


# --- Scala


def _scala_value(node: Node, text: bytes, place: int) -> Definitions:
    at = get(node, "pattern") or get(node, "name")
    if at is not None and at.type in ("identifier", "operator_identifier"):
        constant = node.type.startswith("val") and text_of(at, text)[:1].isupper()
        value = get(node, "value")
        while value is not None and value.type in ("block", "indented_block") and value.named_child_count == 1:
            value = value.named_child(0)
        instance = value if value is not None and value.type == "instance_expression" and place != FUNCTION else None
        inside = TYPE if instance is not None else None
        yield from named("constant" if constant else "variable", at, text, body=instance, place=inside)


GRAMMARS["scala"] = Grammar(
    "scala",
    {
        "class_definition": Define("class"),
        "object_definition": Define("class"),
        "trait_definition": Define("trait"),
        "enum_definition": Define("enum"),
        "package_object": Define("module"),
        **through("package_clause template_body extension_definition block indented_block instance_expression"),
        "function_definition": Define("fn"),
        "function_declaration": Define("fn"),
        "given_definition": Define("constant", inside=TYPE, unnamed=TYPE),
        "type_definition": Define("type_alias", body=""),
        "val_definition": _scala_value,
        "var_definition": _scala_value,
        "val_declaration": _scala_value,
        "var_declaration": _scala_value,
    },
    nested=rb"\b(?:def|class|object|trait)\b",
    annotation=b"@",
)


# --- Groovy


def _groovy_declaration(node: Node, text: bytes, place: int) -> Definitions:
    at, value = get(node, "name"), get(node, "value")
    if at is not None:
        closure = value is not None and value.type == "closure"
        yield from named("fn" if closure else value_kind(text_of(at, text)), at, text, body=value if closure else None)


def _groovy_constructor(node: Node, text: bytes, place: int) -> Definitions:
    """``Name(…) { … }`` in a class: the grammar takes it for a call."""
    at = get(node, "function")
    if place == TYPE and at is not None and at.type == "identifier" and text[node.end_byte - 1 : node.end_byte] == b"}":
        brace = text.find(b"{", at.end_byte, node.end_byte)
        body = node.descendant_for_byte_range(brace, brace + 1) if brace >= 0 else None
        yield from named("method", at, text, body=body)


GRAMMARS["groovy"] = Grammar(
    "groovy",
    {
        "class_definition": Define("class", words={rb"interface": "interface", rb"trait": "trait"}),
        "function_definition": Define("fn", name="function"),
        "function_declaration": Define("fn", name="function"),
        "declaration": _groovy_declaration,
        "function_call": _groovy_constructor,
    },
    annotation=b"@",
)


# --- C#


def _csharp_indexer(node: Node, text: bytes, place: int) -> Definitions:
    yield Definition("method", "this", get(node, "parameters"), body=child_of_type(node, "accessor_list"))


def _csharp_operator(node: Node, text: bytes, place: int) -> Definitions:
    at = get(node, "operator") or get(node, "type")
    if at is not None:
        yield Definition("method", f"operator {text_of(at, text)}", at, body=get(node, "body"))


def _csharp_destructor(node: Node, text: bytes, place: int) -> Definitions:
    at = get(node, "name")
    if at is not None:
        yield Definition("method", "~" + text_of(at, text), at, body=get(node, "body"))


_CSHARP_FIELDS = Define(
    "variable",
    body="",
    each="<variable_declaration>/<variable_declarator>",
    words={rb"const |static.*readonly|readonly.*static": "constant"},
)
_CSHARP_THROUGH = (
    "namespace_declaration file_scoped_namespace_declaration declaration_list global_statement block if_statement "
    "preproc_if preproc_else preproc_elif"
)

GRAMMARS["csharp"] = Grammar(
    "csharp",
    {
        **through(_CSHARP_THROUGH),
        "class_declaration": Define("class"),
        "struct_declaration": Define("struct"),
        "interface_declaration": Define("interface"),
        "enum_declaration": Define("enum"),
        "record_declaration": Define("class", words={rb"struct": "struct"}),
        "delegate_declaration": Define("type_alias", body=""),
        "method_declaration": Define("method"),
        "constructor_declaration": Define("method"),
        "destructor_declaration": _csharp_destructor,
        "operator_declaration": _csharp_operator,
        "conversion_operator_declaration": _csharp_operator,
        "indexer_declaration": _csharp_indexer,
        "local_function_statement": Define("fn"),
        "field_declaration": _CSHARP_FIELDS,
        "event_field_declaration": _CSHARP_FIELDS,
        "event_declaration": Define("variable", body=""),
        "property_declaration": Define("variable", body=""),
    },
    nested=rb"\)\s*(?:=>|\{|where\b)",
    annotation=b"[",
    braces=True,
    conditional="on_error",
)


# --- PowerShell


def _powershell_assignment(node: Node, text: bytes, place: int) -> Definitions:
    left = child_of_type(node, "left_assignment_expression")
    if left is not None and (name := text_of(left, text).rpartition(":")[2].lstrip("$")).isidentifier():
        yield Definition(value_kind(name), name, left)


GRAMMARS["powershell"] = Grammar(
    "powershell",
    {
        **through("statement_list script_block script_block_body if_statement statement_block"),
        "pipeline": GROUP,
        "assignment_expression": _powershell_assignment,
        "function_statement": Define("fn", "<function_name>", "<script_block>"),
        "class_statement": Define("class", "<simple_name>", "."),
        "class_method_definition": Define("method", "<simple_name>", "<script_block>", inside=None),
        "class_property_definition": Define("variable", "<variable>", "", strip="$"),
        "enum_statement": Define("enum", "<simple_name>", ""),
    },
    nested=rb"(?i)\bfunction\b|\bfilter\b",
)


# --- Dart: a signature and its body are neighbours

_DART_SIGNATURES = (
    "function_signature", "getter_signature", "setter_signature", "constructor_signature",
    "constant_constructor_signature", "factory_constructor_signature", "operator_signature",
)  # fmt: skip
_DART_LISTS = ("static_final_declaration_list", "initialized_identifier_list")


def _dart_function(node: Node, text: bytes, place: int) -> Definitions:
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
        yield from _dart_variables(node, text, place)


def _dart_variables(node: Node, text: bytes, place: int) -> Definitions:
    for holder in [node] if node.type in _DART_LISTS else children_of_type(node, *_DART_LISTS):
        entries = holder.named_children
        for entry in entries:
            at = child_of_type(entry, "identifier")
            if at is not None:
                head = text[text.rfind(b"\n", 0, at.start_byte) + 1 : at.start_byte]
                kind = "constant" if b"const " in head or (b"static" in head and b"final" in head) else "variable"
                yield Definition(kind, text_of(at, text), at, extent=None if len(entries) == 1 else entry)


GRAMMARS["dart"] = Grammar(
    "dart",
    {
        **dict.fromkeys(["annotation", "const_builtin", "final_builtin"], ATTRIBUTE),
        "class_definition": Define("class"),
        "mixin_declaration": Define("trait", "<identifier>", "<class_body>"),
        "enum_declaration": Define("enum"),
        "extension_declaration": Define("class", unnamed=TYPE),
        "type_alias": Define("type_alias", "<type_identifier>", ""),
        **dict.fromkeys(_DART_SIGNATURES[:3], _dart_function),
        "method_signature": _dart_function,
        "declaration": _dart_function,
        **dict.fromkeys(_DART_LISTS, _dart_variables),
        **through("block local_function_declaration lambda_expression"),
    },
    nested=rb"\)\s*(?:async\*?\s*)?(?:\{|=>)",
    annotation=b"@",
)
