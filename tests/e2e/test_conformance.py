"""The public conformance suite over HTTP: the product as it is, and the same server with the suite's fixtures beside.

What may fail is listed in ``data``, with the reason; an entry that passes is a failure too.
"""

from __future__ import annotations

import re
import subprocess
from pathlib import Path

import pytest

pytestmark = pytest.mark.e2e

DATA = Path(__file__).parent / "data"

REVISIONS = ["2025-11-25", "2026-07-28"]

SCENARIO_MS = 8000


def conform(url: str, revision: str, baseline: Path, environment: dict[str, str]) -> tuple[int, int]:
    """(checks passed, checks failed); the failed ones are those that ``baseline`` lists."""
    command = ["conformance", "server", "--url", url, "--suite", "all", "--spec-version", revision]
    ran = subprocess.run(
        [*command, "--timeout", str(SCENARIO_MS), "--expected-failures", str(baseline)],
        env=environment,
        stdin=subprocess.DEVNULL,
        capture_output=True,
        text=True,
        timeout=600,
    )
    summary = ran.stdout[ran.stdout.rfind("=== SUMMARY ===") :]
    assert ran.returncode == 0, summary or ran.stderr
    total = re.search(r"Total: (\d+) passed, (\d+) failed", summary)
    assert total is not None, summary
    return int(total[1]), int(total[2])


@pytest.mark.parametrize("revision", REVISIONS)
def test_with_the_suites_fixtures(revision: str, with_fixtures: str, environment: dict[str, str]) -> None:
    passed, failed = conform(with_fixtures, revision, DATA / f"fixtures-{revision}.yml", environment)
    assert passed > 75
    assert failed <= 1


@pytest.mark.parametrize("revision", REVISIONS)
def test_the_product_as_it_is(revision: str, product: str, environment: dict[str, str]) -> None:
    passed, _ = conform(product, revision, DATA / f"product-{revision}.yml", environment)
    assert passed > 40
