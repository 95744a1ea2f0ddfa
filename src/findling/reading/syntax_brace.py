"""Finds definitions by text patterns where the syntax tree missed them.

Only for languages with braces, and only where the tree has errors: macros and new syntax defeat a grammar. Works on
text alone.
"""

from __future__ import annotations

import re
from bisect import bisect_right
from collections.abc import Iterable, Iterator
from typing import NamedTuple

from msgspec.structs import replace

from findling.reading import syntax_text
from findling.reading.parsed import Symbol
from findling.reading.syntax_grammars.model import TYPE_KINDS, Grammar, is_constant_name
from findling.reading.syntax_walk import MAX_SYMBOLS, Found

# A body longer than this is not searched for its end; the definition then ends with its first line.
BODY_BYTES = 400_000

# How much deeper than its type a member stands at most; deeper variables are local ones.
MEMBER_INDENT = 4

_CALLABLE = frozenset({"fn", "method"})
# Keywords that a broken tree reports as names.
_KEYWORDS = frozenset(
    {"namespace", "class", "struct", "enum", "union", "if", "for", "while", "switch", "return", "else"}
)
# A type that the tree took for a function.
_TYPE_HEAD = re.compile(r"\b(class|struct|union|enum)\s+\w+(?:\s+final)?(?:\s*:.*)?$")
_TYPE_KINDS = {"class": "class", "struct": "struct", "union": "struct", "enum": "enum"}
# What can hide a brace: comments, strings, characters.
_BRACES = re.compile(rb"/\*.*?\*/|//[^\n]*|\"(?:[^\"\\\n]|\\.)*\"|'(?:[^'\\\n]|\\.)+'|[{}]", re.DOTALL)


def add_missing(found: Found, text: bytes, table: Grammar) -> Found:
    """``found`` with the missing functions, types and variables, in order again."""
    lines = [0, *(match.end() for match in re.finditer(rb"\n", text))]
    found = _cut_runaways(found, text, lines)
    known = {(symbol.name, symbol.name_line) for symbol in found.symbols}
    old = found.symbols
    added: list[Symbol] = []
    names: list[int] = []
    # Definitions that the scan is inside of; symbols are added in the order of their start.
    open_: list[Symbol] = []
    next_old = 0
    for head in heads(text, table.parser):
        name_line = bisect_right(lines, head.name_at)
        plain = head.name.decode("utf-8", "replace").replace("::", ".")
        last = plain.rpartition(".")[2]
        # Macros move a name by a line; the same name that near is the same definition.
        if any((last, line) in known for line in (name_line - 1, name_line, name_line + 1)):
            continue
        while next_old < len(old) and old[next_old].start_byte <= head.start:
            open_.append(old[next_old])
            next_old += 1
        end = _body_end(text, head.end)
        end = head.start + len(text[head.start : end].rstrip())
        open_ = [symbol for symbol in open_ if symbol.end_byte > head.start]
        owners = [symbol for symbol in open_ if symbol.end_byte >= end]
        if any(symbol.kind in _CALLABLE for symbol in owners):
            continue
        if head.kind == "variable" and _indent(text, head.start) > (
            _indent(text, owners[-1].start_byte) + MEMBER_INDENT if owners else 0
        ):
            continue
        if len(old) + len(added) >= MAX_SYMBOLS:
            break
        symbol = _symbol(head, plain, last, end, name_line, lines, text, table)
        added.append(symbol)
        names.append(head.name_at)
        known.add((last, name_line))
        open_.append(symbol)
    return _merge(found, added, names) if added else found


def _cut_runaways(found: Found, text: bytes, lines: list[int]) -> Found:
    """The definitions, with functions that swallowed the next ones cut to their own body, and without keywords."""
    kept: list[Symbol] = []
    names: list[int] = []
    place_of = {-1: -1}
    for old, (symbol, name_at) in enumerate(zip(found.symbols, found.names, strict=True)):
        if symbol.name in _KEYWORDS:
            place_of[old] = place_of[symbol.parent]
            continue
        if symbol.kind in _CALLABLE:
            symbol = _cut(symbol, name_at, text, lines)
        place_of[old] = len(kept)
        kept.append(replace(symbol, parent=place_of[symbol.parent]))
        names.append(name_at)
    for index, symbol in enumerate(kept):
        parent = symbol.parent
        if parent >= 0 and not (
            kept[parent].start_byte <= symbol.start_byte and symbol.end_byte <= kept[parent].end_byte
        ):
            kept[index] = replace(symbol, parent=-1, qualified_name=symbol.name)
    return _merge(Found(kept, names, found.problem, found.clauses), [], [])


