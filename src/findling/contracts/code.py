"""The code family beside search_code: definitions, outlines, and the state of the index."""

from __future__ import annotations

import bisect
import os
import time
from collections.abc import Mapping
from typing import TYPE_CHECKING, Any

from msgspec import Struct
from msgspec.structs import replace

from findling import __version__, engine, reading
from findling.contracts import budget, code_metadata, index_state
from findling.contracts import code_decisions as decide
from findling.contracts.code_search import known_language, result_range, symbol_id
from findling.contracts.model import Arguments, Call, Listing, Refusal, Reply
from findling.contracts.symbols import file_symbols, outline, related
from findling.contracts.workspaces import WAIT_S, Root
from findling.engine.index_jobs import RunMode
from findling.model.errors import FindlingError
from findling.model.languages import LANGUAGES
from findling.model.types import Reference, Status, SymbolHit, SymbolResult
from findling.search.lexical import core_name

if TYPE_CHECKING:
    from findling.engine import Engine
    from findling.engine.jobs import Job
    from findling.engine.watching import Watch

MATCH_SCORES = {"exact": 1.0, "prefix": 0.8, "part": 0.5}
OTHER_SPELLING = 0.9
"""``retry_policy`` asked, ``RetryPolicy`` found."""

BODY_CHARS = {"location": 0, "signature": 0, "auto": 4_000, "context": 20_000}
"""How much text of exact definitions is given, by the level of detail."""

REFERENCE_SCORE = 0.4
"""A use of a name, below every definition: definitions come first."""


# --- locate_symbol ---------------------------------------------------------------------------------------------


def locate_symbol(call: Call, given: Arguments) -> Reply:
    found = call.workspace.asked.symbols(
        given["name"],
        references=given["include_references"],
        kind=given.get("kind"),
        language=known_language(given.get("language")),
        limit=given["limit"],
        offset=call.offset,
        body_chars=min(BODY_CHARS[given["detail_level"]], budget.allowed_chars(given.get("max_tokens"))),
        wait_s=WAIT_S,
        progress=call.progress,
    )
    metadata = code_metadata.of_answer(
        call.workspace.ref_name,
        freshness=found.freshness,
        coverage=found.coverage,
        job_active=call.workspace.job_active,
    )
    return located(found, given, metadata)


def located(found: SymbolResult, given: Arguments, metadata: dict[str, Any]) -> Reply:
    """The reply of locate_symbol: definitions, and after them uses as far as there is room."""
    name, detail, limit = given["name"], given["detail_level"], given["limit"]
    results = [_definition(hit, name, detail) for hit in found.definitions]
    results += [_reference(use, name, detail) for use in found.references[: limit - len(results)]]
    total = found.total_definitions + found.total_references
    facts = {
        "results": results,
        "total_candidates": total,
        **index_state.absent_fields(found.absent),
        "metadata": {**metadata, "warnings": list(found.notes)} if found.notes else metadata,
    }
    unfinished = found.freshness != "fresh"
    return Reply(facts, "results", listing=Listing(total, found.generation), unfinished=unfinished)


def _definition(hit: SymbolHit, asked: str, detail: str) -> dict[str, Any]:
    score = MATCH_SCORES[hit.match]
    if hit.match == "exact" and core_name(asked).rpartition(".")[2] != hit.name.lower():
        score = OTHER_SPELLING
    facts: dict[str, Any] = {**result_range(hit), "kind": hit.kind, "name": hit.name, "score": score}
    if detail == "location":
        return facts
    facts |= {
        "qualified_name": hit.qualified_name,
        "language": hit.language,
        "result_type": "symbol",
        "symbol_id": symbol_id(hit.path, hit.qualified_name, hit.start_line),
    }
    if hit.signature:
        facts["signature"] = hit.signature
    if hit.body:
        facts["body"] = hit.body
    return facts | related(hit.related)


def symbol_facts(hit: SymbolHit) -> dict[str, Any]:
    """A definition without its text."""
    return {**result_range(hit), "kind": hit.kind, "name": hit.qualified_name, "signature": hit.signature}


def _reference(use: Reference, name: str, detail: str) -> dict[str, Any]:
    facts: dict[str, Any] = {
        "path": use.path,
        "line_start": use.line,
        "line_end": use.line,
        "kind": "reference",
        "name": name,
        "score": REFERENCE_SCORE,
    }
    if detail != "location":
        facts |= {"qualified_name": use.enclosing or use.path, "result_type": "reference", "signature": use.text}
    return facts


# --- the state of the index ------------------------------------------------------------------------------------


