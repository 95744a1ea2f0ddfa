"""The signals: what speaks for a file, each a small pure function. Weights and sums are in `formula`.

F, W, G, S, R and I are the signals of a study on public code questions (docs/decisions.md has the numbers).
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from typing import NamedTuple

from findling.model import term_rows, tokenizer
from findling.model.remembered import remembered

K1 = 5.0
"""BM25's saturation for whole files. The usual 1.5 fits passages; files repeat their topic, and lost .04 with it."""

BODY_WEIGHT, BODY_B = 1.0, 0.25
NAMES_WEIGHT, NAMES_B = 1.0, 0.6
TOP_NAMES_WEIGHT = 2.0
PATH_WEIGHT = 5.0
"""A name in the path says what the whole file is about."""

MEAN_PATH_TERMS = 6.0
PATH_B = 0.5


class Lengths(NamedTuple):
    """Term counts of a file, or their means over a manifest."""

    body: float
    names: float


def bm25f(
    found: Sequence[tuple[float, int]],
    in_path: Sequence[int],
    weights: Sequence[float],
    lengths: Lengths,
    means: Lengths,
    path_terms: int,
) -> tuple[float, float]:
    """Field-weighted BM25 of one file, and the share of the query's weight that the file holds at all.

    ``found``: (count, flags) per query term, as `term_rows.lookup` gives them; ``in_path``: occurrences in the path;
    ``weights``: idf times query weight per term. Robertson, Zaragoza, Taylor (2004): fields are summed before they
    saturate. ``k1`` is `K1`.
    """
    body_norm = BODY_WEIGHT / (1 - BODY_B + BODY_B * lengths.body / means.body)
    names_norm = 1 / (1 - NAMES_B + NAMES_B * lengths.names / means.names)
    path_norm = PATH_WEIGHT / (1 - PATH_B + PATH_B * path_terms / MEAN_PATH_TERMS)
    total = covered = every = 0.0
    for (count, flags), paths, weight in zip(found, in_path, weights, strict=True):
        every += weight
        frequency = count * body_norm + paths * path_norm
        if flags:
            if flags & term_rows.IN_NAMES:
                frequency += NAMES_WEIGHT * names_norm
            if flags & term_rows.IN_TOP_NAMES:
                frequency += TOP_NAMES_WEIGHT * names_norm
        if frequency:
            total += weight * (K1 + 1) * frequency / (K1 + frequency)
            covered += weight
    return total, covered / every if every else 0.0


SYNONYM = 0.5
"""A synonym in a file, in occurrences of the word that it stands for: so it counts as rare as that word is, and hardly
at all where the word is said often. 0.3 to 1 measured about the same."""


def with_synonyms(
    found: Sequence[tuple[float, int]], others: Sequence[tuple[int, int]], places: Iterable[Sequence[int]]
) -> list[tuple[float, int]]:
    """``found`` with what stands in place of its terms: (count, flags) of each synonym, and the places of its terms."""
    counts = [count for count, _ in found]
    for (count, _), of_terms in zip(others, places, strict=True):
        if count:
            for place in of_terms:
                counts[place] += SYNONYM * count
    return [(count, flags) for count, (_, flags) in zip(counts, found, strict=True)]


STANDS_IN = 0.5
"""How far a file holds a word of which it has only a synonym."""

PROPER = 2.0
"""What a proper name in a question counts more than another word: an answer that lacks it is about something else."""


def held(
    found: Sequence[tuple[float, int]], in_path: Sequence[int], without: Sequence[float] | None = None
) -> list[float]:
    """How far a file holds each term, in [0, 1]: 1 where it stands in the file or its path. ``without`` is the same
    before synonyms were added to ``found``; what only they hold is held by `STANDS_IN`."""
    now = [1.0 if count or flags or paths else 0.0 for (count, flags), paths in zip(found, in_path, strict=False)]
    if without is None:
        return now
    return [max(before, STANDS_IN * after) for before, after in zip(without, now, strict=True)]


def rare_coverage(held: Sequence[float], weights: Sequence[float], proper: Sequence[bool]) -> float:
    """The share of the query that a file holds, each term by the square of its weight: what is rare is the point.

    ``held`` are the shares of the query's own terms, ``weights`` theirs, and ``proper`` says which of them are names.
    """
    squares = [weight * weight * (PROPER if name else 1.0) for weight, name in zip(weights, proper, strict=True)]
    every = sum(squares)
    return sum([share * square for share, square in zip(held, squares, strict=True)]) / every if every else 0.0


# --- the path ------------------------------------------------------------------------------------------------


class PathWords(NamedTuple):
    """A path taken apart. ``stem`` are the stem's lower-case parts, ``terms`` counts of all its terms."""

    squashed_stem: str
    stem: tuple[str, ...]
    terms: Mapping[int, int]
    length: int


@remembered(20_000)
def path_words(path: str) -> PathWords:
    """The words of a path (`tokenizer.path_terms`), counted, and its stem taken apart."""
    stem = tokenizer.path_stem(path)
    counts: dict[int, int] = {}
    found = tokenizer.path_terms(path)
    for term in found:
        key = tokenizer.term_key(term)
        counts[key] = counts.get(key, 0) + 1
    parts = tuple(part for word in tokenizer.words(stem) for part in tokenizer.parts(word) if len(part) > 1)
    return PathWords(tokenizer.squash(stem), parts or (stem.lower(),), counts, len(found))


PREFIX_BASE, PREFIX_SHARE = 0.3, 0.5
ABBREVIATION, ABBREVIATION_MAX = 0.35, 5


class StemMatcher:
    """How much of a file's stem a query explains (R): precision, where term matching has only coverage.

    A part counts 1 when a query word equals it or shares its stem; less for the beginning of one or an abbreviation.
    """

    def __init__(self, words: Sequence[str]) -> None:
        self._words: dict[str, list[str]] = {}
        every = dict.fromkeys(part for word in words for part in (*tokenizer.parts(word), word))
        for word in every:
            self._words.setdefault(word[0], []).append(word)  # words that are alike begin alike
        self._stems = {tokenizer.stem(word) for word in every}
        self._known: dict[str, float] = {}

    def share(self, parts: Sequence[str]) -> float:
        """Mean over the stem's parts of the best match with any query word, in [0, 1]."""
        known = self._known
        for part in parts:
            if part not in known:
                near = self._words.get(part[0], ())
                same = tokenizer.stem(part) in self._stems
                known[part] = 1.0 if same else max([_likeness(part, word) for word in near], default=0.0)
        return sum([known[part] for part in parts]) / len(parts)


def _likeness(part: str, word: str) -> float:
    short, long = (part, word) if len(part) <= len(word) else (word, part)
    if len(short) >= 3 and long.startswith(short):
        return PREFIX_BASE + PREFIX_SHARE * len(short) / len(long)
    if 2 <= len(part) <= ABBREVIATION_MAX and len(word) > len(part) + 1 and _abbreviates(part, word):
        return ABBREVIATION
    return 0.0


def _abbreviates(short: str, word: str) -> bool:
    """Whether ``short`` abbreviates ``word``: its first letter, then some of its later ones in order (cfg, config)."""
    if short[0] != word[0]:
        return False
    rest = iter(word)
    return all(letter in rest for letter in short)
