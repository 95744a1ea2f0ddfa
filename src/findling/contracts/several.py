"""How a tool is answered where there are several roots: by the one that a path names, by all as one, or by each.

In answers and arguments the first part of a path is the root's name. With one root nothing here changes anything.
"""

from __future__ import annotations

import os
import re
from collections.abc import Callable, Mapping, Sequence
from typing import Any

from msgspec import Struct
from msgspec.structs import replace

from findling.contracts import code_metadata, index_state
from findling.contracts.model import Arguments, Call, Refusal, Reply
from findling.contracts.tools import LIKE_CODE, Tool
from findling.contracts.workspaces import Workspace, split
from findling.model.errors import FindlingError
from findling.model.plurals import count

Facts = dict[str, Any]

PATH_ARGUMENTS = {
    "get_file_outline": "path",
    "list_defs_in_file": "path",
    "get_file": "path",
}
"""Tools about one file, and the argument that names it."""

_PARTIAL = index_state.state("fresh", partial=True)


def handle(tool: Tool, call: Call, given: Arguments) -> Reply:
    """The tool's answer. Raises what its handler raises."""
    workspace, ref = call.workspace, given.get("ref")
    if workspace.several and tool.name in PATH_ARGUMENTS:
        return _of_one(tool, call, given, PATH_ARGUMENTS[tool.name])
    if ref:
        workspace = workspace.at(ref)
        call = replace(call, workspace=workspace)
    if not workspace.several or tool.family == "library":
        return _handled(tool, call, given)
    if tool.family == "docs":
        names, rest = _by_prefix(workspace, given)
        if names is not None:
            named = f"{names[0]}/{rest}" if rest else ""
            workspace = workspace.some(names)
            given = _with_prefix(given, rest if tool.name in _JOINED else named)
            call = replace(call, workspace=workspace)
    if tool.name in _JOINED:
        answers, problems = _of_each(tool, call, given)
        reply = _JOINED[tool.name](answers)
    else:
        reply = _handled(tool, call, given)
        problems = {name: str(error) for name, error in workspace.problems.items()}
        if tool.family == "docs" and not reply.is_error:
            lacks = "not compared" if tool.name == "find_similar" else "searched by words, not by meaning"
            problems = {**{name: f"{lacks}: {why}." for name, why in workspace.by_words.items()}, **problems}
    return _told(tool, reply, workspace, problems)


def _handled(tool: Tool, call: Call, given: Arguments) -> Reply:
    reply = tool.handler(call, given)
    if reply.unfinished:
        call.workspace.finish_in_background()
    return reply


# --- one root --------------------------------------------------------------------------------------------------


def _of_one(tool: Tool, call: Call, given: Arguments, argument: str) -> Reply:
    """The answer of the root that a path names. It is given the rest of the path; `Call.told` adds the name."""
    workspace = call.workspace
    name, rest = split(workspace.folders, given[argument])
    if not rest:
        raise Refusal("invalid_input", f"path is a directory: {given[argument]}")
    root = workspace.by_name[name].at(given["ref"]) if given.get("ref") else workspace.by_name[name]
    try:
        return _handled(tool, replace(call, workspace=workspace.alone(root), root=name), {**given, argument: rest})
    except (Refusal, FindlingError) as error:
        raise _as_asked(error, rest, given[argument]) from error


def _as_asked(error: Refusal | FindlingError, told: str, asked: str) -> Refusal | FindlingError:
    """The error with the path as it was given."""
    found = list(re.finditer(rf"(?<![\w./-]){re.escape(told)}(?!\.?[\w/-])", error.message))
    if found and asked not in error.message:
        error.message = error.message[: found[-1].start()] + asked + error.message[found[-1].end() :]
    return error


# --- each root -------------------------------------------------------------------------------------------------


class Answer(Struct, frozen=True):
    """The answer of one root."""

    name: str
    facts: Facts
    is_error: bool


