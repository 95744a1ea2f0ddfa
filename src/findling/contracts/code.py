"""The code family beside search_code: definitions, outlines, and the state of the index."""

from __future__ import annotations

import time
from typing import Any

from findling import __version__
from findling.contracts import code_decisions as decide
from findling.contracts import code_metadata, parameters, running
from findling.contracts.code_health import grammars, missing_folder, required_version, schema_status, store_problem
from findling.contracts.code_search import BODY_LINES, known_language, search_code, symbol_id
from findling.contracts.model import Arguments, Call, Refusal, Reply, Tool, object_schema
from findling.contracts.places import Lines
from findling.contracts.refs import check_ref
from findling.contracts.symbols import file_symbols, outline
from findling.contracts.workspace import WAIT_S
from findling.engine.index_jobs import RunMode
from findling.model.languages import LANGUAGES
from findling.model.types import SYMBOL_KINDS, Reference, SymbolHit
from findling.search.lexical import core_name

MATCH_SCORES = {"exact": 1.0, "prefix": 0.8, "part": 0.5}
OTHER_SPELLING = 0.9
"""``retry_policy`` asked, ``RetryPolicy`` found."""

REFERENCE_SCORE = 0.4
"""A use of a name, below every definition: definitions come first."""


# --- locate_symbol ---------------------------------------------------------------------------------------------


def _locate_symbol(call: Call, given: Arguments) -> Reply:
    engine = call.workspace.engine
    ref = check_ref(engine.root, given.get("ref"))
    found = engine.symbols(
        given["name"],
        references=given["include_references"],
        kind=given.get("kind"),
        language=known_language(given.get("language")),
        limit=given["limit"],
        wait_s=call.workspace.wait_for_text(WAIT_S, call.progress),
        progress=call.progress,
    )
    lines = Lines(engine)
    results = [_definition(hit, given["name"], given["detail_level"], lines) for hit in found.definitions]
    room = max(0, given["limit"] - len(results))
    results += [_reference(use, given["name"], given["detail_level"]) for use in found.references[:room]]
    metadata = code_metadata.of_answer(
        ref,
        freshness=found.freshness,
        coverage=found.coverage,
        job_active=call.workspace.jobs.active is not None,
        vectors_wanted=False,
    )
    if found.notes:
        metadata["warnings"] = list(found.notes)
    if found.freshness != "fresh":
        call.workspace.finish_in_background(ref)
    facts = {
        "results": results,
        "total_candidates": found.total_definitions + found.total_references,
        "metadata": metadata,
    }
    return Reply(facts, "results")


def _definition(hit: SymbolHit, asked: str, detail: str, lines: Lines) -> dict[str, Any]:
    score = MATCH_SCORES[hit.match]
    if hit.match == "exact" and core_name(asked).rpartition(".")[2] != hit.name.lower():
        score = OTHER_SPELLING
    facts: dict[str, Any] = {
        "path": hit.path,
        "line_start": hit.start_line,
        "line_end": hit.end_line,
        "kind": hit.kind,
        "name": hit.name,
        "score": score,
    }
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
    if detail == "context":
        facts["body"] = lines.between(hit.path, hit.start_line, min(hit.end_line, hit.start_line + BODY_LINES - 1))
    return facts


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


