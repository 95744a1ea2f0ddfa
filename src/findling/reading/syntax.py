"""Finds the definitions in a source text, and the places where names are used. The rest of the program reads syntax
through this module alone.

Owns the time limits, and decides what happens without a tree. Must not know chunks, stores or ranking. Native parsers
run inside these calls and may crash: call them in a worker process.
"""

from __future__ import annotations

import re
import time
from bisect import bisect_right
from collections.abc import Sequence
from typing import TYPE_CHECKING, NamedTuple

from msgspec import Struct

from findling.model.reading import Use
from findling.reading import notebooks, regions, syntax_brace
from findling.reading.parsed import Symbol
from findling.reading.syntax_grammars import GRAMMARS
from findling.reading.syntax_grammars.model import Grammar
from findling.reading.syntax_tree import grammar, parse_tree, unparsed_bytes
from findling.reading.syntax_uses import find_uses
from findling.reading.syntax_walk import Found, walk

if TYPE_CHECKING:
    from tree_sitter import Node, Tree

NOTEBOOK = "notebook"

# Processor time for one file. A file that takes longer is generated or hostile, and stays searchable as text. Not wall
# time: a busy machine must not cost a file its symbols.
DEADLINE_S = 1.0
# With fewer unparsed bytes a second parse is not worth its time.
RETRY_BYTES = 64
# In a longer text of Python open brackets are not looked for: it is generated or hostile.
RETRY_MOST = 500_000

_CONDITION = re.compile(
    rb"^[ \t]*#[ \t]*(?:if|ifdef|ifndef|elif|else|endif|region|endregion|pragma|nullable|warning)\b[^\n]*", re.MULTILINE
)
_OF_PYTHON = re.compile(
    rb"(?P<start>^[ \t]*(?:(?:async[ \t]+)?def[ \t]+\w+|class[ \t]+\w+(?=[ \t]*[:(])|@\w))|#[^\n]*"
    rb"|\"\"\"(?:[^\"\\]|\\.|\"(?!\"\"))*+(?:\"\"\")?|'''(?:[^'\\]|\\.|'(?!''))*+(?:''')?"
    rb"|\"(?:[^\"\\\n]|\\.)*+|'(?:[^'\\\n]|\\.)*+|(?P<open>[(\[{])|(?P<close>[)\]}])",
    re.MULTILINE | re.DOTALL,
)
_NOT_NEWLINE = re.compile(rb"[^\r\n]")
_MACRO_GRAMMARS = frozenset({"c", "cpp", "objc"})
# ``LIB_API void f()``, ``LIB_BEGIN_NAMESPACE``: a word of capitals right before another word; directives are kept.
_MACRO_WORD = re.compile(rb"^[ \t]*#[^\n]*|\b[A-Z][A-Z0-9]*_[A-Z0-9_]+\b(?=\s+(?:[A-Za-z_~:]|/[/*]))", re.MULTILINE)


class Syntax(Struct, frozen=True):
    """The definitions of one file, in order of their start, parents before children, and the uses of names.

    ``complete`` is False when the list is cut or missing; ``problem`` then says why: "no_grammar", "timeout" or
    "too_many_symbols". It is "parse_error" when parts of the text do not parse: the list is then what could be found.
    """

    symbols: tuple[Symbol, ...]
    complete: bool
    problem: str
    uses: tuple[Use, ...] = ()


def supported_languages() -> tuple[str, ...]:
    """Ids of the languages that ``parse`` finds symbols in, sorted; grammars are not loaded for this."""
    return tuple(sorted([*GRAMMARS, *regions.WITH_CODE]))


def parse(text_utf8: bytes, language: str, *, deadline_s: float = DEADLINE_S, docs: bool = True) -> Syntax:
    """The symbols and uses in a file, within ``deadline_s`` of processor time. Never raises, whatever the text.

    Without ``docs`` no comments are read: `Symbol.doc` then has only documentation with a syntax node of its own
    (Julia's strings, Elixir's ``@doc``). Cutting into chunks needs no more, and it saves a tenth of the time.
    """
    deadline = time.thread_time() + deadline_s
    if language == NOTEBOOK:

        def read_cell(code: bytes, own: str) -> tuple[list[Symbol], str]:
            found = _read(code, own, deadline, docs=docs).found
            return found.symbols, found.problem

        text = text_utf8.decode("utf-8", "surrogatepass")
        symbols, problem = notebooks.symbols(text, read_cell, deadline)
        return Syntax(tuple(symbols), problem in ("", "parse_error"), problem)
    read = _read(text_utf8, language, deadline, docs=docs)
    found, problem = read.found, read.found.problem
    uses: Sequence[Use] = ()
    if read.tree is not None and read.table is not None:
        uses = find_uses(read.tree.root_node, read.text, read.language, read.table.parser, found, deadline)
    return Syntax(tuple(found.symbols), problem in ("", "parse_error"), problem, tuple(uses))


