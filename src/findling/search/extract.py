"""An answer in the documents' own words: the paragraphs, list items and lines of code that say it. Pure.

Out of the passages that were found, the best group (a paragraph with what it introduces) leads; others follow where
they are nearly as good and say something new. Nothing is rephrased: white space is folded in prose, and what is cut
ends in ``...`` between words.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Iterable, Mapping, Sequence
from functools import cached_property
from itertools import pairwise
from textwrap import dedent

from msgspec import Struct
from msgspec.structs import replace

from findling.model import tokenizer
from findling.search.readings import Shares

EXTRACT_CHARS = 1_200
"""An answer is at most this long."""

FIRST_CHARS = 700
"""The leading excerpt: room for a paragraph and the list or code that it introduces."""

FURTHER_CHARS = 360
"""Each other excerpt, for a paragraph or some items."""

MAX_EXCERPTS = 4

NEXT_LINES = 2
"""Between the end of an excerpt and the beginning of the next when only an empty line lies between."""

NEARLY_AS_GOOD = 0.75
"""Of the best group's score: below this another passage is beside the point more often than not."""

MOSTLY_SAID = 0.6
"""A group of whose words so many stand in the answer already adds nothing."""

LEAST_CHARS = 220
"""Room for which another excerpt is worth while."""

MEANING_WEIGHT = 0.6
"""What a group's meaning is worth beside its words and the passage that it stands in, as 1 each. The passage was found
with its context and its file; the words say which part of it."""

ROW_WEIGHT = 0.2
"""What a table is worth beside that, where one row, read with the table's first, holds the whole question: a row says
in few words what a paragraph mentions."""

NEARLY_ALL, WHOLE_ROW_WEIGHT = 0.7, 0.6
"""And where the row holds so much of what any group holds of the question: it is the answer, and the others speak of
it."""

CUT = "..."

MOSTLY_LINKS = 0.4
"""A paragraph of which so much is links leads elsewhere; it is worth half."""

_BLOCKS = frozenset(("list", "table", "indented", "protected"))
"""What a paragraph that ends in a colon introduces."""

_CODE = frozenset(("indented", "protected"))
"""What belongs to the paragraph above it in any case."""

CODE_ALONE = 0.7
"""What code is worth without a word of prose."""

MOSTLY_WORDS = 0.5
"""Of a group's words so many must be words, else it is a table of numbers or what a program printed, worth half."""

_JUNK_LINE = re.compile(
    r"\s*(?:"
    r"\[[^\]\n]+\]:\s*\S+.*"  # where a link leads
    r"|(?:\[?!\[[^\]\n]*\]\([^)\n]*\)(?:\]\([^)\n]*\))?\s*)+"  # images, badges
    r"|\.\.\s+(?:_[^:\n]+:|toctree::|contents::|image::|figure::|module::|currentmodule::|highlight::|index::).*"
    r"|:(?:maxdepth|caption|hidden|glob|local|depth|alt|width|align|target|class|name|linenos|emphasize-lines):.*"
    r"|\{\*.*\*\}|\{%.*%\}|\{\{.*\}\}"  # includes and templates
    r"|/{3,}(?:\s+\w[^\n]*)?|:{3,}\w*.*|!{3}\s+\w+.*|={3,}\s+\"[^\"]*\"\s*"  # admonitions, tabs
    r"|(?:</?[a-zA-Z][^>\n]*>\s*)+|<!--.*-->"  # markup alone
    r"|(?:[-=*_~^#+.`:]\s?){3,}|import\s.+\sfrom\s.+;?"  # rules, module imports of MDX
    r")\s*"
)
_FENCE = re.compile(r"[ \t>]*(?:`{3,}|~{3,})[^\n]*")
_DRAWING = re.compile(r"[ \t>]*[`~]{3,}[ \t]*\{?\.?(?:mermaid|plantuml|puml|dot|graphviz|d2|svg|math)\b", re.IGNORECASE)
_COMMENT = re.compile(r"<!--.*?-->", re.DOTALL)
_TAG = re.compile(
    r"</?(?:a|abbr|b|br|center|code|details|div|dd|dl|dt|em|font|h[1-6]|i|img|kbd|li|ol|p|picture|pre|small|source|span|"
    r"strong|sub|summary|sup|table|tbody|td|th|thead|tr|u|ul|video)(?:\s[^<>\n]{0,300})?/?>",
    re.IGNORECASE,
)
_CODE_SPAN = re.compile(r"(`+[^`]*`+)")
_QUOTE = re.compile(r"^[ \t]*>+[ \t]?(?:\[!\w+\][ \t]*)?", re.MULTILINE)
_LINK = re.compile(r"!?\[[^\]\n]*\]\([^)\n]*\)|<https?://[^>\s]+>|https?://\S+")
_ITEM = re.compile(r"^[ \t]*(?:[-*+•]|\d{1,9}[.)]|[a-z][.)])[ \t]+", re.MULTILINE)
_SENTENCE_END = re.compile(
    r"(?<!\be\.g\.)(?<!\bi\.e\.)(?<!\bcf\.)(?<!\bvs\.)(?<!\betc\.)(?<=[.!?…])[)\"'\]»”’*_`]*\s+(?=[^\sa-z])"
    r"|(?<=[。！？；])"
)


