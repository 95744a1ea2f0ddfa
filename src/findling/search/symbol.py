"""Channel: definitions by name. Exact spelling, then any spelling of the same name, then names joined from words."""

from __future__ import annotations

from dataclasses import dataclass

from findling import tokenizer
from findling.search.analysis import QueryTerms
from findling.store.reader import IndexReader, SymbolRow

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

OTHER_SPELLING = 0.6
"""``retry_policy`` asked, ``RetryPolicy`` found."""

NESTED = 0.7
COMPOUND = 0.5
"""Words written apart that are one name: "retry policy" and ``RetryPolicy``."""

QUALIFIED = 2.0
"""``Outer.inner`` asked, and this is the one in ``Outer``, which counts more than ``Outer`` itself."""

_MAX_DEFINITIONS = 400
_MAX_SCOPED = 50_000


@dataclass(frozen=True, slots=True)
class Definition:
    """A definition that a name of the query may mean. ``strength`` in (0, 2], above 1 where the query says what
    encloses it."""

    symbol: SymbolRow
    strength: float
    asked: str


def search(reader: IndexReader, query: QueryTerms, *, scoped: bool = False) -> dict[int, list[Definition]]:
    """Definitions by blob for the names in a query, and for its words taken together, strongest first.

    ``scoped``: the caller keeps only some files' definitions, so that all must be looked at.
    """
    asked = {name.squashed: (name.text, name.weight) for name in query.names}
    for compound in query.compounds:
        asked.setdefault(compound, ("", COMPOUND))
    for word in query.words:
        squashed = tokenizer.squash(word)
        if len(query.words) == 1:
            asked.setdefault(squashed, ("", 1.0))
    qualifiers = {name.squashed for name in query.names if name.qualifies}
    found: dict[int, list[Definition]] = {}
    for symbol in reader.named(asked, _MAX_SCOPED if scoped else _MAX_DEFINITIONS):
        spelled, weight = asked[symbol.squashed]
        strength = weight * KIND_WEIGHTS.get(symbol.kind, 0.5)
        if spelled and spelled != symbol.name:
            strength *= OTHER_SPELLING
        if symbol.parent >= 0 and symbol.kind != "method":
            strength *= NESTED
        if qualifiers and symbol.squashed not in qualifiers and _last(symbol.scope) in qualifiers:
            strength = max(strength, QUALIFIED * (OTHER_SPELLING if spelled != symbol.name else 1.0))
        found.setdefault(symbol.blob_id, []).append(Definition(symbol, strength, symbol.squashed))
    for definitions in found.values():
        definitions.sort(key=lambda definition: -definition.strength)
    return found


def _last(scope: str) -> str:
    """The key of the innermost name of a scope."""
    return tokenizer.squash(scope.rsplit(".", 1)[-1])
