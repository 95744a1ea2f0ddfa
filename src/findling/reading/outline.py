"""Finds the outline of a document: its headings, and the spans that are better not cut.

Knows the syntax of each prose format, and nothing of chunks. Text that is not well-formed is prose, never an error.
"""

from __future__ import annotations

import re
from bisect import bisect_right
from collections.abc import Callable, Iterator
from html import unescape

from msgspec import Struct

from findling.model import format_names as places
from findling.reading.spans import Closings

TITLE_CHARS = 200
"""Longer titles are cut."""

SETEXT_LINES = 3
"""A paragraph above an underline is a heading if it has no more lines than this, else prose above a rule."""


class Mark(Struct, frozen=True):
    """A heading. ``start`` to ``end`` are the characters of its line or lines, without the line end."""

    level: int
    title: str
    start: int
    end: int


class Outline(Struct, frozen=True):
    """Headings in order, and disjoint character spans in order (fences, comments, front matter, tables…)."""

    marks: tuple[Mark, ...] = ()
    protected: tuple[tuple[int, int], ...] = ()

    def covering(self, at: int) -> int:
        """The end of the protected span around ``at``, -1 for none."""
        i = bisect_right(self.protected, at, key=lambda span: span[0]) - 1
        return self.protected[i][1] if i >= 0 and self.protected[i][1] > at else -1


def outline(text: str, language: str = "markdown") -> Outline:
    """The outline of ``text`` by the rules of ``language`` (an id of the language table); unknown ones are prose."""
    return _READERS.get(language, _text)(text)


def _title(text: str) -> str:
    folded = " ".join(text.split())
    return folded if len(folded) <= TITLE_CHARS else folded[: TITLE_CHARS - 3] + "..."


# --- converted documents --------------------------------------------------------------------------------------

PLACE_LEVEL = 0
"""The level of a page, above every heading: a new page ends the headings of the one before."""


def _places(text: str) -> Outline:
    """The marks where pages, slides and the like begin (`format_names`)."""
    marks = [Mark(PLACE_LEVEL, _title(found[1]), found.start(), found.end()) for found in places.LINE.finditer(text)]
    return Outline(tuple(marks))


def _converted(text: str) -> Outline:
    """The marks of pages and the like, and headings as in Markdown."""
    inner = _markdown(text)
    marks = sorted((*_places(text).marks, *inner.marks), key=lambda mark: mark.start)
    return Outline(tuple(marks), inner.protected)


# --- Markdown -------------------------------------------------------------------------------------------------

_FRONT_MATTER = re.compile(r"(---|\+\+\+)[ \t]*\r?\n(?=[^\n]*[:=])(?:[^\n]*\n)*?(?:\1|\.\.\.)[ \t]*(?:\r?\n|\Z)")
_FRONT_MATTER_CHARS = 20_000
"""Front matter must end within this much text; otherwise the first line is a rule."""

_MARKDOWN = re.compile(
    r"^(?:[ \t>]*+(?:(?:[-*+]|\d{1,9}[.)])[ \t]++)?(?P<fence>`{3,}+(?=[^`\n]*$)|~{3,}+)[^\n]*"
    r"|\ {0,3}(?P<atx>\#{1,6})(?:[ \t]+(?P<title>[^\n]*))?[ \t]*\r?$"
    r"|\ {0,3}(?P<under>=+|-+)[ \t]*\r?$"
    r"|\ {0,3}<(?P<raw>pre|script|style|textarea)\b[^\n]*"
    r")"
    r"|(?P<comment><!--)",
    re.MULTILINE | re.IGNORECASE,
)
_CLOSING_HASHES = re.compile(r"(?:^|[ \t]+)#+[ \t]*$")
_NOT_PARAGRAPH = re.compile(
    r"\s*$|\s{4}|\t| {0,3}(?:#{1,6}\s|>|[-*+]\s|\d{1,9}[.)]\s|`{3}|~{3}|\||<[/!a-zA-Z]|(?:=++|[-*_ \t]++)\r?$)"
)
_LINKED = re.compile(r"!?\[([^\]\n]*)\](?:\([^)\n]*\)|\[[^\]\n]*\])")
_ANCHOR = re.compile(
    r"\s*\{\s*[#.:][^}\n]*\}\s*$"
    r"|</?(?:a|abbr|b|big|br|center|code|del|div|em|font|h[1-6]|hr|i|img|ins|kbd|mark|p|picture|s|samp|small|source|span"
    r"|strike|strong|sub|sup|tt|u|var)(?:[\s/][^<>\n]{0,200})?>"
    r"|<[A-Za-z][\w.:-]{0,40}\s[^<>=\n]{0,100}=[^<>\n]{0,200}>|<[A-Z][\w.]{0,40}\s?/>|<!--[^<>\n]{0,200}-->"
)
"""Parts of a heading that are not its words: anchors, HTML tags, components; but not ``Vec<T>`` or ``<path>``."""


