"""What each command does: arguments -> engine -> view, notes and progress -> exit status.

Must not know how anything is found or printed.
"""

from __future__ import annotations

import json
import os
import sys
from collections.abc import Container, Sequence
from contextlib import ExitStack
from typing import TYPE_CHECKING, Any, Final

from msgspec.structs import replace

from findling import config, contracts, engine, outbound
from findling.faces import http as over_http
from findling.faces import mcp, web
from findling.faces.cli import terminal
from findling.faces.cli.outcome import ERROR, FOUND, NOTHING
from findling.faces.cli.terminal import words
from findling.model.errors import EmbedderUnavailable, FindlingError, InvalidInput, NotFound, RootError
from findling.model.typed_paths import as_path, inside, lies_in, meant, nearest_folder, split_target
from findling.model.types import IndexReport, Query
from findling.search.graph.file_names import VALUES
from findling.search.query import taken_from_text
from findling.search.ranking.priors import path_flags

if TYPE_CHECKING:
    from argparse import Namespace
    from pathlib import Path

    from findling.config.roots import Root
    from findling.contracts.workspaces import Workspace
    from findling.engine import Engine
    from findling.engine.repositories import Repositories
    from findling.engine.runs import VectorReport
    from findling.faces.cli.session import Session
    from findling.model.types import SymbolResult


LEAST_WAIT_S: Final = 0.001

JSON_PLACE_CHARS: Final = 900
"""What the fields of a place take in JSON beside its text, about."""

BODY_CHARS: Final = 24_000
"""How much of the text of definitions is printed: somebody who names several means to read them. It leaves
room for what belongs to them below the 30,000 characters at which the shells of agents cut what a command prints."""

USES, ALL_USES = 20, 1_000
"""Of a name that is no definition, the uses that are shown, and those among which the first are chosen."""


# --- the commands ---------------------------------------------------------------------------------------------


def search(args: Namespace, session: Session) -> int:
    query = _read_stdin() if args.query == "-" else args.query
    # --no-sync forbids indexing; --wait 0 only forbids waiting for it
    wait_s = 0.0 if args.no_sync else args.wait if args.wait is None else max(args.wait, LEAST_WAIT_S)
    with session.asked(args.path) as opened:
        engine = opened.at(args.ref)
        with session.progress() as progress:
            written = Query(
                query,
                args.limit,
                args.mode,
                args.language,
                tuple(args.path_globs),
                args.kind,
                args.max_tokens,
                args.explain,
                wait_s,
                screen_lines=session.screen_lines,
                place_chars=JSON_PLACE_CHARS if args.json else 0,
                offset=(args.page - 1) * args.limit,
            )
            result = engine.ask(taken_from_text(written), progress=progress).result
        how_to_finish = "finish it with 'findling index' or --wait all"
        notes = words.search_notes(result, how_to_finish=how_to_finish, doubted=True)
        found = result.total and not result.is_absent
        return session.show(engine, lambda view: view.search(result, explain=args.explain), notes, found=found)


def symbol(args: Namespace, session: Session) -> int:
    names = list(args.names)
    is_path = len(names) > 1 and os.sep in names[-1] and ":" not in names[-1][2:]  # src/a.py:Name is a name
    args.path = names.pop() if is_path or (len(names) > 1 and os.path.lexists(names[-1])) else None
    if not names:
        raise InvalidInput("No name is given.", remedy="See 'findling symbol --help'.")
    with session.asked(args.path) as opened:
        engine = opened.at(args.ref)
        names = [_from_root(name, opened.root) for name in names]
        with session.progress() as progress:
            results = engine.symbols_of(
                names,
                references=args.refs,
                kind=args.kind,
                language=args.language,
                limit=args.limit,
                body_chars=0 if args.rows else BODY_CHARS,
                progress=progress,
            )
            if not (args.refs or args.rows or args.kind):
                results = [_with_uses(engine, each, args.language, args.limit) for each in results]
        notes = []
        for result in results:
            nothing = f"{result.name}: {words.NOTHING_FOUND}" if len(names) > 1 else words.NOTHING_FOUND
            notes += words.symbol_notes(result, references_asked=args.refs, nothing=nothing)
        found = any(each.definitions or each.references for each in results)
        return session.show(engine, lambda view: view.symbols(results), list(dict.fromkeys(notes)), found=found)


