"""Tokens that are good, old or forged."""

from __future__ import annotations

import pytest
from skerry.auth.tokens import BadSignature, TokenExpired, issue_token, verify_token

KEY = b"a key for tests"


def test_a_token_names_its_subject() -> None:
    assert verify_token(issue_token("buoy-7", KEY, 60), KEY) == "buoy-7"


def test_an_expired_token_is_refused() -> None:
    with pytest.raises(TokenExpired):
        verify_token(issue_token("buoy-7", KEY, -1), KEY)


def test_a_token_signed_with_another_key_is_refused() -> None:
    with pytest.raises(BadSignature):
        verify_token(issue_token("buoy-7", b"other", 60), KEY)
