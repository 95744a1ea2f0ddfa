"""The lines of the protocol as they come in over a descriptor, and what happens at their end."""

from __future__ import annotations

import asyncio
import os
import threading
from pathlib import Path

import pytest

from findling.mcp_server import stdio


def lines_of(data: bytes, tmp_path: Path) -> list[bytes]:
    path = tmp_path / "in"
    path.write_bytes(data)
    reader = os.open(path, os.O_RDONLY)
    try:
        return list(stdio._lines(reader))
    finally:
        os.close(reader)


def test_a_line_that_is_too_long_is_left_out_to_its_last_byte(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    most = 200_000
    monkeypatch.setattr(stdio, "MAX_MESSAGE_BYTES", most)
    assert lines_of(b"a\n" + b"x" * most + b"\nb\n", tmp_path) == [b"a", b"x" * most, b"b"]
    assert lines_of(b"a\n" + b"x" * (most + 1) + b"\nb\n\nc", tmp_path) == [b"a", b"b", b"", b"c"]
    assert lines_of(b"x" * 3 * most + b"tail\nb", tmp_path) == [b"b"]
    assert lines_of(b"b\n" + b"x" * 3 * most, tmp_path) == [b"b"]


def test_reading_that_fails_is_the_end_of_what_comes_in(monkeypatch: pytest.MonkeyPatch) -> None:
    failed: list[type[BaseException]] = []
    monkeypatch.setattr(threading, "excepthook", lambda told: failed.append(told.exc_type))

    async def all_of(reader: int) -> list[str]:
        return [line async for line in stdio.Incoming(reader)]

    reader, writer = os.pipe()
    try:
        assert asyncio.run(asyncio.wait_for(all_of(writer), 20)) == []  # the end that cannot be read from
        for thread in threading.enumerate():
            if thread.name == "findling-stdin":
                thread.join(20)
    finally:
        os.close(reader)
        os.close(writer)
    assert failed == [OSError]