def _with_uses(opened: Engine | Repositories, result: SymbolResult, language: str | None, limit: int) -> SymbolResult:
    """The answer, with at most ``limit`` uses of a name that is no definition or is a field or a constant: those that
    assign to it first, those in tests last."""
    is_definition = any(hit.match == "exact" and hit.kind not in VALUES for hit in result.definitions)
    if is_definition or result.absent or _is_place(result.name):
        return result
    found = opened.symbols(result.name, references=True, language=language, limit=ALL_USES)
    uses = sorted(found.references, key=lambda use: ("test" in path_flags(use.path), not use.writes))
    return replace(
        result,
        references=tuple(uses[: min(USES, limit)]),
        total_references=found.total_references,
        notes=tuple(dict.fromkeys((*result.notes, *found.notes))),
    )


def _from_root(name: str, root: Path) -> str:
    """A name; where it is a typed file and lines of it, with the file's path in the index."""
    file, _, lines = name.rpartition(":")
    return (
        f"{inside(root, file)}:{lines}" if _is_place(name) and os.path.lexists(file) and lies_in(root, file) else name
    )


def _is_place(name: str) -> bool:
    """Whether lines of a file are meant: ``src/a.py:12`` or ``src/a.py:12-30``."""
    file, _, lines = name.rpartition(":")
    return bool(file) and lines.replace("-", "").isdecimal()


def similar(args: Namespace, session: Session) -> int:
    file, line = split_target(args.target)
    if args.ref is None and not os.path.lexists(file):
        raise NotFound(f"There is no file {file!r}.", remedy=_where_it_may_be(file))
    if args.ref is None and os.path.isdir(file):  # noqa: PTH112 - a Path would cost the start
        raise InvalidInput(f"{file!r} is a folder.", remedy="Name a file, or a file and a line.")
    with session.open_with(file) as opened:
        engine = opened.at(args.ref)
        # Absolute, because a relative name could mean a file below the root as well as one below the current folder.
        target = os.fspath(engine.root / inside(engine.root, file)) + line
        with session.progress() as progress:
            result = engine.similar(target, limit=args.limit, explain=args.explain, progress=progress)
        notes = words.search_notes(result, how_to_finish="finish it with 'findling index'")
        return session.show(engine, lambda view: view.search(result, explain=args.explain), notes, found=result.hits)


def _where_it_may_be(file: str) -> str:
    """What to do about a file that is not on disk."""
    from pathlib import Path

    folder = Path(nearest_folder(file))
    if any(config.is_bare(above) for above in (folder, *folder.parents)):
        return engine.NOTHING_CHECKED_OUT
    return meant(file)


def index(args: Namespace, session: Session) -> int:
    with session.every(args.path) as every:
        roots = {opened.root for opened in every.values()}
        failed: dict[str, FindlingError] = {}
        done = engine.of_each(every, lambda opened: _index(args, session, opened, roots), failed)
        session.note_problems(failed)
        return ERROR if failed else min(done.values())


def _index(args: Namespace, session: Session, opened: Engine, roots: Container[Path]) -> int:
    """``roots``: of all that are indexed; their folders are not left out of the one that they lie in."""
    with session.progress() as progress:
        report = opened.index(
            force=args.force,
            embed=not args.no_embed,
            unlisted=True,
            publish=args.collection is not None,  # a name that is configured for questions is none to publish under
            progress=progress,
        )
    report = replace(report, skipped=engine.without_known(report.skipped, opened.root, roots))
    return _report(report, session, opened)


def sync(args: Namespace, session: Session) -> int:
    for name in args.files:
        as_path(name)  # none is empty, which would be the current folder
    if not args.files:
        with session.every(None) as every:
            if args.json and len(every) > 1:
                raise InvalidInput("--json works for one project at a time.", remedy="Run it in the folder of one.")
            failed: dict[str, FindlingError] = {}
            done = engine.of_each(every, lambda opened: _sync(args, session, opened, []), failed)
            session.note_problems(failed)
            return ERROR if failed else min(done.values())
    with ExitStack() as stack:
        engines: dict[Path, Engine] = {}
        by_folder: dict[str, Engine] = {}
        named: dict[Path, list[str]] = {}
        for name in args.files:
            folder = nearest_folder(name)
            if folder not in by_folder:
                opened = stack.enter_context(session.open_with(name))
                by_folder[folder] = engines.setdefault(opened.root, opened)
            named.setdefault(by_folder[folder].root, []).append(name)
        for root, names in named.items():
            # a slip of the pen makes no index in a folder nearby
            if not (engines[root].store_dir.is_dir() or any(map(os.path.lexists, names))):
                raise NotFound(f"There is no file {names[0]!r}.", remedy=meant(names[0]))
        if args.json and len(named) > 1:
            raise InvalidInput("--json works for one project at a time.", remedy="Name files of one.")
        paths = {root: [inside(root, name) for name in names] for root, names in named.items()}
        return max(_sync(args, session, engines[root], paths[root]) for root in named)


