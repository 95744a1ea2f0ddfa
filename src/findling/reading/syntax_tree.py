"""Parses text into a syntax tree. The one place that loads grammars and runs parsers. Callers cope with None.

Parsing is bounded in time. A grammar's native code can still hang or crash on hostile text: call it in a worker
process.
"""

from __future__ import annotations

import os
import threading
import time
import warnings
from functools import cache
from tempfile import TemporaryDirectory

import semble_grammars
from tree_sitter import Language, Node, Parser, Query, QueryCursor, Tree

# The first piece that the parser gets; most files are not longer.
FIRST_WINDOW_BYTES = 1 << 16
# Each later piece.
WINDOW_BYTES = 1 << 11
# The parser asks seven times for each thousand bytes whether to go on; the clock of a thread costs a system call.
CLOCK_EVERY = 32

_UNPACKED = "SEMBLE_GRAMMARS_CACHE_DIR"
"""The environment variable for where the library unpacks grammars."""

_unpacking = threading.Lock()
"""Held while that variable is changed: all threads share it."""


@cache
def grammar(name: str) -> Language | None:
    """The grammar, or None when it is not part of this installation or does not load."""
    try:
        with warnings.catch_warnings():
            warnings.simplefilter("ignore", DeprecationWarning)
            language = _loaded(name)
    except (
        semble_grammars.LanguageNotFoundError,
        semble_grammars.GrammarLoadError,
        semble_grammars.UnsupportedPlatformError,
        OSError,
    ):
        return None
    return language if isinstance(language, Language) else None


def _loaded(name: str) -> object:
    """The grammar from the user's cache folder, where the library unpacks it first; from a folder of its own for a user
    who has no cache folder to write to."""
    try:
        return semble_grammars.get_language(name)
    except semble_grammars.GrammarLoadError:
        with _unpacking, TemporaryDirectory(prefix="findling-grammar-", ignore_cleanup_errors=True) as folder:
            before = os.environ.get(_UNPACKED)
            os.environ[_UNPACKED] = folder
            try:
                return semble_grammars.get_language(name)
            finally:
                os.environ.pop(_UNPACKED, None)
                if before is not None:
                    os.environ[_UNPACKED] = before


def has_grammar(name: str) -> bool:
    """Whether it is part of this installation. Loads none: each that is loaded for the first time on a machine is
    unpacked, which takes 0.2 s."""
    try:
        return name in semble_grammars.available_languages() or grammar(name) is not None
    except semble_grammars.UnsupportedPlatformError:
        return False


class _Parsers(threading.local):
    """The parsers of one thread, by the grammar's name. Two threads that parse with the same one crash: the callbacks
    of `parse_tree` let other threads run."""

    def __init__(self) -> None:
        self._known: dict[str, Parser] = {}

    def of(self, name: str) -> Parser | None:
        language = grammar(name)
        if language is not None and name not in self._known:
            self._known[name] = Parser(language)
        return self._known.get(name)


_parsers = _Parsers()


def parse_tree(text: bytes, name: str, deadline: float) -> Tree | None:
    """The tree of ``text``; None when the grammar is missing or ``deadline`` (of ``time.thread_time``) passed."""
    parser = _parsers.of(name)
    if parser is None:
        return None
    clock = time.thread_time
    late = False
    asked = 0

    # The deadline works only with a read callback; for bytes the library ignores it. What the callback returns is never
    # freed (py-tree-sitter 0.26.1), so the same object is returned for the same offset. Grammars that count columns,
    # such as Scala's, ask for the start of each line again, and get just that line.
    windows = {0: text[:FIRST_WINDOW_BYTES]}
    read_to = len(windows[0])

    def read(offset: int, _position: object) -> bytes:
        nonlocal read_to
        window = windows.get(offset)
        if window is None:
            end = offset + WINDOW_BYTES
            if offset < read_to:
                end = text.find(b"\n", offset, end) + 1 or end
            window = windows[offset] = text[offset:end]
            read_to = max(read_to, end)
        return window

    def progress(_offset: int, _has_error: bool) -> bool:
        nonlocal late, asked
        if not asked % CLOCK_EVERY:
            late = clock() > deadline
        asked += 1
        return late  # True stops the parser

    try:
        tree = parser.parse(read, encoding="utf8", progress_callback=progress)
    except ValueError:  # what the library raises when it was stopped
        tree = None
    if late or tree is None:
        parser.reset()
        return None
    return tree


@cache
def _query(name: str, query: str) -> Query:
    language = grammar(name)
    assert language is not None, "a tree was made by it"
    return Query(language, query)


def captured(root: Node, name: str, query: str) -> dict[str, list[Node]]:
    """The nodes of a tree of the grammar ``name`` that a query captures, by the names of captures.

    It cannot be stopped (the callback for that crashes in py-tree-sitter 0.26.1), and takes a third of parsing.
    """
    return QueryCursor(_query(name, query)).captures(root)


def matched(node: Node, name: str, query: str) -> list[dict[str, Node]]:
    """The matches of a query below a node, each as its captured nodes by name."""
    matches = QueryCursor(_query(name, query)).matches(node)
    return [{capture: nodes[0] for capture, nodes in found.items()} for _, found in matches]


def unparsed_bytes(root: Node) -> int:
    """How much of the text the grammar could not read: bytes inside error nodes, one per missing token."""
    if not root.has_error:
        return 0
    total = 0
    stack = [root]
    while stack:
        node = stack.pop()
        if node.is_error or node.is_missing:
            total += node.end_byte - node.start_byte + 1
        elif node.has_error:
            stack.extend(node.children)
    return total
