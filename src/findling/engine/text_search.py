"""An exact search of a root: for files that are indexed as they stand on disk, the index rules out those that cannot
match; all others are read. So the search works without an index, waits for none, and never writes. It leaves out what
indexing leaves out, and says so.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Sequence, Set
from contextlib import nullcontext
from functools import cached_property
from typing import TYPE_CHECKING, Any, Final, NamedTuple

from findling import reading, search, sources
from findling.engine.refs import RefStore, up_to_date
from findling.engine.scope import language_id, nothing_here
from findling.engine.store import OpenStore
from findling.model import errors
from findling.model.format_names import format_of
from findling.model.text_encodings import UTF8, TextFilter, as_utf8, unmasked
from findling.model.types import GrepOptions, SkippedFile
from findling.outbound.files import Files, NotRead
from findling.search.scope import glob_matcher, lies_in
from findling.store.local.schema import IndexDamaged
from findling.store.protocols import KeptIndex

if TYPE_CHECKING:
    from findling.model.trigram_plan import TrigramPlan
    from findling.search.exact import FileRef, Scope
    from findling.sources.discovery import Stream
    from findling.sources.selection import Found

NOT_INDEXED: Final = -1
"""The blob id of a file that is not indexed as it is now."""

_HEAD_BYTES = 4096
"""Bytes of a file from which its language is told."""


def request_of(store: OpenStore, folder: str, pattern: str | Sequence[str], options: GrepOptions) -> search.GrepRequest:
    """The request for a caller's options, within ``folder`` unless they name paths."""
    language = options.get("language")
    names = (language,) if isinstance(language, str) else tuple(language or ())
    paths = tuple(options.get("paths", ())) or ((folder,) if folder else ())
    within, globs = options.get("within"), options.get("path_globs")
    if globs:
        matches, asked = glob_matcher(globs), within
        within = matches if asked is None else lambda path: asked(path) and matches(path)
    scope = search.Scope(tuple(map(_language, names)), paths, within, options.get("tests", True))
    lines = options.get("context", 0)
    given: dict[str, Any] = {"before": lines, "after": lines}
    if (config := store.configuration.config) is not None:
        given |= {"cpu_s": config.grep.cpu_seconds, "max_bytes": config.grep.max_total_bytes}
    given |= {name: value for name, value in options.items() if name not in _OTHERWISE}
    return search.GrepRequest(pattern if isinstance(pattern, str) else tuple(pattern), scope=scope, **given)


_OTHERWISE: Final = ("context", "language", "paths", "path_globs", "within", "tests", "sort")
"""The options that are no fields of a request."""


def _language(name: str) -> str:
    excluded = name.startswith("!")
    return ("!" if excluded else "") + (language_id(name.removeprefix("!")) or "")


def opened(store: OpenStore, request: search.GrepRequest, *, by_time: bool, show_secrets: bool = False) -> search.Grep:
    """The search, its files listed; they are read as the answer is iterated over. ``by_time``: those that were changed
    last come last, instead of by path. ``show_secrets``: they are not masked; no index is asked, for none has them.

    Raises `InvalidInput` (`InvalidPattern`), `RootError`, and `RefNotIndexed` where git cannot list a commit.
    """
    request.compiled()
    if by_time and store.lasting:
        raise errors.InvalidInput("The files of a commit have no times to sort by.", remedy="Sort by path.")
    try:
        return _opened(store, request, None if show_secrets else _indexed(store), by_time, show_secrets)
    except errors.IndexUnavailable as error:
        if isinstance(error, IndexDamaged):
            store.damage = error.message  # damage is left to the next question that may write
        store.notes.append(f"{error.message.removesuffix('.')}; all files were read instead.")
        return _opened(store, request, None, by_time, show_secrets)


def _indexed(store: OpenStore) -> KeptIndex | None:
    """The index, if there is one and it is not damaged."""
    if not store.exists:
        return None
    store.ready_to_read()
    with store.reader.snapshot():
        if store.reader.manifest is None:
            return None
    if isinstance(store, RefStore) and not up_to_date(store):
        return None
    return store.reader


