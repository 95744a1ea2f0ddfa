"""Channel: definitions by name. Exact spelling, then any spelling of the same name, then names joined from words; and
apart from these, names that only begin with what was asked for or have it in them."""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence
from itertools import islice
from typing import NamedTuple

from findling.model import tokenizer
from findling.model.rows import SymbolRow
from findling.search.analysis import QueryTerms
from findling.store.protocols import Index, OnlyThese

KIND_WEIGHTS = {
    "class": 1.0,
    "struct": 1.0,
    "enum": 1.0,
    "trait": 1.0,
    "interface": 1.0,
    "type_alias": 0.9,
    "fn": 0.8,
    "method": 0.55,
    "module": 0.5,
    "constant": 0.5,
    "variable": 0.4,
}
"""How likely a definition of this kind is what a bare name asks for."""

SPELLING_FIT = 0.75
"""What a definition in another spelling is worth: ``retry_policy`` asked, ``RetryPolicy`` found."""

COMPOUND = 0.5
"""Words written apart that are one name: "retry policy" and ``RetryPolicy``."""

QUALIFIED = 2.0
"""``Outer.inner`` asked, and this is the one in ``Outer``, which counts more than ``Outer`` itself."""

ELSEWHERE_FIT = 0.25
"""What an ``inner`` of something else is worth, where ``Outer`` has one."""

BEGINNING, WORD, INSIDE = 0.8, 0.6, 0.3
"""``Parser`` asked: ``ParserError``, ``ArgParser``, and letters inside a word, which are seldom meant."""

_MAX_NAMES = 20_000
"""Names that are looked up, the first ones of a longer text; one statement of SQLite takes 32,766."""

_MAX_DEFINITIONS = 400
_MAX_SCOPED = 50_000
_MAX_ALIKE = 500
"""Definitions of names that only begin with a word, or contain it, that are looked at for each word."""

_MIN_ALIKE = 2
"""Letters of a word that names are compared with; a single one is in most."""

_MOST_WORDS_ALIKE = 64
"""Words of a text that names are compared with: a name is like them that has more than half, and none has so many."""


class Definition(NamedTuple):
    """A definition that a name of the query may mean. ``strength`` in (0, 2], above 1 where the query says what
    encloses it. ``fit``: how far its name is the one that was asked for, from 1 (to the letter) to 0 (only like it).
    """

    symbol: SymbolRow
    strength: float
    asked: str
    fit: float = 1.0

    @property
    def alike(self) -> bool:
        return self.fit == 0.0


def written_as(definitions: Mapping[int, Sequence[Definition]], text: str) -> dict[int, int]:
    """Blob -> the line of its first definition in whose own first line a text of two words or more stands."""
    wanted = " ".join(text.split()).rstrip(" :{(")
    if " " not in wanted:
        return {}
    line = re.compile(rf"(?<!\w){re.escape(wanted)}(?!\w)")
    return {
        blob: min(found)
        for blob, every in definitions.items()
        if (found := [each.symbol.name_line for each in every if line.search(each.symbol.signature)])
    }


def search(reader: Index, query: QueryTerms, *, scoped: bool = False) -> dict[int, list[Definition]]:
    """Definitions by blob for the names in a query, and for its words taken together, strongest first.

    ``scoped``: the caller keeps only some files' definitions, so that all must be looked at.
    """
    asked = {name.squashed: (name.text, name.weight) for name in query.names}
    if len(query.words) == 1:
        asked.setdefault(tokenizer.squash(query.words[0]), ("", 1.0))
    for compound in query.compounds:
        asked.setdefault(compound, ("", COMPOUND))
    qualifiers = {name.squashed for name in query.names if name.qualifies}
    found: dict[int, list[Definition]] = {}
    in_scope: set[str] = set()
    for symbol in reader.named(islice(asked, _MAX_NAMES), _MAX_SCOPED if scoped else _MAX_DEFINITIONS):
        spelled, weight = asked[symbol.squashed]
        strength = weight * KIND_WEIGHTS.get(symbol.kind, 0.5)
        fit = 1.0
        if spelled and spelled != symbol.name:
            fit = SPELLING_FIT
        if qualifiers and symbol.squashed not in qualifiers and _last(symbol.scope) in qualifiers:
            strength = QUALIFIED
            in_scope.add(symbol.squashed)
        found.setdefault(symbol.blob_id, []).append(Definition(symbol, strength, symbol.squashed, fit))
    for blob_id, definitions in found.items():
        if in_scope:
            found[blob_id] = definitions = [
                each._replace(fit=min(each.fit, ELSEWHERE_FIT))
                if each.asked in in_scope and _last(each.symbol.scope) not in qualifiers
                else each
                for each in definitions
            ]
        definitions.sort(key=lambda definition: -definition.strength)
    return found


def search_alike(reader: Index, query: QueryTerms, only: OnlyThese) -> dict[int, list[Definition]]:
    """Definitions by blob whose names begin with a word of the query or contain it, but are none that `search` finds.

    ``strength`` in (0, 1) grows with the share of the query's words that are in the name and of the name that they are.
    """
    named = [name.squashed for name in query.names if not name.qualifies]
    words = [tokenizer.squash(word) for word in query.words]
    asked = [word for word in dict.fromkeys(named or words) if len(word) >= _MIN_ALIKE]
    if len(asked) > _MOST_WORDS_ALIKE:
        return {}
    same = {*named, *query.compounds, *(words if len(words) == 1 else ())}
    symbols: dict[tuple[int, int], SymbolRow] = {}
    for word in asked:
        for prefix in (True, False):
            for symbol in reader.named_like(word, prefix=prefix, limit=_MAX_ALIKE, only=only):
                if symbol.squashed not in same:
                    symbols.setdefault((symbol.blob_id, symbol.position), symbol)
    found: dict[int, list[Definition]] = {}
    for symbol in symbols.values():
        strength = _likeness(symbol, asked) * KIND_WEIGHTS.get(symbol.kind, 0.5)
        if not strength:
            continue
        found.setdefault(symbol.blob_id, []).append(Definition(symbol, strength, symbol.squashed, fit=0.0))
    for definitions in found.values():
        definitions.sort(key=lambda definition: (-definition.strength, definition.symbol.position))
    return found


def _likeness(symbol: SymbolRow, words: Sequence[str]) -> float:
    """How much of the words is in a name and of the name in the words, less where they are no words of it; 0 where half
    of them or more are missing."""
    name = symbol.squashed
    inside = [word for word in words if word in name]
    if len(inside) <= len(words) / 2:
        return 0.0
    parts = {part for word in tokenizer.words(symbol.name) for part in tokenizer.parts(word)}
    best = max(BEGINNING if name.startswith(word) else WORD if word in parts else INSIDE for word in inside)
    covered = min(len(name), sum(map(len, inside))) / len(name)
    return best * len(inside) / len(words) * (0.5 + 0.5 * covered)


def _last(scope: str) -> str:
    """The key of the innermost name of a scope."""
    return tokenizer.squash(scope.rsplit(".", 1)[-1])
