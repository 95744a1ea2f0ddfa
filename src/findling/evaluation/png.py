"""The pictures of `plots` as PNG: PDFium, which reads PDF files for the index, draws them.

Knows of SVG what `plots` writes: lines, rectangles, circles, polylines and texts with their attributes beside them. It
is put into one page of PDF, which has the same few shapes and fonts of its own, so that no font has to be found.
"""

from __future__ import annotations

import struct
import zlib
from collections.abc import Callable, Iterator
from typing import Final
from xml.etree import ElementTree

from findling.errors import InvalidInput

SCALE: Final = 2.0
"""Pixels for each unit of a picture, so that it is sharp on a screen of today."""

_FONT_SIZE: Final = 12.0
_WIDTHS: Final = dict(
    zip(
        range(32, 127),
        map(
            int,
            "278 278 355 556 556 889 667 191 333 333 389 584 278 333 278 278 556 556 556 556 556 556 556 556 556 556 "
            "278 278 584 584 584 556 1015 667 667 722 722 667 611 778 722 278 500 667 556 833 722 778 667 778 722 667 "
            "611 722 667 944 667 667 611 278 278 278 469 556 333 556 556 500 556 556 278 556 556 222 222 500 222 833 "
            "556 556 556 556 333 500 278 556 500 722 500 500 500 334 260 334 584".split(),
        ),
        strict=True,
    )
)
"""How wide the letters of Helvetica are, in thousandths of its size: to centre words, and to end them at a place."""

_OTHER_WIDTH: Final = 556
_ROUND: Final = 0.5523
"""Where the handles of four curves stand that make a circle, in radii."""

_SVG: Final = "{http://www.w3.org/2000/svg}"
_OBJECTS: Final = (
    "<</Type/Catalog/Pages 2 0 R>>",
    "<</Type/Pages/Kids[3 0 R]/Count 1>>",
    "<</Type/Page/Parent 2 0 R/MediaBox[0 0 {width:g} {height:g}]/Resources<</Font<</F 4 0 R>>>>/Contents 5 0 R>>",
    "<</Type/Font/Subtype/Type1/BaseFont/Helvetica/Encoding/WinAnsiEncoding>>",
    "<</Length {length}>>\nstream\n{drawn}\nendstream",
)


def png(picture: str) -> bytes:
    """A picture of `plots` as the bytes of a PNG file. Raises InvalidInput where PDFium is not installed."""
    from findling.ingest.formats.model import NotConverted
    from findling.ingest.formats.pdf import first_page

    try:
        return _encoded(*first_page(pdf(picture), SCALE))
    except NotConverted as error:
        raise InvalidInput(f"No picture as PNG: {error}.", remedy="Install pypdfium2, or take the SVG.") from error


def pdf(picture: str) -> bytes:
    """The same as a PDF file of one page."""
    root = ElementTree.fromstring(picture)  # noqa: S314 - what `plots` wrote
    width, height = map(float, root.attrib["viewBox"].split()[2:])
    drawn = "\n".join(_drawn(root, height))
    values = {"width": width, "height": height, "length": len(drawn.encode("cp1252")), "drawn": drawn}
    out = bytearray(b"%PDF-1.4\n")
    places = []
    for number, form in enumerate(_OBJECTS, 1):
        places.append(len(out))
        out += f"{number} 0 obj\n{form.format(**values)}\nendobj\n".encode("cp1252")
    table = "".join(f"{place:010} 00000 n \n" for place in places)
    size = len(places) + 1
    end = (
        f"xref\n0 {size}\n0000000000 65535 f \n{table}trailer<</Size {size}/Root 1 0 R>>\nstartxref\n{len(out)}\n%%EOF"
    )
    return bytes(out + end.encode("ascii"))


def _drawn(root: ElementTree.Element, height: float) -> Iterator[str]:
    """The operators of a page for what stands in a picture, whose rows count from the top."""
    ink = root.attrib["fill"]

    def up(y: str | float) -> float:
        return height - float(y)

    for shape in root:
        draw = _SHAPES.get(shape.tag.removeprefix(_SVG))
        if draw is not None:
            yield draw(shape, up, ink)


