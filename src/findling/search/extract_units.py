"""Paragraphs to groups that can stand alone, and groups cut to a length without losing what answers. Pure."""

from __future__ import annotations

import re
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property
from itertools import pairwise
from textwrap import dedent

from findling.model import tokenizer

CUT = "..."

MOSTLY_LINKS = 0.4
"""A paragraph of which so much is links leads elsewhere; it is worth half."""

INTRODUCTION_CHARS = 160
"""A longer paragraph without a mark at its end is one whose author left it out."""

LATER = 0.9
"""What a run that leaves out the beginning is worth: it must hold more of the question to be shown instead."""

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
_GENERATED_HERE = re.compile(
    r":{3}\s*[\w.]+\s*$|\.\.\s+(?:auto\w+|toctree|contents|image|figure|plot|literalinclude)::"
)
"""A line at which something is put in when the documents are built; what is indented below it are its options."""

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
_REFERS_BACK = re.compile(
    r"(?:this|that|these|those|it|they|he|she|such|then|so|in this case|in that case|otherwise|however|instead|if so|"
    r"to do (?:so|this|that)|for this|likewise|similarly|also|and|but|or|again|alternatively)\b",
    re.IGNORECASE,
)


@dataclass(frozen=True, slots=True)
class Paragraph:
    """A piece of a document between blank lines, and where. ``kind``: prose, list, table, indented, protected, html.

    ``start_line`` and ``end_line`` are the file's, 1-based and inclusive.
    """

    kind: str
    text: str
    start_line: int
    end_line: int


@dataclass(frozen=True)
class Group:
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
    def refers_back(self) -> bool:
        """Whether it begins with a word for something that was said before."""
        return self.parts[0].kind == "prose" and bool(_REFERS_BACK.match(self.parts[0].text.lstrip("*_`> ")))

    @property
    def worth(self) -> float:
        """Less than 1 for what mostly leads elsewhere, for code alone and for numbers."""
        links = sum(len(found[0]) for found in _LINK.finditer(self.text))
        spelled = sum(not any(char.isdigit() for char in word) for word in self.words)
        worth = CODE_ALONE if self.parts[0].kind in _CODE else 1.0
        if links > MOSTLY_LINKS * len(self.text) or spelled < MOSTLY_WORDS * len(self.words):
            worth /= 2
        return worth


def groups_of(paragraphs: Iterable[Paragraph]) -> list[Group]:
    """The groups of a passage in order; what is only markup is left out."""
    kept = [clean for paragraph in paragraphs if (clean := _clean(paragraph)) is not None]
    groups: list[list[Paragraph]] = []
    for paragraph in kept:
        before = groups[-1][-1] if groups else None
        follows = before is not None and before.kind == "prose" and paragraph.kind in _BLOCKS
        if before is not None and follows and (paragraph.kind in _CODE or _introduces(before.text)):
            groups[-1].append(paragraph)
        else:
            groups.append([paragraph])
    return [Group(tuple(parts)) for parts in groups]


def _introduces(text: str) -> bool:
    """Whether a paragraph goes on in what stands below it: it ends in a colon, or in no mark at all."""
    end = text.rstrip("*_` )")[-1:]
    return end == ":" or (len(text) <= INTRODUCTION_CHARS and (end.isalnum() or end == ","))


def _clean(paragraph: Paragraph) -> Paragraph | None:
    text = paragraph.text
    if paragraph.kind == "protected" and (not _FENCE.match(text) or _DRAWING.match(text)):  # or a comment, raw markup
        return None
    code = paragraph.kind in ("protected", "indented")
    lines = text.split("\n")
    if not code:
        lines = _COMMENT.sub("", text).split("\n")
        if _GENERATED_HERE.match(lines[0]):
            lines = [line for line in lines[1:] if not line[:1].isspace()]
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
        value = sum(said.values()) * (LATER if start else 1.0)
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