def _markdown(text: str) -> Outline:
    marks: list[Mark] = []
    protected: list[tuple[int, int]] = []
    at = 0
    closings = Closings(text)
    front = _FRONT_MATTER.match(text, 0, _FRONT_MATTER_CHARS)
    if front:
        protected.append(front.span())
        at = front.end()
    while (found := _MARKDOWN.search(text, at)) is not None:
        at = max(found.end(), at + 1)
        if found["fence"]:
            end = _fence_end(closings, found)
            if end > 0:
                protected.append((_line_start(text, found.start()), end))
                at = end
        elif found["comment"]:
            end = -1 if _in_code_span(text, found.start()) else closings.after("-->", at)
            if end > 0:
                protected.append((found.start(), end))
                at = end
        elif found["raw"]:
            end = closings.after(f"</{found['raw'].lower()}\\s*>", found.start())
            if end > 0:
                protected.append((found.start(), end))
                at = max(at, end)
        elif found["atx"]:
            title = _CLOSING_HASHES.sub("", found["title"] or "")
            end = found.end() - found[0].endswith("\r")
            marks.append(Mark(len(found["atx"]), _plain(title), found.start(), end))
        else:
            floor = marks[-1].end if marks else 0
            floor = max(floor, protected[-1][1] if protected else 0)
            start = _setext_start(text, found.start(), floor)
            if start >= 0:
                end = found.end() - found[0].endswith("\r")
                level = 1 if found["under"][0] == "=" else 2
                marks.append(Mark(level, _plain(text[start : found.start()]), start, end))
    return Outline(tuple(marks), tuple(protected))


def _plain(title: str) -> str:
    """A heading's words: links become their text, anchors and tags are left out."""
    parts = _LINKED.sub(r"\1", title).split("`")
    code = range(1, len(parts) - 1, 2)
    plain = "".join(part if place in code else _ANCHOR.sub("", part) for place, part in enumerate(parts))
    return _title(unescape(plain).strip("* _"))


def _fence_end(closings: Closings, opening: re.Match[str]) -> int:
    """Where a fence ends: at the end of the text when it stays open at the left margin; -1 for no fence."""
    mark = opening["fence"][:_MAX_FENCE]
    end = closings.after(rf"^[ \t>]*+{mark[0]}{{{len(mark)},}}[ \t]*\r?$", opening.end())
    if end < 0 and opening.start("fence") - opening.start() <= 3:
        return len(closings.text)
    return end


_MAX_FENCE = 64
"""Longer fences count as this long, which bounds the number of different closing lines."""


def _in_code_span(text: str, at: int) -> bool:
    return text.count("`", max(text.rfind("\n", max(at - _SPAN_CHARS, 0), at), at - _SPAN_CHARS, 0), at) % 2 == 1


_SPAN_CHARS = 1000
"""How far back on its line a place is searched for the beginning of inline code."""


def _line_start(text: str, at: int) -> int:
    return text.rfind("\n", 0, at) + 1


def _setext_start(text: str, under: int, floor: int) -> int:
    """Where the paragraph begins that the underline at ``under`` makes a heading, -1 for none."""
    start = under
    for _ in range(SETEXT_LINES + 1):
        above = _line_start(text, start - 1) if start else 0
        if start <= floor or above < floor:
            break
        line = text[above : start - 1]
        if _CONTINUES.match(line):
            return -1
        if _NOT_PARAGRAPH.match(line):
            break
        start = above
    else:
        return -1
    return start if start < under else -1


_CONTINUES = re.compile(r" {0,3}(?:>|[-*+]\s|\d{1,9}[.)]\s|\|)")
"""Lines that the next line may continue, so that it begins no paragraph of its own."""


# --- titles marked by the line below (reStructuredText, plain text) -----------------------------------------------

_ADORNMENT = re.compile(r"^([!-/:-@\[-`{-~])\1{2,}[ \t]*\r?$", re.MULTILINE)


def _underlined(text: str, *, marks_allowed: str = "", exact: bool = False) -> Iterator[tuple[str, str, int, int]]:
    """(style, title, start, end) of titles with a line of punctuation below, and perhaps one above.

    ``exact``: the line below is about as long as the title, as people write it without a format that demands it.
    """
    consumed = 0
    for found in _ADORNMENT.finditer(text):
        if found.start() < consumed or (marks_allowed and found[1] not in marks_allowed):
            continue
        above = _line_start(text, found.start() - 1) if found.start() else 0
        title = text[above : max(found.start() - 1, above)]
        body = title.strip()
        if above < consumed or not body or _ADORNMENT.match(title) or found.start() == 0:
            continue
        width = len(found[0].strip())
        if width < len(body) * 0.6 or (exact and abs(width - len(body)) > 3):
            continue
        before = _line_start(text, above - 1) if above else 0
        over = text[before : max(above - 1, before)].strip() if above else ""
        overlined = over == found[0].strip() and before >= consumed
        if over and not overlined:
            continue
        if title[:1].isspace() and not overlined:
            continue
        consumed = found.end()
        end = found.end() - found[0].endswith("\r")
        yield found[1] * (1 + overlined), _title(body), before if overlined else above, end


