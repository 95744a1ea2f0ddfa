"""Pictures of numbers: well-formed whatever they are made of, with every dot where its number says."""

from __future__ import annotations

import subprocess
import sys
from pathlib import Path
from xml.etree import ElementTree

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from findling.evaluation import plots
from findling.evaluation.plots import Point
from findling.model.errors import InvalidInput
from findling.model.reports import Estimate, Reliability

SVG = "{http://www.w3.org/2000/svg}"
HOSTILE = "</svg><script>alert(1)</script>&\"'$x$ (a)\\ \x01\udcff flügge"
SHARES = st.floats(0, 1)
UNKNOWN = Estimate(None, None, None)
ROWS = [
    Reliability(0.5, 0.65, 10, 0.6, Estimate(0.6, 0.4, 0.8), Estimate(0.8, None, None)),
    Reliability(0.95, 1.0, 5, 1.0, Estimate(1.0, 1.0, 1.0), UNKNOWN),
]


def point(name: str, ms: float = 3.0, ndcg: float = 0.5, low: float | None = None, high: float | None = None) -> Point:
    return Point(name, ms, Estimate(ndcg, low, high))


def parsed(drawn: dict[str, bytes]) -> ElementTree.Element:
    """The SVG of a picture, whose other form is a PNG."""
    assert [*drawn] == [".svg", ".png"] and drawn[".png"].startswith(b"\x89PNG\r\n\x1a\n")
    return ElementTree.fromstring(drawn[".svg"])


def texts(tree: ElementTree.Element) -> list[str]:
    return ["".join(text.itertext()) for text in tree.iter(f"{SVG}text")]


def dots(tree: ElementTree.Element, of: str) -> list[tuple[float, float]]:
    """Where the dots of a series are, from the upper left corner."""
    (group,) = [group for group in tree.iter(f"{SVG}g") if group.get("id") == of]
    return [(float(use.attrib["x"]), float(use.attrib["y"])) for use in group.iter(f"{SVG}use")]


def test_a_name_is_text_whatever_it_holds() -> None:
    tree = parsed(plots.latency([point(HOSTILE), point("")], title=HOSTILE))
    assert not list(tree.iter(f"{SVG}script"))
    said = HOSTILE.replace("\x01", "?").replace("\udcff", "?")
    assert said in texts(tree) and any(text.endswith(f": {said}") for text in texts(tree))


@settings(deadline=None, max_examples=10)
@given(
    st.lists(
        st.builds(Point, st.just("a run"), st.floats(0, 1e6), st.builds(Estimate, SHARES, SHARES | st.none(), SHARES)),
        max_size=5,
    )
)
def test_every_point_lies_in_the_picture(points: list[Point]) -> None:
    tree = parsed(plots.latency(points))
    _, _, width, height = map(float, tree.attrib["viewBox"].split())
    for number in range(len(points)):
        ((x, y),) = dots(tree, f"run-{number + 1}")
        assert 0 <= x <= width and 0 <= y <= height


def test_a_long_name_stands_below_in_a_few_rows_that_fit() -> None:
    name = "semantic.chunk_size=300,index.exclude=" + ",".join(f"folder{number}/" for number in range(9))
    said = "\n".join(texts(parsed(plots.latency([point("one"), point(name)]))))
    assert name in said.replace("\n    ", "")
    assert max(map(len, said.splitlines())) <= 80
    endless = parsed(plots.latency([point("x" * 4096)]))
    assert sum("xx" in text for text in texts(endless)) < 5


def test_slower_is_further_right_and_better_is_higher() -> None:
    tree = parsed(plots.latency([point("quick", 2.0, 0.6, 0.5, 0.7), point("slow", 40.0, 0.9, 0.8, 1.0)]))
    ((quick, worse),) = dots(tree, "run-1")
    ((slow, better),) = dots(tree, "run-2")
    assert quick < slow and worse > better
    assert [text for text in texts(tree) if ":" in text] == ["1  0.600 in 2.0 ms: quick", "2  0.900 in 40.0 ms: slow"]


@pytest.mark.parametrize(
    "scores",
    [
        [Estimate(0.914, 0.896, 0.930), Estimate(0.802, 0.778, 0.824)],
        [Estimate(0.3, None, None)],
        [Estimate(0.0, 0.0, 0.02)],
        [Estimate(0.99, 0.4, 1.0)],
    ],
)
def test_the_axis_of_scores_begins_and_ends_close_to_what_it_shows(scores: list[Estimate]) -> None:
    tree = parsed(plots.latency([Point("a run", 5.0, score) for score in scores]))
    (axis,) = [group for group in tree.iter(f"{SVG}g") if group.get("id") == "matplotlib.axis_2"]
    ticks = [float(text) for text in texts(axis) if text[0].isdigit()]
    ends = [end for score in scores for end in (score.value, score.low, score.high) if end is not None]
    assert len(ticks) > 3 and min(ticks) >= 0 and max(ticks) <= 1
    assert abs(min(ticks) - min(ends)) < 0.1 and abs(max(ticks) - max(ends)) < 0.1


def test_what_is_as_sure_as_it_says_lies_on_the_diagonal() -> None:
    tree = parsed(plots.reliability(ROWS))
    assert len(dots(tree, "hit1")) == 2 and len(dots(tree, "hit5")) == 1
    (x1, y1), (x2, y2) = dots(tree, "hit1")
    ((_, higher),) = dots(tree, "hit5")
    assert (y1 - y2) / (x2 - x1) == pytest.approx(1) and higher < y1
    parsed(plots.reliability([]))


def test_each_curve_has_its_name() -> None:
    drawn = plots.curves({"all": [(0.0, 0.0), (0.1, 0.8), (1.0, 1.0)], "one": [(0.0, 0.5)]}, "t", "wrong", "right")
    assert {"all", "one", "wrong", "right"} <= set(texts(parsed(drawn)))


def test_the_same_numbers_give_the_same_bytes() -> None:
    """In each process, whatever the `matplotlibrc` of a folder says."""
    program = """
import hashlib
from findling.evaluation import plots
from findling.model.reports import Estimate
drawn = plots.latency([plots.Point("a run", 2.0, Estimate(0.5, 0.4, 0.6))])
print(hashlib.sha256(drawn[".svg"] + drawn[".png"]).hexdigest())
"""
    assert b"<dc:date>" not in plots.latency([])[".svg"]
    drawn = [
        subprocess.run([sys.executable, "-c", program], env=env, capture_output=True, text=True, check=True).stdout
        for env in ({"PYTHONHASHSEED": seed, "HOME": str(Path.home())} for seed in "12")
    ]
    assert drawn[0] == drawn[1]


def test_settings_of_the_folder_one_stands_in_are_not_read(tmp_path: Path) -> None:
    (tmp_path / "matplotlibrc").write_bytes(b"text.usetex: True\nfont.size: 40\n\xff")
    program = """
import sys
from findling.evaluation import plots
sys.stdout.buffer.write(plots.latency([])[".svg"])
"""
    ran = subprocess.run([sys.executable, "-c", program], cwd=tmp_path, capture_output=True, check=True)
    assert ran.stdout == plots.latency([])[".svg"] and ran.stderr == b""


def test_without_the_library_it_says_what_installs_it(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setitem(sys.modules, "matplotlib", None)
    assert not plots.available()
    with pytest.raises(InvalidInput, match="matplotlib, which is not installed") as raised:
        plots.latency([])
    assert raised.value.remedy is not None and "pip install 'findling[eval]'" in raised.value.remedy
