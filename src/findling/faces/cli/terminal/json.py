"""Answers as JSON for programs: one object, whose field names are those of the result types.

A search, grep or symbol answer also has ``root``, the folder its paths are relative to. In a pipe it is one
line, on a terminal it is indented. A failure is ``{"error": {"code", "message", "remedy"}}``.

A grep answer is written as it is found. Of a line longer than LONGEST_LINE it has the part around the first match:
``spans`` count from there, and ``text_start`` is its column in the line.
"""

from __future__ import annotations

import json
import time
from collections.abc import Callable, Iterator, Mapping, Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Any, TextIO

from msgspec import to_builtins
from msgspec.structs import replace

from findling.faces.cli.terminal.lines import as_they_come, clipped
from findling.faces.cli.terminal.safe import is_terminal
from findling.model.errors import FindlingError
from findling.model.text_encodings import escaped
from findling.model.types import (
    EdgeResult,
    FileMatches,
    GrepStream,
    LineMatch,
    MapResult,
    SearchResult,
    Status,
    SymbolResult,
    TraceResult,
)

if TYPE_CHECKING:
    from findling.config import Loaded
    from findling.model.reports import Report


_BYTES_PER_TOKEN = 4
"""What a token of indexed text is taken for."""


def to_json(value: object) -> Any:
    """A value of findling.model.types (or any nesting of them) as dicts, lists and scalars that JSON knows."""
    return to_builtins(value, str_keys=True, enc_hook=dict)  # mappings that are no dict


def error_to_json(error: FindlingError) -> dict[str, Any]:
    return {"error": {"code": error.code, "message": error.message, "remedy": error.remedy}}


def write_json(out: TextIO, value: object) -> None:
    out.write(_text(out, value) + "\n")


def _text(out: TextIO, value: object, depth: int = 0) -> str:
    """A value as ``out`` can show it; ``depth``: in how many open lists and objects it stands."""
    unicode_stream = (out.encoding or "utf-8").lower().replace("-", "").startswith("utf")
    indent = 2 if is_terminal(out) else None
    text = escaped(json.dumps(value, ensure_ascii=not unicode_stream, allow_nan=False, indent=indent))
    return text.replace("\n", f"\n{'  ' * depth}") if depth else text


class JsonView:
    def __init__(self, out: TextIO, root: Path) -> None:
        self._out = out
        self._root = str(root)

    def search(self, result: SearchResult, *, explain: bool) -> None:
        self._write({**to_json(result), "low_confidence": result.low_confidence})

    def grep(self, found: GrepStream, *, shape: str, groups: bool, headed: bool) -> None:
        """The fields of a GrepResult; each file is written as soon as it is found, the totals behind them."""
        line_break, between = ("\n", ",") if is_terminal(self._out) else ("", ", ")
        before = _text(self._out, {"root": self._root, "pattern": found.pattern, "files": []}).rpartition("[]")[0]
        self._out.write(f"{before}[")
        empty = True
        for file in found:
            shown = _text(self._out, to_json(replace(file, lines=tuple(map(clipped, file.lines)))), 2)
            self._out.write(f"{'' if empty else between}{line_break}{'    ' if line_break else ''}{shown}")
            empty = False
        totals = {key: value for key, value in to_json(found.totals).items() if key not in ("pattern", "files")}
        end = "" if empty or not line_break else f"{line_break}  "
        self._out.write(f"{end}]{between}{_text(self._out, totals)[1:]}\n")

    def symbols(self, results: Sequence[SymbolResult]) -> None:
        """The answers of all names, also of one."""
        write_json(self._out, {"root": self._root, "results": list(map(to_json, results))})

    def edges(self, result: EdgeResult) -> None:
        self._write(result)

    def trace(self, result: TraceResult) -> None:
        self._write(result)

    def project_map(self, result: MapResult) -> None:
        self._write(result)

    def status(self, status: Status, *, skipped: bool) -> None:
        shown = status if skipped else replace(status, skipped=())
        write_json(self._out, {"root": self._root, **to_json(shown), "statistics": _statistics(status)})

    def config(self, loaded: Loaded) -> None:
        options = {
            key: {"value": origin.value, "from": origin.source.kind, "place": origin.place, "line": origin.line or None}
            for key, origin in loaded.origins.items()
        }
        files = [str(path) for path in loaded.files]
        self._write({"options": options, "keys": loaded.keys_set(), "files": files, "warnings": loaded.warnings})

    def evaluation(self, report: Report) -> None:
        """The fields of the evaluation beside those of the report."""
        fields = to_json(report)
        write_json(self._out, {"root": self._root, **fields.pop("evaluation"), **fields})

    def records(self, blocks: Sequence[Sequence[tuple[str, str]]], value: Mapping[str, object]) -> None:
        write_json(self._out, value)

    def _write(self, value: object) -> None:
        write_json(self._out, {"root": self._root, **to_json(value)})

    report = explanation = diagnosis = passages = _write


