"""One bounded request, against servers that nobody would write."""

from __future__ import annotations

import contextlib
import gzip
import itertools
import socket
import threading
import traceback
from collections.abc import Callable, Iterator
from contextlib import contextmanager

import pytest

from findling.outbound.http import HttpFailure, get, post_json

Speech = Callable[[socket.socket], None]


@contextmanager
def saying(speech: Speech) -> Iterator[str]:
    """A server that reads something and then says what it likes; its URL."""
    with socket.create_server(("127.0.0.1", 0)) as listening:

        def serve() -> None:
            with contextlib.suppress(OSError):  # the client had enough
                wire, _ = listening.accept()
                with wire:
                    wire.recv(1 << 16)
                    speech(wire)

        thread = threading.Thread(target=serve, daemon=True)
        thread.start()
        yield f"http://127.0.0.1:{listening.getsockname()[1]}"


def forever(piece: bytes, pause_s: float = 0.0, before: bytes = b"") -> Speech:
    def speech(wire: socket.socket) -> None:
        wire.sendall(before)
        stop = threading.Event()
        while not stop.wait(pause_s):
            wire.sendall(piece)

    return speech


OK = b"HTTP/1.1 200 OK\r\n"


@pytest.mark.parametrize(
    "speech",
    [
        forever(b"X", 0.02, before=OK),
        forever(b"X-Y: z\r\n", 0.02, before=OK),
        forever(b"HTTP/1.1 100 Continue\r\n\r\n", 0.02),
        forever(b"1\r\nx\r\n", 0.02, before=OK + b"Transfer-Encoding: chunked\r\n\r\n"),
        forever(b"x", 0.02, before=OK + b"Content-Length: 100000\r\n\r\n"),
    ],
    ids=["one header", "many headers", "continue", "chunks", "body"],
)
def test_the_time_is_for_the_whole_answer(speech: Speech) -> None:
    with saying(speech) as url, pytest.raises(HttpFailure, match="takes too long") as failed:
        get(url, timeout_s=0.4, max_bytes=10**9)
    assert failed.value.reason == "timeout"


@pytest.mark.parametrize(
    "said",
    [
        b"",
        b"SSH-2.0-OpenSSH_9.2\r\n\r\n",
        b"HTTP/1.1 200 OK\r\nContent-Length: 9\r\nContent-Length: 8\r\n\r\n123456789",
        b"HTTP/1.1 200 OK\r\nContent-Length: -1\r\n\r\n",
        b"HTTP/1.1 200 OK\r\nContent-Length: 9\r\n\r\n1234",
        b"HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\nffffffffffffffffffffffff\r\nx",
        b"HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n3\r\nabc\r\n",
        b"HTTP/1.1 200 OK\r\nX: y\x00z\r\n\r\n",
        b"HTTP/1.1 101 Switching Protocols\r\n\r\n",
    ],
)
def test_what_is_no_answer(said: bytes) -> None:
    with saying(lambda wire: wire.sendall(said)) as url, pytest.raises(HttpFailure) as failed:
        get(url, timeout_s=5, max_bytes=100)
    assert failed.value.reason == "broken"
    assert "SSH" not in str(failed.value)


def test_a_head_is_bounded() -> None:
    def speech(wire: socket.socket) -> None:
        wire.sendall(OK)
        for number in itertools.count():
            wire.sendall(b"X-%d: %s\r\n" % (number, b"y" * 1000))

    with saying(speech) as url, pytest.raises(HttpFailure, match="does not speak HTTP") as failed:
        get(url, timeout_s=30, max_bytes=100)
    assert failed.value.reason == "broken"


def test_nothing_is_unpacked() -> None:
    packed = gzip.compress(b"x" * 1_000_000)
    head = OK + b"Content-Encoding: gzip\r\nContent-Length: %d\r\n\r\n" % len(packed)
    with saying(lambda wire: wire.sendall(head + packed)) as url:
        assert get(url, timeout_s=5, max_bytes=len(packed)).body == packed


def test_proxies_of_the_environment_are_not_asked(monkeypatch: pytest.MonkeyPatch) -> None:
    for name in ("http_proxy", "HTTP_PROXY", "all_proxy", "ALL_PROXY"):
        monkeypatch.setenv(name, "http://127.0.0.1:1")
    with saying(lambda wire: wire.sendall(OK + b"Content-Length: 2\r\n\r\nhi")) as url:
        assert get(url, timeout_s=5, max_bytes=100).body == b"hi"


@pytest.mark.parametrize("key", ["Bearer SECRET\r\nX-Other: y", "Bearer SECRET\x00", "Bearer SECRET-ключ"])
def test_a_key_that_cannot_be_sent_is_not_repeated(key: str) -> None:
    sent: list[bytes] = []
    with saying(lambda wire: sent.append(wire.recv(100))) as url, pytest.raises(HttpFailure) as failed:
        post_json(url, {}, timeout_s=5, max_bytes=100, headers={"Authorization": key})
    assert "SECRET" not in "".join(traceback.format_exception(failed.value))


@pytest.mark.parametrize("url", ["ftp://127.0.0.1/", "file:///etc/passwd", "http://", "//127.0.0.1/", "127.0.0.1"])
def test_what_is_no_address_of_a_server(url: str) -> None:
    with pytest.raises(HttpFailure) as failed:
        get(url, timeout_s=1, max_bytes=100)
    assert failed.value.reason == "unreachable"


def test_other_machines_are_asked_only_by_who_may() -> None:
    with pytest.raises(HttpFailure, match="not this machine"):
        get("http://192.0.2.1/", timeout_s=1, max_bytes=100)
