"""The public `Library`: folders and files of the user's, each with an index of its own, added, searched and removed.

Wires the list of collections, their engines, the search and the jobs that fetch. Never writes to what was added, and
never deletes it.
"""

from __future__ import annotations

import os
from collections.abc import Callable, Iterable, Mapping, Sequence
from contextlib import suppress
from pathlib import Path
from typing import TYPE_CHECKING, Any

from msgspec.structs import replace

from findling import engine
from findling.config.roots import addable
from findling.engine.jobs import Job, Records
from findling.engine.library import fetching
from findling.engine.library.collections import (
    FILES,
    REPOSITORIES,
    Collections,
    check_name,
    data_directory,
    name_for,
)
from findling.engine.library.results import (
    CollectionStatus,
    FilePassages,
    Indexed,
    LibraryStatistics,
    Removed,
)
from findling.engine.library.search import LibraryResult, search
from findling.model.collection import Collection
from findling.model.errors import Cancelled, FindlingError, InvalidInput, NotFound
from findling.model.types import CHARS_PER_TOKEN, OnProgress, Progress
from findling.search.query import shortened
from findling.store import local as store
from findling.store.local.layout import DATABASE, discard

if TYPE_CHECKING:
    from findling.engine.library.fetching.fetch_requests import Request
    from findling.engine.library.sources import Source
    from findling.model.typed_paths import StrPath


WAIT_S = 2.0
"""How long a question may index before it answers with what is there."""

MAX_LIMIT = 1000
MAX_CONTEXT = 10


