"""Whether a question is asked by meaning, and how much that weighs: what a query's gate says of one intent. Pure."""

from __future__ import annotations

from findling.model.types import Gate, Intent, Query, Skip
from findling.search.intent import classify

FADE_FROM = 0.55
"""Confidence of text up to which meaning weighs as much as it may; from here to the gate's ``sure`` it fades."""

WITHOUT_VECTORS = frozenset(("keyword", "symbol", "exact"))
"""Modes that ask no vectors."""

EVEN = 0.5
"""The ratio at which text and vectors weigh what they do in the engine's own sum."""


def skipped(gate: Gate, intent: Intent, text_confidence: float) -> Skip | None:
    """Why meaning is not asked, None when it is; the first reason that holds."""
    cap = gate.caps.get(intent)
    if cap is None:
        return "intent"
    if cap == 0:
        return "ratio"
    if gate.closed:
        return "closed"
    return "sure" if text_confidence >= gate.sure else None


def ratio(gate: Gate, intent: Intent, text_confidence: float) -> float:
    """What meaning weighs when text is so sure: all that it may up to `FADE_FROM`, nothing from ``gate.sure`` on."""
    cap = gate.caps.get(intent, 0.0)
    if text_confidence >= gate.sure:
        return 0.0
    if gate.sure <= FADE_FROM:
        return cap
    return cap * min(1.0, max(0.0, (gate.sure - text_confidence) / (gate.sure - FADE_FROM)))


def needs_vectors(query: Query) -> bool:
    """Whether a query may be asked by meaning, as far as can be told before anything is searched."""
    if query.mode in WITHOUT_VECTORS:
        return False
    return query.gate is None or skipped(query.gate, classify(query.text).intent, 0.0) is None
