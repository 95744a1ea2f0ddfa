"""Votes of relevant files for the files whose names they mention. Pure.

A file votes for another with each of the other's names that hardly any other candidate defines. A vote for a rare name
counts more. Only definitions among the candidates are counted: to count them in the whole index would mean to look up
thousands of names, and measured no better. A name that many files mention weighs little anyway.
"""

from __future__ import annotations

import math
import re
from array import array
from collections import Counter
from collections.abc import Callable, Iterable, Mapping, Sequence
from itertools import compress
from zlib import crc32

from findling.model import term_rows, tokenizer
from findling.model.remembered import remembered
from findling.model.rows import DefinedNames
from findling.model.types import SYMBOL_KINDS

MIN_NAME = 4
"""Shorter names do not count: too often they are common words."""

MAX_DEFINERS = 2
"""A name that more contents define says nothing about which one is meant."""

EXPONENT = 3.0
"""How much more a likely file's voice counts; 2 to 8 measured the same."""

MIN_VOICE = 0.2
"""Files whose voice is smaller than this share of the loudest are not asked."""

KINDS = frozenset(("class", "struct", "enum", "trait", "interface", "type_alias", "fn", "method", "module", "constant"))

_COUNTS = bytes(kind in KINDS for kind in SYMBOL_KINDS).ljust(256, b"\0")
"""For each number of a kind (its place in `SYMBOL_KINDS`), whether definitions of this kind can get votes."""

_ONE_PART = re.compile(r"^[^A-Za-z0-9\n]*(?:[A-Z]?[a-z]+|[A-Z]+|[0-9]+)[^A-Za-z0-9\n]*$", re.MULTILINE)
"""ASCII names of one part, as `tokenizer.parts` takes names apart. Their stem is the term that is looked up; of other
names it is the whole name."""

_STEMS_REMEMBERED = 5_000
"""Names of one part repeat: the same few stand in most files."""

_NO_KEYS = array("I")


def votes(
    voices: Sequence[float],
    blobs: Sequence[int],
    keys: Mapping[int, Sequence[int]],
    rows: Mapping[int, Sequence[int]],
    files_with: Callable[[Iterable[int]], Mapping[int, int]],
    files: int,
) -> list[float]:
    """The votes for each candidate, as shares of the most that one has.

    ``voices``: how relevant each candidate looks, on any scale. ``blobs``: the content of each. ``keys`` (`name_keys`)
    and ``rows`` (`term_rows`) are by content. ``files_with`` counts the files that have a key, of ``files`` in all.
    """
    received = [0.0] * len(voices)
    loudest = max(voices, default=0.0)
    if loudest <= 0:
        return received
    counted: Counter[int] = Counter()
    for blob in set(blobs):
        counted.update(keys.get(blob, _NO_KEYS))
    rare = {key for key, contents in counted.items() if contents <= MAX_DEFINERS}
    voters = [place for place, voice in enumerate(voices) if (voice / loudest) ** EXPONENT >= MIN_VOICE]
    said = {voter: term_rows.among(rows.get(blobs[voter], ()), rare) for voter in voters}
    heard = frozenset().union(*said.values())
    definers: dict[int, list[int]] = {}
    for candidate, blob in enumerate(blobs):
        for key in heard.intersection(keys.get(blob, _NO_KEYS)):
            definers.setdefault(key, []).append(candidate)
    weights = {key: math.log(1 + files / max(1, count)) for key, count in files_with(heard).items()}
    for voter, named in said.items():
        heard_by = [(weights[key], [other for other in definers[key] if other != voter]) for key in named]
        total = sum([weight * len(others) for weight, others in heard_by])
        if total <= 0:
            continue
        each = (voices[voter] / loudest) ** EXPONENT / total
        for weight, others in heard_by:
            for candidate in others:
                received[candidate] += each * weight
    most = max(received)
    return [value / most for value in received] if most > 0 else received


def name_keys(names: DefinedNames) -> array[int]:
    """The term keys (of `tokenizer.whole_term`) of the names that are voted for, each once, ascending."""
    voted_for = compress(names.text.split("\n"), names.kinds.translate(_COUNTS))
    counting = [name for name in voted_for if len(name) >= MIN_NAME]
    text = "\n".join(counting)
    if not text.isascii() or max(map(len, counting), default=0) > tokenizer.MAX_WORD:
        return array("I", sorted({tokenizer.term_key(tokenizer.whole_term(name)) for name in counting}))
    single = frozenset(_ONE_PART.findall(text))
    runs = [name for name in counting if name not in single]
    joined = "\n".join(runs).lower().replace("_", "").encode()
    found = set(map(_key_of_stem, single))
    if runs:
        found.update([checksum >> 8 for checksum in map(crc32, joined.split(b"\n"))])  # as `tokenizer.term_key`
    return array("I", sorted(found))


@remembered(_STEMS_REMEMBERED)
def _key_of_stem(name: str) -> int:
    return tokenizer.term_key(tokenizer.whole_term(name))
