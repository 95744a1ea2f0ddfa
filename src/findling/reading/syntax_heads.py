"""Text patterns of definition heads for languages with braces: what a definition looks like on its first lines.

Proposals only; whether one counts is decided where they are merged with a tree's symbols.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator
from typing import NamedTuple

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
    _MODIFIERS + rb"(?P<kind>class|struct|enum|interface|record)[ \t]+(?P<name>[A-Za-z_]\w*)",
    re.MULTILINE,
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
