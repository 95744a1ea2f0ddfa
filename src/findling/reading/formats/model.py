"""What all converters share: the failure, the bounds, and the text that they write. Pure."""

from __future__ import annotations

import re
import time
from html.parser import HTMLParser
from typing import Final

from findling.model import format_names as places

# --- markup -------------------------------------------------------------------------------------------------------
# Turns a piece of a web page into the text that people read. The piece may begin or end inside a tag.

_READ_ATTRIBUTES = frozenset(("alt", "title", "placeholder", "aria-label", "content", "label", "href"))
_BREAKS = re.compile(
    r"(?:p|div|li|tr|td|th|section|article|h[1-6]|ul|ol|table|pre|blockquote|dl|dt|dd|nav|header|footer|main|aside"
    r"|form|body|head|title|script|style|br|hr|details|summary|figure|option|button|label)\Z"
)


class _Text(HTMLParser):
    def __init__(self) -> None:
        super().__init__(convert_charrefs=True)
        self.out: list[str] = []
        self._style = False

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        self._style = tag == "style"
        if _BREAKS.match(tag):
            self.out.append("\n")
        self.out += [f" {value} " for name, value in attrs if value and name in _READ_ATTRIBUTES]

    def handle_endtag(self, tag: str) -> None:
        self._style = False
        if _BREAKS.match(tag):
            self.out.append("\n")

    def handle_data(self, data: str) -> None:
        if not self._style:
            self.out.append(data)


def html_text(piece: str) -> str:
    """What people read of a piece of a page: text and text-like attributes without tags."""
    parser = _Text()
    try:
        parser.feed(piece)
        parser.close()
    except AssertionError:  # the parser's answer to declarations that it cannot read; the raw text still serves
        return piece
    return re.sub(r"\s*\n\s*", "\n", re.sub(r"[ \t]+", " ", "".join(parser.out))).strip()


MAX_CHARS: Final = 16_000_000
"""The most text of a document: twenty long books. More is data, or an attack."""

MAX_CPU_S: Final = 15.0
"""Processor time for one document. The clock is looked at while its parts come."""

_CLOCK_EVERY: Final = 64
"""Pieces written between two looks at the clock."""

# Controls that no text needs, and characters that are no characters.
_NOISE = re.compile("[\x00-\x08\x0b\x0c\x0e-\x1f\x7f\ufeff\ufffe\uffff]")
_SPACE = re.compile(r"[ \t\r\f\v\u00a0\u2007\u202f]+")


class NotConverted(Exception):
    """A document that is left out: a stable ``reason`` and a sentence.

    Reasons: ``broken_document``, ``encrypted``, ``too_large`` (once it is unpacked), ``no_text``, ``no_reader``.
    """

    def __init__(self, reason: str, detail: str) -> None:
        super().__init__(detail)
        self.reason = reason
        self.detail = detail


class Text:
    """Collects a document's text. Bounded in size and time: raises `NotConverted`."""

    def __init__(self) -> None:
        self._parts: list[str] = []
        self._chars = 0
        self._place = ""
        self._began = time.process_time()
        self._blocks = 0

    def place(self, name: str) -> None:
        """Begin a page or the like. One without text is left out."""
        self._place = name

    def block(self, text: str, *, verbatim: bool = False) -> None:
        """Add a paragraph, a list or a table: lines that belong together. Blank text adds nothing."""
        self.check()
        text = clean(text)
        if not text.strip():
            return
        text = places.escaped(text.strip("\n") if verbatim else text.strip())
        if self._place:
            self._write(places.line(self._place))
            self._place = ""
        self._write(text)

    def heading(self, level: int, text: str) -> None:
        title = folded(text)
        if title:
            self.block(f"{'#' * max(1, min(6, level))} {title}")

    def whole(self) -> str:
        return "\n\n".join(self._parts) + "\n" if self._parts else ""

    def check(self) -> None:
        """Raises `NotConverted` when the time is over."""
        self._blocks += 1
        if self._blocks % _CLOCK_EVERY == 0:
            self.check_clock()

    def check_clock(self) -> None:
        if time.process_time() - self._began > MAX_CPU_S:
            raise NotConverted("too_large", f"converting it takes more than {MAX_CPU_S:.0f} seconds")

    def _write(self, text: str) -> None:
        self._chars += len(text) + 2
        if self._chars > MAX_CHARS:
            raise NotConverted("too_large", f"its text has more than {MAX_CHARS:,} characters")
        self._parts.append(text)


def clean(text: str) -> str:
    """The text without control characters, with plain line ends."""
    text = text.replace("\r\n", "\n").replace("\r", "\n")
    return _NOISE.sub("", text).encode("utf-8", "replace").decode()


def folded(text: str) -> str:
    """The text on one line, with single spaces."""
    return _SPACE.sub(" ", text.replace("\n", " ")).strip()
