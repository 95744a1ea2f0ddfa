"""The folders that tools work on: each a root with an engine and its jobs, together a workspace. Knows no tool."""

from __future__ import annotations

import logging
import os
import statistics
import time
from collections import deque
from collections.abc import Callable, Collection, Iterable, Mapping, Sequence
from copy import copy
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING, Any, TypeVar

from msgspec.structs import replace

from findling import engine
from findling.config import choose_provider, find_root, load
from findling.config.roots import LIVE, checked_out, projects_in
from findling.contracts.model import Refusal
from findling.engine import library
from findling.model.errors import FindlingError, InvalidInput

if TYPE_CHECKING:
    from findling.config import Config
    from findling.engine import Engine, Engines
    from findling.engine.index_jobs import IndexJobs
    from findling.engine.library import Library
    from findling.engine.library.sources import Source
    from findling.engine.watching import Watch, Watcher
    from findling.model.typed_paths import StrPath


WAIT_S = 2.0
"""How long a question may index before it answers with what is there."""

_log = logging.getLogger(__name__)

_Said = TypeVar("_Said")

OPEN_REFS = 2
"""Refs that stay open beside what is checked out, as in the engine."""

_LATENCIES = 50
"""Searches whose time is remembered, for advice on the embedding model."""

WATCHED = 4
"""Roots that a workspace watches and leaves open between two questions; of the others each question looks at the disk
and opens the index. A process on macOS has 256 file descriptors: a question to 50 roots opens four for each, and a
watched root takes about seven more."""

KEPT = 4
"""Sets of roots (all, some of them, at a ref) whose joint engine is kept."""


class Root:
    """One folder that tools work on: its engine, and what goes on over its index.

    ``open_engine`` is called when something is first asked of it. ``background``: work that a question leaves undone
    goes on after the answer (a server does that; a command ends). ``config`` is obeyed instead of what is configured
    for the root. ``name`` stands before its paths where there are several roots.
    """

    def __init__(
        self, open_engine: Callable[[], Engine], *, config: Config | None, background: bool, name: str = ""
    ) -> None:
        self._open_engine = open_engine
        self.name = name
        self._given = config
        self.background = background
        self.started = time.monotonic()
        self._engine: Engine | None = None
        self._jobs: IndexJobs | None = None
        self._documents: Source | None = None
        self._ref_name = ""
        self._at: dict[str, Root] = {}
        self._watcher: Watcher | None = None

    def at(self, ref: str | None) -> Root:
        """The root as a branch, tag or commit has it; this one for what is checked out. It is closed with this one.

        Raises `RefNotIndexed`.
        """
        found = self.engine.find_ref(ref)
        if found is None:
            return self
        root = self._at.pop(found.commit_id, None)
        if root is None:
            opening = partial(engine.Engine, replace(self.engine.collection, ref=found), config=self._given)
            root = Root(opening, config=self._given, background=self.background, name=self.name)
            root.started = self.started
        root._ref_name = found.name
        self._at[found.commit_id] = root
        while len(self._at) > OPEN_REFS:
            self._at.pop(next(iter(self._at))).close()
        return root

    @property
    def ref_name(self) -> str:
        """What answers call the version of the files that is searched: the ref that was asked for, else the branch that
        is checked out, a short commit when none is, ``live`` without git and for collections of a shared store. Raises
        `errors.RootError`."""
        published = self.engine.store.configuration.collections
        return self._ref_name or (LIVE if published else checked_out(self.engine.root))

    @property
    def for_user(self) -> bool:
        """Whether a user of a shared store is answered, whom this machine's folders and branches do not concern."""
        return self._given is not None and bool(self._given.person)

    @property
    def shown_folder(self) -> str:
        """The root's path, '' for a user of a shared store. Raises `errors.RootError`."""
        return "" if self.for_user else str(self.engine.root)

    @property
    def engine(self) -> Engine:
        """Raises `errors.RootError`."""
        if self._engine is None:
            self._engine = self._open_engine()
            if self.background:
                self._engine.finished_here()
        return self._engine

    @property
    def config(self) -> Config:
        """What is configured for the root. Raises `errors.ConfigError`."""
        return self.engine.config

    @property
    def jobs(self) -> IndexJobs:
        if self._jobs is None:
            self._jobs = engine.IndexJobs(self.engine)
        return self._jobs

    @property
    def documents(self) -> Source:
        """The root's documents for a search of the library. Raises `errors.RootError`."""
        if self._documents is None:
            root = self.engine.root
            self._documents = library.Source(self.name or root.name or str(root), self.engine, kind="docs")
        return self._documents

    def finish_in_background(self) -> None:
        """Take in what the last question left out, unless a job does that already, of this process or of its own, or
        nothing may go on.

        Where a question takes nothing in, this does not either.
        """
        if self.background and self.engine.auto_index and not self.engine.goes_on:
            self.jobs.start("incremental", force=False, ref=self.ref_name, asked_for=False)

    def watch(self) -> None:
        """Take in files as they are saved, unless that is not wanted. What is wrong is each call's to say."""
        try:
            opened = self.engine
            if not (opened.auto_index and opened.config.semantic.watch):
                return
        except FindlingError:
            return
        self._watcher = engine.Watcher(opened.another, at_once=opened.config.library.max_file_watcher_concurrency)
        self._watcher.start()
        opened.listen()

    @property
    def watched(self) -> Watch | None:
        """What is watched; None where nothing is to be."""
        return self._watcher.watch if self._watcher is not None else None

    def index_at_start(self) -> None:
        """Bring the whole index up to date in the background, if ``indexOnStartup`` says so and no job runs already.
        Failures are the job's, or are logged."""
        try:
            if self.engine.config.semantic.index_on_startup:
                self.jobs.start("full", force=False, ref=self.ref_name)
        except FindlingError as error:
            _log.warning("the index is not brought up to date: %s", error)

    def check_stored_model(self) -> None:
        """Log a warning where only the stored index names the embedding model, and that model does not answer. A model
        that the configuration names was checked before the server started."""
        try:
            if not choose_provider(self.config, None, lambda: False).named:
                for warning in self.engine.check_model():
                    _log.warning("%s%s", f"{self.name}: " if self.name else "", warning)
        except FindlingError:
            return  # each call says it

    def finish(self) -> None:
        """Wait for what goes on in the background: the end of a command whose process ends with it."""
        for root in self._at.values():
            root.finish()
        if self._jobs is not None:
            self._jobs.wait()

    def rest(self) -> None:
        """Close what questions have opened; the next one opens it again. What goes on in the background goes on."""
        for root in self._at.values():
            root.rest()
        self._close_opened()

    def close(self) -> None:
        """Stops what goes on in the background; what it has taken in stays."""
        while self._at:
            self._at.popitem()[1].close()
        if self._watcher is not None:
            self._watcher.stop()
            self._watcher = None
        if self._jobs is not None:
            self._jobs.stop()
        self._close_opened()
        self._jobs = self._engine = None

    def _close_opened(self) -> None:
        if self._engine is not None:
            self._engine.close()
        self._documents = None


