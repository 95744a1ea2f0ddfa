"""The page on architecture and the package say the same, and imports go round in no circle."""

from __future__ import annotations

import configparser
import re
import sys
from pathlib import Path

PROJECT = Path(__file__).parent.parent
PACKAGE = PROJECT / "src" / "findling"
sys.path.insert(0, str(PROJECT / "benchmarks"))

from house import count  # noqa: E402

PAGE = (PROJECT / "docs" / "ARCHITECTURE.md").read_text(encoding="utf-8")
HOUSE = count(PACKAGE)


def test_the_rooms_of_the_map_are_the_rooms() -> None:
    rooms = re.findall(r"^\| `(\w+)` \|", PAGE, re.MULTILINE)
    assert sorted(rooms) == sorted(path.parent.name for path in PACKAGE.glob("*/__init__.py"))
    assert sorted(rooms) == [name.split(".")[1] for name in HOUSE.rooms if not name.endswith("__main__")]


def test_the_map_is_short() -> None:
    assert PAGE.count("\n") < 120


def test_rooms_stand_in_the_order_in_which_they_may_import() -> None:
    rules = configparser.ConfigParser()
    rules.read(PROJECT / ".importlinter")
    layers = rules["importlinter:contract:direction"]["layers"]
    highest_first = [name.removeprefix("findling.") for name in re.findall(r"findling\.\w+", layers)]
    said = re.search(r"from low to high: (.*?)\.\n", PAGE, re.DOTALL)
    assert said
    order = {name: line for line, row in enumerate(layers.split("\n")) for name in re.findall(r"findling\.(\w+)", row)}
    lines = [order[name] for name in re.findall(r"`(\w+)`", said[1])]
    assert sorted(order) == sorted(highest_first) and lines == sorted(lines, reverse=True) and len(lines) == len(order)


def test_every_file_of_the_map_is_there() -> None:
    names = [name.rstrip("/") for name in re.findall(r"`([\w/]+(?:\.py|/))`", PAGE)]
    assert len(names) > 30
    missing = [name for name in names if not [*PACKAGE.glob(f"**/{name}"), *PROJECT.glob(name)]]
    assert missing == []


def test_rooms_import_each_other_in_no_circle() -> None:
    assert HOUSE.room_circle() == []


def test_modules_import_each_other_in_no_circle() -> None:
    assert HOUSE.circles() == []
