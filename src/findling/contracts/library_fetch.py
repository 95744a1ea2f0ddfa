"""The library family's tools that fetch: they start a job, say which, and return at once."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from findling.contracts import budget, parameters
from findling.contracts.model import Arguments, Call, Reply, Schema, Tool, object_schema
from findling.engine.library.fetching.fetch_requests import (
    DEFAULT_FILE_MB,
    INCLUDED,
    MAX_FILE_MB,
    MAX_PATTERN,
    MAX_PATTERNS,
    FileRequest,
    RepoRequest,
)
from findling.model.errors import ConfigError, FetchRefused, RootError

if TYPE_CHECKING:
    from findling.engine.jobs import Job

MAX_URL = 2_048
MAX_NAME = 250


def _fetch_repo(call: Call, given: Arguments) -> Reply:
    _require_allowed(call)
    options = given.get("options", {})
    request = RepoRequest(
        url=given["repoUrl"],
        branch=given.get("branch", ""),
        include=tuple(options.get("includePatterns", INCLUDED)),
        exclude=tuple(options.get("excludePatterns", ())),
        remove_comments=options.get("removeComments", False),
        line_numbers=options.get("showLineNumbers", True),
    )
    job = call.workspace.library.fetch(request)
    return _started(f"Started async repository fetch: {request.name}", job, {"repoName": request.name})


def _fetch_file(call: Call, given: Arguments) -> Reply:
    _require_allowed(call)
    options = given.get("options", {})
    request = FileRequest(
        url=given["url"],
        filename=given["filename"],
        overwrite=options.get("overwrite", True),
        max_bytes=int(options.get("maxFileSizeMB", DEFAULT_FILE_MB) * (1 << 20)),
        index=options.get("indexAfterSave", True),
    )
    job = call.workspace.library.fetch(request)
    return _started(f"Started async file download: {request.filename}", job, {"filename": request.filename})


def _require_allowed(call: Call) -> None:
    """A project may switch fetching off; nothing else of its configuration counts here. Raises `FetchRefused`."""
    try:
        enabled = call.workspace.config.fetch.enabled
    except (ConfigError, RootError):
        return  # the root says so itself where it is asked for; the user's own configuration is obeyed anyway
    if not enabled:
        raise FetchRefused("Fetching is switched off here.", remedy="fetch.enabled is false in the configuration.")


def _started(line: str, job: Job, facts: dict[str, Any]) -> Reply:
    text = f"{line}\nJob ID: {job.id}\nUse get_job_status to poll for completion."
    return Reply(None, text=[text, budget.dumps({"jobId": job.id, **facts})])


def _patterns(what: str, least: int = 0) -> Schema:
    item = {"type": "string", "minLength": 1, "maxLength": MAX_PATTERN}
    return {"type": "array", "items": item, "minItems": least, "maxItems": MAX_PATTERNS, "description": what}


FETCH_TOOLS: tuple[Tool, ...] = (
    Tool(
        "fetch_repo",
        "library",
        "Fetch a git repository's files into the library, in the background, and index them. Returns a job id at once; "
        "poll get_job_status. Fetching again brings what is new.",
        object_schema(
            {
                "repoUrl": parameters.text("The repository's https URL; `#branch` may follow it.", MAX_URL),
                "branch": parameters.text("A branch, tag or commit; main if left out.", MAX_NAME),
                "options": {
                    **object_schema(
                        {
                            "includePatterns": _patterns("Globs of the files to take; *.md, *.txt, *.json, *.rst.", 1),
                            "excludePatterns": _patterns("Globs of files to leave out besides vendored ones."),
                            "outputStyle": parameters.one_of(("markdown",), "How files are bundled.", "markdown"),
                            "removeComments": parameters.flag("Leave comments out of the bundle."),
                            "showLineNumbers": parameters.flag("Number the lines in the bundle.", default=True),
                        }
                    ),
                    "description": "Which files, and how they are bundled.",
                },
            },
            ("repoUrl",),
        ),
        _fetch_repo,
        writes=True,
        text_only=True,
        open_world=True,
    ),
    Tool(
        "fetch_file",
        "library",
        "Download a file (a page, a PDF, ...) into the library, in the background, and index it. Returns a job id at "
        "once; poll get_job_status.",
        object_schema(
            {
                "url": parameters.text("An http or https URL.", MAX_URL),
                "filename": parameters.text("What to save it as; its ending says how it is read.", MAX_NAME),
                "options": {
                    **object_schema(
                        {
                            "overwrite": parameters.flag("Whether a file of that name is replaced.", default=True),
                            "maxFileSizeMB": {
                                "type": "number",
                                "minimum": 0.001,
                                "maximum": MAX_FILE_MB,
                                "default": DEFAULT_FILE_MB,
                                "description": "The largest size that is downloaded.",
                            },
                            "indexAfterSave": parameters.flag("Whether it is indexed.", default=True),
                        }
                    ),
                    "description": "How it is saved.",
                },
            },
            ("url", "filename"),
        ),
        _fetch_file,
        writes=True,
        text_only=True,
        open_world=True,
    ),
)
