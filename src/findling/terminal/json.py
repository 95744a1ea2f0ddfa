"""Answers as JSON for programs: one object, whose field names are those of the result types.

A search, grep or symbol answer also has ``root``, the folder its paths are relative to. In a pipe it is one
line, on a terminal it is indented. A failure is ``{"error": {"code", "message", "remedy"}}``.
"""

from __future__ import annotations

import dataclasses
import json
import re
from collections.abc import Mapping
from pathlib import Path
from typing import TYPE_CHECKING, Any, TextIO

from findling.errors import FindlingError
from findling.terminal.capabilities import is_terminal
from findling.types import GrepResult, IndexReport, SearchResult, Status, SymbolResult

if TYPE_CHECKING:
    from findling.config import Loaded

# Legal inside a JSON string, but not safe to print: DEL, C1 and bidirectional controls, line separators, surrogates.
_UNSAFE = re.compile("[\x7f-\x9f\u061c\u200e\u200f\u2028-\u202e\u2066-\u2069\ud800-\udfff]")


def to_json(value: object) -> Any:
    """A value of findling.types (or any nesting of them) as dicts, lists and scalars that JSON knows."""
    if dataclasses.is_dataclass(value) and not isinstance(value, type):
        return {field.name: to_json(getattr(value, field.name)) for field in dataclasses.fields(value)}
    if isinstance(value, Mapping):
        return {str(key): to_json(item) for key, item in value.items()}
    if isinstance(value, (list, tuple)):
        return [to_json(item) for item in value]
    return value


def error_to_json(error: FindlingError) -> dict[str, Any]:
    return {"error": {"code": error.code, "message": error.message, "remedy": error.remedy}}


def write_json(out: TextIO, value: object) -> None:
    unicode_stream = (out.encoding or "utf-8").lower().replace("-", "").startswith("utf")
    text = json.dumps(value, ensure_ascii=not unicode_stream, allow_nan=False, indent=2 if is_terminal(out) else None)
    out.write(_UNSAFE.sub(lambda match: f"\\u{ord(match[0]):04x}", text) + "\n")


class JsonView:
    def __init__(self, out: TextIO, root: Path) -> None:
        self._out = out
        self._root = str(root)

    def search(self, result: SearchResult, *, explain: bool) -> None:
        self._write(result)

    def grep(self, result: GrepResult, *, shape: str) -> None:
        self._write(result)

    def symbols(self, result: SymbolResult) -> None:
        self._write(result)

    def report(self, report: IndexReport) -> None:
        self._write(report)

    def status(self, status: Status, *, skipped: bool) -> None:
        self._write(status if skipped else dataclasses.replace(status, skipped=()))

    def config(self, loaded: Loaded) -> None:
        options = {
            key: {"value": origin.value, "from": origin.source.kind, "place": origin.place, "line": origin.line or None}
            for key, origin in loaded.origins.items()
        }
        files = [str(path) for path in loaded.files]
        self._write({"options": options, "keys": loaded.keys_set(), "files": files, "warnings": loaded.warnings})

    def _write(self, value: object) -> None:
        write_json(self._out, {"root": self._root, **to_json(value)})
