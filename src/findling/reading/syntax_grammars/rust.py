"""Rust. Methods are named after the type of their ``impl``; the ``impl`` itself defines nothing."""

from __future__ import annotations

import re
from collections.abc import Iterable
from typing import TYPE_CHECKING

from findling.reading.syntax_grammars.model import (
    ATTRIBUTE,
    C_COMMENTS,
    MODULE,
    TYPE,
    Define,
    Definition,
    Grammar,
    text_of,
    through,
)

if TYPE_CHECKING:
    from tree_sitter import Node

_REFERENCE = re.compile(r"^(?:&\s*)?(?:'\w+\s+)?(?:mut\s+|dyn\s+)*")


def _impl(node: Node, text: bytes, place: int) -> Iterable[Definition]:
    target, body = node.child_by_field_name("type"), node.child_by_field_name("body")
    if target is None or body is None:
        return
    written = _REFERENCE.sub("", text_of(target, text))
    owner = written.partition("<")[0].strip().rpartition("::")[2] or written[:60]
    yield Definition("", qualifier=owner, body=body, place=TYPE)


def _module(node: Node, text: bytes, place: int) -> Iterable[Definition]:
    name, body = node.child_by_field_name("name"), node.child_by_field_name("body")
    if name is not None and body is not None:  # ``mod x;`` only says where the module is
        yield Definition("module", text_of(name, text), name, body=body, place=MODULE)


RUST = Grammar(
    parser="rust",
    actions={
        "attribute_item": ATTRIBUTE,
        "function_item": Define("fn"),
        "function_signature_item": Define("fn"),
        "struct_item": Define("struct"),
        "union_item": Define("struct"),
        "enum_item": Define("enum"),
        "trait_item": Define("trait"),
        "type_item": Define("type_alias", body=""),
        "associated_type": Define("type_alias", body=""),
        "const_item": Define("constant", local=False),
        "static_item": Define("constant", local=False),
        "macro_definition": Define("fn", body=""),
        "mod_item": _module,
        "impl_item": _impl,
        **through("foreign_mod_item declaration_list"),
    },
    comments=C_COMMENTS,
    nested=rb"\b(?:fn|struct|enum|impl|trait|macro_rules)\b",
)