def _of_each(tool: Tool, call: Call, given: Arguments) -> tuple[list[Answer], dict[str, str]]:
    """The answers of the roots, and by name what is wrong with those that have none; raises when none has one."""
    workspace = call.workspace
    answers: list[Answer] = []
    problems: dict[str, str] = {}
    failure: Refusal | FindlingError | None = None
    for name, root in workspace.by_name.items():
        try:
            reply = tool.handler(replace(call, workspace=workspace.alone(root), root=name), given)
        except (Refusal, FindlingError) as error:
            if error.code in ("cancelled", "invalid_input"):
                raise
            failure = failure or error
            problems[name] = str(error)
            continue
        answers.append(Answer(name, reply.facts or {}, reply.is_error))
    if not answers and failure is not None:
        raise failure
    return answers, problems


def _told(tool: Tool, reply: Reply, workspace: Workspace, problems: Mapping[str, str]) -> Reply:
    """A joint answer with a note on each root that lacks the ref or could not answer."""
    facts = dict(reply.facts or {})
    if problems and tool.family in LIKE_CODE:
        for key, worst in (("index_status", "failed"), ("status", "error")):
            if key in facts and "job_id" not in facts:
                facts[key] = worst
        missing = [code_metadata.of_refusal(workspace.by_name[name]) for name in problems]
        joined = code_metadata.joined([facts["metadata"], *missing])
        facts["metadata"] = {**joined, "ref": facts["metadata"]["ref"]}
    elif problems and tool.name not in _JOINED and not reply.is_error:
        if "meta" in facts:
            facts["meta"] = {**facts["meta"], **_PARTIAL}
        else:
            facts |= _PARTIAL
    said = {**{name: str(error) for name, error in workspace.absent.items()}, **problems}
    left_out = f"{count(workspace.left_out, 'repository')} more in this folder not searched; serve one by its own path"
    told = [left_out] if workspace.left_out else []
    if notes := [*(f"{name}: {why}" for name, why in said.items()), *told, *facts.get("notes", ())]:
        facts["notes"] = notes
    return replace(reply, facts=facts)


def _index_status(answers: Sequence[Answer]) -> Reply:
    every = [answer.facts for answer in answers]
    order = ("failed", "indexing", "not_indexed", "ready")
    schemas = ("corrupt_manifest", "reindex_required", "not_indexed", "compatible")
    roots = os.pathsep.join(facts["repo_root"] for facts in every)
    facts: Facts = {
        **every[0],
        "project_id": code_metadata.project_id(roots),
        "repo_root": roots,
        "index_status": min((facts["index_status"] for facts in every), key=order.index),
        "schema_status": min((facts["schema_status"] for facts in every), key=schemas.index),
        **{key: sum(facts[key] for facts in every) for key in _COUNTS},
        "active_job": next((facts["active_job"] for facts in every if facts["active_job"]), None),
        "recent_jobs": sorted(
            ({**job, "root": answer.name} for answer in answers for job in answer.facts["recent_jobs"]),
            key=lambda job: str(job["created_at"]),
            reverse=True,
        ),
        "projects": [
            {"root": answer.name, **{key: value for key, value in answer.facts.items() if key not in _OF_ALL}}
            for answer in answers
        ],
        "metadata": code_metadata.joined([facts["metadata"] for facts in every]),
    }
    facts.pop("watching", None)  # each project has its own
    dates = [facts["last_indexed_at"] for facts in every if "last_indexed_at" in facts]
    if len(dates) == len(every):
        facts["last_indexed_at"] = min(dates)  # by then all of it was indexed
    else:
        facts.pop("last_indexed_at", None)
    facts["ref"] = facts["metadata"]["ref"]
    return Reply(facts, "recent_jobs")


_COUNTS = ("file_count", "pending_count", "symbol_count", "chunk_count", "embedded_count")
_OF_ALL = frozenset(("metadata", "recent_jobs", "active_job"))


