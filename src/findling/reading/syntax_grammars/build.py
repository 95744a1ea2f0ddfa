"""Languages that build and deploy: Make, CMake, Dockerfile, just, Jsonnet."""

from __future__ import annotations

from collections.abc import Iterable
from typing import TYPE_CHECKING

from findling.reading.syntax_grammars.model import (
    C_COMMENTS,
    GROUP,
    HASH_COMMENTS,
    Define,
    Definition,
    Grammar,
    child_of_type,
    text_of,
    through,
    value_kind,
    way,
)

if TYPE_CHECKING:
    from tree_sitter import Node


# --- Make


def _make_rule(node: Node, text: bytes, place: int) -> Iterable[Definition]:
    targets = child_of_type(node, "targets")
    if targets is None:
        return
    for at in targets.named_children:
        name = text_of(at, text)
        if not name.startswith(".") or "/" in name:  # .PHONY and other settings
            yield Definition("fn", name, at, body=child_of_type(node, "recipe"))


MAKE = Grammar(
    parser="make",
    actions={
        **through("conditional else_directive elsif_directive"),
        "rule": _make_rule,
        "variable_assignment": Define("variable", body=""),
        "export_directive": GROUP,
        "define_directive": Define("variable", body="value"),
    },
    comments=HASH_COMMENTS,
)


# --- CMake

_CMAKE_TARGETS = {
    "set": "variable", "option": "variable", "add_library": "module", "add_executable": "module",
    "add_custom_target": "module", "project": "module",
}  # fmt: skip


_CMAKE_FUNCTION = Define("fn", "<function_command macro_command>/<argument_list>/<argument>", "<body>")
_cmake_argument = way("<argument_list>/<argument>")


def _cmake_command(node: Node, text: bytes, place: int) -> Iterable[Definition]:
    word, at = child_of_type(node, "identifier"), _cmake_argument(node)
    kind = _CMAKE_TARGETS.get(text_of(word, text).lower()) if word is not None else None
    if kind is not None and at is not None:
        name = text_of(at, text)
        if "$" not in name:
            yield Definition(kind, name, at)


CMAKE = Grammar(
    parser="cmake",
    actions={
        **through("if_condition foreach_loop body"),
        "normal_command": _cmake_command,
        "function_def": _CMAKE_FUNCTION,
        "macro_def": _CMAKE_FUNCTION,
    },
    comments=HASH_COMMENTS,
)


# --- Dockerfile: stages, arguments and environment


DOCKERFILE = Grammar(
    parser="dockerfile",
    actions={
        "from_instruction": Define("module", "as", ""),
        "arg_instruction": Define("variable", body=""),
        "env_instruction": GROUP,
        "env_pair": Define("variable", body=""),
    },
    comments=HASH_COMMENTS,
)


# --- just


JUST = Grammar(
    parser="just",
    actions={
        "recipe": Define("fn", "<recipe_header>/name", "<recipe_body>"),
        "assignment": Define("variable", name="left", body=""),
        "alias": Define("fn", name="left", body=""),
    },
    comments=HASH_COMMENTS,
    annotation=b"[",
)


# --- Jsonnet


def _bind(node: Node, text: bytes, place: int) -> Iterable[Definition]:
    at = child_of_type(node, "id")
    if at is not None:
        name = text_of(at, text)
        function = text[at.end_byte : at.end_byte + 1] == b"("
        yield Definition("fn" if function else value_kind(name), name, at)


def _jsonnet_field(node: Node, text: bytes, place: int) -> Iterable[Definition]:
    """Fields that are functions; plain fields are data."""
    at = child_of_type(node, "fieldname")
    if at is not None and text[at.end_byte : at.end_byte + 1] == b"(":
        yield Definition("fn", text_of(at, text).strip("'\""), at)


JSONNET = Grammar(
    parser="jsonnet",
    actions={
        **through("local_bind object member objlocal"),
        "bind": _bind,
        "field": _jsonnet_field,
    },
    comments=C_COMMENTS,
)
