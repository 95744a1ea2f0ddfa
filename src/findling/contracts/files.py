"""Reading a file of the root for an answer: paths stay inside the root, sizes are bounded, contents are data.

A file need not be indexed to be read, but secrets and what belongs to version control are handed out no more than they
are indexed.
"""

from __future__ import annotations

import os
import stat
from pathlib import Path
from typing import TYPE_CHECKING

from msgspec import Struct

from findling.config.roots import is_bare
from findling.contracts.model import Call, Refusal
from findling.contracts.workspaces import WAIT_S
from findling.model.format_names import format_of
from findling.model.marks import left_out_by_name, looks_secret
from findling.model.reports import NOT_YET
from findling.model.secrets import NO_MASKS, Masks, masked_lines
from findling.outbound.files import Files, NotRead, read_regular_file
from findling.reading.decoding import Decoded, decode
from findling.sources.selection import NEVER_FOLDERS, DiscoveryOptions
from findling.sources.tracked import not_checked_out

if TYPE_CHECKING:
    from findling.engine import Engine, Engines


class TextFile(Struct, frozen=True):
    """A file's text as it is now. ``lines`` keep their ends, so joined they are the text; ``path`` is the root's name
    for it. ``stale``: of a document whose text is the index's, and which has changed since. ``masks``: the lines in
    which secrets are masked, and by which rules."""

    path: str
    lines: tuple[str, ...]
    stale: bool = False
    masks: Masks = NO_MASKS


def inside(root: Path, path: str) -> tuple[str, Path]:
    """(path relative to the root with ``/``, real location). Raises `Refusal` for what leads out of the root, and for a
    name that no file can have."""
    if "\0" in path:
        raise Refusal("file_not_found", f"file not found: {path}")
    base = Path(os.path.realpath(root))
    given = Path(path)
    normal = Path(os.path.normpath(given if given.is_absolute() else base / given))
    real = Path(os.path.realpath(normal))
    named = normal if normal.is_relative_to(base) else real
    if not named.is_relative_to(base) or not real.is_relative_to(base):
        raise Refusal("invalid_input", f"path is outside of the root: {path}")
    return named.relative_to(base).as_posix(), real


def check_file(real: Path, path: str) -> None:
    """Raises `Refusal` unless a file is there, with the system's reason where there can be none: a name that is too
    long, a folder that may not be looked into. ``path``: as it was asked for."""
    try:
        mode = real.stat().st_mode
    except (FileNotFoundError, NotADirectoryError):
        raise Refusal("file_not_found", f"file not found: {path}") from None
    except OSError as error:
        raise Refusal("file_not_found", f"file cannot be read: {path} ({error.strerror})") from error
    if stat.S_ISDIR(mode):
        raise Refusal("invalid_input", f"path is a directory: {path}")
    if not stat.S_ISREG(mode):
        raise Refusal("file_not_found", f"file not found: {path}")


def read_text(root: Path, path: str) -> TextFile:
    """The text of a file below the root. Raises `Refusal` (``file_not_found``, ``invalid_input``)."""
    relative, real = inside(root, path)
    base = Path(os.path.realpath(root))
    try:
        check_file(real, path)
    except Refusal as refusal:
        if refusal.code == "file_not_found" and (left_out := not_checked_out(str(base), relative)):
            refusal.message += f" ({left_out.detail})"
        raise
    most = DiscoveryOptions().max_bytes
    located = real.relative_to(base).as_posix()  # a link may have a harmless name
    _check_name(relative, path)
    _check_name(located, path)
    if is_bare(base):
        raise Refusal("invalid_input", f"file belongs to version control: {path} (name a ref to read a commit's files)")
    read = read_regular_file(base, located, most)
    if isinstance(read, NotRead):
        if read.reason == "too_large":
            raise Refusal("invalid_input", f"file is larger than {most} bytes: {path}")
        if read.reason == "unreadable":
            raise Refusal("file_not_found", f"file cannot be read: {path} ({read.detail})")
        raise Refusal("file_not_found", f"file not found: {path}")  # it became something else since it was looked at
    _check_content(located, read[1], path)
    decoded = decode(read[1])
    if not isinstance(decoded, Decoded):
        raise Refusal("invalid_input", f"file is not text: {path} ({decoded.detail})")
    return TextFile(relative, tuple(_split(decoded.text)), masks=decoded.masks)


def read_document(call: Call, path: str) -> TextFile | None:
    """The text that a document below the root (a PDF) was converted to, taken in before where it is new or changed.

    None for any other file. Raises `Refusal` (``invalid_input``) for a document that has no text in the index, with the
    reason.
    """
    engine = call.workspace.engine
    named, real = inside(engine.root, path)
    if not format_of(real.name):
        return None
    check_file(real, path)
    relative = real.relative_to(os.path.realpath(engine.root)).as_posix()
    freshness, _ = engine.refresh(
        files=(relative,), within=lambda path: path == relative, embed=False, wait_s=WAIT_S, progress=call.progress
    )
    if freshness != "fresh":
        call.workspace.finish_in_background()
    document = engine.document_text(relative)
    if document is None:
        why = engine.why(relative)
        if why.reason == NOT_YET and freshness != "fresh":
            raise Refusal("invalid_input", f"file has no text yet (it is not indexed): {path}. Ask again in a moment.")
        raise Refusal("invalid_input", f"file is not text: {path} ({why.detail or why.reason or 'it is not indexed'})")
    return TextFile(named, tuple(_split(document.text)), document.changed, masked_lines(document.text))


