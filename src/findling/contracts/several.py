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
from findling.contracts.tools import Tool
from findling.contracts.workspaces import Workspace, Workspaces, split
from findling.model.errors import FindlingError

Facts = dict[str, Any]

PATH_ARGUMENTS = {
    "get_file_outline": "path",
    "list_defs_in_file": "path",
    "get_file": "path",
    "find_similar": "docPath",
}
"""Tools about one file, and the argument that names it."""

PATH_FIELDS = frozenset(("path", "p", "docPath", "file_path"))
"""Fields of their answers, and of the documents', that hold a path."""

_PARTIAL = index_state.state("fresh", partial=True)


def handle(tool: Tool, call: Call, given: Arguments) -> Reply:
    """The tool's answer. Raises what its handler raises."""
    workspace, ref = call.workspace, given.get("ref")
    if isinstance(workspace, Workspaces) and tool.name in PATH_ARGUMENTS:
        return _of_one(tool, call, workspace, given, PATH_ARGUMENTS[tool.name])
    if ref:
        workspace = workspace.at(ref)
        call = replace(call, workspace=workspace)
    if not isinstance(workspace, Workspaces) or tool.family == "library":
        return tool.handler(call, given)
    if tool.name == "reindex_vectors":
        return _reindex_vectors(tool, call, workspace, given)
    if tool.family == "docs":
        return _of_documents(tool, call, workspace, given)
    if tool.name in _JOINED:
        answers, problems = _of_each(tool, call, workspace.by_name, given)
        return _told(tool, _JOINED[tool.name](answers), workspace, problems)
    opened = workspace.opened()
    reply = tool.handler(replace(call, workspace=opened), given)
    return _told(tool, reply, workspace, _said(opened.problems))


# --- one root --------------------------------------------------------------------------------------------------


def _of_one(tool: Tool, call: Call, workspaces: Workspaces, given: Arguments, argument: str) -> Reply:
    """By the root that a path names; it is told the rest of the path, and the answer has the whole."""
    name, rest = split(workspaces.folders, given[argument])
    if not rest:
        raise Refusal("invalid_input", f"path is a directory: {given[argument]}")
    workspace = workspaces.by_name[name].at(given["ref"]) if given.get("ref") else workspaces.by_name[name]
    try:
        reply = tool.handler(replace(call, workspace=workspace), {**given, argument: rest})
    except (Refusal, FindlingError) as error:
        raise _as_asked(error, rest, given[argument]) from error
    return replace(reply, facts=_prefixed(reply.facts, name))


def _as_asked(error: Refusal | FindlingError, told: str, asked: str) -> Refusal | FindlingError:
    """The error with the path as it was given."""
    found = list(re.finditer(rf"(?<![\w./-]){re.escape(told)}(?!\.?[\w/-])", error.message))
    if found and asked not in error.message:
        error.message = error.message[: found[-1].start()] + asked + error.message[found[-1].end() :]
    return error


def _prefixed(value: Any, name: str) -> Any:
    """Facts of one root with its name before every path."""
    if isinstance(value, dict):
        return {
            key: f"{name}/{item}" if key in PATH_FIELDS and isinstance(item, str) else _prefixed(item, name)
            for key, item in value.items()
        }
    return [_prefixed(item, name) for item in value] if isinstance(value, list) else value


# --- each root -------------------------------------------------------------------------------------------------


class Answer(Struct, frozen=True):
    """What one root says."""

    name: str
    facts: Facts
    is_error: bool


def _of_each(
    tool: Tool, call: Call, workspaces: Mapping[str, Workspace], given: Arguments
) -> tuple[list[Answer], dict[str, str]]:
    """The answers of these roots, and by name what is wrong with those that have none; raises when none
    has one. Paths begin with the root's name."""
    answers: list[Answer] = []
    problems: dict[str, str] = {}
    failure: Refusal | FindlingError | None = None
    for name, workspace in workspaces.items():
        try:
            reply = tool.handler(replace(call, workspace=workspace), given)
        except (Refusal, FindlingError) as error:
            if getattr(error, "code", "") in ("cancelled", "invalid_input"):
                raise
            failure = failure or error
            problems[name] = str(error)
            continue
        answers.append(Answer(name, _prefixed(reply.facts or {}, name), reply.is_error))
    if not answers and failure is not None:
        raise failure
    return answers, problems


def _told(tool: Tool, reply: Reply, workspaces: Workspaces, problems: Mapping[str, str]) -> Reply:
    """A joint answer of the code or repo family, with what is said of the roots that are not in it."""
    facts = dict(reply.facts or {})
    if problems:
        for key, worst in (("index_status", "failed"), ("status", "error")):
            if key in facts and "job_id" not in facts:
                facts[key] = worst
    if problems and "metadata" in facts:
        missing = [code_metadata.of_refusal(workspaces.by_name[name]) for name in problems]
        joined = code_metadata.joined([facts["metadata"], *missing])
        facts["metadata"] = {**joined, "ref": facts["metadata"]["ref"]}
    if problems and tool.family == "repo":
        facts |= _PARTIAL
    if notes := [*_notes(workspaces, problems), *facts.get("notes", ())]:
        facts["notes"] = notes
    return replace(reply, facts=facts)


