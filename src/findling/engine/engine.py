"""The public `Engine`: one root, one store, everything that can be asked of it. Wires the parts, decides nothing.

An `Engine` is for one thread. It keeps itself fresh: each question first looks at the disk within a bounded time,
takes in what changed when that is quick, and says so when it is not.
"""

from __future__ import annotations

import os
import shutil
import tempfile
import time
from collections.abc import Callable, Iterator, Sequence
from contextlib import AbstractContextManager, closing, contextmanager, suppress
from functools import cached_property, partial, wraps
from pathlib import Path
from typing import TYPE_CHECKING, Any, TypeVar, Unpack, cast

from msgspec.structs import replace

from findling import search, sources
from findling.config import roots
from findling.engine import parts
from findling.engine.configuration import Recipe
from findling.engine.freshness import Freshened, Question, freshen
from findling.engine.questions import Questions
from findling.engine.refs import RefStore, check_scope, committed_at, find_ref
from findling.engine.scope import paths_from, paths_like, relative
from findling.engine.semantics import fetch_chosen
from findling.engine.store import WRITER_WAIT_S, OpenStore
from findling.model import errors
from findling.model.collection import Collection, Ref, of_folder
from findling.model.types import (
    Coverage,
    Freshness,
    GrepOptions,
    GrepResult,
    IndexReport,
    OnProgress,
    Status,
)
from findling.outbound.files import Files
from findling.store import local as store

if TYPE_CHECKING:
    from findling.config import Config
    from findling.embedding import Fingerprint
    from findling.engine.answers import Answers
    from findling.engine.documents import DocumentModel, DocumentText
    from findling.engine.jobs import Job, RunningJob
    from findling.engine.runs import VectorReport
    from findling.engine.state import Health
    from findling.model.reports import Explanation
    from findling.model.typed_paths import StrPath
    from findling.search.exact import Grep
    from findling.search.names import FileSymbols
    from findling.search.passages import DocumentScope
    from findling.sources.selection import DiscoveryOptions
    from findling.store.local.sqlite_export import Exported
    from findling.store.protocols import KeptIndex

_ALONE = "findling-file-"
"""The prefix of temporary folders with the index of a single file."""

_LEFT_BEHIND_S = 3600.0
"""Older temporary folders were left behind by killed processes."""

OPEN_REFS = 2
"""Refs that stay open beside the folder: two are compared; more cost memory."""

GREP_LINES = 10_000
"""The most lines that `Engine.grep` returns by default, some ten megabytes. `Engine.grep_stream` needs no limit."""

_Answer = TypeVar("_Answer")
_Method = TypeVar("_Method", bound=Callable[..., Any])


def _mends(method: _Method) -> _Method:
    """The method; if it finds the index damaged, the index is removed and the method called again
    (`OpenStore.mending`)."""

    @wraps(method)
    def called(self: Engine, /, *args: Any, **options: Any) -> Any:
        return self._store.mending(lambda: method(self, *args, **options))

    return cast("_Method", called)