def _cut(symbol: Symbol, name_at: int, text: bytes, lines: list[int]) -> Symbol:
    """A function that ends at the first brace as far left as its own first line, if it went on beyond that."""
    word = _TYPE_HEAD.search(symbol.signature) if "(" not in symbol.signature else None
    if word is not None:
        symbol = replace(symbol, kind=_TYPE_KINDS[word.group(1)])
    start, end = symbol.start_byte, symbol.end_byte
    margin = text[text.rfind(b"\n", 0, start) + 1 : start]
    if margin.strip():
        return symbol
    closing = re.compile(rb"\n" + re.escape(margin) + rb"\}[ \t;,)]*(?=\r?\n|\Z)")
    if closing.search(text, start, name_at):  # it begins too early as well
        start = text.rfind(b"\n", 0, name_at) + 1
        start = name_at - len(text[start:name_at].lstrip())
    close = closing.search(text, name_at, end)
    if close is not None:
        end = close.start() + 1 + len(margin) + 1
    if (start, end) == (symbol.start_byte, symbol.end_byte):
        return symbol
    return replace(
        symbol,
        start_byte=start,
        end_byte=end,
        start_line=bisect_right(lines, start),
        end_line=bisect_right(lines, end - 1),
    )


def _symbol(
    head: Head, plain: str, last: str, end: int, name_line: int, lines: list[int], text: bytes, table: Grammar
) -> Symbol:
    kind = head.kind
    if kind == "fn" and plain != last:
        kind = "method"
    elif kind == "variable" and is_constant_name(last):
        kind = "constant"
    return Symbol(
        name=last,
        kind=kind,
        qualified_name=plain,
        parent=-1,
        start_line=bisect_right(lines, head.start),
        end_line=bisect_right(lines, max(head.start, end - 1)),
        start_byte=head.start,
        end_byte=end,
        name_line=name_line,
        signature=syntax_text.signature(text, head.start, head.end, b"@" if table.annotation == b"@" else b""),
        doc=syntax_text.doc_before(text, head.start, table.parser),
    )


def _indent(text: bytes, start: int) -> int:
    return start - text.rfind(b"\n", 0, start) - 1


def _body_end(text: bytes, brace: int) -> int:
    """The offset after the brace that closes the one at ``brace``; ``brace`` itself when there is none."""
    if text[brace : brace + 1] != b"{":
        return brace
    depth = 0
    for match in _BRACES.finditer(text, brace, min(len(text), brace + BODY_BYTES)):
        token = match.group()
        if token == b"{":
            depth += 1
        elif token == b"}":
            depth -= 1
            if depth == 0:
                return match.end()
    line = text.find(b"\n", brace)
    return len(text) if line < 0 else line


def _merge(found: Found, added: list[Symbol], added_names: list[int]) -> Found:
    """Both lists in order of start; symbols without a parent that lie in an added type become its members."""
    old_count = len(found.symbols)
    symbols = [*found.symbols, *added]
    names = [*found.names, *added_names]
    order = sorted(range(len(symbols)), key=lambda index: (symbols[index].start_byte, -symbols[index].end_byte, index))
    place_of = {old: new for new, old in enumerate(order)}
    merged: list[Symbol] = []
    open_: list[int] = []
    for new, old in enumerate(order):
        symbol = symbols[old]
        open_ = [index for index in open_ if merged[index].end_byte > symbol.start_byte]
        parent = place_of[symbol.parent] if symbol.parent >= 0 else -1
        owner = next((index for index in reversed(open_) if _owns(merged[index], symbol)), -1)
        if parent < 0 and owner >= 0:
            parent = owner
            around = merged[owner].qualified_name
            qualified = symbol.qualified_name
            if not qualified.startswith(around + "."):
                qualified = f"{around}.{qualified}"
            kind = "method" if symbol.kind == "fn" else symbol.kind
            symbol = replace(symbol, qualified_name=qualified, kind=kind)
        elif parent >= 0 and old < old_count:
            # The parent's name may have grown.
            around = merged[parent].qualified_name
            if not symbol.qualified_name.startswith(around + "."):
                symbol = replace(symbol, qualified_name=f"{around}.{symbol.name}")
        merged.append(replace(symbol, parent=parent))
        open_.append(new)
    return Found(merged, [names[old] for old in order], found.problem, found.clauses)


