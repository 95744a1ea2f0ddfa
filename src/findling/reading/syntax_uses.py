"""Where an identifier is used in a parsed text. Text search proposes places, the tree decides about each.

Knows trees and what a walk found; must not load grammars or read files.
"""

from __future__ import annotations

import re
import time
from bisect import bisect_right
from typing import TYPE_CHECKING

from findling.reading.syntax_walk import Found

if TYPE_CHECKING:
    from tree_sitter import Node

MAX_USES = 10_000
# Ancestors looked at to tell text from code; an interpolation inside a string is reached within this many.
ANCESTORS = 12

_TEXT = re.compile(r"comment|string|char|heredoc|regex|quoted|text|content|docstring|str_lit")
_CODE = re.compile(r"interpolation|substitution|expansion|embedded|interpolated|template_substitution|code")
# Names that contain such a word but are identifiers.
_NAMES = re.compile(r"identifier|_name$|^name$|^variable|property")


def uses_of(root: Node, text: bytes, name: str, found: Found, deadline: float) -> list[tuple[int, int, str]]:
    """(line, column in characters, qualified name of the enclosing symbol) of each use, in order."""
    needle = name.encode("utf-8")
    definitions = {*found.names, *found.clauses}
    starts = [symbol.start_byte for symbol in found.symbols]
    uses: list[tuple[int, int, str]] = []
    for match in re.finditer(re.escape(needle), text):
        if len(uses) >= MAX_USES or time.thread_time() > deadline:
            break
        start, end = match.span()
        if _goes_on(text, start, end) or start in definitions or not _is_code(root, start, end):
            continue
        line_start = text.rfind(b"\n", 0, start) + 1
        column = len(text[line_start:start].decode("utf-8", "replace"))
        uses.append((text.count(b"\n", 0, start) + 1, column, _enclosing(found, starts, start, end)))
    return uses


def _goes_on(text: bytes, start: int, end: int) -> bool:
    """Whether the match is only part of a longer word."""
    before = text[max(0, start - 4) : start].decode("utf-8", "ignore")[-1:]
    after = text[end : end + 4].decode("utf-8", "ignore")[:1]
    inside = text[start:end].decode("utf-8", "ignore")
    return (_is_word(before) and _is_word(inside[:1])) or (_is_word(after) and _is_word(inside[-1:]))


def _is_word(character: str) -> bool:
    return character.isalnum() or character == "_"


def _is_code(root: Node, start: int, end: int) -> bool:
    node = root.descendant_for_byte_range(start, end)
    if node is None:
        return False
    if _NAMES.search(node.type) is None and (
        _TEXT.search(node.type) or node.end_byte - node.start_byte > 2 * (end - start) + 8
    ):
        return False
    parent = node.parent
    for _ in range(ANCESTORS):
        if parent is None or _CODE.search(parent.type):
            return True
        if _TEXT.search(parent.type) and _NAMES.search(parent.type) is None:
            return False
        parent = parent.parent
    return True


def _enclosing(found: Found, starts: list[int], start: int, end: int) -> str:
    index = bisect_right(starts, start) - 1
    while index >= 0:
        symbol = found.symbols[index]
        if symbol.end_byte >= end:
            return symbol.qualified_name
        # The enclosing one, if any, is an ancestor of this neighbour or starts before it.
        index = symbol.parent if symbol.parent >= 0 else index - 1
    return ""