def _statistics(status: Status) -> dict[str, Any]:
    """An index in numbers, with the field names that programs know."""
    return {
        "totalChunks": status.coverage.chunks,
        "totalFiles": status.coverage.files,
        "totalTokens": -(-status.bytes_indexed // _BYTES_PER_TOKEN),
        "embeddingModel": status.model,
        "lastUpdated": status.last_indexed_at,
        "dbSize": status.bytes_on_disk,
    }


# --- the event form of rg --json -------------------------------------------------------------------------------------


EventCounts = tuple[float, float, int, int, int, int, int, int]
"""Of one search: seconds in all and for searching, files searched and with matches, bytes searched and printed, lines
and matches."""


def write_events(out: TextIO, found: GrepStream, shown: Callable[[str], str]) -> EventCounts:
    """The events of each file; what they come to is for `write_summary`. ``shown``: how a path is written."""
    began = before = time.monotonic()
    searched = printed = 0
    for file in as_they_come(found, out):
        path = {"text": shown(file.path)}
        now = time.monotonic()
        size = sum(_write_event(out, event, {"path": path, **data}) for event, data in _file_events(file))
        stats = _stats(now - before, (1, 1), file.size, size, file.line_count, file.occurrences)
        _write_event(out, "end", {"path": path, "binary_offset": None, "stats": stats})
        searched += file.size
        printed += size
        before = now
    totals = found.totals
    seconds, files = (time.monotonic() - began, totals.took_ms / 1000), (totals.files_searched, totals.total_files)
    return *seconds, *files, searched, printed, totals.total_lines, totals.total_occurrences


def write_summary(out: TextIO, every: Sequence[EventCounts]) -> None:
    """The last event, once for all searches of a command."""
    files, matching, *rest = (sum(column) for column in zip(*(counts[2:] for counts in every), strict=True))
    stats = _stats(sum(counts[1] for counts in every), (files, matching), *rest)
    _write_event(out, "summary", {"elapsed_total": _elapsed(sum(counts[0] for counts in every)), "stats": stats})


def _file_events(file: FileMatches) -> Iterator[tuple[str, dict[str, Any]]]:
    yield "begin", {}
    for match in file.lines:
        offset = match.offset - sum(map(_bytes_of, match.before))
        for number, text in enumerate(match.before, match.line - len(match.before)):
            yield "context", _text_line(number, text, offset)
            offset += _bytes_of(text)
        yield "match", _text_line(match.line, match.text, match.offset) | {"submatches": _submatches(match)}
        offset = match.offset + _bytes_of(match.text)
        for number, text in enumerate(match.after, match.line + 1):
            yield "context", _text_line(number, text, offset)
            offset += _bytes_of(text)


def _bytes_of(line: str) -> int:
    return len(line.encode()) + 1


def _text_line(number: int, text: str, offset: int) -> dict[str, Any]:
    return {"lines": {"text": f"{text}\n"}, "line_number": number, "absolute_offset": offset, "submatches": []}


def _submatches(match: LineMatch) -> list[dict[str, Any]]:
    found = []
    for position, (start, end) in enumerate(match.spans):
        before, text = len(match.text[:start].encode()), match.text[start:end]
        each: dict[str, Any] = {"match": {"text": text}}
        if match.replaced:
            each["replacement"] = {"text": match.replaced[position]}
        found.append(each | {"start": before, "end": before + len(text.encode())})
    return found


def _stats(seconds: float, searches: tuple[int, int], *numbers: int) -> dict[str, Any]:
    names = ("bytes_searched", "bytes_printed", "matched_lines", "matches")
    counts = dict(zip(("searches", "searches_with_match"), searches, strict=True))
    return {"elapsed": _elapsed(seconds), **counts, **dict(zip(names, numbers, strict=True))}


def _elapsed(seconds: float) -> dict[str, Any]:
    return {"secs": int(seconds), "nanos": int(seconds % 1 * 1e9), "human": f"{seconds:.6f}s"}


def _write_event(out: TextIO, event: str, data: dict[str, Any]) -> int:
    """The bytes that are written."""
    line = json.dumps({"type": event, "data": data}, ensure_ascii=True, separators=(",", ":"))
    out.write(line + "\n")
    return len(line) + 1
