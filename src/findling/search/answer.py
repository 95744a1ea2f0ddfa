"""A finished search to a `SearchResult`: what it is worth, what was cut, how fresh it is."""

from __future__ import annotations

import math
import re
import time
from collections.abc import Callable, Sequence, Set
from functools import partial
from itertools import accumulate
from typing import TYPE_CHECKING

from msgspec.structs import replace

from findling.model.plurals import count
from findling.model.types import (
    ANSWER_CHARS,
    CHARS_PER_TOKEN,
    LOW_CONFIDENCE,
    Completeness,
    Confidence,
    Coverage,
    Freshness,
    Hit,
    Query,
    Reason,
    Relations,
    SearchResult,
    Step,
)
from findling.search.analysis import is_compound
from findling.search.body import CALLABLE, LINES, Body, lines_of
from findling.search.flow import asks_for_a_flow, but_for, chars_of
from findling.search.query import WITHOUT_VECTORS
from findling.search.ranking.priors import path_flags
from findling.search.searcher import Found
from findling.search.snippet import LINE_CHARS

if TYPE_CHECKING:
    from findling.search.ranking.ranked_file import RankedFile
    from findling.search.relations import Relating


def make_result(
    query: Query,
    found: Found,
    confidence: Confidence,
    coverage: Coverage,
    freshness: Freshness,
    stale_reason: str,
    notes: Sequence[str],
    started: float,
    changed_since: Set[str],
    relating: Relating | None = None,
) -> SearchResult:
    """``changed_since``: paths whose content on disk is no longer what was searched. ``relating`` finds what belongs to
    the places that are shown in full."""
    chain: tuple[Step, ...] = ()
    if relating is not None and found.groups[:1] != ("docs",) and asks_for_a_flow(query.text):
        chain = relating.connecting(found.hits[:CONNECTED])
        if query.max_tokens and chars_of(chain) > RELATED_SHARE * query.max_tokens * CHARS_PER_TOKEN:
            chain = ()  # the best place comes first
    terms = found.terms.terms.keys() if found.terms is not None else ()
    relate = None if relating is None else partial(relating.of_hit, terms=terms)
    sure = is_sure(found.hits, confidence.value)
    hits = show(
        found.hits,
        found.bodies,
        query,
        sure=sure,
        code_first=found.groups[:1] == ("code",),
        relate=relate,
        taken=chars_of(chain),
    )
    further = found.hits[len(hits) :]
    cut = bool(query.max_tokens and further)
    if query.brief:
        further = further[: further_lines(further, query)]
    said = list(notes)
    if cut and query.max_tokens:
        said.append(_cut_note(query.max_tokens, len(found.hits), len(further)))
    if changed_since := changed_since & {hit.path for hit in hits}:  # more files are read than are shown
        hits = [replace(hit, stale=hit.path in changed_since) for hit in hits]
        freshness, stale_reason = "stale", stale_reason or "files in the answer changed while it was made"
    completeness: Completeness = "complete"
    lacks_vectors = query.mode not in WITHOUT_VECTORS and coverage.missing_vectors > 0
    if coverage.is_partial or lacks_vectors:
        completeness = "partial"
    elif cut:
        completeness = "truncated"
    return SearchResult(
        query=query.text,
        hits=tuple(hits),
        total=found.total,
        intent=found.intent.intent,
        mode=query.mode,
        confidence=confidence.value,
        freshness=freshness,
        completeness=completeness,
        coverage=coverage,
        took_ms=(time.monotonic() - started) * 1000,
        notes=tuple(said),
        stale_reason=stale_reason,
        absent=found.absent,
        groups=found.groups if {hit.group for hit in hits} >= set(found.groups) else (),
        further=() if cut else further,
        lacking=confidence.lacking,
        offset=query.offset,
        chain=chain,
        evidence=confidence,
    )


CONNECTED = 8
"""Places among which calls are looked for that connect them."""

RELATED_SHARE, RELATED_LINES = 0.15, 12
"""Of the room for a place in full, what belongs to it may take so much, and of a screen so many lines for all. So much
of a whole answer that is bounded may be the calls that connect its places."""

TEXT_SHARE = 0.25
"""The least of an answer that text takes, however long the list is that `Query.limit` asks for."""

