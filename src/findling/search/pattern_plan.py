"""From a regular expression to what it requires of a file: trigrams for the index, needles for the scan.

Both may only ever ask for too little: every text that the expression matches satisfies the plan and contains the
needles. The plan follows Russ Cox's construction ("Regular Expression Matching with a Trigram Index", 2012): for
each part the texts it can match when they are few, else how its matches can begin and end.
"""

from __future__ import annotations

import re
from re import _constants as ops  # type: ignore[attr-defined]
from typing import Any

from msgspec import Struct

from findling.model.trigram_plan import ALL, TrigramPlan, all_of, any_of, require_text
from findling.search.pattern_syntax import REPEATS, Nodes

#: More alternatives than this make a plan slower without making it more selective.
MAX_TEXTS = 24
#: Members of a class that are still tried one by one: [Tt], [0-9] yes, \w no.
MAX_CLASS_MEMBERS = 12
#: Unknown beginnings or ends are kept to this many bytes: with one more byte they make a trigram.
EDGE_BYTES = 2
#: Texts looked for before an expression is tried; each further one rules out less.
MAX_NEEDLES = 3
#: Copies of a repeated part that are written out.
MAX_COPIES = 8

Texts = frozenset[bytes]
_ANYTHING: Texts = frozenset((b"",))
# Characters that take part in matching ASCII letters when case is ignored, and the one that stands for bytes which
# are not UTF-8: what they match cannot be told from the bytes of a file.
_UNCERTAIN = frozenset(map(ord, "\u0130\u0131\u017f\u212a\ufffd"))


class _Part(Struct, frozen=True):
    """What is known of a part's matches. ``texts``: all of them, or None; else how they begin and end."""

    texts: Texts | None
    begins: Texts = _ANYTHING
    ends: Texts = _ANYTHING
    required: TrigramPlan = ALL


_UNKNOWN = _Part(None)
_NOTHING_CONSUMED = _Part(_ANYTHING)


def trigram_plan(nodes: Nodes, *, ignore_case: bool) -> TrigramPlan:
    """The plan of a parsed expression; ALL when nothing of three bytes or more is certain."""
    return _close(_sequence(nodes, ignore_case)).required


def _one_of(texts: Texts) -> TrigramPlan:
    return any_of(require_text(text) for text in sorted(texts))


def _close(part: _Part) -> _Part:
    """The same part without its list of texts, their trigrams being required instead."""
    if part.texts is None:
        return part
    return _bounded(_Part(None, part.texts, part.texts, all_of((part.required, _one_of(part.texts)))))


def _bounded(part: _Part) -> _Part:
    if part.texts is not None:
        return part if len(part.texts) <= MAX_TEXTS else _close(part)
    begins, ends, required = part.begins, part.ends, part.required
    if len(begins) > MAX_TEXTS or any(len(text) > EDGE_BYTES for text in begins):
        required = all_of((required, _one_of(begins)))
        begins = frozenset(text[:EDGE_BYTES] for text in begins)
    if len(ends) > MAX_TEXTS or any(len(text) > EDGE_BYTES for text in ends):
        required = all_of((required, _one_of(ends)))
        ends = frozenset(text[-EDGE_BYTES:] for text in ends)
    return _Part(
        None,
        begins if len(begins) <= MAX_TEXTS else _ANYTHING,
        ends if len(ends) <= MAX_TEXTS else _ANYTHING,
        required,
    )


def _cross(left: Texts, right: Texts) -> Texts:
    return frozenset(a + b for a in left for b in right)


def _follow(left: _Part, right: _Part) -> _Part:
    required = all_of((left.required, right.required))
    if left.texts is not None and right.texts is not None:
        if len(left.texts) * len(right.texts) <= MAX_TEXTS:
            return _Part(_cross(left.texts, right.texts), required=required)
        left = _close(left)
    if left.texts == _ANYTHING:
        return _Part(None, right.begins, right.ends, required)
    if right.texts == _ANYTHING:
        return _Part(None, left.begins, left.ends, required)
    left_ends = left.ends if left.texts is None else left.texts
    right_begins = right.begins if right.texts is None else right.texts
    if len(left_ends) * len(right_begins) <= MAX_TEXTS * 4:
        required = all_of((required, _one_of(_cross(left_ends, right_begins))))
    begins = left.begins if left.texts is None else _cross(left.texts, right_begins)
    ends = right.ends if right.texts is None else _cross(left_ends, right.texts)
    return _bounded(_Part(None, begins, ends, required))


