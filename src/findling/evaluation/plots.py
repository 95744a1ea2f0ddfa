"""Plots of an evaluation, drawn by matplotlib (`pip install 'findling[eval]'`).

The same numbers give the same bytes. Must not know files: each plot is returned as the bytes of an SVG and of a PNG.
"""

from __future__ import annotations

import math
import textwrap
from collections.abc import Iterator, Mapping, Sequence
from contextlib import chdir, contextmanager
from importlib.util import find_spec
from io import BytesIO
from pathlib import Path
from typing import TYPE_CHECKING, Any, Final, NamedTuple

from findling.model.errors import InvalidInput
from findling.model.installing import install_command
from findling.model.reports import Estimate, Reliability, Report

if TYPE_CHECKING:
    from matplotlib.axes import Axes

INSTALL: Final = install_command("findling[eval]")
NOT_INSTALLED: Final = "Pictures need matplotlib, which is not installed"

_FORMS: Final = (".svg", ".png")
_STYLE: Final[dict[Any, object]] = {
    "axes.axisbelow": True,
    "axes.grid": True,
    "axes.spines.right": False,
    "axes.spines.top": False,
    "figure.dpi": 160,
    "grid.color": "#e6e6e6",
    "legend.frameon": False,
    "savefig.bbox": "tight",
    "svg.fonttype": "none",  # text stays text, for search and for screen readers
    "svg.hashsalt": "findling",  # otherwise the ids in a file are random
    "text.parse_math": False,  # a "$" in a name is a dollar
}
_COLOURS: Final = ("#0072b2", "#d55e00", "#009e73", "#cc79a7", "#e69f00", "#56b4e9")
"""Colours that colour-blind people can tell apart, too (Okabe and Ito)."""

_NAME_CHARS: Final = 72
_MOST_ROWS: Final = 4
"""Of one name; what is longer is cut."""

_STEP: Final = 0.05
"""An axis of scores begins and ends at a multiple of it."""


class Point(NamedTuple):
    """A run: its name, the milliseconds of a middling answer and its NDCG@10."""

    name: str
    ms: float
    ndcg: Estimate


def available() -> bool:
    """Whether pictures can be drawn; does not import what draws them."""
    return find_spec("matplotlib") is not None


def points(report: Report) -> list[Point]:
    """The runs of a report whose times and scores are known, the reported one first."""
    runs = [(report.name, report.evaluation), *((row.name, row.evaluation) for row in report.compared)]
    return [
        Point(name, found.latency.p50_ms, found.all.ndcg)
        for name, found in runs
        if found.latency is not None and found.all.ndcg.value is not None
    ]


def reliability(
    rows: Sequence[Reliability], title: str = "Stated confidence and how often it is right"
) -> dict[str, bytes]:
    """Stated confidence against the share of answers with the right place at the top and in the first five; a
    confidence that means what it says lies on the diagonal. As `_picture`."""
    with _picture(title, "stated confidence", "share of right answers") as (axes, drawn):
        axes.set(xlim=(0, 1), ylim=(0, 1), aspect="equal")
        axes.plot((0, 1), (0, 1), color="#999999", linestyle="dashed", linewidth=1)
        at_the_top = [(row.stated - 0.004, row.hit1) for row in rows]
        in_the_first_five = [(row.stated + 0.004, row.hit5) for row in rows]
        _series(axes, at_the_top, _COLOURS[0], "right place at the top", "hit1")
        _series(axes, in_the_first_five, _COLOURS[1], "right place in the first five", "hit5")
        axes.legend(loc="lower right")
    return drawn


