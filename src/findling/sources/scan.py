"""Which files are likely about a question, told by the text of all of them before any is taken apart.

Words are counted as they stand, in stems and within other words too, and weighed by BM25; a word in the path counts as
several in the text. That proposes; what is found is then read and ranked properly.
"""

from __future__ import annotations

import heapq
import math
import re
import time
from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass
from itertools import islice
from operator import itemgetter

from findling.model import tokenizer
from findling.outbound.files import Files, NotRead
from findling.sources.selection import Found

K1, B = 4.0, 0.5
IN_PATH = 2.5
"""BM25's saturation and length, and how many occurrences in the text one in the path is worth."""

MOST_BYTES = 300_000_000
"""Text that is gone through: a few seconds."""

_BINARY_HEAD = 4_096
_SHORTEST = 3
"""Letters of a term that is counted inside of words, too; no ending touches them (`tokenizer.stem`)."""

_MOST_TERMS = 40


@dataclass(frozen=True, slots=True)
class Scan:
    """``best`` paths first, as many as were asked for. ``files`` were gone through, ``left`` were not, for want of time
    or for their size; ``files_with``: how many have each term; ``bytes``: of the text."""

    best: tuple[str, ...]
    files: int
    left: int
    files_with: Mapping[str, int]
    bytes: int


def scan(
    files: Files,
    found: Iterable[Found],
    terms: Mapping[str, float],
    most: int,
    *,
    max_bytes: int,
    deadline: float | None = None,
) -> Scan:
    """The ``most`` files that say most of ``terms`` (stems with weights), the newest gone through first.

    ``max_bytes`` of a file are read at most; ``deadline`` (monotonic seconds) ends it with what was seen.
    """
    asked = [term for term in list(terms)[:_MOST_TERMS] if len(term) >= _SHORTEST] or list(terms)[:_MOST_TERMS]
    wanted = [term.encode("utf-8", "replace") for term in asked]
    beginnings = [term[:_SHORTEST] for term in asked]
    newest = sorted(found, key=lambda file: -file[2])
    seen: list[tuple[str, int, list[int], list[int]]] = []
    total = looked_at = 0
    for path, size, _ in newest:
        late = deadline is not None and time.monotonic() >= deadline
        if late or total + size > MOST_BYTES:
            break
        looked_at += 1
        read = files.read(path, max_bytes)
        if isinstance(read, NotRead) or b"\0" in read[1][:_BINARY_HEAD]:
            continue
        text = read[1].lower()
        total += len(text)
        lowered = path.lower()
        named = tokenizer.path_terms(path) if any(begin in lowered for begin in beginnings) else ()
        seen.append((path, len(text), [text.count(each) for each in wanted], [named.count(term) for term in asked]))
    holding = [sum(1 for _, _, counts, _ in seen if counts[place]) for place in range(len(asked))]
    weights = [
        terms[term] * math.log(1 + (len(seen) - held + 0.5) / (held + 0.5))
        for term, held in zip(asked, holding, strict=True)
    ]
    mean = max(1.0, total / max(1, len(seen)))
    scored = [(_score(counts, paths, weights, length / mean), path) for path, length, counts, paths in seen]
    best = heapq.nsmallest(most, ((-score, path) for score, path in scored if score > 0))
    return Scan(
        tuple(map(itemgetter(1), best)),
        len(seen),
        len(newest) - looked_at,
        dict(zip(asked, holding, strict=True)),
        total,
    )


def _score(counts: list[int], in_path: list[int], weights: list[float], length: float) -> float:
    norm = 1 - B + B * length
    score = 0.0
    for count, paths, weight in zip(counts, in_path, weights, strict=True):
        if count or paths:
            frequency = count / norm + IN_PATH * paths
            score += weight * frequency * (K1 + 1) / (frequency + K1)
    return score


Order = Callable[[list[Found]], list[Found]]

_MOST_ORDERED = 100
"""The first ones of a text, which every path is compared with: what a whole log says besides is in most paths."""


def by_query(text: str) -> Order:
    """Files whose path has words of a question first, then the newest: what a first answer most likely needs."""
    every = dict.fromkeys(tokenizer.terms(text))
    asked = set(islice([term for term in every if len(term) >= _SHORTEST] or every, _MOST_ORDERED))  # "is" says nothing
    # A term begins as its word does, so most paths need not be taken apart.
    may_have = re.compile("|".join(sorted(re.escape(term[:_SHORTEST]) for term in asked)), re.IGNORECASE).search

    def order(found: list[Found]) -> list[Found]:
        def key(file: Found) -> tuple[int, int]:
            if file[0].isascii() and not may_have(file[0]):
                return 0, -file[2]
            return -len(asked.intersection(tokenizer.terms(file[0]))), -file[2]

        return sorted(found, key=key)

    return order