def _sync(args: Namespace, session: Session, opened: Engine, paths: Sequence[str]) -> int:
    with session.progress() as progress:
        report = opened.sync(paths or None, unlisted=True, progress=progress)
    return _report(report, session, opened, named=paths)


def _report(report: IndexReport, session: Session, engine: Engine, *, named: Sequence[str] = ()) -> int:
    """Print what a run did. The exit status: with ``named`` paths whether all are indexed, else whether any file is."""
    # as the report writes names that are not Unicode
    told = {os.fsencode(name).decode("utf-8", "backslashreplace") for name in named}
    notes = words.report_notes(report, named=told, shown=session.places(engine).shown)
    all_well = not words.not_taken_in(report, told) if named else report.files > 0
    return session.show(engine, lambda view: view.report(report), notes, found=all_well)


def status(args: Namespace, session: Session) -> int:
    with session.every(args.path) as every:
        roots = {opened.root for opened in every.values()}
        found = []
        for opened in every.values():
            status = engine.status_of(opened, roots)
            with session.printing():
                session.view(opened).status(status, skipped=args.skipped)
            found.append(status.indexing_status not in ("not_indexed", "failed"))
        return FOUND if all(found) else NOTHING


def stop(args: Namespace, session: Session) -> int:
    with session.asked(args.path, file_alone=False) as asked:
        every = asked.engines.values() if isinstance(asked, engine.Repositories) else [asked]
        stopped = sum(opened.stop_jobs() for opened in every)
        rows = [("ended", words.stopped(stopped))]
        return session.show(asked, lambda view: view.records([rows], {"ended": stopped}), found=stopped)


def why(args: Namespace, session: Session) -> int:
    with ExitStack() as open_engines:
        opened = open_engines.enter_context(session.open_for(args.file)).at(args.ref)
        # Absolute, because a relative name could mean a file below the root as well as one below the current folder.
        path = os.path.abspath(as_path(args.file) or "")  # noqa: PTH100
        several = engine.repositories_of(opened) if path == str(opened.root) else None
        found = opened.why(path) if several is None else open_engines.enter_context(several).why(".")
        if found.reason == "not_found" and args.ref is None:
            found = replace(found, remedy=meant(args.file))
        return session.show(opened, lambda view: view.explanation(found), found.notes, found=found.indexed)


def configuration(args: Namespace, session: Session) -> int:
    found = configured_root(as_path(args.path), as_path(args.root))
    loaded = config.load(found.root, flags=dict(args.settings), environ=os.environ)
    return session.show(found, lambda view: view.config(loaded), loaded.warnings)


def configured_root(path: Path | None, root: Path | None) -> Root:
    """The root as a search finds it; also of a folder that no search would index, such as the home folder."""
    from pathlib import Path

    try:
        return config.find_root(path, root=root)
    except RootError:
        folder = path or Path()
        if root is not None or not os.path.isdir(folder):  # noqa: PTH112 - whatever it is called
            raise
        return config.find_root(None, root=folder)


def serve(args: Namespace, session: Session) -> int:
    only_http = {
        "--token-file": args.token_file,
        "--allow-host": args.allow_host,
        "--allow-origin": args.allow_origin,
        "--users": args.users,
        "--user-header": args.user_header,
        "--proxy": args.proxy,
        "--metrics": args.metrics,
    }
    for option, value in only_http.items():
        if value and args.http is None:
            raise InvalidInput(
                f"{option} is for --http.", remedy="Without --http only the client that started the server can ask."
            )
    http = None
    if args.http is not None:
        http = over_http.read_options(
            args.http,
            hosts=args.allow_host,
            origins=args.allow_origin,
            token_file=as_path(args.token_file),
            users=args.users,
            user_header=args.user_header,
            proxies=args.proxy,
            metrics=args.metrics,
        )
    mcp.serve(
        as_path(args.path),
        roots=[root for root in map(as_path, args.root) if root is not None],
        tools=args.tools,
        cache=args.cache,
        allow_delete=args.allow_delete,
        http=http,
    )
    return FOUND


def ui(args: Namespace, session: Session) -> int:
    web.serve(
        as_path(args.path), root=as_path(args.root), cache=args.cache, port=args.port, open_browser=not args.no_open
    )
    return FOUND


