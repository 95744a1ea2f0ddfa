"""What is shown of a place: all of it where it is short, else its head and the parts that answer. Pure.

The lines that an expert cites for an answer are seldom all in one piece: of the answers judged so, forty lines of the
best place and its neighbours by value hold half as many again as the forty lines from its beginning on.
"""

from __future__ import annotations

import math
import re
from bisect import bisect_left, bisect_right
from collections.abc import Iterable, Iterator, Mapping, Sequence, Set
from itertools import islice, pairwise
from types import MappingProxyType
from typing import NamedTuple

from findling.model.plurals import count
from findling.model.rows import SymbolRow
from findling.model.types import LINES_KIND, SymbolHit
from findling.search.snippet import ELLIPSIS, LINE_CHARS, Snippet

LINES = 40
"""A type of so many lines is one place; and so many are shown of each place where all are shown."""

WHOLE = 120
"""A function of so many lines is one place, and shown whole where there is room."""

HEAD_LINES = 3
"""Of each definition around a place: its decorators and its name, or what of them fits."""

EXITS = 4
"""Lines of a long definition that say what becomes of it."""

DOCUMENTED = " of documentation"

_PARAGRAPH = re.compile(r"\s*(?:[*/]+\s*)?(?:@\w|$)")
"""A line that ends the first paragraph of a documentation: an empty one, or one of a parameter."""

FOLDED = 4
"""So many lines of documentation are worth leaving out for a line that says so."""

_DOCSTRING = re.compile(r"""\s*[rRuU]?(\"{3}|'{3})""")
_SIGNATURE_END = re.compile(r":\s*(?:#.*)?$")

CALLABLE = ("fn", "method")

OTHERS_FIRST = 3
"""Of a file's other places so many stand in their own order before all else that may be shown with the best one."""

PART_LINES = 10
"""Lines that are added to each part's own when parts are compared, so that one line is not the best of all."""

NEIGHBOURS, NAME_CHARS = 3, 4
"""Functions that a place calls, and as many that call it, which may be shown with it; the least letters of a name that
tells one."""

CONSTANTS, CONSTANT_LINES = 6, 3
"""Constants that are shown with what names them, and lines of one."""

DOCSTRING_WITHIN = 20
"""Lines below which a definition's docstring begins: decorators and parameters stand before it."""

_WORD = re.compile(r"[^\W\d]\w*")
_EXIT = re.compile(r"\s*(?:return|raise|throw|yield)\b")


class Body(NamedTuple):
    """Lines of a file to show, those that are worth most first; ``end`` is the last line of the place. ``parts``: how
    many lines of ``worth`` there are up to the end of each of its parts, such as a definition. ``documentation``: lines
    that are told as such where they are left out."""

    file: Sequence[str]
    worth: Sequence[int]
    end: int
    cut: Snippet = Snippet(0, "", ())
    parts: Sequence[int] = ()
    documentation: Set[int] = frozenset()

    def text(self, most_lines: int, most_chars: int, *, whole_parts: bool = False, first_chars: int = 0) -> str:
        """As many lines as fit, in the file's order, each with its number; what is left out is counted.
        ``whole_parts``: the first part, which may take ``first_chars`` where that is more and shows it whole, and of
        the others those that fit whole."""
        kept = self.worth[: min(most_lines, self.parts[0]) if whole_parts and self.parts else most_lines]
        if not kept:
            return ""
        text = self._joined(kept)
        if self.parts and len(text) <= first_chars:
            most_chars = max(most_chars, len(text))
        if len(text) > most_chars:
            fitting = bisect_right(range(1, len(kept)), most_chars, key=lambda lines: len(self._joined(kept[:lines])))
            if not fitting:
                return ""
            kept = kept[:fitting]
            text = self._joined(kept)
        if not whole_parts or not self.parts or len(kept) < self.parts[0]:
            return text
        for begin, end in pairwise(self.parts):
            more = [*kept, *self.worth[begin:end]]
            if len(more) <= most_lines and len(longer := self._joined(more)) <= most_chars:
                kept, text = more, longer
        return text

    def _joined(self, lines: Sequence[int]) -> str:
        return "\n".join(self._numbered(sorted(lines)))

    def _numbered(self, shown: Sequence[int]) -> Iterator[str]:
        width = len(str(shown[-1]))
        before = shown[0] - 1
        for number in shown:
            if number == before + 2:  # one line is as long as the word that it is left out
                yield f"{number - 1:>{width}}  {self._line(number - 1)}".rstrip()
            elif number > before + 1:
                what = DOCUMENTED if self.documentation >= {*range(before + 1, number)} else ""
                yield f"{'':>{width}}  … {count(number - before - 1, 'line')}{what}"
            yield f"{number:>{width}}  {self._line(number)}".rstrip()
            before = number
        if self.end > before:
            yield f"{'':>{width}}  … {count(self.end - before, 'more line')}"

    def _line(self, number: int) -> str:
        """A very long one around its first match, where that is known."""
        line = self.file[number - 1].rstrip("\r")
        if len(line) <= LINE_CHARS:
            return line
        cut = self.cut.text.split("\n")
        at = number - self.cut.start_line
        return cut[at] if 0 <= at < len(cut) else line[: LINE_CHARS - len(ELLIPSIS)] + ELLIPSIS


