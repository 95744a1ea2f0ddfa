"""Numbers of an evaluation as pictures: SVG as text. Pure; any browser and most programs for documents show it, and
`png` makes pixels of it.

A picture brings its own light ground, so that it can be read on a page of any colour.
"""

from __future__ import annotations

import re
from collections.abc import Sequence
from html import escape
from typing import Final, NamedTuple

from findling.reports import Reliability, Report

WIDTH: Final = 480
HEIGHT: Final = 360
_LEFT, _RIGHT, _TOP, _BOTTOM = 64, 24, 60, 56
"""The margins, for what stands beside the axes."""

_ROW: Final = 16
"""From one line of the key under a picture to the next."""

_ROW_CHARS: Final = 60
"""As many letters of the size that is written fit beside each other."""

_MOST_ROWS: Final = 4
"""Of one name; what is longer is cut, and the dot says all of it."""

_TICKS: Final = 5
_DOT: Final = 4.0
_INK, _GROUND = "#222222", "#ffffff"
_FIRST, _SECOND = "#3b6fb6", "#c2632f"
"""Two colours that people with any kind of sight tell apart."""


class Point(NamedTuple):
    """A run: its name, the milliseconds of a middling answer, its NDCG@10 and the ends of its interval, if known."""

    name: str
    ms: float
    ndcg: float
    low: float | None
    high: float | None


class _Axis(NamedTuple):
    """``low`` to ``high`` over the pixels ``start`` to ``end``."""

    low: float
    high: float
    start: float
    end: float

    def at(self, value: float) -> float:
        share = (value - self.low) / (self.high - self.low)
        return self.start + min(1.0, max(0.0, share)) * (self.end - self.start)

    @property
    def ticks(self) -> list[float]:
        return [self.low + (self.high - self.low) * tick / _TICKS for tick in range(_TICKS + 1)]


def reliability(rows: Sequence[Reliability], title: str = "Stated confidence and how often it is right") -> str:
    """Stated confidence against the share of answers with the right place at the top and in the first five; a
    confidence that means what it says lies on the diagonal. Bars are 95 % intervals."""
    x = _Axis(0.0, 1.0, _LEFT, WIDTH - _RIGHT)
    y = _Axis(0.0, 1.0, HEIGHT - _BOTTOM, _TOP)
    parts = [
        _line(x.at(0), y.at(0), x.at(1), y.at(1), dashed=True),
        *_axes(x, y, "stated confidence", "share that is right", ".1f", ".1f"),
    ]
    for colour, name, shift in ((_FIRST, "at the top", -2.0), (_SECOND, "in the first five", 2.0)):
        shares = [row.hit1 if name == "at the top" else row.hit5 for row in rows]
        known = [(row, share) for row, share in zip(rows, shares, strict=True) if share.value is not None]
        for row, share in known:
            at = x.at(row.stated) + shift
            said = f"{row.queries} answers from {row.low:g} to {row.high:g}: {share.value:.3f} {name}"
            parts += _dot(at, y.at(share.value or 0.0), colour, said)
            parts += _bar(at, y, share.low, share.high, colour)
        corners = " ".join(f"{x.at(row.stated) + shift:.1f},{y.at(share.value or 0.0):.1f}" for row, share in known)
        parts.append(f'<polyline points="{corners}" fill="none" stroke="{colour}" stroke-width="1.5"/>')
    parts += _legend(((_FIRST, "right place at the top"), (_SECOND, "right place in the first five")))
    return _picture(title, parts)


def latency(points: Sequence[Point], title: str = "Quality and time of an answer") -> str:
    """NDCG@10 against the milliseconds of a middling answer, a dot for each run. Bars are 95 % intervals. Dots have
    numbers, and a key below says whose: names may be long, and dots lie close together."""
    x = _Axis(0.0, _round_up(max((point.ms for point in points), default=1.0)), _LEFT, WIDTH - _RIGHT)
    lows = [point.ndcg if point.low is None else point.low for point in points]
    least = max(0.0, int(min(lows, default=0.0) * 10 - 0.5) / 10)
    y = _Axis(least, 1.0, HEIGHT - _BOTTOM, _TOP)
    parts = _axes(x, y, "milliseconds of a middling answer", "NDCG@10", ".3g", ".2f")
    below = 0.5
    from_left = sorted(range(len(points)), key=lambda at: points[at].ms)
    for at, point in enumerate(points):
        colour = _FIRST if at == 0 else _SECOND
        parts += _dot(x.at(point.ms), y.at(point.ndcg), colour, f"{point.name}: {point.ndcg:.4f}, {point.ms:.1f} ms")
        parts += _bar(x.at(point.ms), y, point.low, point.high, colour)
        number = str(at + 1)
        parts.append(_text(x.at(point.ms) + 7, y.at(point.ndcg) + (15 if from_left.index(at) % 2 else -7), number))
        parts.append(_text(_LEFT, HEIGHT + below * _ROW, number))
        for row in _broken(point.name):
            parts.append(_text(_LEFT + 24, HEIGHT + below * _ROW, row))
            below += 1
    return _picture(title, parts, HEIGHT + (below + 0.5) * _ROW)


