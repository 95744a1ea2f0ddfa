"""Finders for languages that compile to machine code: C, C++, Objective-C, Go, Rust, Swift, Zig.

Namespaces of C++ qualify names. They are not symbols, because they stand in every file.
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
    Definition,
    Definitions,
    child_of_type,
    children_of_type,
    get,
    imports,
    named,
    nth_child,
    place_inside,
    text_of,
    value_kind,
)

if TYPE_CHECKING:
    from tree_sitter import Node


# --- C, C++ and Objective-C

_NAMES = frozenset(
    (
        "identifier field_identifier type_identifier destructor_name operator_name operator_cast "
        "qualified_identifier template_function template_method"
    ).split()
)
_TYPES = {
    "struct_specifier": "struct",
    "union_specifier": "struct",
    "class_specifier": "class",
    "enum_specifier": "enum",
}
_TEMPLATE_ARGUMENTS = re.compile(r"<[^<>]*>")
# A declarator is a chain of pointers, arrays and brackets around the name; real ones are short.
_DECLARATOR_DEPTH = 40


def _declared(node: Node | None) -> tuple[Node | None, bool]:
    """The node of the name that a declarator declares, and whether it declares a function."""
    function = pointer = False
    for _ in range(_DECLARATOR_DEPTH):
        if node is None or node.type in _NAMES:
            return node, function
        if node.type == "function_declarator":
            function = True
        elif node.type == "parenthesized_declarator" and function:
            pointer = True
        elif node.type == "pointer_declarator" and pointer:
            # ``int (*name)(…)`` is a variable, ``int (*name(…))(…)`` a function: what follows decides.
            function = pointer = False
        node = get(node, "declarator") or nth_child(node, -1)
    return None, False


def _split(name: Node, text: bytes) -> tuple[str, str, Node]:
    """``a::B<T>::c`` as qualifier ``a.B``, name ``c`` and the name's node."""
    qualifier: list[str] = []
    while name.type == "qualified_identifier" and (inner := get(name, "name")) is not None:
        if (scope := get(name, "scope")) is not None:
            qualifier.append(_plain(text_of(scope, text)))
        name = inner
    return ".".join(filter(None, qualifier)), _plain(text_of(name, text)), name


def _plain(written: str) -> str:
    if written.startswith("operator"):
        call = written.find("(", len("operator()"))
        return " ".join((written if call < 0 else written[:call]).split())
    while (shorter := _TEMPLATE_ARGUMENTS.sub("", written)) != written:
        written = shorter
    return "".join(written.split())


def c_function(node: Node, text: bytes, place: int) -> Definitions:
    name, function = _declared(get(node, "declarator"))
    body = get(node, "body")
    if name is not None and (function or body is not None):
        qualifier, plain, at = _split(name, text)
        owned = place == TYPE or (qualifier and plain != qualifier and at.type != "type_identifier")
        yield Definition("method" if owned else "fn", plain, at, qualifier, body)


def c_type(node: Node, text: bytes, place: int) -> Definitions:
    name, body = get(node, "name"), get(node, "body")
    if name is not None and body is not None:  # without a body it is only mentioned
        kind = _TYPES[node.type]
        qualifier, plain, at = _split(name, text)
        yield Definition(kind, plain, at, qualifier, body, place_inside(kind))


def c_declaration(node: Node, text: bytes, place: int) -> Definitions:
    """Variables and prototypes; of class members only methods and constants (fields are not symbols)."""
    declared_type = get(node, "type")
    declarators = node.children_by_field_name("declarator")
    if declared_type is not None and declared_type.type in _TYPES:
        for definition in c_type(declared_type, text, place):
            yield replace(definition, extent=declared_type if declarators else None)
    if not declarators:
        return
    head = text[node.start_byte : declarators[0].start_byte]
    constant = b"const" in head and b"*" not in head
    for declarator in declarators:
        name, function = _declared(declarator)
        if name is None:
            continue
        qualifier, plain, at = _split(name, text)
        extent = None if len(declarators) == 1 else declarator
        if function:
            kind = "method" if place == TYPE or qualifier else "fn"
            yield Definition(kind, plain, at, qualifier, extent=extent)
        elif place == TYPE:
            if constant and b"static" in head:
                yield Definition("constant", plain, at, extent=extent)
        elif b"extern" not in head or declarator.type == "init_declarator":
            yield Definition("constant" if constant else "variable", plain, at, qualifier, extent=extent)


def c_typedef(node: Node, text: bytes, place: int) -> Definitions:
    declared_type = get(node, "type")
    body = get(declared_type, "body")
    kind, tag = "type_alias", None
    if declared_type is not None and body is not None:
        kind, tag = _TYPES.get(declared_type.type, kind), get(declared_type, "name")
    names: set[str] = set()
    for declarator in node.children_by_field_name("declarator"):
        name, _ = _declared(declarator)
        for definition in named(kind, name, text, body=body):
            names.add(definition.name)
            yield definition
    if tag is not None and text_of(tag, text) not in names:
        yield from named(kind, tag, text, body=body)


