"""Calling again what failed for a passing reason."""

from __future__ import annotations

import random
import time
from collections.abc import Callable
from dataclasses import dataclass
from typing import TypeVar

Result = TypeVar("Result")


class GaveUp(RuntimeError):
    """Every attempt failed; the last failure is the cause."""


@dataclass(frozen=True)
class RetryPolicy:
    """How many attempts a call gets, and how long to wait between them."""

    attempts: int = 4
    first_delay_s: float = 0.2
    longest_delay_s: float = 10.0

    def delay_before(self, attempt: int) -> float:
        """Exponential backoff with full jitter, so that many clients do not come back at the same moment."""
        ceiling = min(self.longest_delay_s, self.first_delay_s * 2**attempt)
        return random.uniform(0, ceiling)


def retry_call(
    action: Callable[[], Result],
    policy: RetryPolicy,
    retryable: tuple[type[Exception], ...] = (ConnectionError, TimeoutError),
) -> Result:
    """The result of ``action``, which is called until it succeeds or the policy's attempts are used up."""
    for attempt in range(policy.attempts):
        try:
            return action()
        except retryable as error:
            if attempt + 1 == policy.attempts:
                raise GaveUp(f"gave up after {policy.attempts} attempts") from error
            time.sleep(policy.delay_before(attempt))
    raise GaveUp("the policy allows no attempt")