def latency(points: Sequence[Point], title: str = "Quality and time of an answer") -> dict[str, bytes]:
    """NDCG@10 against the milliseconds of a middling answer, a numbered dot for each run; a key below says whose. As
    `_picture`."""
    with _picture(title, "milliseconds of the median answer", "NDCG@10") as (axes, drawn):
        axes.set(xlim=(0, 1.08 * max((point.ms for point in points), default=0) or 1), ylim=_around(points))
        from_left = sorted(range(len(points)), key=lambda at: points[at].ms)
        for at, point in enumerate(points):
            name = textwrap.fill(
                f"{at + 1}  {point.ndcg.value:.3f} in {point.ms:.1f} ms: {_printable(point.name)}",
                _NAME_CHARS,
                break_on_hyphens=False,
                subsequent_indent="    ",
                max_lines=_MOST_ROWS,
                placeholder=" ...",
            )
            _series(axes, [(point.ms, point.ndcg)], _COLOURS[at % len(_COLOURS)], name, f"run-{at + 1}")
            below = from_left.index(at) % 2
            axes.annotate(
                str(at + 1),
                (point.ms, point.ndcg.value or 0.0),
                xytext=(6, -12 if below else 5),
                textcoords="offset points",
            )
        if points:
            axes.legend(loc="upper left", bbox_to_anchor=(-0.1, -0.14), handlelength=1, labelspacing=0.7)
    return drawn


def curves(lines: Mapping[str, Sequence[tuple[float, float]]], title: str, across: str, up: str) -> dict[str, bytes]:
    """A line for each name, of two shares; the first one is drawn thicker. As `_picture`."""
    with _picture(title, across, up) as (axes, drawn):
        axes.set(xlim=(0, 1), ylim=(0, 1), aspect="equal")
        for at, (name, line) in enumerate(lines.items()):
            width = 1.2 if at else 2.4
            axes.plot(
                *zip(*line, strict=True), color=_COLOURS[at % len(_COLOURS)], linewidth=width, label=_printable(name)
            )
        axes.legend(loc="lower right")
    return drawn


def _around(points: Sequence[Point]) -> tuple[float, float]:
    """Where an axis begins and ends that shows the points and their intervals, and little else."""
    scores = [point.ndcg for point in points]
    ends = [end for score in scores for end in (score.value, score.low, score.high) if end is not None]
    low = math.floor(min(ends, default=0.0) / _STEP - 0.2) * _STEP
    high = math.ceil(max(ends, default=1.0) / _STEP + 0.2) * _STEP
    return max(0.0, low), min(1.0, high)


def _series(axes: Axes, dots: Sequence[tuple[float, Estimate]], colour: str, name: str, identifier: str) -> None:
    """Dots with 95 % intervals, joined by a line; those without a value are left out. ``identifier``: of the group of
    dots in an SVG."""
    known = [(x, y.value, y.low, y.high) for x, y in dots if y.value is not None]
    bars = (
        [[], []]
        if not known
        else [
            [0.0 if low is None else max(0.0, value - low) for _, value, low, _ in known],
            [0.0 if high is None else max(0.0, high - value) for _, value, _, high in known],
        ]
    )
    drawn = axes.errorbar(
        [x for x, *_ in known],
        [value for _, value, *_ in known],
        yerr=bars,
        label=name,
        color=colour,
        marker="o",
        markersize=5,
        linewidth=1.2,
        capsize=2,
        clip_on=False,
    )
    drawn.lines[0].set_gid(identifier)


def _printable(name: str) -> str:
    """What no XML may hold, which a file's name may, becomes a question mark."""
    return "".join(char if char.isprintable() else "?" for char in name)


@contextmanager
def _picture(title: str, across: str, up: str) -> Iterator[tuple[Axes, dict[str, bytes]]]:
    """Axes to draw on. When it is left the other value holds the picture's bytes by the ending of its file's name.

    Raises InvalidInput without matplotlib.
    """
    try:
        # It would read a `matplotlibrc` of the folder one stands in, which may be a stranger's repository.
        with chdir(Path(__file__).parent):
            import matplotlib
            from matplotlib.figure import Figure
    except ImportError as error:
        raise InvalidInput(f"{NOT_INSTALLED}.", remedy=INSTALL) from error
    drawn: dict[str, bytes] = {}
    with matplotlib.rc_context():
        matplotlib.rcdefaults()
        matplotlib.rcParams.update(_STYLE)
        figure = Figure(figsize=(6.4, 4.8))
        axes = figure.add_subplot(xlabel=across, ylabel=up)
        axes.set_title(_printable(title), loc="left")
        yield axes, drawn
        for form in _FORMS:
            about: dict[str, Any] = {"Title": _printable(title)}
            if form == ".svg":
                about |= {"Date": None, "Creator": None}
            out = BytesIO()
            figure.savefig(out, format=form[1:], metadata=about)
            drawn[form] = out.getvalue()