NOTHING = Body((), (), 0)
"""Of a file that cannot be read."""


def lines_of(text: str) -> Iterator[tuple[int, str]]:
    """The lines of a body's text with their numbers; of what is left out the number is 0."""
    for row in text.split("\n") if text else ():
        number, _, line = row.lstrip(" ").partition("  ")
        yield (int(number), line) if number.isdecimal() else (0, row.strip())


def whole(symbols: Sequence[SymbolRow], start: int, end: int) -> tuple[int, int]:
    """The least definition around some lines, where it is short enough to be a place; else these lines."""
    around = [
        (symbol.end_line - symbol.start_line, symbol.start_line, symbol.end_line)
        for symbol in symbols
        if symbol.start_line <= start
        and end <= symbol.end_line < symbol.start_line + (WHOLE if symbol.kind in CALLABLE else LINES)
    ]
    return min(around)[1:] if around else (start, end)


def make_body(
    file: Sequence[str],
    symbols: Sequence[SymbolRow],
    start: int,
    end: int,
    others: Iterable[tuple[int, int]],
    snippet: Snippet,
    terms: Mapping[str, float] = MappingProxyType({}),
) -> Body:
    """Of the place ``start`` to ``end``: what it stands in, its own lines, those with which a longer definition ends,
    the file's ``others``, and all of that longer definition. Of a long place the ``snippet`` comes first."""
    last = min(end, len(file))
    first = snippet.start_line if last - start >= LINES and start <= snippet.start_line <= last else start
    longer = [symbol for symbol in symbols if symbol.start_line <= start and end <= symbol.end_line]
    within = max(longer, key=lambda symbol: symbol.start_line, default=None)
    told = documentation(file, range(start, last + 1))
    code = (number for number in range(first, last + 1) if number not in told)
    worth = [*_heads(longer), *code, *told, *range(start, first)]
    worth += _constants(file, symbols, range(start, last + 1))

    def there() -> list[int]:  # the file may have become shorter
        return [number for number in dict.fromkeys(worth) if number <= len(file)]

    ends = [len(there())]
    if within is not None and within.kind in CALLABLE:
        worth += _exits(file, range(within.start_line, min(within.end_line, len(file)) + 1))
        ends.append(len(there()))
        end = within.end_line
    best = list(others)
    beside = dict.fromkeys(best[OTHERS_FIRST:])
    if last - start < WHOLE:
        beside |= dict.fromkeys(_neighbours(file, symbols, range(start, last + 1)))
    for other_start, other_end in [*best[:OTHERS_FIRST], *_by_terms(file, beside, terms)]:
        around = [symbol for symbol in symbols if symbol.start_line <= other_start and other_end <= symbol.end_line]
        worth += [*_heads(around), *range(other_start, other_end + 1)]
        ends.append(len(there()))
    for outer in sorted(longer, key=lambda symbol: -symbol.start_line):
        worth += range(outer.start_line, outer.end_line + 1)
        ends.append(len(there()))
    return Body(file, there(), min(end, len(file)), snippet, ends)


def _by_terms(
    file: Sequence[str], spans: Iterable[tuple[int, int]], terms: Mapping[str, float]
) -> list[tuple[int, int]]:
    """The given parts of a file, those first that have most of a question's terms for their length."""

    def value(span: tuple[int, int]) -> float:
        text = "\n".join(file[span[0] - 1 : span[1]]).lower()
        found = sum(weight for term, weight in terms.items() if term in text)
        return found / math.sqrt(span[1] - span[0] + PART_LINES)

    return sorted(spans, key=value, reverse=True)


def documentation(file: Sequence[str], lines: range) -> range:
    """The lines of a definition that document it, but for their first paragraph: those of a docstring, or of the
    comment that it begins with. Where code is asked for, what is done tells more than how it is to be called."""
    begin = next((number for number in lines[:DOCSTRING_WITHIN] if file[number - 1].strip()), lines.stop)
    comment = file[begin - 1].lstrip()[:3] if begin < lines.stop else ""
    if comment[:2] == "/*":
        end = next((number for number in range(begin, lines.stop) if "*/" in file[number - 1]), 0)
    elif comment[:2] == "//":
        end = next((number for number in range(begin, lines.stop) if file[number - 1].lstrip()[:2] != "//"), 1) - 1
    else:
        begin, end = _docstring(file, lines)
    first = next((number for number in range(begin + 1, end) if _PARAGRAPH.match(file[number - 1])), end + 1)
    return range(first, end + 1) if end + 1 - first >= FOLDED else range(0)