def _owns(outer: Symbol, inner: Symbol) -> bool:
    inside = outer.start_byte <= inner.start_byte and inner.end_byte <= outer.end_byte
    return (
        inside and outer.kind in TYPE_KINDS and (outer.start_byte, outer.end_byte) != (inner.start_byte, inner.end_byte)
    )


# --- what looks like a definition by its first lines; `add_missing` chooses among these proposals

# How far behind a name the brace of its body is looked for.
HEAD_BYTES = 1_500


class Head(NamedTuple):
    """A possible definition. Offsets are bytes; ``end`` is the body's opening brace, or where the head ends."""

    name: bytes
    kind: str
    start: int
    name_at: int
    end: int


_C_FUNCTION = re.compile(
    rb"^(?P<indent>[ \t]{0,8})(?P<head>[A-Za-z_][\w \t*&:<>,~\[\]]*?[ \t*&])??"
    rb"(?P<name>(?:[A-Za-z_]\w*::)*~?[A-Za-z_]\w*)[ \t]*\((?P<arguments>[^;{}]{0,1500}?)\)"
    rb"(?P<tail>[\w\s:,()<>&*-]{0,200}?)\{",
    re.MULTILINE,
)
_C_TYPE = re.compile(
    rb"^[ \t]{0,8}(?:typedef[ \t]+)?(?P<kind>class|struct|union|enum)(?:[ \t]+class)?"
    rb"(?:[ \t]+[A-Z][A-Z0-9_]+(?:\([^()\n]*\))?)*[ \t]+(?P<name>[A-Za-z_]\w*)(?:[ \t]+final)?"
    rb"\s*(?::[^;{}()]{1,300})?\{",
    re.MULTILINE,
)
# ``UV_UNUSED(static int name(int a)) {``: the macro wraps the whole head.
_C_WRAPPED = re.compile(
    rb"^[A-Z][A-Z0-9_]+\((?:[a-z][\w \t\n*]*[ \t\n*])(?P<name>[a-z_]\w*)\([^;{}()]{0,600}\)\)[ \t\n]*\{", re.MULTILINE
)
_MODIFIERS = rb"^[ \t]*(?:@\w+(?:\([^()\n]*\))?[ \t]+)*(?:[a-z]+(?:\([a-z]+\))?[ \t]+){0,6}?"
_KOTLIN = re.compile(
    _MODIFIERS + rb"(?P<kind>fun|enum[ \t]+class|class|interface|object|val|var)[ \t]+(?:<[^\n]*?>[ \t]+)?"
    rb"(?:[A-Z][\w.]*(?:<[^\n()]*>)?\??\.)?`?(?P<name>[A-Za-z_]\w*)`?",
    re.MULTILINE,
)
_SWIFT = re.compile(
    _MODIFIERS + rb"(?P<kind>func|class|struct|enum|protocol|actor|let|var|typealias)[ \t]+(?P<name>[A-Za-z_]\w*)",
    re.MULTILINE,
)
_PERL = re.compile(rb"^[ \t]*(?P<kind>sub)[ \t]+(?P<name>\w+)", re.MULTILINE)
_CSHARP_TYPE = re.compile(
    _MODIFIERS + rb"(?P<kind>class|struct|enum|interface|record)[ \t]+(?P<name>[A-Za-z_]\w*)", re.MULTILINE
)
_CSHARP_METHOD = re.compile(
    rb"^[ \t]*(?:(?:public|private|protected|internal|static|override|virtual|abstract|async|sealed|unsafe|new|partial)"
    rb"[ \t]+)+(?P<kind>[\w<>\[\],.?]+)[ \t]+(?P<name>[A-Za-z_]\w*)(?:<[^>\n]*>)?[ \t]*"
    rb"\([^;{}]{0,1500}?\)\s*(?:where[^{;]{0,200})?(?:\{|=>)",
    re.MULTILINE,
)
_KINDS = {
    b"union": "struct", b"protocol": "interface", b"object": "class", b"actor": "class", b"record": "class",
    b"sub": "fn",
    b"fun": "fn", b"func": "fn", b"val": "variable", b"var": "variable", b"let": "variable",
    b"typealias": "type_alias", b"class": "class", b"struct": "struct", b"enum": "enum", b"interface": "interface",
}  # fmt: skip
_NOT_NAMES = frozenset(
    b"if for while switch return sizeof else do catch defined case new delete throw assert static_assert "
    b"operator namespace decltype alignof typeof __attribute__ requires noexcept and or not name class".split()
)
_STATEMENTS = (b"import ", b"if ", b"guard ", b"while ", b"for ", b"else ", b"case ", b"return ", b"using ", b"when ")
_NOT_HEADS = frozenset({b"return", b"else", b"case", b"new", b"throw", b"goto", b"using", b"enum"})
_NUMBERS = re.compile(rb"\s*\d[\s\S]*")  # ``printflike(1, 2)``: an attribute
_LONE_WORD = re.compile(rb"\s*[a-z]\w*\s*")


