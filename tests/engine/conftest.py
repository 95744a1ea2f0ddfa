"""Time limits that a busy machine could overrun are out of the way: these tests are about what is answered."""

from __future__ import annotations

import pytest


@pytest.fixture(autouse=True)
def unhurried(monkeypatch: pytest.MonkeyPatch) -> None:
    for limit in ("CHECK_S", "SMALL_CHECK_S", "SYNC_S"):
        monkeypatch.setattr(f"findling.engine.freshness.{limit}", 60.0)
