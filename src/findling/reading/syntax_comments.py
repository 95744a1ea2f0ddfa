"""Where the comments of a source file are, by its syntax tree. Native parsers run inside this call: call it from a
process that may be lost."""

from __future__ import annotations

import time

from findling.model.languages import find_language, language_of
from findling.reading.syntax_tree import parse_tree

DEADLINE_S = 2.0
"""A file that takes longer keeps its comments, and says so."""


def comment_spans(path: str, text_utf8: bytes, *, deadline_s: float = DEADLINE_S) -> list[tuple[int, int]] | None:
    """(first byte, end) of each comment, in order, none in prose; None when it cannot be told: no grammar, no time.

    A first line that names an interpreter is no comment; neither are strings that document a function.
    """
    language = language_of(path, text_utf8[:4096])
    row = find_language(language.id)
    if language.kind == "docs":
        return []
    if row is None or row.grammar is None:
        return None
    tree = parse_tree(text_utf8, row.grammar, time.thread_time() + deadline_s)
    if tree is None:
        return None
    found: list[tuple[int, int]] = []
    stack = [tree.root_node]
    while stack:
        node = stack.pop()
        if "comment" in node.type and node.is_named:
            if not (node.start_byte == 0 and text_utf8.startswith(b"#!")):
                found.append((node.start_byte, node.end_byte))
            continue
        stack.extend(reversed(node.children))
    return found
