"""How search_code decides: when meaning is asked, what an answer is worth, what to try next. Pure functions of numbers
and words; the names, thresholds and texts are the tool's contract.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Mapping, Sequence
from typing import TYPE_CHECKING, Literal

from msgspec import Struct

from findling.model.types import Completeness, Freshness, Gate, IndexingStatus, Intent, Skip
from findling.search.lexical import PHRASE, TERMS, phrase, words

if TYPE_CHECKING:
    from findling.config.options import SemanticMode

Provenance = Literal["lexical", "semantic", "hybrid"]

# --- ratio and fan-out -----------------------------------------------------------------------------------------

MERGED_BOUNDS = (20, 1000)
LEXICAL_BOUNDS = (40, 2000)
SEMANTIC_BOUNDS = (30, 1000)


class FanOut(Struct, frozen=True):
    """How many candidates: after merging, from the lexical channels, from the semantic one."""

    merged: int
    lexical: int
    semantic: int


def fan_out(limit: int, *, merged: int = 2, lexical: int = 4, semantic: int = 3) -> FanOut:
    """Candidates for an answer of ``limit`` results, by multipliers within bounds."""
    return FanOut(
        _clamp(merged * limit, *MERGED_BOUNDS),
        _clamp(lexical * limit, *LEXICAL_BOUNDS),
        _clamp(semantic * limit, *SEMANTIC_BOUNDS),
    )


def _clamp(value: int, low: int, high: int) -> int:
    return min(high, max(low, value))


SKIPPED: Mapping[Skip, str] = {
    "intent": "intent_not_nl",
    "ratio": "semantic_ratio_zero",
    "closed": "mode_rerank_only",
    "sure": "lexical_high_confidence",
    "no_vectors": "semantic_not_indexed",
    "nothing": "semantic_no_matches",
    "none": "semantic_backend_unavailable",
    "down": "semantic_backend_unavailable",
    "slow": "semantic_backend_timeout",
    "mismatch": "semantic_backend_error",
    "failed": "semantic_backend_error",
}
"""The contract's name for each reason not to search by meaning; `semantic_disabled` is for a mode that is off."""

FALLBACK: frozenset[Skip | None] = frozenset(("none", "down", "slow", "mismatch", "failed"))
"""Those for which text stands in for meaning that was wanted."""


def gate(mode: SemanticMode, requested: float | None, configured: float, sure: float) -> Gate:
    """When meaning is asked: for questions in words, in the mode hybrid, where text is not ``sure`` by itself; it
    weighs what was requested at the most, else what is configured."""
    if mode == "off":
        return Gate({})
    cap = configured if requested is None else requested
    return Gate({"natural_language": cap}, sure, closed=mode == "rerank_only")


def skip_reason(skipped: Skip | None, mode: SemanticMode) -> str | None:
    """The contract's word for why meaning had no part in an answer, None where it had."""
    if mode == "off":
        return "semantic_disabled"
    return SKIPPED[skipped] if skipped is not None else None


def semantic_degraded(*, fallback: bool, found_by_meaning: bool) -> bool:
    return fallback and not found_by_meaning


# --- scores ----------------------------------------------------------------------------------------------------

RERANK_MOST = 1.0 + TERMS + PHRASE
"""The value of a candidate for which everything speaks: its exposed score is 1."""


def exposed_scores(hits: Iterable[tuple[Provenance, float, float]]) -> list[float]:
    """(provenance, lexical score, similarity) in the answer's order to scores that never rise down the list."""
    lowest = 1.0
    scores = []
    for provenance, lexical, similarity in hits:
        score = {"lexical": lexical, "semantic": similarity, "hybrid": max(lexical, similarity)}[provenance]
        lowest = min(lowest, max(0.0, score))
        scores.append(lowest)
    return scores


def local_rerank(query: str, texts: Sequence[tuple[str, float]]) -> list[float]:
    """Values of (text, base in [0, 1]): the base, more for shared words and for the query as it was typed.

    From 0 to `RERANK_MOST`; divide by it for a score.
    """
    wanted = words(query)
    return [
        base + (TERMS * len(wanted & words(text)) / len(wanted) if wanted else 0.0) + phrase(query, text)
        for text, base in texts
    ]


# --- confidence ------------------------------------------------------------------------------------------------

AGREEMENT_OVER = 5
"""Results whose channels are compared."""

BOTH_KINDS = 0.4
"""Agreement of an answer in which the channels found different things."""


class Lead(Struct, frozen=True):
    """How the results stand to each other, all in [0, 1]: facts of the answer, from which nothing is decided."""

    top_score: float
    score_margin: float
    channel_agreement: float


def lead(scores: Sequence[float], provenances: Sequence[Provenance]) -> Lead:
    """From the exposed scores of the best places and who found those that are shown, both in order."""
    if not scores:
        return Lead(0.0, 0.0, 0.0)
    # A lone result has nothing to stand out from; a lead is over a second one.
    margin = scores[0] - scores[1] if len(scores) > 1 else scores[0]
    return Lead(scores[0], margin, channel_agreement(provenances))