def _opened(
    store: OpenStore, request: search.GrepRequest, reader: KeptIndex | None, by_time: bool, show_secrets: bool
) -> search.Grep:
    scope, noted, late = request.scope, store.take_notes(), store.late

    def about() -> search.Searchable:
        files = source.count(scope)
        notes = (*noted, *([late] if late else ()), *listed.told.notes, *nothing_here(store, source.listed))
        return search.Searchable(files, source.left_out(scope), notes)

    with nullcontext() if reader is None else reader.snapshot():
        listed = _listed(store, reader)
        source = SearchedFiles(store, reader, listed, by_time=by_time, show_secrets=show_secrets)
        found = search.Grep(source, request, definitions=source.definitions, about=about)
        if reader is not None:
            found.settle()
    return found


class _Told(NamedTuple):
    """What a listing says besides its files. ``skipped``: what is left out by its place, name or size, None where only
    the index knows."""

    skipped: Sequence[SkippedFile] | None = None
    notes: tuple[str, ...] = ()


class _Listed(NamedTuple):
    """The files in a root as they are now. ``files``: those to read, ``in_order`` of paths or not; ``known``: the paths
    of the indexed files that have not changed. ``told`` is whole at the end of the files."""

    files: Iterable[Found]
    known: Set[str]
    told: _Told | Stream
    source: Files
    in_order: bool = False


def _listed(store: OpenStore, reader: KeptIndex | None) -> _Listed:
    """Look at the whole disk, or at the commit. Within the reader's snapshot."""
    wanted = store.configuration.wanted
    if store.lasting and reader is not None:
        return _Listed((), reader.listed.known_files().keys(), _Told(), store.open_files())
    if isinstance(store, RefStore):
        tree = sources.list_tree(store.root, store.ref.commit_id, wanted)
        return _Listed(
            tree.files, set(), _Told(tree.skipped), sources.RefFiles(store.root, store.ref.commit_id, tree.git_ids)
        )
    if not store.root.is_dir():
        raise errors.RootError(f"There is no folder {str(store.root)!r} any more.", remedy="Check the path.")
    if reader is None:
        stream = sources.discovery.Stream(store.root, wanted)
        return _Listed(stream, set(), stream, store.open_files(), in_order=True)
    known = reader.listed.known_files()
    changes = sources.discovery.check(store.root, known, wanted)
    # A document that was read just after it was written has a stamp that never matches (`looking.read_file`): it would
    # be called not indexed, as only the index has its text.
    changed = [
        (path, size, stamp)
        for path, size, stamp in changes.changed
        if known[path] != (size, stamp - 1) or not format_of(path, pages=wanted.pages)
    ]
    files = [*changes.added, *changed]
    same: Set[str] = known.keys()
    if changed or changes.removed:
        same = known.keys() - {path for path, _, _ in changed} - set(changes.removed)
    return _Listed(files, same, _Told(changes.skipped, changes.notes), store.open_files())


def every_file(store: OpenStore, folder: str) -> SearchedFiles:
    """The files of ``folder`` ('' for all) for a question that is answered before its index is there
    (`OpenStore.first_answer`): what the index lacks is read. Within the index's snapshot."""
    first = store.first_answer
    assert first is not None
    reader = first.indexed
    known: Set[str] = set()
    if reader is not None:
        lacking = {path for path, _, _ in first.found}
        known = {path for path in reader.listed.known_files() if lies_in(path, folder) and path not in lacking}
    listed = _Listed(first.found, known, _Told(), store.open_files())
    return SearchedFiles(store, reader, listed, by_time=False, show_secrets=False)