def references(
    text_utf8: bytes, language: str, name: str, deadline_s: float = DEADLINE_S
) -> list[tuple[int, int, str]]:
    """Uses of the identifier ``name``: (line, column, qualified name of the enclosing symbol or "").

    Lines are 1-based, columns 0-based in characters. Comments, strings and the name's own definitions are no uses.
    Empty when the language has no grammar or the deadline passes. Of a notebook, cells read before the deadline count.
    """
    deadline = time.thread_time() + deadline_s
    if language == NOTEBOOK:
        raw = text_utf8.decode("utf-8", "surrogatepass")
        return notebooks.uses(raw, lambda code, own: _uses(code, own, name, deadline), deadline)
    return _uses(text_utf8, language, name, deadline)


def _uses(text_utf8: bytes, language: str, name: str, deadline: float) -> list[tuple[int, int, str]]:
    needle = name.encode("utf-8", "surrogatepass")
    if not name or needle not in text_utf8:  # most cells of a notebook end here, without being parsed
        return []
    if language in regions.WITH_CODE:
        text_utf8, language = regions.code_only(text_utf8, language)
        if needle not in text_utf8:  # on most pages only the prose has the name
            return []
    read = _read(text_utf8, language, deadline, docs=False)
    if read.tree is None:
        return []
    return uses_of(read.tree.root_node, read.text, name, read.found, deadline)


class _Read(NamedTuple):
    """What was found; the text that was parsed, with parts blanked perhaps; its language, table and tree."""

    found: Found
    text: bytes
    language: str
    table: Grammar | None = None
    tree: Tree | None = None


def _read(text: bytes, language: str, deadline: float, *, docs: bool) -> _Read:
    if language in regions.WITH_CODE:
        text, language = regions.code_only(text, language)
    table = GRAMMARS.get(language)
    if table is None or grammar(table.parser) is None:
        return _Read(Found(problem="no_grammar"), text, language)
    if table.conditional == "always":
        text = _blank(_CONDITION, text)
    tree = parse_tree(text, table.parser, deadline)
    if tree is None:
        return _Read(Found(problem="timeout"), text, language, table)
    if table.conditional == "on_error" and tree.root_node.has_error:
        text, tree = _without_preprocessor(text, table, tree, deadline)
    root = tree.root_node
    found = walk(root, text, table, deadline, docs=docs)
    if language == "python" and root.has_error and len(text) <= RETRY_MOST:
        closed = _without_open_brackets(text)
        other = parse_tree(closed, table.parser, deadline) if closed != text else None
        if other is not None:
            more = walk(other.root_node, closed, table, deadline, docs=docs)
            if not more.problem and len(more.symbols) > len(found.symbols):
                text, tree, found = closed, other, more
    if not found.problem and root.has_error:
        found.problem = "parse_error"
        if table.braces:
            found = syntax_brace.add_missing(found, text, table)
    return _Read(found, text, language, table, tree)


def _without_preprocessor(text: bytes, table: Grammar, tree: Tree, deadline: float) -> tuple[bytes, Tree]:
    """The same text with ``#if`` … ``#endif`` lines and macro words blanked, when more of it parses that way."""
    before = unparsed_bytes(tree.root_node)
    if before < RETRY_BYTES:
        return text, tree
    blanked = _blank(_CONDITION, text)
    if table.parser in _MACRO_GRAMMARS:
        blanked = _MACRO_WORD.sub(_blank_word, blanked)
    other = parse_tree(blanked, table.parser, deadline) if blanked != text else None
    if other is None or unparsed_bytes(other.root_node) >= before:
        return text, tree
    return blanked, other


def _without_open_brackets(text: bytes) -> bytes:
    """The same text of Python without the brackets that are still open where a line begins a definition: these take
    all that follows for their content. A definition's own are closed, and what they hold is left out."""
    written = bytearray(text)
    opened: list[int] = []
    head = 0  # the end of the last definition's name
    for match in _OF_PYTHON.finditer(text):
        if match["open"]:
            opened.append(match.start())
        elif match["close"] and opened:
            opened.pop()
        elif match["start"]:
            for at in opened:
                written[at] = ord(" ")
            first, end = opened[0] if opened else 0, text.find(b"\n", opened[0]) if opened else 0
            room = end - first - len(b"(*_):")
            if opened and room >= 0 and text[end - 1 : end] == b":" and not text[head:first].strip():
                is_class = text[text.rfind(b"\n", 0, first) + 1 : first].lstrip().startswith(b"class")
                written[first:end] = b":".ljust(end - first) if is_class else b"(*_".ljust(end - first - 2) + b"):"
            opened.clear()
            head = match.end()
    return bytes(written)


def _blank_word(match: re.Match[bytes]) -> bytes:
    word = match.group()
    return word if b"#" in word else b" " * len(word)


def _blank(pattern: re.Pattern[bytes], text: bytes) -> bytes:
    return pattern.sub(lambda match: _NOT_NEWLINE.sub(b" ", match.group()), text)


# --- where a name is used: a text search proposes places, the tree decides about each

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
    """Whether a longer word goes on behind or before the match."""
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
