"""Each page: what its address asks of the engine, and which template shows the answer.

What changes nothing is asked in the engine's thread, where the answer becomes HTML as well: a question costs one turn.
"""

from __future__ import annotations

import shlex
import time
from collections import Counter
from collections.abc import Callable, Iterable, Mapping
from http import HTTPStatus
from pathlib import Path
from typing import TYPE_CHECKING, Any

from jinja2 import Environment, FileSystemLoader, StrictUndefined
from msgspec.structs import replace
from starlette.exceptions import HTTPException
from starlette.responses import HTMLResponse, RedirectResponse, Response

from findling import __version__, engine
from findling.contracts.files import read_searched
from findling.contracts.model import Call, Refusal
from findling.contracts.workspaces import Workspace
from findling.faces.web import addresses, views
from findling.faces.web.addresses import Asked, Pattern
from findling.faces.web.highlighting import visible
from findling.model.errors import Cancelled, FindlingError, IndexNotReady
from findling.model.languages import language_of
from findling.model.plurals import count
from findling.model.types import Progress, Query, Status, reason_words

if TYPE_CHECKING:
    from starlette.requests import Request

    from findling.engine import Engine, Engines
    from findling.faces.web.asking import Asker
    from findling.model.types import OnProgress

    View = dict[str, Any]

TYPED_WAIT_S = 0.3
"""How long a question may index first while somebody types."""

WAIT_S = 1.5

PLACES = 10
"""Places on one page of results."""

MOST_CHARS = 8_000
"""So much may be typed into a box: it becomes a part of an address, which `serving.HEAD_BYTES` bounds."""

GREP_LINES = 1_000
REFS = 500
EDGES = 200
FOLDERS = 300
BODY_CHARS = 12_000
PASSAGES = 20
LEAST_SIMILARITY = 0.3
RUNS = 5
"""That have ended, of which a page tells."""

LISTED = 500
"""The most files left out of the index that the page lists."""

FILE_LINES = 20_000
"""The most lines of a file that a page shows."""

FILTERS_S = 30.0
"""For how long the lists of languages, folders and branches are kept."""

GONE = 499
"""The status of an answer that nobody reads."""