class _State(Struct, frozen=True):
    """The state of a root's index, or of the indexes of several roots together. ``gone``: the folder is not there any
    more; ``problem``: what is wrong with the index, '' for nothing."""

    folder: str
    status: Status
    schema: str
    format_version: int
    gone: FindlingError | None
    problem: str
    tables_ok: bool
    text_ok: bool
    active: dict[str, Any] | None
    recent: list[dict[str, Any]]
    pending: int
    watched: Watch | None
    metadata: dict[str, Any]


def _state(root: Root) -> _State:
    opened = root.engine
    health, active = opened.health(), code_metadata.active_job(root)
    if health.gone is not None and opened.shared_store:
        status = engine.state.unanswered(opened.store, health.problem)
    else:
        status = opened.status()
    none_yet = health.readable and status.indexing_status == "not_indexed"
    return _State(
        root.shown_folder,
        replace(status, indexing_status="indexing") if active else status,
        "not_indexed" if none_yet else health.schema,
        health.format_version,
        health.gone,
        health.problem,
        not health.tables,
        not health.text_index,
        active,
        [] if root.for_user else [code_metadata.job_facts(job) for job in root.jobs.recent()],
        _pending(active, status),
        root.watched,
        code_metadata.of_status(root, status),
    )


def _pending(active: Mapping[str, Any] | None, status: Status) -> int:
    """Files that are not indexed yet: by the progress of the ``active`` job, else by the index itself."""
    if active and active["stage"] == "indexing" and active["files_total"]:
        return int(active["files_total"] - active["files_done"])
    return status.coverage.pending_files


_SCHEMAS = ("corrupt_manifest", "reindex_required", "not_indexed", "compatible")
"""The worst first."""


def _together(every: Mapping[str, _State]) -> _State:
    """The worst of the states, and the counts of all; a single one as it is."""
    states = list(every.values())
    if len(states) == 1 and "" in every:
        return states[0]
    jobs = [{**job, "root": name} for name, state in every.items() for job in state.recent]
    return _State(
        os.pathsep.join(state.folder for state in states),
        engine.state.together([state.status for state in states]),
        min((state.schema for state in states), key=_SCHEMAS.index),
        states[0].format_version,
        None,
        "; ".join(f"{name}: {state.problem}" for name, state in every.items() if state.problem),
        all(state.tables_ok for state in states),
        all(state.text_ok for state in states),
        next((state.active for state in states if state.active), None),
        sorted(jobs, key=lambda job: str(job["created_at"]), reverse=True),
        sum(state.pending for state in states),
        None,  # each project says its own
        code_metadata.joined([state.metadata for state in states]),
    )


def index_status(call: Call, given: Arguments) -> Reply:
    workspace = call.workspace

    def look(root: Root) -> _State:
        state = _state(root)
        if state.gone is not None:
            raise state.gone
        return state

    every = workspace.each(look)
    together = _together(every)
    facts = {**_status(together), "active_job": together.active, "recent_jobs": together.recent}
    if workspace.several:
        facts["projects"] = [{"root": name, **_status(state)} for name, state in every.items()]
    latency, files = workspace.latency_ms(), together.status.coverage.files
    if workspace.config.semantic.profile_advisor_mode == "suggest" and latency is not None and files:
        facts["advisor"] = _advice(together.status.languages, files, latency)
    return Reply({**facts, "metadata": together.metadata}, "recent_jobs")


def _project(state: _State) -> dict[str, Any]:
    return {
        "project_id": code_metadata.project_id(state.folder),
        "repo_root": state.folder,
        "index_status": state.status.indexing_status,
        "ref": state.metadata["ref"],
    }


def _status(state: _State) -> dict[str, Any]:
    status = state.status
    coverage = status.coverage
    facts: dict[str, Any] = {
        **_project(state),
        "schema_status": state.schema,
        "required_schema_version": state.format_version,
        "file_count": coverage.files,
        "pending_count": state.pending,
        "symbol_count": status.symbols,
        "chunk_count": coverage.chunks,
        "embedded_count": coverage.embedded_chunks,
    }
    if state.watched is not None:
        facts["watching"] = state.watched._asdict()
    if state.schema == "compatible":
        facts["current_schema_version"] = status.schema_version
    if status.last_indexed_at:
        facts["last_indexed_at"] = status.last_indexed_at
    return facts


def _advice(languages: Any, files: int, latency_ms: float) -> dict[str, Any]:
    code = sum(count for language, count in languages.items() if LANGUAGES[language].kind == "code")
    advice = decide.advise(files, latency_ms, code, sum(languages.values()))
    return {
        "profile": advice.profile,
        "repo_size_bucket": advice.repo_size_bucket,
        "reason_codes": list(advice.reason_codes),
    }


