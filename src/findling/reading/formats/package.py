"""Reads documents that are zip archives: their parts by name, unpacked within bounds, and the XML in them. Nothing is
written to disk.
"""

from __future__ import annotations

import io
import posixpath
import zipfile
import zlib
from collections.abc import Iterable, Iterator, Mapping
from typing import Final, Literal, TypeAlias
from urllib.parse import unquote
from xml.parsers import expat

from findling.reading.formats.model import MAX_CHARS, NotConverted

MAX_PARTS: Final = 20_000
"""Entries of an archive; a book of a thousand chapters with pictures has some thousands."""

MAX_UNPACKED: Final = 256_000_000
"""Bytes of all parts together, counted as they are unpacked: the sizes that an archive states are not trusted."""

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
            raise NotConverted("broken_document", f"it is not an archive: {error}") from error
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
        """A part in pieces, as it is unpacked; nothing for a part that is missing."""
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
        """A whole part; b'' for one that is missing."""
        found: list[bytes] = []
        size = 0
        for piece in self.pieces(name):
            size += len(piece)
            if size > MAX_PART:
                raise NotConverted("too_large", f"{name[:80]} unpacks to more than {MAX_PART:,} bytes")
            found.append(piece)
        return b"".join(found)

    def targets(self, name: str) -> dict[str, str]:
        """The parts that the part ``name`` refers to: id -> part."""
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
"""The first bytes of the older file format, in which documents with a password are wrapped, too."""


# --- XML as a stream of events: nothing is held, no entity is expanded, nothing outside is loaded

MAX_DEPTH: Final = 500
"""Elements within elements; documents that people write stay below 100."""

MAX_TEXT: Final = 2 * MAX_CHARS
"""The most characters between the elements of a part: readers collect some before they write them."""

Attributes: TypeAlias = Mapping[str, str]
Event: TypeAlias = (
    tuple[Literal["start"], str, Attributes]
    | tuple[Literal["end"], str, Attributes]
    | tuple[Literal["text"], str, Attributes]
)

_NO_ATTRIBUTES: Final[Attributes] = {}


def events(pieces: Iterable[bytes]) -> Iterator[Event]:
    """Starts and ends of elements by their local names, and the text between. Nothing for nothing.

    Raises `NotConverted` for what is not well-formed, has a document type (which is how entities are declared), is
    nested too deep or says too much.
    """
    found: list[Event] = []
    depth = chars = 0

    def start(name: str, attributes: dict[str, str]) -> None:
        nonlocal depth
        depth += 1
        if depth > MAX_DEPTH:
            raise NotConverted("broken_document", f"its elements are nested more than {MAX_DEPTH} deep")
        found.append(("start", name.rpartition(" ")[2], attributes))

    def end(name: str) -> None:
        nonlocal depth
        depth -= 1
        found.append(("end", name.rpartition(" ")[2], _NO_ATTRIBUTES))

    def say(text: str) -> None:
        nonlocal chars
        chars += len(text)
        if chars > MAX_TEXT:
            raise NotConverted("too_large", f"a part of it has more than {MAX_TEXT:,} characters")
        found.append(("text", text, _NO_ATTRIBUTES))

    def refuse(*_: object) -> None:
        raise NotConverted("broken_document", "it declares a document type, which no document of its format has")

    parser = expat.ParserCreate(namespace_separator=" ")
    parser.buffer_text = True
    parser.StartElementHandler = start
    parser.EndElementHandler = end
    parser.CharacterDataHandler = say
    parser.StartDoctypeDeclHandler = refuse
    parser.EntityDeclHandler = refuse
    any_piece = False
    try:
        for piece in pieces:
            any_piece = True
            parser.Parse(piece, False)
            yield from found
            found.clear()
        if any_piece:
            parser.Parse(b"", True)
            yield from found
    except expat.ExpatError as error:
        raise NotConverted("broken_document", f"its XML is broken: {error}") from error


def attribute(attributes: Attributes, name: str) -> str:
    """The value of an attribute by its local name; '' where it is missing."""
    if name in attributes:
        return attributes[name]
    ending = f" {name}"
    return next((value for key, value in attributes.items() if key.endswith(ending)), "")
