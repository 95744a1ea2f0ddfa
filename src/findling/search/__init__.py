"""A question travelling: understood, proposed for, ranked, placed and judged."""

from __future__ import annotations

from typing import TYPE_CHECKING

from findling.model.front_door import front_door

if TYPE_CHECKING:
    from findling.search.absence import Absence
    from findling.search.answer import at_level, at_levels, judge, make_result
    from findling.search.exact import FileRef, Grep, GrepRequest, Scope
    from findling.search.gate import needs_vectors
    from findling.search.indexed_files import IndexedFiles, indexed_text
    from findling.search.names import FileSymbols, References, definitions, references
    from findling.search.patterns import compile_pattern
    from findling.search.query import split_target, validate
    from findling.search.scope import resolve
    from findling.search.searcher import Searcher
    from findling.search.snippet import CHARS_PER_TOKEN, Sizes, cut_note, pack_sizes
else:
    __getattr__ = front_door(
        __name__,
        {
            "absence": "Absence",
            "answer": "at_level at_levels judge make_result",
            "exact": "FileRef Grep GrepRequest Scope",
            "gate": "needs_vectors",
            "indexed_files": "IndexedFiles indexed_text",
            "names": "FileSymbols References definitions references",
            "patterns": "compile_pattern",
            "query": "split_target validate",
            "scope": "resolve",
            "searcher": "Searcher",
            "snippet": "CHARS_PER_TOKEN Sizes cut_note pack_sizes",
        },
    )

__all__ = [
    "CHARS_PER_TOKEN",
    "Absence",
    "FileRef",
    "FileSymbols",
    "Grep",
    "GrepRequest",
    "IndexedFiles",
    "References",
    "Scope",
    "Searcher",
    "Sizes",
    "at_level",
    "at_levels",
    "compile_pattern",
    "cut_note",
    "definitions",
    "indexed_text",
    "judge",
    "make_result",
    "needs_vectors",
    "pack_sizes",
    "references",
    "resolve",
    "split_target",
    "validate",
]
