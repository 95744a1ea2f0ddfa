"""A zip archive that is a document: its parts by name, unpacked within bounds. Nothing is ever written to a disk."""

from __future__ import annotations

import io
import posixpath
import zipfile
import zlib
from collections.abc import Iterator
from typing import Final
from urllib.parse import unquote

from findling.reading.formats.model import NotConverted
from findling.reading.formats.xml import attribute, events

MAX_PARTS: Final = 20_000
"""Entries of an archive; a book of a thousand chapters with pictures has some thousands."""

MAX_UNPACKED: Final = 256_000_000
"""Bytes of all parts that are read, as they come out: what an archive says of itself is not believed."""

MAX_PART: Final = 64_000_000
"""Bytes of a part that is held as a whole."""

_PIECE: Final = 1 << 16


class Package:
    """Raises `NotConverted` for what is no archive, is encrypted or unpacks to too much."""

    def __init__(self, data: bytes) -> None:
        if data.startswith(_COMPOUND):
            raise NotConverted("encrypted", "it is protected by a password, or of a format before 2007")
        try:
            self._zip = zipfile.ZipFile(io.BytesIO(data))
        except (zipfile.BadZipFile, ValueError, OSError, NotImplementedError) as error:
            raise NotConverted("broken_document", f"it is no archive: {error}") from error
        entries = self._zip.infolist()
        if len(entries) > MAX_PARTS:
            raise NotConverted("too_large", f"it has {len(entries):,} parts")
        self._entries = {entry.filename: entry for entry in entries}
        self._unpacked = 0

    def has(self, name: str) -> bool:
        return name in self._entries

    def names(self) -> list[str]:
        return list(self._entries)

    def pieces(self, name: str) -> Iterator[bytes]:
        """A part as it comes out; nothing for one that is not there."""
        entry = self._entries.get(name)
        if entry is None:
            return
        if entry.flag_bits & 1:
            raise NotConverted("encrypted", "it is protected by a password")
        try:
            with self._zip.open(entry) as part:
                while piece := part.read(_PIECE):
                    self._unpacked += len(piece)
                    if self._unpacked > MAX_UNPACKED:
                        raise NotConverted("too_large", f"it unpacks to more than {MAX_UNPACKED:,} bytes")
                    yield piece
        except (zipfile.BadZipFile, zlib.error, EOFError, NotImplementedError, OSError) as error:
            raise NotConverted("broken_document", f"{name[:80]} cannot be unpacked: {error}") from error

    def read(self, name: str) -> bytes:
        """A whole part, b'' for one that is not there."""
        found: list[bytes] = []
        size = 0
        for piece in self.pieces(name):
            size += len(piece)
            if size > MAX_PART:
                raise NotConverted("too_large", f"{name[:80]} unpacks to more than {MAX_PART:,} bytes")
            found.append(piece)
        return b"".join(found)

    def targets(self, name: str) -> dict[str, str]:
        """What the part ``name`` refers to: id to part."""
        folder, own = posixpath.split(name)
        found: dict[str, str] = {}
        for kind, tag, attributes in events(self.pieces(f"{folder}/_rels/{own}.rels".lstrip("/"))):
            if kind == "start" and tag == "Relationship" and attribute(attributes, "TargetMode") != "External":
                found[attribute(attributes, "Id")] = part_name(folder, attribute(attributes, "Target"))
        return found


def part_name(folder: str, target: str) -> str:
    """The part that ``target`` in a part of ``folder`` names."""
    target = unquote(target.partition("#")[0])
    return posixpath.normpath(target.lstrip("/") if target.startswith("/") else posixpath.join(folder, target))


_COMPOUND: Final = b"\xd0\xcf\x11\xe0\xa1\xb1\x1a\xe1"
"""How the older file format begins, which also wraps documents with a password."""
