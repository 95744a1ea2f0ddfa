"""An exact answer in the event form of ``rg --json``: ``begin``, ``match``, ``context`` and ``end`` for each file, then
a ``summary``. Columns and offsets count bytes of the text as UTF-8. Of a match that spans lines each line is an event.
"""

from __future__ import annotations

import json
import time
from collections.abc import Callable, Iterator
from typing import Any, TextIO

from findling.faces.cli.terminal.lines import as_they_come
from findling.model.types import FileMatches, GrepStream, LineMatch


def write_events(out: TextIO, found: GrepStream, shown: Callable[[str], str]) -> None:
    """``shown``: how a path is written."""
    began = before = time.monotonic()
    searched = printed = 0
    for file in as_they_come(found, out):
        path = {"text": shown(file.path)}
        now = time.monotonic()
        size = sum(_write(out, event, {"path": path, **data}) for event, data in _file_events(file))
        stats = _stats(now - before, (1, 1), file.size, size, file.line_count, file.occurrences)
        _write(out, "end", {"path": path, "binary_offset": None, "stats": stats})
        searched += file.size
        printed += size
        before = now
    totals = found.totals
    counts = (totals.files_searched, totals.total_files)
    stats = _stats(totals.took_ms / 1000, counts, searched, printed, totals.total_lines, totals.total_occurrences)
    _write(out, "summary", {"elapsed_total": _elapsed(time.monotonic() - began), "stats": stats})


def _file_events(file: FileMatches) -> Iterator[tuple[str, dict[str, Any]]]:
    yield "begin", {}
    for match in file.lines:
        offset = match.offset - sum(map(_bytes_of, match.before))
        for number, text in enumerate(match.before, match.line - len(match.before)):
            yield "context", _line(number, text, offset)
            offset += _bytes_of(text)
        yield "match", _line(match.line, match.text, match.offset) | {"submatches": _submatches(match)}
        offset = match.offset + _bytes_of(match.text)
        for number, text in enumerate(match.after, match.line + 1):
            yield "context", _line(number, text, offset)
            offset += _bytes_of(text)


def _bytes_of(line: str) -> int:
    return len(line.encode()) + 1


def _line(number: int, text: str, offset: int) -> dict[str, Any]:
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


def _write(out: TextIO, event: str, data: dict[str, Any]) -> int:
    """The bytes that are written."""
    line = json.dumps({"type": event, "data": data}, ensure_ascii=True, separators=(",", ":"))
    out.write(line + "\n")
    return len(line) + 1
