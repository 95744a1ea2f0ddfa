"""One content's definitions in one compact row: fixed-width numbers, then names, then what few of them have. Pure.

A row is: how many definitions, how wide their line numbers are, how long the names are; then, each for all
definitions in order, the kind, the enclosing definition, the first line, the number of lines after it and the line
of the name (both counted from the first); then the names, one a line; then, as JSON, the scopes that do not follow
from the enclosing definitions and the signatures that their line does not say. Deflated as a whole, about 17 bytes a
definition, a sixth of what a table with an index of names takes.
"""

from __future__ import annotations

import json
import struct
import sys
from array import array
from collections.abc import Callable, Collection, Iterator, Sequence
from typing import NamedTuple, overload

from findling.model import tokenizer
from findling.model.remembered import remembered
from findling.model.types import SYMBOL_KINDS
from findling.store.deflated import deflate, inflate

MAX_SYMBOLS = 0xFFFF
"""Enclosing definitions are told in 16 bits; files hold at most 20,000 definitions."""

_HEAD = struct.Struct("<IIB")
_NO_PARENT = 0xFFFF
_NARROW, _WIDE = "H", "I"
_SWAP = sys.byteorder == "big"
_KINDS = {kind: position for position, kind in enumerate(SYMBOL_KINDS)}
"""Kinds are told by their place, so new ones go to the end; otherwise the format's version must rise."""

_SQUASHED_REMEMBERED = 50_000
"""Names whose key is remembered: 10 MB, and a repository's names repeat."""

PackedSymbol = tuple[str, str, int, int, int, int, str, str]
"""name, kind, parent, start line, end line, name line, scope (qualified name without the name), signature."""


class SymbolRow(NamedTuple):
    """A definition in a blob; ``position`` is its place among the file's symbols.

    ``signature`` is '' where the file's own line says it (`signatures.of`).
    """

    blob_id: int
    position: int
    name: str
    kind: str
    parent: int
    start_line: int
    end_line: int
    name_line: int
    scope: str
    signature: str

    @property
    def qualified_name(self) -> str:
        return f"{self.scope}.{self.name}" if self.scope else self.name

    @property
    def squashed(self) -> str:
        """The key under which spellings of the name meet (`tokenizer.squash`)."""
        return squashed(self.name)


@remembered(_SQUASHED_REMEMBERED)
def squashed(name: str) -> str:
    return tokenizer.squash(name)


def pack(symbols: Sequence[PackedSymbol]) -> bytes:
    """The row of one file's definitions, in order; b'' for none."""
    if not symbols:
        return b""
    names = [symbol[0].replace("\n", " ") for symbol in symbols]
    scopes: dict[int, str] = {}
    kept: dict[int, str] = {}
    for position, (_, _, parent, _, _, _, scope, signature) in enumerate(symbols):
        if scope != _enclosing(names, symbols, parent):
            scopes[position] = scope
        if signature:
            kept[position] = signature
    wide = _WIDE if max(max(symbol[4:6]) for symbol in symbols) > 0xFFFF else _NARROW
    numbers = [
        array("B", [_KINDS[symbol[1]] for symbol in symbols]),
        array("H", [symbol[2] if symbol[2] >= 0 else _NO_PARENT for symbol in symbols]),
        array(wide, [symbol[3] for symbol in symbols]),
        array(wide, [max(symbol[4] - symbol[3], 0) for symbol in symbols]),
        array(wide, [max(symbol[5] - symbol[3], 0) for symbol in symbols]),
    ]
    if _SWAP:
        for column in numbers:
            column.byteswap()
    spelled = "\n".join(names).encode("utf-8", "surrogatepass")
    rest = json.dumps([scopes, kept], ensure_ascii=False, separators=(",", ":")) if scopes or kept else ""
    return deflate(
        b"".join(
            (
                _HEAD.pack(len(symbols), len(spelled), array(wide).itemsize),
                *(column.tobytes() for column in numbers),
                spelled,
                rest.encode("utf-8", "surrogatepass"),
            )
        )
    )


