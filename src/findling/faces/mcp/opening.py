"""How a conversation over stdio begins, answered from a description: the SDK is loaded meanwhile.

A client greets the server, and lists its tools. What the SDK answers to that is the same every time, so it was written
down (`description.json`, made by ``make description`` and proved equal by a test). From the first message on that is
anything else, or is written in any unusual way, everything is the SDK's to answer: there is one implementation of the
protocol, and here are answers that it gave. Knows no tool's handler.
"""

from __future__ import annotations

import json
import os
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Any, Final, NamedTuple, TypeAlias

from findling import __version__
from findling.faces.mcp.wire import Line

if TYPE_CHECKING:
    from findling.contracts.tools import Tool

Message: TypeAlias = Mapping[str, Any]

DESCRIPTION: Final = Path(__file__).with_name("description.json")

VERSION: Final = "$VERSION"
"""Stands in the description for findling's version."""

MAX_BYTES: Final = 1 << 16
"""Longer messages are no greeting."""

ALWAYS_LOAD: Final = "anthropic/alwaysLoad"
"""Clients that show a model the names of tools alone, until it looks for one, show it a tool with this in ``_meta``."""

OPENING_ID: Final = f"opening-{os.urandom(16).hex()}"
"""The id under which the SDK hears of the first request; its answer is not sent, as the client has it."""

_ENVELOPE: Final = "io.modelcontextprotocol/"
_VERSION_KEY: Final = f"{_ENVELOPE}protocolVersion"
_CAPABILITIES_KEY: Final = f"{_ENVELOPE}clientCapabilities"
_CLIENT_KEY: Final = f"{_ENVELOPE}clientInfo"


def read_results() -> dict[str, dict[str, Message]]:
    """What the SDK answers, by revision of the protocol and method, without the tools that are served."""
    found: dict[str, dict[str, Message]] = json.loads(DESCRIPTION.read_text("utf-8").replace(VERSION, __version__))
    return found


def listed(tool: Tool) -> Message:
    """A tool as the protocol lists it."""
    row = {
        "name": tool.name,
        "title": tool.name.replace("_", " ").capitalize(),
        "description": tool.summary,
        "inputSchema": tool.published_schema,
        "annotations": {
            "readOnlyHint": not tool.writes,
            "destructiveHint": tool.destructive,
            "openWorldHint": tool.open_world,
        },
    }
    return {**row, "_meta": {ALWAYS_LOAD: True}} if tool.first else row


class Heard(NamedTuple):
    """What is done with a line: the reply to send at once, and the line to pass on to the SDK; each may be None."""

    reply: str | None
    line: Line | None


class Opening:
    """One conversation up to the first message that the description does not answer."""

    def __init__(self, results: Mapping[str, Message], tools: Sequence[Tool]) -> None:
        self._results, self._rows = results, [listed(tool) for tool in tools]
        self._handshakes = [version for version, methods in results.items() if "initialize" in methods]
        self._version = ""
        self.is_over = False
        """From now on the SDK answers everything."""
        self.is_done = False
        """The client knows the tools, or has asked something that only the SDK answers."""

    def hear(self, line: Line) -> Heard:
        """The reply to one line, and what to pass on to the SDK."""
        if self.is_over:
            return Heard(None, line)
        message = _plain(line)
        if message is not None and "id" not in message and message["method"].startswith("notifications/"):
            return Heard(None, line)
        result = self._result(message) if message is not None and _is_id(message.get("id")) else None
        if message is None or result is None:
            self.is_over = self.is_done = True
            return Heard(None, line)
        self.is_done = self.is_done or message["method"] == "tools/list"
        answer = {"jsonrpc": "2.0", "id": message["id"], "result": result}
        reply = json.dumps(answer, ensure_ascii=False, separators=(",", ":"))
        if self._version:
            return Heard(reply, None)
        self._version = _version(message)
        if "protocolVersion" in result:  # which was agreed on, whatever was asked for
            self._version = result["protocolVersion"]
            message = {**message, "params": {**message["params"], "protocolVersion": self._version}}
        return Heard(reply, Line(json.dumps({**message, "id": OPENING_ID}).encode(), too_long=False))

    def _result(self, message: Message) -> Message | None:
        """The described result of a request; None where there is none, or where the SDK might answer differently."""
        method, params = message["method"], message.get("params", {})
        version = _version(message)
        if method == "initialize":
            fits = not self._version and _is_greeting(params)
            version = version if version in self._handshakes else self._handshakes[-1]
        elif version:
            first_or_alike = self._version in ("", version) and version not in self._handshakes
            fits = first_or_alike and params.keys() == {"_meta"} and _is_envelope(params["_meta"])
        else:  # of a connection that a greeting has opened
            version = self._version
            fits = version in self._handshakes and params.keys() <= {"_meta"} and _is_meta(params.get("_meta", {}))
        result = self._results.get(version, {}).get(method) if fits else None
        return {**result, "tools": self._rows} if result is not None and method == "tools/list" else result


