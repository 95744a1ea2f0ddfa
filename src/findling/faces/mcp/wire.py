"""Reads and writes the lines of the protocol over stdin and stdout. Must not know a message, nor the SDK.

Only the protocol is written to the stream that was stdout. Light: a server's first answers wait for nothing else.
"""

from __future__ import annotations

import os
import re
import sys
import threading
from collections import deque
from collections.abc import Iterator
from io import TextIOWrapper
from typing import TYPE_CHECKING, Any

from msgspec import Struct

if TYPE_CHECKING:
    from asyncio import AbstractEventLoop, Future

    from findling.faces.mcp.opening import Opening


PARSE_ERROR, INVALID_REQUEST, INTERNAL_ERROR = -32700, -32600, -32603

MAX_ENDS = 4096
"""Bytes at the beginning and at the end of a message in which its id is looked for when it cannot be read."""

SHAPE = (
    'A request is one JSON object with "jsonrpc": "2.0", an "id" that is a string or an integer, a "method" that is a '
    'string and, if there are "params", an object of them.'
)

_ESCAPE = re.compile(
    r"\\u[dD][89abAB][0-9a-fA-F]{2}\\u[dD][c-fC-F][0-9a-fA-F]{2}"  # two halves of one character
    r"|(?P<half>\\u[dD][89a-fA-F][0-9a-fA-F]{2})|\\.",
    re.DOTALL,
)

_STRING = r'"(?:[^"\\]|\\.)*+"'
_ID = rf'"id"\s*+:\s*+(?P<id>{_STRING}|-?\d{{1,18}}+)\s*+'
_FIRST_MEMBERS = rf"\s*+\{{(?:\s*+(?!\"id\"){_STRING}\s*+:\s*+(?:{_STRING}|[-+.\w]++)\s*+,)*+\s*+"
_ID_FIRST = re.compile(_FIRST_MEMBERS + _ID + r"[,}]", re.DOTALL)
_ID_LAST = re.compile(rf'"jsonrpc"\s*+:\s*+"2\.0"\s*+,\s*+{_ID}\}}\s*+\Z', re.DOTALL)
"""As the SDK for JavaScript writes it. Any id before a last brace could be one of the arguments'."""


class Refused(Exception):
    """A message that gets an error as its answer."""

    def __init__(self, code: int, message: str, request_id: str | int | None = None) -> None:
        super().__init__(message)
        self.reply: dict[str, Any] = {
            "jsonrpc": "2.0",
            "id": request_id,
            "error": {"code": code, "message": message},
        }


class TooLong(Refused):
    """A message of which only the ends were kept."""

    def __init__(self, head: bytes, tail: bytes, most: int) -> None:
        ends = (part.decode("utf-8", "replace") for part in (head[:MAX_ENDS], tail[-MAX_ENDS:]))
        super().__init__(INVALID_REQUEST, f"The message has more than {most} bytes, which is the limit.", _id_in(*ends))


def read_message(data: bytes) -> str:
    """The message as JSON text that the SDK can read. Raises `Refused`.

    Text that is not whole Unicode, such as half an emoji, is mended: U+FFFD stands where something is missing.
    """
    from pydantic_core import from_json  # the parser that the SDK uses, with the same bounds

    text = data.decode("utf-8-sig", "replace")
    try:
        _check(from_json(text))
    except ValueError:
        text = _ESCAPE.sub(lambda found: r"\ufffd" if found["half"] else found[0], text)
        try:
            _check(from_json(text))
        except ValueError as error:
            reason = f"This cannot be read as JSON: {error}."
            raise Refused(PARSE_ERROR, reason, _id_in(text[:MAX_ENDS], text[-MAX_ENDS:])) from None
    return text


def _check(message: object) -> None:
    """Raises `Refused` for a request that the SDK would not answer; what needs no answer passes."""
    if not isinstance(message, dict):
        raise Refused(INVALID_REQUEST, SHAPE)
    method, request_id = message.get("method"), message.get("id")
    if "method" not in message and ("result" in message or "error" in message):
        return  # an answer itself
    if "id" not in message and isinstance(method, str):
        return  # a notification
    known = request_id if isinstance(request_id, str | int) and not isinstance(request_id, bool) else None
    params = message.get("params")
    sound = isinstance(method, str) and message.get("jsonrpc") == "2.0" and isinstance(params, dict | None)
    if known is None or not sound:
        raise Refused(INVALID_REQUEST, SHAPE, known)


def _id_in(head: str, tail: str) -> str | int | None:
    from pydantic_core import from_json

    found = _ID_FIRST.match(head) or _ID_LAST.search(tail)
    if found is None:
        return None
    try:
        request_id: str | int = from_json(found["id"])
    except ValueError:
        return None
    return request_id


# --- what a message has to be before the SDK sees it -----------------------------------------------------------------


