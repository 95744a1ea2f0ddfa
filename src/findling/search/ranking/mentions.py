"""Which of the names that hardly any candidate defines some candidates of a query mention: what `votes` counts. Pure.

How many files of the whole index define a name is not asked for: among the candidates it tells as well, and there are
thousands of names. A name that stands everywhere weighs little anyway.
"""

from __future__ import annotations

import re
from array import array
from collections import Counter
from collections.abc import Mapping, Sequence
from itertools import compress
from zlib import crc32

from findling.model import term_rows, tokenizer
from findling.model.remembered import remembered
from findling.model.rows import DefinedNames
from findling.model.types import SYMBOL_KINDS
from findling.search.ranking.votes import KINDS, MAX_DEFINERS, MIN_NAME

_COUNTS = bytes(kind in KINDS for kind in SYMBOL_KINDS).ljust(256, b"\0")
"""By a kind's place, whether what is of this kind is voted for."""

_ONE_PART = re.compile(r"^[^A-Za-z0-9\n]*(?:[A-Z]?[a-z]+|[A-Z]+|[0-9]+)[^A-Za-z0-9\n]*$", re.MULTILINE)
"""Names of ASCII that `tokenizer.parts` leaves whole: of these the stem is the term, of others the whole run."""

_STEMS_REMEMBERED = 5_000
"""Names of one part are mostly the same few everywhere."""


def rare_mentions(
    voters: Sequence[int], blobs: Sequence[int], keys: Mapping[int, array[int]], rows: Mapping[int, Sequence[int]]
) -> tuple[dict[int, set[int]], list[set[int]]]:
    """What each voter says, by its place among the candidates, and which rare names each candidate defines; as term
    keys.

    ``blobs``: each candidate's content; by content ``keys`` (`name_keys`) and ``rows`` (`term_rows`).
    """
    definers = Counter(key for blob_id in set(blobs) for key in keys.get(blob_id, ()))
    rare = {key for key, contents in definers.items() if contents <= MAX_DEFINERS}
    said = {voter: term_rows.among(rows.get(blobs[voter], ()), rare) for voter in voters}
    return said, [rare.intersection(keys.get(blob_id, ())) for blob_id in blobs]


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
