"""The code family beside search_code: definitions, outlines, and the state of the index."""

from __future__ import annotations

import bisect
import time
from typing import Any

from findling import __version__, reading
from findling.contracts import budget, code_metadata, index_state
from findling.contracts import code_decisions as decide
from findling.contracts.code_search import known_language, result_range, symbol_id
from findling.contracts.model import Arguments, Call, Listing, Refusal, Reply
from findling.contracts.symbols import file_symbols, outline, related
from findling.contracts.workspaces import WAIT_S
from findling.engine.index_jobs import RunMode
from findling.model.languages import LANGUAGES
from findling.model.types import Reference, SymbolHit, SymbolResult
from findling.search.lexical import core_name

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


def index_status(call: Call, given: Arguments) -> Reply:
    workspace = call.workspace
    engine = workspace.engine
    health = engine.health()
    if health.no_folder is not None:
        raise health.no_folder
    status = engine.status()
    schema = "not_indexed" if health.readable and status.indexing_status == "not_indexed" else health.schema
    active = code_metadata.active_job(workspace.root)
    coverage = status.coverage
    facts: dict[str, Any] = {
        "project_id": code_metadata.project_id(workspace.root.shown_folder),
        "repo_root": workspace.root.shown_folder,
        "index_status": "indexing" if active else status.indexing_status,
        "schema_status": schema,
        "required_schema_version": health.format_version,
        "ref": workspace.ref_name,
        "file_count": coverage.files,
        "pending_count": code_metadata.pending_files(workspace.root, coverage),
        "symbol_count": status.symbols,
        "chunk_count": coverage.chunks,
        "embedded_count": coverage.embedded_chunks,
        "active_job": active,
        "recent_jobs": []
        if workspace.root.for_user
        else [code_metadata.job_facts(job) for job in workspace.jobs.recent()],
    }
    if workspace.root.watched is not None:
        facts["watching"] = workspace.root.watched._asdict()
    if schema == "compatible":
        facts["current_schema_version"] = status.schema_version
    if status.last_indexed_at:
        facts["last_indexed_at"] = status.last_indexed_at
    latency = workspace.latency_ms()
    if workspace.config.semantic.profile_advisor_mode == "suggest" and latency is not None and coverage.files:
        facts["advisor"] = _advice(status.languages, coverage.files, latency)
    return Reply({**facts, "metadata": code_metadata.of_status(workspace.root, status)}, "recent_jobs")


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
    workspace = call.workspace
    workspace.engine.check_updates()
    # A forced synchronisation reads every file again, so it is a full run.
    job = workspace.jobs.start("full" if given["force"] else mode, force=given["force"], ref=workspace.ref_name)
    if job is None:
        active = workspace.jobs.active
        data = {"job_id": active.id} if active else {}
        raise Refusal(busy, "The index is being brought up to date already; index_status tells how far it is.", data)
    facts = {"job_id": job.id, "status": job.status, "mode": mode, counted: None}
    return Reply(
        {
            **facts,
            "metadata": code_metadata.fields(decide.protocol_state(indexed=True, job_active=True), workspace.ref_name),
        }
    )


def health_check(call: Call, given: Arguments) -> Reply:
    workspace = call.workspace
    engine = workspace.engine
    status = engine.status()
    health = engine.health()
    fingerprint = engine.fingerprint
    available, missing = grammars()
    active = code_metadata.active_job(workspace.root)
    failed = bool(health.problem) or status.indexing_status == "failed"
    embedder: dict[str, Any] = {"available": fingerprint is not None}
    if fingerprint is not None:
        embedder |= {
            "provider": fingerprint.provider,
            "model": fingerprint.model,
            "dimensions": fingerprint.dimensions,
        }
    else:
        embedder["error"] = engine.model_problem
    indexing = active is not None or status.indexing_status == "indexing"
    facts: dict[str, Any] = {
        "status": "error"
        if failed
        else "indexing"
        if indexing
        else "warming"
        if status.indexing_status == "not_indexed"
        else "ready",
        "version": __version__,
        "uptime_seconds": round(time.monotonic() - workspace.root.started, 3),
        "sqlite_ok": not health.tables,
        "fts_ok": not health.text_index,
        "grammars": {"available": available, "missing": missing},
        "embedder": embedder,
        "active_job": active,
        "projects": [
            {
                "project_id": code_metadata.project_id(workspace.root.shown_folder),
                "repo_root": workspace.root.shown_folder,
                "index_status": "indexing" if active else status.indexing_status,
                "ref": workspace.ref_name,
            }
        ],
    }
    if health.problem:
        facts["problem"] = health.problem
    return Reply({**facts, "metadata": code_metadata.of_status(workspace.root, status)}, "projects")


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