class _Shared:
    """What the views of a workspace have in common (`Workspace.at`)."""

    def __init__(self) -> None:
        self.library: Library | None = None
        self.engines: list[Engines] = []
        self.latencies: deque[float] = deque(maxlen=_LATENCIES)


class Workspace:
    """What tools work on: one root, or several whose names are the first part of every path.

    With a ``path`` or without ``roots``: one root, ``path`` and ``root`` as for `Engine.open`. The others as for
    `Root`. Opens nothing. Raises `InvalidInput` for several roots with a path, and for a root inside another.
    """

    def __init__(
        self,
        path: StrPath | None = None,
        *,
        root: StrPath | None = None,
        roots: Sequence[StrPath] = (),
        cache: bool = False,
        config: Config | None = None,
        background: bool = False,
    ) -> None:
        self.folders = check_roots(path, roots)
        """The roots by name, whether or not they can be opened; none where there is only one. A folder that holds
        repositories stands for these, and for the files beside them."""
        only = root if root is not None else next(iter(roots), None)
        self.left_out = 0
        """How many more repositories are in the folder than are searched."""
        if len(self.folders) < 2:
            self.folders, self.left_out = ({}, 0) if config is not None else _projects_in(path, only)

        def made(name: str, inside: StrPath | None, folder: StrPath | None) -> Root:
            opening = partial(_open_engine, inside, root=folder, cache=cache, config=config)
            return Root(opening, config=config, background=background, name=name)

        named = {name: made(name, folder, folder) for name, folder in self.folders.items()}
        self.by_name: Mapping[str, Root] = named or {"": made("", path, only)}
        """The roots that a call works on; '' is the name of one that is alone."""
        self.absent: Mapping[str, FindlingError] = {}
        """The roots that lack the ref of this call, by name, each with its error."""
        self._unopened: dict[str, FindlingError] = {}
        self._shared = _Shared()

    # --- which of the roots a call works on -----------------------------------------------------------------

    def at(self, ref: str | None) -> Workspace:
        """The roots as a branch, tag or commit has them, without those that lack it. Raises what a root says when none
        has it."""
        absent: dict[str, FindlingError] = {}
        found = self._of(engine.of_each(self.by_name, lambda root: root.at(ref), absent))
        found.absent = absent
        return found

    def some(self, names: Collection[str]) -> Workspace:
        """The roots with these names."""
        return self._of({name: root for name, root in self.by_name.items() if name in names})

    def of(self, path: str) -> tuple[str, Workspace, str]:
        """The name of the root that has a path of an answer, that root alone, and the path as it has it; '', this
        workspace and the path where there is only one. Raises `Refusal`."""
        if not self.several:
            return "", self, path
        name, own = split(self.folders, path)
        return name, self.alone(self.by_name[name]), own

    def alone(self, root: Root) -> Workspace:
        """One of the roots, as if there were no other: its paths begin with no name."""
        return self._of({"": root})

    def _of(self, roots: Mapping[str, Root]) -> Workspace:
        view = copy(self)
        view.by_name, view._unopened = roots, {}
        return view

    @property
    def roots(self) -> Sequence[Root]:
        return list(self.by_name.values())

    @property
    def several(self) -> bool:
        """Whether paths begin with the name of a root."""
        return "" not in self.by_name

    @property
    def root(self) -> Root:
        """The one that is alone."""
        return self.by_name[""]

    @property
    def opened(self) -> Mapping[str, Root]:
        """The roots that can be opened. Raises what is wrong with one when none can."""
        if not self.several:
            return self.by_name
        self._unopened = {}  # what could not be opened at the last question may be there now
        return engine.of_each(self.by_name, _open, self._unopened)

    @property
    def engine(self) -> Engine:
        """What asks the root. Raises `errors.RootError`."""
        return self.root.engine

    @property
    def asked(self) -> Engine | Engines:
        """What asks the roots, several as one. Raises `errors.RootError` where no root is there."""
        return self._engines if self.several else self.engine

    @property
    def _engines(self) -> Engines:
        engines = {name: root.engine for name, root in self.opened.items()}
        kept = self._shared.engines
        known = next((known for known in kept if known.engines == engines), None) or engine.Engines(engines)
        self._shared.engines = [known, *(each for each in kept if each is not known)][:KEPT]
        return known

    def each(self, ask: Callable[[Root], _Said]) -> dict[str, _Said]:
        """What each root says, by name ('' of one that is alone). Roots that fail are among the `problems`; raises what
        the first of them says where all fail."""
        return self._engines.each(lambda name: ask(self.by_name[name])) if self.several else {"": ask(self.root)}

    @property
    def problems(self) -> Mapping[str, FindlingError]:
        """By name the roots that the last question could not search, and why."""
        return {**self._unopened, **self._engines.problems} if self.several else {}

    @property
    def by_words(self) -> Mapping[str, str]:
        """By name the roots that the last question could not ask by meaning, though others, and why."""
        return self._engines.by_words if self.several else {}

    @property
    def config(self) -> Config:
        """What is configured; of several roots for the first: where one decision is made for all, it is made there.
        Raises `errors.ConfigError`."""
        return next(iter(self.opened.values())).config

    @property
    def ref_name(self) -> str:
        """As the roots say, ``live`` where they differ."""
        refs = {root.ref_name for root in self.opened.values()}
        return refs.pop() if len(refs) == 1 else LIVE

    # --- what they have together ----------------------------------------------------------------------------

    @property
    def library(self) -> Library:
        """What was added to the library, whatever the root. Raises `errors.ConfigError`."""
        if self._shared.library is None:
            self._shared.library = library.Library.open()
        return self._shared.library

    @property
    def jobs(self) -> IndexJobs:
        """Those of the root that is alone."""
        return self.root.jobs

    @property
    def job_active(self) -> bool:
        """Whether a job of this process goes on here."""
        return any(root.jobs.active is not None for root in self.opened.values())

    def note_latency(self, milliseconds: float) -> None:
        self._shared.latencies.append(milliseconds)

    def latency_ms(self) -> float | None:
        """The usual time of the searches made here, None when there were none."""
        return statistics.median(self._shared.latencies) if self._shared.latencies else None

    def finish_in_background(self) -> None:
        """As `Root.finish_in_background`."""
        for root in self.opened.values():
            root.finish_in_background()

    def index_at_start(self) -> None:
        """As `Root.index_at_start`: each root's own configuration decides."""
        self._behind(Root.index_at_start)

    def watch(self) -> None:
        """Take in files of the first `WATCHED` roots as they are saved, unless that is not wanted."""
        self._behind(Root.watch, self.roots[:WATCHED])

    def check_stored_models(self) -> None:
        """As `Root.check_stored_model`."""
        self._behind(Root.check_stored_model)

    def _behind(self, begin: Callable[[Root], None], roots: Sequence[Root] | None = None) -> None:
        """Do for each root, or for ``roots``, what no call waits for: a defect costs that root alone, and is logged."""
        for root in self.roots if roots is None else roots:
            try:
                begin(root)
            except Exception:  # noqa: BLE001 - nobody waits for it: it is logged, and the other roots go on
                _log.exception("%s failed for %s", begin.__name__, root.name or "the root")

    def finish(self) -> None:
        """Wait for what goes on in the background: the end of a command whose process ends with it."""
        for root in self.roots:
            root.finish()

    def rest(self) -> None:
        """Close what questions have opened; the next one opens it again. What goes on in the background goes on."""
        self._behind(Root.rest)
        self._close_library()

    def rest_unwatched(self) -> None:
        """Close what a question has opened in the roots after the first `WATCHED`."""
        self._behind(Root.rest, self.roots[WATCHED:])

    def close(self) -> None:
        """Stops what goes on in the background; what it has taken in stays."""
        self._shared.engines.clear()
        for root in self.roots:
            root.close()
        self._close_library()

    def _close_library(self) -> None:
        if self._shared.library is not None:
            self._shared.library.close()
        self._shared.library = None

    def __enter__(self) -> Workspace:
        return self

    def __exit__(self, *_: object) -> None:
        self.close()


