"""Turns a piece of a web page into the text that people read. The piece may begin or end inside a tag."""

from __future__ import annotations

import re
from html.parser import HTMLParser

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