def _rst(text: str) -> Outline:
    styles: list[str] = []
    marks: list[Mark] = []
    for style, title, start, end in _underlined(text):
        if style not in styles:
            styles.append(style)
        marks.append(Mark(min(styles.index(style) + 1, 6), title, start, end))
    return Outline(tuple(marks), ())


_VERSION = re.compile(
    r"^(?:(?:version|release|changes in|what's new in)[ \t]+)?\[?v?\d+\.\d+(?:\.\d+)*[\w.+-]*\]?:?"
    r"(?:[ \t]*[-–(,:][^\n]{0,60})?\r?$|^(?:version|release)[ \t]+v?\d[\w.]*[^\n]{0,40}$",
    re.MULTILINE | re.IGNORECASE,
)
_CAPITALS = re.compile(r"(?:(?<=\n\n)|(?<=\n\r\n)|\A)([A-Z][A-Z0-9 /&-]{2,60})\r?\n(?=[ \t]+\S|\r?\n[ \t]+\S)")


def _text(text: str) -> Outline:
    """Plain text: underlined titles, version lines of change logs, capital titles of formatted manual pages."""
    marks = [
        Mark(1 if style[0] == "=" else 2, title, start, end)
        for style, title, start, end in _underlined(text, marks_allowed="=-~*", exact=True)
    ]
    for found in _VERSION.finditer(text):
        above = text[_line_start(text, found.start() - 1) : found.start()] if found.start() else ""
        if not above.strip():
            marks.append(Mark(2, _title(found[0]), found.start(), found.end() - found[0].endswith("\r")))
    marks += [Mark(1, _title(found[1]), found.start(1), found.end(1)) for found in _CAPITALS.finditer(text)]
    marks.sort(key=lambda mark: mark.start)
    disjoint = [m for i, m in enumerate(marks) if i == 0 or m.start >= marks[i - 1].end]
    return Outline(tuple(disjoint), ())


# --- formats with a mark at the line's beginning -----------------------------------------------------------------

_ASCIIDOC_BLOCK = re.compile(r"^(-{4,}|\.{4,}|\+{4,}|/{4,}|={4,}|\*{4,}|_{4,}|\|===)[ \t]*\r?$", re.MULTILINE)
_ASCIIDOC_TITLE = re.compile(r"^(={1,6}|#{1,6})[ \t]+(\S[^\n]*)$", re.MULTILINE)
_ORG_BLOCK = re.compile(r"^[ \t]*#\+begin_(\w+)[^\n]*$", re.MULTILINE | re.IGNORECASE)
_ORG_TITLE = re.compile(r"^(\*+)[ \t]+(?:(?:TODO|DONE|NEXT|WAITING)[ \t]+)?(?:\[#\w\][ \t]*)?(\S[^\n]*)$", re.MULTILINE)
_ORG_TAGS = re.compile(r"[ \t]+:[\w@#%:]+:[ \t]*$")
_LATEX_BLOCK = re.compile(
    r"\\begin\{(verbatim|lstlisting|minted|equation|align|tabular|table|figure|comment|tikzpicture)(\*?)\}"
)
_LATEX_COMMANDS = ("part", "chapter", "section", "subsection", "subsubsection", "paragraph")
_LATEX_TITLE = re.compile(
    rf"^[ \t]*\\({'|'.join(_LATEX_COMMANDS)})\*?[ \t]*(?:\[[^\]\n]*\])?"
    r"\{((?:[^{}]|\{(?:[^{}]|\{[^{}]*\})*\})*)\}",
    re.MULTILINE,
)
_LATEX_NOISE = re.compile(r"\\[a-zA-Z]+\*?|[{}~$]")
_MAN_TITLE = re.compile(r"^\.(SH|SS|Sh|Ss)[ \t]+([^\n]+)$", re.MULTILINE)
_WIKI_TITLE = re.compile(r"^(={1,6})[ \t]*([^=\n][^\n]*?)[ \t]*={1,6}[ \t]*\r?$", re.MULTILINE)
_EQUALS_TITLE = re.compile(r"^(={1,6})[ \t]+(\S[^\n]*)$", re.MULTILINE)
_TEXTILE_TITLE = re.compile(r"^h([1-6])(?:\([^)\n]*\))?\.[ \t]+(\S[^\n]*)$", re.MULTILINE)
_TEXINFO_TITLE = re.compile(
    r"^@(?:unnumbered|appendix)?(chapter|(?:sub){0,2}section|(?:sub){0,2}sec)?[ \t]+(\S[^\n]*)$", re.MULTILINE
)


