"""JavaScript, TypeScript and TSX: one table, since the two latter grammars extend the first."""

from __future__ import annotations

import re
from collections.abc import Iterable
from typing import TYPE_CHECKING

from findling.reading.syntax_grammars.model import (
    ATTRIBUTE,
    C_COMMENTS,
    FUNCTION,
    GROUP,
    MODULE,
    TYPE,
    Action,
    Define,
    Definition,
    Grammar,
    Through,
    imports,
    is_constant_name,
    nth_child,
    text_of,
    through,
    value_kind,
)

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
        body = value.child_by_field_name("body")
        return Definition(kind, name, at, qualifier, body, FUNCTION)
    if value.type == "class":
        return Definition("class", name, at, qualifier, value.child_by_field_name("body"), TYPE)
    if value.type == "object":
        return Definition("variable", name, at, qualifier, value, TYPE)
    return None


def _declaration(node: Node, text: bytes, place: int) -> Iterable[Definition]:
    declarators = [child for child in node.named_children if child.type == "variable_declarator"]
    constant = text.startswith(b"const", node.start_byte)
    for declarator in declarators:
        at = declarator.child_by_field_name("name")
        if at is None or at.type != "identifier":
            continue
        name = text_of(at, text)
        value = _value(declarator.child_by_field_name("value"))
        extent = None if len(declarators) == 1 else declarator
        held = _holder("fn", name, at, value)
        kind = "constant" if constant or is_constant_name(name) else "variable"
        if held is not None:
            if held.kind == "variable":
                held = Definition(kind, name, at, body=value, place=TYPE, extent=extent)
            elif extent is not None:
                held = Definition(held.kind, name, at, body=held.body, place=held.place, extent=extent)
            if place != FUNCTION or held.kind not in ("variable", "constant"):
                yield held
        elif value is None or not imports(value, name, text, _IMPORT, "member_expression"):
            # Functions handed to a call (``memo(() => …)``) are looked into; the name itself is a plain value.
            body = (
                value.child_by_field_name("arguments")
                if value is not None and value.type == "call_expression"
                else None
            )
            if place != FUNCTION:
                yield Definition(kind, name, at, body=body, place=FUNCTION if body is not None else None, extent=extent)
            elif body is not None:
                yield Definition("", body=body, place=FUNCTION)


def _assignment(node: Node, text: bytes, place: int) -> Iterable[Definition]:
    """``exports.x = function``, ``A.prototype.b = …``, ``a.b = a.c = function``; ``this.x = function`` in functions."""
    targets: list[Node] = []
    right: Node | None = node
    while right is not None and right.type == "assignment_expression":
        left = right.child_by_field_name("left")
        if left is not None:
            targets.append(left)
        right = right.child_by_field_name("right")
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
                own = value.child_by_field_name("name")
                kind = "class" if value.type == "class" else "fn"
                inside = TYPE if kind == "class" else FUNCTION
                body = value.child_by_field_name("body")
                if own is not None:
                    yield Definition(kind, text_of(own, text), own, body=body, place=inside)
                elif body is not None:
                    yield Definition("", body=body, place=inside)
            continue
        if any(
            not part.isidentifier() and not part.replace("$", "_").replace("#", "_").isidentifier() for part in parts
        ):
            continue
        at = target.child_by_field_name("property") or target
        held = _holder("method" if prototype else "fn", parts[-1], at, value, ".".join(parts[:-1]))
        if held is not None and (held.kind != "variable" or exported or prototype):
            if position:  # the function's inside belongs to the first name only
                held = Definition(held.kind, held.name, held.at, held.qualifier, held.body)
            yield held
        elif held is None and exported and place == MODULE and value.type not in ("identifier", "member_expression"):
            yield Definition(value_kind(parts[-1]), parts[-1], at)


def _function_expression(node: Node, text: bytes, place: int) -> Iterable[Definition]:
    name, body = node.child_by_field_name("name"), node.child_by_field_name("body")
    if name is not None:
        yield Definition("fn", text_of(name, text), name, body=body, place=FUNCTION)
    else:
        yield Definition("", body=body, place=FUNCTION)


