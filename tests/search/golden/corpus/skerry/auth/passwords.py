"""Passwords are stored as salted scrypt digests only."""

from __future__ import annotations

import hashlib
import hmac
import os

SALT_BYTES = 16
COST = 2**14


def hash_password(password: str) -> bytes:
    """Salt and digest, ready to be stored."""
    salt = os.urandom(SALT_BYTES)
    return salt + _digest(password, salt)


def check_password(password: str, stored: bytes) -> bool:
    """Whether the password is the stored one; takes the same time whether it is or not."""
    salt, digest = stored[:SALT_BYTES], stored[SALT_BYTES:]
    return hmac.compare_digest(_digest(password, salt), digest)


def _digest(password: str, salt: bytes) -> bytes:
    return hashlib.scrypt(password.encode(), salt=salt, n=COST, r=8, p=1)