FURTHER_SHARE, LINE_FRAME = 0.2, 4
"""The most of a brief answer that the lines of its further places take, and what is written around each line."""

BODY_FRAME = 8
"""What is written around a text beside the line of its place."""

SURE = 0.2
"""The order is sure if the second place is behind the first by this share of its value: then the first file was right
for 92 of 100 questions about whole repositories."""

OPEN = 3
"""Places that are shown in full where the order is open."""

PLACES_SHARE = 0.5
"""Of the room of an answer what its places may take."""

SURE_SHARE, FIRST_SHARE, BESIDE_SHARE = 0.7, 0.6, 0.15
"""Of an answer the most that the only body takes, the first of several, and each of the others. Experts cite the first
file for a third of an answer, the second for a seventh, and each further one for a thirtieth."""

GROUP_SHARE = 0.4
"""The most that the best document takes beside code, and the best code after it."""

_NAME = re.compile(r"[^\W\d]\w*")
LEAST_ROOM = 400
"""So many characters that are left over get more text."""

LEAST_LINES = 3
"""On a screen that is too low for its list."""

HEADING_LINES = 3
"""On a screen, of two groups: a line above each, and an empty one between them."""


def show(
    hits: Sequence[Hit],
    bodies: Sequence[Callable[[], Body]],
    query: Query,
    *,
    sure: bool,
    code_first: bool = False,
    relate: Callable[[Hit, int], Relations] | None = None,
    taken: int = 0,
) -> list[Hit]:
    """The hits that an answer shows. The best have their text and what ``relate`` finds for them: first each its share
    of the room, then what is left goes to the first ones and after them to the others. The first is always shown.
    ``bodies``: what makes the body of each hit. ``taken``: characters that something else in the answer takes."""
    asked = query.max_tokens is not None
    chars = max(1, _chars(query) - taken)
    sizes = list(accumulate(len(_line(hit)) + LINE_FRAME + query.place_chars for hit in hits))
    listed = len(hits)
    if asked or query.brief:
        listed = max(1, sum(1 for size in sizes if size <= chars * PLACES_SHARE))
    shown = list(hits[:listed])
    full = _in_full(shown, query, sure=sure, code_first=code_first) if bodies else []
    room = max(0, chars - sizes[listed - 1]) if shown else 0
    if not asked and shown:
        if query.brief:
            room -= sum(len(_line(hit)) + LINE_FRAME for hit in hits[listed:][: further_lines(hits[listed:], query)])
        room = max(room, int(chars * TEXT_SHARE))
    if query.bodies == "all" and not asked:
        room = listed * LINES * LINE_CHARS
    headings = HEADING_LINES if len({hit.group for hit in shown}) > 1 else 0
    screen = math.inf if query.screen_lines is None else query.screen_lines - listed - headings
    auto = query.bodies == "auto"
    shares, best = _shares([shown[place].group for place in full])

    def take(place: int, here: int, *, spill: bool, last: bool) -> None:
        """Shows a place with its text, as much of it as ``here`` characters hold; ``spill``: its own lines have all
        the room there is."""
        nonlocal room, screen
        if place != full[0] and screen < LEAST_LINES + 2:
            return
        body, before = bodies[place](), shown[place]
        lines = len(body.worth) if auto else LINES
        if auto and place != full[0] and not _reaches(before, body.text(lines, here)):
            return  # a head alone says nothing that the place's line does not
        related = before.related
        if not before.body and not query.place_chars:
            room -= len(_line(before)) + BODY_FRAME
            here = min(here, room)
        if relate is not None and auto and place in full and not before.body and screen > RELATED_LINES:
            related = relate(before, int(here * RELATED_SHARE))
            here = min(here, room - chars_of(related.found))
            screen -= len(related.found) + 1
        room += len(before.body) - chars_of(related.found) * (not before.body)
        screen += before.body.count("\n") + 2 if before.body else 0
        lines = int(min(lines, max(LEAST_LINES, screen if last else screen / 2)))
        text = body.text(lines, here, whole_parts=auto, first_chars=room if spill else 0)
        related = but_for(related, {(before.path, number) for number, _ in lines_of(text)})
        room -= len(text)
        screen -= text.count("\n") + 2
        shown[place] = replace(before, body=text, related=related)

    for turn, place in enumerate(full):
        here = min(room, int(chars * shares[turn])) if auto else room
        take(place, here, spill=auto and turn == best, last=turn + 1 == len(full))
    if auto and full:
        rest = [place for place, hit in enumerate(shown) if place not in full and hit.group == "code"]
        for place in [*sorted(full, key=lambda place: shown[place].group == "docs"), *rest]:
            if room > LEAST_ROOM and screen > RELATED_LINES:
                take(place, room + len(shown[place].body), spill=False, last=True)
    while len(shown) < len(hits) and sizes[len(shown)] - sizes[len(shown) - 1] <= room:
        room -= sizes[len(shown)] - sizes[len(shown) - 1]
        shown.append(hits[len(shown)])
    return shown