def _open(root: Root) -> Root:
    _ = root.config
    return root


# --- names of roots: the first part of a path says which root it is in -----------------------------------------------


def _open_engine(path: StrPath | None, **options: Any) -> Engine:
    """As `Engine.open`, which is loaded when the first root is opened."""
    return engine.Engine.open(path, **options)


def _projects_in(path: StrPath | None, root: StrPath | None) -> tuple[dict[str, Path], int]:
    """The repositories in the folder that was typed, and itself where files lie beside them, and how many more there
    are; none where it is a project itself, is kept in a shared store, or something is wrong with it, which each call
    says."""
    where, folder = (None if given is None else Path(given) for given in (path, root))
    try:
        found = find_root(where, root=folder)
        folders, left_out = ({}, 0) if found.scope else projects_in(found.root)
        return ({}, 0) if folders and load(found.root).config.store.url is not None else (folders, left_out)
    except FindlingError:
        return {}, 0


def split(folders: Mapping[str, Path], path: str) -> tuple[str, str]:
    """(name of the root, path inside it, '' for the root itself) of a path that begins with a root's name, or of an
    absolute one. Raises `Refusal` for one that is in no root."""
    if os.path.isabs(path):  # noqa: PTH117
        for name, folder in folders.items():
            normal = Path(os.path.normpath(path))
            for base in (folder, Path(os.path.realpath(folder))):
                if normal.is_relative_to(base):
                    relative = normal.relative_to(base).as_posix()
                    return name, "" if relative == "." else relative
    elif found := engine.collection_of(folders, path):
        return found
    raise Refusal("invalid_input", f"path must begin with the name of a root ({', '.join(folders)}), not be {path}")


