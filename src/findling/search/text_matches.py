"""Where the words and phrases of a query stand in a document: counted, with the best line and an excerpt. Pure.

A query is plain words; nothing in it is syntax but quotation marks, which make a phrase that must be there. A word
with punctuation inside (``multi-agent``, ``semantic.enabled``) is its parts in that order. Unless case matters, a
word is found in its other forms too (retries, retry) and as a part of an identifier.
"""

from __future__ import annotations

import re
from bisect import bisect_right
from collections.abc import Iterator, Sequence

from msgspec import Struct

from findling.model import tokenizer
from findling.model.remembered import remembered
from findling.search.vocabulary import STOP_WORDS

EXCERPT_CHARS = 240
"""An excerpt is a line or two: enough to see whether the document is the one."""

ENOUGH_CHARS = 100
"""A shorter line, such as a heading, is shown with the lines below it."""

LEAD_CHARS = 60
"""Of an excerpt that begins inside a long line, shown before its first match."""

MAX_ITEMS = 32
"""Words and phrases of a query that are looked for; a longer query is a text, and its end adds time, not meaning."""

MAX_GAP = 3
"""Characters that may stand between the parts of a word with punctuation inside: ``a::b``, ``a -> b``."""

MET_WORDS = 100_000
"""Words that are remembered with their terms, some 20 MB; those of a thousand documents are about as many."""

_QUOTED = re.compile(r'"([^"]*)"|\u201c([^\u201d]*)\u201d')
_WORD = re.compile(r"\w+")
_PART = re.compile(r"[^\W_]+")
_CJK = re.compile("[぀-ヿ㐀-䶿一-鿿豈-﫿가-힯ｦ-ﾟ]")
_SYMBOLS = re.compile(r"\w{1,2}[#+*]+$|\.\w{1,3}$")
"""Names that are nothing without their punctuation: C++, C#, .py."""


class Item(Struct, frozen=True):
    """A word or phrase. ``terms``: what other forms of the word share, empty where only the letters count.

    ``required``: a document without it is no match.
    """

    pattern: re.Pattern[str]
    terms: frozenset[str]
    required: bool


class Matches(Struct, frozen=True):
    """``count`` occurrences of all items; ``share`` of the items that occur, in (0, 1]; ``line`` is the best, 1-based.

    ``excerpt`` begins in that line, white space folded, cut ends marked with ``...`` and at most `EXCERPT_CHARS` long.
    """

    count: int
    share: float
    line: int
    excerpt: str


def items(query: str, *, case_sensitive: bool = False) -> list[Item]:
    """What a query asks for. Words that carry no meaning are left out where others do."""
    flags = 0 if case_sensitive else re.IGNORECASE
    found: dict[str, Item] = {}
    rest: list[str] = []
    at = 0
    for quoted in _QUOTED.finditer(query):
        rest += query[at : quoted.start()].split()
        at = quoted.end()
        phrase = " ".join((quoted[1] if quoted[1] is not None else quoted[2]).split())
        if phrase and len(found) < MAX_ITEMS:
            found.setdefault(f'"{phrase}', Item(_phrase(phrase, flags), frozenset(), required=True))
    rest += query[at:].split()
    words = [token for token in rest if _WORD.search(token)] or rest
    content = [token for token in words if token.strip("?!.,;:").lower() not in STOP_WORDS] or words
    for token in content if not found else [token for token in content if token.lower() not in STOP_WORDS]:
        if len(found) == MAX_ITEMS:
            break
        item = _item(token, flags, case_sensitive=case_sensitive)
        found.setdefault(item.pattern.pattern, item)
    return list(found.values())


def _item(token: str, flags: int, *, case_sensitive: bool) -> Item:
    parts = _PART.findall(token)
    if parts:
        token = token.strip("\"'`“”‘’()[]{}<>,;:!?").rstrip(".")
    if not parts or _SYMBOLS.fullmatch(token):
        return Item(_phrase(token, flags), frozenset(), required=False)
    if len(parts) > 1:
        gap = rf"[\W_]{{0,{MAX_GAP}}}+"  # possessive: no part begins with what a gap is made of
        return Item(_bounded(gap.join(map(re.escape, parts)), parts[0], parts[-1], flags), frozenset(), required=False)
    word = parts[0]
    # of a name in several parts the last term is the whole of it; its parts alone are other words
    whole = frozenset() if case_sensitive or _CJK.search(word) else frozenset(tokenizer.terms_of(word)[-1:])
    return Item(_bounded(re.escape(word), word, word, flags), whole, required=False)