def _started(answers: Sequence[Answer]) -> Reply:
    """index_repo and sync_repo: a job in each root that had none."""
    jobs = [{"root": answer.name, "job_id": answer.facts["job_id"]} for answer in answers]
    metadata = code_metadata.joined([answer.facts["metadata"] for answer in answers])
    return Reply({**answers[0].facts, "jobs": jobs, "metadata": metadata})


def _health_check(answers: Sequence[Answer]) -> Reply:
    every = [answer.facts for answer in answers]
    order = ("error", "indexing", "warming", "ready")
    facts: Facts = {
        **every[0],
        "status": min((facts["status"] for facts in every), key=order.index),
        "uptime_seconds": max(facts["uptime_seconds"] for facts in every),
        "sqlite_ok": all(facts["sqlite_ok"] for facts in every),
        "fts_ok": all(facts["fts_ok"] for facts in every),
        "active_job": next((facts["active_job"] for facts in every if facts["active_job"]), None),
        "embedder": min((facts["embedder"] for facts in every), key=lambda embedder: embedder["available"]),
        "projects": [
            {"root": answer.name, **project, "embedder": answer.facts["embedder"]}
            for answer in answers
            for project in answer.facts["projects"]
        ],
        "metadata": code_metadata.joined([facts["metadata"] for facts in every]),
    }
    problems = [f"{answer.name}: {answer.facts['problem']}" for answer in answers if "problem" in answer.facts]
    if problems:
        facts["problem"] = "; ".join(problems)
    return Reply(facts, "projects")


def _reindexed(answers: Sequence[Answer]) -> Reply:
    """reindex_vectors: root by root, each a job of its own."""
    # What goes for all is told as a root without an error tells it, whichever is named first.
    answers = sorted(answers, key=lambda answer: ("error" in answer.facts, answer.is_error))
    every = [answer.facts for answer in answers]
    if not any("indexed" in facts for facts in every):
        return Reply(every[0], is_error=True)  # switched off in all of them, which one root tells without counts
    facts: Facts = {
        **every[0],
        "indexed": sum(facts.get("indexed", 0) for facts in every),
        "skipped": sum(facts.get("skipped", 0) for facts in every),
        "model_mismatch": any(facts.get("model_mismatch") for facts in every),
        "errors": [error for facts in every for error in facts.get("errors", ())],
        "latency_ms": round(sum(facts.get("latency_ms", 0.0) for facts in every), 3),
    }
    said = facts.get("message")
    notes = [f"{a.name}: {a.facts['message']}" for a in answers if "error" in a.facts and a.facts["message"] != said]
    return Reply({**facts, "notes": notes} if notes else facts, "errors", is_error=answers[0].is_error)


_JOINED: Mapping[str, Callable[[Sequence[Answer]], Reply]] = {
    "index_status": _index_status,
    "index_repo": _started,
    "sync_repo": _started,
    "health_check": _health_check,
    "reindex_vectors": _reindexed,
}
"""Tools that each root answers by itself, and how the answers are joined."""


# --- documents -------------------------------------------------------------------------------------------------


def _by_prefix(workspace: Workspace, given: Arguments) -> tuple[Sequence[str] | None, str]:
    """The roots that the path prefix allows, None for all, and the prefix inside of the one that it names, '' without.
    Raises `Refusal`."""
    prefix = given.get("scope", given).get("pathPrefix")
    if prefix is None:
        return None, ""
    begun = [name for name in workspace.folders if "/" not in prefix and name.startswith(prefix)]
    if begun and prefix not in begun:
        there = [name for name in begun if name in workspace.by_name]
        if not there:
            raise workspace.absent[begun[0]]
        return there, ""
    name, rest = split(workspace.folders, prefix)
    if name in workspace.absent:
        raise workspace.absent[name]
    return [name], f"{rest}/" if rest and prefix.endswith("/") else rest


def _with_prefix(given: Arguments, prefix: str) -> Arguments:
    """The arguments with another prefix; '' takes it away."""
    inner = dict(given.get("scope", given))
    inner.pop("pathPrefix", None)
    if prefix:
        inner["pathPrefix"] = prefix
    return {**given, "scope": inner} if "scope" in given else inner