class SearchedFiles:
    """The files of a root, as `search.exact.ExactSource`. Use within the reader's snapshot, but for reading."""

    def __init__(
        self, store: OpenStore, reader: KeptIndex | None, listed: _Listed, *, by_time: bool, show_secrets: bool
    ) -> None:
        wanted = store.configuration.wanted
        self._listed = listed
        self._limit = wanted.limit
        self._by_time = by_time
        self._show_secrets = show_secrets
        self._reader = reader
        self._indexed = store.indexed_files(reader, "") if reader is not None else None
        self._files = listed.source
        self._languages: Callable[[str], bool] | None = None
        self._pages = wanted.pages
        self._to_read: list[Found] = []
        self._documents: list[SkippedFile] = []
        self._met = self._as_met()

    def _as_met(self) -> Iterator[Found]:
        """The listed files that are to be read; the documents among them are left out."""
        for found in self._listed.files:
            form = format_of(found[0], pages=self._pages)
            if form:
                detail = f"a {form} document is searched once it is indexed: run 'findling index'"
                self._documents.append(SkippedFile(found[0], "not_indexed", detail))
            else:
                self._to_read.append(found)
                yield found

    def _all_to_read(self) -> list[Found]:
        """All files that are to be read, once they are all listed."""
        for _ in self._met:
            pass
        return self._to_read

    @property
    def listed(self) -> int:
        """How many files were listed to be read, documents among them."""
        return len(self._all_to_read()) + len(self._documents)

    @cached_property
    def _left_out_by_index(self) -> list[SkippedFile]:
        """What the index left out of the files that have not changed; of all where only it knows."""
        listed = self._listed
        if self._reader is None:
            return []
        rows = (SkippedFile(*row) for row in self._reader.listed.skipped())
        return [row for row in rows if listed.told.skipped is None or row.path in listed.known]

    def left_out(self, scope: Scope) -> tuple[SkippedFile, ...]:
        """The files that are not searched, as far as the listing tells; a folder's path ends with ``/``."""
        allowed = scope.path_filter()
        self._all_to_read()
        every = (*(self._listed.told.skipped or ()), *self._documents, *self._left_out_by_index)
        return tuple(file for file in every if allowed(file.path.rstrip("/")))

    def count(self, scope: Scope) -> int:
        """How many files are to be searched, as far as their paths tell."""
        allowed, to_read = scope.path_filter(), self._all_to_read()
        if scope.languages and self._reader is not None:
            inside: Set[str] = {file.path for file in self._reader.listing() if scope.allows_language(file.language)}
            inside &= self._listed.known
        else:
            inside = self._listed.known - {row.path for row in self._left_out_by_index}
        if scope.tests and not (scope.within or scope.paths):
            return len(inside) + len(to_read)
        return sum(map(allowed, inside)) + sum(allowed(path) for path, _, _ in to_read)

    def candidate_files(self, plan: TrigramPlan, scope: Scope) -> Iterable[FileRef]:
        self._languages = scope.allows_language if scope.languages else None
        allowed = scope.path_filter()
        to_read = (search.FileRef(path, NOT_INDEXED, size) for path, size, _ in self._met if allowed(path))
        if self._listed.in_order and not self._by_time:
            return to_read
        found = list(to_read)
        if self._indexed is not None:
            known = self._listed.known
            found += (ref for ref in self._indexed.candidate_files(plan, scope) if ref.path in known)
        found.sort(key=_by_name)
        if self._by_time:
            found.sort(key=self._changed_at)
        return found

    def read(self, ref: FileRef, of_use: TextFilter | None = None) -> bytes | SkippedFile | None:
        if ref.blob_id != NOT_INDEXED and self._indexed is not None:
            return self._indexed.read(ref, of_use)
        read = self._files.read(ref.path, self._limit(ref.path))
        if isinstance(read, NotRead):
            return None if read.reason == "not_found" else SkippedFile(ref.path, read.reason, read.detail)
        data = read[1]
        decoded = reading.admit(ref.path, data, show_secrets=True)  # masked below, if it can match at all
        if isinstance(decoded, SkippedFile):
            return decoded
        if self._languages is not None and not self._languages(_language_of(ref.path, data)):
            return None
        text = unmasked(data) if decoded.encoding == UTF8 else decoded.text.encode()
        return text if self._show_secrets else as_utf8(text, of_use=of_use)

    def definitions(self, ref: FileRef, data: bytes) -> Sequence[tuple[int, int]]:
        if ref.blob_id != NOT_INDEXED and self._reader is not None:
            return [(symbol.start_line, symbol.end_line) for symbol in self._reader.symbols(ref.blob_id)]
        found = reading.syntax.parse(data, _language_of(ref.path, data), docs=False)
        return [(symbol.start_line, symbol.end_line) for symbol in found.symbols]

    def _changed_at(self, ref: FileRef) -> int:
        status = self._files.status(ref.path)
        return 0 if isinstance(status, NotRead) else status.st_mtime_ns


def _by_name(ref: FileRef) -> str:
    """Folder by folder, as ripgrep's --sort path has it."""
    return ref.path.replace("/", "\0")


def _language_of(path: str, data: bytes) -> str:
    from findling.model.languages import language_of  # its table takes 5 ms to build

    return language_of(path, data[:_HEAD_BYTES]).id
