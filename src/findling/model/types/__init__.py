"""The vocabulary: plain values that every other module speaks in. Nothing here does I/O.

Conventions, said once: lines are 1-based and ranges inclusive; chunk and symbol positions are 0-based;
byte offsets count UTF-8 bytes of the decoded text without its byte-order mark; paths are relative to the
collection's root and use ``/``; scores and similarities are finite, in [0, 1], higher is better; times carry
their unit in the name.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from findling.model.front_door import front_door

if TYPE_CHECKING:
    from findling.model.types.answers import *  # noqa: F403
    from findling.model.types.basic import *  # noqa: F403
    from findling.model.types.matches import *  # noqa: F403
else:
    _NAMES = {
        "answers": (
            "Absent Answer Confidence Coverage EmbedderProblem Gate Grounds Hit Meaning Near Query Reason "
            "SearchResult Skip Span Status"
        ),
        "basic": (
            "GRADES Grade KIND_FILTERS KindFilter LOW_CONFIDENCE MODES SYMBOL_KINDS UNREAD Channel Chunk Completeness "
            "FileState Freshness Group IndexReport IndexingStatus Intent Kind Mode Progress SkippedFile Symbol "
            "TreeState"
        ),
        "matches": (
            "Edge EdgeResult FileMatches GrepOptions GrepResult GrepStream LineMatch Reference SymbolHit SymbolResult"
        ),
    }
    __getattr__ = front_door(__name__, _NAMES)
    __all__ = [name for names in _NAMES.values() for name in names.split()]
