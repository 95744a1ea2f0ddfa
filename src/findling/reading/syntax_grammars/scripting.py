"""Finders for scripting languages: Python, Starlark, Ruby, Perl, Lua, Bash, batch files, Vim script, Julia, R.

The tables are in ``grammars.json``, here and in the other modules is what needs code.
"""

from __future__ import annotations

import re
from typing import TYPE_CHECKING

from findling.reading.syntax_grammars.model import (
    FUNCTION,
    MODULE,
    TYPE,
    Definition,
    Definitions,
    Finder,
    child_of_type,
    get,
    imports,
    named,
    nth_child,
    text_of,
    value_kind,
)
from findling.reading.syntax_text import first_paragraph

if TYPE_CHECKING:
    from tree_sitter import Node


# --- Python and Starlark


def python_assignment(node: Node, text: bytes, place: int) -> Definitions:
    left = get(node, "left")
    if place == FUNCTION or left is None:
        return
    for target in left.named_children if left.type == "pattern_list" else [left]:
        if target.type == "identifier":
            yield from named(value_kind(text_of(target, text)), target, text)


def python_alias(node: Node, text: bytes, place: int) -> Definitions:
    left = get(node, "left")
    if left is not None:
        yield Definition("type_alias", text_of(left, text).partition("[")[0].strip(), left)


# --- Ruby: macros that plainly define methods (``attr_accessor``, ``define_method``, …) count as definitions

_ACCESSORS = frozenset(
    (
        "attr_accessor attr_reader attr_writer attr_internal mattr_accessor mattr_reader mattr_writer "
        "cattr_accessor cattr_reader cattr_writer thread_mattr_accessor class_attribute"
    ).split()
)
_DEFINERS = frozenset({"define_method", "alias_method", "scope", "define_singleton_method"})


def ruby_container(kind: str) -> Finder:
    def find(node: Node, text: bytes, place: int) -> Definitions:
        at, qualifier = get(node, "name"), ""
        if at is not None and at.type == "scope_resolution":
            scope = get(at, "scope")
            qualifier = text_of(scope, text).replace("::", ".").strip(".") if scope is not None else ""
            at = get(at, "name") or at
        inside = TYPE if kind == "class" else MODULE
        yield from named(kind, at, text, qualifier=qualifier, body=get(node, "body"), place=inside)

    return find


def ruby_method(node: Node, text: bytes, place: int) -> Definitions:
    owned = node.parent is not None and node.parent.type == "body_statement"
    yield from named("method" if owned else "fn", get(node, "name"), text, body=get(node, "body"), place=FUNCTION)


def ruby_call(node: Node, text: bytes, place: int) -> Definitions:
    method, arguments, block = get(node, "method"), get(node, "arguments"), get(node, "block")
    name = text_of(method, text) if method is not None else ""
    if arguments is not None and get(node, "receiver") is None:
        if name in _ACCESSORS or name in _DEFINERS:
            symbols = [child for child in arguments.named_children if child.type == "simple_symbol"]
            for at in symbols if name in _ACCESSORS else symbols[:1]:
                yield Definition("method", text_of(at, text).lstrip(":"), at)
            return
        yield Definition("", body=arguments, place=place)  # ``private def x``
    yield Definition("", body=block, place=place)


def ruby_assignment(node: Node, text: bytes, place: int) -> Definitions:
    at, value = get(node, "left"), get(node, "right")
    if at is None or at.type not in ("constant", "global_variable"):
        return
    block = get(value, "block") if value is not None and value.type == "call" else None
    if value is not None and block is not None and text.startswith((b"Struct.", b"Class.", b"Data."), value.start_byte):
        yield from named("class", at, text, body=get(block, "body"), place=TYPE)
    elif value is not None and text.startswith((b"Struct.new", b"Class.new", b"Data.define"), value.start_byte):
        yield from named("class", at, text)
    else:
        yield from named("constant" if at.type == "constant" else "variable", at, text)


# --- Perl: ``package X;`` names what follows, up to the next one

_PERL_PACKAGE = re.compile(rb"^[ \t]*package\s+([\w:]+)\s*;", re.MULTILINE)
# How far back a subroutine's package statement is looked for.
_PERL_LOOK_BACK = 100_000


def perl_package(node: Node, text: bytes, place: int) -> Definitions:
    at, body = child_of_type(node, "package_name"), get(node, "body")
    if at is not None:
        qualifier, _, name = text_of(at, text).replace("::", ".").rpartition(".")
        yield Definition("module", name, at, qualifier, body, FUNCTION)


def perl_sub(node: Node, text: bytes, place: int) -> Definitions:
    qualifier = ""
    if place == MODULE:
        packages = _PERL_PACKAGE.findall(text, max(0, node.start_byte - _PERL_LOOK_BACK), node.start_byte)
        qualifier = packages[-1].decode("utf-8", "replace").replace("::", ".") if packages else ""
    yield from named("fn", get(node, "name"), text, qualifier=qualifier, body=get(node, "body"))


def perl_assignment(node: Node, text: bytes, place: int) -> Definitions:
    left = get(node, "variable")
    if left is None or left.type != "variable_declaration":
        return
    for at in left.named_children:
        if at.type in ("scalar_variable", "array_variable", "hash_variable"):
            name = text_of(at, text).lstrip("$@%")
            yield Definition(value_kind(name), name, at)


# --- Lua: ``M.f`` and ``M:f`` are named with their table

_LUA_IMPORT = re.compile(rb"require")
_LUA_PATH = re.compile(r"^[\w.:]+$")


def _lua_path(node: Node, text: bytes) -> tuple[str, str]:
    """``a.b.c`` or ``a.b:c`` as qualifier and name; two empty strings for computed names."""
    written = text_of(node, text)
    qualifier, _, name = written.replace(":", ".").rpartition(".") if _LUA_PATH.match(written) else ("", "", "")
    return qualifier, name


