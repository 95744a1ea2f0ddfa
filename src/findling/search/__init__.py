"""A question travelling: understood, proposed for, ranked, placed and judged."""

from __future__ import annotations

from typing import TYPE_CHECKING

from findling.model.front_door import front_door

if TYPE_CHECKING:
    from findling.search.absence import Absence
    from findling.search.answer import judge, make_result
    from findling.search.body import DOCUMENTED, Body, definition_body, lines_of
    from findling.search.edges import Definition, Edge, Edges, EdgeSearch, Ending, callees, callers
    from findling.search.exact import FileRef, Grep, GrepRequest, Scope, Searchable
    from findling.search.flow import but_for
    from findling.search.gate import needs_vectors
    from findling.search.graph.resolution import Resolver
    from findling.search.indexed_files import IndexedFiles, indexed_text
    from findling.search.names import Definitions, FileSymbols, References, definitions, references, symbol_hit
    from findling.search.nearest import AS_GOOD, NEAREST, nearest_paths, with_folders
    from findling.search.patterns import compile_pattern, is_plain
    from findling.search.query import split_target, taken_from_text, validate
    from findling.search.relations import Relating
    from findling.search.scope import glob_matcher, resolve
    from findling.search.searcher import Searcher
else:
    __getattr__ = front_door(__name__)
