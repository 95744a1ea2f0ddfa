"""Haskell, OCaml, Erlang and Nix."""

from __future__ import annotations

import re
from collections.abc import Iterable
from typing import TYPE_CHECKING

from findling.reading.syntax_grammars.model import (
    FUNCTION,
    GROUP,
    HASH_COMMENTS,
    MODULE,
    TYPE,
    Comments,
    Define,
    Definition,
    Grammar,
    child_of_type,
    text_of,
    through,
)

if TYPE_CHECKING:
    from tree_sitter import Node


# --- Haskell: a signature and the clauses after it are one function


def _haskell_value(node: Node, text: bytes, place: int) -> Iterable[Definition]:
    at = node.child_by_field_name("name")
    if at is None:
        infix = child_of_type(node, "infix")
        at = infix.child_by_field_name("operator") if infix is not None else None
    if at is None or at.type not in ("variable", "prefix_id", "operator", "prefix_operator"):
        return
    yield Definition("fn", text_of(at, text).strip("()` "), at, body=node.child_by_field_name("match"))


def _haskell_instance(node: Node, text: bytes, place: int) -> Iterable[Definition]:
    """Members are named after the type the instance is for, or after the class when that is not a plain name."""
    at, patterns = node.child_by_field_name("name"), node.child_by_field_name("patterns")
    owner = re.search(r"\b[A-Z]\w*", text_of(patterns, text)) if patterns is not None else None
    qualifier = owner.group() if owner else text_of(at, text) if at is not None else ""
    yield Definition("", qualifier=qualifier, body=node.child_by_field_name("declarations"), place=TYPE)


def _haskell_pattern(node: Node, text: bytes, place: int) -> Iterable[Definition]:
    match = re.compile(rb"pattern\s+\(?([A-Z]\w*)").match(text, node.start_byte, node.end_byte)
    if match:
        yield Definition("fn", match.group(1).decode(), node)


def _haskell_header(node: Node, text: bytes, place: int) -> Iterable[Definition]:
    at = node.child_by_field_name("module")
    if at is not None:
        qualifier, _, name = text_of(at, text).rpartition(".")
        yield Definition("module", name, at, qualifier, node.child_by_field_name("exports"))


HASKELL = Grammar(
    parser="haskell",
    actions={
        **through("declarations"),
        "header": _haskell_header,
        "signature": _haskell_value,
        "function": _haskell_value,
        "bind": _haskell_value,
        "data_type": Define("struct", body="constructors", strip="()", inside=False),
        "newtype": Define("struct", body="constructor", strip="()", inside=False),
        "type_synomym": Define("type_alias", body="", strip="()"),
        "type_family": Define("type_alias", body="", strip="()"),
        "data_family": Define("type_alias", body="", strip="()"),
        "class": Define("trait", body="declarations"),
        "instance": _haskell_instance,
        "pattern_synonym": _haskell_pattern,
    },
    comments=Comments(line=(b"-- |", b"-- ^", b"--"), block=((b"{-", b"-}"),)),
    merge=True,
    conditional="always",
)


# --- OCaml


def _ocaml_let(node: Node, text: bytes, place: int) -> Iterable[Definition]:
    at, body = node.child_by_field_name("pattern"), node.child_by_field_name("body")
    if at is None or at.type not in ("value_name", "parenthesized_operator"):
        return
    function = child_of_type(node, "parameter") is not None
    function = function or (body is not None and body.type in ("fun_expression", "function_expression"))
    yield Definition("fn" if function else "variable", text_of(at, text), at, body=body)


def _ocaml_type(node: Node, text: bytes, place: int) -> Iterable[Definition]:
    at, body = node.child_by_field_name("name"), node.child_by_field_name("body")
    if at is not None:
        shapes = {"variant_declaration": "enum", "record_declaration": "struct"}
        kind = shapes.get(body.type, "type_alias") if body is not None else "type_alias"
        yield Definition(kind, text_of(at, text), at, body=body)


OCAML = Grammar(
    parser="ocaml",
    actions={
        **dict.fromkeys(["value_definition", "type_definition", "module_definition", "class_definition"], GROUP),
        "let_binding": _ocaml_let,
        "type_binding": _ocaml_type,
        "module_binding": Define("module", "<module_name>"),
        "module_type_definition": Define("interface", "<module_type_name>"),
        "exception_definition": Define("class", "<constructor_declaration>/<constructor_name>", ""),
        "class_binding": Define("class", "<class_name>"),
        "method_definition": Define("method", "<method_name>", ""),
        "value_specification": Define("fn", "<value_name>", ""),
        "external": Define("fn", "<value_name>", ""),
        **through("structure signature"),
    },
    comments=Comments(block=((b"(*", b"*)"),)),
)


# --- Erlang


def _erlang_macro(node: Node, text: bytes, place: int) -> Iterable[Definition]:
    head = node.child_by_field_name("lhs")
    at = head.child_by_field_name("name") if head is not None else None
    if head is not None and at is not None:
        kind = "constant" if head.child_by_field_name("args") is None else "fn"
        yield Definition(kind, text_of(at, text), at)


ERLANG = Grammar(
    parser="erlang",
    actions={
        "module_attribute": Define("module", body=""),
        "pp_define": _erlang_macro,
        "record_decl": Define("struct", body=""),
        "type_alias": Define("type_alias", "name/name", ""),
        "opaque": Define("type_alias", "name/name", ""),
        "fun_decl": Define("fn", "clause/name", "clause/body", strip="'"),
    },
    comments=Comments(line=(b"%",)),
    merge=True,
)


# --- Nix: bindings of the outermost sets; deeper ones only when they are functions


def _nix_binding(node: Node, text: bytes, place: int) -> Iterable[Definition]:
    path, value = node.child_by_field_name("attrpath"), node.child_by_field_name("expression")
    if path is None or value is None:
        return
    qualifier, _, name = text_of(path, text).rpartition(".")
    name = name.strip('"')
    if value.type == "function_expression":
        yield Definition("fn", name, path, qualifier, value.child_by_field_name("body"))
    elif value.type in ("attrset_expression", "rec_attrset_expression"):
        kind = "variable" if place == MODULE else ""
        outer = qualifier if kind else f"{qualifier}.{name}".strip(".")
        yield Definition(kind, name if kind else "", path, outer, value, FUNCTION)
    elif place == MODULE:
        yield Definition("variable", name, path, qualifier)


_NIX_SETS = "function_expression let_expression attrset_expression rec_attrset_expression binding_set"

NIX = Grammar(
    parser="nix",
    actions={**through(_NIX_SETS), "binding": _nix_binding},
    comments=HASH_COMMENTS,
    nested=rb":",
)
