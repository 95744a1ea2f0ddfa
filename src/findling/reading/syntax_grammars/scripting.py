"""Finders for scripting languages: Python, Starlark, Ruby, Perl, Lua, Bash, batch files, Vim script, Julia, R.

The tables are in ``grammars.json``; this module and its neighbours have what needs code.
"""

from __future__ import annotations

import re
from collections.abc import Mapping
from typing import TYPE_CHECKING

from findling.reading.syntax_grammars.model import (
    FUNCTION,
    MODULE,
    TYPE,
    Definition,
    Definitions,
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


# --- Ruby: macros that plainly define methods (``attr_accessor``, ``define_method``, …) count as definitions

_ACCESSORS = frozenset(
    (
        "attr_accessor attr_reader attr_writer attr_internal mattr_accessor mattr_reader mattr_writer "
        "cattr_accessor cattr_reader cattr_writer thread_mattr_accessor class_attribute"
    ).split()
)
_DEFINERS = frozenset({"define_method", "alias_method", "scope", "define_singleton_method"})


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


def perl_sub(node: Node, text: bytes, place: int) -> Definitions:
    qualifier = ""
    if place == MODULE:
        packages = _PERL_PACKAGE.findall(text, max(0, node.start_byte - _PERL_LOOK_BACK), node.start_byte)
        qualifier = packages[-1].decode("utf-8", "replace").replace("::", ".") if packages else ""
    yield from named("fn", get(node, "name"), text, qualifier=qualifier, body=get(node, "body"))


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


# --- Julia

_JULIA_NAME = re.compile(rb"\s*((?:\w+\.)*)([^\W\d][\w!]*|[^\s\w(]+)")


def _julia_head(kind: str, head: Node | None, text: bytes, body: Node | None) -> Definitions:
    match = _JULIA_NAME.match(text, head.start_byte, head.end_byte) if head is not None else None
    if match:
        qualifier, name = (part.decode("utf-8", "replace") for part in match.groups())
        yield Definition(kind, name, head, qualifier.strip("."), body, FUNCTION if kind == "fn" else None)


def julia(kind: str, head_type: str, node: Node, text: bytes, place: int) -> Definitions:
    return _julia_head(kind, child_of_type(node, head_type), text, child_of_type(node, "block"))


def julia_assignment(node: Node, text: bytes, place: int) -> Definitions:
    left = nth_child(node, 0)
    if left is None:
        return
    if left.type == "call_expression":
        yield from _julia_head("fn", left, text, None)
    elif left.type == "identifier" and place != FUNCTION:
        yield from named(value_kind(text_of(left, text)), left, text)


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


# --- functional ---------------------------------------------------------------------------------------------------
# Finders for functional languages: Haskell, OCaml, Erlang, Elixir, Nix, Clojure, Scheme, Racket.


def haskell_instance(node: Node, text: bytes, place: int) -> Definitions:
    """Members are named after the type the instance is for, or after the class when that is not a plain name."""
    at, patterns = get(node, "name"), get(node, "patterns")
    owner = re.search(r"\b[A-Z]\w*", text_of(patterns, text)) if patterns is not None else None
    qualifier = owner.group() if owner else text_of(at, text) if at is not None else ""
    yield Definition("", qualifier=qualifier, body=get(node, "declarations"), place=TYPE)


def haskell_pattern(node: Node, text: bytes, place: int) -> Definitions:
    match = re.compile(rb"pattern\s+\(?([A-Z]\w*)").match(text, node.start_byte, node.end_byte)
    if match:
        yield Definition("fn", match.group(1).decode(), node)


# --- Erlang


# --- Elixir: everything is a call; modules, functions and attributes are told by the called name

_ELIXIR_FUNCTIONS = frozenset(
    "def defp defmacro defmacrop defguard defguardp defdelegate defn defnp defcallback".split()
)
_ELIXIR_MODULES = {"defmodule": "module", "defprotocol": "interface", "defimpl": ""}
_ELIXIR_BLOCKS = frozenset({"quote", "if", "unless", "describe", "for"})
_ELIXIR_TYPES = {
    b"type": "type_alias",
    b"typep": "type_alias",
    b"opaque": "type_alias",
    b"callback": "fn",
    b"macrocallback": "fn",
}
_ELIXIR_ATTRIBUTES = frozenset(b"spec impl deprecated since dialyzer typedoc compile tag".split())
_NOT_CONSTANTS = frozenset(
    (
        b"moduledoc behaviour derive external_resource before_compile on_load after_compile on_definition "
        b"moduletag describetag optional_callbacks"
    ).split()
)
_ATTRIBUTE_NAME = re.compile(rb"@\s*(\w+)")
_FOR = re.compile(rb"\bfor:\s*([\w.]+)")


def elixir_call(node: Node, text: bytes, place: int) -> Definitions:
    target = get(node, "target")
    if target is None or target.type != "identifier":
        return
    word = text_of(target, text)
    if word in _ELIXIR_FUNCTIONS:
        yield from _elixir_function(node, text)
    elif word in _ELIXIR_MODULES:
        yield from _elixir_module(node, text, _ELIXIR_MODULES[word])
    elif word in _ELIXIR_BLOCKS:
        yield Definition("", body=child_of_type(node, "do_block"), place=place)


def _elixir_module(node: Node, text: bytes, kind: str) -> Definitions:
    arguments, block = child_of_type(node, "arguments"), child_of_type(node, "do_block")
    at = nth_child(arguments, 0) if arguments is not None else None
    if arguments is None or at is None:
        return
    qualifier, _, name = text_of(at, text).rpartition(".")
    if kind:
        yield Definition(kind, name, at, qualifier, block, MODULE if kind == "module" else TYPE)
        return
    owner = _FOR.search(text, arguments.start_byte, arguments.end_byte)
    parts = [qualifier, name, owner.group(1).decode("utf-8", "replace") if owner else ""]
    yield Definition("", qualifier=".".join(part for part in parts if part), body=block, place=TYPE)


def _elixir_function(node: Node, text: bytes) -> Definitions:
    arguments = child_of_type(node, "arguments")
    head = nth_child(arguments, 0) if arguments is not None else None
    if head is not None and head.type == "binary_operator":  # name(…) when guard
        head = get(head, "left")
    if head is not None and head.type == "call":
        head = get(head, "target")
    if head is not None and head.type in ("identifier", "operator_identifier"):
        block = child_of_type(node, "do_block")
        yield Definition("fn", text_of(head, text), head, body=block, place=FUNCTION)


def elixir_doc(node: Node, text: bytes) -> str | None:
    match = _ATTRIBUTE_NAME.match(text, node.start_byte)
    if match is None:
        return None
    name = match.group(1)
    if name == b"doc":
        written = text[match.end() : node.end_byte].decode("utf-8", "replace")
        written = re.sub(r"^\s*(?:~[sS])?(?:\"\"\"|'''|\")", "", written)
        return first_paragraph(re.sub(r"(?:\"\"\"|'''|\")\s*$", "", written).splitlines())
    return "" if name in _ELIXIR_ATTRIBUTES else None


def elixir_attribute(node: Node, text: bytes, place: int) -> Definitions:
    """``@type``, ``@callback`` and module attributes with a value."""
    match = _ATTRIBUTE_NAME.match(text, node.start_byte)
    call = get(node, "operand")
    if match is None or call is None or call.type != "call" or place == FUNCTION:
        return
    name = match.group(1)
    if name in _ELIXIR_TYPES:
        declared = re.compile(rb"\s*\(?([a-z_]\w*[?!]?)").match(text, match.end(), node.end_byte)
        if declared:
            yield Definition(_ELIXIR_TYPES[name], declared.group(1).decode(), node)
    elif name not in _NOT_CONSTANTS:
        yield Definition("constant", name.decode("utf-8", "replace"), call)


# --- Clojure


def clojure_list(words: Mapping[str, str], node: Node, text: bytes, place: int) -> Definitions:
    values = node.children_by_field_name("value")
    if len(values) < 2 or values[0].type != "sym_lit":
        return
    word = _clojure_name(values[0], text)
    if place == TYPE:  # methods of protocols and records
        yield Definition("method", word, values[0])
        return
    kind = words.get(word)
    if kind is None or values[1].type != "sym_lit":
        return
    name = _clojure_name(values[1], text)
    doc = ""
    if len(values) > 2 and values[2].type == "str_lit" and word != "def":
        doc = first_paragraph(text_of(values[2], text).strip('"').splitlines())
    inside = TYPE if kind in ("interface", "struct") else None
    yield Definition(kind, name, values[1], body=node, place=inside, doc=doc)


def _clojure_name(node: Node, text: bytes) -> str:
    return text_of(get(node, "name") or node, text)


# --- Scheme and Racket


def scheme_list(words: Mapping[str, str], node: Node, text: bytes, place: int) -> Definitions:
    first = nth_child(node, 0)
    if first is None or first.type != "symbol":
        return
    word = text_of(first, text)
    kind = words.get(word)
    at = nth_child(node, 1) if kind is not None else None
    if kind is None or at is None:
        return
    if word == "define-values":
        for name in at.named_children:
            yield Definition("variable", text_of(name, text), name)
        return
    if at.type == "list":  # (define (name arguments) …), also curried
        kind = kind or "fn"
        while at is not None and at.type == "list":
            at = nth_child(at, 0)
    if at is None or at.type not in ("symbol", "list"):
        return
    if not kind:
        value = nth_child(node, 2)
        function = value is not None and text.startswith((b"(lambda", "(λ".encode(), b"(case-lambda"), value.start_byte)
        kind = "fn" if function else "constant"
    inside = {"fn": FUNCTION, "module": MODULE}.get(kind)
    yield Definition(kind, text_of(at, text), at, body=node, place=inside)


# --- Nix: bindings of the outermost sets; deeper ones only when they are functions


def nix_binding(node: Node, text: bytes, place: int) -> Definitions:
    path, value = get(node, "attrpath"), get(node, "expression")
    if path is None or value is None:
        return
    qualifier, _, name = text_of(path, text).rpartition(".")
    name = name.strip('"')
    if value.type == "function_expression":
        yield Definition("fn", name, path, qualifier, get(value, "body"))
    elif value.type in ("attrset_expression", "rec_attrset_expression"):
        kind = "variable" if place == MODULE else ""
        outer = qualifier if kind else f"{qualifier}.{name}".strip(".")
        yield Definition(kind, name if kind else "", path, outer, value, FUNCTION)
    elif place == MODULE:
        yield Definition("variable", name, path, qualifier)