def _phrase(text: str, flags: int) -> re.Pattern[str]:
    """The text to the letter, except that any white space stands for any other."""
    return _bounded(r"\s+".join(map(re.escape, text.split())), text[0], text[-1], flags)


def _bounded(pattern: str, first: str, last: str, flags: int) -> re.Pattern[str]:
    """Not inside of a longer word; ``_`` ends a word, and scripts without spaces have no words to be inside of."""
    before = r"(?<![^\W_])" if first[:1].isalnum() and not _CJK.match(first[:1]) else ""
    after = r"(?![^\W_])" if last[-1:].isalnum() and not _CJK.match(last[-1:]) else ""
    return re.compile(f"{before}{pattern}{after}", flags)


def find(wanted: Sequence[Item], text: str, start: int, end: int) -> Matches | None:
    """The matches of a query's items in ``text[start:end]``; None when there are none, or a required one is missing."""
    spans: list[tuple[int, int, int]] = []
    present = 0
    forms = _forms(wanted, text, start, end)
    for number, item in enumerate(wanted):
        if item.terms:
            own = [(at, at + len(word), number) for word in forms[number] for at in _places(word, text, start, end)]
        else:
            own = [(*found.span(), number) for found in item.pattern.finditer(text, start, end)]
        if own:
            present += 1
            spans += own
        elif item.required:
            return None
    if not spans:
        return None
    spans.sort()
    breaks = [found.start() for found in re.finditer("\n", text)]
    at = _best_line(spans, breaks)
    line = at + 1
    first = breaks[at - 1] + 1 if at else 0
    first = max(first, start)
    column = min(span[0] for span in spans if span[0] >= first) - first
    while at < len(breaks) and breaks[at] < min(end, first + column + ENOUGH_CHARS):
        at += 1
    last = min(end, breaks[at] if at < len(breaks) else len(text))
    return Matches(len(spans), present / len(wanted), line, _excerpt(text[first:last], column))


def _forms(wanted: Sequence[Item], text: str, start: int, end: int) -> list[list[str]]:
    """For each item the words of the text that share its terms."""
    if not any(item.terms for item in wanted):
        return [[] for _ in wanted]
    terms = {word: _terms_of(word) for word in set(tokenizer.words(text[start:end]))}
    return [[word for word, of in terms.items() if item.terms & of] if item.terms else [] for item in wanted]


@remembered(MET_WORDS)
def _terms_of(word: str) -> frozenset[str]:
    return frozenset(tokenizer.terms_of(word))


def _places(word: str, text: str, start: int, end: int) -> Iterator[int]:
    """Where a whole word of the text begins. `str.find` takes a fiftieth of an expression's time."""
    at = text.find(word, start, end)
    while at >= 0:
        after = at + len(word)
        if not (at and _WORD.match(text, at - 1)) and not (after < end and _WORD.match(text, after)):
            yield at
        at = text.find(word, after, end)


def _best_line(spans: Sequence[tuple[int, int, int]], breaks: Sequence[int]) -> int:
    """The 0-based line with most different items, then most occurrences, then the first."""
    lines: dict[int, tuple[set[int], int]] = {}
    for begin, _, number in spans:
        line = bisect_right(breaks, begin - 1)
        different, count = lines.get(line, (set(), 0))
        different.add(number)
        lines[line] = (different, count + 1)
    return min(lines, key=lambda line: (-len(lines[line][0]), -lines[line][1], line))


def _excerpt(line: str, column: int) -> str:
    """Some text around its first match at ``column``, cut between words."""
    lead = " ".join(line[:column].split())
    lead = f"{lead} " if lead and line[column - 1].isspace() else lead
    folded = lead + " ".join(line[column:].split())
    if len(folded) <= EXCERPT_CHARS:
        return folded
    begin = 0
    if len(lead) > LEAD_CHARS:
        begin = folded.find(" ", len(lead) - LEAD_CHARS, len(lead))
        begin = begin + 1 if begin >= 0 else len(lead)
    before = "..." if begin else ""
    room = EXCERPT_CHARS - len(before)
    if len(folded) - begin <= room:
        return before + folded[begin:]
    stop = folded.rfind(" ", begin + 1, begin + room - 2)
    stop = stop if stop > begin else begin + room - 3
    return f"{before}{folded[begin:stop].rstrip()}..."