def index_repo(call: Call, given: Arguments) -> Reply:
    return _start(call, given, "full", "index_in_progress", "file_count")


def sync_repo(call: Call, given: Arguments) -> Reply:
    return _start(call, given, "incremental", "sync_in_progress", "changed_files")


def _start(call: Call, given: Arguments, mode: RunMode, busy: str, counted: str) -> Reply:
    """A job in each root that has none."""
    # A forced synchronisation reads every file again, so it is a full run.
    run = "full" if given["force"] else mode

    def start(root: Root) -> Job:
        root.engine.check_updates()
        job = root.jobs.start(run, force=given["force"], ref=root.ref_name)
        if job is None:
            active = root.jobs.active
            data = {"job_id": active.id} if active else {}
            raise Refusal(
                busy, "The index is being brought up to date already; index_status tells how far it is.", data
            )
        return job

    workspace = call.workspace
    jobs = workspace.each(start)
    first = next(iter(jobs.values()))
    facts: dict[str, Any] = {"job_id": first.id, "status": first.status, "mode": mode, counted: None}
    if workspace.several:
        facts["jobs"] = [{"root": name, "job_id": job.id} for name, job in jobs.items()]
    state = decide.protocol_state(indexed=True, job_active=True)
    return Reply({**facts, "metadata": code_metadata.fields(state, workspace.ref_name)})


def health_check(call: Call, given: Arguments) -> Reply:
    workspace = call.workspace
    every = workspace.each(lambda root: (_state(root), _embedder(root.engine)))
    together = _together({name: state for name, (state, _) in every.items()})
    available, missing = grammars()
    words = {"failed": "error", "indexing": "indexing", "not_indexed": "warming", "ready": "ready"}
    facts: dict[str, Any] = {
        "status": "error" if together.problem else words[together.status.indexing_status],
        "version": __version__,
        "uptime_seconds": round(time.monotonic() - min(root.started for root in workspace.roots), 3),
        "sqlite_ok": together.tables_ok,
        "fts_ok": together.text_ok,
        "grammars": {"available": available, "missing": missing},
        "embedder": min((embedder for _, embedder in every.values()), key=lambda embedder: embedder["available"]),
        "active_job": together.active,
        "projects": [
            {"root": name, **_project(state), "embedder": embedder} if workspace.several else _project(state)
            for name, (state, embedder) in every.items()
        ],
    }
    if together.problem:
        facts["problem"] = together.problem
    return Reply({**facts, "metadata": together.metadata}, "projects")


def _embedder(asked: Engine) -> dict[str, Any]:
    """What makes the vectors of questions, or why nothing does."""
    fingerprint = asked.fingerprint
    if fingerprint is None:
        return {"available": False, "error": asked.model_problem}
    return {
        "available": True,
        "provider": fingerprint.provider,
        "model": fingerprint.model,
        "dimensions": fingerprint.dimensions,
    }


OUTLINE_CHARS = budget.DEFAULT_CHARS - 2_000
"""Of a page of an outline; what stands beside it comes on top."""


def get_file_outline(call: Call, given: Arguments) -> Reply:
    """The handler. A page takes definitions in their order, inner ones too, so that a long class is cut as well."""
    found, freshness = file_symbols(call, given["path"])
    rows = [each for each in enumerate(found.symbols) if given["depth"] == "all" or each[1].parent < 0]
    left = rows[call.offset :]
    counts = range(1, len(left) + 1)
    fitting = bisect.bisect_right(counts, OUTLINE_CHARS, key=lambda count: len(budget.dumps(outline(left[:count]))))
    shown = max(fitting, min(1, len(left)))
    metadata = code_metadata.of_answer(
        call.workspace.ref_name,
        freshness=freshness,
        coverage=call.workspace.engine.coverage(),
        job_active=call.workspace.job_active,
    )
    if shown < len(left):
        code_metadata.cut(metadata)
        metadata["warnings"] = [f"{len(left) - shown} of {len(rows)} definitions come after these; see next_cursor."]
    facts = {
        "file_path": call.told(found.path),
        "language": found.language,
        "symbols": outline(left[:shown]),
        "metadata": metadata,
    }
    listing = Listing(len(rows), repr(found.symbols), shown)
    return Reply(facts, "symbols", unfinished=freshness != "fresh", listing=listing)


# --- grammars --------------------------------------------------------------------------------------------------------


def grammars() -> tuple[list[str], list[str]]:
    """Languages whose definitions can be read, and those whose grammar this installation lacks. Loads none."""
    languages, tables = reading.supported_languages(), reading.GRAMMARS
    missing = [name for name in languages if name in tables and not reading.has_grammar(tables[name].parser)]
    return [name for name in languages if name not in missing], missing
