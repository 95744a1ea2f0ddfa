"""The graph family: whole definitions with what belongs to them, and what a change can reach."""

from __future__ import annotations

import re
from collections.abc import Sequence
from typing import Any

from findling.contracts import budget, code_metadata, index_state
from findling.contracts.code import symbol_facts
from findling.contracts.code_decisions import looks_like_a_name
from findling.contracts.code_search import folded, further_fields, result_range
from findling.contracts.files import clipped
from findling.contracts.model import Arguments, Call, Refusal, Reply
from findling.contracts.symbols import chain, related
from findling.contracts.workspaces import WAIT_S
from findling.model.types import ANSWER_CHARS, Edge, EdgeResult, Query, Reference, Step, SymbolHit, SymbolResult
from findling.search.answer import LEAST_ROOM
from findling.search.query import without_form

MOST_NAMES = 6
"""Names that are looked up together."""

PLACES = 8
"""Places that answer a question; those in full are chosen by how sure the order is."""

PLACE_CHARS = 120
"""What the fields of a place take beside its path, its name and its body."""

DEFINITIONS = 3
"""Of one name, with their text."""

NAME_CHARS = 100
"""Of a name that a message repeats."""

BESIDE = 4
"""Each list of an impact beside the uses takes at most this part of what an answer may take; how many more there are is
said."""

_NAME = re.compile(r"[^\W\d]\w*(?:(?:\.|::|#|/)\w+)*|[\w./-]+\.\w+:\d{1,7}(?:-\d{1,7})?")
"""A name, or a file and lines."""
_SEPARATORS = re.compile(r"[\s,;]+")


def explore(call: Call, given: Arguments) -> Reply:
    """Definitions that answer a question, or have the names that are asked for, each with what belongs to it."""
    if names := _names(given["query"]):
        reply = _of_names(call, given, names)
        if reply is not None:
            return reply
    return _of_question(call, given)


def _names(query: str) -> list[str]:
    """The names that a query may consist of; none where it is more than names, or words alone."""
    words = [word for word in _SEPARATORS.split(without_form(query).replace("()", "")) if word]
    if len(words) > MOST_NAMES or not all(map(_NAME.fullmatch, words)):
        return []
    return words if len(words) == 1 or any(map(looks_like_a_name, words)) else []


def _room(given: Arguments) -> int:
    """What the places of an answer take."""
    return ANSWER_CHARS if given.get("max_tokens") is None else budget.allowed_chars(given["max_tokens"])


def _of_names(call: Call, given: Arguments, names: Sequence[str]) -> Reply | None:
    """The definitions of names; None where there is none of them, or a plain word is no name.

    Of a type and a member of it this member is meant.
    Of two names that are no such pair also the way of calls from one to the other."""
    asked = call.workspace.asked
    wanted = [".".join(names), *names] if len(names) > 1 else list(names)
    room = _room(given)
    every = asked.symbols_of(wanted, limit=DEFINITIONS, body_chars=room, wait_s=WAIT_S, progress=call.progress)
    found = [each for each in every if any(hit.match == "exact" for hit in each.definitions)]
    plain = [name for name in names if not looks_like_a_name(name)]
    if not found or not {each.name for each in found} >= set(plain):
        return None
    joined = len(names) > 1 and found[0].name == wanted[0]
    chosen = found[:1] if joined else found
    hits = [hit for each in chosen for hit in each.definitions if hit.match == "exact"]
    way: Sequence[Step] = ()
    if len(names) == 2 and not joined and len(found) == 2:
        way = asked.trace(*names, wait_s=WAIT_S).steps or asked.trace(*reversed(names), wait_s=WAIT_S).steps
    missing = [] if joined else [each for each in every[len(wanted) - len(names) :] if each not in found]
    facts = {
        "places": [_definition(hit) for hit in _bounded(hits, room)],
        **chain(way),
        **index_state.absent_fields([absent for each in missing for absent in each.absent]),
        "metadata": _metadata(call, every[0], [note for each in chosen for note in _notes(each)]),
    }
    return Reply(facts, "places", unfinished=every[0].freshness != "fresh")


