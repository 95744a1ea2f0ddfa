"""All files of a fetched repository as one Markdown file: a heading and a fenced block each, with the file's own line
numbers, with or without its comments."""

from __future__ import annotations

import os
import re
from collections.abc import Callable, Sequence
from pathlib import Path
from typing import Final

from findling.engine.small_files import failure
from findling.model.format_names import format_of
from findling.model.languages import language_of
from findling.reading.decoding import Decoded, decode
from findling.reading.pool import CommentFinder

MAX_BYTES: Final = 200 << 20
"""Of the bundle; what does not fit is named in it."""

_TICKS = re.compile("`{3,}")


def write_bundle(
    target: Path,
    title: str,
    about: str,
    folder: Path,
    paths: Sequence[str],
    *,
    remove_comments: bool,
    line_numbers: bool,
    step: Callable[[float], None],
) -> list[str]:
    """Write the bundle at once, over an older one; the paths whose comments could not be told from the rest.

    ``paths`` are relative to ``folder``. Files that are no text are named only.
    """
    partial = target.with_name(f".{target.name}.{os.getpid()}.tmp")
    kept: list[str] = []
    written = 0
    try:
        with CommentFinder() as finder, partial.open("w", encoding="utf-8", newline="\n") as out:
            out.write(f"# {_inline(title)}\n\n{about}\n")
            for done, path in enumerate(paths, 1):
                step(done / len(paths))
                text = _text(folder / path, path)
                if text is None or written > MAX_BYTES:
                    why = "Not text." if text is None else "Left out: the bundle is too long."
                    out.write(f"\n## {_inline(path)}\n\n{why}\n")
                    continue
                spans = finder.spans(path, text.encode()) if remove_comments else []
                if spans is None:
                    kept.append(path)
                block = _block(path, text, spans or [], line_numbers=line_numbers)
                out.write(block)
                written += len(block)
        partial.replace(target)
    except OSError as error:
        raise failure(error, target) from error
    finally:
        partial.unlink(missing_ok=True)
    return kept


def _text(file: Path, path: str) -> str | None:
    if format_of(path):
        return None
    decoded = decode(file.read_bytes())
    if not isinstance(decoded, Decoded):
        return None
    return decoded.text.encode("utf-8", "replace").decode()


def _block(path: str, text: str, spans: Sequence[tuple[int, int]], *, line_numbers: bool) -> str:
    lines = numbered(text, spans)
    width = len(str(lines[-1][0])) if lines else 1
    body = "\n".join(f"{number:>{width}}  {line}".rstrip() if line_numbers else line for number, line in lines)
    fence = "`" * max(3, 1 + max((len(ticks) for ticks in _TICKS.findall(text)), default=0))
    language = language_of(path, text[:4096].encode()).id
    return f"\n## {_inline(path)}\n\n{fence}{language}\n{body}\n{fence}\n"


def numbered(text: str, spans: Sequence[tuple[int, int]]) -> list[tuple[int, str]]:
    """The lines of a text with their numbers (from 1), without the bytes in ``spans``; lines that held nothing else
    are left out."""
    raw = text.encode()
    kept = bytearray()
    touched: set[int] = set()
    at = 0
    for start, end in spans:
        kept += raw[at:start]
        breaks = raw.count(b"\n", start, end)
        first = kept.count(b"\n") + 1
        touched.update(range(first, first + breaks + 1))
        kept += b"\n" * breaks
        at = end
    kept += raw[at:]
    lines = kept.decode("utf-8", "replace").split("\n")
    if lines and not lines[-1]:
        lines.pop()
    found: list[tuple[int, str]] = []
    for number, line in enumerate(lines, 1):
        if number in touched and not line.strip():
            continue
        line = line.removesuffix("\r")
        found.append((number, line.rstrip() if number in touched else line))
    return found


def _inline(text: str) -> str:
    return "".join(char if char.isprintable() else "?" for char in text)