def _rect(shape: ElementTree.Element, up: Callable[[str | float], float], _: str) -> str:
    width, height = float(shape.attrib["width"]), float(shape.attrib["height"])
    left, top = float(shape.get("x", 0)), float(shape.get("y", 0))
    return f"{_colour(shape.attrib['fill'])} rg {left:g} {up(top + height):g} {width:g} {height:g} re f"


def _line(shape: ElementTree.Element, up: Callable[[str | float], float], _: str) -> str:
    x1, y1, x2, y2 = (shape.attrib[key] for key in ("x1", "y1", "x2", "y2"))
    dashes = f"[{shape.get('stroke-dasharray', '')}] 0 d"
    colour = _colour(shape.attrib["stroke"], float(shape.get("opacity", 1)))
    return f"{dashes} 1 w {colour} RG {x1} {up(y1):g} m {x2} {up(y2):g} l S"


def _polyline(shape: ElementTree.Element, up: Callable[[str | float], float], _: str) -> str:
    corners = [corner.split(",") for corner in shape.attrib["points"].split()]
    if not corners:
        return ""
    way = " ".join(f"{x} {up(y):g} {'l' if at else 'm'}" for at, (x, y) in enumerate(corners))
    return f"[] 0 d {shape.attrib['stroke-width']} w {_colour(shape.attrib['stroke'])} RG {way} S"


def _circle(shape: ElementTree.Element, up: Callable[[str | float], float], _: str) -> str:
    x, y, r = float(shape.attrib["cx"]), up(shape.attrib["cy"]), float(shape.attrib["r"])
    way = [f"{x + r:g} {y:g} m"]
    for across, along in ((1, 0), (0, 1), (-1, 0), (0, -1)):  # from here a quarter of the circle to the left
        handles = (across - along * _ROUND, along + across * _ROUND, across * _ROUND - along, along * _ROUND + across)
        values = (*handles, -along, across)
        way.append(" ".join(f"{(x, y)[at % 2] + r * value:g}" for at, value in enumerate(values)) + " c")
    return f"{_colour(shape.attrib['fill'])} rg {' '.join(way)} f"


def _text(shape: ElementTree.Element, up: Callable[[str | float], float], ink: str) -> str:
    said = (shape.text or "").encode("cp1252", "replace").decode("cp1252")
    width = sum(_WIDTHS.get(ord(letter), _OTHER_WIDTH) for letter in said) / 1000 * _FONT_SIZE
    back = {"start": 0.0, "middle": width / 2, "end": width}[shape.get("text-anchor", "start")]
    x, y = float(shape.attrib["x"]), up(shape.attrib["y"])
    turned = "transform" in shape.attrib  # a quarter to the left, around its own place
    place = f"0 1 -1 0 {x:g} {y - back:g}" if turned else f"1 0 0 1 {x - back:g} {y:g}"
    escaped = "".join(f"\\{ord(letter):03o}" if letter in "()\\" or letter < " " else letter for letter in said)
    return f"BT {_colour(ink)} rg /F {_FONT_SIZE:g} Tf {place} Tm ({escaped}) Tj ET"


_SHAPES: Final = {"rect": _rect, "line": _line, "polyline": _polyline, "circle": _circle, "text": _text}


def _colour(code: str, opacity: float = 1.0) -> str:
    """``#rrggbb`` as shares, laid over white."""
    parts = (int(code[at : at + 2], 16) / 255 for at in (1, 3, 5))
    return " ".join(f"{1 - opacity * (1 - part):.3f}" for part in parts)


def _encoded(width: int, height: int, rgb: bytes) -> bytes:
    """Rows of red, green and blue, a byte each, as a PNG file."""
    row = 3 * width
    lines = b"".join(b"\0" + rgb[at * row : (at + 1) * row] for at in range(height))  # 0: as it is, not by differences
    parts = (
        (b"IHDR", struct.pack(">IIBBBBB", width, height, 8, 2, 0, 0, 0)),
        (b"IDAT", zlib.compress(lines, 9)),
        (b"IEND", b""),
    )
    return b"\x89PNG\r\n\x1a\n" + b"".join(
        struct.pack(">I", len(data)) + kind + data + struct.pack(">I", zlib.crc32(kind + data)) for kind, data in parts
    )