def cpp_namespace(node: Node, text: bytes, place: int) -> Definitions:
    name = get(node, "name")
    qualifier = _plain(text_of(name, text)).replace("::", ".") if name is not None else ""
    yield Definition("", qualifier=qualifier, body=get(node, "body"), place=MODULE)


def objc_method(node: Node, text: bytes, place: int) -> Definitions:
    """Named by its selector: ``initWithTitle:size:``."""
    parts = list(children_of_type(node, "identifier"))
    if parts:
        colon = ":" if child_of_type(node, "method_parameter") is not None else ""
        selector = "".join(text_of(part, text) + colon for part in parts)
        yield Definition("method", selector, parts[0], body=child_of_type(node, "compound_statement"))


def objc_property(node: Node, text: bytes, place: int) -> Definitions:
    at, _ = _declared(get(node, "<struct_declaration>/<struct_declarator>"))
    yield from named("variable", at, text)


# --- Go

_RECEIVER = re.compile(rb"\(\s*(?:\w+\s+)?\*?\s*\(?\*?(\w+)")


def go_method(node: Node, text: bytes, place: int) -> Definitions:
    receiver = get(node, "receiver")
    if receiver is not None:
        match = _RECEIVER.match(text, receiver.start_byte, receiver.end_byte)
        owner = match.group(1).decode("utf-8", "replace") if match else ""
        yield from named("method", get(node, "name"), text, qualifier=owner, body=get(node, "body"))


def go_values(kind: str, node: Node, text: bytes, place: int) -> Definitions:
    for name in node.children_by_field_name("name"):
        if text_of(name, text) != "_":
            yield from named(kind, name, text)


# --- Rust: methods are named after the type of their ``impl``; the ``impl`` itself defines nothing

_REFERENCE = re.compile(r"^(?:&\s*)?(?:'\w+\s+)?(?:mut\s+|dyn\s+)*")


def rust_impl(node: Node, text: bytes, place: int) -> Definitions:
    target = get(node, "type")
    if target is not None:
        written = _REFERENCE.sub("", text_of(target, text))
        owner = written.partition("<")[0].strip().rpartition("::")[2] or written[:60]
        yield Definition("", qualifier=owner, body=get(node, "body"), place=TYPE)


# --- Swift: extensions define nothing themselves; their members are named after the extended type

_SWIFT_KINDS = {"class": "class", "struct": "struct", "enum": "enum", "actor": "class"}


def swift_class(node: Node, text: bytes, place: int) -> Definitions:
    word, at = get(node, "declaration_kind"), get(node, "name")
    if word is not None and at is not None:
        name, kind = text_of(at, text).partition("<")[0], _SWIFT_KINDS.get(text_of(word, text), "")
        yield Definition(kind, name, at, body=get(node, "body"), place=TYPE)


def swift_property(node: Node, text: bytes, place: int) -> Definitions:
    at = get(node, "name/bound_identifier")
    if at is not None:
        head = text[node.start_byte : at.start_byte]
        constant = head.rstrip().endswith(b"let") and (place == MODULE or b"static" in head)
        yield from named("constant" if constant else "variable", at, text)


# --- Zig: types are values

_ZIG_IMPORT = re.compile(rb"@import\(")


def zig_variable(types: Mapping[str, str], node: Node, text: bytes, place: int) -> Definitions:
    at = child_of_type(node, "identifier")
    value = nth_child(node, -1) if node.named_child_count > 1 else None
    if at is None:
        return
    if value is not None and value.type in types:
        yield from named(types[value.type], at, text, body=value, place=TYPE)
    elif value is None or not imports(value, text_of(at, text), text, _ZIG_IMPORT, "field_expression"):
        constant = b"const" in text[node.start_byte : at.start_byte]
        yield from named("constant" if constant else "variable", at, text)


# --- managed ------------------------------------------------------------------------------------------------------
# Finders for languages that run on a virtual machine: Kotlin, Scala, Groovy, C#, PowerShell, Dart.
#
# Packages and C#'s namespaces are neither symbols nor part of qualified names.

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


def groovy_constructor(node: Node, text: bytes, place: int) -> Definitions:
    """``Name(…) { … }`` in a class: the grammar takes it for a call."""
    at = get(node, "function")
    if place == TYPE and at is not None and at.type == "identifier" and text[node.end_byte - 1 : node.end_byte] == b"}":
        brace = text.find(b"{", at.end_byte, node.end_byte)
        body = node.descendant_for_byte_range(brace, brace + 1) if brace >= 0 else None
        yield from named("method", at, text, body=body)


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
