"""The Python API: one root, one store, everything that can be asked of it. Wires the parts, decides nothing.

An `Engine` is for one thread. It keeps itself fresh: each question first looks at the disk within a bounded time,
takes in what changed when that is quick, and says so when it is not.
"""

from __future__ import annotations

import os
import time
from collections.abc import Callable, Mapping, Sequence
from functools import wraps
from pathlib import Path
from typing import TYPE_CHECKING, Concatenate, ParamSpec, TypeVar

from findling import errors, roots
from findling.types import (
    Coverage,
    Freshness,
    GrepResult,
    IndexingStatus,
    IndexReport,
    Progress,
    Query,
    SearchResult,
    SkippedFile,
    Status,
    SymbolResult,
)

if TYPE_CHECKING:
    from findling.embedding import Embedder
    from findling.ingest.discovery import Changes, DiscoveryOptions
    from findling.search.exact import Grep, GrepRequest
    from findling.search.indexed_files import IndexedFiles
    from findling.search.searcher import Found, Searcher
    from findling.search.semantic import SemanticChannel
    from findling.store.reader import FileRow, IndexReader

CHECK_S = 0.05
"""Time for looking at the disk before a question in a large tree; smaller ones are always looked at whole."""

SMALL_TREE = 8_000
SMALL_CHECK_S = 0.5

SYNC_S = 1.0
"""Changes that are taken in before a question is answered must fit this."""

SYNC_FILES = 300
"""More changes than this are taken in by a run over the whole folder, which the next question continues."""

GREP_LINES = 10_000
"""Lines that `Engine.grep` holds unless told otherwise: some ten megabytes. `Engine.grep_stream` has no need of it."""

CONFIG_FILES = ("findling.toml", ".findling/config.toml", ".findling/config.json", ".repo_search/config.json")
"""Of a project (`findling.config.files`)."""

LINES_BYTES = 4_000_000
"""Text of files shown lately that is kept, so that asking on does not read them again."""

OnProgress = Callable[[Progress], None]

_Arguments = ParamSpec("_Arguments")
_Result = TypeVar("_Result")


def _rebuilds(
    method: Callable[Concatenate[Engine, _Arguments], _Result],
) -> Callable[Concatenate[Engine, _Arguments], _Result]:
    """When a method comes upon damage in the index, the index is removed, with a note, and the method called again."""

    @wraps(method)
    def called(self: Engine, /, *args: _Arguments.args, **options: _Arguments.kwargs) -> _Result:
        try:
            return method(self, *args, **options)
        except errors.IndexUnavailable as error:
            from findling.store.schema import IndexDamaged

            if not isinstance(error, IndexDamaged):
                raise
            reader = self._reader
            self._start_over(error.message, unless=lambda: reader is not None and reader.replaced)
        return method(self, *args, **options)

    return called