class Paragraph(Struct, frozen=True):
    """A piece of a document between blank lines, and where. ``kind``: prose, list, table, indented, protected, html.

    ``start_line`` and ``end_line`` are the file's, 1-based and inclusive.
    """

    kind: str
    text: str
    start_line: int
    end_line: int


class Group(Struct, frozen=True, dict=True):
    """A paragraph with what it introduces, cleaned of markup that says nothing. ``parts`` is never empty."""

    parts: tuple[Paragraph, ...]

    @property
    def start_line(self) -> int:
        return self.parts[0].start_line

    @property
    def end_line(self) -> int:
        return self.parts[-1].end_line

    @cached_property
    def text(self) -> str:
        return "\n".join(part.text for part in self.parts)

    @cached_property
    def words(self) -> list[str]:
        return tokenizer.words(self.text)

    @property
    def worth(self) -> float:
        """Less than 1 for what mostly leads elsewhere, for code alone and for numbers."""
        links = sum(len(found[0]) for found in _LINK.finditer(self.text))
        spelled = sum(not any(char.isdigit() for char in word) for word in self.words)
        worth = CODE_ALONE if self.parts[0].kind in _CODE else 1.0
        if links > MOSTLY_LINKS * len(self.text) or spelled < MOSTLY_WORDS * len(self.words):
            worth /= 2
        return worth


class PassageText(Struct, frozen=True):
    """A passage that was found, in whole paragraphs. ``value``: what speaks for it, higher is better."""

    path: str
    headings: tuple[str, ...]
    value: float
    paragraphs: tuple[Paragraph, ...]


class Excerpt(Struct, frozen=True):
    """A piece of the answer and where it stands; ``score`` orders the excerpts."""

    path: str
    header: str
    start_line: int
    end_line: int
    text: str
    score: float


class _Candidate(Struct, frozen=True):
    passage: PassageText
    group: Group
    place: tuple[int, int]
    score: float
    terms: frozenset[str]