class Engine(Questions):
    """Search over one folder. Use `Engine.open`, and as a context manager."""

    def __init__(self, collection: Collection, *, recipe: Recipe | None = None, config: Config | None = None) -> None:
        """``config``: as for `open`. ``recipe``: what is indexed and how, instead of what the configuration says; then
        the index stays where it is whether or not the root could hold it."""
        store = OpenStore(collection, recipe=recipe, config=config)
        if collection.shared:
            store = _shared(store, collection.shared)
        elif collection.ref is not None:
            store = RefStore(store, collection.ref)
        self._store = store
        self._refs: dict[str, Engine] = {}
        self._folder: tempfile.TemporaryDirectory[str] | None = None
        """The temporary folder of an index that is deleted at the end."""

    @classmethod
    def open(
        cls,
        path: StrPath | None = None,
        *,
        root: StrPath | None = None,
        cache: bool = False,
        config: Config | None = None,
        ref: str | None = None,
        file_alone: bool = False,
    ) -> Engine:
        """The engine for the root that ``path`` (default: the working directory) belongs to.

        ``root`` is taken literally; ``cache`` keeps the index in the user's cache folder. ``config`` is obeyed instead
        of the root's files, the user's and the environment, which are read otherwise, when something first depends on
        them (then a wrong one is a `ConfigError`). ``ref``: as for `at`; ``path`` need not be on disk then, but there.
        ``file_alone``: a file of a root that has no index is read alone, and nothing stays of what that takes.
        Raises `RootError`, `RefNotIndexed` and `NotFound`.
        """
        where, folder = (None if given is None else Path(given) for given in (path, root))
        found = roots.find_root(where, root=folder, may_be_gone=ref is not None)
        location = roots.store_location(found.root, cache=cache, create=False)
        # Nothing is open yet, so an engine that another is made from needs no closing.
        engine = cls(of_folder(found.root, location.directory, folder=found.scope, cache=cache), config=config)
        with suppress(errors.ConfigError):  # an error in it is raised when something first depends on it
            if (url := engine._store.configuration.store_url) is not None:
                engine._store = _shared(engine._store, url)
            elif file_alone and ref is None and not engine._store.exists and (found.root / found.scope).is_file():
                engine._read_alone()
        engine = engine.at(ref)
        if ref is not None:
            check_scope(found.root, engine.ref, engine.scope)
        return engine

    @property
    def collection(self) -> Collection:
        """What is searched."""
        return self._store.collection

    @property
    def store(self) -> OpenStore:
        """What is open of the collection, for the other parts of this package."""
        return self._store

    def another(self) -> Engine:
        """A new engine that searches the same, for another thread."""
        configuration = self._store.configuration
        return Engine(self.collection, recipe=configuration.recipe, config=configuration.given)

    @property
    def root(self) -> Path:
        """The folder from which paths are relative."""
        return self._store.root

    @property
    def scope(self) -> str:
        return self._store.collection.folder

    @property
    def is_shared(self) -> bool:
        """Whether what is searched lies in a store that machines share."""
        return self._store.shared is not None

    @property
    def in_cache(self) -> bool:
        """Whether the index was asked for in the user's cache folder."""
        return self._store.collection.cache

    @property
    def store_dir(self) -> Path:
        """Where the index lies; the folder need not exist yet."""
        return self._store.directory

    @property
    def manifest_key(self) -> tuple[str, str]:
        """The root and ref under which the index keeps what is searched here."""
        return self._store.manifest_key

    @property
    def texts(self) -> Path | Files:
        """Where answers read lines of files: the root, or a commit's files. For the engine's thread."""
        return self._store.source

    def new_files(self) -> Files:
        """The searched files, opened anew for any one thread, which has to close them."""
        return self._store.new_files()

    @property
    def config(self) -> Config:
        """The configuration. Raises `ConfigError`."""
        return self._store.configuration.effective

    @property
    def wanted(self) -> DiscoveryOptions:
        """Which files are to be indexed. Raises `ConfigError`."""
        return self._store.configuration.wanted

    @property
    def log_level(self) -> str:
        """The configured level of the log, '' if nothing at all is configured. Raises `ConfigError`."""
        config = self._store.configuration.config
        return config.log.level if config else ""

    @property
    def auto_index(self) -> bool:
        """Whether a question indexes changed files first, as it does unless the configuration forbids it."""
        return self._store.configuration.auto_index

    @property
    def ref(self) -> Ref | None:
        """The commit that is searched here; None for the folder on disk."""
        return self._store.ref

    @cached_property
    def committed_at(self) -> float | None:
        """When what is searched here was committed, in seconds since 1970; None for the folder on disk. Raises
        `RefNotIndexed` where git cannot say."""
        return None if self.ref is None else committed_at(self.root, self.ref)

    def at(self, ref: str | None) -> Engine:
        """The engine for a branch, tag or commit, or for the folder with ``live`` and what is checked out; this one
        for what it has, and None.

        It is closed with this one, or when other refs were asked for since. Every question takes a ``ref`` as well.
        Raises `RefNotIndexed` for what is no ref of this repository. Of collections of a shared store what was
        published under this name is meant: their repository need not be here.
        """
        here = self.ref.commit_id if self.ref is not None else None
        if here is not None and ref in (None, here):
            return self
        found = self.find_ref(ref)  # anew each time: a branch moves
        if (found and found.commit_id) == here:
            return self
        key = roots.LIVE if found is None else found.commit_id
        engine = self._refs.pop(key, None)
        if engine is None:
            engine = Engine(replace(self.collection, ref=found))
            engine._store.configuration = self._store.configuration
        if found is not None:
            engine._store.notes += [note for note in found.notes if note not in engine._store.notes]
        self._refs[key] = engine
        while len(self._refs) > OPEN_REFS:
            self._refs.pop(next(iter(self._refs))).close()
        return engine

    def of(self, path: str) -> tuple[Engine, str]:
        """The engine that has a path of an answer, and the path as it has it: this one, as it is (see `Engines.of`)."""
        return self, path

    def find_ref(self, asked: str | None) -> Ref | None:
        """What the name of a ref means for `at`; None for what this engine's folder has. Raises `RefNotIndexed`."""
        shared = self._store.shared
        return shared.find_ref(asked) if shared is not None else find_ref(self.root, asked)

    def _read_alone(self) -> None:
        """Have an index of the file that is searched, for as long as this engine is open."""
        wanted = replace(self.wanted, files=(self.scope,))
        _remove_left_behind()
        self._folder = tempfile.TemporaryDirectory(prefix=_ALONE, ignore_cleanup_errors=True)
        recipe = Recipe(wanted, self._store.configuration.limits.docs)
        self._store = OpenStore(replace(self.collection, index=self._folder.name), recipe=recipe)

    def close(self) -> None:
        while self._refs:
            self._refs.popitem()[1].close()
        self._store.close()
        if self._folder is not None:
            self._folder.cleanup()

    def __enter__(self) -> Engine:
        return self

    def __exit__(self, *_: object) -> None:
        self.close()

    def listen(self) -> None:
        """Look only where the system says that something happened, where it tells of everything: for a process that
        stays, as it takes a moment to begin with."""
        self._store.listens = True

    # --- indexing -------------------------------------------------------------------------------------------

    @_mends
    def index(
        self,
        *,
        force: bool = False,
        embed: bool = True,
        unlisted: bool = False,
        publish: bool = False,
        progress: OnProgress | None = None,
    ) -> IndexReport:
        """Bring the whole index up to date, vectors included. ``force`` builds it anew from the files, and the old one
        answers until the new one is whole; on a ref's engine it makes the ref's list of files anew, and contents that
        the index has by then are not parsed again.

        The report names all that is left out by then, with ``unlisted`` as `status` does. ``publish``: even as the
        collection of a shared store that everybody finds under the configured name; without it that raises
        `InvalidInput`."""
        self._store.configuration.check()
        if (shared := self._store.shared) is not None:
            on_progress = progress or (lambda _: None)
            return shared.fill(embed=embed, anew=force, on_progress=on_progress, publish=publish)
        if force and self.store_dir.is_dir():
            if isinstance(self._store, RefStore):
                self._store.forget()
            elif self._store.exists:
                return self._run(None, embed=embed, unlisted=unlisted, progress=progress, anew=True)
            else:
                self._store.remove()
        return self._run(None, embed=embed, unlisted=unlisted, progress=progress)

    @_mends
    def sync(
        self,
        paths: StrPath | Sequence[StrPath] | None = None,
        *,
        unlisted: bool = False,
        progress: OnProgress | None = None,
    ) -> IndexReport:
        """Take in changes: of the whole root, or of the named file or files (relative to the root, or absolute).

        The report names all that is left out by then, with ``unlisted`` as `status` does; of named files what the run
        came upon, with ``unlisted`` all that is left out there.

        Vectors of another model than the index has are not made; `index` and `reembed` do that.
        """
        if (shared := self._store.shared) is not None:  # it takes whole folders only
            return shared.fill(embed=True, on_progress=progress or (lambda _: None))
        return self._run(
            None if paths is None else [relative(self.root, path) for path in _each(paths)],
            embed=self._store.semantics.mismatch() is None,
            unlisted=unlisted,
            progress=progress,
        )

    @property
    def shared_store(self) -> str:
        """The address of the shared store that is searched; '' for an index on this machine."""
        return self._store.shared.database.url if self._store.shared else ""

    def delete_published(self) -> bool:
        """Delete the searched collections from the shared store; tells whether there were any."""
        assert self._store.shared is not None
        return self._store.shared.delete()

    def check_updates(self) -> None:
        """Raises `InvalidInput` where what is searched are collections of a shared store, which are everybody's:
        nothing but `index` with ``publish`` replaces one."""
        if self._store.shared is not None:
            self._store.shared.check_fills()

    def paths_meant(self, path: str) -> list[str]:
        return paths_from(self.root, path)

    def freshen(self, asked: Question) -> tuple[Freshness, str]:
        store = self._store
        return store.mending(lambda: freshen(store, asked), lambda: store.may_begin_anew(asked.wait_s))

    @_mends
    def reembed(
        self, paths: StrPath | Sequence[StrPath] | None, *, anew: bool, progress: OnProgress | None = None
    ) -> VectorReport:
        """Make the vectors of this indexed file or these (None: all), ``anew`` even where nothing changed.

        Raises `EmbedderUnavailable`.
        """
        names = None if paths is None else _each(paths)
        if (shared := self._store.shared) is not None:
            with self.job(progress) as job:
                embedded, report = shared.embed(names, anew=anew, on_progress=job)
            skipped = tuple(path for path in names or () if path not in set(embedded))
            return parts.runs.VectorReport(tuple(embedded), skipped, (), report.embedded, notes=report.notes)
        return parts.runs.reembed(self._store, names, anew=anew, progress=progress)

    @_mends
    def embed(self, *, force: bool = False, progress: OnProgress | None = None) -> VectorReport:
        """Take in what changed, then make the vectors that are missing below `scope`; with ``force`` all anew.

        Fetches the chosen model where it comes from the hub and is not here yet. Raises `EmbedderUnavailable`.
        """
        if self.is_shared:
            return self.reembed(None, anew=force, progress=progress)
        with self.job(progress) as job:
            taken_in = self.index(embed=False, progress=job)
            notes = tuple(note for note in taken_in.notes if note != self._store.semantics.problem)
            fetch_chosen(self._store.configuration.config, self._store.reader.latest_fingerprint())
            below = parts.runs.paths_below(self._store, self.scope)
            report = parts.runs.reembed(self._store, below, anew=force, progress=job)
        return replace(report, notes=notes)

    def job(self, progress: OnProgress | None = None) -> AbstractContextManager[RunningJob]:
        """One job for several calls, which take it as their ``progress``."""
        return parts.index_jobs.running_job(self._store, progress, kind="embed", whole=True)

    def check_model(self) -> list[str]:
        """Notes about the embedding model for the start of a server.

        Raises `EmbedderUnavailable` where the configured dimensions are not the model's.
        """
        return self._store.semantics.check()

    @contextmanager
    def _index_to_export(self) -> Iterator[KeptIndex]:
        """The index within a snapshot, by a reader of its own, as questions may be asked meanwhile."""
        if (shared := self._store.shared) is not None:
            with shared.for_one_answer():
                yield shared.remote
            return
        self._store.ready_to_read()
        with closing(store.IndexReader(self._store.directory, *self.manifest_key)) as reader, reader.snapshot():
            yield reader

    def vectors(self, model: str | None = None) -> Iterator[dict[str, Any]]:
        """Every vector with the place of its chunk (`findling.store.local.sqlite_export`), of one model or of all."""
        if self._store.exists:
            with self._index_to_export() as index:
                yield from store.exported(index, model)

    def export(self, target: StrPath) -> Exported:
        """Write the documented tables (`store.local.sqlite_export`) into a new SQLite database, or over such a one.

        Raises `InvalidInput` where something else stands there, `StorageFull`, and as `vectors` the index's errors.
        """
        with self._index_to_export() as index, closing(self.new_files()) as files:
            text_of = partial(search.indexed_text, index, files, max_bytes=self.wanted.max_bytes)
            if (shared := self._store.shared) is not None:
                if index.manifest is None:  # an earlier export must not be replaced with nothing
                    raise shared.unpublished()
                return store.export(index, lambda file: index.doc_text(file.blob_id), Path(target))
            return store.export(index, text_of, Path(target))

    def _run(
        self,
        paths: Sequence[str] | None,
        *,
        embed: bool,
        unlisted: bool,
        progress: OnProgress | None,
        anew: bool = False,
    ) -> IndexReport:
        if anew:
            report, problem = parts.runs.build_anew(self._store, embed=embed, progress=progress), ""
        else:
            report = parts.runs.run(self._store, paths=paths, embed=embed, progress=progress, wait_s=WRITER_WAIT_S)
            problem = self._store.semantics.problem
        if paths is None or unlisted:
            report = parts.state.with_left_out(self._store, report, paths, unlisted=unlisted)
        notes = (*self._store.take_notes(), *report.notes, *([problem] if problem else []))
        if paths is None and (most_bytes := self._store.configuration.most_bytes_of_all) is not None:
            deleted = parts.indexes.keep_below(most_bytes, self._store.directory)
            notes += tuple(f"The index of {index.root} was deleted (index.max_total_bytes)." for index in deleted)
        return replace(report, notes=notes)

    # --- questions ------------------------------------------------------------------------------------------

    def answered(self, asked: Question, answer: Callable[[Answers, Freshened], _Answer]) -> _Answer:
        started = time.monotonic()
        store = self._store

        def attempt() -> _Answer:
            fresh = Freshened(*freshen(store, asked), started, asked.wait_s)
            with store.for_one_answer():
                return answer(self._answers, fresh)

        return store.mending(attempt, lambda: store.may_begin_anew(asked.wait_s))

    def grep(
        self,
        pattern: str | Sequence[str],
        *,
        limit: int = GREP_LINES,
        ref: str | None = None,
        **options: Unpack[GrepOptions],
    ) -> GrepResult:
        """Every occurrence of an expression, or of any of several, with exact counts; needs no index and makes none.

        ``limit`` bounds the lines returned (0: all); the other options are those of `GrepOptions`. Raises
        `InvalidPattern` with the position of what is wrong, and `InvalidInput`.
        """
        return self.grep_stream(pattern, limit=limit, ref=ref, **options).collect()

    def grep_stream(
        self,
        pattern: str | Sequence[str],
        *,
        limit: int = 0,
        ref: str | None = None,
        show_secrets: bool = False,
        **options: Unpack[GrepOptions],
    ) -> Grep:
        """As `grep`, file by file: iterate over the answer, then ask for its ``totals``. ``show_secrets``: they are not
        masked, for the eyes of the user alone; then the index is of no help."""
        at, exact = self.at(ref), parts.text_search
        request = replace(exact.request_of(at.store, self.scope, pattern, options), limit=limit)
        return exact.opened(at.store, request, by_time=options.get("sort") == "modified", show_secrets=show_secrets)

    def status(self, *, ref: str | None = None, unlisted: bool = False) -> Status:
        """The state of the index, looked at without changing it.

        ``unlisted``: among what is left out are also files and folders that git ignores, and pipes and devices, which
        no run lists; in a tree of 70,000 files that takes half a second.
        """
        return parts.state.status(self._store if ref is None else self.at(ref).store, unlisted=unlisted)

    def health(self) -> Health:
        """Whether the folder and its index are there and can be read."""
        return parts.state.health(self._store)

    @property
    def active_job(self) -> Job | None:
        """The run that goes on over what is searched here, of this process or of another, and how far it is.

        None in its first second, which most runs do not outlast. Looks, and changes nothing."""
        return parts.index_jobs.active_job(self._store)

    @property
    def goes_on(self) -> bool:
        """Whether the last question was answered without an index, and left a process behind that makes it."""
        return self._store.first_answer is not None and self._store.first_answer.goes_on

    def finished_here(self) -> None:
        """Whoever has opened this engine indexes what a question leaves out, so the answer calls that syncing."""
        self._store.finished_here = True

    def stop_jobs(self) -> int:
        """End the runs that go on over what is searched here, of whichever process, and wait until they have ended, for
        some seconds; their number. What was taken in stays."""
        return parts.index_jobs.stop(self._store)

    def paths_like(self, path: str) -> list[str]:
        """The files nearest to a path that is none, from the root, the best first."""
        return paths_like(self._store, path)

    def never_indexed(self) -> Coverage:
        """The coverage of an answer while nothing is indexed yet."""
        return parts.state.never_indexed(self._store)

    def listed(self) -> tuple[set[str], set[str]]:
        """Every file that is listed in the index, those among them whose contents are left out; and every folder in
        which files would be listed, the root ('') among them."""
        with self._store.reader.snapshot():
            known, tree = set(self._store.reader.listed.known_files()), self._store.reader.listed.tree()
        return known, {*sources.folders_above(known), *(tree.folders if tree else ())}

    def changed(self, paths: StrPath | Sequence[StrPath]) -> tuple[list[str], set[str]]:
        """Which of these (or this one; relative to the root) are new, gone, changed or not surely as they were (read
        too soon after they were written), and which are no files to index."""
        names = _each(paths)
        with self._store.index.snapshot():
            if not isinstance(self.texts, Path):  # nothing changes in a commit, nor in what was published
                return [], {path for path in names if self._store.reader.listed.state_of(path) is None}
            known = {path: state for path in names if (state := self._store.state_of(path)) is not None}
        looked = sources.look_at(self.root, names, known, self._store.configuration.wanted)
        refused = {skip.path for skip in looked.skipped or () if skip.reason != "not_found"}
        return [*(path for path, _, _ in looked.files), *looked.removed], refused - known.keys()

    def why(self, path: StrPath) -> Explanation:
        """Whether a file or folder (absolute, or from the root) is indexed, and which rule decides; changes nothing."""
        return parts.explain.explain(self._store, os.fspath(path))

    @_mends
    def document_text(self, path: StrPath) -> DocumentText | None:
        """The text that an indexed document (a PDF) was converted to; ``path`` from the root. None for a file that is
        text by itself, or is not in the index."""
        return parts.documents.text_of(self._store, os.fspath(path))

    @_mends
    def file_symbols(self, path: str) -> FileSymbols | None:
        """The definitions of a file, ``path`` from the root; None when it is not in the index."""
        return self._answers.file_symbols(path)

    def document_paths(self, scope: DocumentScope) -> list[str]:
        """The paths of the indexed documents of a scope, whatever their tags."""
        if not self._store.exists:
            return []
        self._store.close_if_replaced()
        with self._store.reader.snapshot():
            below = parts.documents.documents_below(self._store.reader, self.scope)
            return [file.path for file in scope.of_files(below, lambda _: scope.tags)]

    def document_model(self, query: str = "") -> DocumentModel:
        """The model that the next question to documents will use. May open it."""
        return parts.documents.model(self._store, query)

    @property
    def fingerprint(self) -> Fingerprint | None:
        """The fingerprint of the embedder, None if there is none. Opens it."""
        embedder = self._store.semantics.embedder()
        return embedder.fingerprint if embedder is not None else None

    @property
    def model_problem(self) -> str:
        """Why no embedder answers where one is wanted; '' otherwise, and before one was asked for."""
        return self._store.semantics.problem

    def coverage(self) -> Coverage:
        """The coverage that a question to the present index would have."""
        if not self._store.searchable:
            return self.never_indexed()
        self._store.close_if_replaced()
        return parts.state.coverage(self._store)

    # --- parts ----------------------------------------------------------------------------------------------

    @cached_property
    def _answers(self) -> Answers:
        return parts.answers.Answers(parts.searched.Searched([parts.searched.OpenCollection(self._store)]))


def _shared(store: OpenStore, url: str) -> OpenStore:
    """The store at an address that machines share, instead of one on this machine."""
    from findling.engine.remote.store import RemoteStore  # few have one

    return RemoteStore(store, url)


def _each(paths: StrPath | Sequence[StrPath]) -> list[str]:
    return [os.fspath(path) for path in ([paths] if isinstance(paths, str | os.PathLike) else paths)]


def _remove_left_behind() -> None:
    """Remove the user's temporary folders with the index of a single file that killed processes have left."""
    with suppress(OSError), os.scandir(tempfile.gettempdir()) as entries:
        for entry in entries:
            if entry.name.startswith(_ALONE) and entry.is_dir(follow_symlinks=False):
                status = entry.stat(follow_symlinks=False)
                is_own = not hasattr(os, "getuid") or status.st_uid == os.getuid()
                if is_own and time.time() - status.st_mtime > _LEFT_BEHIND_S:
                    shutil.rmtree(entry.path, ignore_errors=True)