class Engine:
    """Search over one folder. Use `Engine.open`, and as a context manager."""

    def __init__(self, root: Path, scope: str, store_dir: Path, *, cache: bool = False) -> None:
        self.root = root
        self.scope = scope
        self.store_dir = store_dir
        self._cache = cache
        self._notes: list[str] = []
        self._reader: IndexReader | None = None
        self._searcher: Searcher | None = None
        self._semantic: SemanticChannel | None = None
        self._embedder: Embedder | None = None
        self._embedder_problem = ""
        self._read_stale: set[str] = set()
        self._wanted: DiscoveryOptions | None = None
        self._lines: dict[str, tuple[tuple[int, int], list[str]]] = {}

    @classmethod
    def open(cls, path: Path | str | None = None, *, root: Path | None = None, cache: bool = False) -> Engine:
        """The engine for the root that ``path`` (default: the working directory) belongs to.

        ``root`` is taken literally; ``cache`` keeps the index in the user's cache folder. Raises `RootError`.
        """
        found = roots.find_root(Path(path) if path is not None else None, root=root)
        location = roots.store_location(found.root, cache=cache, create=False)
        return cls(found.root, found.scope, location.directory, cache=cache)

    def close(self) -> None:
        if self._reader is not None:
            self._reader.close()
            self._reader = None
        self._searcher = self._semantic = None

    def __enter__(self) -> Engine:
        return self

    def __exit__(self, *_: object) -> None:
        self.close()

    # --- indexing -------------------------------------------------------------------------------------------

    @_rebuilds
    def index(self, *, force: bool = False, embed: bool = True, progress: OnProgress | None = None) -> IndexReport:
        """Bring the whole index up to date, vectors included. ``force`` builds it anew from the files."""
        if force and self.store_dir.is_dir():
            from findling.store import soundness

            self.close()
            soundness.remove(self.store_dir, wait_s=_WRITER_WAIT_S)
        return self._noted(self._run(paths=None, embed=embed, progress=progress, wait_s=_WRITER_WAIT_S))

    @_rebuilds
    def sync(self, paths: Sequence[str] | None = None, *, progress: OnProgress | None = None) -> IndexReport:
        """Take in changes: of the whole root, or of the named files (relative to the root, or absolute)."""
        relative = None if paths is None else [self._relative(path) for path in paths]
        return self._noted(self._run(paths=relative, embed=True, progress=progress, wait_s=_WRITER_WAIT_S))

    def _noted(self, report: IndexReport) -> IndexReport:
        from dataclasses import replace

        problem = (self._embedder_problem,) if self._embedder_problem else ()
        return replace(report, notes=(*self._take_notes(), *report.notes, *problem))

    def _run(
        self,
        *,
        paths: Sequence[str] | None,
        embed: bool,
        progress: OnProgress | None,
        wait_s: float,
        deadline: float | None = None,
        first: str | None = None,
        unlisted: Sequence[SkippedFile] | None = None,
    ) -> IndexReport:
        from dataclasses import replace

        from findling.ingest.indexer import Indexer, by_query

        self._repair()
        indexer = Indexer(self.root, self.store_dir, options=self._options(), on_progress=progress)
        order = by_query(first) if first else None
        report = indexer.sync(paths=paths, deadline=deadline, order=order, wait_s=wait_s, unlisted=unlisted)
        embedded = 0
        if embed and (deadline is None or time.monotonic() < deadline):
            files_only = paths is not None and all((self.root / path).is_file() for path in paths)
            embedded = self._embed(progress, wait_s, deadline, paths if files_only else None)
        return replace(report, embedded=embedded)

    def _embed(
        self, progress: OnProgress | None, wait_s: float, deadline: float | None, paths: Sequence[str] | None = None
    ) -> int:
        embedder = self._open_embedder()
        if embedder is None:
            return 0
        from findling.ingest.embedding_pass import embed
        from findling.store.dense import DenseIndex
        from findling.store.writer import IndexWriter

        reader = self._open_reader()
        with reader.snapshot():
            model_id = reader.model_id(embedder.fingerprint.id)
            if paths is None and model_id is not None and not reader.count_unembedded(model_id):
                return 0
        writer = IndexWriter(self.store_dir, wait_s=wait_s)
        try:
            done = embed(
                writer,
                reader,
                self.root,
                embedder,
                max_bytes=self._options().max_bytes,
                paths=paths,
                deadline=deadline,
                on_progress=progress or (lambda _: None),
            )
            with reader.snapshot():
                found = reader.model_id(embedder.fingerprint.id)
                if found is not None:
                    DenseIndex(reader, found, embedder.fingerprint.dimensions).save()
        finally:
            writer.close()
        return done

    def _options(self) -> DiscoveryOptions:
        """Which files are wanted: the configuration's word, where there is a configuration."""
        if self._wanted is None:
            from findling.ingest.discovery import DiscoveryOptions

            self._wanted = DiscoveryOptions()
            if self._is_configured():
                from findling.config import load

                loaded = load(self.root)
                index = loaded.config.index
                self._wanted = DiscoveryOptions(index.hidden, index.max_file_bytes, index.include, index.exclude)
                self._notes += loaded.warnings
        return self._wanted

    def _is_configured(self) -> bool:
        """Whether any configuration file exists; without one the defaults hold, and nothing need be imported."""
        if os.environ.get("FINDLING_CONFIG"):
            return True
        base = os.environ.get("XDG_CONFIG_HOME") or os.path.join(os.path.expanduser("~"), ".config")  # noqa: PTH111, PTH118
        users = [Path(base) / "findling" / name for name in ("config.toml", "config.json")]
        return any(path.exists() for path in (*(self.root / name for name in CONFIG_FILES), *users))

    def _repair(self) -> None:
        """Make sure that the store can be written: a damaged one is removed, with a note, and built anew."""
        from findling.store import soundness

        if self._reader is not None and self._reader.replaced:
            self.close()
        if not self.store_dir.exists():
            if not self.root.is_dir():
                raise errors.RootError(f"There is no folder {str(self.root)!r} any more.", remedy="Check the path.")
            self.store_dir = roots.store_location(self.root, cache=self._cache).directory
        if problem := soundness.problem(self.store_dir):
            self._start_over(problem, unless=lambda: not soundness.problem(self.store_dir))

    def _start_over(self, problem: str, unless: Callable[[], bool]) -> None:
        """Remove a damaged store, with a note, unless another process has built it anew meanwhile."""
        from findling.store import soundness

        self.close()
        self._notes.append(f"{problem} It is built anew.")
        soundness.remove(self.store_dir, wait_s=_WRITER_WAIT_S, unless=unless)

    def _relative(self, path: str) -> str:
        absolute = Path(os.path.abspath(path)) if os.path.isabs(path) else self.root / path  # noqa: PTH100, PTH117
        normal = Path(os.path.normpath(absolute))
        try:
            return normal.relative_to(self.root).as_posix()
        except ValueError:
            try:
                return normal.resolve().relative_to(self.root.resolve()).as_posix()
            except ValueError as error:
                raise errors.InvalidInput(
                    f"{path} is not inside {self.root}.", remedy="Name files of the indexed folder."
                ) from error

    # --- freshness ------------------------------------------------------------------------------------------

    def _freshen(
        self, wait_s: float | None, progress: OnProgress | None, query: str, *, embed: bool = True
    ) -> tuple[Freshness, str]:
        """Index what is new if that is quick; the freshness of what will be searched, and why it is not fresh."""
        self._ready()
        reader = self._open_reader()
        started = time.monotonic()
        if wait_s == 0:
            return "stale", "not_checked"
        with reader.snapshot():
            manifest = reader.manifest
            known = reader.known_files() if manifest and manifest.complete else {}
        if manifest is None or not manifest.complete:
            deadline = None if wait_s is None else started + wait_s
            return self._first_run(deadline, progress, query)
        from findling.ingest import discovery

        budget = SMALL_CHECK_S if len(known) <= SMALL_TREE else CHECK_S
        changes = discovery.check(self.root, known, self._options(), budget)
        changed = self._changed(changes, known)
        unlisted = changes.skipped if changes.complete else None
        with reader.snapshot():
            left_out = reader.unlisted()
        same = unlisted is None or {(file.path, file.reason) for file in unlisted} == left_out
        if not changed and same:
            if not changes.complete:
                return "stale", "not_checked"
            if embed:
                self._fill_in_vectors(progress, None if wait_s is None else started + SYNC_S)
            return "fresh", ""
        many = len(changed) > SYNC_FILES  # then what is left over must be remembered, as after a first run
        try:
            report = self._run(
                paths=None if many else changed,
                embed=embed,
                progress=progress,
                wait_s=_WRITER_WAIT_S if wait_s is None else 0.0,
                deadline=None if wait_s is None else started + SYNC_S,
                unlisted=unlisted,
            )
        except errors.IndexBusy:
            return "syncing", "another process is indexing"
        if report.complete and changes.complete:
            return "fresh", ""
        return "stale", "not_checked" if report.complete else f"{len(changed)} files changed"

    def _fill_in_vectors(self, progress: OnProgress | None, deadline: float | None) -> None:
        """Embed what an earlier question took in that needed no vectors, unless another process writes just now."""
        embedder, reader = self._open_embedder(), self._open_reader()
        if embedder is None:
            return
        with reader.snapshot():
            model_id, manifest = reader.model_id(embedder.fingerprint.id), reader.manifest
            if manifest is None or (model_id is not None and reader.embedded_chunks(model_id) >= manifest.chunks):
                return
        try:
            self._embed(progress, 0.0, deadline)
        except errors.IndexBusy:
            return  # the answer's coverage says how many chunks have vectors

    def _changed(self, changes: Changes, known: Mapping[str, tuple[int, int]]) -> list[str]:
        """The paths to look at: what could not be read last time only when it can be now."""
        from findling.store.schema import FAILED, UNREAD

        listed = [
            path
            for path, _, _ in (*changes.added, *changes.changed)
            if (mtime_ns := known.get(path, (0, 0))[1]) != FAILED
            and (mtime_ns != UNREAD or os.access(self.root / path, os.R_OK))
        ]
        return [*listed, *changes.removed]

    def _first_run(self, deadline: float | None, progress: OnProgress | None, query: str) -> tuple[Freshness, str]:
        try:
            report = self._run(
                paths=None,
                embed=True,
                progress=progress,
                wait_s=_WRITER_WAIT_S if deadline is None else 0.0,
                deadline=deadline,
                first=query or None,
            )
        except errors.IndexBusy:
            return "syncing", "another process is indexing"
        return ("fresh", "") if report.complete else ("stale", "not all files are indexed yet")

    # --- questions ------------------------------------------------------------------------------------------

    @_rebuilds
    def search(
        self,
        text: str,
        *,
        limit: int = 10,
        mode: str = "auto",
        language: str | None = None,
        path_globs: Sequence[str] = (),
        kind: str | None = None,
        max_tokens: int | None = None,
        explain: bool = False,
        wait_s: float | None = 1.5,
        progress: OnProgress | None = None,
    ) -> SearchResult:
        """The places that answer ``text``, best first. Raises `InvalidInput` and the index's errors.

        ``wait_s`` bounds the indexing that may go before: 0 answers at once from what is there, None waits for all.
        """
        from findling.search.answer import make_result
        from findling.search.query import validate

        query = validate(
            text,
            limit=limit,
            mode=mode,
            language=self._language(language),
            path_globs=path_globs,
            kind=kind,
            max_tokens=max_tokens,
            explain=explain,
        )
        started = time.monotonic()
        freshness, why = self._freshen(wait_s, progress, text, embed=mode not in ("keyword", "symbol", "exact"))
        found = self._find(query)
        return make_result(
            query, found, self._coverage(), freshness, why, self._take_notes(), started, self._read_stale
        )

    def _language(self, name: str | None) -> str | None:
        """The id of a language by its id, name or alias. Raises `InvalidInput`."""
        if name is None:
            return None
        from difflib import get_close_matches

        from findling.ingest.languages import LANGUAGES, find_language

        found = find_language(name)
        if found is None:
            near = get_close_matches(name.lower(), LANGUAGES, 3)
            raise errors.InvalidInput(
                f"No language is called {name!r}.",
                remedy=f"Did you mean {' or '.join(near)}?" if near else "`findling status` lists those here.",
            )
        return found.id

    def _find(self, query: Query) -> Found:
        self._read_stale.clear()
        return self._open_searcher().search(query, scope_path=self.scope)

    @_rebuilds
    def similar(
        self, target: str, *, limit: int = 10, wait_s: float | None = 1.5, progress: OnProgress | None = None
    ) -> SearchResult:
        """What is like a file, or like the place at ``FILE:LINE``. Raises `NotFound` when it is not indexed."""
        from findling.search.answer import make_result
        from findling.search.query import split_target, validate

        started = time.monotonic()
        query = validate(target, limit=limit, mode="semantic")
        freshness, why = self._freshen(wait_s, progress, "")
        path, line = split_target(target)
        reader = self._open_reader()
        with reader.snapshot():
            file = self._file_at(reader, path) or (self._file_at(reader, target) if line is not None else None)
        if file is None:
            raise errors.NotFound(
                f"{path} is not in the index of {self.root}.",
                remedy="Name an indexed file; `findling status --skipped` says why one may be left out.",
            )
        searcher = self._open_searcher()
        self._read_stale.clear()
        found = searcher.similar(file, line=line, query=query, scope_path="")
        if not found.hits and self._embedder_problem:
            raise errors.EmbedderUnavailable(self._embedder_problem)
        return make_result(
            query, found, self._coverage(), freshness, why, self._take_notes(), started, self._read_stale
        )

    def _file_at(self, reader: IndexReader, path: str) -> FileRow | None:
        """A file by its path from the working directory, or else from the root."""
        for base in (Path.cwd(), self.root):
            try:
                file = reader.file_at(self._relative(os.fspath(base / path)))
            except errors.InvalidInput:
                continue
            if file is not None:
                return file
        return None

    @_rebuilds
    def grep(
        self,
        pattern: str,
        *,
        literal: bool = False,
        ignore_case: bool = False,
        word: bool = False,
        context: int = 0,
        limit: int = GREP_LINES,
        path_globs: Sequence[str] = (),
        language: str | None = None,
        wait_s: float | None = None,
        progress: OnProgress | None = None,
    ) -> GrepResult:
        """Every occurrence of an expression, with exact counts. ``limit`` bounds the lines returned (0: all).

        Raises `InvalidPattern` with the position of what is wrong.
        """
        from findling.search.exact import GrepRequest, Scope

        request = GrepRequest(
            pattern,
            literal=literal,
            ignore_case=ignore_case,
            word=word,
            scope=Scope(language=self._language(language), path_globs=tuple(path_globs)),
            context=context,
            limit=limit,
        )
        return self._grep(request, wait_s, progress).collect()

    @_rebuilds
    def grep_stream(
        self,
        pattern: str,
        *,
        literal: bool = False,
        ignore_case: bool = False,
        word: bool = False,
        context: int = 0,
        limit: int = 0,
        path_globs: Sequence[str] = (),
        language: str | None = None,
        keep_lines: bool = True,
        wait_s: float | None = None,
        progress: OnProgress | None = None,
    ) -> Grep:
        """As `grep`, file by file: iterate over the answer, then ask for its ``totals``.

        Without ``keep_lines`` each file comes with its count alone, and ``limit`` is of files.
        """
        from findling.search.exact import GrepRequest, Scope

        request = GrepRequest(
            pattern,
            literal=literal,
            ignore_case=ignore_case,
            word=word,
            scope=Scope(language=self._language(language), path_globs=tuple(path_globs)),
            context=context,
            limit=limit,
            keep_lines=keep_lines,
        )
        return self._grep(request, wait_s, progress)

    def _grep(self, request: GrepRequest, wait_s: float | None, progress: OnProgress | None) -> Grep:
        from findling.search.exact import Grep

        freshness, why = self._freshen(wait_s, progress, "", embed=False)
        reader = self._open_reader()
        with reader.snapshot():
            found = Grep(
                self._indexed_files(self.scope),
                request,
                freshness=freshness,
                left_out=self._left_out(request.scope.path_globs),
                notes_before=self._take_notes(),
                notes_after=(f"The index is not fresh: {why}.",) if why else (),
            )
            found.list_candidates()
        return found

    def _left_out(self, path_globs: Sequence[str]) -> tuple[SkippedFile, ...]:
        """The files in the asked folder and globs that are not indexed, and why. Within the reader's snapshot."""
        from findling.search.scope import glob_matcher

        matches, folder = glob_matcher(path_globs), self.scope
        return tuple(
            SkippedFile(path, reason, detail)
            for path, reason, detail in self._open_reader().skipped()
            if (not folder or path == folder or path.startswith(f"{folder}/")) and matches(path.rstrip("/"))
        )

    def in_scope(
        self, *, path_globs: Sequence[str] = (), language: str | None = None, kind: str | None = None
    ) -> tuple[int, tuple[SkippedFile, ...]]:
        """How many indexed files a question with these filters may look at, and which in its folder are left out."""
        from findling.search.scope import glob_matcher

        reader, matches, language = self._open_reader(), glob_matcher(path_globs), self._language(language)
        folder = self.scope
        with reader.snapshot():
            files = sum(
                (not folder or file.path == folder or file.path.startswith(f"{folder}/"))
                and (language is None or file.language == language)
                and (kind is None or (file.kind == "docs") == (kind == "docs"))
                and matches(file.path)
                for file in reader.all_files()
            )
            left_out = self._left_out(path_globs)
        if not files and not left_out and folder:
            from findling.ingest import discovery

            left_out = tuple(discovery.look_at(self.root, [folder], None, self._options()).skipped)
        return files, left_out

    @_rebuilds
    def symbols(
        self,
        name: str,
        *,
        references: bool = False,
        kind: str | None = None,
        language: str | None = None,
        limit: int = 50,
        wait_s: float | None = 1.5,
        progress: OnProgress | None = None,
    ) -> SymbolResult:
        """Definitions of a name: exact spelling, then names that begin with it, then names that contain it.

        With ``references`` also its uses in code. Raises `InvalidInput`.
        """
        from findling.search import names

        started = time.monotonic()
        freshness, _ = self._freshen(wait_s, progress, name, embed=False)
        reader = self._open_reader()
        with reader.snapshot():
            found, total = names.definitions(
                reader,
                name,
                kind=kind,
                language=self._language(language),
                folder=self.scope,
                limit=limit,
                read_lines=self._read_lines,
            )
            uses = names.References((), 0, False)
            if references:
                from findling.ingest.syntax import references as find

                source = self._indexed_files(self.scope)
                uses = names.references(source, name, find, language=self._language(language), limit=limit)
            pending = reader.manifest.pending if reader.manifest else 0
        return SymbolResult(
            name=name,
            definitions=tuple(found),
            references=uses.found,
            total_definitions=total,
            total_references=uses.total,
            truncated=total > len(found) or uses.total > len(uses.found) or uses.cut,
            freshness=freshness,
            completeness="partial" if pending else "complete",
            took_ms=(time.monotonic() - started) * 1000,
            notes=self._take_notes(),
        )

    def status(self) -> Status:
        """The state of the index, looked at without changing it."""
        from findling.store.schema import DATABASE

        if not (self.store_dir / DATABASE).exists():
            return self._no_status("not_indexed", ())
        try:
            if self._reader is not None and self._reader.replaced:
                self.close()
            return self._read_status()
        except errors.IndexUnavailable as error:
            return self._no_status("failed", [str(error)])

    def _read_status(self) -> Status:
        from findling.store import schema

        notes: list[str] = []
        reader = self._open_reader()
        embedder = self._open_embedder()
        with reader.snapshot():
            manifest = reader.manifest
            if manifest is None:
                return self._no_status("not_indexed", notes)
            model_id = reader.model_id(embedder.fingerprint.id) if embedder else None
            totals = reader.totals()
            embedded = reader.embedded_chunks(model_id)
            known = reader.known_files()
            left_out = tuple(SkippedFile(*row) for row in reader.skipped())
            languages = reader.languages()
            coverage = Coverage(
                files=manifest.files,
                chunks=manifest.chunks,
                embedded_chunks=embedded,
                pending_files=manifest.pending,
                skipped=reader.skipped_counts(),
                complete=manifest.complete,
            )
        from findling.ingest import discovery

        changes = discovery.check(self.root, known, self._options(), None)
        changed = len(self._changed(changes, known))
        if changed:
            notes.append(
                f"{changed} files changed since the index was brought up to date; the next search takes them in."
            )
        return Status(
            root=str(self.root),
            store=str(self.store_dir),
            indexing_status="ready" if manifest.complete else "indexing",
            freshness="stale" if changed or not manifest.complete else "fresh",
            schema_version=schema.FORMAT_VERSION,
            coverage=coverage,
            symbols=totals["symbols"],
            languages=languages,
            model=embedder.fingerprint.id if embedder else "",
            bytes_indexed=int(totals["bytes"]),
            bytes_on_disk=reader.bytes_on_disk(),
            last_indexed_at=manifest.synced_at,
            skipped=left_out,
            notes=(*notes, *([self._embedder_problem] if self._embedder_problem else ())),
        )

    def _no_status(self, state: IndexingStatus, notes: Sequence[str]) -> Status:
        from findling.store.schema import FORMAT_VERSION

        return Status(
            root=str(self.root),
            store=str(self.store_dir),
            indexing_status=state,
            freshness="stale",
            schema_version=FORMAT_VERSION,
            coverage=Coverage(),
            symbols=0,
            languages={},
            model="",
            bytes_indexed=0,
            bytes_on_disk=0,
            last_indexed_at="",
            notes=tuple(notes),
        )

    def _indexed_files(self, folder: str) -> IndexedFiles:
        from findling.search.indexed_files import IndexedFiles

        return IndexedFiles(self._open_reader(), self.root, folder, max_bytes=self._options().max_bytes)

    # --- parts ----------------------------------------------------------------------------------------------

    def _ready(self) -> None:
        if self._reader is None or self._reader.replaced:
            self._repair()

    def _open_reader(self) -> IndexReader:
        if self._reader is None:
            from findling.store.reader import IndexReader

            self._reader = IndexReader(self.store_dir, str(self.root))
        return self._reader

    def _open_searcher(self) -> Searcher:
        if self._searcher is None:
            from findling.search.searcher import Searcher

            self._searcher = Searcher(
                self._open_reader(),
                self._read_lines,
                own_name=self.root.name,
                semantic=self._open_semantic,
                exact_files=lambda: self._indexed_files(""),
            )
        return self._searcher

    def _open_embedder(self) -> Embedder | None:
        if self._embedder is None and not self._embedder_problem:
            from findling.embedding import open_embedder

            try:
                self._embedder = open_embedder(verify=False)
            except errors.EmbedderUnavailable as error:
                self._embedder_problem = str(error)
        return self._embedder

    def _open_semantic(self) -> SemanticChannel | None:
        if self._semantic is None:
            embedder = self._open_embedder()
            reader = self._open_reader()
            model_id = reader.model_id(embedder.fingerprint.id) if embedder else None
            if embedder is None or model_id is None:
                return None
            from findling.search.semantic import SemanticChannel

            self._semantic = SemanticChannel(reader, embedder, model_id)
        return self._semantic

    def _read_lines(self, file: FileRow) -> Sequence[str] | None:
        """A file's lines as they are now; notes when that is not what was indexed."""
        from findling.files import NotRead, RootFiles
        from findling.ingest.decoding import Decoded, decode
        from findling.ingest.reading import read_file

        state = self._open_reader().state_of(file.path)
        known = self._lines.get(file.path)
        with RootFiles(self.root) as files:
            if known is not None and known[0] == state:
                status = files.status(file.path)
                if not isinstance(status, NotRead) and state == (status.st_size, status.st_mtime_ns):
                    return known[1]
            read = read_file(files, file.path, self._options().max_bytes)
        if isinstance(read, SkippedFile):
            self._read_stale.add(file.path)
            return None
        now = (read[0].size, read[0].mtime_ns)
        # One nanosecond apart: how a file is remembered that was read too soon after it was written.
        if state is None or now[0] != state[0] or abs(now[1] - state[1]) > 1:
            self._read_stale.add(file.path)
        decoded = decode(read[1])
        if not isinstance(decoded, Decoded):
            return None
        lines = decoded.text.split("\n")
        self._remember_lines(file.path, now, lines)
        return lines

    def _remember_lines(self, path: str, state: tuple[int, int], lines: list[str]) -> None:
        if state[0] > LINES_BYTES // 8:
            return
        self._lines.pop(path, None)
        self._lines[path] = (state, lines)
        while sum(size for (size, _), _ in self._lines.values()) > LINES_BYTES:
            del self._lines[next(iter(self._lines))]

    def _coverage(self) -> Coverage:
        reader = self._open_reader()
        with reader.snapshot():
            manifest = reader.manifest
            if manifest is None:
                return Coverage()
            # a text search opens no embedder: what there is of the last one's vectors is what there is
            model_id = reader.model_id(self._embedder.fingerprint.id) if self._embedder else reader.latest_model()
            return Coverage(
                files=manifest.files,
                chunks=manifest.chunks,
                embedded_chunks=reader.embedded_chunks(model_id),
                pending_files=manifest.pending,
                skipped=reader.skipped_counts(),
                complete=manifest.complete,
            )

    def _take_notes(self) -> tuple[str, ...]:
        notes = tuple(self._notes)
        self._notes.clear()
        return notes


_WRITER_WAIT_S = 30.0
"""How long a command that was asked to index waits for another process that does."""