MAX_MESSAGE_BYTES = 1 << 24
"""A longer line is no request of ours: it is refused, and read without being kept."""

MESSAGES_WAITING = 64
"""Messages that are read ahead; a client that sends faster has to wait."""


class Wire(Struct, frozen=True):
    """What the protocol speaks over: a descriptor to read from, a stream to write to."""

    reader: int
    writer: TextIOWrapper

    def write(self, message: str) -> None:
        self.writer.write(f"{message}\n")
        self.writer.flush()


class Line(Struct, frozen=True):
    """What came in up to an end of line; of one that is ``too_long`` both ends, without what was between them."""

    data: bytes
    too_long: bool

    def message(self) -> str:
        """The message that it is, as text for the SDK. Raises `Refused`."""
        if self.too_long:
            raise TooLong(self.data[:MAX_ENDS], self.data[MAX_ENDS:], MAX_MESSAGE_BYTES)
        return read_message(self.data)


class Incoming:
    """The lines that come in and that the opening has not answered, as an asynchronous iterator.

    A thread of its own reads them and writes the opening's answers. It is not waited for: a read from a client that
    says nothing cannot be interrupted, and must not keep the process from ending.
    """

    def __init__(self, wire: Wire, opening: Opening) -> None:
        self._wire, self._opening = wire, opening
        self._lines: deque[Line | None] = deque()
        self._room = threading.Semaphore(MESSAGES_WAITING)
        self._loop: AbstractEventLoop | None = None
        self._waiting: Future[None] | None = None
        self._met = threading.Event()
        self._ended = False
        threading.Thread(target=self._read, name="findling-stdin", daemon=True).start()

    def meet(self, timeout_s: float) -> bool:
        """Wait until the client has what it needs to begin, or asks for more, at most so long. False when it has gone
        by then, and nothing is left to answer."""
        self._met.wait(timeout_s)
        return self._opening.is_over or not self._ended

    def attach(self, loop: AbstractEventLoop) -> Incoming:
        """Itself, to be iterated over in this loop alone."""
        self._loop = loop
        return self

    def __aiter__(self) -> Incoming:
        return self

    async def __anext__(self) -> Line:
        while not self._lines:
            assert self._loop is not None
            self._waiting = self._loop.create_future()
            await self._waiting
        line = self._lines.popleft()
        if line is None:
            raise StopAsyncIteration
        self._room.release()
        return line

    def _read(self) -> None:
        try:
            for line in _lines(self._wire.reader):
                reply, heard = self._opening.hear(line)
                if reply is not None:
                    self._wire.write(reply)
                if heard is not None:
                    self._room.acquire()
                    if not self._hand_over(heard):
                        return
                if self._opening.is_done:
                    self._met.set()
        except BrokenPipeError:
            pass  # the client has gone without closing both ends
        finally:  # whoever waits learns of the end also when reading fails
            self._ended = True
            self._hand_over(None)
            self._met.set()

    def _hand_over(self, line: Line | None) -> bool:
        self._lines.append(line)
        try:
            if self._loop is not None:
                self._loop.call_soon_threadsafe(self._wake)
        except RuntimeError:  # the loop is closed: the server has ended
            return False
        return True

    def _wake(self) -> None:
        if self._waiting is not None and not self._waiting.done():
            self._waiting.set_result(None)


def _lines(reader: int) -> Iterator[Line]:
    """The lines of a descriptor as they come, without those that are empty."""
    kept = bytearray()
    size = 0
    while read := os.read(reader, 1 << 16):
        *ends, rest = read.split(b"\n")
        for end in ends:
            if line := _line(kept + end, size + len(end)):
                yield line
            kept.clear()
            size = 0
        kept += rest
        size += len(rest)
        if size > MAX_MESSAGE_BYTES:
            del kept[MAX_ENDS:-MAX_ENDS]
    if line := _line(kept, size):
        yield line


def _line(data: bytearray, size: int) -> Line | None:
    if size <= MAX_MESSAGE_BYTES:
        return Line(bytes(data), too_long=False) if data.strip() else None
    return Line(bytes(data[:MAX_ENDS] + data[-MAX_ENDS:]), too_long=True)


def claim_wire() -> Wire:
    """Take stdin and stdout for the protocol alone.

    From here on whatever is printed, by Python or by a native library, goes to stderr, and whatever reads stdin finds
    its end.
    """
    sys.stdout.flush()
    reader, writer = os.dup(0), os.fdopen(os.dup(1), "wb")
    nothing = os.open(os.devnull, os.O_RDONLY)
    os.dup2(nothing, 0)
    os.close(nothing)
    os.dup2(2, 1)
    sys.stdout = sys.stderr
    return Wire(reader, TextIOWrapper(writer, encoding="utf-8", newline="\n"))