class Pages:
    """The handlers of all addresses. ``name``: what the folder is called."""

    def __init__(self, asker: Asker, name: str) -> None:
        self._asker, self._name = asker, name
        self._filters: tuple[float, View] = (0.0, {})
        self._templates = Environment(
            loader=FileSystemLoader(Path(__file__).parent / "templates"),
            autoescape=True,
            undefined=StrictUndefined,
            trim_blocks=True,
            lstrip_blocks=True,
            auto_reload=False,
            finalize=lambda value: visible(value) if type(value) is str else value,
        )
        self._templates.globals.update(
            at=addresses, count=count, reason_words=reason_words, version=__version__, folder=name
        )
        self._templates.globals["most_chars"] = MOST_CHARS
        self.failures: Mapping[Any, Any] = {
            FindlingError: self._failed,
            Refusal: self._failed,
            HTTPException: self._failed,
            Exception: self._failed,
        }

    # --- searching ------------------------------------------------------------------------------------------------

    async def search(self, request: Request) -> Response:
        asked = addresses.asked_of(request.query_params)
        live = "hx-request" in request.headers
        if not live and "" in request.query_params.values():
            return RedirectResponse(addresses.of_search(asked), HTTPStatus.SEE_OTHER)

        def view(workspace: Workspace, progress: OnProgress) -> View:
            found = {"files": None} if live else self._filters_of(workspace)
            if not asked.q.strip():
                return {**found, "result": None}
            return {**found, **_searched(workspace, asked, progress, typed=live)}

        page = "_results.html" if live else "search.html"
        response = await self._page(request, page, view, asked=asked, scope=asked.scope)
        return _typed(request, response, addresses.of_search(asked)) if live else response

    async def similar(self, request: Request) -> Response:
        given = request.query_params
        path, line, ref = given.get("path", ""), given.get("line", ""), given.get("ref", "")
        target = f"{path}:{line}" if line.isdigit() else path

        def view(workspace: Workspace, progress: OnProgress) -> View:
            asked = _at(workspace, ref).asked
            result = asked.similar(target, limit=PLACES, explain=True, progress=progress)
            return {"groups": [(None, views.places(result.hits, ref))], "verdict": views.verdict(result)}

        return await self._page(request, "similar.html", view, path=path, line=line, ref=ref)

    async def grep(self, request: Request) -> Response:
        pattern = addresses.pattern_of(request.query_params)
        live = "hx-request" in request.headers
        if not live and "" in request.query_params.values():
            return RedirectResponse(addresses.of_grep(pattern), HTTPStatus.SEE_OTHER)

        def view(workspace: Workspace, progress: OnProgress) -> View:
            found = {} if live else self._filters_of(workspace)
            return {
                **found,
                **(
                    _grepped(_at(workspace, pattern.scope.ref).asked, pattern, progress)
                    if pattern.p
                    else {"totals": None}
                ),
            }

        page = "_matches.html" if live else "grep.html"
        response = await self._page(request, page, view, pattern=pattern, scope=pattern.scope)
        return _typed(request, response, addresses.of_grep(pattern)) if live else response

    # --- reading --------------------------------------------------------------------------------------------------

    async def file(self, request: Request) -> Response:
        """A file, or what is indexed in a folder."""
        path, given = request.path_params["path"].strip("/"), request.query_params
        ref = given.get("ref", "")

        def view(workspace: Workspace, progress: OnProgress) -> View:
            workspace = _at(workspace, ref)
            asked = workspace.asked
            if (inside := _in_folder(asked, path)) is not None:
                return {"path": path, "inside": inside}
            try:
                name, one, own = workspace.of(path)
                text = read_searched(Call(one, progress), own)
            except Refusal:
                if asked.coverage().files:
                    raise
                command = f"findling index --ref {shlex.quote(ref)}" if ref else "findling index"
                raise IndexNotReady(
                    f"{ref or 'This folder'} is not indexed yet, so its folders cannot be listed.",
                    remedy=f"Run '{command}', or search in it: that indexes it, too.",
                ) from None
            shown = f"{name}/{text.path}" if name else text.path
            found = asked.file_symbols(shown)
            language = language_of(text.path)
            lines = [line.rstrip("\n") for line in text.lines[:FILE_LINES]]
            return {
                "path": shown,
                "inside": None,
                "lines": views.numbered(lines, 1, language.id, shown, _range(given.get("lines", ""))),
                "total": len(text.lines),
                "language": language.name,
                "outline": list(views.outline(found.symbols, shown, ref)) if found else [],
                "masked": {line for line, _ in text.masks},
                "changed": text.stale,
                "indexed": found is not None,
            }

        return await self._page(request, "file.html", view, ref=ref)

    async def symbol(self, request: Request) -> Response:
        given = request.query_params
        name, path, ref = given.get("name", ""), given.get("path", ""), given.get("ref", "")
        tests = given.get("tests") == "1"

        def view(workspace: Workspace, progress: OnProgress) -> View:
            asked = _at(workspace, ref).asked
            found = asked.symbols(views.qualified(name, path) if path else name, progress=progress)
            if path and not any(hit.path == path and hit.match == "exact" for hit in found.definitions):
                found = asked.symbols(name, progress=progress)  # it moved, or its file's name separates names
            hits = views.chosen(found.definitions, path)
            one = hits[0] if hits and hits[0].match == "exact" else None
            if one is None:
                return {"one": None, "found": found, "hits": hits}
            full = views.qualified(one.qualified_name, one.path)
            own = asked.symbols(full, body_chars=BODY_CHARS, progress=progress)
            if not any(hit.match == "exact" for hit in own.definitions):
                full = one.qualified_name
                own = asked.symbols(full, body_chars=BODY_CHARS, progress=progress)
            shown = next((hit for hit in own.definitions if (hit.path, hit.line) == (one.path, one.line)), one)
            callers = asked.callers(full, tests=tests, limit=EDGES, progress=progress)
            callees = asked.callees(full, tests=True, limit=EDGES, progress=progress)
            return {
                "one": one,
                "found": found,
                "hits": hits,
                "lines": views.definition_lines(shown),
                "callers": callers,
                "callees": callees,
                "steps_in": views.steps(callers, ref, one.language),
                "steps_out": views.steps(callees, ref, one.language),
                "notes": list(dict.fromkeys((*found.notes, *callers.notes, *callees.notes))),
            }

        return await self._page(request, "symbol.html", view, name=name, path=path, ref=ref, tests=tests)

    # --- the library ----------------------------------------------------------------------------------------------

    async def library(self, request: Request) -> Response:
        query = request.query_params.get("q", "")

        def view(workspace: Workspace, progress: OnProgress) -> View:
            library = workspace.library
            result = None
            if query.strip():
                result = library.search(query, limit=PASSAGES, min_score=LEAST_SIMILARITY, progress=progress)
            return {"collections": library.status(), "result": result, "jobs": library.jobs.active()}

        return await self._page(request, "library.html", view, q=query)

    async def library_file(self, request: Request) -> Response:
        path, number = request.query_params.get("path", ""), request.query_params.get("passage", "")

        def view(workspace: Workspace, _: OnProgress) -> View:
            index = int(number) if number.isascii() and number.isdigit() and len(number) < 9 else None
            found = workspace.library.file(path, chunk_index=index)
            return {"found": found, "passage": index}

        return await self._page(request, "passages.html", view)

    # --- the index ------------------------------------------------------------------------------------------------

    async def index(self, request: Request) -> Response:
        given = request.query_params
        why, reason = given.get("why", "").strip(), given.get("reason", "")

        def view(workspace: Workspace, _: OnProgress) -> View:
            known = {root.engine.root for root in workspace.opened.values()}
            every = {name: engine.status_of(root.engine, known) for name, root in workspace.opened.items()}
            skipped = [
                replace(file, path=f"{name}/{file.path}") if name else file
                for name, status in every.items()
                for file in status.skipped
            ]
            left_out = [file for file in skipped if not reason or file.reason == reason]
            jobs = [job for root in workspace.opened.values() for job in root.jobs.recent() if not job.is_active]
            return {
                "statuses": every,
                "reasons": views.by_count(Counter(file.reason for file in skipped)),
                "languages": views.by_count(_languages(every.values())),
                "left_out": left_out[:LISTED],
                "left_out_total": len(left_out),
                "explained": workspace.asked.why(why) if why else None,
                "jobs": sorted(jobs, key=lambda job: job.started, reverse=True)[:RUNS],
                "duration": _duration,
            }

        return await self._page(request, "index.html", view, why=why, reason=reason)

    async def update(self, request: Request) -> Response:
        def begin(workspace: Workspace, _: OnProgress) -> None:
            for root in workspace.opened.values():
                root.engine.check_updates()
                root.jobs.start("full", force=False, ref=root.ref_name)

        await self._asker.ask(request, begin)
        return RedirectResponse("/index", HTTPStatus.SEE_OTHER)

    async def stop(self, request: Request) -> Response:
        await self._asker.ask(request, lambda workspace, _: workspace.asked.stop_jobs())
        return RedirectResponse("/index", HTTPStatus.SEE_OTHER)

    async def progress(self, request: Request) -> Response:
        """A fragment: how far the run is that goes on, if one does."""

        def view(workspace: Workspace, _: OnProgress) -> View:
            own = filter(None, (root.jobs.active for root in workspace.opened.values()))
            return {"job": next(own, None) or workspace.asked.active_job}

        return await self._page(request, "_progress.html", view, look=True)

    # --- parts ----------------------------------------------------------------------------------------------------

    async def _page(
        self,
        request: Request,
        template: str,
        view: Callable[[Workspace, OnProgress], View],
        *,
        look: bool = False,
        **given: Any,
    ) -> Response:
        """What a template makes of what ``view`` finds in the engine's thread. ``look``: as for `Asker.ask`. Raises
        what ``view`` raises."""

        def made(workspace: Workspace, progress: OnProgress) -> str:
            return self._templates.get_template(template).render(
                given | view(workspace, progress), here=request.url.path
            )

        return _html(await self._asker.ask(request, made, look=look))

    def _filters_of(self, workspace: Workspace) -> View:
        """What there is to choose from: languages, folders, branches and tags."""
        until, found = self._filters
        if time.monotonic() > until:
            engines = [root.engine for root in workspace.opened.values()]
            every = [opened.status() for opened in engines]
            ready = all(status.indexing_status in ("ready", "indexing") for status in every)
            refs = dict.fromkeys(name for opened in engines for name in engine.ref_names(opened.root))
            found = {
                "files": sum(status.coverage.files for status in every) if ready else 0,
                "all_languages": sorted(_languages(every)),
                "all_folders": _folders(workspace.asked) if ready else [],
                "all_refs": list(refs)[:REFS],
            }
            self._filters = (time.monotonic() + FILTERS_S if ready else 0.0, found)
        return found

    async def _failed(self, request: Request, error: Exception) -> Response:
        if isinstance(error, Cancelled):
            return Response(status_code=GONE)
        status, message, remedy = _told(error)
        live = "hx-request" in request.headers
        template = self._templates.get_template("_failure.html" if live else "failure.html")
        return _html(template.render(status=status, message=message, remedy=remedy, here=request.url.path), status)


