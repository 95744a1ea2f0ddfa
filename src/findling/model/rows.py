"""The rows of an index as plain values: files, definitions and manifests."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from typing import NamedTuple

from findling.model import tokenizer
from findling.model.reading import Coding, Symbol, row_bytes
from findling.model.remembered import remembered
from findling.model.text_encodings import CONVERTED
from findling.model.types import SYMBOL_KINDS

_SQUASHED_REMEMBERED = 50_000
"""So many names have their key remembered, which takes 10 MB: a repository's names repeat."""

_KINDS = {kind: place for place, kind in enumerate(SYMBOL_KINDS)}


class FileRow(NamedTuple):
    """A file of the manifest. The term counts are what BM25 normalises by. ``other_encoding``: its encoding, None for
    UTF-8. ``collection``: if several collections are searched as one, the first part of its path, which names its own;
    else ''."""

    entry_id: int
    blob_id: int
    path: str
    language: str
    kind: str
    size: int
    lines: int
    generated: bool
    body_terms: int
    name_terms: int
    other_encoding: str | None = None
    collection: str = ""

    @property
    def own_path(self) -> str:
        """The path inside its collection, without the collection's name, which says nothing about the file."""
        return self.path[len(self.collection) + 1 :] if self.collection else self.path

    @property
    def converted(self) -> bool:
        """Whether its text was converted (from a PDF) and is kept in the index (`IndexReader.doc_text`)."""
        return self.other_encoding == CONVERTED


class ModelRow(NamedTuple):
    """A model that made vectors. ``docs``: whether documents are to have some. ``chunks``: how many have one, where
    that is known with the model."""

    model_id: int
    fingerprint: str
    name: str
    dimensions: int
    coding: Coding
    docs: bool
    chunks: int = 0

    @property
    def vector_bytes(self) -> int:
        """Bytes of one vector as it is kept."""
        return row_bytes(self.dimensions, self.coding)


class SymbolRow(NamedTuple):
    """A definition in a content (`reading.Symbol`); ``position`` is its place among the file's."""

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


def symbol_rows(blob_id: int, symbols: Iterable[Symbol]) -> list[SymbolRow]:
    """The definitions of a content as rows."""
    return [SymbolRow(blob_id, position, *symbol) for position, symbol in enumerate(symbols)]


@remembered(_SQUASHED_REMEMBERED)
def squashed(name: str) -> str:
    return tokenizer.squash(name)


class DefinedNames(NamedTuple):
    """What a file defines, in order: the names, one a line, and each one's place in `SYMBOL_KINDS`."""

    text: str
    kinds: bytes

    @classmethod
    def of(cls, symbols: Sequence[Symbol]) -> DefinedNames:
        return cls("\n".join([symbol.name for symbol in symbols]), bytes([_KINDS[symbol.kind] for symbol in symbols]))


NO_NAMES = DefinedNames("", b"")


class ManifestRow(NamedTuple):
    """A manifest's state and totals; ``pending`` files are listed but not yet indexed."""

    manifest_id: int
    complete: bool
    pending: int
    synced_at: str
    files: int
    chunks: int
    body_terms: int
    name_terms: int
    counts: int
    wanted: str
