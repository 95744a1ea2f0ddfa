"""One content's definitions in one compact row: fixed-width numbers, then names, then what few of them have. Pure.

A row is: how many definitions, how wide their line numbers are, how long the names are; then, each for all
definitions in order, the kind, the enclosing definition, the first line, the number of lines after it and the line
of the name (both counted from the first); then the names, one a line; then, as JSON, the scopes that do not follow
from the enclosing definitions and the signatures that their line does not say. About 35 bytes a definition, a third
of what a table with an index of names takes.
"""

from __future__ import annotations

import json
import struct
import sys
from array import array
from collections.abc import Sequence
from typing import NamedTuple

from findling import tokenizer
from findling.remembered import remembered
from findling.types import SYMBOL_KINDS

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
    return b"".join(
        (
            _HEAD.pack(len(symbols), len(spelled), array(wide).itemsize),
            *(column.tobytes() for column in numbers),
            spelled,
            rest.encode("utf-8", "surrogatepass"),
        )
    )


def unpack(blob_id: int, data: bytes) -> list[SymbolRow]:
    """The definitions of a row. Raises `ValueError` for what `pack` never writes."""
    if not data:
        return []
    count, length, width = _head(data)
    at = _HEAD.size
    columns: list[list[int]] = []
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
        columns.append(column.tolist())
    names = data[at : at + length].decode("utf-8", "surrogatepass").split("\n")
    rest = data[at + length :]
    scopes, kept = json.loads(rest.decode("utf-8", "surrogatepass")) if rest else ({}, {})
    found: list[SymbolRow] = []
    for position, (name, kind, parent, start, lines, offset) in enumerate(zip(names, *columns, strict=True)):
        known = scopes.get(str(position)) if scopes else None
        if known is not None:
            scope = known
        elif parent == _NO_PARENT:
            scope = ""
        else:
            above = found[parent]
            scope = f"{above.scope}.{above.name}" if above.scope else above.name
        found.append(
            SymbolRow(
                blob_id,
                position,
                name,
                SYMBOL_KINDS[kind],
                -1 if parent == _NO_PARENT else parent,
                start,
                start + lines,
                start + offset,
                scope,
                kept.get(str(position), "") if kept else "",
            )
        )
    return found


def named(data: bytes) -> list[tuple[str, str]]:
    """Name and kind of each definition of a row, in order: all that most files are asked for. Raises as `unpack`."""
    if not data:
        return []
    count, length, width = _head(data)
    at = _HEAD.size
    kinds = data[at : at + count]
    at += count * sum((1, 2, width, width, width))  # the columns, as `pack` lays them
    names = data[at : at + length].decode("utf-8", "surrogatepass").split("\n")
    if not len(kinds) == len(names) == count:
        raise ValueError("a row of definitions is cut short")
    return [(name, SYMBOL_KINDS[kind]) for name, kind in zip(names, kinds, strict=True)]


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