def _told(error: Exception) -> tuple[int, str, str]:
    """Status, message and remedy of a failure."""
    if isinstance(error, Refusal):
        return (404 if error.code == "file_not_found" else 400), f"{error.message}.", ""
    if isinstance(error, FindlingError):
        return (404 if error.code in ("not_found", "ref_not_indexed") else 400), error.message, error.remedy
    if isinstance(error, HTTPException):
        return error.status_code, "There is no such page.", ""
    return 500, f"Unexpected {type(error).__name__}.", "The terminal where 'findling ui' runs says more."


def _html(text: str, status: int = 200) -> HTMLResponse:
    return HTMLResponse(text, status, headers={"cache-control": "no-store", "vary": "hx-request"})


def _typed(request: Request, response: Response, address: str) -> Response:
    """An answer to a key press: the address follows. The first of a row is a step to go back to."""
    first = request.headers.get("x-findling-step") == "first"
    response.headers["hx-push-url" if first else "hx-replace-url"] = address
    return response


def _searched(workspace: Workspace, asked: Asked, progress: OnProgress, *, typed: bool) -> View:
    """``typed``: somebody is typing, and gets a glance at each place; the best in full cost half as much again."""
    scope = asked.scope
    query = Query(
        asked.q,
        PLACES,
        language=scope.lang or None,
        path_globs=scope.globs,
        kind=scope.kind_filter,
        explain=True,
        wait_s=TYPED_WAIT_S if typed else WAIT_S,
        bodies="none" if typed else "auto",
        offset=PLACES * (asked.page - 1),
    )
    workspace = _at(workspace, scope.ref)
    result = workspace.asked.ask(query, progress=progress).result
    if result.unfinished:
        workspace.finish_in_background()
    groups = [
        (group, views.places((hit for hit in result.hits if hit.group == group), scope.ref)) for group in result.groups
    ]
    return {
        "result": result,
        "groups": groups or [(None, views.places(result.hits, scope.ref))],
        "verdict": views.verdict(result),
        "more": asked.page * PLACES < result.total,
    }


