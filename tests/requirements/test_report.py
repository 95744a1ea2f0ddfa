"""The list of requirements and those who name them belong together."""

from __future__ import annotations

import subprocess
import sys
from pathlib import Path

from report import PROJECT, Proof, all_proofs, named, proofs_of_tests, report, requirements

LINES = requirements((PROJECT / "docs" / "requirements.md").read_text(encoding="utf-8"))


def test_every_id_that_is_named_exists() -> None:
    proofs = all_proofs()
    assert len(proofs) > 100
    unknown = [proof for proof in proofs if proof.requirement not in LINES]
    assert unknown == []


def test_the_list_is_whole() -> None:
    assert LINES["S2-8"] == "limit default 10"
    assert LINES["D18"].startswith("**Limits.**")
    for prefix, most in {"S0-": 30, "S1-": 55, "S2-": 57, "S3-": 38, "S4-": 51, "D": 32}.items():
        assert [name for name in LINES if name.startswith(prefix)] == [f"{prefix}{n}" for n in range(1, most + 1)]


def test_ranges_and_lists_of_ids() -> None:
    assert list(named("S2-2, S2-11 and S2-15 to S2-17: names; D2.")) == "S2-2 S2-11 S2-15 S2-16 S2-17 D2".split()
    assert list(named("D27 to D29, UTF-8, S2, MD5-1, XS0-1, S0-1x")) == ["D27", "D28", "D29"]
    assert list(named("S2-15 to S3-2")) == ["S2-15", "S3-2"]


def test_only_docstrings_of_tests_count(tmp_path: Path) -> None:
    tests = tmp_path / "tests"
    tests.mkdir()
    (tests / "test_a.py").write_text(
        '"""S0-1."""\n\n\ndef helper():\n    """S0-2."""\n\n\n'
        'class TestIt:\n    async def test_b(self):\n        """S0-3 to S0-4: both."""\n        # S0-5\n'
    )
    place = "tests/test_a.py::test_b"
    assert list(proofs_of_tests(tests)) == [Proof("S0-3", place), Proof("S0-4", place)]


def test_the_page_says_what_is_open() -> None:
    lines = {"S0-1": "first", "S0-2": "second", "D1": "a decision"}
    page = report(lines, [Proof("S0-2", "tests/test_a.py::test_b")]).splitlines()
    assert page == [
        "OPEN   S0-1   first",
        "proved S0-2   second",
        "              tests/test_a.py::test_b",
        "OPEN   D1     a decision",
        "S0: 1 of 2 proved",
        "D: 0 of 1 proved",
    ]
    assert "second" not in report(lines, [Proof("S0-2", "x")], only_open=True)


def test_the_command_prints_it() -> None:
    ran = subprocess.run(
        [sys.executable, PROJECT / "tests" / "requirements" / "report.py", "--open"], capture_output=True, text=True
    )
    assert (ran.returncode, ran.stderr) == (0, "")
    assert ran.stdout.splitlines()[-1].startswith("S4: ")
