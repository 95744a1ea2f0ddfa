"""What a message has to be before the SDK sees it, over any transport, and the reply to what is none.

The SDK leaves a message unanswered that it cannot read, and its client waits for an answer in vain. Must not know a
transport, nor any tool. What a message brought is never repeated in a reply, apart from its id.
"""

from __future__ import annotations

import re
from typing import Any

PARSE_ERROR, INVALID_REQUEST = -32700, -32600

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
        super().__init__(INVALID_REQUEST, f"A message has at most {most} bytes, and this one has more.", _id_in(*ends))


def read_message(data: bytes) -> str:
    """The message as JSON text that the SDK can read. Raises `Refused`.

    Text that is not whole Unicode, such as half an emoji, is mended: U+FFFD stands where something is missing.
    """
    from pydantic_core import from_json  # the parser that the SDK asks, with the same bounds

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
    """Nothing if the SDK answers it, or nobody waits for an answer."""
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