def name_roots(folders: Iterable[Path]) -> dict[str, Path]:
    """The folders by names that tell them apart, each once. Raises `InvalidInput` when one lies in another."""
    unique = list(dict.fromkeys(Path(os.path.realpath(folder)) for folder in folders))
    for inner in unique:
        for outer in unique:
            if inner != outer and inner.is_relative_to(outer):
                raise InvalidInput(f"The root {inner} lies in the root {outer}.", remedy="Give one of the two.")
    plain = [folder.name or "root" for folder in unique]
    named: dict[str, Path] = {}
    for folder, name in zip(unique, plain, strict=True):
        if plain.count(name) > 1 and folder.parent.name:
            name = f"{folder.parent.name}-{name}"
        named[_free(name, named)] = folder
    return named


def check_roots(path: StrPath | None, roots: Sequence[StrPath]) -> dict[str, Path]:
    """The roots that were typed, by name. Raises `InvalidInput` for several with a path, and as `name_roots`."""
    named = name_roots([Path(root) for root in roots])
    if path is not None and len(named) > 1:
        raise InvalidInput("PATH narrows one root, not several.", remedy="Leave out PATH or all but one --root.")
    return named


def _free(name: str, taken: Iterable[str]) -> str:
    known = set(taken)
    number, free = 1, name
    while free in known:
        number += 1
        free = f"{name}-{number}"
    return free