def extract(
    weights: Mapping[str, float],
    said: Shares,
    passages: Sequence[PassageText],
    closeness: Callable[[Sequence[str]], Sequence[float]] | None = None,
) -> tuple[Excerpt, ...]:
    """The excerpts of an answer; their texts with an empty line between are at most `EXTRACT_CHARS`.

    The best leads; the others follow as they stand in their documents, that of the best first.
    ``weights``: the question's terms (`tokenizer.terms`) and how much each says; ``said``: how much of the question
    texts say. ``closeness`` gives texts' cosines with the question, where that is possible.
    """
    candidates = _candidates(said, passages, closeness)
    if not candidates:
        return ()
    best = max(candidates, key=lambda item: (item.score, [-n for n in item.place]))
    excerpts: list[Excerpt] = []
    shown: set[str] = set()
    room = EXTRACT_CHARS
    for item in sorted(candidates, key=lambda item: (-item.score, item.place)):
        if len(excerpts) >= MAX_EXCERPTS or item.score < best.score * NEARLY_AS_GOOD or room <= LEAST_CHARS:
            break
        if _is_said(item, shown):
            continue
        text, start, end = trimmed(item.group, weights, min(room, FURTHER_CHARS if excerpts else FIRST_CHARS))
        if text:
            shown.update(item.terms)
            header = item.passage.headings[-1] if item.passage.headings else ""
            excerpts.append(Excerpt(item.passage.path, header, start, end, text, item.score))
            room -= len(text) + 2
    paths = list(dict.fromkeys(excerpt.path for excerpt in excerpts))
    further = sorted(excerpts[1:], key=lambda excerpt: (paths.index(excerpt.path), excerpt.start_line))
    return _joined([*excerpts[:1], *further])


def _joined(excerpts: Sequence[Excerpt]) -> tuple[Excerpt, ...]:
    """Excerpts that follow each other in a document are one."""
    found: list[Excerpt] = []
    for excerpt in excerpts:
        before = found[-1] if found else None
        if (
            before is not None
            and before.path == excerpt.path
            and 0 < excerpt.start_line - before.end_line <= NEXT_LINES
        ):
            found[-1] = replace(before, end_line=excerpt.end_line, text=f"{before.text}\n\n{excerpt.text}")
        else:
            found.append(excerpt)
    return tuple(found)


def _groups(passages: Sequence[PassageText]) -> list[tuple[PassageText, Group, tuple[int, int]]]:
    """The groups, each once, with the passage that they stand in and their place."""
    found: list[tuple[PassageText, Group, tuple[int, int]]] = []
    seen: set[tuple[str, int]] = set()
    for rank, passage in enumerate(passages):
        for number, group in enumerate(groups_of(passage.paragraphs)):
            at = (passage.path, group.start_line)
            if at not in seen:
                seen.add(at)
                found.append((passage, group, (rank, number)))
    return found


def _candidates(
    said: Shares,
    passages: Sequence[PassageText],
    closeness: Callable[[Sequence[str]], Sequence[float]] | None,
) -> list[_Candidate]:
    found = _groups(passages)
    if not found:
        return []
    highest = max(passage.value for passage, _, _ in found) or 1.0
    cosines = closeness([group.text for _, group, _ in found]) if closeness is not None else [0.0] * len(found)
    nearest = max(0.0, *cosines) or 1.0
    shares = said([[*tokenizer.words(" ".join(passage.headings)), *group.words] for passage, group, _ in found])
    rows = [max(said(words), default=0.0) if (words := _rows(group)) else 0.0 for _, group, _ in found]
    candidates = []
    for (passage, group, place), cosine, share, row in zip(found, cosines, shares, rows, strict=True):
        row *= ROW_WEIGHT if row < NEARLY_ALL * max(shares) else WHOLE_ROW_WEIGHT
        score = share + row + MEANING_WEIGHT * max(0.0, cosine) / nearest + passage.value / highest
        candidates.append(
            _Candidate(passage, group, place, score * group.worth, frozenset(tokenizer.terms(group.text)))
        )
    return candidates


def _rows(group: Group) -> list[list[str]]:
    """The words of each row of the group's tables, with those of the table's first row."""
    found = []
    for part in group.parts:
        if part.kind == "table":
            first, *rows = map(tokenizer.words, part.text.split("\n"))
            found += [[*first, *row] for row in rows]
    return found


def _is_said(item: _Candidate, said: set[str]) -> bool:
    return bool(item.terms) and len(item.terms & said) / len(item.terms) > MOSTLY_SAID