def heads(text: bytes, parser: str) -> list[Head]:
    """All proposals in ``text`` for the grammar ``parser``, by offset; empty for grammars without patterns."""
    found: list[Head] = []
    if parser in ("c", "cpp", "objc"):
        found.extend(_c_functions(text))
        found.extend(_words(text, _C_TYPE))
        found.extend(_words(text, _C_WRAPPED, "fn"))
    elif parser == "kotlin":
        found.extend(_words(text, _KOTLIN))
    elif parser == "swift":
        found.extend(_words(text, _SWIFT))
    elif parser == "perl":
        found.extend(_words(text, _PERL))
    elif parser == "csharp":
        found.extend(_words(text, _CSHARP_TYPE))
        found.extend(_words(text, _CSHARP_METHOD, "fn"))
    return sorted(found, key=lambda head: (head.start, -head.end))


def _c_functions(text: bytes) -> Iterator[Head]:
    position = 0
    while (match := _C_FUNCTION.search(text, position)) is not None:
        name, at = match.group("name"), match.start("name")
        before = (match.group("head") or b"").split()
        position = match.end()
        if not before and name.isupper() and _LONE_WORD.fullmatch(match.group("arguments")):
            # ``TEST_IMPL(tcp_open) {``: the macro makes a function of its argument
            name, at = match.group("arguments").strip(), match.start("arguments")
        elif (
            name in _NOT_NAMES
            or _NUMBERS.fullmatch(match.group("arguments"))
            or (name.isupper() and (len(name) > 3 or not before))
            or (match.group("indent") and not before)
            or (before and (before[0] in _NOT_HEADS or before[-1] == b"operator"))
        ):
            # What was taken for a head may hide one on its next line.
            position = text.find(b"\n", match.start("name"))
            if position < 0:
                return
            continue
        yield Head(name, "fn", match.start() + len(match.group("indent")), at, match.end() - 1)


def _words(text: bytes, pattern: re.Pattern[bytes], kind: str = "") -> Iterable[Head]:
    for match in pattern.finditer(text):
        name = match.group("name")
        if name in _NOT_NAMES:
            continue
        start = match.end() - len(match.group().lstrip())
        if text.startswith(_STATEMENTS, start):
            continue
        this = kind or _KINDS[match.group("kind").split()[0]]
        if this in ("variable", "type_alias"):
            end = text.find(b"\n", match.end())
            end = len(text) if end < 0 else end
        else:
            end = match.end() - 1 if text[match.end() - 1 : match.end()] == b"{" else _head_end(text, match.end())
        yield Head(name, this, start, match.start("name"), end)


def _head_end(text: bytes, position: int) -> int:
    """The brace that opens the body, else the end of the line: parameters may span lines, what follows may not."""
    stop = min(len(text), position + HEAD_BYTES)
    depth = 0
    while position < stop:
        byte = text[position]
        if byte in b"([":
            depth += 1
        elif byte in b")]":
            depth -= 1
        elif depth <= 0 and byte == 0x7B:  # {
            return position
        elif depth <= 0 and byte in b"\n=;":
            following = text[position:stop].lstrip()
            if byte != 0x0A or not following.startswith((b"{", b":", b"where", b",")):
                end = text.find(b"\n", position)
                return len(text) if end < 0 else end
        position += 1
    return position
