"""How much of a search's answer is printed within ``--max-tokens``: all that goes to stdout counts, as it is printed.

Knows of a view only how long an answer would be; what goes first is `pack_sizes`'s to say.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace

from findling import search
from findling.model.plurals import count
from findling.model.types import Hit, SearchResult


def within(result: SearchResult, max_tokens: int, length: Callable[[SearchResult], int]) -> SearchResult:
    """The answer with as many of its places, snippets and bodies as fit; what was cut is said in its notes.

    ``result`` has its bodies. ``length``: the characters that an answer takes when it is printed. What stands around
    the places (in JSON the fields of the answer) is printed in any case; where nothing fits beside it, no place is.
    """
    hits = result.hits
    if length(result) <= max_tokens * search.CHARS_PER_TOKEN or not hits:
        return result
    most = len(hits)
    frame = _cut(replace(result, hits=()), search.cut_note(max_tokens, most, most, most, most))
    around = length(frame)

    def alone(*shown: Hit) -> int:
        return length(replace(frame, hits=shown)) - around

    between = alone(hits[0], hits[0]) - 2 * alone(hits[0])
    sizes = []
    for hit in hits:
        header, snippet = alone(search.at_level(hit, "place")), alone(search.at_level(hit, "snippet"))
        more = None if hit.body in ("", hit.snippet) else alone(hit) - snippet
        sizes.append(search.Sizes(header + between, snippet - header if hit.snippet else 0, more))
    packed = search.pack_sizes(sizes, max_tokens, taken=around - between)
    note = packed.note
    if around > max_tokens * search.CHARS_PER_TOKEN:
        size = count(around // search.CHARS_PER_TOKEN, "token")
        note = f"No place fits: what stands around them takes about {size} itself."
    return _cut(replace(result, hits=tuple(search.at_levels(hits, packed.levels))), note)


def _cut(result: SearchResult, note: str) -> SearchResult:
    """As an answer that was cut, which ``note`` says; '' for one that was not."""
    if not note:
        return result
    completeness = "truncated" if result.completeness == "complete" else result.completeness
    return replace(result, completeness=completeness, notes=(*result.notes, note))