def channel_agreement(provenances: Sequence[Provenance]) -> float:
    seen = provenances[:AGREEMENT_OVER]
    both = seen.count("hybrid") / len(seen) if seen else 0.0
    if both > 0:
        return min(1.0, 0.5 + 0.5 * both)
    return BOTH_KINDS if "lexical" in seen and "semantic" in seen else 0.0


# --- what to try next ------------------------------------------------------------------------------------------

_IDENTIFIER = re.compile(r"[^\W\d]\w*(?:(?:::|\.|->)[^\W\d]\w*)*")
_MIN_WORD = 3
_ABBREVIATIONS = frozenset(("e.g", "i.e", "a.k.a"))


def suggested_action(intent: Intent, results: int, *, low: bool, query: str, name: str) -> str | None:
    """One sentence for an answer of low confidence, None for any other. ``name``: what the query or the first hit
    calls the thing, '' when nothing does."""
    if not low:
        return None
    if intent == "path":
        return "Check file path spelling or try search_code with filename"
    if not results:
        if intent == "symbol":
            return f"Try search_code with broader query: '{query}'"
        return "No results found. Try broader search terms or check index status."
    if intent == "symbol":
        return f"Try search_code with natural language: 'where is {name or query} defined'"
    if intent == "error":
        return "Try search_code with exact error substring or stack-frame snippet"
    return f"Try locate_symbol with '{name}'" if name else None


def extracted_identifier(query: str, top_name: str, stop_words: frozenset[str]) -> str:
    """The first word that looks like an identifier, else the first that says something, else the first hit's name."""
    words = [found[0].strip(".") for found in _IDENTIFIER.finditer(query)]
    words = [word for word in words if word.lower() not in _ABBREVIATIONS]
    for word in words:
        if looks_like_a_name(word):
            return word
    for word in words:
        if len(word) >= _MIN_WORD and word.lower() not in stop_words:
            return word
    return top_name


def looks_like_a_name(word: str) -> bool:
    """Whether a word is written as no word of a sentence is: ``load_cfg``, ``Outer.inner``, ``loadCfg``."""
    if "_" in word.strip("_") or "." in word or ":" in word or "->" in word:
        return True
    return any(char.isupper() for char in word[1:]) and not word.isupper()


# --- protocol states -------------------------------------------------------------------------------------------


class ProtocolState(Struct, frozen=True):
    freshness: Freshness
    indexing: IndexingStatus
    completeness: Completeness


def protocol_state(
    *,
    indexed: bool,
    job_active: bool = False,
    failed: bool = False,
    changed: bool = False,
    files_pending: bool = False,
    vectors_missing: bool = False,
    partial: bool = False,
) -> ProtocolState:
    """The three words that every answer carries about the index it was made from. ``partial``: not
    all of it could be searched."""
    if failed:
        return ProtocolState("stale", "failed", "partial")
    if job_active:
        return ProtocolState("syncing", "indexing", "partial")
    if not indexed:
        return ProtocolState("stale", "not_indexed", "partial")
    if files_pending:
        return ProtocolState("stale", "indexing", "partial")
    partly = vectors_missing or partial
    return ProtocolState("stale" if changed else "fresh", "ready", "partial" if partly else "complete")


# --- advice on the embedding profile ---------------------------------------------------------------------------

LARGE_FILES, SMALL_FILES = 50_000, 10_000
FAST_MS, CODE_MS, SLOW_MS = 180.0, 260.0, 650.0
CODE_SHARE, HIGH_CODE_SHARE = 0.45, 0.6


class Advice(Struct, frozen=True):
    """The profile that suits a repository: a recommendation, which changes no configuration."""

    profile: Literal["fast_local", "code_quality", "high_quality"]
    repo_size_bucket: Literal["<10k", "10k-50k", ">50k"]
    reason_codes: tuple[str, ...]


def advise(files: int, latency_ms: float, code_files: int, all_files: int) -> Advice:
    """By the number of files, the time that may be spent on a search, and how much of it all is code."""
    bucket: Literal["<10k", "10k-50k", ">50k"]
    bucket = ">50k" if files > LARGE_FILES else "<10k" if files < SMALL_FILES else "10k-50k"
    share = code_files / all_files if all_files else 0.0
    if files > LARGE_FILES:
        return Advice("fast_local", bucket, ("large_repository",))
    if latency_ms <= FAST_MS:
        return Advice("fast_local", bucket, ("tight_latency",))
    if bucket == "<10k" and latency_ms >= SLOW_MS and share >= HIGH_CODE_SHARE:
        return Advice("high_quality", bucket, ("small_repository", "generous_latency", "mostly_code"))
    if share >= CODE_SHARE and latency_ms >= CODE_MS:
        return Advice("code_quality", bucket, ("much_code", "enough_latency"))
    return Advice("fast_local", bucket, ("little_code",) if share < CODE_SHARE else ("tight_latency",))