def _index_status(call: Call, given: Arguments) -> Reply:
    workspace = call.workspace
    engine = workspace.engine
    if (gone := missing_folder(engine.root)) is not None:
        raise gone
    ref = check_ref(engine.root, given.get("ref"))
    status = engine.status()
    schema = schema_status(engine.store_dir, indexed=status.indexing_status != "not_indexed")
    active = running.active_job(workspace)
    coverage = status.coverage
    facts: dict[str, Any] = {
        "project_id": code_metadata.project_id(str(engine.root)),
        "repo_root": str(engine.root),
        "index_status": "indexing" if active else status.indexing_status,
        "schema_status": schema,
        "required_schema_version": required_version(),
        "ref": ref,
        "file_count": coverage.files,
        "pending_count": running.pending_files(workspace, coverage),
        "symbol_count": status.symbols,
        "chunk_count": coverage.chunks,
        "embedded_count": coverage.embedded_chunks,
        "active_job": active,
        "recent_jobs": [running.job_facts(job) for job in workspace.jobs.recent()],
    }
    if workspace.watched is not None:
        facts["watching"] = workspace.watched._asdict()
    if schema == "compatible":
        facts["current_schema_version"] = status.schema_version
    if status.last_indexed_at:
        facts["last_indexed_at"] = status.last_indexed_at
    latency = workspace.latency_ms()
    if workspace.config.semantic.profile_advisor_mode == "suggest" and latency is not None and coverage.files:
        facts["advisor"] = _advice(status.languages, coverage.files, latency)
    return Reply({**facts, "metadata": code_metadata.of_status(workspace, status)}, "recent_jobs")


def _advice(languages: Any, files: int, latency_ms: float) -> dict[str, Any]:
    code = sum(count for language, count in languages.items() if LANGUAGES[language].kind == "code")
    advice = decide.advise(files, latency_ms, code, sum(languages.values()))
    return {
        "profile": advice.profile,
        "repo_size_bucket": advice.repo_size_bucket,
        "reason_codes": list(advice.reason_codes),
    }


def _index_repo(call: Call, given: Arguments) -> Reply:
    return _start(call, given, "full", "index_in_progress", "file_count")


def _sync_repo(call: Call, given: Arguments) -> Reply:
    return _start(call, given, "incremental", "sync_in_progress", "changed_files")


def _start(call: Call, given: Arguments, mode: RunMode, busy: str, counted: str) -> Reply:
    workspace = call.workspace
    ref = check_ref(workspace.engine.root, given.get("ref"))
    # A forced synchronisation looks at every file again, which is what a full run from nothing does.
    job = workspace.jobs.start("full" if given["force"] else mode, force=given["force"], ref=ref)
    if job is None:
        active = workspace.jobs.active
        data = {"job_id": active.id} if active else {}
        raise Refusal(busy, "The index is being brought up to date already; index_status tells how far it is.", data)
    facts = {"job_id": job.id, "status": job.status, "mode": mode, counted: None}
    return Reply({**facts, "metadata": code_metadata.fields(decide.protocol_state(indexed=True, job_active=True), ref)})


def _health_check(call: Call, given: Arguments) -> Reply:
    workspace = call.workspace
    engine = workspace.engine
    ref = check_ref(engine.root, given.get("ref"))
    status = engine.status()
    gone = missing_folder(engine.root)
    sqlite_problem, fulltext_problem = store_problem(engine.store_dir)
    fingerprint = engine.fingerprint
    available, missing = grammars()
    active = running.active_job(workspace)
    failed = bool(gone or sqlite_problem or fulltext_problem) or status.indexing_status == "failed"
    embedder: dict[str, Any] = {"available": fingerprint is not None}
    if fingerprint is not None:
        embedder |= {
            "provider": fingerprint.provider,
            "model": fingerprint.model,
            "dimensions": fingerprint.dimensions,
        }
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
        "uptime_seconds": round(time.monotonic() - workspace.started, 3),
        "sqlite_ok": not sqlite_problem,
        "fts_ok": not fulltext_problem,
        "grammars": {"available": available, "missing": missing},
        "embedder": embedder,
        "active_job": active,
        "projects": [
            {
                "project_id": code_metadata.project_id(str(engine.root)),
                "repo_root": str(engine.root),
                "index_status": "indexing" if active else status.indexing_status,
                "ref": ref,
            }
        ],
    }
    if problem := str(gone or "") or sqlite_problem or fulltext_problem:
        facts["problem"] = problem
    return Reply({**facts, "metadata": code_metadata.of_status(workspace, status)}, "projects")


