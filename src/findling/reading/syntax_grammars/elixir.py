"""Elixir: everything is a call; modules, functions and attributes are told by the called name."""

from __future__ import annotations

import re
from collections.abc import Iterable
from typing import TYPE_CHECKING

from findling.reading.syntax_grammars.model import (
    FUNCTION,
    HASH_COMMENTS,
    MODULE,
    TYPE,
    Attach,
    Definition,
    Grammar,
    child_of_type,
    nth_child,
    text_of,
    through,
)
from findling.reading.syntax_text import first_paragraph

if TYPE_CHECKING:
    from tree_sitter import Node

_FUNCTIONS = frozenset("def defp defmacro defmacrop defguard defguardp defdelegate defn defnp defcallback".split())
_MODULES = {"defmodule": "module", "defprotocol": "interface", "defimpl": ""}
_BLOCKS = frozenset({"quote", "if", "unless", "describe", "for"})
_TYPES = {
    b"type": "type_alias",
    b"typep": "type_alias",
    b"opaque": "type_alias",
    b"callback": "fn",
    b"macrocallback": "fn",
}
_ATTRIBUTES = frozenset(b"spec impl deprecated since dialyzer typedoc compile tag".split())
_NOT_CONSTANTS = frozenset(
    (
        b"moduledoc behaviour derive external_resource before_compile on_load after_compile on_definition "
        b"moduletag describetag optional_callbacks"
    ).split()
)
_ATTRIBUTE_NAME = re.compile(rb"@\s*(\w+)")
_FOR = re.compile(rb"\bfor:\s*([\w.]+)")


def _call(node: Node, text: bytes, place: int) -> Iterable[Definition]:
    target = node.child_by_field_name("target")
    if target is None or target.type != "identifier":
        return
    word = text_of(target, text)
    if word in _FUNCTIONS:
        yield from _function(node, text)
    elif word in _MODULES:
        yield from _module(node, text, _MODULES[word])
    elif word in _BLOCKS:
        block = child_of_type(node, "do_block")
        if block is not None:
            yield Definition("", body=block, place=place)


def _module(node: Node, text: bytes, kind: str) -> Iterable[Definition]:
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


def _function(node: Node, text: bytes) -> Iterable[Definition]:
    arguments = child_of_type(node, "arguments")
    head = nth_child(arguments, 0) if arguments is not None else None
    if head is not None and head.type == "binary_operator":  # name(…) when guard
        head = head.child_by_field_name("left")
    if head is not None and head.type == "call":
        head = head.child_by_field_name("target")
    if head is not None and head.type in ("identifier", "operator_identifier"):
        block = child_of_type(node, "do_block")
        yield Definition("fn", text_of(head, text), head, body=block, place=FUNCTION)


def _attribute_doc(node: Node, text: bytes) -> str | None:
    match = _ATTRIBUTE_NAME.match(text, node.start_byte)
    if match is None:
        return None
    name = match.group(1)
    if name == b"doc":
        written = text[match.end() : node.end_byte].decode("utf-8", "replace")
        written = re.sub(r"^\s*(?:~[sS])?(?:\"\"\"|'''|\")", "", written)
        return first_paragraph(re.sub(r"(?:\"\"\"|'''|\")\s*$", "", written).splitlines())
    return "" if name in _ATTRIBUTES else None


def _attribute(node: Node, text: bytes, place: int) -> Iterable[Definition]:
    """``@type``, ``@callback`` and module attributes with a value."""
    match = _ATTRIBUTE_NAME.match(text, node.start_byte)
    call = node.child_by_field_name("operand")
    if match is None or call is None or call.type != "call" or place == FUNCTION:
        return
    name = match.group(1)
    if name in _TYPES:
        declared = re.compile(rb"\s*\(?([a-z_]\w*[?!]?)").match(text, match.end(), node.end_byte)
        if declared:
            yield Definition(_TYPES[name], declared.group(1).decode(), node)
    elif name not in _NOT_CONSTANTS:
        yield Definition("constant", name.decode("utf-8", "replace"), call)


ELIXIR = Grammar(
    parser="elixir",
    actions={
        "call": _call,
        "unary_operator": Attach(doc=_attribute_doc, find=_attribute),
        **through("do_block else_block"),
    },
    comments=HASH_COMMENTS,
    nested=rb"\bdef",
    merge=True,
)
