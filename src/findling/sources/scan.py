"""Finds the files that are likely about a question by scanning the text of all files, before there is an index.

The question's words are counted as plain text, inside longer words too, and weighed by BM25. A word in the path counts
as several in the text, and so does the definition of a name that was asked for. Files that are rarely meant (tests,
changelogs) count less. The scan only proposes: its best files are then read and ranked like any others.
"""

from __future__ import annotations

import heapq
import math
import re
import time
from collections.abc import Callable, Iterable, Mapping, Sequence, Set
from itertools import islice
from operator import itemgetter

from msgspec import Struct

from findling.model import secrets, tokenizer
from findling.outbound.files import Files, NotRead
from findling.sources.selection import Found

K1, B = 4.0, 0.5
IN_PATH = 2.5
"""BM25's saturation and length, and how many occurrences in the text one in the path is worth."""

DEFINED = 5.0
"""What a definition is worth, as a share of the name's weight: as much as any number of occurrences."""

HELD_BACK = 0.5
"""The share of its score that a rarely meant file keeps."""

DEFINING = (
    *("class", "interface", "struct", "enum", "trait", "type", "object", "module", "record", "protocol", "namespace"),
    *("def", "func", "function", "fn", "fun", "sub", "proc", "macro", "extension", "#define"),
)
"""Words that stand before the name in a definition, in most languages."""

MOST_BYTES = 300_000_000
"""The most text that is scanned: a few seconds."""

FEW = 20
"""Of a term that more files have, so many are looked at for whether it stands in secrets only."""

SECRETS_S = 1.0
"""So long at least is there for finding out which terms stand in secrets only, also after a scan that took all its
time. A term of which that is not known by then does not count."""

MANY_FILES = 20_000
ORDER_S = 0.5
"""With more than `MANY_FILES` files there may be no time for all. Then the newest come first, and at most `ORDER_S`
seconds are spent on finding out which they are."""

_BINARY_HEAD = 4_096
_SHORTEST = 3
"""Letters of a term that is counted inside of words, too; no ending touches them (`tokenizer.stem`)."""

_MOST_TERMS = 40
_MOST_NAMES = 12


class Asked(Struct, frozen=True):
    """What a scan looks for. ``terms``: stems, and names as written, in lower case, with their weights. ``names``: the
    terms that may be defined somewhere. ``held_back``: whether a path is of a file that is rarely meant."""

    terms: Mapping[str, float]
    names: tuple[str, ...]
    held_back: Callable[[str], bool]


class Scan(Struct, frozen=True):
    """What a scan found. ``best``: paths, the best first. ``texts``: the paths that were scanned. ``left``: how many
    files were not, for lack of time or because of their size. ``files_with``: how many files have each term.
    ``bytes``: how long the text was."""

    best: tuple[str, ...]
    texts: Set[str]
    left: int
    files_with: Mapping[str, int]
    bytes: int


def scan(
    files: Files,
    found: Iterable[Found],
    asked: Asked,
    most: int,
    *,
    max_bytes: int,
    deadline: float | None = None,
) -> Scan:
    """The ``most`` files that match best what is ``asked``. Files near the root are scanned first; of very many files
    the newest.

    At most ``max_bytes`` of a file are read. At ``deadline`` (monotonic seconds) the scan ends with what it has seen;
    the time for putting the files in order is added to it.
    """
    first = list(asked.terms)[:_MOST_TERMS]
    terms = [term for term in first if len(term) >= _SHORTEST] or first
    counted = _counter(terms)
    beginnings = [term[:_SHORTEST] for term in terms]  # which no ending touches (`tokenizer.stem`)
    definitions = {place: _definition(name) for place, name in enumerate(terms) if name in asked.names[:_MOST_NAMES]}
    began = time.monotonic()
    in_order = _in_order(files, found)
    if deadline is not None:  # half a million files take seconds to sort, which must leave the time for reading
        deadline += time.monotonic() - began
    seen: list[_Seen] = []
    total = looked_at = 0
    for path, size, _ in in_order:
        late = deadline is not None and time.monotonic() >= deadline
        if late or total + size > MOST_BYTES:
            break
        looked_at += 1
        read = files.read(path, max_bytes)
        if isinstance(read, NotRead) or b"\0" in read[1][:_BINARY_HEAD]:
            continue
        text = read[1].lower()
        total += len(text)
        counts = counted(text)
        defined = [place for place, name in definitions.items() if counts[place] and name.search(text)]
        beside = [0.0] * len(terms)
        lowered = path.lower()
        if any(begin in lowered for begin in beginnings):
            named = tokenizer.path_terms(path)
            beside = [IN_PATH * named.count(term) for term in terms]
        seen.append((path, len(text), counts, beside, defined))
    holding = _holding(seen, terms)
    until = None if deadline is None else max(deadline, time.monotonic() + SECRETS_S)

    def masked(path: str) -> secrets.Masked | None:
        """A file's text without its secrets. None where it is gone, or the time is over."""
        late = until is not None and time.monotonic() >= until
        read = None if late else files.read(path, max_bytes)
        return None if read is None or isinstance(read, NotRead) else secrets.mask(read[1])

    hidden = [
        place for place, held in enumerate(holding) if held <= FEW or _only_in_secrets(masked, seen, place, counted)
    ]
    if _without_secrets(masked, seen, hidden, counted):
        holding = _holding(seen, terms)
    weights = [
        asked.terms[term] * math.log(1 + (len(seen) - held + 0.5) / (held + 0.5))
        for term, held in zip(terms, holding, strict=True)
    ]
    mean = max(1.0, total / max(1, len(seen)))
    scored = [
        (score, path)
        for path, length, counts, beside, defined in seen
        if (score := _score(counts, beside, defined, weights, length / mean)) > 0
    ]
    return Scan(
        _best(scored, most, asked.held_back),
        frozenset(path for path, *_ in seen),
        len(in_order) - looked_at,
        dict(zip(terms, holding, strict=True)),
        total,
    )