def _notes(found: SymbolResult) -> list[str]:
    shown = sum(hit.match == "exact" for hit in found.definitions)
    more = found.total_definitions - shown
    said = f"{more} more definitions are called {found.name}: say which by what encloses it or by its file."
    return [*found.notes, *([said] if more > 0 and shown == DEFINITIONS else ())]


def _bounded(hits: Sequence[SymbolHit], room: int) -> list[SymbolHit]:
    """The first definitions of all names that fit, at least one."""
    kept: list[SymbolHit] = []
    for hit in hits:
        room -= len(hit.body) + PLACE_CHARS + sum(len(each.path) + len(each.marked) for each in hit.related.found)
        if room < 0 and kept:
            break
        kept.append(hit)
    return kept


def _of_question(call: Call, given: Arguments) -> Reply:
    room = _room(given)
    query = Query(
        given["query"],
        PLACES,
        wait_s=WAIT_S,
        brief=True,
        max_tokens=given.get("max_tokens"),
        place_chars=PLACE_CHARS,
    )
    answer = call.workspace.asked.ask(query, progress=call.progress)
    result = answer.result
    hits = () if result.is_absent else result.hits
    places = [
        {
            **result_range(hit),
            "name": hit.qualified_name or hit.path.rsplit("/", 1)[-1],
            "kind": hit.kind,
            **({"group": hit.group} if result.groups else {}),
            **folded(hit),
            **({"led_by": list(hit.parts)} if hit.parts else {}),
            **({"body": hit.body} if hit.body else {}),
            **related(hit.related),
        }
        for hit in hits
    ]
    room -= len(budget.dumps(places))
    shown = [(hit.path, hit.start_line, hit.end_line) for hit in hits if hit.body]
    steps = [step for step in result.chain if not any(p == step.path and a <= step.line <= z for p, a, z in shown)]
    if steps and room > LEAST_ROOM:
        places += _steps(call, steps, room)
    metadata = code_metadata.of_answer(
        call.workspace.ref_name,
        freshness=result.freshness,
        coverage=result.coverage,
        job_active=call.workspace.job_active,
    )
    metadata["low_confidence"] = result.is_absent or result.low_confidence
    if result.notes:
        metadata["warnings"] = list(result.notes)
    facts = {
        "places": places,
        **chain(() if result.is_absent else result.chain),
        **further_fields(answer),
        **index_state.absent_fields(result.absent),
        "metadata": metadata,
    }
    return Reply(facts, "places", unfinished=result.freshness != "fresh" or result.coverage.unfinished)


def _steps(call: Call, steps: Sequence[Step], room: int) -> list[dict[str, Any]]:
    """The text of the steps of a chain that are not among the places, as far as there is room."""
    names = list(dict.fromkeys(step.name for step in steps))[:MOST_NAMES]
    wanted = {(step.path, step.line) for step in steps}
    every = call.workspace.asked.symbols_of(names, body_chars=room, wait_s=0.0, progress=call.progress)
    hits = [hit for each in every for hit in each.definitions if (hit.path, hit.line) in wanted and hit.body]
    kept = []
    for hit in hits:
        fact = _definition(hit, with_related=False)
        room -= len(budget.dumps(fact))
        if room < 0:
            break
        kept.append(fact)
    return kept


def _definition(hit: SymbolHit, *, with_related: bool = True) -> dict[str, Any]:
    return {
        **result_range(hit),
        "name": hit.qualified_name,
        "kind": hit.kind,
        **({"body": hit.body} if hit.body else {"signature": hit.signature}),
        **(related(hit.related) if with_related else {}),
    }


def _metadata(call: Call, found: SymbolResult | EdgeResult, notes: Sequence[str]) -> dict[str, Any]:
    metadata = code_metadata.of_answer(
        call.workspace.ref_name,
        freshness=found.freshness,
        coverage=found.coverage,
        job_active=call.workspace.job_active,
    )
    return {**metadata, "warnings": list(dict.fromkeys(notes))} if notes else metadata


