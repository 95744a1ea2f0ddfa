"""Filters that stand in a question itself: ``path:src/ -path:tests lang:python in:docs``."""

from __future__ import annotations

import re

from msgspec.structs import replace

from findling.model.errors import InvalidInput
from findling.model.types import KIND_FILTERS, Query

_LONGEST = 1_000
"""Characters of a question that is looked at for filters; in a longer text they are part of what was pasted."""

_FILTER = re.compile(
    r'"[^"]*"|`[^`]*`'  # what is quoted is looked for as it stands
    rf"|(?<!\S)(?:(?P<out>-?)path:(?P<path>[^\s:\"'`]+)|lang(?:uage)?:(?P<language>[\w+#.-]+)|in:(?P<kind>{'|'.join(KIND_FILTERS)}))(?!\S)"
)


def taken_from_text(query: Query) -> Query:
    """The query with the filters of its text among its own, and the text without them.

    Several paths are alternatives; those with ``-`` are left out. Raises `InvalidInput` where a filter contradicts
    another one. Where nothing else is asked, and in what is
    looked for to the letter, there are no filters.
    """
    if query.mode == "exact" or ":" not in query.text or len(query.text) > _LONGEST or "\n" in query.text.strip():
        return query
    found = [match for match in _FILTER.finditer(query.text) if match.lastgroup]
    if not found:
        return query
    globs = tuple(("!" if match["out"] else "") + match["path"] for match in found if match["path"])
    text = _FILTER.sub(lambda match: "" if match.lastgroup else match[0], query.text)
    text = re.sub(r"\s{2,}", " ", text).strip()
    written = " ".join(match[0] for match in found)
    if not text:
        return query
    return replace(
        query,
        text=text,
        path_globs=(*query.path_globs, *globs),
        language=_one("language", query.language, [match["language"] for match in found if match["language"]]),
        kind=_one("kind", query.kind, [match["kind"] for match in found if match["kind"]]),
        notes=(*query.notes, f"Taken as {'a filter' if len(found) == 1 else 'filters'}: {written}."),
    )


def _one(name: str, given: str | None, written: list[str]) -> str | None:
    """The one value of a filter. Raises `InvalidInput` for several."""
    values = list(dict.fromkeys([*([given] if given else []), *written]))
    if len(values) > 1:
        raise InvalidInput(f"The {name} is given as {' and as '.join(values)}.", remedy="Keep one of them.")
    return values[0] if values else None
