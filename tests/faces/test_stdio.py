"""The lines of the protocol as they come in over a descriptor, and what happens at their end."""

from __future__ import annotations

import asyncio
import os
import threading
from io import BytesIO, TextIOWrapper
from pathlib import Path

import pytest

from findling.faces.mcp import wire
from findling.faces.mcp.opening import Opening
from findling.faces.mcp.wire import MAX_ENDS


def lines_of(data: bytes, tmp_path: Path) -> list[bytes | None]:
    """The lines that are read from it, None for one that is too long."""
    path = tmp_path / "in"
    path.write_bytes(data)
    reader = os.open(path, os.O_RDONLY)
    try:
        return [None if line.too_long else line.data for line in wire._lines(reader)]
    finally:
        os.close(reader)


def test_a_line_that_is_too_long_is_left_out_to_its_last_byte(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    most = 200_000
    monkeypatch.setattr(wire, "MAX_MESSAGE_BYTES", most)
    assert lines_of(b"a\n" + b"x" * most + b"\nb\n", tmp_path) == [b"a", b"x" * most, b"b"]
    assert lines_of(b"a\n" + b"x" * (most + 1) + b"\nb\n\nc", tmp_path) == [b"a", None, b"b", b"c"]
    assert lines_of(b"x" * 3 * most + b"tail\nb", tmp_path) == [None, b"b"]
    assert lines_of(b"b\n" + b"x" * 3 * most, tmp_path) == [b"b", None]


def test_of_a_line_that_is_too_long_its_ends_are_kept(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(wire, "MAX_MESSAGE_BYTES", 200_000)
    path = tmp_path / "in"
    head, tail = os.urandom(MAX_ENDS).replace(b"\n", b"."), os.urandom(MAX_ENDS).replace(b"\n", b".")
    for middle in (0, 1, 1 << 16, 3 << 16):
        path.write_bytes(head + b"x" * (200_000 + middle) + tail)
        with path.open("rb") as file:
            (line,) = wire._lines(file.fileno())
        assert line == wire.Line(head + tail, too_long=True)


def test_reading_that_fails_is_the_end_of_what_comes_in(monkeypatch: pytest.MonkeyPatch) -> None:
    failed: list[type[BaseException]] = []
    monkeypatch.setattr(threading, "excepthook", lambda told: failed.append(told.exc_type))

    async def all_of(reader: int) -> list[wire.Line]:
        incoming = wire.Incoming(wire.Wire(reader, TextIOWrapper(BytesIO())), Opening({}, []))
        return [line async for line in incoming.attach(asyncio.get_running_loop())]

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
