"""Languages that build and deploy: Make, CMake, Dockerfile, just, Jsonnet."""

from __future__ import annotations

from collections.abc import Iterable
from typing import TYPE_CHECKING

from findling.reading.syntax_grammars.model import (
    C_COMMENTS,
    GROUP,
    HASH_COMMENTS,
    THROUGH,
    Define,
    Definition,
    Grammar,
    child_of_type,
    is_constant_name,
    text_of,
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
        **dict.fromkeys(["conditional", "else_directive", "elsif_directive"], THROUGH),
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


def _cmake_argument(node: Node, text: bytes) -> Node | None:
    arguments = child_of_type(node, "argument_list")
    return child_of_type(arguments, "argument") if arguments is not None else None


def _cmake_command(node: Node, text: bytes, place: int) -> Iterable[Definition]:
    word, at = child_of_type(node, "identifier"), _cmake_argument(node, text)
    kind = _CMAKE_TARGETS.get(text_of(word, text).lower()) if word is not None else None
    if kind is not None and at is not None:
        name = text_of(at, text)
        if "$" not in name:
            yield Definition(kind, name, at)


def _cmake_function(node: Node, text: bytes, place: int) -> Iterable[Definition]:
    head = child_of_type(node, "function_command", "macro_command")
    at = _cmake_argument(head, text) if head is not None else None
    if at is not None:
        yield Definition("fn", text_of(at, text), at, body=child_of_type(node, "body"))


CMAKE = Grammar(
    parser="cmake",
    actions={
        **dict.fromkeys(["if_condition", "foreach_loop", "body"], THROUGH),
        "normal_command": _cmake_command,
        "function_def": _cmake_function,
        "macro_def": _cmake_function,
    },
    comments=HASH_COMMENTS,
)


# --- Dockerfile: stages, arguments and environment


def _stage(node: Node, text: bytes, place: int) -> Iterable[Definition]:
    at = node.child_by_field_name("as")
    if at is not None:
        yield Definition("module", text_of(at, text), at)


def _env_pair(node: Node, text: bytes, place: int) -> Iterable[Definition]:
    at = node.child_by_field_name("name")
    if at is not None:
        yield Definition("variable", text_of(at, text), at)


DOCKERFILE = Grammar(
    parser="dockerfile",
    actions={
        "from_instruction": _stage,
        "arg_instruction": Define("variable", body=""),
        "env_instruction": GROUP,
        "env_pair": _env_pair,
    },
    comments=HASH_COMMENTS,
)


# --- just


def _recipe(node: Node, text: bytes, place: int) -> Iterable[Definition]:
    head = child_of_type(node, "recipe_header")
    at = head.child_by_field_name("name") if head is not None else None
    if at is not None:
        yield Definition("fn", text_of(at, text), at, body=child_of_type(node, "recipe_body"))


JUST = Grammar(
    parser="just",
    actions={
        "recipe": _recipe,
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
        yield Definition("fn" if function else "constant" if is_constant_name(name) else "variable", name, at)


def _jsonnet_field(node: Node, text: bytes, place: int) -> Iterable[Definition]:
    """Fields that are functions; plain fields are data."""
    at = child_of_type(node, "fieldname")
    if at is not None and text[at.end_byte : at.end_byte + 1] == b"(":
        yield Definition("fn", text_of(at, text).strip("'\""), at)


JSONNET = Grammar(
    parser="jsonnet",
    actions={
        **dict.fromkeys(["local_bind", "object", "member", "objlocal"], THROUGH),
        "bind": _bind,
        "field": _jsonnet_field,
    },
    comments=C_COMMENTS,
)