def read_searched(call: Call, path: str) -> TextFile:
    """The text of a file where answers read it: of the folder as it is, of a commit, or as a shared store has it; of a
    document the text that it was converted to. Raises `Refusal`."""
    engine = call.workspace.engine
    if isinstance(engine.texts, Path):
        return read_document(call, path) or read_text(engine.root, path)
    named = Path(os.path.normpath(path))
    path = (named.relative_to(engine.root) if named.is_relative_to(engine.root) else named).as_posix()
    if format_of(path) and (document := engine.document_text(path)) is not None:
        return TextFile(path, tuple(_split(document.text)), masks=masked_lines(document.text))
    return read_object(engine.texts, path)


def read_object(files: Files, path: str) -> TextFile:
    """The text of a file that is not on disk. Raises `Refusal`."""
    _check_name(path, path)
    read = files.read(path, DiscoveryOptions().limit(path))
    decoded = None
    if not isinstance(read, NotRead):
        _check_content(path, read[1], path)
        decoded = decode(read[1])
    if not isinstance(decoded, Decoded):
        raise Refusal("file_not_found", f"file cannot be read as text: {path}")
    return TextFile(path, tuple(_split(decoded.text)), masks=decoded.masks)


def _check_name(located: str, asked: str) -> None:
    """Raises `Refusal` for what is never handed out: ``located`` from the root, ``asked`` as it was asked for."""
    if not NEVER_FOLDERS.isdisjoint(located.split("/")):
        raise Refusal("invalid_input", f"file belongs to version control or to findling: {asked}")
    left_out = left_out_by_name(located)
    if left_out is not None and left_out[0] == "secret":
        raise Refusal("invalid_input", f"file is not handed out: {asked} ({left_out[1]})")


def _check_content(located: str, data: bytes, asked: str) -> None:
    if looks_secret(data, located):
        raise Refusal("invalid_input", f"file is not handed out: {asked} (it holds a private key or a token)")


def _split(text: str) -> list[str]:
    """Lines with their ends; only a line feed ends one, as everywhere in the index."""
    lines = text.split("\n")
    kept = [f"{line}\n" for line in lines[:-1]]
    return [*kept, lines[-1]] if lines[-1] else kept


def line_range(text: TextFile, start_line: int, end_line: int) -> tuple[int, int]:
    """The inclusive lines that 0 (an open end) and too large an end mean. Raises `Refusal`."""
    total = len(text.lines)
    start = start_line or 1
    if start > max(total, 1):
        raise Refusal("invalid_input", f"start_line {start} is beyond end of file ({total} lines)")
    end = min(end_line or total, total)
    if end_line and end_line < start:
        raise Refusal("invalid_input", f"end_line {end_line} is before start_line {start}")
    return start, end


# --- text to show for a place ----------------------------------------------------------------------------------------


SNIPPET_CHARS = 400
"""A glance at a passage; whoever wants more reads the file."""

CUT = "..."

MAX_REPEATED = 1_000
"""Characters of a query that an answer repeats: the rest of a long text is known to who asked."""


def read_lines(texts: Path | Files, path: str) -> tuple[str, ...]:
    """A file's lines with their ends, from a folder or a commit's files. Raises `Refusal` where it cannot be read."""
    return read_text(texts, path).lines if isinstance(texts, Path) else read_object(texts, path).lines


class Lines:
    """Lines of the files that are searched, as they are now, of a converted document those of its text in the index; a
    file that cannot be read has none."""

    def __init__(self, engine: Engine | Engines) -> None:
        self._engine = engine
        self._files: dict[str, tuple[str, ...]] = {}

    def between(self, path: str, start: int, end: int) -> str:
        """Lines ``start`` to ``end`` (1-based, inclusive), joined, without the last line end."""
        lines = self._files.get(path)
        if lines is None:
            lines = self._files[path] = self._read(path)
        return "".join(lines[start - 1 : end]).rstrip("\r\n")

    def line(self, path: str, number: int) -> str:
        return self.between(path, number, number)

    def _read(self, path: str) -> tuple[str, ...]:
        engine, own = self._engine.of(path)
        if format_of(own) and (converted := engine.document_text(own)) is not None:
            return tuple(f"{line}\n" for line in converted.text.split("\n"))
        try:
            return read_lines(engine.texts, own)
        except Refusal:
            return ()  # it is gone or changed its kind since it was indexed; the place is still told


def clipped(text: str, chars: int = SNIPPET_CHARS) -> str:
    """At most ``chars`` characters; what was cut ends in ``...``, counted in."""
    return text if len(text) <= chars else text[: chars - len(CUT)] + CUT
