"""Calls that fail and come back."""

from __future__ import annotations

import pytest
from skerry.retry import GaveUp, RetryPolicy, retry_call


def test_a_call_that_fails_twice_succeeds_at_the_third_attempt() -> None:
    failures = iter([ConnectionError("down"), ConnectionError("down")])

    def flaky() -> str:
        for failure in failures:
            raise failure
        return "up"

    assert retry_call(flaky, RetryPolicy(first_delay_s=0)) == "up"


def test_the_delay_never_passes_the_longest() -> None:
    policy = RetryPolicy(first_delay_s=1, longest_delay_s=3)
    assert all(policy.delay_before(attempt) <= 3 for attempt in range(20))


def test_giving_up_names_the_number_of_attempts() -> None:
    def broken() -> None:
        raise TimeoutError

    with pytest.raises(GaveUp, match="after 2 attempts"):
        retry_call(broken, RetryPolicy(attempts=2, first_delay_s=0))
