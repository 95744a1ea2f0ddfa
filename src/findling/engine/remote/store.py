"""A folder's view in a store that many machines share, as an engine holds it: open, asked, and brought up to date."""

from __future__ import annotations

import getpass
import os
import platform
import stat
from contextlib import contextmanager
from functools import cached_property
from pathlib import Path
from typing import TYPE_CHECKING, ClassVar, Self, cast

from findling import search
from findling.engine.store import OpenStore
from findling.model import errors
from findling.model.text_encodings import as_utf8
from findling.outbound.files import NotRead, stamp_of

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator

    from findling.model.text_encodings import TextFilter
    from findling.model.trigram_plan import TrigramPlan
    from findling.model.types import IndexReport, Progress
    from findling.outbound.files import Files
    from findling.search.exact import FileRef, Scope
    from findling.store.local.reader import IndexReader
    from findling.store.postgresql import Database, PostgresIndex, View
    from findling.store.protocols import Index

SCHEMA_VERSION = 1

LIVE = "live"
"""In place of a ref: the files of a folder as they are."""

ALL_COLLECTIONS = "*"


class RemoteStore(OpenStore):
    """The view of one folder, private to this user on this machine: others' folders of the same name are other views;
    or the collections that the configuration names, which everybody finds.

    ``url``: the store's address. Nothing is looked at on disk for a question; what was published last is searched.
    """

    lasting: ClassVar[bool] = True
    far: ClassVar[bool] = True

    def __init__(self, base: OpenStore, url: str) -> None:
        super().__init__(base.root, base.directory)
        self.configuration = base.configuration
        self.url = url

    @cached_property
    def database(self) -> Database:
        from findling.store import postgresql  # an extra

        return postgresql.Database(self.url)

    @property
    def manifest_key(self) -> tuple[str, str]:
        return str(self.root), LIVE

    @property
    def owner(self) -> str:
        return f"{getpass.getuser()}@{platform.node()}"

    @cached_property
    def remote(self) -> PostgresIndex:
        from findling.store import postgresql

        if not (names := self.configuration.collections):
            return postgresql.PostgresIndex(self.database, [self._view])
        if ALL_COLLECTIONS in names:
            names = tuple(self.database.collections())
        alone = len(names) == 1
        views = [postgresql.View(name, LIVE, name="" if alone else name.replace("/", "_")) for name in names]
        return postgresql.PostgresIndex(self.database, views)

    @property
    def _view(self) -> View:
        """What `fill` publishes. Raises `InvalidInput` where that is not one."""
        from findling.store import postgresql

        names = self.configuration.collections
        if not names:
            return postgresql.View(*self.manifest_key, self.owner)
        if len(names) > 1 or ALL_COLLECTIONS in names:
            raise errors.InvalidInput("A folder is published under one name.", remedy="Name one collection.")
        return postgresql.View(names[0], LIVE)

    @property
    def reader(self) -> IndexReader:
        # whatever is asked of a reader here, an index in PostgreSQL answers as well, its models and listing too
        return cast("IndexReader", self.remote)

    @property
    def generation(self) -> str:
        return f"{self.remote.totals.generation}:{self.url}"

    def state_of(self, path: str) -> tuple[int, int] | None:
        status = StoreFiles(self.remote).status(path)
        return None if isinstance(status, NotRead) else (status.st_size, stamp_of(status))

    @property
    def exists(self) -> bool:
        """Whether there is a place to look: what is in it a question is told in its first round trip."""
        return True

    @contextmanager
    def for_one_answer(self) -> Iterator[None]:
        """All that a question asks is of one snapshot, and goes in as few round trips as it can. Raises `IndexNotReady`
        where the folder was never published."""
        with self.remote.snapshot():
            yield
            unpublished = self.remote.manifest is None
        names = ", ".join(self.configuration.collections)
        if unpublished and names:
            del self.remote  # who comes next may find them
            raise errors.IndexNotReady(
                f"{self.database.url} has no collection {names}.",
                remedy=f"'findling index --store {self.database.url} --collection NAME PATH' publishes one.",
            )
        if unpublished:
            raise errors.IndexNotReady(
                f"{self.root} is not indexed in {self.database.url}.",
                remedy=f"Run 'findling index --store {self.database.url} {self.root}'.",
            )

    @property
    def replaced(self) -> bool:
        return False

    def close_if_replaced(self) -> None:
        pass

    def ready_to_read(self) -> None:
        pass

    def close(self) -> None:
        super().close()
        if "database" in self.__dict__:
            self.database.close()
            del self.database
            self.__dict__.pop("remote", None)

    def open_files(self) -> Files:
        return StoreFiles(self.remote)

    def new_files(self) -> Files:
        return StoreFiles(self.remote)

    def indexed_files(self, index: Index, folder: str) -> search.IndexedFiles:
        most = self.configuration.wanted.max_bytes
        return _Texts(self.remote, self.open_files(), folder, max_bytes=most, lasting=True)

    @property
    def source(self) -> Path | Files:
        return self.open_files()

    def fill(self, *, embed: bool, on_progress: Callable[[Progress], None], anew: bool = False) -> IndexReport:
        """Publish what the folder holds by now, as a new generation of its view; makes the tables where there are none.
        ``anew``: all files are read again."""
        from findling.engine.remote import filling
        from findling.store import postgresql

        if not self.root.is_dir():
            raise errors.RootError(f"There is no folder {str(self.root)!r} any more.", remedy="Check the path.")
        self.database.migrate()
        limits = self.configuration.limits if self.configuration.chunking else None
        embedder = self.semantics.embedder() if embed else None
        with postgresql.ViewWriter(self.database, self._view, filling.recipe_of(limits)) as writer:
            if anew:
                writer.empty()
            return filling.fill(
                self.root,
                writer,
                self.configuration.wanted,
                limits=limits,
                embedder=embedder,
                on_progress=on_progress,
                store=self.database.url,
            )

    def problem(self) -> str:
        """What keeps the store from answering; '' for nothing."""
        try:
            with self.remote.snapshot():
                _ = self.remote.totals
        except errors.FindlingError as error:
            return str(error)
        return ""


