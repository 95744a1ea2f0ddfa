"""Converts workbooks (``.xlsx``) to text. A block of rows begins with a place such as ``Prices!A1:D20``; each row is a
line that begins with its number. Pure.

What a cell shows is kept, formulas are not. Dates are told from numbers by the cell's format.
"""

from __future__ import annotations

import re
from datetime import datetime, timedelta
from typing import Final

from findling.reading.formats.model import NotConverted, Text, folded
from findling.reading.formats.package import Package, attribute, events

ROWS: Final = 20
"""Rows of one place: a screenful."""

MAX_STRINGS: Final = 2_000_000
"""Texts of a workbook that are held at once."""

SPARSE: Final = 10
"""A row that is more than this many times as wide as it has cells names their columns instead of showing the gaps."""

MAX_COLUMNS: Final = 1_000
"""The most columns of a row; further ones are left out."""

_MAIN: Final = "xl/workbook.xml"
_DATE_FORMATS: Final = frozenset((*range(14, 23), *range(27, 37), *range(45, 48), *range(50, 59)))
_NOT_DATES = re.compile(r'"[^"]*"|\[[^\]]*\]|\\.')
_REFERENCE = re.compile(r"([A-Z]{1,3})(\d{1,7})")
_EPOCH: Final = datetime(1899, 12, 30)
_LAST_DAY: Final = 2_958_465


def sheets_text(data: bytes) -> str:
    """Raises `NotConverted`."""
    package = Package(data)
    targets = package.targets(_MAIN)
    strings = _strings(package)
    dates = _date_styles(package)
    text = Text()
    for kind, tag, attributes in list(events(package.pieces(_MAIN))):
        if kind == "start" and tag == "sheet":
            id = next((value for key, value in attributes.items() if key.endswith(" id")), "")
            if package.has(targets.get(id, "")):
                _Sheet(text, folded(attribute(attributes, "name")), strings, dates).read(package, targets[id])
    return text.whole()


def _strings(package: Package) -> list[str]:
    found: list[str] = []
    said: list[str] = []
    speaking = phonetic = False
    for kind, value, _ in events(package.pieces("xl/sharedStrings.xml")):
        if kind == "text":
            if speaking and not phonetic:
                said.append(value)
        elif value == "t":
            speaking = kind == "start"
        elif value == "rPh":
            phonetic = kind == "start"
        elif value == "si" and kind == "end":
            found.append("".join(said))
            said = []
            if len(found) > MAX_STRINGS:
                raise NotConverted("too_large", f"it has more than {MAX_STRINGS:,} texts")
    return found


def _date_styles(package: Package) -> frozenset[int]:
    """The cell formats, by their place, that show dates."""
    own: dict[str, str] = {}
    styles: list[str] = []
    inside = False
    for kind, tag, attributes in events(package.pieces("xl/styles.xml")):
        if tag == "cellXfs":
            inside = kind == "start"
        elif kind == "start" and tag == "numFmt":
            own[attribute(attributes, "numFmtId")] = attribute(attributes, "formatCode")
        elif kind == "start" and tag == "xf" and inside:
            styles.append(attribute(attributes, "numFmtId"))
    return frozenset(
        place
        for place, number in enumerate(styles)
        if (number in own and re.search("[ymdhs]", _NOT_DATES.sub("", own[number]).lower()))
        or (number not in own and number.isdecimal() and int(number) in _DATE_FORMATS)
    )


class _Sheet:
    """Reads one sheet, row by row."""

    def __init__(self, text: Text, name: str, strings: list[str], dates: frozenset[int]) -> None:
        self._text = text
        self._name = name
        self._strings = strings
        self._dates = dates
        self._lines: list[str] = []
        self._first = self._last = 0
        self._width = 1

    def read(self, package: Package, part: str) -> None:
        cells: dict[int, str] = {}
        said: list[str] = []
        speaking = False
        kind_of_cell = style = ""
        row = column = 0
        for kind, value, attributes in events(package.pieces(part)):
            self._text.check()
            if kind == "text":
                if speaking:
                    said.append(value)
            elif value in ("v", "t"):
                speaking = kind == "start"
            elif value == "row":
                if kind == "start":
                    number = attribute(attributes, "r")
                    row = int(number) if number.isdecimal() and len(number) < 9 else row + 1
                    cells, column = {}, 0
                else:
                    self._row(row, cells)
            elif value == "c":
                if kind == "start":
                    found = _REFERENCE.fullmatch(attribute(attributes, "r"))
                    column = _column(found[1]) if found else column + 1
                    kind_of_cell, style = attribute(attributes, "t"), attribute(attributes, "s")
                    said = []
                elif said and column <= MAX_COLUMNS:
                    cells[column] = self._shown("".join(said), kind_of_cell, style)
        self._write()

    def _shown(self, value: str, kind: str, style: str) -> str:
        if kind == "s":
            return self._strings[int(value)] if value.isdecimal() and int(value) < len(self._strings) else ""
        if kind == "b":
            return "TRUE" if value == "1" else "FALSE"
        if not kind or kind == "n":
            return _number(value, style.isdecimal() and int(style) in self._dates)
        return value

    def _row(self, row: int, cells: dict[int, str]) -> None:
        if not any(value.strip() for value in cells.values()):
            return
        if self._lines and row - self._first >= ROWS:
            self._write()
        if not self._lines:
            self._first = row
        self._last = row
        self._width = max(self._width, *cells)
        if max(cells) > SPARSE * len(cells):
            values = [f"{_letters(column)}: {folded(value)}" for column, value in sorted(cells.items())]
        else:
            values = [folded(cells.get(column, "")) for column in range(1, max(cells) + 1)]
        self._lines.append(f"{row} | {' | '.join(values)}")

    def _write(self) -> None:
        if self._lines:
            self._text.place(f"{self._name}!A{self._first}:{_letters(self._width)}{self._last}")
            self._text.block("\n".join(self._lines))
        self._lines, self._width = [], 1


def _number(value: str, is_date: bool) -> str:
    try:
        number = float(value)
    except ValueError:
        return value
    if is_date and 0 <= number < _LAST_DAY:
        moment = _EPOCH + timedelta(days=number)
        day, time = f"{moment:%Y-%m-%d}", f"{moment:%H:%M:%S}"
        if number < 1:
            return time
        return day if number == int(number) else f"{day} {time}"
    return f"{number:.15g}" if number == number and abs(number) < 1e300 else value


def _column(letters: str) -> int:
    number = 0
    for letter in letters:
        number = number * 26 + ord(letter) - 64
    return number


def _letters(column: int) -> str:
    letters = ""
    while column:
        column, place = divmod(column - 1, 26)
        letters = chr(65 + place) + letters
    return letters
