"""What a file defines that is named like the query: by what the names mean where vectors are at hand, else by their
letters. A name is the shortest description of a definition that there is, and says it in its author's words.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Iterable, Mapping, Sequence
from itertools import compress, islice

from findling.model import tokenizer
from findling.model.remembered import remembered
from findling.model.rows import NO_NAMES, DefinedNames
from findling.model.types import SYMBOL_KINDS
from findling.search.analysis import MIN_SAID, QueryTerms
from findling.search.ranking.ranked_file import RankedFile, divide_by_best
from findling.search.ranking.votes import KINDS
from findling.store.protocols import Index

Near = Callable[[Sequence[str]], Sequence[float]]
"""Names to how near each is to the query in meaning, in [0, 1]."""

COMPARED = 12
"""Files whose names are compared, from the top; 30 measured the same."""

MOST_NAMES = 400
"""Of one file; what defines more is generated, or a list."""

_NAMES = bytes(kind in KINDS - {"module", "constant"} for kind in SYMBOL_KINDS).ljust(256, b"\0")
"""By a kind's place, whether what is of this kind is compared: what does something, or is something."""


def compare(
    reader: Index,
    query: QueryTerms,
    ranked: Sequence[RankedFile],
    weights: Callable[[], Mapping[str, float]],
    near: Near | None,
) -> Sequence[RankedFile]:
    """Give the signal `name` to the first files, by meaning to code alone, and say which these are. ``ranked`` are all,
    in order; ``weights`` the query's, by term. Not where advice is wanted: then it would put code before
    documentation."""
    if "advice" in query.wants:
        return ()
    files = ranked[:COMPARED]
    if near is not None and len(query.words) >= MIN_SAID:
        files = [item for item in files if item.file.kind == "code"]
        _by_meaning(reader, files, near)
    else:
        _by_letters(reader, files, weights())
    return files


def _by_meaning(reader: Index, files: Sequence[RankedFile], near: Near) -> None:
    """The nearest name of each file, as a share of the nearest of all, or of what is clearly near."""
    defined = reader.defined_names([item.file.blob_id for item in files])
    names_of = [_compared(defined[item.file.blob_id]) if item.file.blob_id in defined else [] for item in files]
    different = list(dict.fromkeys([name for names in names_of for name in names]))
    cosines = dict(zip(different, near(different), strict=True))
    for item, names in zip(files, names_of, strict=True):
        item.names = {name: cosines[name] for name in names}
        item.values["name"] = max(item.names.values(), default=0.0)
    divide_by_best(files, "name")


def _compared(defined: DefinedNames) -> list[str]:
    names = compress(defined.text.split("\n"), defined.kinds.translate(_NAMES))
    return list(islice(dict.fromkeys(names), MOST_NAMES))


def _by_letters(reader: Index, files: Sequence[RankedFile], weights: Mapping[str, float]) -> None:
    """The likest name of each file, as a share of the likest of all."""
    named = reader.defined_names([item.file.blob_id for item in files])
    stems = sorted({re.escape(term[: max(STEM_KEEPS, len(term) - 1)]) for term in weights})
    has_a_term = re.compile("|".join(stems) or "(?!)")
    for item in files:
        names = named.get(item.file.blob_id, NO_NAMES).text.split("\n")
        # most have none, and need not be taken apart to see it
        likely = (name for name in names if has_a_term.search(name.lower()))
        item.values["name"] = likeness(likely, weights)
    divide_by_best(files, "name")


STEM_KEEPS = 3
"""A stem begins as its word does, all but its last letter, and so far at least."""


def likeness(names: Iterable[str], weights: Mapping[str, float]) -> float:
    """How well the best of some names says a query, in [0, 1]: the harmonic mean of the share of the name's parts that
    the query has and the share of the query's weight that the name has.

    ``weights`` are the query's, by term (stemmed, lower case).
    """
    every = sum(weights.values())
    terms = frozenset(weights)
    best = 0.0
    for name in names:
        parts = name_parts(name)
        shared = terms & parts
        if not shared:
            continue
        precision = len(shared) / len(parts)
        coverage = sum([weights[part] for part in shared]) / every if every else 0.0
        if coverage:
            best = max(best, 2 * precision * coverage / (precision + coverage))
    return best


@remembered(2_000)
def name_parts(name: str) -> frozenset[str]:
    """The stemmed parts of a name, without single letters."""
    if name.isascii():  # parts end where words of ASCII do
        return frozenset(tokenizer.stems_of_parts(name))
    return frozenset([stem for word in tokenizer.words(name) for stem in tokenizer.stems_of_parts(word)])