class SymbolRows(Sequence[SymbolRow]):
    """The definitions of one row in order, each made when it is asked for: mostly one or two of them are."""

    __slots__ = ("_blob_id", "_columns", "_kept", "_names", "_scopes")

    def __init__(self, blob_id: int, data: bytes) -> None:
        """Raises `ValueError` for what `pack` never writes."""
        self._blob_id = blob_id
        if data:
            data, _ = inflate(data)
        count, length, width = _head(data) if data else (0, 0, 2)
        at = _HEAD.size
        self._columns: list[array[int]] = []
        wide = _NARROW if width == 2 else _WIDE
        for code in ("B", "H", wide, wide, wide):
            column = array(code)
            size = column.itemsize * count
            column.frombytes(data[at : at + size])
            at += size
            if len(column) != count:
                raise ValueError("a row of definitions is cut short")
            if _SWAP:
                column.byteswap()
            self._columns.append(column)
        self._names = data[at : at + length].decode("utf-8", "surrogatepass").split("\n") if count else []
        if len(self._names) != count:
            raise ValueError("a row of definitions is cut short")
        rest = data[at + length :]
        scopes, kept = json.loads(rest.decode("utf-8", "surrogatepass")) if rest else ({}, {})
        self._scopes: dict[str, str] = scopes
        self._kept: dict[str, str] = kept

    def __len__(self) -> int:
        return len(self._names)

    @overload
    def __getitem__(self, position: int) -> SymbolRow: ...
    @overload
    def __getitem__(self, position: slice) -> list[SymbolRow]: ...
    def __getitem__(self, position: int | slice) -> SymbolRow | list[SymbolRow]:
        if isinstance(position, slice):
            return [self[place] for place in range(*position.indices(len(self)))]
        if position < 0:
            position += len(self)
        kind, parent, start, lines, offset = [column[position] for column in self._columns]
        return SymbolRow(
            self._blob_id,
            position,
            self._names[position],
            SYMBOL_KINDS[kind],
            -1 if parent == _NO_PARENT else parent,
            start,
            start + lines,
            start + offset,
            self._scope(position),
            self._kept.get(str(position), "") if self._kept else "",
        )

    def __iter__(self) -> Iterator[SymbolRow]:
        return (self[position] for position in range(len(self)))

    def first_within(self, start_line: int, end_line: int) -> SymbolRow | None:
        """The first definition that begins in these lines, unless one before it begins after them."""
        for position, line in enumerate(self._columns[2]):
            if line >= start_line:
                return self[position] if line <= end_line else None
        return None

    def lines_of(self, kind: str, names: Collection[str]) -> list[tuple[int, int]]:
        """(first line, last line) of the definitions of a kind that have one of these names."""
        kinds, _, starts, lengths, _ = self._columns
        wanted = SYMBOL_KINDS.index(kind)
        return [
            (starts[at], starts[at] + lengths[at])
            for at, name in enumerate(self._names)
            if name in names and kinds[at] == wanted
        ]

    def _scope(self, position: int) -> str:
        """What encloses a definition: what was kept, or the names above it."""
        above: list[str] = []
        while True:
            known = self._scopes.get(str(position)) if self._scopes else None
            parent = self._columns[1][position]
            if known is not None or parent == _NO_PARENT:
                break
            if parent >= position:
                raise ValueError("a definition is said to stand in a later one")
            above.append(self._names[parent])
            position = parent
        scope = known or ""
        for name in reversed(above):
            scope = f"{scope}.{name}" if scope else name
        return scope


def unpack(blob_id: int, data: bytes) -> SymbolRows:
    """The definitions of a row. Raises `ValueError` for what `pack` never writes."""
    return SymbolRows(blob_id, data)


def fitting(blob_id: int, data: bytes, fits: Callable[[str], object], kind: str | None = None) -> list[SymbolRow]:
    """The definitions of a row whose squashed names fit, in order, of one ``kind`` if given. Raises as `unpack`."""
    names = named(data)
    places = [place for place, name in enumerate(names.squashed) if fits(name)]
    if kind is not None:
        places = [place for place in places if SYMBOL_KINDS[names.kinds[place]] == kind]
    rows = unpack(blob_id, data) if places else ()
    return [rows[place] for place in places]


class DefinedNames(NamedTuple):
    """What a file defines, in order: the names, one a line, and each one's place in `SYMBOL_KINDS`."""

    text: str
    kinds: bytes

    @property
    def squashed(self) -> list[str]:
        """The names' keys in order."""
        return _squashed(self.text) if self.kinds else []


NO_NAMES = DefinedNames("", b"")


def named(data: bytes) -> DefinedNames:
    """Names and kinds of a row: all that most files are asked for. Raises as `unpack`."""
    if not data:
        return NO_NAMES
    data, _ = inflate(data)
    count, length, width = _head(data)
    at = _HEAD.size
    kinds = data[at : at + count]
    at += count * sum((1, 2, width, width, width))  # the columns, as `pack` lays them
    text = data[at : at + length].decode("utf-8", "surrogatepass")
    if not len(kinds) == text.count("\n") + 1 == count:
        raise ValueError("a row of definitions is cut short")
    return DefinedNames(text, kinds)


def _squashed(text: str) -> list[str]:
    """The keys of names that stand one a line: as `squashed`, most of them together."""
    if not text.isascii():
        return [squashed(name) for name in text.split("\n")]
    runs = text.lower().replace("_", "").split("\n")
    if "".join(runs).isalnum():
        return runs
    return [run if run.isalnum() else "".join(filter(str.isalnum, run)) for run in runs]


def _head(data: bytes) -> tuple[int, int, int]:
    """How many definitions, how many bytes their names take, how many a line number takes."""
    try:
        return _HEAD.unpack_from(data)
    except struct.error as error:
        raise ValueError("a row of definitions is cut short") from error


def keys(symbols: Sequence[PackedSymbol]) -> list[str]:
    """The squashed names that a file defines, each once, ascending."""
    return sorted({squashed(symbol[0]) for symbol in symbols})


def _enclosing(names: Sequence[str], symbols: Sequence[PackedSymbol], parent: int) -> str:
    """The scope that follows from the definition at ``parent``."""
    if parent < 0:
        return ""
    scope = symbols[parent][6]
    return f"{scope}.{names[parent]}" if scope else names[parent]
