"""Lines of code as HTML: coloured by what they are, with the matches in them marked. Everything is escaped.

The only module that knows Pygments. Texts are a stranger's: what is long is shown without colours.
"""

from __future__ import annotations

import re
import time
from collections.abc import Iterable, Iterator, Mapping, Sequence
from functools import cache
from typing import Any

from markupsafe import Markup, escape
from pygments import lexers, token
from pygments.lexer import Lexer
from pygments.util import ClassNotFound

MOST_CHARS = 300_000
LONGEST_LINE = 2_000
"""A longer text, or one with a longer line, has no colours: they would take seconds, and nobody reads it."""

LEXING_S = 1.0
"""After so long the rest of a text has no colours."""

Spans = Sequence[tuple[int, int]]

_CLASSES: Sequence[tuple[Any, str]] = (
    (token.Comment, "c"),
    (token.Keyword, "k"),
    (token.Operator.Word, "k"),
    (token.String.Doc, "c"),
    (token.String, "s"),
    (token.Number, "m"),
    (token.Name.Function, "f"),
    (token.Name.Class, "f"),
    (token.Name.Decorator, "d"),
    (token.Name.Tag, "k"),
    (token.Name.Attribute, "d"),
    (token.Name.Builtin, "b"),
    (token.Name.Constant, "m"),
    (token.Generic.Heading, "h"),
    (token.Generic.Subheading, "h"),
    (token.Generic.Deleted, "m"),
    (token.Generic.Inserted, "s"),
)

_LEXERS: Mapping[str, str] = {"csharp": "c#", "shell": "bash", "vue": "html", "jsonc": "json"}
"""Where Pygments has another name for a language."""


def _visible_characters() -> dict[int, str]:
    """Control characters, and those that reorder what stands around them, as something that is seen."""
    shown = {number: chr(0x2400 + number) for number in range(32) if chr(number) not in "\t\n"}
    shown[0x7F] = "\N{SYMBOL FOR DELETE}"
    for number in (*range(0x80, 0xA0), 0x200E, 0x200F, 0x061C, *range(0x202A, 0x202F), *range(0x2066, 0x206A)):
        shown[number] = (
            f"\N{MATHEMATICAL LEFT WHITE SQUARE BRACKET}U+{number:04X}\N{MATHEMATICAL RIGHT WHITE SQUARE BRACKET}"
        )
    return shown


_VISIBLE = _visible_characters()
_HIDDEN = re.compile(f"[{''.join(map(re.escape, map(chr, _VISIBLE)))}]")


def visible(text: str) -> str:
    """The text with everything in it that would not be seen, or would hide something, made visible."""
    return text.translate(_VISIBLE) if _HIDDEN.search(text) else text


def highlighted(
    lines: Sequence[str], language: str, path: str, marks: Mapping[int, Spans] | None = None
) -> list[Markup]:
    """Each line (without its end) as HTML. ``marks``: position in ``lines`` -> (first column, end column)."""
    lexer = _lexer(language, path)
    marked = marks or {}
    if lexer is None or sum(map(len, lines)) > MOST_CHARS or any(len(line) > LONGEST_LINE for line in lines):
        return [_line([("", line)], marked.get(at, ())) for at, line in enumerate(lines)]
    pieces = _pieces("\n".join(line.rstrip("\r") for line in lines), lexer)
    return [_line(line, marked.get(at, ())) for at, line in enumerate(_by_lines(pieces))]


def _pieces(text: str, lexer: Lexer) -> Iterator[tuple[str, str]]:
    """(class, text) of neighbouring tokens of one class; what is left after the time is one without a class."""
    until = time.monotonic() + LEXING_S
    at = 0
    before, held = "", ""
    for start, kind, value in lexer.get_tokens_unprocessed(text):
        if time.monotonic() > until:
            break
        if start != at:  # a lexer that leaves something out, or repeats it
            break
        at += len(value)
        name = _class(kind)
        if name != before:
            yield before, held
            before, held = name, value
        else:
            held += value
    yield before, held
    if at < len(text):
        yield "", text[at:]


def _by_lines(pieces: Iterable[tuple[str, str]]) -> Iterator[list[tuple[str, str]]]:
    line: list[tuple[str, str]] = []
    for kind, text in pieces:
        first, *others = text.split("\n")
        line.append((kind, first))
        for rest in others:
            yield line
            line = [(kind, rest)]
    yield line


def _line(pieces: Iterable[tuple[str, str]], marks: Spans) -> Markup:
    """``marks`` are in order and apart."""
    html: list[str] = []
    at = 0
    for kind, text in pieces:
        end = at + len(text)
        inside: list[str] = []
        here = at
        for mark_start, mark_end in marks:
            start, stop = max(mark_start, here), min(mark_end, end)
            if start >= stop:
                continue
            inside.append(escape(visible(text[here - at : start - at])))
            inside.append(f"<mark>{escape(visible(text[start - at : stop - at]))}</mark>")
            here = stop
        inside.append(escape(visible(text[here - at :])))
        body = "".join(inside)
        html.append(f'<i class="{kind}">{body}</i>' if kind and body else body)
        at = end
    return Markup("".join(html))  # noqa: S704 - every piece of it is escaped


@cache
def _class(kind: Any) -> str:
    for known, name in _CLASSES:
        if kind in known:
            return name
    return ""


@cache
def _lexer_of(language: str, ending: str) -> Lexer | None:
    for find, name in (
        (lexers.get_lexer_by_name, _LEXERS.get(language, language)),
        (lexers.get_lexer_for_filename, ending),
    ):
        if name:
            try:
                return find(name, stripnl=False, ensurenl=False)
            except ClassNotFound:
                continue
    return None


def _lexer(language: str, path: str) -> Lexer | None:
    name = path.rpartition("/")[2]
    stem, dot, ending = name.rpartition(".")
    return _lexer_of(language, f"x.{ending}" if dot and stem else name)
