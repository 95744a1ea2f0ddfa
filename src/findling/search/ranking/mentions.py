"""Which of the names that hardly any file defines some candidates of a query mention: what `votes` counts. Pure.

Only what can turn a vote is looked up: a name that no other candidate mentions, or that three of them define, is left
out before anybody is asked how rare it is.
"""

from __future__ import annotations

import re
from array import array
from collections import Counter
from collections.abc import Callable, Collection, Mapping, Sequence, Set
from itertools import compress
from zlib import crc32

from findling import tokenizer
from findling.remembered import remembered
from findling.search.ranking.votes import KINDS, MAX_DEFINERS, MIN_NAME
from findling.store import term_rows
from findling.store.symbol_rows import DefinedNames
from findling.types import SYMBOL_KINDS

_COUNTS = bytes(kind in KINDS for kind in SYMBOL_KINDS).ljust(256, b"\0")
"""By a kind's place, whether what is of this kind is voted for."""

_ONE_PART = re.compile(r"^[^A-Za-z0-9\n]*(?:[A-Z]?[a-z]+|[A-Z]+|[0-9]+)[^A-Za-z0-9\n]*$", re.MULTILINE)
"""Names of ASCII that `tokenizer.parts` leaves whole: of these the stem is the term, of others the whole run."""

_MANY = 20
"""From so many names on all of a file are squashed at once, which takes less than to squash these."""

_STEMS_REMEMBERED = 5_000
"""Names of one part are mostly the same few everywhere."""


def rare_mentions(
    voters: Sequence[int],
    blobs: Sequence[int],
    names: Mapping[int, DefinedNames],
    keys: Mapping[int, Sequence[int]],
    rows: Mapping[int, Sequence[int]],
    definition_counts: Callable[[Collection[str], int], Mapping[str, int]],
) -> tuple[dict[int, set[int]], list[set[int]]]:
    """What each voter says, by its place among the candidates, and which rare names each candidate defines; as term
    keys, as far as they can turn a vote.

    ``blobs``: each candidate's content; by content ``names``, their ``keys`` (`name_keys`) and ``rows`` (`term_rows`);
    ``definition_counts`` as `IndexReader.definition_counts`.
    """
    only: dict[int, int] = {}
    """Key -> the one candidate that defines it, -1 where several do."""
    for place, blob_id in enumerate(blobs):
        for key in keys.get(blob_id, ()):
            if only.setdefault(key, place) != place:
                only[key] = -1
    said = {voter: term_rows.among(rows.get(blobs[voter], ()), only) for voter in voters}
    heard: set[int] = set()
    for voter, spoken in said.items():
        heard.update([key for key in spoken if only[key] != voter])
    named = {blob_id: _heard(names[blob_id], keys[blob_id], heard) for blob_id in set(blobs) if blob_id in names}
    definers = Counter(squashed for found in named.values() for squashed in {squashed for squashed, _ in found})
    asked = [squashed for squashed, contents in definers.items() if contents <= MAX_DEFINERS]
    counts = definition_counts(asked, MAX_DEFINERS + 1)
    rare = {squashed for squashed in asked if counts[squashed] <= MAX_DEFINERS}
    return said, [{key for squashed, key in named.get(blob_id, ()) if squashed in rare} for blob_id in blobs]


def _heard(names: DefinedNames, keys: Sequence[int], heard: Set[int]) -> list[tuple[str, int]]:
    """Squashed name and key of those names whose key was heard."""
    places = [place for place, key in enumerate(keys) if key in heard]
    return list(zip(squashed_at(names, places), [keys[place] for place in places], strict=True))


def squashed_at(names: DefinedNames, places: Sequence[int]) -> list[str]:
    """The squashed forms of some of the names that are voted for, by their places among these."""
    if not places:
        return []
    if len(places) >= _MANY:
        squashed = squashed_names(names)
        return [squashed[place] for place in places]
    counting = _counting(names)
    return [tokenizer.squash(counting[place]) for place in places]


def squashed_names(names: DefinedNames) -> list[str]:
    """The squashed forms (`tokenizer.squash`) of the names that are voted for, in order."""
    wanted = names.kinds.translate(_COUNTS)
    every = compress(zip(names.text.split("\n"), names.squashed, strict=True), wanted) if names.kinds else ()
    return [squashed for name, squashed in every if len(name) >= MIN_NAME]


def _counting(names: DefinedNames) -> list[str]:
    """The names that are voted for."""
    every = compress(names.text.split("\n"), names.kinds.translate(_COUNTS))
    return [name for name in every if len(name) >= MIN_NAME]


def name_keys(names: DefinedNames) -> Sequence[int]:
    """The term keys (of `tokenizer.whole_term`) of the names that are voted for, in order."""
    counting = _counting(names)
    text = "\n".join(counting)
    if not text.isascii() or max(map(len, counting), default=0) > tokenizer.MAX_WORD:
        return array("I", [tokenizer.term_key(tokenizer.whole_term(name)) for name in counting])
    single = frozenset(_ONE_PART.findall(text))
    runs = text.lower().replace("_", "").encode().split(b"\n") if counting else []
    keys = array("I", [checksum >> 8 for checksum in map(crc32, runs)])  # as `tokenizer.term_key`
    for place, name in enumerate(counting):
        if name in single:
            keys[place] = _key_of_stem(name)
    return keys


@remembered(_STEMS_REMEMBERED)
def _key_of_stem(name: str) -> int:
    return tokenizer.term_key(tokenizer.stem(tokenizer.squash(name)))
