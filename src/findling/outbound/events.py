"""Logs events with fixed names and fields, as JSON lines on stderr.

They go through one logger of the logging module, and are shown from the configured level on. A query is never logged,
only its length. Nothing is written to stdout, which may be a protocol's stream.
"""

from __future__ import annotations

import json
import logging
import os
import re
import sys
import time
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from contextvars import ContextVar
from datetime import UTC, datetime
from typing import Any, Final

LOGGER: Final = "findling.outbound.events"
_PACKAGE: Final = "findling"
_MESSAGE_CHARS: Final = 2_000
"""The length at which messages are cut: they may hold a server's answer, whose beginning says what was wrong."""

_REQUEST = re.compile(r"[A-Za-z0-9._-]{1,64}")
_request: ContextVar[str] = ContextVar("request", default="")

_log = logging.getLogger(LOGGER)


def semantic_search(*, query: str, result_count: int, latency_ms: float, used_semantic: bool) -> None:
    """A tool that searches by meaning has answered, by meaning or without it (``used_semantic``)."""
    counts = {"query_length": len(query), "result_count": result_count}
    emit("semantic.search", **counts, latency_ms=round(latency_ms, 3), used_semantic=used_semantic)


def semantic_index(*, doc_path: str, chunk_count: int, latency_ms: float, skipped_unchanged: int) -> None:
    """A file got its vectors; ``skipped_unchanged`` of its chunks kept theirs."""
    if _log.isEnabledFor(logging.INFO):  # once for each file of a run
        counts = {"chunk_count": chunk_count, "latency_ms": round(latency_ms, 3)}
        emit("semantic.index", doc_path=doc_path, **counts, skipped_unchanged=skipped_unchanged)


def semantic_reindex(*, total_docs: int, indexed: int, skipped: int, errors: int, latency_ms: float) -> None:
    """Vectors were made again on demand; counts are of documents."""
    counts = {"total_docs": total_docs, "indexed": indexed, "skipped": skipped, "errors": errors}
    emit("semantic.reindex", **counts, latency_ms=round(latency_ms, 3))


def semantic_error(*, operation: str, error_type: str, message: str) -> None:
    """A search by meaning, or an embedding, failed. ``message`` must not repeat a query."""
    told = {"operation": operation, "error_type": error_type, "message": message[:_MESSAGE_CHARS]}
    _log.warning("semantic.error", extra={"fields": told})


def since(started: float) -> float:
    """Milliseconds since a time of `time.monotonic`."""
    return round((time.monotonic() - started) * 1000, 3)


def to_stderr(level: str = "warning") -> None:
    """Write what findling logs from ``level`` on (debug, info, warning, error) to stderr, one JSON object a line.

    For programs. Users of the package as a library choose handlers themselves. Calling it again changes the level.
    """
    package = logging.getLogger(_PACKAGE)
    package.setLevel(level.upper())
    package.propagate = False
    for handler in package.handlers:
        if isinstance(handler.formatter, JsonLines):
            package.removeHandler(handler)
    handler = logging.StreamHandler(sys.stderr)
    handler.setFormatter(JsonLines())
    package.addHandler(handler)


class JsonLines(logging.Formatter):
    """A record as one line of JSON: time, level, the id of the request that it belongs to, and an event's name and
    fields, or a logger's name and message."""

    def format(self, record: logging.LogRecord) -> str:
        line: dict[str, Any] = {
            "time": datetime.fromtimestamp(record.created, UTC).isoformat(timespec="milliseconds"),
            "level": record.levelname.lower(),
        }
        if of := _request.get():
            line["request"] = of
        fields = getattr(record, "fields", None)
        if isinstance(fields, Mapping):
            line |= {"event": record.getMessage(), **fields}
        else:
            line |= {"logger": record.name, "message": record.getMessage()}
        if record.exc_info:
            line["traceback"] = self.formatException(record.exc_info)
        return json.dumps(line, ensure_ascii=True, default=str)


@contextmanager
def request(given: str = "") -> Iterator[None]:
    """What is logged inside belongs to one request: ``given`` is its id where it came with a sound one."""
    token = _request.set(given if _REQUEST.fullmatch(given) else os.urandom(8).hex())
    try:
        yield
    finally:
        _request.reset(token)


def emit(event: str, **fields: Any) -> None:
    """Log that something happened; ``fields`` must not repeat a query."""
    _log.info(event, extra={"fields": fields})