def lua_function(node: Node, text: bytes, place: int) -> Definitions:
    at = get(node, "name")
    qualifier, name = _lua_path(at, text) if at is not None else ("", "")
    if at is not None and name:
        kind = "method" if at.type == "method_index_expression" else "fn"
        inner = get(at, "field") or get(at, "method") or at
        yield Definition(kind, name, inner, qualifier, get(node, "body"), FUNCTION)


def lua_assignment(node: Node, text: bytes, place: int) -> Definitions:
    targets, values = child_of_type(node, "variable_list"), child_of_type(node, "expression_list")
    held = values.named_children if values is not None else []
    for position, target in enumerate(targets.named_children if targets is not None else ()):
        if target.type not in ("identifier", "dot_index_expression"):
            continue
        qualifier, name = _lua_path(target, text)
        at = get(target, "field") or target
        value = held[position] if position < len(held) else None
        if not name:
            continue
        if value is not None and value.type == "function_definition":
            yield Definition("fn", name, at, qualifier, get(value, "body"), FUNCTION)
        elif place != FUNCTION and not (
            value is not None and imports(value, name, text, _LUA_IMPORT, "dot_index_expression")
        ):
            table = value if value is not None and value.type == "table_constructor" else None
            yield Definition(value_kind(name), name, at, qualifier, table, FUNCTION)


def lua_field(node: Node, text: bytes, place: int) -> Definitions:
    at, value = get(node, "name"), get(node, "value")
    if at is None or value is None or at.type != "identifier":
        return
    if value.type == "function_definition":
        yield from named("fn", at, text, body=get(value, "body"), place=FUNCTION)
    elif value.type == "table_constructor":
        yield from named("", at, text, body=value, place=FUNCTION)


# --- shells, and Vim script


def batch_label(node: Node, text: bytes, place: int) -> Definitions:
    """What ``call`` can name."""
    yield Definition("fn", text_of(node, text).strip().lstrip(":").strip(), node)


# --- Julia

_JULIA_NAME = re.compile(rb"\s*((?:\w+\.)*)([^\W\d][\w!]*|[^\s\w(]+)")


def _julia_head(kind: str, head: Node | None, text: bytes, body: Node | None) -> Definitions:
    match = _JULIA_NAME.match(text, head.start_byte, head.end_byte) if head is not None else None
    if match:
        qualifier, name = (part.decode("utf-8", "replace") for part in match.groups())
        yield Definition(kind, name, head, qualifier.strip("."), body, FUNCTION if kind == "fn" else None)


def julia(kind: str, head_type: str) -> Finder:
    def find(node: Node, text: bytes, place: int) -> Definitions:
        return _julia_head(kind, child_of_type(node, head_type), text, child_of_type(node, "block"))

    return find


def julia_assignment(node: Node, text: bytes, place: int) -> Definitions:
    left = nth_child(node, 0)
    if left is None:
        return
    if left.type == "call_expression":
        yield from _julia_head("fn", left, text, None)
    elif left.type == "identifier" and place != FUNCTION:
        yield from named(value_kind(text_of(left, text)), left, text)


def julia_constant(node: Node, text: bytes, place: int) -> Definitions:
    assignment = child_of_type(node, "assignment")
    left = nth_child(assignment, 0) if assignment is not None else None
    if left is not None and left.type == "identifier":
        yield from named("constant", left, text)


def julia_doc(node: Node, text: bytes) -> str:
    lines = text_of(node, text).strip('"').splitlines()
    return first_paragraph([line for line in lines if not line.startswith("    ")])


# --- R

_R_CALLS = {
    "setClass": "class", "setRefClass": "class", "R6Class": "class", "setGeneric": "fn", "setMethod": "method",
    "setValidity": "method",
}  # fmt: skip


def r_assignment(node: Node, text: bytes, place: int) -> Definitions:
    operator, left, right = get(node, "operator"), get(node, "lhs"), get(node, "rhs")
    if operator is None or left is None or right is None:
        return
    written = text_of(operator, text)
    if written in ("->", "->>"):
        left, right = right, left
    elif written not in ("<-", "=", "<<-", ":="):
        return
    if left.type not in ("identifier", "string"):
        return
    name = text_of(left, text).strip("`'\"")
    if right.type == "function_definition":
        yield Definition("fn", name, left, body=get(right, "body"), place=FUNCTION)
    elif right.type == "call" and _r_called(right, text) in ("R6Class", "setRefClass", "ggproto"):
        yield Definition("class", name, left, body=get(right, "arguments"), place=TYPE)
    elif place != FUNCTION:
        yield Definition(value_kind(name), name, left)


def _r_called(node: Node, text: bytes) -> str:
    function = get(node, "function")
    return text_of(function, text).rpartition("::")[2] if function is not None else ""


def r_call(node: Node, text: bytes, place: int) -> Definitions:
    word, arguments = _r_called(node, text), get(node, "arguments")
    if place == TYPE and word == "list":
        yield Definition("", body=arguments, place=TYPE)
        return
    kind, value = _R_CALLS.get(word), get(arguments, "<argument>/value")
    if kind is not None and value is not None and value.type == "string":
        yield from named(kind, value, text, strip="'\"")


def r_argument(node: Node, text: bytes, place: int) -> Definitions:
    """``public = list(push = function() …)`` inside a class."""
    at, value = get(node, "name"), get(node, "value")
    if place != TYPE or at is None or value is None:
        return
    if value.type == "function_definition":
        yield from named("method", at, text, body=get(value, "body"))
    elif value.type == "call":
        yield from r_call(value, text, place)
