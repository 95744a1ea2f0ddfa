"""Signed tokens: who asks, and until when."""

from __future__ import annotations

import base64
import hashlib
import hmac
import json
import time


class TokenExpired(PermissionError):
    """The token was good once."""


class BadSignature(PermissionError):
    """The token was not made with our key, or was changed since."""


def issue_token(subject: str, key: bytes, lifetime_s: int) -> str:
    """A token that names ``subject`` and runs out after ``lifetime_s`` seconds."""
    claims = json.dumps({"sub": subject, "exp": int(time.time()) + lifetime_s}).encode()
    return f"{_encode(claims)}.{_encode(_sign(claims, key))}"


def verify_token(token: str, key: bytes) -> str:
    """The subject of a token. Raises `BadSignature` or `TokenExpired`."""
    body, _, signature = token.partition(".")
    claims = _decode(body)
    if not hmac.compare_digest(_sign(claims, key), _decode(signature)):
        raise BadSignature("token signature does not match")
    parsed = json.loads(claims)
    if parsed["exp"] < time.time():
        raise TokenExpired(f"token of {parsed['sub']} expired")
    return str(parsed["sub"])


def _sign(claims: bytes, key: bytes) -> bytes:
    return hmac.new(key, claims, hashlib.sha256).digest()


def _encode(data: bytes) -> str:
    return base64.urlsafe_b64encode(data).decode().rstrip("=")


def _decode(text: str) -> bytes:
    return base64.urlsafe_b64decode(text + "=" * (-len(text) % 4))
