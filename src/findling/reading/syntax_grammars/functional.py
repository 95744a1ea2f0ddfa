"""Finders for functional languages: Haskell, OCaml, Erlang, Elixir, Nix, Clojure, Scheme, Racket."""

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
    Finder,
    child_of_type,
    get,
    named,
    nth_child,
    text_of,
)
from findling.reading.syntax_text import first_paragraph

if TYPE_CHECKING:
    from tree_sitter import Node


# --- Haskell: a signature and the clauses after it are one function


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


def haskell_header(node: Node, text: bytes, place: int) -> Definitions:
    at = get(node, "module")
    if at is not None:
        qualifier, _, name = text_of(at, text).rpartition(".")
        yield Definition("module", name, at, qualifier, get(node, "exports"))


# --- OCaml


def ocaml_let(node: Node, text: bytes, place: int) -> Definitions:
    at, body = get(node, "pattern"), get(node, "body")
    if at is None or at.type not in ("value_name", "parenthesized_operator"):
        return
    function = child_of_type(node, "parameter") is not None
    function = function or (body is not None and body.type in ("fun_expression", "function_expression"))
    yield from named("fn" if function else "variable", at, text, body=body)


def ocaml_type(node: Node, text: bytes, place: int) -> Definitions:
    body = get(node, "body")
    shapes = {"variant_declaration": "enum", "record_declaration": "struct"}
    kind = shapes.get(body.type, "type_alias") if body is not None else "type_alias"
    yield from named(kind, get(node, "name"), text, body=body)


# --- Erlang


def erlang_macro(node: Node, text: bytes, place: int) -> Definitions:
    kind = "constant" if get(node, "lhs/args") is None else "fn"
    yield from named(kind, get(node, "lhs/name"), text)


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

_CLOJURE = {
    "ns": "module", "def": "constant", "defonce": "constant", "defn": "fn", "defn-": "fn", "defmacro": "fn",
    "defmulti": "fn", "defmethod": "fn", "defprotocol": "interface", "definterface": "interface",
    "defrecord": "struct", "deftype": "struct", "deftest": "fn", "s/def": "constant", "s/defn": "fn",
}  # fmt: skip


def clojure_list(node: Node, text: bytes, place: int) -> Definitions:
    values = node.children_by_field_name("value")
    if len(values) < 2 or values[0].type != "sym_lit":
        return
    word = _clojure_name(values[0], text)
    if place == TYPE:  # methods of protocols and records
        yield Definition("method", word, values[0])
        return
    kind = _CLOJURE.get(word)
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


def scheme_list(words: Mapping[str, str]) -> Finder:
    def find(node: Node, text: bytes, place: int) -> Definitions:
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
            function = value is not None and text.startswith(
                (b"(lambda", "(λ".encode(), b"(case-lambda"), value.start_byte
            )
            kind = "fn" if function else "constant"
        inside = {"fn": FUNCTION, "module": MODULE}.get(kind)
        yield Definition(kind, text_of(at, text), at, body=node, place=inside)

    return find


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
