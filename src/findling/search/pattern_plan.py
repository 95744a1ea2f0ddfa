"""From a regular expression to what it requires of a file: trigrams for the index, needles for the scan.

Both may only ever ask for too little: every text that the expression matches satisfies the plan and contains the
needles. The plan is a part of Russ Cox's construction ("Regular Expression Matching with a Trigram Index", 2012): the
texts that stretches of the expression can match, where these are few.
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from re import _constants as ops  # type: ignore[attr-defined]
from typing import Any

from findling.model.trigram_plan import TrigramPlan, all_of, any_of, require_text
from findling.search.pattern_syntax import REPEATS, Nodes

#: More alternatives than this make a plan slower without making it more selective.
MAX_TEXTS = 24
#: Members of a class that are still tried one by one: [Tt], [0-9] yes, \w no.
MAX_CLASS_MEMBERS = 12
#: Texts looked for before an expression is tried; each further one rules out less.
MAX_NEEDLES = 3
#: Copies of a repeated part that are written out.
MAX_COPIES = 8

Texts = frozenset[bytes]
_ANYTHING: Texts = frozenset((b"",))
# Characters that take part in matching ASCII letters when case is ignored, and the one that stands for bytes which
# are not UTF-8: what they match cannot be told from the bytes of a file.
_UNCERTAIN = frozenset(map(ord, "\u0130\u0131\u017f\u212a\ufffd"))


def trigram_plan(nodes: Nodes, *, ignore_case: bool) -> TrigramPlan:
    """The plan of a parsed expression; ALL when nothing of three bytes or more is certain."""
    required: list[TrigramPlan] = []
    texts = _ANYTHING  # what the stretch since the last unknown part can match

    def follow(more: Texts) -> None:
        nonlocal texts
        if len(texts) * len(more) > MAX_TEXTS:
            required.append(_one_of(texts))
            texts = _ANYTHING
        texts = _cross(texts, more)

    for op, argument, ignores in _parts(nodes, ignore_case):
        if op is ops.ASSERT:
            required.append(trigram_plan(argument[1], ignore_case=ignores))
        if (more := _texts_of(op, argument, ignores)) is not None:
            follow(more)
            continue
        once = _texts(argument[2], ignores) if op in REPEATS and argument[0] else None
        if once is not None:
            for _ in range(min(argument[0], MAX_COPIES)):
                follow(once)
        required.append(_one_of(texts))
        texts = once or _ANYTHING
        if op is ops.BRANCH:
            required.append(any_of(trigram_plan(body, ignore_case=ignores) for body in argument[1]))
        elif op in REPEATS and argument[0]:
            required.append(trigram_plan(argument[2], ignore_case=ignores))
    return all_of((*required, _one_of(texts)))


def _parts(nodes: Nodes, ignore_case: bool) -> Iterator[tuple[Any, Any, bool]]:
    """The nodes, groups taken apart, each with whether it ignores case."""
    for op, argument in nodes:
        if op is ops.SUBPATTERN:
            _, added, removed, body = argument
            yield from _parts(body, (ignore_case or bool(added & re.IGNORECASE)) and not removed & re.IGNORECASE)
        elif op is ops.ATOMIC_GROUP:
            yield from _parts(argument, ignore_case)
        else:
            yield op, argument, ignore_case


def _one_of(texts: Texts) -> TrigramPlan:
    return any_of(require_text(text) for text in sorted(texts))


def _cross(left: Texts, right: Texts) -> Texts:
    return frozenset(a + b for a in left for b in right)


def _texts(nodes: Nodes, ignore_case: bool) -> Texts | None:
    """All texts that a sequence can match; None where they are many or unknown."""
    texts = _ANYTHING
    for op, argument, ignores in _parts(nodes, ignore_case):
        more = _texts_of(op, argument, ignores)
        if more is None or len(texts) * len(more) > MAX_TEXTS:
            return None
        texts = _cross(texts, more)
    return texts


def _texts_of(op: Any, argument: Any, ignore_case: bool) -> Texts | None:
    """The same of a node that is no group."""
    if op in (ops.AT, ops.ASSERT, ops.ASSERT_NOT):
        return _ANYTHING
    if op is ops.LITERAL:
        encoded = _encode(argument, ignore_case)
        return None if encoded is None else frozenset((encoded,))
    if op is ops.IN:
        return _class(argument, ignore_case)
    if op is ops.BRANCH:
        every = [_texts(body, ignore_case) for body in argument[1]]
        known = frozenset().union(*filter(None, every))
        return known if all(every) and len(known) <= MAX_TEXTS else None
    if op in REPEATS and argument[:2] == (0, 1):
        once = _texts(argument[2], ignore_case)
        return None if once is None else once | _ANYTHING
    if op in REPEATS and argument[0] == argument[1] <= MAX_COPIES:
        return _texts([*argument[2]] * argument[0], ignore_case)
    return None


def _class(items: list[tuple[Any, Any]], ignore_case: bool) -> Texts | None:
    texts: set[bytes] = set()
    for op, argument in items:
        if op not in (ops.LITERAL, ops.RANGE):
            return None
        low, high = (argument, argument) if op is ops.LITERAL else argument
        if high - low + 1 + len(texts) > MAX_CLASS_MEMBERS:
            return None
        for code in range(low, high + 1):
            encoded = _encode(code, ignore_case)
            if encoded is None:
                return None
            texts.add(encoded)
    return frozenset(texts)


def _encode(code: int, ignore_case: bool) -> bytes | None:
    """The character's bytes as the index holds them; None when its matches have others too."""
    if code < 128:
        return bytes((code,)).lower()
    character = chr(code)
    cased = character.lower() != character or character.upper() != character
    if code in _UNCERTAIN or 0xD800 <= code <= 0xDFFF or (ignore_case and cased):
        return None
    return character.encode()


# --- the needles ----------------------------------------------------------------------------------------------


def needles(nodes: Nodes, *, ignore_case: bool) -> tuple[bytes, ...]:
    """Texts that every match contains, the longest first, few of them; ASCII-lowercased if ``ignore_case``.

    Unlike the plan's they keep their case otherwise. ``ignore_case`` must be set when any part ignores case.
    """
    runs: list[bytes] = [b""]
    _collect(nodes, ignore_case, runs)
    by_length = sorted(set(runs) - {b""}, key=lambda run: (-len(run), run))
    return tuple(by_length[:1] + [run for run in by_length[1:MAX_NEEDLES] if len(run) > 1])


def _collect(nodes: Nodes, ignore_case: bool, runs: list[bytes]) -> None:
    for op, argument, _ in _parts(nodes, ignore_case):
        if op is ops.LITERAL:
            encoded = _encode(argument, ignore_case)
            if encoded is None:
                runs.append(b"")
            else:
                runs[-1] += encoded if ignore_case else chr(argument).encode()
        elif op in REPEATS and argument[0] > 0:
            _collect(argument[2], ignore_case, runs)  # its first copy goes on from what came before
            runs.append(b"")
        elif op not in (ops.AT, ops.ASSERT, ops.ASSERT_NOT):
            runs.append(b"")
