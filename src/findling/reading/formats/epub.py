"""Converts electronic books (``.epub``) to text, chapter by chapter in the order of reading. Pure."""

from __future__ import annotations

import posixpath
from typing import Final

from findling.reading.formats import page
from findling.reading.formats.model import NotConverted, Text
from findling.reading.formats.package import Package, attribute, events, part_name

_CONTAINER: Final = "META-INF/container.xml"
_ENCRYPTION: Final = "META-INF/encryption.xml"
_FONTS_ONLY: Final = ("http://www.idpf.org/2008/embedding", "http://ns.adobe.com/pdf/enc#RC")
"""Methods that encrypt fonts only, so that the text can be read."""


def epub_text(data: bytes) -> str:
    """Raises `NotConverted`."""
    package = Package(data)
    for kind, tag, attributes in events(package.pieces(_ENCRYPTION)):
        method = attribute(attributes, "Algorithm")
        if kind == "start" and tag == "EncryptionMethod" and method not in _FONTS_ONLY:
            raise NotConverted("encrypted", "it is protected against copying")
    main = next(
        (
            attribute(attributes, "full-path")
            for kind, tag, attributes in events(package.pieces(_CONTAINER))
            if kind == "start" and tag == "rootfile"
        ),
        "",
    )
    if not package.has(main):
        raise NotConverted("broken_document", "its list of parts is missing")
    text = Text()
    for number, name in enumerate(_chapters(package, main), 1):
        text.place(f"chapter {number}")
        page.write(text, package.read(name), whole=True)
        text.check_clock()
    return text.whole()


def _chapters(package: Package, main: str) -> list[str]:
    """The parts that are read, in order, without the list of contents."""
    parts: dict[str, str] = {}
    order: list[str] = []
    for kind, tag, attributes in events(package.pieces(main)):
        if kind != "start":
            continue
        if tag == "item":
            is_text = "html" in attribute(attributes, "media-type")
            if is_text and "nav" not in attribute(attributes, "properties").split():
                parts[attribute(attributes, "id")] = part_name(posixpath.dirname(main), attribute(attributes, "href"))
        elif tag == "itemref":
            order.append(attribute(attributes, "idref"))
    return [parts[id] for id in dict.fromkeys(order) if package.has(parts.get(id, ""))]
