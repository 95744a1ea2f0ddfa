"""Who is asking, and whether they may."""

from skerry.auth.passwords import check_password, hash_password
from skerry.auth.tokens import issue_token, verify_token

__all__ = ["check_password", "hash_password", "issue_token", "verify_token"]
