"""Lines of code as HTML: coloured by what they are, with the matches in them marked. Everything is escaped.

Which word is what a process of its own says (`lexing`): a text can make that take for ever, and then has no colours.
"""

from __future__ import annotations

import re
import threading
from collections.abc import Iterable, Iterator, Mapping, Sequence
from contextlib import suppress
from typing import TYPE_CHECKING, cast

from markupsafe import Markup, escape

from findling.model.remembered import remembered
from findling.reading.worker_process import Child, program_of

if TYPE_CHECKING:
    from findling.faces.web.lexing import Pieces

MOST_CHARS = 300_000
LONGEST_LINE = 2_000
"""A longer text, or one with a longer line, has no colours: they would take seconds, and nobody reads it."""

LEXING_S = 2.0
"""After so long a text is left without colours, for good; all of the largest take a second."""

STARTING_S = 60.0
"""For the process to start."""

MOST_REFUSED = 1_000

GLANCES, GLANCE_CHARS = 500, 4_000
"""So many short texts are remembered: most places of an answer are in the one to the next key press as well."""

Spans = Sequence[tuple[int, int]]


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
    """Each line (without its end) as HTML. ``marks``: position in ``lines`` -> (first column, end column), in order."""
    if not lines:
        return []  # joined, no lines and one empty line are the same text
    marked = marks or {}
    text = "\n".join(line.rstrip("\r") for line in lines)
    short = len(text) <= MOST_CHARS and all(len(line) <= LONGEST_LINE for line in lines)
    ask = _glance if len(text) <= GLANCE_CHARS else _pieces
    pieces = ask(text, language, path) if short and text.strip() else [("", text)]
    return [_line(line, marked.get(at, ())) for at, line in enumerate(_by_lines(pieces))]


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


_lexer = Child(program_of("findling.faces.web.lexing"))
"""The process that knows what words are."""

_one_at_a_time = threading.Lock()
_refused: set[int] = set()
"""Hashes of texts that it could not take apart in time."""


def _pieces(text: str, language: str, path: str) -> Pieces:
    """The text in one piece where the process does not say in time, or fails at it."""
    task = (text, language, path)
    if hash(task) in _refused:
        return [("", text)]
    with _one_at_a_time:
        with suppress(OSError):  # then the exchange finds no process either
            if _lexer.start():
                _lexer.exchange(("", "", ""), STARTING_S)  # it imports before it is timed
        answer = _lexer.exchange(task, LEXING_S)
    if answer is None:
        if len(_refused) < MOST_REFUSED:
            _refused.add(hash(task))
        return [("", text)]
    return cast("Pieces", answer)


@remembered(GLANCES)
def _glance(text: str, language: str, path: str) -> Pieces:
    return _pieces(text, language, path)


def end() -> None:
    """End the process; the next text starts it again."""
    with _one_at_a_time:
        _lexer.stop()
