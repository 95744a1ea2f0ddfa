"""An answer in the documents' own words: the paragraphs, list items and lines of code that say it. Pure.

Out of the passages that were found, the best group (a paragraph with what it introduces) leads; others follow where
they are nearly as good and say something new. Nothing is rephrased: white space is folded in prose, and what is cut
ends in ``...`` between words.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, replace

from findling.model import tokenizer
from findling.search.extract_units import Group, Paragraph, groups_of, trimmed

__all__ = ["Excerpt", "Paragraph", "PassageText", "extract"]

ANSWER_CHARS = 1_200
"""An answer is at most this long."""

FIRST_CHARS = 700
"""The leading excerpt: room for a paragraph and the list or code that it introduces."""

FURTHER_CHARS = 360
"""Each other excerpt, for a paragraph or some items."""

MAX_EXCERPTS = 4

NEXT_LINES = 2
"""Between the end of an excerpt and the beginning of the next when only an empty line lies between."""

NEARLY_AS_GOOD = 0.75
"""Of the best group's score: below this another passage is beside the point more often than not."""

OWN_SHARE = 0.6
"""Of what speaks for the best group itself, apart from its passage, another must have so much."""

MOSTLY_SAID = 0.6
"""A group of whose words so many stand in the answer already adds nothing."""

SHORT_CHARS = 220
"""A leading group that is shorter is continued with the group below it when that has something of the question."""

CONTINUES = 0.45
"""What such a group must have of the leading one's score."""

WORDS_WEIGHT = 1.0
MEANING_WEIGHT = 0.6
PASSAGE_WEIGHT = 1.0
"""What a group's own words, its own meaning and the passage that it stands in are worth. The passage was found with
its context and its file; the words say which part of it."""

HEADING_SHARE = 0.5
"""A word of the question in the headings above counts half: all groups below share it."""

MIN_WORDS = 3
"""A group with fewer words says nothing alone, unless there are no others."""


@dataclass(frozen=True, slots=True)
class PassageText:
    """A passage that was found, in whole paragraphs. ``value``: what speaks for it, higher is better."""

    path: str
    headings: tuple[str, ...]
    value: float
    paragraphs: tuple[Paragraph, ...]


@dataclass(frozen=True, slots=True)
class Excerpt:
    """A piece of the answer and where it stands; ``score`` orders the excerpts."""

    path: str
    header: str
    start_line: int
    end_line: int
    text: str
    score: float


@dataclass(frozen=True, slots=True)
class _Candidate:
    passage: PassageText
    group: Group
    place: tuple[int, int]
    score: float
    own: float
    terms: frozenset[str]


def extract(
    weights: Mapping[str, float],
    passages: Sequence[PassageText],
    closeness: Callable[[Sequence[str]], Sequence[float]] | None = None,
) -> tuple[Excerpt, ...]:
    """The excerpts of an answer; their texts with an empty line between are at most `ANSWER_CHARS`.

    The best leads; the others follow as they stand in their documents, that of the best first.
    ``weights``: the question's terms (`tokenizer.terms`) and how much each says. ``closeness`` gives texts' cosines
    with the question, where that is possible.
    """
    candidates = _candidates(weights, passages, closeness)
    if not candidates:
        return ()
    best = max(candidates, key=lambda item: (item.score, [-n for n in item.place]))
    excerpts: list[Excerpt] = []
    said: set[str] = set()
    used: set[tuple[str, int, int]] = set()
    room = ANSWER_CHARS
    for item in _continued(best, candidates):
        chars = min(room, FIRST_CHARS - sum(len(excerpt.text) for excerpt in excerpts))
        if chars > SHORT_CHARS // 2 or not excerpts:
            room = _take(item, chars, weights, room, excerpts, said, used)
    leading = len(excerpts)
    ordered = sorted(candidates, key=lambda item: (-item.score, item.place))
    for item in ordered:
        if len(excerpts) >= MAX_EXCERPTS or item.score < best.score * NEARLY_AS_GOOD or room <= SHORT_CHARS:
            break
        if _place_key(item) in used or item.own < best.own * OWN_SHARE or _is_said(item, said):
            continue
        room = _take(item, min(room, FURTHER_CHARS), weights, room, excerpts, said, used)
    paths = list(dict.fromkeys(excerpt.path for excerpt in excerpts))
    further = sorted(excerpts[leading:], key=lambda excerpt: (paths.index(excerpt.path), excerpt.start_line))
    return _joined([*excerpts[:leading], *further])


