"""Pictures of numbers: well-formed whatever they are made of, with every dot where its number says."""

from __future__ import annotations

from xml.etree import ElementTree

import pytest
from hypothesis import given
from hypothesis import strategies as st

from findling.evaluation import plots
from findling.evaluation.plots import Point
from findling.reports import Estimate, Reliability

SVG = "{http://www.w3.org/2000/svg}"
SHARES = st.floats(0, 1)


def dots(picture: str) -> dict[str, tuple[float, float]]:
    """What each dot says, and where it is."""
    tree = ElementTree.fromstring(picture)
    return {
        circle.findtext(f"{SVG}title") or "": (float(circle.attrib["cx"]), float(circle.attrib["cy"]))
        for circle in tree.iter(f"{SVG}circle")
    }


def test_a_name_is_text_whatever_it_holds() -> None:
    hostile = '</svg><script>alert(1)</script>&"'
    picture = plots.latency([Point(hostile, 3.0, 0.5, None, None)], title=hostile)
    tree = ElementTree.fromstring(picture)
    assert not list(tree.iter(f"{SVG}script"))
    assert hostile in [text.text for text in tree.iter(f"{SVG}text")]


@given(st.lists(st.builds(Point, st.just("a run"), st.floats(0, 1e6), SHARES, SHARES | st.none(), SHARES), max_size=5))
def test_every_point_lies_in_the_picture(points: list[Point]) -> None:
    for x, y in dots(plots.latency(points)).values():
        assert 0 <= x <= plots.WIDTH
        assert 0 <= y <= plots.HEIGHT


def test_a_long_name_stands_below_in_rows_that_fit() -> None:
    name = "semantic.chunk_size=300,index.exclude=" + ",".join(f"folder{number}/" for number in range(9))
    tree = ElementTree.fromstring(
        plots.latency([Point("one", 1.0, 0.5, None, None), Point(name, 1.0, 0.5, None, None)])
    )
    below = [text for text in tree.iter(f"{SVG}text") if float(text.attrib["y"]) > plots.HEIGHT]
    assert [text.text for text in below][:3] == ["1", "one", "2"]
    rows = [text.text or "" for text in below][3:]
    assert len(rows) == 3 and "".join(rows) == name
    assert max(map(len, rows)) <= 60 and float(below[-1].attrib["y"]) < float(tree.attrib["viewBox"].split()[3])
    endless = plots.latency([Point("x" * 4096, 1.0, 0.5, None, None)])
    assert len(ElementTree.fromstring(endless).findall(f"{SVG}text")) < 25


def test_slower_is_further_right_and_better_is_higher() -> None:
    found = dots(plots.latency([Point("quick", 2.0, 0.6, 0.5, 0.7), Point("slow", 40.0, 0.9, 0.8, 1.0)]))
    (quick,) = [at for said, at in found.items() if said.startswith("quick")]
    (slow,) = [at for said, at in found.items() if said.startswith("slow")]
    assert quick[0] < slow[0] and quick[1] > slow[1]


def test_what_is_as_sure_as_it_says_lies_on_the_diagonal() -> None:
    rows = [
        Reliability(0.5, 0.65, 10, 0.6, Estimate(0.6, 0.4, 0.8), Estimate(0.8, None, None)),
        Reliability(0.95, 1.0, 5, 1.0, Estimate(1.0, 1.0, 1.0), Estimate(None, None, None)),
    ]
    picture = plots.reliability(rows)
    (diagonal,) = [
        line for line in ElementTree.fromstring(picture).iter(f"{SVG}line") if "stroke-dasharray" in line.attrib
    ]
    x1, y1, x2, y2 = (float(diagonal.attrib[key]) for key in ("x1", "y1", "x2", "y2"))
    on_it = [at for said, at in dots(picture).items() if said.endswith("at the top")]
    assert len(on_it) == 3  # two rows and the legend
    for x, y in on_it[:2]:
        assert y == pytest.approx(y1 + (x - x1) / (x2 - x1) * (y2 - y1), abs=3)
    ElementTree.fromstring(plots.reliability([]))
