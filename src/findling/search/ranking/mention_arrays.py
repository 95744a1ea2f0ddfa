"""The votes of `votes` for the mentions of `mentions`, worked out with arrays: the same numbers in a fifth of the time
where candidates define thousands of names. For searches that have numpy loaded anyway; the others' few names are sooner
gone through than numpy is imported. Pure.
"""

from __future__ import annotations

from collections.abc import Callable, Collection, Iterable, Mapping, Sequence
from typing import Any

import numpy as np
from numpy.typing import NDArray

from findling.search.ranking import mentions
from findling.search.ranking.votes import EXPONENT, MAX_DEFINERS, voters
from findling.store.symbol_rows import DefinedNames

_KEY_BITS = 24
_KEY = np.uint64((1 << _KEY_BITS) - 1)
"""Of a name's word, the part that is its term key; the rest tells its squashed form from others."""

_PLACE_BITS = 16
"""Candidates are far fewer than this can tell."""

_SIEVE_SHIFT = 3
"""Keys are looked for where one that shares all but so many bits is wanted: two megabytes tell that of all keys."""

Names = NDArray[np.uint64]


class KnownNames:
    """Which names hardly anybody defines, of those asked about since the index was last written to: candidates of one
    question after another define the same ones, a few files thousands of them."""

    def __init__(self) -> None:
        self._hashes: Names = np.empty(0, np.uint64)
        self._rare = np.empty(0, bool)

    def __len__(self) -> int:
        return len(self._hashes)

    def look_up(self, hashes: Names) -> tuple[NDArray[np.bool_], NDArray[np.bool_]]:
        """Which of these are known, and which are known to be rare."""
        if not len(self._hashes):
            return np.zeros(len(hashes), bool), np.zeros(len(hashes), bool)
        at = np.minimum(np.searchsorted(self._hashes, hashes), len(self._hashes) - 1)
        known: NDArray[np.bool_] = self._hashes[at] == hashes
        return known, known & self._rare[at]

    def add(self, hashes: Names, rare: NDArray[np.bool_]) -> None:
        """Take in names that are not known yet, each once."""
        every = np.concatenate([self._hashes, hashes])
        order = np.argsort(every, kind="stable")
        self._hashes, self._rare = every[order], np.concatenate([self._rare, rare])[order]


def name_words(names: DefinedNames) -> Names:
    """A word for each name that is voted for, in order: in the lower bits its term key (`mentions.name_keys`), above
    them what this process tells its squashed form by."""
    keys = np.array(mentions.name_keys(names), np.uint64)
    hashes = np.fromiter(map(hash, mentions.squashed_names(names)), np.int64, len(keys)).view(np.uint64)
    words: Names = hashes << np.uint64(_KEY_BITS) | keys
    return words


def received(
    voices: Sequence[float],
    blobs: Sequence[int],
    names: Mapping[int, DefinedNames],
    words: Mapping[int, Names],
    rows: Mapping[int, Sequence[int]],
    known_names: KnownNames,
    definition_counts: Callable[[Collection[str], int], Mapping[str, int]],
    files_with: Callable[[Iterable[int]], Mapping[int, int]],
    files: int,
) -> list[float]:
    """Votes per candidate, the most voted at 1: what `votes.votes` says of what `mentions.rare_mentions` finds.

    ``words``: `name_words` by content; ``known_names`` is added to; all else as there.
    """
    nothing = [0.0] * len(voices)
    asked = voters(voices)
    defined = [words.get(blob_id, _NO_NAMES) for blob_id in blobs]
    every = np.concatenate([*defined, _NO_NAMES])
    if not asked or not len(every):
        return nothing
    place_of = np.repeat(np.arange(len(blobs)), [len(part) for part in defined])
    keys, key_of = np.unique((every & _KEY).astype(np.int64), return_inverse=True)
    only = np.full(len(keys), -2)
    only[key_of] = place_of
    only[key_of[only[key_of] != place_of]] = -1
    voter_of, said = _said(asked, blobs, rows, keys)
    heard = np.zeros(len(keys), bool)
    heard[said[only[said] != voter_of]] = True
    rare = np.flatnonzero(heard[key_of])
    if not len(rare):
        return nothing
    begins = np.cumsum([0, *map(len, defined)])
    positions = rare - begins[place_of[rare]]
    hashes = every[rare] >> np.uint64(_KEY_BITS)
    rare = rare[_is_rare(hashes, place_of[rare], positions, blobs, names, known_names, definition_counts)]
    defines = np.zeros((len(blobs), len(keys)), bool)
    defines[place_of[rare], key_of[rare]] = True
    known = np.asarray(defines.any(axis=0))
    voter_of, said = voter_of[known[said]], said[known[said]]
    counted = np.flatnonzero(np.bincount(said))
    if not len(counted):
        return nothing
    counts = files_with(keys[counted].tolist())
    weights = np.zeros(len(keys))
    weights[counted] = np.log(1 + files / np.maximum(1, [counts[key] for key in keys[counted].tolist()]))
    definers = defines.sum(axis=0)
    own: NDArray[np.bool_] = defines[voter_of, said]
    totals = np.bincount(voter_of, weights[said] * (definers[said] - own), len(blobs))
    shares = (np.array(voices) / max(voices)) ** EXPONENT
    each = np.divide(shares, totals, out=np.zeros(len(blobs)), where=totals > 0)
    spoken = np.bincount(said, each[voter_of], len(keys)) * weights
    found = np.array([spoken[row].sum() for row in defines])
    found -= np.bincount(voter_of[own], (each[voter_of] * weights[said])[own], len(blobs))
    found[found < _ROUNDING * found.max()] = 0.0
    most = float(found.max())
    return [value / most for value in found.tolist()] if most > 0 else nothing


