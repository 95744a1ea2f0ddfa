"""The lexical side of search_code: the engine asked by text, by name and to the letter, and put into one order.

The order is the sum of the engine's own signals: where several questions found a file, each signal counts once, at
its highest. Must not know vectors.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING

from findling.search.analysis import STOP_WORDS
from findling.tools import code_decisions as decide
from findling.tools.fusion import reciprocal_rank_fusion
from findling.tools.model import Call
from findling.tools.places import Lines
from findling.tools.workspace import WAIT_S
from findling.types import Hit, Intent, Mode, SearchResult

if TYPE_CHECKING:
    from findling.engine import Engine

CHANNEL_WEIGHTS: dict[Intent, dict[str, float]] = {
    "symbol": {"symbols": 3, "snippets": 1, "files": 0},
    "path": {"symbols": 0, "snippets": 0, "files": 3},
    "error": {"symbols": 0, "snippets": 3, "files": 1},
    "natural_language": {"symbols": 2, "snippets": 2, "files": 1},
}
"""How much a rank in each lexical list says about a query of this intent."""

TEXT_LINES = 60
"""Lines of a place that are compared with the query: what a person would look at."""

FILE_SIGNALS = frozenset(("stem", "path"))
"""The engine's signals about a file's name."""


@dataclass(frozen=True, slots=True)
class Lexical:
    """What was found without vectors: hits in order, how each answers the query, and the engine's first answer."""

    hits: tuple[Hit, ...]
    evidence: dict[str, decide.Evidence]
    first: SearchResult
    sure: float
    """The calibrated confidence of the answer by text; where text finds nothing, of those to the letter and by name."""

    @property
    def confidence(self) -> float:
        return max((found.confidence for found in self.evidence.values()), default=0.0)


def search(
    call: Call, query: str, intent: Intent, *, language: str | None, limit: int, look_at_all: bool = False
) -> Lexical:
    """At most ``limit`` files from each way of asking. The first question takes in what changed on disk;
    ``look_at_all`` as for `Engine.search`."""
    from findling.search.planner import literal_part
    from findling.search.ranking.formula import NAMES_ALONE

    engine = call.workspace.engine
    text = engine.search(
        query,
        mode="keyword",
        limit=limit,
        language=language,
        explain=True,
        wait_s=WAIT_S,
        look_at_all=look_at_all,
        progress=call.progress,
    )
    named = _ask(engine, query, "symbol", language, limit)
    letters = literal_part(query, intent)
    quoted = _ask(engine, letters, "exact", language, limit) if letters else None
    exact = quoted.hits if quoted else ()
    by_text = list(text.hits)
    by_name = [hit for hit in named.hits if "symbol" in hit.sources and not _only_alike(hit)]
    best: dict[str, Hit] = {}
    signals: dict[str, dict[str, float]] = {}
    for hit in (*exact, *by_name, *by_text):  # the place of a quotation or a definition is surer than a passage's
        best.setdefault(hit.path, hit)
        known = signals.setdefault(hit.path, {})
        for reason in hit.reasons:
            if reason.signal in NAMES_ALONE:
                continue
            known[reason.signal] = max(known.get(reason.signal, reason.value), reason.value)
    sums = {path: sum(values.values()) for path, values in signals.items()}
    hits = tuple(sorted(best.values(), key=lambda hit: (-sums[hit.path], hit.path)))
    evidence = evidence_of(engine, query, intent, hits, by_name=by_name, by_text=[*exact, *by_text])
    others = [answer.confidence for answer, found in ((quoted, exact), (named, by_name)) if answer and found]
    return Lexical(hits, evidence, text, text.confidence if by_text else max(others, default=0.0))


def _only_alike(hit: Hit) -> bool:
    """Whether no name here is the one that was asked for: what only begins or contains it is for who asks for names."""
    return not any(reason.signal == "named" and reason.value > 0 for reason in hit.reasons)


def _ask(engine: Engine, text: str, mode: Mode, language: str | None, limit: int) -> SearchResult:
    return engine.search(text, mode=mode, limit=limit, language=language, explain=True, wait_s=0)


def evidence_of(
    engine: Engine,
    query: str,
    intent: Intent,
    hits: Sequence[Hit],
    *,
    by_name: Sequence[Hit] = (),
    by_text: Sequence[Hit] = (),
) -> dict[str, decide.Evidence]:
    """How each file's hit answers the query, by path; ``by_name`` and ``by_text``: the lists it may have a rank in."""
    files = sorted((hit for hit in by_text if _name_signal(hit) > 0), key=lambda hit: (-_name_signal(hit), hit.path))
    lists = {
        "symbols": [hit.path for hit in by_name],
        "snippets": [hit.path for hit in by_text],
        "files": [hit.path for hit in files],
    }
    weights = CHANNEL_WEIGHTS[intent]
    fused = reciprocal_rank_fusion(lists, weights)
    if not fused:  # a list without weight counts when the others found nothing
        fused = reciprocal_rank_fusion(lists)
    lines = Lines(engine)
    ranks = {item.id: item.score for item in fused}
    return {
        hit.path: decide.evidence(
            query,
            rank=ranks.get(hit.path, 0.0),
            name=hit.name,
            qualified_name=hit.qualified_name,
            path=hit.path,
            text=f"{hit.path} {hit.qualified_name} {_text(hit, lines)}",
            ignore=STOP_WORDS,
        )
        for hit in hits
    }


def _text(hit: Hit, lines: Lines) -> str:
    """The place's own lines, its signature among them; the snippet when they cannot be read."""
    return lines.between(hit.path, hit.start_line, min(hit.end_line, hit.start_line + TEXT_LINES - 1)) or hit.snippet


def _name_signal(hit: Hit) -> float:
    return sum(reason.value for reason in hit.reasons if reason.signal in FILE_SIGNALS)
