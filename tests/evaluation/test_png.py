"""Pictures as pixels: PNG files that say in colours what the SVG says in words."""

from __future__ import annotations

import struct
import sys
import zlib

import pytest

from findling.errors import InvalidInput
from findling.evaluation import plots, png
from findling.evaluation.plots import Point
from findling.reports import Estimate, Reliability

HOSTILE = "</svg>(a)\\ \x01\udcff \u65e5 fl\u00fcgge"


def pixels(picture: bytes) -> tuple[int, int, list[bytes]]:
    """Width, height and the rows of red, green and blue of a PNG without differences between rows."""
    assert picture.startswith(b"\x89PNG\r\n\x1a\n")
    parts = {}
    at = 8
    while at < len(picture):
        (size,) = struct.unpack(">I", picture[at : at + 4])
        kind, data = picture[at + 4 : at + 8], picture[at + 8 : at + 8 + size]
        assert struct.unpack(">I", picture[at + 8 + size : at + 12 + size]) == (zlib.crc32(kind + data),)
        parts[kind] = data
        at += 12 + size
    assert [*parts] == [b"IHDR", b"IDAT", b"IEND"]
    width, height, *form = struct.unpack(">IIBBBBB", parts[b"IHDR"])
    assert form == [8, 2, 0, 0, 0]
    raw = zlib.decompress(parts[b"IDAT"])
    line = 3 * width + 1
    assert len(raw) == height * line
    rows = [raw[start : start + line] for start in range(0, len(raw), line)]
    assert {row[0] for row in rows} == {0}
    return width, height, [row[1:] for row in rows]


def colour(rows: list[bytes], x: float, y: float) -> tuple[int, ...]:
    at = 3 * round(x * png.SCALE)
    return tuple(rows[round(y * png.SCALE)][at : at + 3])


def test_a_dot_has_its_colour_in_its_place_and_the_ground_is_white() -> None:
    picture = plots.reliability([Reliability(0.5, 0.65, 10, 0.5, Estimate(0.25, None, None), Estimate(0.75, 0.5, 1.0))])
    width, height, rows = pixels(png.png(picture))
    assert (width, height) == (plots.WIDTH * png.SCALE, plots.HEIGHT * png.SCALE)
    across = (64 + plots.WIDTH - 24) / 2
    bottom, top = plots.HEIGHT - 56, 60
    assert colour(rows, across - 2, bottom + 0.25 * (top - bottom)) == (0x3B, 0x6F, 0xB6)
    assert colour(rows, across + 2, bottom + 0.75 * (top - bottom)) == (0xC2, 0x63, 0x2F)
    assert colour(rows, 1, 1) == colour(rows, across, bottom + 0.9 * (top - bottom)) == (255, 255, 255)
    said = rows[round(8 * png.SCALE) : round(26 * png.SCALE)]
    assert sum(row.count(0x22) for row in said) > 100  # the heading, in ink


def test_any_name_of_a_run_can_be_drawn() -> None:
    picture = plots.latency([Point(HOSTILE, 3.0, 0.5, 0.4, None), Point("", 0.0, 0.0, None, None)], title=HOSTILE)
    assert pixels(png.png(picture))[0] == plots.WIDTH * png.SCALE
    pixels(png.png(plots.latency([])))
    pixels(png.png(plots.reliability([])))


def test_without_the_library_it_says_so(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setitem(sys.modules, "pypdfium2", None)
    with pytest.raises(InvalidInput, match="pypdfium2"):
        png.png(plots.latency([]))