_ROUNDING = 1e-12
"""What is left of a sum from which all that went into it was taken again."""

_NO_NAMES: Names = np.empty(0, np.uint64)


def _said(
    asked: Sequence[int], blobs: Sequence[int], rows: Mapping[int, Sequence[int]], keys: NDArray[np.int64]
) -> tuple[NDArray[np.int64], NDArray[np.int64]]:
    """Which voter (a candidate's place) says which of ``keys`` (its place among them): two columns."""
    spoken: list[Any] = [np.asarray(rows.get(blobs[voter], ()), np.uint32) for voter in asked]
    row = np.concatenate(spoken) >> np.uint32(32 - _KEY_BITS)
    voter_of = np.repeat(np.array(asked), [len(part) for part in spoken])
    sieve = np.zeros(1 << (_KEY_BITS - _SIEVE_SHIFT), bool)
    sieve[keys >> _SIEVE_SHIFT] = True
    likely = np.flatnonzero(sieve[row >> np.uint32(_SIEVE_SHIFT)])
    row, voter_of = row[likely].astype(np.int64), voter_of[likely]
    at = np.minimum(np.searchsorted(keys, row), len(keys) - 1)
    same = keys[at] == row
    return voter_of[same], at[same]


def _is_rare(
    hashes: NDArray[np.uint64],
    place_of: NDArray[np.int64],
    positions: NDArray[np.int64],
    blobs: Sequence[int],
    names: Mapping[int, DefinedNames],
    known_names: KnownNames,
    definition_counts: Callable[[Collection[str], int], Mapping[str, int]],
) -> NDArray[np.bool_]:
    """Which of some names (what tells them, their candidate, their position among its names) hardly anybody defines."""
    first_place: dict[int, int] = {}
    content_of = np.array([first_place.setdefault(blob_id, place) for place, blob_id in enumerate(blobs)])[place_of]
    pairs = hashes << np.uint64(_PLACE_BITS) | content_of.astype(np.uint64)
    order = np.argsort(pairs)
    pairs = pairs[order]
    new_pair = np.ones(len(pairs), bool)
    new_pair[1:] = pairs[1:] != pairs[:-1]
    pairs >>= np.uint64(_PLACE_BITS)
    new_name = np.ones(len(pairs), bool)
    new_name[1:] = pairs[1:] != pairs[:-1]
    name_of = np.cumsum(new_name) - 1
    firsts = order[new_name]
    few = np.flatnonzero(np.bincount(name_of, new_pair) <= MAX_DEFINERS)
    is_known, known_rare = known_names.look_up(hashes[firsts[few]])
    is_rare = np.zeros(len(firsts), bool)
    is_rare[few] = known_rare
    asked = few[~is_known]
    squashed: dict[int, str] = {}
    by_place = asked[np.argsort(place_of[firsts[asked]], kind="stable")]
    edges = np.flatnonzero(np.diff(place_of[firsts[by_place]])) + 1
    for numbers in np.split(by_place, edges):
        if len(numbers):
            own = names[blobs[place_of[firsts[numbers[0]]]]]
            squashed.update(
                zip(numbers.tolist(), mentions.squashed_at(own, positions[firsts[numbers]].tolist()), strict=True)
            )
    counts = definition_counts(squashed.values(), MAX_DEFINERS + 1)
    is_rare[[number for number, name in squashed.items() if counts[name] <= MAX_DEFINERS]] = True
    known_names.add(hashes[firsts[asked]], is_rare[asked])
    found = np.empty(len(order), bool)
    found[order] = is_rare[name_of]
    return found