class Library:
    """The library in one data folder. For one thread; use as a context manager."""

    def __init__(self, directory: Path) -> None:
        self.directory = directory
        self.jobs = Records(directory, remembered=1000, most_bytes=4_000_000)
        self._collections = Collections(directory)
        self._open: dict[str, tuple[Collection, Source]] = {}
        self._latest: Indexed | None = None

    @classmethod
    def open(cls, directory: Path | str | None = None) -> Library:
        """The library in ``directory``, else in the configured data folder. Makes nothing. Raises `ConfigError`."""
        return cls(data_directory() if directory is None else Path(os.path.abspath(directory)))  # noqa: PTH100

    def close(self) -> None:
        for _, source in self._open.values():
            source.engine.close()
        self._open.clear()

    def __enter__(self) -> Library:
        return self

    def __exit__(self, *_: object) -> None:
        self.close()

    # --- what there is --------------------------------------------------------------------------------------

    def collections(self) -> tuple[Collection, ...]:
        """In the order they were added."""
        return self._collections.all()

    def add(self, path: StrPath, *, name: str | None = None, progress: OnProgress | None = None) -> Indexed:
        """Put a folder or a file into the library and index it.

        Raises `RootError` for what cannot be indexed, `InvalidInput` for a name that is taken and for what is in the
        library already. When indexing fails the collection stays, and the next search goes on.
        """
        real = addable(Path(path))
        wanted = check_name(name) if name is not None else ""
        with self._collections.changing() as rows:
            for known in rows.values():
                if known.path == os.fspath(real):
                    raise InvalidInput(
                        f"{real} is in the library already, as {known.name!r}.",
                        remedy="`findling library refresh` brings it up to date.",
                    )
            if wanted in rows:
                raise InvalidInput(
                    f"There is a collection called {wanted!r} already.", remedy="Choose another name with --name."
                )
            collection = self._collections.new(real, wanted or name_for(real, rows))
            rows[collection.name] = collection
        return self._index(collection, progress)

    def refresh(
        self, name: str | None = None, *, progress: OnProgress | None = None, fetch: bool = True
    ) -> tuple[Indexed, ...]:
        """Bring one collection, or all, up to date. Raises `NotFound`; of all, a failure costs its collection only.

        ``fetch``: repositories are fetched again, too.
        """
        if name is not None:
            return (self._refresh(self._collections.find(name), progress, fetch),)
        return tuple(self._refreshed(collection, progress, fetch) for collection in self.collections())

    def fetch(self, request: Request) -> Job:
        """Start fetching in a process of its own, and return at once. Raises `FetchRefused`, `InvalidInput`,
        `FileAccess`."""
        return fetching.start(self, request)

    def enlist(self, path: Path, name: str, origin: Mapping[str, Any]) -> Collection:
        """The collection of a folder that findling fills itself, made if need be; it is from ``origin`` now."""
        real = Path(os.path.realpath(path))
        with self._collections.changing() as rows:
            known = next((row for row in rows.values() if row.path == os.fspath(real)), None)
            known = replace(known or self._collections.new(real, name_for(Path(name), rows)), origin=dict(origin))
            rows[known.name] = known
        return known

    def change(self, name: str, by: Callable[[Collection], Collection]) -> Collection | None:
        """Change a row of the list, as it is by now: no other process's change is lost. None when it was removed."""
        with self._collections.changing() as rows:
            if name not in rows:
                return None
            rows[name] = changed = by(rows[name])
        return changed

    def chunk_count(self, name: str, path: str) -> int:
        """How many passages a file of a collection has, by its path in it. Raises `NotFound`."""
        return self._source(self._collections.find(name)).chunk_count(path)

    def remove(self, name: str) -> Removed:
        """Forget a collection and delete its index, and what was fetched into it. Raises `NotFound`."""
        return self._forget([self._collections.find(name)])

    def flush(self) -> Removed:
        """Forget every collection and delete their indexes, and all that was fetched."""
        removed = self._forget(self.collections())
        fetching.sweep(self.directory, {job.id for job in self.jobs.active()})
        return removed

    def status(self, name: str | None = None) -> tuple[CollectionStatus, ...]:
        """Of one collection, or of all; looks, and changes nothing. Raises `NotFound`."""
        wanted = self.collections() if name is None else (self._collections.find(name),)
        return tuple(self._status(collection) for collection in wanted)

    def statistics(self, rows: Iterable[CollectionStatus] | None = None) -> LibraryStatistics:
        """All collections together. ``rows``: their status, where it is known."""
        found = tuple(self.status() if rows is None else rows)
        return LibraryStatistics(
            total_chunks=sum(row.chunks for row in found),
            total_files=sum(row.files for row in found),
            total_tokens=sum(row.tokens for row in found),
            embedding_model=next((row.model for row in found if row.model), ""),
            last_updated=max((row.last_indexed_at for row in found), default=""),
            db_size=sum(row.bytes_on_disk for row in found),
        )

    # --- questions ------------------------------------------------------------------------------------------

    def search(
        self,
        query: str,
        *,
        limit: int = 10,
        min_score: float = 0.7,
        also: Sequence[Source] = (),
        wait_s: float | None = WAIT_S,
        progress: OnProgress | None = None,
    ) -> LibraryResult:
        """The passages nearest to ``query`` in all collections, and in the sources ``also``.

        Of a query of more than 100,000 characters the beginning is searched for, which a note says.

        ``limit`` is 1 to 1000, ``min_score`` a similarity in [0, 1]. Raises `InvalidInput`, and the error of the last
        source when none could answer.
        """
        if not query.strip():
            raise InvalidInput("query must not be blank.")
        if not 1 <= limit <= MAX_LIMIT:
            raise InvalidInput(f"limit must be between 1 and {MAX_LIMIT}, not {limit}.")
        if not 0 <= min_score <= 1:
            raise InvalidInput(f"min_score must be between 0.0 and 1.0, not {min_score}.")

        query, cut = shortened(query)
        sources, problems = self._sources()
        found = search(
            [*sources, *also],
            query,
            limit=limit,
            min_score=min_score,
            wait_s=wait_s,
            progress=progress,
        )
        notes = (*((cut,) if cut else ()), *problems, *found.notes)
        return replace(found, notes=notes)

    def file(
        self, path: str, *, chunk_index: int | None = None, context: int = 3, also: Sequence[Source] = ()
    ) -> FilePassages:
        """The passages of an indexed file: all, or one with ``context`` (0 to 10) on each side.

        ``path`` is absolute. Raises `NotFound` for a file that is not indexed or not there, `InvalidInput`.
        """
        if not 0 <= context <= MAX_CONTEXT:
            raise InvalidInput(f"context must be between 0 and {MAX_CONTEXT}, not {context}.")
        source, relative = self._holder(path, also)
        total = source.chunk_count(relative)
        if chunk_index is None:
            wanted = range(total)
        elif 0 <= chunk_index < total:
            wanted = range(max(0, chunk_index - context), min(total, chunk_index + context + 1))
        else:
            raise InvalidInput(f"There is no chunk {chunk_index} in {path}: it has {total}, counted from 0.")
        passages = source.passages(relative, wanted)
        if passages is None:
            raise NotFound(
                f"{path} cannot be read, or is no longer what was indexed.", remedy="Ask again to take in the change."
            )
        return FilePassages(source.name, source.absolute(relative), total, tuple(passages))

    def remove_file(self, path: str) -> Removed:
        """Take a file out of its collections for good; the file itself stays. Raises `NotFound`.

        A collection of that file alone is forgotten.
        """
        files = chunks = 0
        names: list[str] = []
        for collection in self.collections():
            source = self._source(collection)
            relative = source.relative(path)
            if relative is None or source.file_at(relative) is None:
                continue
            chunks += source.chunk_count(relative)
            files += 1
            names.append(collection.name)
            if collection.kind == "file":  # there is nothing else in it
                self._forget([collection])
                continue
            changed = self.change(collection.name, _without(relative))
            if changed is not None:  # else another process removed it
                self._source(changed).engine.sync([relative])
        if not names:
            raise NotFound(f"{path} is not in the library.", remedy="`findling library list` shows what is.")
        return Removed(tuple(names), files, chunks)

    # --- parts ----------------------------------------------------------------------------------------------

    def _holder(self, path: str, also: Sequence[Source]) -> tuple[Source, str]:
        """The first source that has an absolute path, and the path in its index. Raises `NotFound`, `InvalidInput`."""
        if not os.path.isabs(path):  # noqa: PTH117
            raise InvalidInput(f"The path must be absolute, not {path!r}.")
        sources, _ = self._sources()
        for source in (*sources, *also):
            relative = source.relative(path)
            if relative is None:
                continue
            if source.root.is_dir():
                source.engine.refresh(files=(relative,), within=relative.__eq__, wait_s=WAIT_S)
            if source.file_at(relative) is not None:
                return source, relative
        reason = "is not indexed" if os.path.lexists(path) else "does not exist"
        raise NotFound(f"{path} {reason}.", remedy="`findling library status` shows what is indexed.")

    def _sources(self) -> tuple[list[Source], list[str]]:
        """The collections that can be opened, and sentences about the others."""
        known = self.collections()
        for index in self._open.keys() - {collection.index for collection in known}:
            self._close(index)  # another process removed it
        found: list[Source] = []
        problems: list[str] = []
        for collection in known:
            try:
                if not collection.exists:
                    problems.append(f"{collection.name}: {collection.path} is not there; it was not searched.")
                    continue
                found.append(self._source(collection))
            except FindlingError as error:
                problems.append(f"{collection.name}: not searched: {error}")
        return found, problems

    def _source(self, collection: Collection) -> Source:
        """A collection opened, as it is in the list now. Raises `ConfigError`."""
        known = self._open.get(collection.index)
        if known is not None and known[0] == collection:
            return known[1]
        from findling.engine.library.sources import Source, recipe_for

        self._close(collection.index)
        recipe = recipe_for(collection, self.directory)
        opened = engine.Engine(collection, recipe=recipe)
        source = Source(collection.name, opened, fetched=collection.origin is not None)
        self._open[collection.index] = collection, source
        return source

    def _close(self, index: str) -> None:
        known = self._open.pop(index, None)
        if known is not None:
            known[1].engine.close()

    def _refresh(self, collection: Collection, progress: OnProgress | None, fetch: bool) -> Indexed:
        request = (collection.origin or {}).get("request")
        if not fetch or not isinstance(request, dict):
            return self._index(collection, progress)
        wanted = fetching.read_request(request)
        job = self.jobs.start("fetch", "fetch_repo", wanted.name)
        if progress is not None:
            progress(Progress("fetching", 0, 0))
        fetching.run_here(self, wanted, job)
        known = self._collections.find(collection.name)
        done = self._latest
        return done if done is not None and done.collection == known else self._index(known, progress)

    def _refreshed(self, collection: Collection, progress: OnProgress | None, fetch: bool) -> Indexed:
        try:
            return self._refresh(collection, progress, fetch)
        except Cancelled:
            raise
        except FindlingError as error:
            return Indexed(collection, None, str(error))

    def _index(self, collection: Collection, progress: OnProgress | None) -> Indexed:
        """Bring an index up to date."""
        if not collection.exists:
            raise NotFound(
                f"{collection.path} is not there any more; the index of {collection.name!r} is kept.",
                remedy=f"`findling library remove {collection.name}` forgets it.",
            )
        try:
            self._latest = Indexed(collection, self._source(collection).engine.index(progress=progress))
        except Cancelled:
            raise
        except FindlingError:  # what is missing in an index that was deleted says nothing to anybody
            self._check_kept(collection)
            raise
        self._check_kept(collection)
        return self._latest

    def _check_kept(self, collection: Collection) -> None:
        """Raises `NotFound` for a collection that was removed while it was indexed; nothing of it stays then."""
        if any(row.index == collection.index for row in self.collections()):
            return
        self._close(collection.index)
        with suppress(OSError):  # another process has it open where that matters; nothing refers to it any more
            discard(collection.directory)
        raise NotFound(
            f"{collection.name!r} was removed while it was indexed.",
            remedy=f"`findling library add {collection.path}` adds it again.",
        )

    def _forget(self, collections: Sequence[Collection]) -> Removed:
        counts = [_counts(collection) for collection in collections]
        with self._collections.changing() as rows:
            for collection in collections:
                rows.pop(collection.name, None)
        deleted: list[str] = []
        for collection in collections:
            self._close(collection.index)
            fetched = self._fetched_folder(collection)
            with suppress(OSError):  # another process has it open where that matters; nothing refers to it any more
                discard(collection.directory)
            if fetched is not None:
                with suppress(OSError):  # as above; what stays is not said to be deleted
                    discard(fetched)
                if not fetched.exists():
                    deleted.append(collection.name)
        return Removed(
            tuple(collection.name for collection in collections),
            sum(files for files, _ in counts),
            sum(chunks for _, chunks in counts),
            tuple(deleted),
        )

    def _fetched_folder(self, collection: Collection) -> Path | None:
        """What goes with a collection that was fetched: the library's own copy, which nobody else has made."""
        ours, path = Path(os.path.realpath(self.directory)), Path(collection.path)
        kind = (collection.origin or {}).get("type")
        if kind == "repository" and path.parent.parent == ours / REPOSITORIES:
            return path.parent
        return path if kind == "files" and path == ours / FILES else None

    def _status(self, collection: Collection) -> CollectionStatus:
        removed = len(collection.removed)
        known = CollectionStatus(collection.name, collection.path, collection.kind, "failed", removed=removed)
        if not collection.exists:
            files, chunks = _counts(collection)
            note = f"{collection.path} is not there; the index is kept."
            return replace(known, state="missing", files=files, chunks=chunks, notes=(note,))
        try:
            status = self._source(collection).engine.status()
        except FindlingError as error:
            return replace(known, notes=(str(error),))
        return replace(
            known,
            state=status.indexing_status,
            fresh=status.freshness == "fresh",
            files=status.coverage.files,
            chunks=status.coverage.chunks,
            embedded_chunks=status.coverage.embedded_chunks,
            tokens=-(-status.bytes_indexed // CHARS_PER_TOKEN),
            bytes_on_disk=status.bytes_on_disk,
            last_indexed_at=status.last_indexed_at,
            model=status.model,
            skipped=status.coverage.skipped,
            notes=status.notes,
        )


def _without(path: str) -> Callable[[Collection], Collection]:
    return lambda row: replace(row, removed=(*row.removed, path))


def _counts(collection: Collection) -> tuple[int, int]:
    """(files, chunks) of its index; nothing for one that cannot be read."""
    if not (collection.directory / DATABASE).exists():
        return 0, 0
    try:
        reader = store.IndexReader(collection.directory, os.fspath(collection.root))
    except FindlingError:
        return 0, 0
    try:
        with reader.snapshot():
            manifest = reader.manifest
        return (manifest.files, manifest.chunks) if manifest else (0, 0)
    except FindlingError:
        return 0, 0
    finally:
        reader.close()