def _pair(node: Node, text: bytes, place: int) -> Iterable[Definition]:
    key = node.child_by_field_name("key")
    value = _value(node.child_by_field_name("value"))
    if key is None or value is None or place != TYPE:
        return
    name = text_of(key, text).strip("'\"")
    if value.type == "object":
        yield Definition("", qualifier=name, body=value, place=TYPE)
    elif (held := _holder("method", name, key, value)) is not None:
        yield held


def _field(node: Node, text: bytes, place: int) -> Iterable[Definition]:
    at = node.child_by_field_name("name") or node.child_by_field_name("property")
    if at is None:
        return
    name = text_of(at, text).strip("'\"")
    held = _holder("method", name, at, _value(node.child_by_field_name("value")))
    if held is not None and held.kind != "variable":
        yield held
    else:
        yield Definition(value_kind(name), name, at)


def _default_object(node: Node, text: bytes, place: int) -> Iterable[Definition]:
    """``export default { … }``: its functions are the module's interface; objects elsewhere are data."""
    parent = node.parent
    if parent is not None and parent.type == "export_statement":
        yield Definition("", body=node, place=TYPE)


def _namespace(node: Node, text: bytes, place: int) -> Iterable[Definition]:
    at, body = node.child_by_field_name("name"), node.child_by_field_name("body")
    if at is not None:
        *outer, name = text_of(at, text).strip("'\"").split(".") if at.type != "string" else [text_of(at, text)[1:-1]]
        yield Definition("module", name, at, ".".join(outer), body, MODULE)


_BLOCKS = (
    "statement_block expression_statement call_expression arguments parenthesized_expression return_statement "
    "if_statement else_clause for_statement for_in_statement while_statement do_statement try_statement catch_clause "
    "finally_clause switch_statement switch_body switch_case switch_default labeled_statement unary_expression "
    "await_expression new_expression member_expression sequence_expression class_static_block"
)

_JAVASCRIPT: dict[str, Action] = {
    **through(_BLOCKS),
    "expression_statement": GROUP,
    "export_statement": GROUP,
    "decorator": ATTRIBUTE,
    "function_declaration": Define("fn"),
    "generator_function_declaration": Define("fn"),
    "class_declaration": Define("class"),
    "method_definition": Define("method"),
    "lexical_declaration": _declaration,
    "variable_declaration": _declaration,
    "assignment_expression": _assignment,
    "function_expression": _function_expression,
    "arrow_function": Through(FUNCTION),
    "pair": _pair,
    "field_definition": _field,
    "object": _default_object,
}

_TYPESCRIPT: dict[str, Action] = {
    **{name: action for name, action in _JAVASCRIPT.items() if name != "field_definition"},
    "public_field_definition": _field,
    "abstract_class_declaration": Define("class"),
    "interface_declaration": Define("interface"),
    "type_alias_declaration": Define("type_alias", body=""),
    "enum_declaration": Define("enum"),
    "function_signature": Define("fn"),
    "method_signature": Define("method"),
    "abstract_method_signature": Define("method"),
    "ambient_declaration": GROUP,
    "internal_module": _namespace,
    "module": _namespace,
}

# Each begins with a letter that is looked for first: with ``\\b`` in front it takes four times as long.
_NESTED = (
    rb"function(?<=\bfunction)\s*\*?\s*[\w$]|class(?<=\bclass)\s+[\w$]"
    rb"|=\s*(?:async\b|function\b|\(|<|[\w$]+\s*=>)|this(?<=\bthis)\.\w+\s*="
)

JAVASCRIPT = Grammar(parser="javascript", actions=_JAVASCRIPT, comments=C_COMMENTS, nested=_NESTED, annotation=b"@")
TYPESCRIPT = Grammar(parser="typescript", actions=_TYPESCRIPT, comments=C_COMMENTS, nested=_NESTED, annotation=b"@")
TSX = Grammar(parser="tsx", actions=_TYPESCRIPT, comments=C_COMMENTS, nested=_NESTED, annotation=b"@")
