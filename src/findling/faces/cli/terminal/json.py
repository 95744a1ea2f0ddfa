"""Answers as JSON for programs: one object, whose field names are those of the result types.

A search, grep or symbol answer also has ``root``, the folder its paths are relative to. In a pipe it is one
line, on a terminal it is indented. A failure is ``{"error": {"code", "message", "remedy"}}``.

A grep answer is written as it is found. Of a line longer than LONGEST_LINE it has the part around the first match:
``spans`` count from there, and ``text_start`` is its column in the line.
"""

from __future__ import annotations

import json
import time
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Any, TextIO

from msgspec import to_builtins
from msgspec.structs import asdict, replace

from findling.faces.cli.terminal.lines import as_they_come, clipped
from findling.faces.cli.terminal.safe import is_terminal
from findling.model.types import EdgeResult, FileMatches, GrepStream, LineMatch, SearchResult, Status, SymbolResult
from findling.model.unseen import escaped

if TYPE_CHECKING:
    from findling.config import Loaded
    from findling.model.errors import FindlingError
    from findling.model.reports import Report


_BYTES_PER_TOKEN = 4
"""What a token of indexed text is taken for."""


def to_json(value: object) -> Any:
    """A value of findling.model.types (or any nesting of them) as dicts, lists and scalars that JSON knows."""
    return to_builtins(value, str_keys=True, enc_hook=dict)  # mappings that are no dict


def error_to_json(error: FindlingError) -> dict[str, Any]:
    return {"error": {"code": error.code, "message": error.message, "remedy": error.remedy}}


def write_json(out: TextIO, value: object) -> None:
    out.write(_Writer(out).text(value) + "\n")


class _Writer:
    """Values as text, and lists and objects in pieces: what is written in pieces reads as if written at once."""

    def __init__(self, out: TextIO) -> None:
        self._out = out
        unicode_stream = (out.encoding or "utf-8").lower().replace("-", "").startswith("utf")
        self._indent = 2 if is_terminal(out) else None
        self._encode = json.JSONEncoder(ensure_ascii=not unicode_stream, allow_nan=False, indent=self._indent).encode

    def text(self, value: object, depth: int = 0) -> str:
        """``depth``: in how many open lists and objects it stands."""
        text = escaped(self._encode(value))
        return text.replace("\n", f"\n{'  ' * depth}") if self._indent and depth else text

    def pieces(self, members: Iterable[Iterable[str]], depth: int, brackets: str) -> Iterator[str]:
        """A list, or an object, whose members are pieces of text; a member is asked for when it is to be written."""
        line_break = f"\n{'  ' * depth}" if self._indent else ""
        before_first, between = (f"{line_break}  ", f",{line_break}  ") if self._indent else ("", ", ")
        yield brackets[0]
        empty = True
        for member in members:
            yield before_first if empty else between
            yield from member
            empty = False
        yield brackets[1] if empty else line_break + brackets[1]

    def member(self, key: str, pieces: Iterable[str]) -> Iterator[str]:
        yield f"{self.text(key)}: "
        yield from pieces


class JsonView:
    def __init__(self, out: TextIO, root: Path) -> None:
        self._out = out
        self._root = str(root)

    def search(self, result: SearchResult, *, explain: bool) -> None:
        self._write(_search_fields(result))

    def length(self, result: SearchResult, *, explain: bool) -> int:
        """The characters that `search` prints."""
        return len(self._text(_search_fields(result))) + len("\n")

    def grep(self, found: GrepStream, *, shape: str, groups: bool) -> None:
        for piece in self._grep(found):
            self._out.write(piece)
        self._out.write("\n")

    def symbols(self, results: Sequence[SymbolResult]) -> None:
        """The answers of all names, also of one."""
        write_json(self._out, {"root": self._root, "results": list(map(to_json, results))})

    def edges(self, result: EdgeResult) -> None:
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

    def _text(self, value: object) -> str:
        return _Writer(self._out).text({"root": self._root, **to_json(value)})

    def _write(self, value: object) -> None:
        self._out.write(self._text(value) + "\n")

    report = explanation = diagnosis = _write

    def _grep(self, found: GrepStream) -> Iterator[str]:
        """The fields of a GrepResult, the files as they come: what stands after them is known after them."""
        writer = _Writer(self._out)

        def members() -> Iterator[Iterator[str]]:
            yield writer.member("root", [writer.text(self._root)])
            yield writer.member("pattern", [writer.text(found.pattern)])
            yield writer.member("files", writer.pieces((file_pieces(file) for file in found), 1, "[]"))
            for key, value in to_json(found.totals).items():
                if key not in ("pattern", "files"):
                    yield writer.member(key, [writer.text(value, 1)])

        def file_pieces(file: FileMatches) -> Iterator[str]:
            lines = ([writer.text(_line(line), 4)] for line in file.lines)
            return writer.pieces(
                (
                    writer.member("path", [writer.text(file.path)]),
                    writer.member("lines", writer.pieces(lines, 3, "[]")),
                    writer.member("occurrences", [writer.text(file.occurrences)]),
                    writer.member("line_count", [writer.text(file.line_count)]),
                    writer.member("size", [writer.text(file.size)]),
                ),
                2,
                "{}",
            )

        return writer.pieces(members(), 0, "{}")


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


def _line(line: LineMatch) -> dict[str, Any]:
    line = clipped(line)
    return asdict(line)


def _search_fields(result: SearchResult) -> dict[str, Any]:
    return {**to_json(result), "low_confidence": result.low_confidence}


# --- the event form of rg --json -------------------------------------------------------------------------------------


def write_events(out: TextIO, found: GrepStream, shown: Callable[[str], str]) -> None:
    """``shown``: how a path is written."""
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
    counts = (totals.files_searched, totals.total_files)
    stats = _stats(totals.took_ms / 1000, counts, searched, printed, totals.total_lines, totals.total_occurrences)
    _write_event(out, "summary", {"elapsed_total": _elapsed(time.monotonic() - began), "stats": stats})


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