def _plain(line: Line) -> Message | None:
    """The message if it is a plain request or notification that every JSON parser reads alike; else None."""
    if line.too_long or len(line.data) > MAX_BYTES or b"\\ud" in line.data.lower():  # or half an emoji
        return None
    try:
        message = json.loads(line.data.decode("utf-8"), parse_constant=int)  # NaN is no number: a ValueError
    except (ValueError, RecursionError):
        return None
    if not isinstance(message, dict) or not message.keys() <= {"jsonrpc", "id", "method", "params"}:
        return None
    sound = message.get("jsonrpc") == "2.0" and isinstance(message.get("method"), str)
    return message if sound and isinstance(message.get("params", {}), dict) else None


def _version(message: Message) -> str:
    """The revision of the protocol that a request names; '' if it names none."""
    named, key = message.get("params", {}), "protocolVersion"
    if message["method"] != "initialize":
        named, key = named.get("_meta"), _VERSION_KEY
    version = named.get(key) if isinstance(named, dict) else None
    return version if isinstance(version, str) else ""


def _is_id(value: object) -> bool:
    return isinstance(value, str | int) and not isinstance(value, bool)


def _is_meta(value: object) -> bool:
    return isinstance(value, dict) and all(
        _is_id(item) and not key.startswith(_ENVELOPE) for key, item in value.items()
    )


def _is_envelope(meta: Message) -> bool:
    """Whether it is the usual ``_meta`` of a request that opens no session."""
    rest = {key: item for key, item in meta.items() if key not in (_VERSION_KEY, _CAPABILITIES_KEY, _CLIENT_KEY)}
    client = meta.get(_CLIENT_KEY)
    return (
        _is_meta(rest)
        and _are_capabilities(meta.get(_CAPABILITIES_KEY))
        and (_CLIENT_KEY not in meta or _is_client(client))
    )


def _is_greeting(params: Message) -> bool:
    return (
        params.keys() - {"_meta"} == {"protocolVersion", "capabilities", "clientInfo"}
        and isinstance(params["protocolVersion"], str)
        and _are_capabilities(params["capabilities"])
        and _is_client(params["clientInfo"])
        and _is_meta(params.get("_meta", {}))
    )


def _is_client(value: object) -> bool:
    return (
        isinstance(value, dict)
        and {"name", "version"} <= value.keys() <= {"name", "version", "title", "description", "websiteUrl"}
        and all(isinstance(text, str) for text in value.values())
    )


def _are_capabilities(value: object) -> bool:
    """Whether each is an object of objects, as all are but ``roots`` and what extensions say of themselves."""
    if not isinstance(value, dict):
        return False
    roots = value.get("roots", {})
    free = {name: item for name, item in value.items() if name in ("extensions", "experimental")}
    rest = {name: item for name, item in value.items() if name != "roots" and name not in free}
    return (
        _is_tree(rest)
        and isinstance(roots, dict)
        and (not roots or (roots.keys() == {"listChanged"} and isinstance(roots["listChanged"], bool)))
        and all(isinstance(item, dict) and all(isinstance(of, dict) for of in item.values()) for item in free.values())
    )


def _is_tree(value: object) -> bool:
    return isinstance(value, dict) and all(map(_is_tree, value.values()))
