"""How a tool is answered where there are several roots: by the one that a path names, or by all as one.

In answers and arguments the first part of a path is the root's name. With one root nothing here changes anything.
"""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence

from msgspec.structs import replace

from findling.contracts import code_metadata, index_state
from findling.contracts.model import Arguments, Call, Refusal, Reply
from findling.contracts.tools import LIKE_CODE, Tool
from findling.contracts.workspaces import Workspace, split
from findling.model.errors import FindlingError
from findling.model.plurals import count

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
            given = _with_prefix(given, rest if tool.writes else named)
            call = replace(call, workspace=workspace)
    reply = _handled(tool, call, given)
    problems = {name: str(error) for name, error in workspace.problems.items()}
    if tool.family == "docs" and not tool.writes and not reply.is_error:
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
    except FindlingError as error:
        raise _as_asked(error, rest, given[argument]) from error


def _as_asked(error: FindlingError, told: str, asked: str) -> FindlingError:
    """The error with the path as it was given."""
    found = list(re.finditer(rf"(?<![\w./-]){re.escape(told)}(?!\.?[\w/-])", error.message))
    if found and asked not in error.message:
        error.message = error.message[: found[-1].start()] + asked + error.message[found[-1].end() :]
    return error


# --- all roots -----------------------------------------------------------------------------------------------------


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
    elif problems and not tool.writes and not reply.is_error:
        if "meta" in facts:
            facts["meta"] = {**facts["meta"], **_PARTIAL}
        else:
            facts |= _PARTIAL
    said = {**{name: str(error) for name, error in workspace.absent.items()}, **problems}
    more = count(workspace.left_out, "repository")
    left_out = f"{more} more in this folder not searched; to search one, serve it by its own path"
    told = [left_out] if workspace.left_out else []
    if notes := [*(f"{name}: {why}" for name, why in said.items()), *told, *facts.get("notes", ())]:
        facts["notes"] = notes
    return replace(reply, facts=facts)


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