def _best(scored: list[tuple[float, str]], most: int, held_back: Callable[[str], bool]) -> tuple[str, ...]:
    """The paths with the highest scores, those of files that are ``held_back`` lowered. That is asked of few: it takes
    longer than the rest."""
    scored.sort(reverse=True)
    judged: list[tuple[float, str]] = []
    highest: list[float] = []  # a heap of the ``most`` highest scores
    for score, path in scored:
        if len(highest) == most and score < highest[0]:
            break  # and so are all that follow
        lowered = score * HELD_BACK if held_back(path) else score
        judged.append((-lowered, path))
        (heapq.heappush if len(highest) < most else heapq.heappushpop)(highest, lowered)
    return tuple(map(itemgetter(1), heapq.nsmallest(most, judged)))


def _holding(seen: Sequence[_Seen], terms: Sequence[str]) -> list[int]:
    """How many files have each term."""
    return [sum(1 for _, _, counts, *_ in seen if counts[place]) for place in range(len(terms))]


def _counter(terms: Sequence[str]) -> _Counter:
    """Counts how often each term stands in a text. "retri" is the stem of "retry" as well (`tokenizer.stem`)."""
    wanted = [term.encode("utf-8", "replace") for term in terms]
    in_y = [(place, term[:-1] + b"y") for place, term in enumerate(wanted) if term.endswith(b"i")]

    def counted(text: bytes) -> list[int]:
        counts = [text.count(each) for each in wanted]
        for place, other in in_y:
            counts[place] += text.count(other)
        return counts

    return counted


_Counter = Callable[[bytes], list[int]]
_Masked = Callable[[str], "secrets.Masked | None"]


def _only_in_secrets(masked: _Masked, seen: Sequence[_Seen], place: int, counted: _Counter) -> bool:
    """Whether none of the first files with a term has it outside of its secrets. Usually the first one has."""
    for path, *_ in islice((each for each in seen if each[2][place]), FEW):
        text = masked(path)
        if text is not None and counted(text.text.lower())[place]:
            return False
    return True


def _without_secrets(masked: _Masked, seen: list[_Seen], hidden: Sequence[int], counted: _Counter) -> bool:
    """Count again, with secrets masked, in files with a term that may be part of one; returns whether any count
    changed. Masking all text would double the time of a scan.
    """
    changed = False
    for at, (path, length, counts, beside, defined) in enumerate(seen):
        if not any(counts[place] for place in hidden):
            continue
        text = masked(path)
        if text is None:
            again = [0 if place in hidden else times for place, times in enumerate(counts)]
        elif text.masks:
            again = counted(text.text.lower())
        else:
            continue
        seen[at] = path, length, again, beside, [place for place in defined if again[place]]
        changed = True
    return changed


def _in_order(files: Files, found: Iterable[Found]) -> list[Found]:
    """The files, those nearest to the root first; of very many those that changed last first."""
    nearest = sorted(found, key=_nearness)
    timeless = not any(stamp for _, _, stamp in nearest)  # those of a commit
    if timeless or (len(nearest) <= MANY_FILES and sum(size for _, size, _ in nearest) <= MOST_BYTES):
        return nearest
    changed: dict[str, int] = {}
    until = time.monotonic() + ORDER_S
    for path, _, _ in nearest:
        if time.monotonic() > until:
            break
        if not isinstance(status := files.status(path), NotRead):
            changed[path] = status.st_mtime_ns
    return sorted(nearest, key=lambda file: -changed.get(file[0], 0))


def _nearness(file: Found) -> tuple[int, str]:
    return file[0].count("/"), file[0]


_Seen = tuple[str, int, list[int], list[float], list[int]]
"""Of a file: path, length, how often it has each term, how many occurrences its path is worth for each term, and which
terms are names that it defines."""


def _definition(name: str) -> re.Pattern[bytes]:
    """The pattern of a name after a word that defines it. The name comes first, so that plain text is searched for."""
    plain = name.encode("utf-8", "replace")
    before = b"|".join(b"(?<=" + re.escape(word.encode() + b" " + plain) + b")" for word in DEFINING)
    return re.compile(re.escape(plain) + rb"(?:" + before + rb")(?!\w)")


def _score(counts: list[int], beside: list[float], defined: list[int], weights: list[float], length: float) -> float:
    norm = 1 - B + B * length
    score = sum(DEFINED * weights[place] for place in defined)
    for count, more, weight in zip(counts, beside, weights, strict=True):
        if count or more:
            frequency = count / norm + more
            score += weight * frequency * (K1 + 1) / (frequency + K1)
    return score