def _either(left: _Part, right: _Part) -> _Part:
    if left.texts is not None and right.texts is not None and left.required == right.required:
        return _bounded(_Part(left.texts | right.texts, required=left.required))
    left, right = _close(left), _close(right)
    return _bounded(
        _Part(None, left.begins | right.begins, left.ends | right.ends, any_of((left.required, right.required)))
    )


def _sequence(nodes: Nodes, ignore_case: bool) -> _Part:
    whole = _NOTHING_CONSUMED
    literal = b""
    for op, argument in nodes:
        if op is ops.LITERAL and (encoded := _encode(argument, ignore_case)) is not None:
            literal += encoded  # joined first: a long literal is one step, not one per character
            continue
        if literal:
            whole = _follow(whole, _Part(frozenset((literal,))))
            literal = b""
        whole = _follow(whole, _node(op, argument, ignore_case))
    return _follow(whole, _Part(frozenset((literal,)))) if literal else whole


def _node(op: Any, argument: Any, ignore_case: bool) -> _Part:
    if op is ops.IN:
        return _class(argument, ignore_case)
    if op in REPEATS:
        return _repeat(argument[0], argument[1], _sequence(argument[2], ignore_case))
    if op is ops.SUBPATTERN:
        _, added, removed, body = argument
        return _sequence(body, (ignore_case or bool(added & re.IGNORECASE)) and not removed & re.IGNORECASE)
    if op is ops.ATOMIC_GROUP:
        return _sequence(argument, ignore_case)
    if op is ops.BRANCH:
        first, *others = (_sequence(body, ignore_case) for body in argument[1])
        for other in others:
            first = _either(first, other)
        return first
    if op is ops.GROUPREF_EXISTS:
        _, yes, no = argument
        return _either(_sequence(yes, ignore_case), _NOTHING_CONSUMED if no is None else _sequence(no, ignore_case))
    if op is ops.ASSERT:
        return _Part(_ANYTHING, required=_close(_sequence(argument[1], ignore_case)).required)
    if op in (ops.ASSERT_NOT, ops.AT):
        return _NOTHING_CONSUMED
    return _UNKNOWN


def _repeat(low: int, high: Any, body: _Part) -> _Part:
    if low == 0:
        return _either(body, _NOTHING_CONSUMED) if high == 1 else _UNKNOWN
    copies = min(low, MAX_COPIES)
    once = body
    for _ in range(copies - 1):
        body = _follow(body, once)
    if copies == high:
        return body
    return _bounded(_close(body))


def _class(items: list[tuple[Any, Any]], ignore_case: bool) -> _Part:
    texts: set[bytes] = set()
    for op, argument in items:
        if op is ops.LITERAL:
            members = range(argument, argument + 1)
        elif op is ops.RANGE:
            members = range(argument[0], argument[1] + 1)
        else:
            return _UNKNOWN
        if len(members) + len(texts) > MAX_CLASS_MEMBERS:
            return _UNKNOWN
        for code in members:
            encoded = _encode(code, ignore_case)
            if encoded is None:
                return _UNKNOWN
            texts.add(encoded)
    return _Part(frozenset(texts))


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
    for op, argument in nodes:
        if op is ops.LITERAL:
            encoded = _encode(argument, ignore_case)
            if encoded is None:
                runs.append(b"")
            else:
                runs[-1] += encoded if ignore_case else chr(argument).encode()
        elif op is ops.SUBPATTERN:
            _collect(argument[3], ignore_case, runs)
        elif op is ops.ATOMIC_GROUP:
            _collect(argument, ignore_case, runs)
        elif op in REPEATS and argument[0] > 0:
            _collect(argument[2], ignore_case, runs)  # its first copy goes on from what came before
            runs.append(b"")
        elif op not in (ops.AT, ops.ASSERT, ops.ASSERT_NOT):
            runs.append(b"")