def _joined(excerpts: Sequence[Excerpt]) -> tuple[Excerpt, ...]:
    """Excerpts that follow each other in a document are one."""
    found: list[Excerpt] = []
    for excerpt in excerpts:
        before = found[-1] if found else None
        if (
            before is not None
            and before.path == excerpt.path
            and 0 < excerpt.start_line - before.end_line <= NEXT_LINES
        ):
            found[-1] = replace(before, end_line=excerpt.end_line, text=f"{before.text}\n\n{excerpt.text}")
        else:
            found.append(excerpt)
    return tuple(found)


def _take(
    item: _Candidate,
    chars: int,
    weights: Mapping[str, float],
    room: int,
    excerpts: list[Excerpt],
    said: set[str],
    used: set[tuple[str, int, int]],
) -> int:
    """Add a group to the answer, cut to ``chars``; the room that is left."""
    text, start, end = trimmed(item.group, weights, chars)
    if not text:
        return room
    said.update(item.terms)
    used.add(_place_key(item))
    header = item.passage.headings[-1] if item.passage.headings else ""
    excerpts.append(Excerpt(item.passage.path, header, start, end, text, item.score))
    return room - len(text) - 2


def _place_key(item: _Candidate) -> tuple[str, int, int]:
    return (item.passage.path, item.group.start_line, item.group.end_line)


def _groups(passages: Sequence[PassageText], least: int) -> list[tuple[PassageText, Group, tuple[int, int]]]:
    """The groups of ``least`` words and more, each once, with the passage that they stand in and their place."""
    found: list[tuple[PassageText, Group, tuple[int, int]]] = []
    seen: set[tuple[str, int]] = set()
    for rank, passage in enumerate(passages):
        for number, group in enumerate(groups_of(passage.paragraphs)):
            at = (passage.path, group.start_line)
            if at not in seen and len(group.words) >= least:
                seen.add(at)
                found.append((passage, group, (rank, number)))
    return found


def _candidates(
    weights: Mapping[str, float],
    passages: Sequence[PassageText],
    closeness: Callable[[Sequence[str]], Sequence[float]] | None,
) -> list[_Candidate]:
    found = _groups(passages, MIN_WORDS) or _groups(passages, 1)
    if not found:
        return []
    total = sum(weights.values()) or 1.0
    highest = max(passage.value for passage, _, _ in found) or 1.0
    cosines = closeness([group.text for _, group, _ in found]) if closeness is not None else [0.0] * len(found)
    nearest = max(0.0, *cosines) or 1.0
    candidates = []
    for (passage, group, place), cosine in zip(found, cosines, strict=True):
        terms = frozenset(tokenizer.terms(group.text))
        above = frozenset(term for heading in passage.headings for term in tokenizer.terms(heading))
        words = sum(
            weight if term in terms else weight * HEADING_SHARE
            for term, weight in weights.items()
            if term in terms or term in above
        )
        own = (WORDS_WEIGHT * words / total + MEANING_WEIGHT * max(0.0, cosine) / nearest) * group.worth
        score = own + PASSAGE_WEIGHT * passage.value / highest * group.worth
        candidates.append(_Candidate(passage, group, place, score, own, terms))
    return candidates


def _continued(best: _Candidate, candidates: Sequence[_Candidate]) -> list[_Candidate]:
    """The leading group, after the one that it refers back to and with those below it that go on with the matter."""
    same = sorted((item for item in candidates if item.passage is best.passage), key=lambda item: item.place)
    at = same.index(best)
    chosen = [best]
    if best.group.refers_back and at > 0:
        chosen.insert(0, same[at - 1])
    length = sum(len(item.group.text) for item in chosen)
    for item in same[at + 1 :]:
        if length >= SHORT_CHARS or item.score < best.score * CONTINUES:
            break
        chosen.append(item)
        length += len(item.group.text)
    return chosen


def _is_said(item: _Candidate, said: set[str]) -> bool:
    return bool(item.terms) and len(item.terms & said) / len(item.terms) > MOSTLY_SAID