def _notes(workspaces: Workspaces, problems: Mapping[str, str]) -> list[str]:
    """What is said of the roots that do not have the ref, and of those that could not answer."""
    return [f"{name}: {said}" for name, said in {**_said(workspaces.absent), **problems}.items()]


def _said(problems: Mapping[str, FindlingError]) -> dict[str, str]:
    return {name: str(error) for name, error in problems.items()}


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
        "projects": [{"root": answer.name, **project} for answer in answers for project in answer.facts["projects"]],
        "metadata": code_metadata.joined([facts["metadata"] for facts in every]),
    }
    problems = [f"{answer.name}: {answer.facts['problem']}" for answer in answers if "problem" in answer.facts]
    if problems:
        facts["problem"] = "; ".join(problems)
    return Reply(facts, "projects")


_JOINED: Mapping[str, Callable[[Sequence[Answer]], Reply]] = {
    "index_status": _index_status,
    "index_repo": _started,
    "sync_repo": _started,
    "health_check": _health_check,
}


# --- documents -------------------------------------------------------------------------------------------------


def _of_documents(tool: Tool, call: Call, workspaces: Workspaces, given: Arguments) -> Reply:
    """A tool that searches documents: those of the roots that a path prefix names, as one."""
    names, rest = _by_prefix(workspaces, given)
    if names is not None:
        given = _with_prefix(given, f"{names[0]}/{rest}" if rest else "")
    opened = workspaces.opened(names)
    reply = tool.handler(replace(call, workspace=opened), given)
    facts = dict(reply.facts or {})
    problems = {**opened.by_words, **_said(opened.problems)}
    if notes := _notes(workspaces, problems):
        facts["notes"] = notes
    if problems and not reply.is_error:
        if "meta" in facts:
            facts["meta"] = {**facts["meta"], **_PARTIAL}
        else:
            facts |= _PARTIAL
    return replace(reply, facts=facts)


def _reindex_vectors(tool: Tool, call: Call, workspaces: Workspaces, given: Arguments) -> Reply:
    """Root by root, each a job of its own."""
    names, rest = _by_prefix(workspaces, given)
    if names is not None:
        given = _with_prefix(given, rest)
    asked = {name: root for name, root in workspaces.by_name.items() if names is None or name in names}
    answers, problems = _of_each(tool, call, asked, given)
    # What goes for all is told as a root without an error tells it, whichever is named first.
    answers.sort(key=lambda answer: ("error" in answer.facts, answer.is_error))
    every = [answer.facts for answer in answers]
    facts: Facts = {
        **every[0],
        "indexed": sum(facts.get("indexed", 0) for facts in every),
        "skipped": sum(facts.get("skipped", 0) for facts in every),
        "model_mismatch": any(facts.get("model_mismatch") for facts in every),
        "errors": [error for facts in every for error in facts.get("errors", ())],
        "latency_ms": round(sum(facts.get("latency_ms", 0.0) for facts in every), 3),
    }
    said = facts.get("message")
    errors = {a.name: a.facts["message"] for a in answers if "error" in a.facts and a.facts["message"] != said}
    if notes := _notes(workspaces, {**errors, **problems}):
        facts["notes"] = notes
    return Reply(facts, "errors", is_error=answers[0].is_error)


def _by_prefix(workspaces: Workspaces, given: Arguments) -> tuple[Sequence[str] | None, str]:
    """The roots that the path prefix allows, None for all, and the prefix inside of the one that it names, '' without.
    Raises `Refusal`."""
    prefix = given.get("scope", given).get("pathPrefix")
    if prefix is None:
        return None, ""
    begun = [name for name in workspaces.folders if "/" not in prefix and name.startswith(prefix)]
    if begun and prefix not in begun:
        there = [name for name in begun if name in workspaces.by_name]
        if not there:
            raise workspaces.absent[begun[0]]
        return there, ""
    name, rest = split(workspaces.folders, prefix)
    if name in workspaces.absent:
        raise workspaces.absent[name]
    return [name], f"{rest}/" if rest and prefix.endswith("/") else rest


def _with_prefix(given: Arguments, prefix: str) -> Arguments:
    """The arguments with another prefix; '' takes it away."""
    inner = dict(given.get("scope", given))
    inner.pop("pathPrefix", None)
    if prefix:
        inner["pathPrefix"] = prefix
    return {**given, "scope": inner} if "scope" in given else inner
