"""A question travelling: understood, proposed for, ranked, placed and judged."""

from __future__ import annotations

from typing import TYPE_CHECKING

from findling.model.front_door import front_door

if TYPE_CHECKING:
    from findling.search.answer import make_result
    from findling.search.confidence import judge
    from findling.search.exact import Grep, GrepRequest, Scope
    from findling.search.gate import needs_vectors
    from findling.search.indexed_files import IndexedFiles, indexed_text
    from findling.search.names import FileSymbols, References, definitions, references
    from findling.search.query import split_target, validate
    from findling.search.searcher import Searcher
else:
    __getattr__ = front_door(
        __name__,
        {
            "answer": "make_result",
            "confidence": "judge",
            "exact": "Grep GrepRequest Scope",
            "gate": "needs_vectors",
            "indexed_files": "IndexedFiles indexed_text",
            "names": "FileSymbols References definitions references",
            "query": "split_target validate",
            "searcher": "Searcher",
        },
    )

__all__ = [
    "FileSymbols",
    "Grep",
    "GrepRequest",
    "IndexedFiles",
    "References",
    "Scope",
    "Searcher",
    "definitions",
    "indexed_text",
    "judge",
    "make_result",
    "needs_vectors",
    "references",
    "split_target",
    "validate",
]