def _shares(groups: Sequence[str]) -> tuple[list[float], int]:
    """Of an answer the most that each body takes, by the groups of their places; and which of them may take all the
    room there is to be shown to its end: the first, or the first code after a document."""
    if len(groups) == 1:
        return [SURE_SHARE], 0
    shares = [FIRST_SHARE, *[BESIDE_SHARE] * (len(groups) - 1)]
    best = groups.index("code") if groups[:1] == ["docs"] and "code" in groups else 0
    if best:
        shares[0] = shares[best] = GROUP_SHARE
    return shares, best


def _reaches(hit: Hit, text: str) -> bool:
    """Whether a body has lines of the place itself."""
    return any(hit.start_line <= number <= hit.end_line for number, _ in lines_of(text))


def _in_full(hits: Sequence[Hit], query: Query, *, sure: bool, code_first: bool = False) -> list[int]:
    """The places that get text, in the order in which they take room: the first one, functions that the question names,
    then the others; with ``code_first`` documents stand behind code."""
    if query.bodies != "auto":
        return list(range(len(hits))) if query.bodies == "all" else []
    names = {name for name in _NAME.findall(query.text) if is_compound(name)}
    named = [
        place
        for place, hit in enumerate(hits)
        if hit.name in names and hit.kind in CALLABLE and "test" not in path_flags(hit.path)
    ]
    order = sorted(range(len(hits)), key=lambda place: code_first and hits[place].group == "docs")
    first = order[: 1 if sure else OPEN]
    return list(dict.fromkeys((*first[:1], *named, *first)))[:OPEN]


def is_sure(hits: Sequence[Hit], confidence: float) -> bool:
    """Whether the first place is probably the answer."""
    if len(hits) < 2:
        return True
    first, second = hits[0].rank_value, hits[1].rank_value
    return confidence >= LOW_CONFIDENCE and first - second >= SURE * first


def _cut_note(max_tokens: int, places: int, omitted: int) -> str:
    return f"Left out to stay within {count(max_tokens, 'token')}: {omitted} of {count(places, 'place')}."


def _line(hit: Hit) -> str:
    """The line that lists a place."""
    return " ".join((f"{hit.path}:{hit.start_line}-{hit.end_line}", hit.kind, hit.qualified_name))


def _chars(query: Query) -> int:
    """The most that the places of an answer and their text take."""
    return ANSWER_CHARS - query.frame_chars if query.max_tokens is None else query.max_tokens * CHARS_PER_TOKEN


def further_lines(further: Sequence[Hit], query: Query) -> int:
    """How many of the further places of a brief answer have a line."""
    sizes = accumulate(len(_line(hit)) + LINE_FRAME for hit in further)
    return sum(1 for size in sizes if size <= _chars(query) * FURTHER_SHARE)


FIRST = 3
"""Files whose definitions count."""

CERTAIN = ("definition", "asked_path", "exact", "message", "frame", "quoted_there")
"""Signals of what was asked for by name or to the letter: a definition, a file, a quotation; a message by its share; of
a pasted text the places that it names and the messages that it quotes."""

TOGETHER = 3
"""Pairs of neighbouring words of the query that stand together in one place: so many are as good as all."""

WITHOUT_VECTORS_COSINE = 0.4
"""Stands in where there are no vectors: that of a wrong answer, so that words have to speak for a right one."""

