"""The fuzzer itself: what it says of a surface that is wrong, that ends its process, and that refuses."""

from __future__ import annotations

import sys
from pathlib import Path

import pytest

sys.path.insert(0, str(Path(__file__).parent))

import fuzzing

PROGRAM = """
import argparse, os, sys
from pathlib import Path
sys.path.insert(0, {folder!r})
import fuzzing
from findling.model.errors import InvalidInput

fuzzing.MEMORY_MB = 400

class Surface:
    inputs = 1

    def make(self, chance):
        return chance.randrange(1000)

    def check(self, made):
        if {name!r} == "wrong" and made % 2:
            raise ValueError("odd")
        if {name!r} == "ends" and made % 100 == 0:
            os.abort()
        if {name!r} == "refuses":
            raise InvalidInput("No.")
        if {name!r} == "holds":
            self.held = bytearray(b"x") * 500_000_000

given = argparse.ArgumentParser()
for name, kind in dict(child=str, seed=int, first=int, seconds=float, folder=Path, told=Path).items():
    given.add_argument(f"--{{name}}", type=kind)
options = given.parse_args()
fuzzing.work_through(
    Surface(), options.child, seed=options.seed, first=options.first, seconds=options.seconds, told=options.told
)
"""


def attacked(name: str, tmp_path: Path) -> fuzzing.Found:
    program = tmp_path / "program.py"
    program.write_text(PROGRAM.format(folder=str(Path(fuzzing.__file__).parent), name=name))
    return fuzzing.attack(name, seed=1, seconds=1.0, program=program)


def test_what_is_wrong_is_told_with_how_to_repeat_it(tmp_path: Path) -> None:
    found = attacked("wrong", tmp_path)
    assert found.counts.answered and found.counts.failed
    [(key, texts)] = found.failures.items()
    assert key.startswith("ValueError at program.py")
    assert len(texts) == found.counts.failed
    assert "fuzz.py wrong --seed 1 --only " in texts[0] and "input: " in texts[0]


def test_a_process_that_ends_costs_one_input(tmp_path: Path) -> None:
    found = attacked("ends", tmp_path)
    assert found.counts.answered > found.counts.failed
    assert list(found.failures) == ["its process ended with -6"]


@pytest.mark.parametrize(("name", "answered"), [("refuses", False), ("answers", True)])
def test_a_refusal_is_no_failure(name: str, answered: bool, tmp_path: Path) -> None:
    found = attacked(name, tmp_path)
    assert not found.failures
    assert bool(found.counts.answered) == answered and bool(found.counts.refused) != answered
    assert f"| {name} |" in fuzzing.table({name: found})


def test_memory_is_counted_of_the_process_that_is_attacked_and_not_of_who_began_it(tmp_path: Path) -> None:
    held = bytearray(b"x") * 500_000_000
    assert not attacked("answers", tmp_path).failures
    del held
    assert list(attacked("holds", tmp_path).failures) == ["memory"]
