"""A folder's view in a store that many machines share, as an engine holds it: open, asked, and brought up to date."""

from __future__ import annotations

import shlex
from collections.abc import Callable, Collection, Iterator
from contextlib import contextmanager
from functools import cache, cached_property
from pathlib import Path
from typing import TYPE_CHECKING, ClassVar

from msgspec.structs import replace

from findling.config.roots import LIVE
from findling.engine import refs, remote
from findling.engine.semantics import fetch_chosen
from findling.engine.store import OpenStore
from findling.model import errors
from findling.model.collection import Ref
from findling.model.types import BEHIND, IndexReport, OnProgress
from findling.outbound.files import Files, NotRead, stamp_of
from findling.store.protocols import Index

if TYPE_CHECKING:
    from findling.config import Config
    from findling.search import IndexedFiles
    from findling.store.postgresql import Database, PostgresIndex, View
    from findling.store.postgresql.database import Connection
    from findling.store.protocols import Engine

ALL_COLLECTIONS = "*"

LATE_S = 1.0
"""A replica that is less behind is as fresh as its primary server."""


def proposing(config: Config) -> Engine | None:
    """What proposes for the shared store in place of PostgreSQL. Raises `ConfigError` without its package."""
    if config.store.milvus is None:
        return None
    token = config.keys.milvus
    return _milvus_at(config.store.milvus, token.reveal() if token else "")


def said_of_milvus(database: Database, config: Config) -> str | None:
    """Whether Milvus answers, and how much of the store it has, in a sentence; None where none is configured."""
    engine = proposing(config)
    return None if engine is None else remote.said_of(database, engine)


@cache
def _milvus_at(url: str, token: str) -> Engine:
    """The one client of a server in this process: it remembers whether that answers."""
    return remote.Milvus(url, token)


def commit_of(root: Path, name: str) -> str:
    """The commit that a ref stands for in a folder's repository, also of what is checked out. Raises as
    `refs.find_ref`."""
    found = refs.find_ref(root, name) or refs.find_ref(root, "HEAD")
    return found.commit_id if found else ""