# --- groups ---


def groups_of(paragraphs: Iterable[Paragraph]) -> list[Group]:
    """The groups of a passage in order; what is only markup is left out."""
    kept = [clean for paragraph in paragraphs if (clean := _clean(paragraph)) is not None]
    groups: list[list[Paragraph]] = []
    for paragraph in kept:
        before = groups[-1][-1] if groups else None
        follows = before is not None and before.kind == "prose" and paragraph.kind in _BLOCKS
        if before is not None and follows and (paragraph.kind in _CODE or before.text.rstrip("*_` )").endswith(":")):
            groups[-1].append(paragraph)
        else:
            groups.append([paragraph])
    return [Group(tuple(parts)) for parts in groups]


_HTML_ROW = re.compile(r"<tr\b[^<>]{0,300}>", re.IGNORECASE)
_HTML_CELL = re.compile(r"<t[dh]\b[^<>]{0,300}>", re.IGNORECASE)
_ASCIIDOC_TABLE = re.compile(r"[ \t]*\|===[ \t]*\r?\n(.*?)\r?\n?(?:[ \t]*\|===[ \t]*)?\r?\Z", re.DOTALL)


def _as_table(paragraph: Paragraph) -> Paragraph:
    """The paragraph with its table as lines of cells between bars, if it is a table of a web page, AsciiDoc or a sheet;
    else the paragraph as it is."""
    kind, text = paragraph.kind, paragraph.text
    if kind == "html" and _HTML_ROW.search(text):
        before, *rows = (
            " ".join(_TAG.sub(" ", "| ".join(_HTML_CELL.split(row))).split()) for row in _HTML_ROW.split(text)
        )
        text = "\n".join(filter(None, (before, *rows)))
    elif kind == "protected" and (found := _ASCIIDOC_TABLE.fullmatch(text)):
        text = found[1]
    elif kind != "prose" or not all(" | " in line for line in text.split("\n")):
        return paragraph
    return replace(paragraph, kind="table", text=text)


def _clean(paragraph: Paragraph) -> Paragraph | None:
    paragraph = _as_table(paragraph)
    text = paragraph.text
    if paragraph.kind == "protected" and (not _FENCE.match(text) or _DRAWING.match(text)):  # or a comment, raw markup
        return None
    code = paragraph.kind in ("protected", "indented")
    lines = text.split("\n")
    if not code:
        lines = _COMMENT.sub("", text).split("\n")
        lines = [line for line in lines if not _JUNK_LINE.fullmatch(line)]
    text = "\n".join(line.rstrip() for line in lines).strip("\n")
    if paragraph.kind == "html":
        text = " ".join(_TAG.sub(" ", text).split())
    elif paragraph.kind == "prose":
        text = " ".join(_plain_prose(text).split())
    elif paragraph.kind == "indented":
        text = dedent(text)
    if not any(char.isalnum() for char in text):
        return None
    return Paragraph(paragraph.kind, text, paragraph.start_line, paragraph.end_line)


def _plain_prose(text: str) -> str:
    """Without the marks of a quotation and without markup around words; code spans stay as they are."""
    if text.lstrip().startswith(">"):
        text = _QUOTE.sub("", text)
    pieces = _CODE_SPAN.split(text)
    return "".join(piece if place % 2 else _TAG.sub("", piece) for place, piece in enumerate(pieces))


# --- cutting ---------------------------------------------------------------------------------------------------


def trimmed(group: Group, weights: Mapping[str, float], chars: int) -> tuple[str, int, int]:
    """A group's text of at most ``chars`` characters, and the lines that it is of; the best of it when it is longer.

    '' when not even some words fit.
    """
    if len(group.text) <= chars:
        return group.text, group.start_line, group.end_line
    lead, *rest = group.parts
    if not rest:
        return _cut(lead, weights, chars)
    sentences = _sentences(lead.text)
    introduction = sentences[-1] if len(lead.text) > chars // 2 else lead.text
    if len(introduction) > chars // 2:
        return _cut(lead, weights, chars)
    text, start, end = _cut(rest[0], weights, chars - len(introduction) - 1)
    if not text:
        return introduction, lead.start_line, lead.end_line
    return f"{introduction}\n{text}", lead.start_line, max(end, start)