def _get_file_outline(call: Call, given: Arguments) -> Reply:
    ref = check_ref(call.workspace.engine.root, given.get("ref"))
    found, freshness = file_symbols(call, ref, given["path"])
    metadata = code_metadata.of_answer(
        ref,
        freshness=freshness,
        coverage=call.workspace.engine.coverage(),
        job_active=call.workspace.jobs.active is not None,
        vectors_wanted=False,
    )
    if freshness != "fresh":
        call.workspace.finish_in_background(ref)
    facts = {
        "file_path": found.path,
        "language": found.language,
        "symbols": outline(found, nested=given["depth"] == "all"),
        "metadata": metadata,
    }
    return Reply(facts, "symbols")


# --- the rows --------------------------------------------------------------------------------------------------

_DETAIL = parameters.one_of(
    ("location", "signature", "context"),
    "How much of each result: its place, also its signature, also its body.",
    "signature",
)
_REF = {"ref": parameters.REF}
_FORCE = {"force": parameters.flag("Build everything again, even what has not changed.")}

TOOLS: tuple[Tool, ...] = (
    Tool(
        "search_code",
        "code",
        "Search code and documents for a symbol name, a path, an error message or a question in words. Use it first, "
        "for any of these. Returns path, lines, kind, name, score and snippet of each place; metadata says how sure "
        "the answer is and what to try next when it is not.",
        object_schema(
            {
                "query": parameters.query("A name, a path, an error text, or a question."),
                "limit": parameters.count(10, 100),
                "language": parameters.LANGUAGE,
                "detail_level": _DETAIL,
                "semantic_ratio": parameters.share("The most that meaning may weigh against text; 0 is text only."),
                "confidence_threshold": parameters.share("Below this an answer counts as not sure; 0.5 by default."),
                "freshness_policy": parameters.one_of(
                    ("strict", "balanced", "best_effort"),
                    "When files changed that are not indexed yet: refuse, answer and bring the index up to date, or "
                    "just answer.",
                    "balanced",
                ),
                **_REF,
                "max_tokens": parameters.TOKENS,
            },
            ("query",),
        ),
        search_code,
        first=True,
    ),
    Tool(
        "locate_symbol",
        "code",
        "Find where a name is defined (function, class, method, constant...), and with include_references also where "
        "it is used. Exact names come first. Returns path, lines, kind, qualified name and signature.",
        object_schema(
            {
                "name": parameters.text("The name, such as retry or Client.retry.", parameters.MAX_NAME),
                "kind": parameters.one_of(SYMBOL_KINDS, "Only definitions of this kind."),
                "language": parameters.LANGUAGE,
                "limit": parameters.count(10, 100),
                "detail_level": _DETAIL,
                "include_references": parameters.flag("Also list where the name is used."),
                **_REF,
                "max_tokens": parameters.TOKENS,
            },
            ("name",),
        ),
        _locate_symbol,
    ),
    Tool(
        "get_file_outline",
        "code",
        "Show what a file defines, with lines and signatures, as a tree: to know a file without reading it.",
        object_schema(
            {
                "path": parameters.path("A file, relative to the root."),
                "depth": parameters.one_of(
                    ("top", "all"), "Only what stands at the top, or what is inside too.", "all"
                ),
                **_REF,
            },
            ("path",),
        ),
        _get_file_outline,
    ),
    Tool(
        "index_status",
        "code",
        "Tell how much is indexed, whether the index is up to date, and what indexing runs or ran.",
        object_schema(_REF),
        _index_status,
    ),
    Tool(
        "index_repo",
        "code",
        "Begin to index the whole root and answer at once; index_status tells how far it is. Searching indexes by "
        "itself: this is for doing it ahead, or anew with force.",
        object_schema({**_FORCE, **_REF}),
        _index_repo,
        writes=True,
    ),
    Tool(
        "sync_repo",
        "code",
        "Begin to take in what changed on disk and answer at once. Searching does that by itself for few changes.",
        object_schema({**_FORCE, **_REF}),
        _sync_repo,
        writes=True,
    ),
    Tool(
        "health_check",
        "code",
        "Check that the index can be read, which grammars and which embedding model work, and what is running.",
        object_schema(_REF),
        _health_check,
    ),
)