# --- impact -----------------------------------------------------------------------------------------------------


NEAREST = 3
"""Definitions with names like one that none has."""


def impact(call: Call, given: Arguments) -> Reply:
    """What a change of a definition, or the changes since a commit, can reach. Raises `Refusal`."""
    name, since = given.get("name", ""), given.get("diff")
    if bool(name) == (since is not None):
        raise Refusal("invalid_input", "Give either `name` or `diff`: a definition, or a commit to compare with.")
    found = call.workspace.asked.impact(name, since=since, steps=given["steps"], wait_s=WAIT_S, progress=call.progress)
    if name and not any(hit.match == "exact" for hit in found.definitions):
        raise _no_definition(name, found)
    notes = list(found.notes)
    tests = [f"{each.path}:{each.line} {each.name} (step {each.depth})" for each in found.tests]
    beside: dict[str, tuple[list[Any], int]] = {
        "definitions": ([symbol_facts(hit) for hit in found.definitions], found.total_definitions),
        "gone": ([_place(each, f"{each.enclosing}: {each.text}") for each in found.gone], found.total_gone),
        "tests": (tests, found.total_tests),
        "documents": ([_place(each, each.text) for each in found.documents], len(found.documents)),
    }
    room = _room(given) // BESIDE
    listed = {name: _first(every, room) for name, (every, _) in beside.items()}
    for name, (_, total) in beside.items():
        if (more := total - len(listed[name])) > 0:
            notes.append(f"{more} more {'definitions that are gone' if name == 'gone' else name} are not listed.")
    metadata = _metadata(call, found, notes)
    if found.truncated:
        code_metadata.cut(metadata)
    facts = {
        "definitions": listed.pop("definitions"),
        "reached": [_reached(edge) for edge in found.edges],
        **{name: lines for name, lines in listed.items() if lines},
        "totals": dict(found.totals),
        "in_tests": found.in_tests,
        "metadata": metadata,
    }
    facts = budget.cut_to(facts, "reached", given.get("max_tokens"), chars=ANSWER_CHARS)
    return Reply(facts, "reached", unfinished=found.freshness != "fresh")


def _no_definition(name: str, found: EdgeResult) -> Refusal:
    """That nothing is called so, and its uses were therefore not looked for."""
    shown = repr(clipped(name, NAME_CHARS))
    if len(name.split()) > 1:
        said = f"Parameter `name` must be the name of one definition, such as Client.retry, not {shown}."
        return Refusal("invalid_input", f"{said} explore answers questions.")
    near = [(hit.qualified_name, hit.path, hit.line) for hit in found.definitions]
    near += [(each.text, each.path, each.line) for absent in found.absent for each in absent.nearest]
    near = near[:NEAREST]
    said = f"No definition is called {shown}, so nothing was looked for that uses it."
    if near:
        said += f" Did you mean {' or '.join(f'{text} ({path}:{line})' for text, path, line in near)}?"
    if found.coverage.unfinished:
        said += " Not all files are indexed yet: ask again in a moment."
    data: dict[str, Any] = {"files_searched": found.coverage.files}
    if near:
        data["nearest"] = [{"name": text, "path": path, "line": line} for text, path, line in near]
    return Refusal("symbol_not_found", said, data)


def _first(every: Sequence[Any], room: int) -> list[Any]:
    """The first items that fit into so many characters, at least one."""
    kept: list[Any] = []
    for each in every:
        room -= len(budget.dumps(each)) + 1
        if room < 0 and kept:
            break
        kept.append(each)
    return kept


def _place(at: Reference, text: str) -> str:
    return f"{at.path}:{at.line} {text}"


def _reached(edge: Edge) -> dict[str, Any]:
    """A use, with what it uses where that is not what was asked about, and why where that is not certain."""
    return {
        "path": edge.path,
        "line": edge.line,
        "name": edge.enclosing,
        "step": edge.step,
        "kind": edge.kind,
        "grade": edge.grade,
        **({"why": edge.why} if edge.why else {}),
        **({"uses": edge.target} if edge.step > 1 else {}),
        "text": edge.text,
    }