RANDOM = 0.4
"""The cosine of the nearest passage that questions about something else find. Its mean is .38 to .41 in every
repository that was looked at, so it is no figure of each index."""

BIAS = -0.9
COVERAGE = 3.0
COSINE = 8.0
NAMED = 3.0
PHRASE = 3.0
ADVICE = 1.5
LACKING = -2.0
ABSENT = -3.5
"""What each fact adds to the logit of the confidence. Round values near those fitted to questions with and without an
answer, one repository left out at a time. They belong to the bundled model's cosines."""

FAR, NEAR = 0.15, 0.3
"""Cosines of a file's nearest passage up to which the file has the query's words by accident, as lists of words have
them, and from which on they count in full."""

ASIDE = ("test", "example", "changes", "messages", "generated")
"""Signals that speak against a file, from half on so much that it says nothing of whether there is an answer."""


def judge(found: Found) -> Confidence:
    """How sure it is that the first places answer the question, with the facts that say so; 0 without places."""
    terms = found.terms
    if not found.ranked:
        return Confidence()
    ranked = [item for item in found.ranked if not _is_aside(item)] or found.ranked
    first = ranked[0]
    cosine = max((item.best_cosine for item in ranked if item.cosines is not None), default=None)
    beyond = (WITHOUT_VECTORS_COSINE if cosine is None else cosine) - RANDOM
    named = max(max(item.values.get(name, 0.0) for name in CERTAIN) for item in found.ranked[:FIRST])
    absent = any(not each.meant for each in found.absent)
    lacks = max(found.lacking.values(), default=0.0)
    typed = terms.text.lower() if terms is not None else ""
    lacking = tuple(word for word in found.lacking if word.lower() in typed)  # and no word of its translation
    coverage = first.rare_coverage
    if first.cosines is not None:
        coverage *= min(1.0, max(0.0, (first.best_cosine - FAR) / (NEAR - FAR)))
    phrase = brevity = 0.0
    wants_advice = False
    if terms is not None:
        pairs = max(1, len(terms.terms) - 1)
        phrase = min(1.0, max(item.phrase for item in ranked) * pairs / TOGETHER)
        brevity = terms.brevity  # some words of a long question stand in any large file
        phrase *= 1.0 - lacks * brevity**2  # words that stand together prove little where the telling one is missing
        wants_advice = "advice" in terms.wants  # users seldom know the words of what they ask about
    shares = (
        Reason("bias", BIAS, "where every answer starts"),
        Reason("cosine", COSINE * beyond, _how_near(cosine)),
        Reason("coverage", COVERAGE * brevity * coverage, f"the first file has {coverage:.0%} of the rare words"),
        Reason("phrase", PHRASE * phrase, "neighbouring words of the query stand together in one place"),
        Reason("named", NAMED * named, "the name or the quoted text that was asked for occurs"),
        Reason("advice", ADVICE * wants_advice, "a question for advice rarely has the words of the documents"),
        Reason(
            "lacking", LACKING * lacks, f"the first file lacks {', '.join(map(repr, lacking)) or 'what was asked for'}"
        ),
        Reason("absent", ABSENT * absent, "what was asked for by name does not occur"),
    )
    value = 1.0 / (1.0 + math.exp(-sum(share.value for share in shares)))
    reasons = sorted((share for share in shares if share.value), key=lambda share: -abs(share.value))
    near = None if cosine is None else beyond
    by_words, by_meaning = _best(found.ranked, "passage"), _best(found.ranked, "window")
    agree = by_words == by_meaning if by_words and by_meaning else None
    return Confidence(value, coverage, cosine, near, agree, named, phrase, lacking, absent, tuple(reasons))


def _is_aside(item: RankedFile) -> bool:
    return any(item.values.get(name, 0.0) >= 0.5 for name in ASIDE)


def _how_near(cosine: float | None) -> str:
    if cosine is None:
        return "there are no vectors to compare"
    return f"the nearest passage has a cosine of {cosine:.2f}; questions about something else find {RANDOM:.2f}"


def _best(ranked: Sequence[RankedFile], signal: str) -> str:
    """The file of which a signal speaks most, '' where it speaks of none."""
    best = max(ranked, key=lambda item: item.values.get(signal, 0.0))
    return best.file.path if best.values.get(signal) else ""
