"""The repo family: text, definitions, meaning and all together over one folder, and its files as they are.

Field names and formulas are the contract of these tools; finding is the engine's.
"""

from __future__ import annotations

import time
from contextlib import suppress
from typing import TYPE_CHECKING, Any

from msgspec.structs import replace

from findling import search
from findling.contracts import budget, index_state
from findling.contracts.code_search import filters, known_language
from findling.contracts.files import Lines, clipped, line_range, read_searched
from findling.contracts.model import Arguments, Call, Listing, Reply
from findling.contracts.symbols import definition, definitions, file_symbols, kinds_of
from findling.contracts.untrusted import UntrustedText
from findling.contracts.workspaces import WAIT_S
from findling.model.errors import IndexNotReady, InvalidPattern, OtherSyntax
from findling.model.secrets import WHAT_MASKS_ARE
from findling.model.types import Answer, GrepResult, LineMatch, Query
from findling.outbound import events

if TYPE_CHECKING:
    from findling.config import Config
    from findling.engine import Engine, Engines

PLACE_LINES = 50
"""Lines of a place that its snippet may show."""

REEMBED = "Run reindex_vectors with force: true."
"""What helps an index whose vectors are another model's."""

KEYWORD_LINES = 2_000
"""Matching lines that are compared for the best; a pattern that matches more says little about any of them."""

SKIPPED_SHOWN = 50
"""Files that were not searched and are named; ``skipped_total`` counts all of them."""

NOTE_CHARS = 200
"""Kept for what is said after a file's text: where it was cut, and that it has changed."""

ALL_DEFINITIONS = 10_000
"""A limit above what an index lists for one name, because kinds are filtered only afterwards."""


# --- meaning ---------------------------------------------------------------------------------------------------


def search_semantic(call: Call, given: Arguments) -> Reply:
    answer = _asked("search_semantic", call, given, nearest(given, call.offset))
    return _reply(semantic_facts(answer), answer)


def _reply(facts: dict[str, Any], answer: Answer) -> Reply:
    if not facts.get("available", True):  # there is no list, and the error is worth more than that a cursor is stale
        return Reply(facts, "results", unfinished=index_state.is_unfinished(answer))
    listing = Listing(0 if answer.result.is_absent else answer.result.total, budget.made_from(answer))
    return Reply(facts, "results", listing=listing, unfinished=index_state.is_unfinished(answer))


def _asked(operation: str, call: Call, given: Arguments, query: Query) -> Answer:
    """The engine's answer. What became of the search by meaning is logged."""
    started = time.monotonic()
    workspace = call.workspace
    answer = workspace.asked.ask(query, progress=call.progress)
    meaning = answer.meaning
    if meaning.failure:
        events.semantic_error(operation=operation, error_type=meaning.skipped or "failed", message=meaning.failure)
    events.semantic_search(
        query=given["query"],
        result_count=len(answer.result.hits),
        latency_ms=events.since(started),
        used_semantic=meaning.ran and not meaning.failure,
    )
    return answer


def nearest(given: Arguments, offset: int = 0) -> Query:
    """What search_semantic asks: the passages nearest to a text, by their cosines."""
    return Query(
        given["query"],
        given["top_k"],
        "semantic",
        **filters(given),
        wait_s=WAIT_S,
        weights={"semantic": 1.0},
        place_lines=PLACE_LINES,
        offset=offset,
    )


def semantic_facts(answer: Answer) -> dict[str, Any]:
    """What search_semantic says of an answer."""
    meaning = answer.meaning
    if meaning.failure or (meaning.problem is not None and not meaning.ran):
        error = meaning.failure or (meaning.problem.message if meaning.problem else "")
        if meaning.problem is not None and meaning.problem.kind == "mismatch":
            error = f"{error} {REEMBED}"
        return {"available": False, "results": [], "error": error}
    results = [
        {
            "path": hit.path,
            "start_line": hit.start_line,
            "end_line": hit.end_line,
            "snippet": clipped(grounds.text),
            "score": round(hit.score, 6),
        }
        for hit, grounds in answer.places
    ]
    return {
        "available": True,
        "results": results,
        **index_state.absent_fields(answer.absent),
        **index_state.of_answer(answer),
        **index_state.notes(answer),
    }


