"""C, C++ and Objective-C. Namespaces qualify names; they are no symbols of their own (they are in every file)."""

from __future__ import annotations

import re
from collections.abc import Iterable
from typing import TYPE_CHECKING

from findling.reading.syntax_grammars.model import (
    C_COMMENTS,
    GROUP,
    MODULE,
    TYPE,
    Action,
    Define,
    Definition,
    Grammar,
    child_of_type,
    children_of_type,
    nth_child,
    place_inside,
    text_of,
    through,
)

if TYPE_CHECKING:
    from tree_sitter import Node

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
        inner = node.child_by_field_name("declarator")
        node = inner if inner is not None else _last_named(node)
    return None, False


def _last_named(node: Node) -> Node | None:
    count = node.named_child_count
    return nth_child(node, count - 1) if count else None


def _split(name: Node, text: bytes) -> tuple[str, str, Node]:
    """``a::B<T>::c`` as qualifier ``a.B``, name ``c`` and the name's node."""
    qualifier: list[str] = []
    while name.type == "qualified_identifier":
        scope, inner = name.child_by_field_name("scope"), name.child_by_field_name("name")
        if inner is None:
            break
        if scope is not None:
            qualifier.append(_plain(text_of(scope, text)))
        name = inner
    return ".".join(part for part in qualifier if part), _plain(text_of(name, text)), name


def _plain(written: str) -> str:
    if written.startswith("operator"):
        call = written.find("(", len("operator()"))
        return " ".join((written if call < 0 else written[:call]).split())
    while (shorter := _TEMPLATE_ARGUMENTS.sub("", written)) != written:
        written = shorter
    return "".join(written.split())


def _function(node: Node, text: bytes, place: int) -> Iterable[Definition]:
    name, function = _declared(node.child_by_field_name("declarator"))
    if name is None:
        return
    qualifier, plain, at = _split(name, text)
    kind = "method" if place == TYPE or (qualifier and plain != qualifier and at.type != "type_identifier") else "fn"
    if not function and node.child_by_field_name("body") is None:
        return
    yield Definition(kind, plain, at, qualifier, node.child_by_field_name("body"))


def _type(node: Node, text: bytes, place: int) -> Iterable[Definition]:
    name, body = node.child_by_field_name("name"), node.child_by_field_name("body")
    if name is None or body is None:  # without a body it is only mentioned
        return
    kind = _TYPES[node.type]
    qualifier, plain, at = _split(name, text)
    yield Definition(kind, plain, at, qualifier, body, place_inside(kind))


def _declaration(node: Node, text: bytes, place: int) -> Iterable[Definition]:
    """Variables and prototypes; of class members only methods and constants (fields are not symbols)."""
    kind_of_type = node.child_by_field_name("type")
    declarators = node.children_by_field_name("declarator")
    if kind_of_type is not None and kind_of_type.type in _TYPES:
        for definition in _type(kind_of_type, text, place):
            extent = None if not declarators else kind_of_type
            yield Definition(
                definition.kind, definition.name, definition.at, definition.qualifier,
                definition.body, definition.place, extent,
            )  # fmt: skip
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


def _typedef(node: Node, text: bytes, place: int) -> Iterable[Definition]:
    kind_of_type = node.child_by_field_name("type")
    body = kind_of_type.child_by_field_name("body") if kind_of_type is not None else None
    kind = (
        _TYPES.get(kind_of_type.type, "type_alias") if kind_of_type is not None and body is not None else "type_alias"
    )
    tag = kind_of_type.child_by_field_name("name") if kind_of_type is not None and body is not None else None
    names: set[str] = set()
    for declarator in node.children_by_field_name("declarator"):
        name, _ = _declared(declarator)
        if name is not None:
            plain = text_of(name, text)
            names.add(plain)
            yield Definition(kind, plain, name, body=body)
    if tag is not None and text_of(tag, text) not in names:
        yield Definition(kind, text_of(tag, text), tag, body=body)


def _macro(node: Node, text: bytes, place: int) -> Iterable[Definition]:
    name, value = node.child_by_field_name("name"), node.child_by_field_name("value")
    if name is None:
        return
    if node.type == "preproc_function_def":
        yield Definition("fn", text_of(name, text), name, body=value)
    elif value is not None:  # include guards have no value
        yield Definition("constant", text_of(name, text), name)


def _namespace(node: Node, text: bytes, place: int) -> Iterable[Definition]:
    name, body = node.child_by_field_name("name"), node.child_by_field_name("body")
    qualifier = _plain(text_of(name, text)).replace("::", ".") if name is not None else ""
    yield Definition("", qualifier=qualifier, body=body, place=MODULE)


_CONDITIONS = (
    "preproc_if preproc_ifdef preproc_else preproc_elif preproc_elifdef linkage_specification declaration_list"
)

_C: dict[str, Action] = {
    **through(_CONDITIONS),
    "function_definition": _function,
    "declaration": _declaration,
    "type_definition": _typedef,
    "struct_specifier": _type,
    "union_specifier": _type,
    "enum_specifier": _type,
    "preproc_def": _macro,
    "preproc_function_def": _macro,
}

C = Grammar(parser="c", actions=_C, comments=C_COMMENTS, braces=True, conditional="on_error")

CPP = Grammar(
    parser="cpp",
    actions={
        **_C,
        "class_specifier": _type,
        "field_declaration": _declaration,
        "template_declaration": GROUP,
        "namespace_definition": _namespace,
        "alias_declaration": Define("type_alias", body=""),
        "concept_definition": Define("trait", body=""),
    },
    comments=C_COMMENTS,
    braces=True,
    conditional="on_error",
)


# --- Objective-C


def _objc_container(kind: str, symbol: bool) -> Action:
    def find(node: Node, text: bytes, place: int) -> Iterable[Definition]:
        names = list(children_of_type(node, "identifier"))
        if not names:
            return
        name = text_of(names[0], text)
        if symbol:
            yield Definition(kind, name, names[0], body=node, place=TYPE)
        else:
            yield Definition("", qualifier=name, body=node, place=TYPE)

    return find


def _objc_method(node: Node, text: bytes, place: int) -> Iterable[Definition]:
    """Named by its selector: ``initWithTitle:size:``."""
    parts = list(children_of_type(node, "identifier"))
    if not parts:
        return
    parameters = any(True for _ in children_of_type(node, "method_parameter"))
    selector = "".join(text_of(part, text) + (":" if parameters else "") for part in parts)
    yield Definition("method", selector, parts[0], body=child_of_type(node, "compound_statement"))


def _objc_property(node: Node, text: bytes, place: int) -> Iterable[Definition]:
    declared = child_of_type(node, "struct_declaration")
    name = child_of_type(declared, "struct_declarator") if declared is not None else None
    if name is not None:
        at, _ = _declared(name)
        if at is not None:
            yield Definition("variable", text_of(at, text), at)


OBJC = Grammar(
    parser="objc",
    actions={
        **{name: action for name, action in _C.items() if name != "preproc_elifdef"},
        "protocol_declaration": _objc_container("interface", True),
        "class_interface": _objc_container("class", True),
        "class_implementation": _objc_container("class", False),
        **through("implementation_definition"),
        "method_declaration": _objc_method,
        "method_definition": _objc_method,
        "property_declaration": _objc_property,
    },
    comments=C_COMMENTS,
    braces=True,
    conditional="on_error",
)
