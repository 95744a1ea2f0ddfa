"""The votes of `votes` for the mentions of `mentions`, worked out with arrays: the same numbers in a fifth of the time
where candidates define thousands of names. For searches that have numpy loaded anyway; the others' few names are sooner
gone through than numpy is imported. Pure.
"""

from __future__ import annotations

from array import array
from collections.abc import Callable, Iterable, Mapping, Sequence
from typing import Any

import numpy as np
from numpy.typing import NDArray

from findling.search.ranking.votes import EXPONENT, MAX_DEFINERS, voters

_KEY_BITS = 24

_SIEVE_SHIFT = 3
"""Keys are looked for where one that shares all but so many bits is wanted: two megabytes tell that of all keys."""

_NONE = array("I")

_ROUNDING = 1e-12
"""What is left of a sum from which all that went into it was taken again."""


def received(
    voices: Sequence[float],
    blobs: Sequence[int],
    keys_of: Mapping[int, array[int]],
    rows: Mapping[int, Sequence[int]],
    files_with: Callable[[Iterable[int]], Mapping[int, int]],
    files: int,
) -> list[float]:
    """Votes per candidate, the most voted at 1: what `votes.votes` says of what `mentions.rare_mentions` finds, and
    with what these are given."""
    nothing = [0.0] * len(voices)
    asked = voters(voices)
    if not asked:
        return nothing
    content_of = {blob_id: content for content, blob_id in enumerate(dict.fromkeys(blobs))}
    defined = [np.asarray(keys_of.get(blob_id, _NONE), np.int64) for blob_id in content_of]
    every, key_of, definers = np.unique(np.concatenate(defined), return_inverse=True, return_counts=True)
    rare = np.flatnonzero(definers <= MAX_DEFINERS)
    voter_of, said = _said(asked, blobs, rows, every[rare])
    heard = np.flatnonzero(np.bincount(said, minlength=len(rare)))
    if not len(heard):
        return nothing
    keys, said = every[rare[heard]], np.searchsorted(heard, said)
    column = np.full(len(every), -1)
    column[rare[heard]] = np.arange(len(keys))
    column_of = column[key_of]
    definer_of = np.repeat(np.arange(len(defined)), [len(part) for part in defined])
    contents = np.zeros((len(defined), len(keys)), bool)
    contents[definer_of[column_of >= 0], column_of[column_of >= 0]] = True
    defines = contents[[content_of[blob_id] for blob_id in blobs]]
    counts = files_with(keys.tolist())
    weights = np.log(1 + files / np.maximum(1, [counts[key] for key in keys.tolist()]))
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


def _said(
    asked: Sequence[int], blobs: Sequence[int], rows: Mapping[int, Sequence[int]], keys: NDArray[np.int64]
) -> tuple[NDArray[np.int64], NDArray[np.int64]]:
    """Which voter (a candidate's place) says which of ``keys`` (its place among them, ascending): two columns."""
    if not len(keys):
        return np.empty(0, np.int64), np.empty(0, np.int64)
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
