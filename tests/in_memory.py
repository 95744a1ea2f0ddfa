"""Indexes in memory for tests: made of texts, without a disk or a process."""

from __future__ import annotations

from collections.abc import Mapping

from findling.embedding import Embedder
from findling.engine.first_answers import take_in
from findling.store.memory import MemoryIndex


def index_of(files: Mapping[str, str], embedder: Embedder | None = None) -> MemoryIndex:
    """An index of texts by path, with vectors where there is an embedder."""
    index = MemoryIndex()
    left_out = take_in(index, ((path, text.encode()) for path, text in files.items()), embedder=embedder)
    assert not left_out
    return index
