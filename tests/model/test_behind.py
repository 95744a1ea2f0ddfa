"""What is done while nobody waits for it: a failure is logged."""

from __future__ import annotations

from concurrent.futures import ThreadPoolExecutor

import pytest

from findling.model.behind import do_behind


def _breaks() -> None:
    raise RuntimeError("the lamp fell over")


def test_a_failure_is_logged_and_the_next_work_is_done(caplog: pytest.LogCaptureFixture) -> None:
    done: list[int] = []
    with ThreadPoolExecutor(1) as executor:
        do_behind(executor, _breaks)
        do_behind(executor, lambda: done.append(1))
    assert done == [1]
    (record,) = caplog.records
    assert record.getMessage() == "_breaks failed"
    assert record.exc_info is not None and "the lamp fell over" in str(record.exc_info[1])