def _by_pattern(
    text: str,
    pattern: re.Pattern[str],
    level: Callable[[str], int],
    protected: tuple[tuple[int, int], ...] = (),
    clean: Callable[[str], str] = str,
) -> Outline:
    """Headings that ``pattern`` finds outside the protected spans. Group 1 tells the level, group 2 is the title."""
    shell = Outline((), protected)
    marks: list[Mark] = []
    for found in pattern.finditer(text):
        if shell.covering(found.start()) < 0:
            title = _title(clean(found[2] or ""))
            end = found.end() - found[0].endswith("\r")
            marks.append(Mark(level(found[1] or ""), title, found.start(), end))
    return Outline(tuple(marks), protected)


def _blocks(
    text: str, opening: re.Pattern[str], closing: Callable[[re.Match[str]], str]
) -> tuple[tuple[int, int], ...]:
    """The spans from ``opening`` to what matches ``closing``. One that is never closed is no span."""
    spans: list[tuple[int, int]] = []
    closings = Closings(text)
    at = 0
    while (found := opening.search(text, at)) is not None:
        at = found.end()
        end = closings.after(closing(found), at)
        if end > 0:
            spans.append((found.start(), end))
            at = end
    return tuple(spans)


def _asciidoc(text: str) -> Outline:
    spans = _blocks(text, _ASCIIDOC_BLOCK, lambda found: rf"^{re.escape(found[1][:_MAX_FENCE])}[ \t]*\r?$")
    return _by_pattern(text, _ASCIIDOC_TITLE, len, spans)


def _org(text: str) -> Outline:
    spans = _blocks(text, _ORG_BLOCK, lambda found: rf"^[ \t]*#\+end_{re.escape(found[1])}[ \t]*\r?$")
    return _by_pattern(text, _ORG_TITLE, len, spans, lambda title: _ORG_TAGS.sub("", title))


def _latex(text: str) -> Outline:
    spans = _blocks(text, _LATEX_BLOCK, lambda found: rf"\\end\{{{found[1]}{re.escape(found[2])}\}}")
    used = {found[1] for found in _LATEX_TITLE.finditer(text)}
    ranks = {name: rank for rank, name in enumerate((n for n in _LATEX_COMMANDS if n in used), 1)}
    return _by_pattern(text, _LATEX_TITLE, ranks.__getitem__, spans, lambda title: _LATEX_NOISE.sub(" ", title))


def _man(text: str) -> Outline:
    return _by_pattern(text, _MAN_TITLE, lambda name: 1 if name[1] in "Hh" else 2, (), lambda t: t.strip().strip('"'))


def _mediawiki(text: str) -> Outline:
    return _by_pattern(text, _WIKI_TITLE, len)


def _equals(text: str) -> Outline:
    return _by_pattern(text, _EQUALS_TITLE, len, (), lambda title: title.rstrip("= \t\r"))


def _textile(text: str) -> Outline:
    return _by_pattern(text, _TEXTILE_TITLE, int)


def _texinfo(text: str) -> Outline:
    return _by_pattern(text, _TEXINFO_TITLE, lambda name: 1 + name.count("sub") + ("sec" in name))


# --- HTML ----------------------------------------------------------------------------------------------------------

_HTML_PROTECTED = re.compile(r"<!--|<(script|style|pre|textarea)\b", re.IGNORECASE)
_HTML_TITLE = re.compile(r"<h([1-6])\b[^>]{0,500}>((?:[^<]++|<(?!/?h[1-6]\b))*+)</h\1\s*>", re.IGNORECASE)
_TAG = re.compile(r"<[^<>]*>")


def _html(text: str) -> Outline:
    spans = _blocks(text, _HTML_PROTECTED, lambda found: rf"</{found[1].lower()}\s*>" if found[1] else "-->")
    return _by_pattern(text, _HTML_TITLE, int, spans, lambda title: unescape(_TAG.sub(" ", title)))


_READERS: dict[str, Callable[[str], Outline]] = {
    "markdown": _markdown,
    "converted": _converted,
    "converted-plain": _places,
    "djot": _markdown,
    "rst": _rst,
    "text": _text,
    "asciidoc": _asciidoc,
    "org": _org,
    "latex": _latex,
    "man": _man,
    "html": _html,
    "mediawiki": _mediawiki,
    "creole": _equals,
    "rdoc": _equals,
    "typst": _equals,
    "textile": _textile,
    "texinfo": _texinfo,
}