def _cut(paragraph: Paragraph, weights: Mapping[str, float], chars: int) -> tuple[str, int, int]:
    if paragraph.kind in ("prose", "html"):
        return _best_run(paragraph, _sentences(paragraph.text), " ", weights, chars)
    if paragraph.kind == "list":
        starts = [found.start() for found in _ITEM.finditer(paragraph.text)]
        bounds = [0, *(start for start in starts if start), len(paragraph.text)]
        items = [paragraph.text[a:b].rstrip("\n") for a, b in pairwise(bounds)]
        return _best_run(paragraph, items, "\n", weights, chars)
    lines = paragraph.text.split("\n")
    if paragraph.kind == "protected" and len(lines) > 2:
        fence = lines[0].lstrip("> \t")
        close = re.match(r"[`~]+", fence)
        mark = close[0] if close else "```"
        inner = lines[1:-1] if _FENCE.fullmatch(lines[-1]) else lines[1:]
        text, start, end = _best_run(paragraph, inner, "\n", weights, chars - len(fence) - len(mark) - 2, first=1)
        return (f"{fence}\n{text}\n{mark}" if text else ""), start, end
    return _best_run(paragraph, lines, "\n", weights, chars)


def _best_run(
    paragraph: Paragraph, units: Sequence[str], join: str, weights: Mapping[str, float], chars: int, *, first: int = 0
) -> tuple[str, int, int]:
    """The run of whole units that holds most of the question within ``chars``, the earliest of equals.

    ``first``: lines of the paragraph above the first unit.
    """
    room = chars - len(CUT) - 1
    if room <= 0:
        return "", paragraph.start_line, paragraph.start_line
    holds = [{term: weights[term] for term in set(tokenizer.terms(unit)) if term in weights} for unit in units]
    best: tuple[float, int, int] = (-1.0, 0, 0)
    for start in range(len(units)):
        size, stop = 0, start
        said: dict[str, float] = {}
        while stop < len(units) and size + len(units[stop]) + (len(join) if stop > start else 0) <= room:
            size += len(units[stop]) + (len(join) if stop > start else 0)
            said |= holds[stop]
            stop += 1
        value = sum(said.values())
        if stop > start and value > best[0] + 1e-9:
            best = (value, start, stop)
    _, start, stop = best
    before = sum(unit.count("\n") + (1 if join == "\n" else 0) for unit in units[:start]) + first
    begin = min(paragraph.end_line, paragraph.start_line + before) if join == "\n" else paragraph.start_line
    if stop == start:  # a single unit is longer than all there is room for
        at = max(range(len(units)), key=lambda i: (sum(holds[i].values()), -i), default=0)
        return cut_between_words(units[at], chars) if units else "", paragraph.start_line, paragraph.end_line
    text = join.join(units[start:stop])
    end = begin + text.count("\n") if join == "\n" else paragraph.end_line
    return (text if stop == len(units) else f"{text}{' ' if join == ' ' else join}{CUT}"), begin, end


def _sentences(text: str) -> list[str]:
    found = [piece for piece in _SENTENCE_END.split(text) if piece and piece.strip()]
    return found or [text]


def cut_between_words(text: str, chars: int) -> str:
    """At most ``chars`` characters; what is cut ends in ``...``, counted in."""
    if len(text) <= chars:
        return text
    room = chars - len(CUT)
    if room <= 0:
        return ""
    at = max(text.rfind(" ", 0, room + 1), text.rfind("\n", 0, room + 1))
    return text[: at if at > room // 2 else room].rstrip() + CUT