def _docstring(file: Sequence[str], lines: range) -> tuple[int, int]:
    """The first and last line of the docstring of a definition or a file; (0, 0) without one of several lines."""
    at_top, signed = lines.start == 1, False
    for begin in lines[:DOCSTRING_WITHIN]:
        line = file[begin - 1]
        if not line.strip():
            continue
        if (at_top or signed) and (found := _DOCSTRING.match(line)):
            mark = found[1]
            ends = (number for number in range(begin + 1, lines.stop) if mark in file[number - 1])
            return (0, 0) if mark in line[found.end() :] else (begin, next(ends, 0))
        if signed:  # a string further down is none, and its end is like a beginning
            break
        at_top, signed = False, _SIGNATURE_END.search(line) is not None
    return 0, 0


def definition_body(file: Sequence[str], symbols: Sequence[SymbolRow], hit: SymbolHit) -> Body:
    """Of a definition that was asked for by name its lines and the constants that it names; of lines just these."""
    lines = range(hit.start_line, min(hit.end_line, len(file)) + 1)
    if hit.kind == LINES_KIND:
        return Body(file, lines, hit.end_line)
    told = _documentation(file, symbols)
    code = (number for number in lines if number not in told)
    worth = list(dict.fromkeys((*code, *_constants(file, symbols, lines))))
    return Body(file, worth, hit.end_line, documentation=told)


def _documentation(file: Sequence[str], symbols: Sequence[SymbolRow]) -> set[int]:
    """The lines that document the definitions of a file."""
    spans = (range(symbol.start_line, min(symbol.end_line, len(file)) + 1) for symbol in symbols)
    return {number for span in spans for number in documentation(file, span)}


def _constants(file: Sequence[str], symbols: Sequence[SymbolRow], lines: range) -> list[int]:
    """The lines of the file's short constants that some lines name: without its value a name tells little."""
    names = {name for number in lines for name in _WORD.findall(file[number - 1])}
    found = [
        range(symbol.start_line, min(symbol.end_line, len(file)) + 1)
        for symbol in symbols
        if (symbol.kind == "constant" or (symbol.kind == "variable" and not symbol.scope))
        and symbol.name in names
        and symbol.start_line not in lines
        and symbol.end_line - symbol.start_line < CONSTANT_LINES
    ]
    return [number for each in found[:CONSTANTS] for number in each]


def _neighbours(file: Sequence[str], symbols: Sequence[SymbolRow], lines: range) -> list[tuple[int, int]]:
    """Functions of the file that some of its lines call, and those that call what is defined there, by their names."""
    functions = [
        symbol
        for symbol in symbols
        if symbol.kind in CALLABLE
        and len(symbol.name) >= NAME_CHARS
        and symbol.end_line - symbol.start_line < WHOLE
        and symbol.end_line <= len(file)
    ]
    own = [re.escape(symbol.name) for symbol in functions if symbol.name_line in lines]
    words = (name for number in lines for name in _WORD.findall(file[number - 1]))
    order = {name: at for at, name in enumerate(dict.fromkeys(words))}
    beside = [symbol for symbol in functions if symbol.end_line < lines.start or symbol.start_line >= lines.stop]
    called = sorted((each for each in beside if each.name in order), key=lambda each: order[each.name])
    uses = _lines_with(own, file, lines) if own else ()
    found = dict.fromkeys((each.start_line, each.end_line) for each in called[:NEIGHBOURS])
    callers: dict[tuple[int, int], None] = {}
    beside.sort(key=lambda symbol: symbol.name_line)
    for number in uses:
        if len(callers) == NEIGHBOURS:
            break
        before = bisect_left(beside, number, key=lambda symbol: symbol.name_line)
        around = (each for each in reversed(beside[max(0, before - WHOLE) : before]) if number <= each.end_line)
        callers |= {(each.start_line, each.end_line): None for each in islice(around, 1)}
    return [*(found | callers)]


def _lines_with(names: Iterable[str], file: Sequence[str], but: range) -> Iterator[int]:
    """Lines that have one of some names, which are patterns, as a word."""
    a_name = re.compile(rf"(?<!\w)(?:{'|'.join(names)})(?!\w)")
    return (number for number, line in enumerate(file, 1) if number not in but and a_name.search(line))


def _exits(file: Sequence[str], lines: range) -> list[int]:
    """The last lines that say what becomes of a definition, each with the line that it depends on."""
    exits = [number for number in lines if _EXIT.match(file[number - 1])][-EXITS:]
    return sorted({line for number in exits for line in (_opener(file, lines.start, number), number)})


def _opener(file: Sequence[str], first: int, number: int) -> int:
    """The line that a line stands below, by their indentation."""
    depth = _indent(file[number - 1])
    above = (at for at in range(number - 1, first, -1) if file[at - 1].strip() and _indent(file[at - 1]) < depth)
    return next(above, number)


def _indent(line: str) -> int:
    return len(line) - len(line.lstrip())


def _heads(around: Iterable[SymbolRow]) -> Iterator[int]:
    for symbol in around:
        yield from islice(range(symbol.start_line, symbol.name_line + 1), HEAD_LINES)