# --- all together ----------------------------------------------------------------------------------------------


def hybrid_search(call: Call, given: Arguments) -> Reply:
    """Keyword, symbol and semantic lists of places, their scores mixed by fixed weights."""
    answer = _asked("hybrid_search", call, given, mixed(given, call.workspace.config, call.offset))
    return _reply(hybrid_facts(answer), answer)


def mixed(given: Arguments, config: Config, offset: int = 0) -> Query:
    """The query of `hybrid_search`."""
    weighted = config.hybrid
    return Query(
        given["query"],
        given["top_k"],
        "hybrid",
        **filters(given),
        wait_s=WAIT_S,
        weights={
            "keyword": weighted.keyword_weight,
            "symbol": weighted.symbol_weight,
            "semantic": weighted.semantic_weight,
        },
        place_lines=PLACE_LINES,
        offset=offset,
    )


def hybrid_facts(answer: Answer) -> dict[str, Any]:
    """What is said of an answer; what does not occur has no results."""
    results = [
        {
            "path": hit.path,
            "line_start": hit.start_line,
            "line_end": hit.end_line,
            "snippet": clipped(hit.snippet or grounds.text),
            "score": round(hit.score, 6),
            "sources": list(hit.sources),
        }
        for hit, grounds in (() if answer.result.is_absent else answer.places)
    ]
    return {
        "results": results,
        **index_state.absent_fields(answer.absent),
        **index_state.of_answer(answer),
        **index_state.notes(answer),
    }


# --- text ------------------------------------------------------------------------------------------------------


def search_keyword(call: Call, given: Arguments) -> Reply:
    engine = call.workspace.asked
    query: str = given["query"]
    literal = not _is_expression(query)
    language, globs = known_language(given.get("language")), [given["path"]] if "path" in given else []
    result = engine.grep(query, literal=literal, limit=KEYWORD_LINES, language=language, path_globs=globs)
    places = [(_matched_share(line), file.path, line) for file in result.files for line in file.lines]
    places.sort(key=lambda place: (-place[0], place[1], place[2].line))
    shown = places[call.offset : call.offset + given["top_k"]]
    results = [
        {
            "path": path,
            "line_start": line.line,
            "line_end": line.line,
            "snippet": clipped(line.text.strip()),
            "score": round(score, 6),
        }
        for score, path, line in shown
    ]
    skipped = [{"path": file.path, "reason": file.reason} for file in result.skipped[:SKIPPED_SHOWN]]
    facts: dict[str, Any] = {
        "results": results,
        "total_matches": result.total_occurrences,
        "total_files": result.total_files,
        "truncated": result.total_lines > call.offset + len(results) or result.truncated,
        "skipped": skipped,
    }
    if len(result.skipped) > len(skipped):
        facts["skipped_total"] = len(result.skipped)
    if literal or search.is_plain(query):
        facts |= {} if result.total_files else _absent(engine, Query(query, mode="exact", **filters(given)), result)
    made_from = " ".join(f"{path}:{line.line}:{score}" for score, path, line in places)  # no index, but the disk
    listing = Listing(len(places), made_from)
    unfinished = result.unindexed > 0
    return Reply(facts | index_state.of_text(result), "results", listing=listing, unfinished=unfinished)


def _absent(engine: Engine | Engines, query: Query, result: GrepResult) -> dict[str, Any]:
    """That a text which was looked for in all files is in none of them, and what is like it, or that no file passes the
    filters; nothing where there is no index and none may be made."""
    # The whole disk was just looked at; only what is not indexed is to be looked at again.
    for wait_s in (WAIT_S,) if result.unindexed else (0.0, WAIT_S):
        with suppress(IndexNotReady):
            answer = engine.ask(replace(query, wait_s=wait_s))
            return index_state.absent_fields(answer.absent) | index_state.notes(answer)
    return {}


def _is_expression(query: str) -> bool:
    """Whether a query can be taken as an expression; else it is meant to the letter."""
    try:
        search.compile_pattern(query, literal=False, ignore_case=False, word=False)
    except InvalidPattern as error:
        # A valid expression that is too costly, or in another tool's syntax: it is not meant literally.
        if error.position is None or isinstance(error, OtherSyntax):
            raise
        return False
    return True


