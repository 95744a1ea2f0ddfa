"""Converts presentations (``.pptx``) to text: slide by slide, with the title as a heading and the notes below. Pure."""

from __future__ import annotations

import re
from collections.abc import Iterator
from typing import Final

from findling.reading.formats.model import Text, folded
from findling.reading.formats.package import Package, attribute, events

_MAIN: Final = "ppt/presentation.xml"
_SLIDE = re.compile(r"ppt/slides/slide(\d{1,9})\.xml")
_TITLES: Final = ("title", "ctrTitle")


def slides_text(data: bytes) -> str:
    """Raises `NotConverted`."""
    package = Package(data)
    text = Text()
    for number, name in enumerate(_slides(package), 1):
        text.place(f"slide {number}")
        _read(text, package, name)
        for note in package.targets(name).values():
            if "notesSlide" in note:
                _read(text, package, note, notes=True)
    return text.whole()


def _slides(package: Package) -> Iterator[str]:
    """The slides' parts in the order of the presentation."""
    targets = package.targets(_MAIN)
    ordered = [
        targets.get(next((value for key, value in attributes.items() if key.endswith(" id")), ""), "")
        for kind, tag, attributes in events(package.pieces(_MAIN))
        if kind == "start" and tag == "sldId"
    ]
    ordered = [name for name in ordered if package.has(name)]
    if ordered:
        return iter(ordered)
    found = [match for match in map(_SLIDE.fullmatch, package.names()) if match]
    return (match[0] for match in sorted(found, key=lambda match: int(match[1])))


def _read(text: Text, package: Package, name: str, *, notes: bool = False) -> None:
    said: list[str] = []
    lines: list[str] = []
    title = speaking = unwanted = False
    for kind, value, attributes in events(package.pieces(name)):
        text.check()
        if kind == "text":
            if speaking:
                said.append(value)
        elif value == "t":
            speaking = kind == "start"
        elif kind == "start" and value == "ph":
            place = attribute(attributes, "type")
            title = place in _TITLES
            unwanted = place in ("sldNum", "dt", "ftr", "hdr", "sldImg")
        elif kind == "start" and value == "br":
            said.append("\n")
        elif kind == "end" and value == "p":
            words = "".join(said).strip()
            if words and not unwanted:
                lines.append(words)
            said = []
        elif kind == "end" and value in ("sp", "tbl"):
            _say(text, lines, title, notes)
            lines, title, unwanted = [], False, False
    _say(text, lines, title, notes)


def _say(text: Text, lines: list[str], title: bool, notes: bool) -> None:
    if title and not notes:
        text.heading(1, folded(" ".join(lines)))
    elif lines:
        text.block("\n".join(("Notes:", *lines) if notes else lines))
