"""The few best places of the first files, read: what only their text tells.

A file that is read gets the signal `said`; places are chosen by what was read of them (`places`).
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from typing import NamedTuple

from findling.model import tokenizer
from findling.model.rows import FileRow
from findling.search.analysis import QueryTerms
from findling.search.ranking import RankedFile, formula, ranker
from findling.search.ranking.phrase import Phrase
from findling.search.ranking.said import Nearness, Said
from findling.store.protocols import Index

READ_FILES, READ_CHUNKS = 5, 3
"""How many files are read, and how many places of each. The right place is among the first three of its file in nine
cases of ten; more files and more places measured the same."""

READ_CHARS = 6_000
"""Of a place's text: four times what most chunks have. A line without an end must not hold up an answer."""


class Reading(NamedTuple):
    """What a place's text tells, each in [0, 1]: see `Phrase.share` and `Said.shares`, 0 where nothing is near."""

    phrase: float
    said: float


def read(
    reader: Index,
    read_lines: Callable[[FileRow], Sequence[str] | None],
    query: QueryTerms,
    ranked: Sequence[RankedFile],
    values: Callable[[RankedFile], Mapping[int, float]],
    nearness: Nearness | None,
) -> dict[int, dict[int, Reading]]:
    """Entry -> ordinal -> reading, of the best places of the first files.

    ``values``: what else speaks for a file's places, by ordinal. ``nearness``: None where only words are asked.
    """
    weights = ranker.term_weights(reader, query)
    phrase = Phrase(weights)
    places: list[tuple[int, int]] = []
    texts: list[list[str]] = []
    contexts: list[str] = []
    for item in ranked[:READ_FILES]:
        lines = read_lines(item.file)
        if lines is None:
            continue
        chunks = reader.chunks(item.file.blob_id)
        known = values(item)
        for ordinal in sorted(known, key=lambda at: (-known[at], at))[:READ_CHUNKS]:
            chunk = chunks[ordinal]
            places.append((item.file.entry_id, ordinal))
            text = "\n".join(lines[chunk.start_line - 1 : chunk.end_line])
            texts.append(tokenizer.words(text[:READ_CHARS]))
            contexts.append(f"{item.file.path} {' '.join(chunk.headings)}")
    shares = [0.0] * len(texts)
    if nearness is not None:
        said = Said(query, weights, nearness)
        shares = said.shares(
            [[*tokenizer.words(context), *text] for context, text in zip(contexts, texts, strict=True)]
        )
    found: dict[int, dict[int, Reading]] = {}
    for (entry, ordinal), words, share in zip(places, texts, shares, strict=True):
        found.setdefault(entry, {})[ordinal] = Reading(phrase.share(words), share)
    return found


def weigh(ranked: list[RankedFile], readings: Mapping[int, Mapping[int, Reading]]) -> None:
    """Give the files that were read the signal `said`, and put all in order again.

    It is what a file's best place says beyond the least of them, which is all that is known of the others.
    """
    best = {entry: max(each.said for each in found.values()) for entry, found in readings.items()}
    least = min(best.values(), default=0.0)
    for item in ranked:
        if item.file.entry_id in best:
            item.values["said"] = best[item.file.entry_id] - least
            item.rank_value = formula.rank_value(item.values, item.use)
    ranked.sort(key=lambda item: (-item.rank_value, item.file.path))