def _matched_share(line: LineMatch) -> float:
    """How much of the line the pattern matches, in [0, 1]: a line about nothing else comes first."""
    text = line.text.strip()
    matched = sum(end - start for start, end in line.spans)
    return min(1.0, matched / len(text)) if text else 0.0


# --- definitions -----------------------------------------------------------------------------------------------


def find_symbol(call: Call, given: Arguments) -> Reply:
    engine = call.workspace.asked
    wanted = kinds_of(given["kind"]) if "kind" in given else None
    found = engine.symbols(
        given["name"],
        limit=ALL_DEFINITIONS if wanted else call.offset + given["limit"],
        wait_s=WAIT_S,
        progress=call.progress,
    )
    hits = [hit for hit in found.definitions if wanted is None or hit.kind in wanted]
    lines = Lines(engine)
    shown = hits[call.offset : call.offset + given["limit"]]
    facts: dict[str, Any] = {"symbols": [definition(hit, lines) for hit in shown]}
    total = len(hits) if wanted else found.total_definitions
    if total > len(facts["symbols"]):
        facts["total"] = total
    facts |= index_state.absent_fields(found.absent) | index_state.of_names(found)
    unfinished = found.freshness != "fresh"
    return Reply(facts, "symbols", listing=Listing(total, found.generation), unfinished=unfinished)


def list_defs_in_file(call: Call, given: Arguments) -> Reply:
    engine = call.workspace.engine
    found, freshness = file_symbols(call, given["path"])
    symbols = [{**each, "path": call.told(found.path)} for each in definitions(found, Lines(engine))]
    facts = {"path": call.told(found.path), "symbols": symbols[call.offset :]}
    unfinished = freshness != "fresh"
    if unfinished and any(engine.changed(found.path)):  # whether other files are fresh does not matter here
        facts |= index_state.state(freshness, partial=False)
    return Reply(facts, "symbols", unfinished=unfinished, listing=Listing(len(symbols), repr(found.symbols)))


# --- files -----------------------------------------------------------------------------------------------------


MASKS_NAMED = 20
"""Masked lines that the text of an answer names."""


def get_file(call: Call, given: Arguments) -> Reply:
    text = read_searched(call, given["path"])
    start, end = line_range(text, given["start_line"], given["end_line"])
    lines = text.lines[start - 1 : end]
    room = budget.allowed_chars(given.get("max_tokens"))
    kept = _fitting(lines, room)
    if kept < len(lines):
        room = max(room - NOTE_CHARS, room // 2)
        kept = _fitting(lines, room)
    content = "".join(lines[:kept])
    if not kept and lines:  # a single line that is longer than an answer may be
        content = lines[0][:room]
    facts: dict[str, Any] = {"path": call.told(text.path), "content": content}
    blocks: list[str] = [UntrustedText(content)]
    if kept < len(lines):
        last = start + kept - 1
        total = len(text.lines)
        said = (
            f"Cut after line {last} of {total}; go on with start_line {last + 1}."
            if kept
            else f"Cut inside line {start} of {total}, which is too long to show."
        )
        facts.update(truncated=True, note=said)
        blocks.append(said)
    if masked := [list(mask) for mask in text.masks if start <= mask[0] < start + max(kept, 1)]:
        facts["masked"] = masked
        said = f"{WHAT_MASKS_ARE} Lines: {', '.join(f'{line} ({rule})' for line, rule in masked[:MASKS_NAMED])}"
        facts["note"] = f"{facts['note']} {WHAT_MASKS_ARE}" if "note" in facts else WHAT_MASKS_ARE
        blocks.append(said if len(masked) <= MASKS_NAMED else f"{said} and {len(masked) - MASKS_NAMED} more")
    if text.stale:
        said = "The document has changed; this is its text as it was indexed. Ask again in a moment."
        facts["note"] = f"{facts['note']} {said}" if "note" in facts else said
        blocks.append(said)
    return Reply(facts, text=blocks)


def _fitting(lines: tuple[str, ...], chars: int) -> int:
    """How many whole lines fit."""
    for count, line in enumerate(lines):
        chars -= len(line)
        if chars < 0:
            return count
    return len(lines)
