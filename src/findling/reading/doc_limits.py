"""How long the chunks of documents are. Apart from `chunk_docs`, which only documents need."""

from __future__ import annotations

from dataclasses import dataclass

SPLIT_LEVEL = 3
"""Headings down to this level begin a section."""


@dataclass(frozen=True, slots=True)
class DocLimits:
    """Sizes in characters. ``overlap`` must be smaller than ``max_chars``."""

    max_chars: int = 2000
    overlap: int = 200

    def __post_init__(self) -> None:
        if not 0 <= self.overlap < self.max_chars:
            raise ValueError("overlap must be at least 0 and smaller than max_chars")


DOCS = DocLimits()
LIBRARY = DocLimits(1000, 200)
"""The sizes of documents in the library."""