def _grepped(asked: Engine | Engines, pattern: Pattern, progress: OnProgress) -> View:
    scope = pattern.scope
    found = asked.grep_stream(
        pattern.p,
        limit=GREP_LINES,
        literal=pattern.text,
        ignore_case=pattern.ignore,
        word=pattern.word,
        language=scope.lang or None,
        path_globs=scope.globs,
    )
    files = []
    with found:
        for file in found:
            files.append(views.matches(file, scope.ref, all_lines=pattern.all))
            progress(Progress("answering", len(files), 0))
        totals = found.totals
    return {"files": files, "totals": totals}


def _at(workspace: Workspace, ref: str) -> Workspace:
    """The workspace as a branch, tag or commit has it. Raises `RefNotIndexed`."""
    return workspace.at(ref) if ref else workspace


def _in_folder(asked: Engine | Engines, path: str) -> list[str] | None:
    """What is listed in a folder, folders first and with ``/`` at their end; None where there is no such folder."""
    if asked.coverage().files == 0:
        return None
    files, folders = asked.listed()
    if path not in folders:
        return None
    begins = f"{path}/" if path else ""
    names = {name for file in files if file.startswith(begins) for name in [_first(file.removeprefix(begins))]}
    return sorted(names, key=lambda name: (not name.endswith("/"), name.lower()))


def _languages(statuses: Iterable[Status]) -> Counter[str]:
    """How many files are in each language."""
    found: Counter[str] = Counter()
    for status in statuses:
        found.update(status.languages)
    return found


def _first(path: str) -> str:
    name, slash, _ = path.partition("/")
    return name + slash


def _folders(asked: Engine | Engines) -> list[str]:
    """The folders with the fewest others around them."""
    _, folders = asked.listed()
    return sorted(sorted(filter(None, folders), key=lambda path: (path.count("/"), path))[:FOLDERS])


def _range(lines: str) -> range:
    """``10-32`` or ``10``; nothing for anything else."""
    start, _, end = lines.partition("-")
    numbers = [part for part in (start, end or start) if part.isascii() and part.isdigit() and len(part) < 9]
    return range(int(numbers[0]), int(numbers[1]) + 1) if len(numbers) == 2 else range(0)


def _duration(job: Any) -> str:
    return f"{(job.ended or job.updated) - job.started:.1f} s"
