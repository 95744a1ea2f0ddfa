"""A question travelling: understood, proposed for, ranked, placed and judged."""

from __future__ import annotations

from typing import TYPE_CHECKING

from findling.model.front_door import front_door

if TYPE_CHECKING:
    from findling.search.answer import at_level, at_levels
    from findling.search.patterns import compile_pattern
    from findling.search.snippet import CHARS_PER_TOKEN, Sizes, cut_note, pack_sizes
else:
    __getattr__ = front_door(
        __name__,
        {
            "answer": "at_level at_levels",
            "patterns": "compile_pattern",
            "snippet": "CHARS_PER_TOKEN Sizes cut_note pack_sizes",
        },
    )

__all__ = ["CHARS_PER_TOKEN", "Sizes", "at_level", "at_levels", "compile_pattern", "cut_note", "pack_sizes"]