_TEXTS_AT_ONCE = 200
"""Texts that are brought together for an exact search."""


class _Texts(search.IndexedFiles):
    """The files of a view for an exact search; their texts come many at a time, in the order in which they are read."""

    def __init__(self, index: PostgresIndex, files: Files, folder: str, *, max_bytes: int, lasting: bool) -> None:
        super().__init__(index, files, folder, max_bytes=max_bytes, lasting=lasting)
        self._index = index
        self._places: dict[int, int] = {}
        self._order: list[int] = []

    def candidate_files(self, plan: TrigramPlan, scope: Scope) -> Iterator[FileRef]:
        found = list(super().candidate_files(plan, scope))
        self._order = list(dict.fromkeys(ref.blob_id for ref in found))
        self._places = {content: place for place, content in enumerate(self._order)}
        yield from found

    def read(self, ref: FileRef, of_use: TextFilter | None = None) -> bytes | None:
        first = self._places.get(ref.blob_id, 0)
        following = [ref.blob_id, *self._order[first : first + _TEXTS_AT_ONCE]]
        with self._index.snapshot():
            self._index.ahead(lambda index: [index.doc_text(content) for content in following])
            data = self._index.doc_text(ref.blob_id)
        return None if data is None else as_utf8(data, of_use=of_use)


class StoreFiles:
    """The texts of a view as files: what was published is what is read. For one thread."""

    def __init__(self, index: PostgresIndex) -> None:
        self._index = index

    def read(self, path: str, max_bytes: int) -> tuple[os.stat_result, bytes] | NotRead:
        with self._index.snapshot():
            file = self._index.file_at(path)
            text = self._index.doc_text(file.blob_id) if file is not None else None
        if file is None or text is None:
            return NotRead("not_found", "it is not in the store")
        values = (stat.S_IFREG | 0o444, 0, 0, 1, 0, 0, len(text), 0, 0, 0)
        # in place of a time what tells this content from others at its path
        return os.stat_result(values, {"st_mtime_ns": file.blob_id, "st_ctime_ns": 0}), text

    def status(self, path: str) -> os.stat_result | NotRead:
        read = self.read(path, 0)
        return read if isinstance(read, NotRead) else read[0]

    def close(self) -> None:
        pass

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *_: object) -> None:
        pass