class RemoteStore(OpenStore):
    """The view of one folder, private to this user on this machine: others' folders of the same name are other views;
    or the collections that the configuration names, which everybody finds.

    ``url``: the store's address. ``ref``: instead of what was on disk, what a commit held; of collections what was
    published under the name of a branch or tag. Nothing is looked at on disk for a question; what was published last is
    searched.
    """

    lasting: ClassVar[bool] = True
    schema_version: ClassVar[int] = 1

    def __init__(self, base: OpenStore, url: str) -> None:
        published = bool(base.configuration.collections)  # they have folders of their own
        folder = "" if published else base.collection.folder
        super().__init__(replace(base.collection, shared=url, folder=folder))
        self.ref = self.collection.ref
        self.configuration = base.configuration
        self._every: tuple[str, ...] = ()
        """The names that '*' stood for when they were last looked up."""

    @property
    def shared(self) -> RemoteStore:
        return self

    @cached_property
    def database(self) -> Database:
        return remote.Database(self.collection.shared, user=self.configuration.person)

    @property
    def engine(self) -> Engine | None:
        """What proposes for the store in place of PostgreSQL."""
        return proposing(self.configuration.effective)

    @property
    def is_of_disk(self) -> bool:
        """Whether what is searched was published from the files on this disk."""
        return self.ref is None and not self.configuration.collections

    @property
    def manifest_key(self) -> tuple[str, str]:
        return str(self.root), LIVE if self.ref is None else self.ref.commit_id

    def find_ref(self, asked: str | None) -> Ref | None:
        """What a ref means here, None for the files on disk. Of collections every name means what is published under
        it: their repository may be elsewhere. Raises as `refs.find_ref`."""
        if not self.configuration.collections:
            return refs.find_ref(self.root, asked)
        return None if asked in (None, LIVE) else Ref(refs.checked(asked), asked)

    @property
    def _ref_name(self) -> str:
        return LIVE if self.ref is None else self.ref.name

    @property
    def _at_ref(self) -> str:
        """The ref, behind what is searched in a sentence."""
        return f" at {self.ref.name}" if self.ref else ""

    @property
    def owner(self) -> str:
        import getpass  # both take their time, and most commands know no shared store
        import platform

        return f"{getpass.getuser()}@{platform.node()}"

    @cached_property
    def remote(self) -> PostgresIndex:
        if not (names := self.configuration.collections):
            return self._index([self._view])
        if ALL_COLLECTIONS in names:
            self._every = names = tuple(self.database.collections())
            if not names:
                raise errors.IndexNotReady(
                    f"There is no collection in {self.database.url}.",
                    remedy=self._how_to_see_one,
                )
        names = tuple(dict.fromkeys(names))
        alone = len(names) == 1
        shown: dict[str, str] = {}
        for name in names:
            if (other := shown.setdefault(name.replace("/", "_"), name)) != name:
                raise errors.InvalidInput(
                    f"The paths of the collections {other!r} and {name!r} would begin with the same name.",
                    remedy="Ask them one after the other.",
                )
        views = [remote.View(name, self._ref_name, name="" if alone else before) for before, name in shown.items()]
        return self._index(views)

    def _index(self, views: list[View]) -> PostgresIndex:
        return remote.PostgresIndex(self.database, views, engine=self.engine, notes=self.notes)

    @property
    def _view(self) -> View:
        """What `fill` publishes. Raises `InvalidInput` where that is not one."""
        names = self.configuration.collections
        if not names:
            return remote.View(*self.manifest_key, self.owner)
        if len(names) > 1 or ALL_COLLECTIONS in names:
            raise errors.InvalidInput("A folder is published under one name.", remedy="Name one collection.")
        return remote.View(names[0], self._ref_name)

    @property
    def reader(self) -> PostgresIndex:
        return self.remote

    @property
    def late(self) -> str:  # type: ignore[override]
        seconds = self.remote.totals.late_s
        if seconds < LATE_S:
            return ""
        return f"{BEHIND}, {seconds:,.0f} s behind its primary server: ask that one, or wait"

    @property
    def missing(self) -> tuple[str, ...]:  # type: ignore[override]
        return tuple(view.collection for view in self.remote.totals.missing)

    def take_notes(self) -> tuple[str, ...]:
        if missing := ", ".join(self.missing):
            holder = f"{self.database.url} does not have or does not let you see"
            self.notes.append(f"Not searched: {missing}{self._at_ref}, which {holder}.")
        return super().take_notes()

    @property
    def generation(self) -> str:
        return f"{self.remote.totals.generation}:{self.collection.shared}"

    def state_of(self, path: str) -> tuple[int, int] | None:
        status = remote.texts.StoreFiles(self.remote).status(path)
        return None if isinstance(status, NotRead) else (status.st_size, stamp_of(status))

    @property
    def exists(self) -> bool:
        """True: whether the store has this view is learned in a question's first round trip."""
        return True

    @property
    def _how_to_see_one(self) -> str:
        """A remedy that does not tell whether a collection is absent or hidden from this user."""
        if self.configuration.person:
            return "Ask whoever runs it to allow you one."
        return (
            f"'findling index --store {self.database.url} --collection NAME PATH' publishes one. "
            "A role that does not own the tables reads through 'findling serve --users' alone."
        )

    @contextmanager
    def for_one_answer(self) -> Iterator[None]:
        """A block in which all is read of one snapshot, in as few round trips as possible. Raises `IndexNotReady`
        where the folder was never published."""
        every = ALL_COLLECTIONS in self.configuration.collections and "remote" in self.__dict__
        if every and self._every != tuple(self.database.collections()):  # others may be seen now
            del self.remote
        with self.remote.snapshot():
            yield
            is_published = self.remote.manifest is not None
        if not is_published:
            raise self.unpublished()

    def unpublished(self) -> errors.IndexNotReady:
        """What to raise where the folder or the collections were never published."""
        if names := ", ".join(self.configuration.collections):
            del self.remote  # the next question looks them up again
            return errors.IndexNotReady(
                f"There is no collection {names}{self._at_ref} in {self.database.url}.",
                remedy=self._how_to_see_one,
            )
        ref = f" --ref {shlex.quote(self.ref.name)}" if self.ref else ""
        return errors.IndexNotReady(
            f"{self.root}{self._at_ref} is not indexed in {self.database.url}.",
            remedy=f"Run 'findling index --store {self.database.url}{ref} {self.root}'.",
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
        return remote.texts.StoreFiles(self.remote)

    def new_files(self) -> Files:
        return remote.texts.StoreFiles(self.remote)

    def indexed_files(self, index: Index, folder: str) -> IndexedFiles:
        most = self.configuration.wanted.max_bytes
        return remote.texts.Texts(self.remote, self.open_files(), folder, max_bytes=most, lasting=True)

    @property
    def source(self) -> Path | Files:
        return self.open_files()

    def check_fills(self) -> None:
        """Raises `InvalidInput` where what is searched is everybody's: a question of one folder, or a change in it,
        must not replace what others find."""
        if names := ", ".join(self.configuration.collections):
            raise errors.InvalidInput(
                f"{names} in {self.database.url} is everybody's; only 'findling index --collection NAME' publishes.",
                remedy=f"Run 'findling index --store {self.database.url} --collection NAME PATH' for its folder, or "
                "leave --collection (FINDLING_COLLECTION, store.collections) out.",
            )

    @property
    def recipe(self) -> str:
        """How files are cut and masked."""
        return remote.filling.recipe_of(self.configuration.limits)

    def fill(
        self,
        *,
        embed: bool,
        on_progress: OnProgress,
        anew: bool = False,
        publish: bool = False,
        copies: bool = False,
        ending: Callable[[Connection], None] = lambda _: None,
        embed_anew: Callable[[str], bool] = lambda _: False,
        on_embedded: Callable[[str], None] = lambda _: None,
        is_fetched: bool = False,
    ) -> IndexReport:
        """Publish what the folder holds by now, as a new generation of its view; makes the tables where there are none.
        ``anew``: all files are read again. ``publish``: even as a collection that everybody finds. ``is_fetched``: the
        folder's files are those of the ref. The others as for `filling.fill` and `ViewWriter`."""
        if not publish:
            self.check_fills()
        if not self.root.is_dir():
            raise errors.RootError(f"There is no folder {str(self.root)!r} any more.", remedy="Check the path.")
        self.database.migrate()
        embedder = self.semantics.embedder() if embed else None
        with remote.ViewWriter(self.database, self._view, self.recipe, ending) as writer:
            commit = "" if self.ref is None or is_fetched else commit_of(self.root, self.ref.name)
            if anew:
                writer.empty()
            report = remote.filling.fill(
                self.root,
                writer,
                self.configuration.wanted,
                limits=self.configuration.limits,
                embedder=embedder,
                on_progress=on_progress,
                store=self.database.url,
                copies=copies,
                commit=commit,
                embed_anew=embed_anew,
                on_embedded=on_embedded,
            )
        problem = (self.semantics.problem,) if embed and self.semantics.problem else ()
        return replace(report, notes=(*super().take_notes(), *report.notes, *problem, *self.propose()))

    def embed(
        self, paths: Collection[str] | None, *, anew: bool, on_progress: OnProgress
    ) -> tuple[list[str], IndexReport]:
        """Publish the folder with the vectors that are missing, ``anew`` those of all files, or of ``paths``, too; the
        paths of the files that got some. Raises `EmbedderUnavailable`."""
        self.check_fills()
        self.database.migrate()
        fetch_chosen(self.configuration.config, self.remote.latest_fingerprint())
        self.semantics.required()
        wanted = None if paths is None else set(paths)
        embedded: list[str] = []
        report = self.fill(
            embed=True,
            on_progress=on_progress,
            embed_anew=lambda path: anew and (wanted is None or path in wanted),
            on_embedded=embedded.append,
        )
        return embedded, report

    def propose(self) -> tuple[str, ...]:
        """Write to Milvus what it lacks of the store, in all collections. Returns notes on why that failed."""
        if self.engine is not None:
            try:
                remote.bring_up(self.database, self.engine)
            except errors.IndexUnavailable as error:
                return (f"{error.message.rstrip('.')}; PostgreSQL proposes until the next run.",)
        return ()

    def delete(self) -> bool:
        """Delete what is published; whether there was anything."""
        view = self._view
        return remote.delete_views(self.database, view.owner, view.collection)

    def problem(self) -> errors.FindlingError | None:
        """What keeps the store from answering."""
        try:
            with self.remote.snapshot():
                _ = self.remote.totals
        except errors.FindlingError as error:
            return error
        return None