def _read_stdin() -> str:
    try:
        return sys.stdin.read()
    except OSError as error:
        raise InvalidInput(f"stdin cannot be read: {error.strerror or error}.") from error


def tool(args: Namespace, session: Session) -> int:
    import json

    text = _read_stdin() if args.arguments == "-" else args.arguments
    try:
        arguments = json.loads(text) if text is not None else {}
    except ValueError as error:
        problem = str(error).partition(";")[0]  # of a number with too many digits the rest is advice to programmers
        raise InvalidInput(
            f"The arguments of {args.name} are not JSON: {problem}.",
            remedy="Write an object, such as '{\"limit\": 3}'.",
        ) from error
    roots = [root for root in map(as_path, args.root) if root is not None]
    with contracts.Workspace(as_path(args.path), roots=roots, cache=args.cache) as workspace:
        _log_as_configured(workspace)
        with session.progress() as progress:
            result = contracts.call(args.name, arguments, workspace, progress=progress)
        terminal.write_json(sys.stdout, result.as_json())
        sys.stdout.flush()
        workspace.finish()
    return ERROR if result.is_error else FOUND


def _log_as_configured(workspace: Workspace) -> None:
    """Log as the root is configured. An error in the root or its configuration is left to the call to report."""
    try:
        outbound.to_stderr(workspace.config.log.level)
    except FindlingError:
        outbound.to_stderr()


# --- vectors, and what is written for other programs -----------------------------------------------------------------


_NO_VECTORS: Final = "there are no vectors; 'findling embed' computes them"


def embed(args: Namespace, session: Session) -> int:
    """Compute the missing vectors. Having no embedder is reported, but is not a failure."""
    with session.open(args.path) as engine:
        rows: list[tuple[str, str]] = [("root", str(engine.root))]
        try:
            with session.progress() as progress:
                report = engine.embed(force=args.force, progress=progress)
        except EmbedderUnavailable as error:
            rows.append(("embedded", "nothing: no embedding model works"))
            problem = str(error)
            value: dict[str, Any] = {"available": False, "embedded": 0, "problem": problem}
            return session.show(engine, lambda view: view.records([rows], value), [problem])
        model = engine.status().model
        rows += [("model", model), ("embedded", _line(report))]
        value = {
            "available": report.problem is None,
            "model": model,
            "embedded": report.chunks,
            "files": len(report.embedded),
            "unchanged": len(report.skipped),
            "failed": [{"path": file.path, "error": file.detail} for file in report.failed],
        }
        if report.notes:
            value["notes"] = list(report.notes)
        if report.problem is not None:
            value["problem"] = str(report.problem)
        notes = [*report.notes, *(f"{file.path}: {file.detail}" for file in report.failed)]
        notes += [str(report.problem)] if report.problem else []
        return session.show(engine, lambda view: view.records([rows], value), notes)


def _line(report: VectorReport) -> str:
    line = f"{words.count(report.chunks, 'chunk')} of {words.count(len(report.embedded), 'file')}"
    if report.skipped:
        line += f", {words.count(len(report.skipped), 'file')} unchanged"
    if report.failed:
        line += f", {words.count(len(report.failed), 'file')} only in part"
    return line


def export(args: Namespace, session: Session) -> int:
    """The documented tables as a SQLite database, of the folder as it is now, or as it was published last."""
    with session.open(args.path) as engine:
        notes = [] if engine.shared_store else list(engine.sync().notes)
        found = engine.export(args.sqlite)
        value = {"file": args.sqlite, "embeddings": found.embeddings, "documents": found.documents}
        rows = [
            ("file", args.sqlite),
            ("embeddings", words.count(found.embeddings, "passage")),
            ("doc_embeddings", words.count(found.documents, "passage")),
        ]
        if found.repeated:
            notes.append(f"{words.count(found.repeated, 'passage')} left out, as other rows have the same lines")
        notes += [
            f"{path} has changed since it was indexed, and is left out of doc_embeddings" for path in found.changed
        ]
        if not found.embeddings:
            notes.append(_NO_VECTORS)
        return session.show(engine, lambda view: view.records([rows], value), notes, found=found.embeddings)


def export_vectors(args: Namespace, session: Session) -> int:
    """Every vector as a line of JSON on stdout."""
    with session.open(args.path) as engine:
        written = 0
        for row in engine.vectors(args.model):
            sys.stdout.write(json.dumps(row, ensure_ascii=False) + "\n")
            written += 1
        sys.stdout.flush()
        if not written:
            session.notes([_NO_VECTORS])
        return FOUND if written else NOTHING
