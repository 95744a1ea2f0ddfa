"""Ruby. Macros that plainly define methods (``attr_accessor``, ``define_method``, …) count as definitions."""

from __future__ import annotations

from collections.abc import Iterable
from typing import TYPE_CHECKING

from findling.reading.syntax_grammars.model import (
    FUNCTION,
    HASH_COMMENTS,
    MODULE,
    TYPE,
    Define,
    Definition,
    Finder,
    Grammar,
    text_of,
    through,
)

if TYPE_CHECKING:
    from tree_sitter import Node

_ACCESSORS = frozenset(
    (
        "attr_accessor attr_reader attr_writer attr_internal mattr_accessor mattr_reader mattr_writer "
        "cattr_accessor cattr_reader cattr_writer thread_mattr_accessor class_attribute"
    ).split()
)
_DEFINERS = frozenset({"define_method", "alias_method", "scope", "define_singleton_method"})


def _container(kind: str) -> Finder:
    def find(node: Node, text: bytes, place: int) -> Iterable[Definition]:
        at, body = node.child_by_field_name("name"), node.child_by_field_name("body")
        if at is None:
            return
        qualifier = ""
        if at.type == "scope_resolution":
            scope, inner = at.child_by_field_name("scope"), at.child_by_field_name("name")
            qualifier = text_of(scope, text).replace("::", ".").strip(".") if scope is not None else ""
            at = inner or at
        yield Definition(kind, text_of(at, text), at, qualifier, body, TYPE if kind == "class" else MODULE)

    return find


def _method(node: Node, text: bytes, place: int) -> Iterable[Definition]:
    at, body = node.child_by_field_name("name"), node.child_by_field_name("body")
    if at is None:
        return
    parent = node.parent
    owned = parent is not None and parent.type == "body_statement"
    yield Definition("method" if owned else "fn", text_of(at, text), at, body=body, place=FUNCTION)


def _singleton_class(node: Node, text: bytes, place: int) -> Iterable[Definition]:
    yield Definition("", body=node.child_by_field_name("body"), place=TYPE)


def _call(node: Node, text: bytes, place: int) -> Iterable[Definition]:
    method, arguments = node.child_by_field_name("method"), node.child_by_field_name("arguments")
    block = node.child_by_field_name("block")
    name = text_of(method, text) if method is not None else ""
    if arguments is not None and node.child_by_field_name("receiver") is None:
        if name in _ACCESSORS or name in _DEFINERS:
            symbols = [child for child in arguments.named_children if child.type == "simple_symbol"]
            for at in symbols if name in _ACCESSORS else symbols[:1]:
                yield Definition("method", text_of(at, text).lstrip(":"), at)
            return
        # ``private def x``
        yield Definition("", body=arguments, place=place)
    if block is not None:
        yield Definition("", body=block, place=place)


def _assignment(node: Node, text: bytes, place: int) -> Iterable[Definition]:
    at, value = node.child_by_field_name("left"), node.child_by_field_name("right")
    if at is None or at.type not in ("constant", "global_variable"):
        return
    name = text_of(at, text)
    block = value.child_by_field_name("block") if value is not None and value.type == "call" else None
    if value is not None and block is not None and text.startswith((b"Struct.", b"Class.", b"Data."), value.start_byte):
        body = block.child_by_field_name("body")
        yield Definition("class", name, at, body=body, place=TYPE)
    elif value is not None and text.startswith((b"Struct.new", b"Class.new", b"Data.define"), value.start_byte):
        yield Definition("class", name, at)
    else:
        yield Definition("constant" if at.type == "constant" else "variable", name, at)


RUBY = Grammar(
    parser="ruby",
    actions={
        **through("body_statement block_body if unless begin then else elsif if_modifier unless_modifier"),
        "module": _container("module"),
        "class": _container("class"),
        "singleton_class": _singleton_class,
        "method": _method,
        "singleton_method": _method,
        "call": _call,
        "assignment": _assignment,
        "alias": Define("method", body=""),
    },
    comments=HASH_COMMENTS,
    nested=rb"\bdef\b|\bclass\b",
)
