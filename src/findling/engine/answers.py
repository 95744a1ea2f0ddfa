"""Answering from the store as it is: the parts of the search put together, once freshness has been settled.

Must not write, and not decide when to.
"""

from __future__ import annotations

import time
from collections import Counter
from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING

from findling import reading, search
from findling.config import roots
from findling.engine import scope as scopes
from findling.engine.refs import RefStore
from findling.engine.scope import NOTHING_CHECKED_OUT
from findling.engine.shown import ShownText
from findling.engine.state import coverage, never_indexed
from findling.engine.store import OpenStore
from findling.model import errors, types
from findling.model.plurals import count
from findling.model.types import Answer, Coverage, Freshness, Meaning, Mode, Query, SearchResult, Skip
from findling.search.gate import WITHOUT_VECTORS

if TYPE_CHECKING:
    from findling.model.types import EmbedderProblem
    from findling.search.searcher import Found, Searcher

_FAILURES: Mapping[str, Skip] = {"timeout": "slow", "unreachable": "down"}
"""What is called so of an embedder that failed at a question."""


class Answers:
    """Of one store, within a folder of it ('' for all)."""

    def __init__(self, store: OpenStore, folder: str) -> None:
        self._store = store
        self._folder = folder
        self._shown = ShownText(store)
        self._searcher: Searcher | None = None
        store.on_close.append(self._forget_searcher)

    def ask(self, query: Query, freshness: Freshness, stale_reason: str, started: float) -> Answer:
        """The answer to a validated query. ``started``: when it was asked, on the monotonic clock."""
        fresh = time.monotonic()
        with self._shown.answer():
            found = self._open_searcher().search(query, scope_path=self._folder)
        meaning = self._meaning(query, found)
        confidence = search.judge(found.ranked)
        result = self._result(query, found, confidence.value, freshness, stale_reason, started, meaning.note)
        return Answer(
            query=query,
            result=result,
            grounds=found.grounds[: len(result.hits)],
            intent_confidence=found.intent.confidence,
            intent_hint=found.intent.hint,
            ran=found.ran,
            meaning=meaning,
            confidence=confidence,
            text_confidence=found.text_confidence,
            timings_ms={"freshness": (fresh - started) * 1000, "search": (time.monotonic() - fresh) * 1000},
        )

    def _meaning(self, query: Query, found: Found) -> Meaning:
        """What became of the semantic side of a question."""
        if query.mode in WITHOUT_VECTORS:
            return Meaning()
        semantics = self._store.semantics
        problem, opened = semantics.trouble(), semantics.opened
        skip = found.skip
        if found.failed is not None:
            skip = _FAILURES.get(found.failed.reason, "failed")
        elif problem is not None and skip in ("no_vectors", "nothing"):
            skip = problem.kind
        return Meaning(
            ran="semantic" in found.ran,
            skipped=skip,
            ratio=found.ratio,
            problem=problem,
            model_version=opened.version if opened else None,
            note=_note_of(problem, query.mode),
            failure=found.failed.message if found.failed is not None else "",
        )

    def similar(
        self, query: Query, target: str, freshness: Freshness, stale_reason: str, started: float
    ) -> SearchResult:
        """What is like ``FILE`` or ``FILE:LINE``. Raises `NotFound`, and `EmbedderUnavailable` where nothing can be."""
        path, line = search.split_target(target)
        with self._store.reader.snapshot():
            file = scopes.file_at(self._store, path)
            if file is None and line is not None:  # it is a name that only looks as if a line followed
                file, line = scopes.file_at(self._store, target), None
            manifest = self._store.reader.manifest
        if file is None and _nothing_here(self._store, manifest.files if manifest else 0):
            raise errors.NotFound(f"{path} is not in the index of {self._store.root}.", remedy=NOTHING_CHECKED_OUT)
        if file is None and (manifest is None or not manifest.complete):
            raise errors.NotFound(
                f"{path} is not in the index of {self._store.root} yet.", remedy="Run 'findling index' to finish it."
            )
        if file is None:
            raise errors.NotFound(
                f"{path} is not in the index of {self._store.root}.",
                remedy="Name an indexed file; `findling status --skipped` says why one may be left out.",
            )
        with self._shown.answer():
            found = self._open_searcher().similar(file, line=line, query=query, scope_path="")
        if not found.hits and self._store.semantics.problem:
            self._store.semantics.required()
        note, confidence = self._meaning(query, found).note, search.judge(found.ranked).value
        return self._result(query, found, confidence, freshness, stale_reason, started, note)

    def _result(
        self,
        query: Query,
        found: Found,
        confidence: float,
        freshness: Freshness,
        stale_reason: str,
        started: float,
        note: str,
    ) -> SearchResult:
        notes = [*query.notes, *self._store.take_notes(), *([note] if note else ())]
        covered = coverage(self._store)
        notes += _not_searched(self._store, covered)
        return search.make_result(
            query, found, confidence, covered, freshness, stale_reason, notes, started, self._shown.stale
        )

    def file_symbols(self, path: str) -> search.FileSymbols | None:
        """The definitions of a file; None when it is not in the index."""
        if not self._store.exists:
            return None
        self._store.close_if_replaced()
        reader = self._store.reader
        with reader.snapshot():
            file = reader.file_at(path)
            if file is None:
                return None
            return search.FileSymbols(file.path, file.language, tuple(reader.symbols(file.blob_id)))

    def symbols(
        self,
        name: str,
        *,
        references: bool,
        kind: str | None,
        language: str | None,
        limit: int,
        freshness: Freshness,
        stale_reason: str,
        started: float,
    ) -> types.SymbolResult:
        """Definitions of a name, and its uses. ``language`` is an id."""
        reader = self._store.index
        with reader.snapshot():
            definitions = search.definitions(
                reader,
                name,
                kind=kind,
                language=language,
                folder=self._folder,
                limit=limit,
            )
            uses = search.References((), 0)
            if references:
                source = self._store.indexed_files(self._folder)
                with_uses = frozenset((*reading.syntax.supported_languages(), reading.syntax.NOTEBOOK))
                uses = search.references(
                    source, name, reading.syntax.references, languages=with_uses, language=language, limit=limit
                )
            covered = self._coverage_of_names(uses.unread)
        notes = (*self._store.take_notes(), *_not_searched(self._store, covered))
        if definitions.unqualified:
            notes += (f"No {name!r} is defined under just this name; found {definitions.unqualified!r}.",)
        found, total = definitions.found, definitions.total
        if definitions.cut:
            notes += (f"Only the first {total:,} definitions of names like {name!r} were looked at; there are more.",)
        notes += uses.notes
        return types.SymbolResult(
            name=name,
            definitions=tuple(found),
            references=uses.found,
            total_definitions=total,
            total_references=uses.total,
            truncated=definitions.cut or total > len(found) or uses.total > len(uses.found) or uses.cut,
            freshness=freshness,
            completeness="partial" if covered.unfinished or covered.unread else "complete",
            coverage=covered,
            took_ms=(time.monotonic() - started) * 1000,
            notes=notes,
            stale_reason=stale_reason,
        )

    def _coverage_of_names(self, unread: Sequence[str]) -> Coverage:
        """Of an answer in this folder. ``unread``: files that could not be read when they were asked for a name.

        Within the reader's snapshot.
        """
        reader = self._store.reader
        manifest = reader.manifest
        if manifest is None:
            return never_indexed(self._store)
        folder = self._folder
        left_out = (
            Counter(file.reason for file in scopes.left_out(self._store, folder, ()))
            if folder
            else Counter(reader.skipped_counts())
        )
        left_out.update({"unreadable": len(unread)} if unread else {})
        return Coverage(
            files=manifest.files,
            chunks=manifest.chunks,
            pending_files=manifest.pending,
            skipped=dict(left_out.most_common()),
            complete=manifest.complete,
            vectors_wanted=False,
        )

    def _open_searcher(self) -> search.Searcher:
        if self._searcher is None or self._searcher.index is not self._store.index:
            self._searcher = search.Searcher(
                self._store.index,
                self._shown.lines,
                own_name=roots.own_name(self._store.root),
                semantic=self._store.semantics.channel,
                exact_files=lambda: self._store.indexed_files(""),
            )
        return self._searcher

    def _forget_searcher(self) -> None:
        self._searcher = None


def _note_of(problem: EmbedderProblem | None, mode: Mode) -> str:
    """What an answer says of its embedder, '' where there is nothing to say."""
    if problem is None:
        return ""
    said = f"{problem.message} Run 'findling embed'." if problem.kind == "mismatch" else problem.message
    return said if mode == "semantic" else f"{said} Only text and names were searched."


def _nothing_here(store: OpenStore, files: int) -> list[str]:
    """What there is to say of a folder that is no work tree and of which no ``files`` are indexed."""
    return [NOTHING_CHECKED_OUT] if not files and not isinstance(store, RefStore) and roots.is_bare(store.root) else []


def _not_searched(store: OpenStore, covered: Coverage) -> list[str]:
    """What there is to say of files that should have been searched and were not."""
    at_ref = isinstance(store, RefStore)
    if nothing := _nothing_here(store, covered.files):
        return nothing
    unread = covered.unread
    if not unread:
        return []
    were = "was" if unread == 1 else "were"
    status = "'findling status --skipped --ref ...'" if at_ref else "'findling status --skipped'"
    return [f"{count(unread, 'file')} could not be read and {were} not searched; {status} says why."]