def _broken(name: str) -> list[str]:
    """A name in rows, behind its commas where that goes."""
    rows = [""]
    for part in re.findall(rf"[^,]{{1,{_ROW_CHARS}}},?|,", name):
        if len(rows[-1]) + len(part) > _ROW_CHARS and rows[-1]:
            rows.append("")
        rows[-1] += part
    return rows if len(rows) <= _MOST_ROWS else [*rows[: _MOST_ROWS - 1], f"{rows[_MOST_ROWS - 1]}..."]


def points(report: Report) -> list[Point]:
    """The runs of a report whose times and scores are known, the reported one first."""
    runs = [(report.name, report.evaluation), *((row.name, row.evaluation) for row in report.compared)]
    return [
        Point(name, found.latency.p50_ms, found.all.ndcg.value, found.all.ndcg.low, found.all.ndcg.high)
        for name, found in runs
        if found.latency is not None and found.all.ndcg.value is not None
    ]


def _round_up(value: float) -> float:
    """The next of 1, 2, 5, 10, 20, 50 ... above it."""
    scale = 1e-3
    while True:
        for step in (1.0, 2.0, 5.0):
            if step * scale >= value * 1.05:
                return step * scale
        scale *= 10.0


def _axes(x: _Axis, y: _Axis, across: str, up: str, x_form: str, y_form: str) -> list[str]:
    parts = [_line(x.start, y.start, x.end, y.start), _line(x.start, y.start, x.start, y.end)]
    for tick in x.ticks:
        parts.append(_text(x.at(tick), y.start + 18, f"{tick:{x_form}}", anchor="middle"))
        parts.append(_line(x.at(tick), y.start, x.at(tick), y.start + 4))
    for tick in y.ticks:
        parts.append(_text(x.start - 8, y.at(tick) + 4, f"{tick:{y_form}}", anchor="end"))
        parts.append(_line(x.start - 4, y.at(tick), x.start, y.at(tick)))
    parts.append(_text((x.start + x.end) / 2, HEIGHT - 14, across, anchor="middle"))
    middle = (y.start + y.end) / 2
    parts.append(_text(18, middle, up, anchor="middle", turned=True))
    return parts


def _legend(rows: Sequence[tuple[str, str]]) -> list[str]:
    parts: list[str] = []
    for at, (colour, words) in enumerate(rows):
        x = _LEFT + 8 + at * (WIDTH - _LEFT) / len(rows)
        parts += _dot(x, _TOP - 20, colour, words)
        parts.append(_text(x + 10, _TOP - 16, words))
    return parts


def _dot(x: float, y: float, colour: str, said: str) -> list[str]:
    return [f'<circle cx="{x:.1f}" cy="{y:.1f}" r="{_DOT}" fill="{colour}"><title>{_escaped(said)}</title></circle>']


def _bar(x: float, y: _Axis, low: float | None, high: float | None, colour: str) -> list[str]:
    if low is None or high is None:
        return []
    return [_line(x, y.at(low), x, y.at(high), colour=colour)]


def _line(x1: float, y1: float, x2: float, y2: float, *, colour: str = _INK, dashed: bool = False) -> str:
    dashes = ' stroke-dasharray="4 4" opacity="0.5"' if dashed else ""
    return f'<line x1="{x1:.1f}" y1="{y1:.1f}" x2="{x2:.1f}" y2="{y2:.1f}" stroke="{colour}"{dashes}/>'


def _text(x: float, y: float, words: str, *, anchor: str = "start", turned: bool = False) -> str:
    turn = f' transform="rotate(-90 {x:.1f} {y:.1f})"' if turned else ""
    return f'<text x="{x:.1f}" y="{y:.1f}" text-anchor="{anchor}"{turn}>{_escaped(words)}</text>'


def _escaped(words: str) -> str:
    """As XML; what no XML may hold, which a file's name may, becomes a question mark."""
    return escape("".join(char if char.isprintable() else "?" for char in words))


def _picture(title: str, parts: Sequence[str], height: float = HEIGHT) -> str:
    heading = _text(_LEFT, 22, title)
    return (
        f'<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 {WIDTH} {height:g}" role="img" fill="{_INK}" '
        f'font-family="sans-serif" font-size="12">\n<title>{_escaped(title)}</title>\n'
        f'<rect width="{WIDTH}" height="{height:g}" fill="{_GROUND}"/>\n' + "\n".join((heading, *parts)) + "\n</svg>\n"
    )
