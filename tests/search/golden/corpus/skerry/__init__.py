"""Skerry collects readings from buoys and serves them."""

from skerry.cache import TtlCache
from skerry.config import Settings, load_settings
from skerry.http_client import HttpClient
from skerry.retry import RetryPolicy, retry_call

__all__ = ["HttpClient", "RetryPolicy", "Settings", "TtlCache", "load_settings", "retry_call"]
