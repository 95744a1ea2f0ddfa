"""Converts Word documents (``.docx``) to text: headings, lists and tables as in Markdown, notes at the end. Pure."""

from __future__ import annotations

from typing import Final

from findling.reading.formats.model import Text, folded
from findling.reading.formats.package import Package, attribute, events

_SPACES: Final = {"tab": "\t", "br": "\n", "cr": "\n", "noBreakHyphen": "-", "ptab": "\t"}
_NOTES: Final = ("word/footnotes.xml", "word/endnotes.xml", "word/comments.xml")
_TITLE_LEVEL: Final = 1


def word_text(data: bytes) -> str:
    """Raises `NotConverted`."""
    package = Package(data)
    main = next((name for name in package.targets("").values() if name.endswith("document.xml")), "word/document.xml")
    levels = _heading_levels(package)
    text = Text()
    _Body(text, levels).read(package, main)
    for name in _NOTES:
        if package.has(name):
            _Body(text, {}).read(package, name)
    return text.whole()


def _heading_levels(package: Package) -> dict[str, int]:
    """Style id to the level of the headings that have it."""
    levels: dict[str, int] = {}
    style = ""
    for kind, tag, attributes in events(package.pieces("word/styles.xml")):
        if kind != "start":
            continue
        if tag == "style":
            style = attribute(attributes, "styleId")
        elif tag == "name" and style:
            level = _level(attribute(attributes, "val"))
            if level:
                levels[style] = level
        elif tag == "outlineLvl" and style:
            number = attribute(attributes, "val")
            if number.isdecimal() and int(number) < 9:
                levels.setdefault(style, int(number) + 1)
    return levels


def _level(style: str) -> int:
    """Of a style by its name, 0 for one that is no heading."""
    name = style.lower().replace(" ", "")
    if name.startswith("heading") and name[7:].isdecimal():
        return int(name[7:])
    return _TITLE_LEVEL if name == "title" else 0


class _Body:
    """Reads one part of a document. A table's cells are joined by row; a table in a cell is read as the cell's text."""

    def __init__(self, text: Text, levels: dict[str, int]) -> None:
        self._text = text
        self._levels = levels
        self._said: list[str] = []
        self._style = ""
        self._level = 0
        self._listed = False
        self._tables = 0
        self._cell: list[str] = []
        self._row: list[str] = []
        self._rows: list[str] = []

    def read(self, package: Package, name: str) -> None:
        silent = 0
        speaking = False
        for kind, value, attributes in events(package.pieces(name)):
            self._text.check()
            if kind == "text":
                if speaking and not silent:
                    self._said.append(value)
            elif value == "Fallback":  # repeats for older programs what stands before it
                silent += 1 if kind == "start" else -1
            elif value == "t":
                speaking = kind == "start"
            elif kind == "start":
                self._start(value, attribute(attributes, "val"), silent)
            else:
                self._end(value)

    def _start(self, tag: str, value: str, silent: int) -> None:
        if tag in _SPACES and not silent:
            self._said.append(_SPACES[tag])
        elif tag == "pStyle":
            self._style = value
        elif tag == "outlineLvl" and value.isdecimal() and int(value) < 9:
            self._level = int(value) + 1
        elif tag == "numPr":
            self._listed = True
        elif tag == "tbl":
            self._tables += 1

    def _end(self, tag: str) -> None:
        if tag == "p":
            self._paragraph()
        elif tag == "tc" and self._tables == 1:
            self._row.append(folded(" ".join(self._cell)))
            self._cell = []
        elif tag == "tr" and self._tables == 1:
            if any(self._row):
                self._rows.append(f"| {' | '.join(self._row)} |")
            self._row = []
        elif tag == "tbl":
            self._tables -= 1
            if not self._tables:
                self._text.block("\n".join(self._rows))
                self._rows = []

    def _paragraph(self) -> None:
        said, style = "".join(self._said), self._style
        level = self._level or self._levels.get(style) or _level(style)
        if self._tables:
            self._cell.append(said)
        elif level:
            self._text.heading(level, said)
        else:
            self._text.block(f"- {said.strip()}" if self._listed and said.strip() else said)
        self._said, self._style, self._level, self._listed = [], "", 0, False
