"""Clojure, Scheme and Racket: a definition is a list whose first word is a defining one."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from typing import TYPE_CHECKING

from findling.reading.syntax_grammars.model import (
    FUNCTION,
    MODULE,
    SEMICOLON_COMMENTS,
    TYPE,
    Definition,
    Finder,
    Grammar,
    nth_child,
    text_of,
)
from findling.reading.syntax_text import first_paragraph

if TYPE_CHECKING:
    from tree_sitter import Node


# --- Clojure

_CLOJURE = {
    "ns": "module", "def": "constant", "defonce": "constant", "defn": "fn", "defn-": "fn", "defmacro": "fn",
    "defmulti": "fn", "defmethod": "fn", "defprotocol": "interface", "definterface": "interface",
    "defrecord": "struct", "deftype": "struct", "deftest": "fn", "s/def": "constant", "s/defn": "fn",
}  # fmt: skip


def _clojure_list(node: Node, text: bytes, place: int) -> Iterable[Definition]:
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
    inner = node.child_by_field_name("name")
    return text_of(inner if inner is not None else node, text)


CLOJURE = Grammar(parser="clojure", actions={"list_lit": _clojure_list}, comments=SEMICOLON_COMMENTS)


# --- Scheme and Racket

_SCHEME = {
    "define": "", "define-syntax": "fn", "define-syntax-rule": "fn", "define-macro": "fn", "defmacro": "fn",
    "define-record-type": "struct", "define-values": "", "define-library": "module", "define-module": "module",
    "define*": "", "define-public": "", "define-inline": "",
}  # fmt: skip
_RACKET = {
    **_SCHEME, "struct": "struct", "define-struct": "struct", "module": "module", "module+": "module",
    "module*": "module", "define/contract": "", "define-syntax-parser": "fn", "define-type": "type_alias",
    "define/public": "", "define/override": "", "define/private": "", "define-syntaxes": "fn",
}  # fmt: skip


def _scheme_list(words: Mapping[str, str]) -> Finder:
    def find(node: Node, text: bytes, place: int) -> Iterable[Definition]:
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


SCHEME = Grammar(
    parser="scheme",
    actions={"list": _scheme_list(_SCHEME)},
    comments=SEMICOLON_COMMENTS,
    nested=rb"\(define",
)
RACKET = Grammar(
    parser="racket",
    actions={"list": _scheme_list(_RACKET)},
    comments=SEMICOLON_COMMENTS,
    nested=rb"\(define",
)
