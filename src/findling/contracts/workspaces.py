"""Several roots in one place: a workspace for each, and one that stands for all of them. Must not know any tool."""

from __future__ import annotations

import logging
import os
import statistics
import time
from collections import deque
from collections.abc import Callable, Collection, Iterable, Mapping, Sequence
from pathlib import Path
from typing import TYPE_CHECKING, cast

from findling import engine
from findling.config.roots import LIVE, checked_out
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
    from findling.model.types import Progress


WAIT_S = 2.0
"""How long a question may index before it answers with what is there."""

ASK_S = 0.5
"""What a question that waited for a job keeps of its time, to look at the disk and for what changed since."""

_log = logging.getLogger(__name__)

OPEN_REFS = 2
"""Refs that stay open beside what is checked out, as in the engine."""

_LATENCIES = 50
"""Searches whose time is remembered, for advice on the embedding model."""


class Workspace:
    """One root. ``path`` and ``root`` as for `Engine.open`; nothing is opened or read before it is asked for.

    ``background``: work that a question leaves undone goes on after the answer (a server does that; a command ends).
    ``config`` is obeyed instead of what is configured for the root. ``name`` is the root's among several.
    """

    def __init__(
        self,
        path: StrPath | None = None,
        *,
        root: StrPath | None = None,
        cache: bool = False,
        config: Config | None = None,
        background: bool = False,
        name: str = "",
    ) -> None:
        self._path, self._root, self._cache = path, root, cache
        self._name = name
        self._given = config
        self.background = background
        self.started = time.monotonic()
        self._engine: Engine | None = None
        self._jobs: IndexJobs | None = None
        self._latencies: deque[float] = deque(maxlen=_LATENCIES)
        self._library: Library | None = None
        self._documents: Source | None = None
        self._ref = ""
        self._ref_name = ""
        self._at: dict[str, Workspace] = {}
        self._watcher: Watcher | None = None
        self.absent: Mapping[str, FindlingError] = {}
        """Where there are several roots: those without the ref that was asked for, and what is said of them."""

    def at(self, ref: str | None) -> Workspace:
        """The workspace of a branch, tag or commit; this one for what is checked out. It is closed with this one.

        Raises `RefNotIndexed`.
        """
        found = engine.find_ref(self.engine.root, ref)
        if found is None:
            return self
        workspace = self._at.pop(found.commit_id, None)
        if workspace is None:
            workspace = Workspace(
                self._path,
                root=self._root,
                cache=self._cache,
                config=self._given,
                background=self.background,
                name=self._name,
            )
            workspace._ref = found.commit_id
            workspace.started = self.started
        workspace._ref_name = found.name
        self._at[found.commit_id] = workspace
        while len(self._at) > OPEN_REFS:
            self._at.pop(next(iter(self._at))).close()
        return workspace

    @property
    def ref_name(self) -> str:
        """What answers call the version of the files that is searched: the ref that was asked for, else the branch that
        is checked out, a short commit when none is, ``live`` without git. Raises `errors.RootError`."""
        return self._ref_name or checked_out(self.engine.root)

    @property
    def roots(self) -> Sequence[Workspace]:
        """The workspaces of single roots that this one stands for."""
        return (self,)

    @property
    def engine(self) -> Engine:
        """Raises `errors.RootError`."""
        if self._engine is None:
            self._engine = self._open_engine()
        return self._engine

    @property
    def config(self) -> Config:
        """What is configured for the root. Raises `errors.ConfigError`."""
        return self.engine.config

    @property
    def jobs(self) -> IndexJobs:
        if self._jobs is None:
            self._jobs = engine.IndexJobs(self._open_engine, self.engine.store_dir, self.engine.manifest_key)
        return self._jobs

    @property
    def job_active(self) -> bool:
        """Whether a job of this process goes on here."""
        return any(root.jobs.active is not None for root in self.roots)

    @property
    def library(self) -> Library:
        """What was added to the library, whatever the root. Raises `errors.ConfigError`."""
        if self._library is None:
            self._library = library.Library.open()
        return self._library

    @property
    def documents(self) -> Source:
        """The root's documents for a search of the library. Raises `errors.RootError`."""
        if self._documents is None:
            root = self.engine.root
            self._documents = library.Source(self._name or root.name or str(root), self.engine, kind="docs")
        return self._documents

    def finish_in_background(self) -> None:
        """Take in what the last question left out, unless a job does that already, of this process or of its own, or
        nothing may go on.

        Where a question takes nothing in, this does not either.
        """
        if not (self.background and self.engine.auto_index) or self.engine.goes_on:
            return
        if not self._looked_lately():
            self.jobs.start("incremental", force=False, ref=self.ref_name, asked_for=False)

    def wait_for_text(self, wait_s: float | None, progress: Callable[[Progress], None] | None = None) -> float | None:
        """Before a question that text and names answer: wait for those that a job takes in just now, at most so long.

        What is left of the time, for the question. ``progress`` as for `contracts.model.Call`.
        """
        if self._jobs is None or wait_s is None:
            return wait_s
        started = time.monotonic()
        self._jobs.wait_for_text(max(0.0, wait_s - ASK_S), progress)
        return max(ASK_S, started + wait_s - time.monotonic())

    def _looked_lately(self) -> bool:
        """Whether nothing is known to be left, and all was looked at too short a time ago to be worth it again."""
        if not self.engine.only_unlooked:
            return False
        looks = [look for look in (self.engine.last_whole_look, self.jobs.last_run) if look is not None]
        return any(time.monotonic() - ended < engine.freshness.CHECK_PAUSE * cost for ended, cost in looks)

    def watch(self) -> None:
        """Take in files as they are saved, unless that is not wanted. What is wrong is each call's to say."""
        try:
            opened = self.engine
            if not (opened.auto_index and opened.config.semantic.watch):
                return
        except FindlingError:
            return
        self._watcher = engine.Watcher(self._open_engine, at_once=opened.config.library.max_file_watcher_concurrency)
        self._watcher.start()
        opened.listen()

    @property
    def watched(self) -> Watch | None:
        """What is watched; None where nothing is to be."""
        return self._watcher.watch if self._watcher is not None else None

    def index_in_background(self) -> None:
        """Bring the whole index up to date, unless a job runs already. Failures are the job's, or are logged."""
        try:
            self.jobs.start("full", force=False, ref=self.ref_name)
        except FindlingError as error:
            _log.warning("the index is not brought up to date: %s", error)

    def note_latency(self, milliseconds: float) -> None:
        self._latencies.append(milliseconds)

    def latency_ms(self) -> float | None:
        """The usual time of the searches made here, None when there were none."""
        return statistics.median(self._latencies) if self._latencies else None

    def finish(self) -> None:
        """Wait for what goes on in the background: the end of a command whose process ends with it."""
        for workspace in self._at.values():
            workspace.finish()
        if self._jobs is not None:
            self._jobs.wait()

    def rest(self) -> None:
        """Close what questions have opened; the next one opens it again. What goes on in the background goes on."""
        for workspace in self._at.values():
            workspace.rest()
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
        if self._library is not None:
            self._library.close()
        if self._engine is not None:
            self._engine.close()
        self._documents = self._library = None

    def __enter__(self) -> Workspace:
        return self

    def __exit__(self, *_: object) -> None:
        self.close()

    def _open_engine(self) -> Engine:
        return engine.Engine.open(
            self._path, root=self._root, cache=self._cache, config=self._given, ref=self._ref or None
        )


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
    else:
        first, _, rest = path.removeprefix("./").partition("/")
        if first in folders:
            return first, rest.strip("/")
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


# --- names of roots: the first part of a path says which root it is in -----------------------------------------------


KEPT = 4
"""Sets of roots (all, some of them, at a ref) whose joint engine is kept."""


class Workspaces(Workspace):
    """All of several roots. ``by_name`` are the workspaces of each; their names are the first part of every path.
    ``folders`` are the same roots by name, whether or not they can be opened.

    It is given to the handlers of tools that search everywhere; its engine asks all roots as one. Tools about one file
    or one index get the workspace of one root instead (`several`).
    """

    def __init__(
        self, roots: Sequence[StrPath], *, cache: bool = False, config: Config | None = None, background: bool = False
    ) -> None:
        super().__init__(roots[0], root=roots[0], cache=cache, config=config, background=background)
        self.folders: Mapping[str, Path] = name_roots([Path(root) for root in roots])
        self.by_name: Mapping[str, Workspace] = {
            name: Workspace(folder, root=folder, cache=cache, config=config, background=background, name=name)
            for name, folder in self.folders.items()
        }
        self._unopened: Mapping[str, FindlingError] = {}
        self._joined: list[Engines] = []

    def at(self, ref: str | None) -> Workspaces:
        """As `Workspace.at`, of the roots that have the ref. Raises what a root says when none has it."""
        absent: dict[str, FindlingError] = {}
        found = engine.of_each(self.by_name, lambda root: root.at(ref), absent)
        return _Some(self, found, absent=absent)

    def opened(self, names: Collection[str] | None = None) -> Workspaces:
        """The roots that can be opened, of all or of those by these names, for one call. Raises what is wrong with one
        when none can."""
        unopened: dict[str, FindlingError] = {}
        wanted = {name: root for name, root in self.by_name.items() if names is None or name in names}
        found = engine.of_each(wanted, _open, unopened)
        return _Some(self, found, absent=self.absent, unopened=unopened)

    @property
    def problems(self) -> Mapping[str, FindlingError]:
        """By name the roots that the last question could not search, and why."""
        return {**self._unopened, **self._engines.problems}

    @property
    def by_words(self) -> Mapping[str, str]:
        """By name the roots that the last question asked by words alone, though others by meaning, and why."""
        return self._engines.by_words

    @property
    def roots(self) -> Sequence[Workspace]:
        return list(self.by_name.values())

    @property
    def engine(self) -> Engine:
        """Raises `errors.RootError` of any root."""
        return cast("Engine", self._engines)  # as far as the handlers go that search everywhere

    @property
    def _engines(self) -> Engines:
        return self._together({name: root.engine for name, root in self.by_name.items()})

    def _together(self, engines: Mapping[str, Engine]) -> Engines:
        """What asks these as one; a few are kept."""
        known = next((known for known in self._joined if known.engines == engines), None) or engine.Engines(engines)
        self._joined = [known, *(each for each in self._joined if each is not known)][:KEPT]
        return known

    @property
    def config(self) -> Config:
        """The first root's: where one decision is made for all, it is made there."""
        return self.roots[0].config

    @property
    def ref_name(self) -> str:
        """As the roots say, ``live`` where they differ."""
        refs = {root.ref_name for root in self.roots}
        return refs.pop() if len(refs) == 1 else LIVE

    def finish_in_background(self) -> None:
        for workspace in self.roots:
            workspace.finish_in_background()

    def wait_for_text(self, wait_s: float | None, progress: Callable[[Progress], None] | None = None) -> float | None:
        for workspace in self.roots:
            wait_s = workspace.wait_for_text(wait_s, progress)
        return wait_s

    def watch(self) -> None:
        for workspace in self.roots:
            workspace.watch()

    def index_in_background(self) -> None:
        for workspace in self.roots:
            workspace.index_in_background()

    def finish(self) -> None:
        for workspace in self.roots:
            workspace.finish()

    def rest(self) -> None:
        for workspace in self.roots:
            workspace.rest()
        super().rest()

    def close(self) -> None:
        self._joined.clear()
        for workspace in self.roots:
            workspace.close()
        super().close()


class _Some(Workspaces):
    """Some of the roots of ``base``, perhaps as a ref holds them, for one call; ``base`` closes them."""

    def __init__(
        self,
        base: Workspaces,
        found: Mapping[str, Workspace],
        *,
        absent: Mapping[str, FindlingError],
        unopened: Mapping[str, FindlingError] | None = None,
    ) -> None:
        self.__dict__.update(base.__dict__)
        self._base = base
        self.by_name = found
        self.absent, self._unopened = absent, unopened or {}

    def _together(self, engines: Mapping[str, Engine]) -> Engines:
        return self._base._together(engines)

    @property
    def library(self) -> Library:
        return self._base.library

    def close(self) -> None:
        """They are the base's."""


def _open(workspace: Workspace) -> Workspace:
    _ = workspace.config
    return workspace


def open_workspace(
    path: StrPath | None = None,
    *,
    roots: Sequence[StrPath] = (),
    cache: bool = False,
    config: Config | None = None,
    background: bool = False,
) -> Workspace:
    """The workspace of what was typed: ``path`` in one root or none, or several roots.

    Opens nothing. Raises `InvalidInput` for several roots with a path, and for a root inside another.
    """
    if len(check_roots(path, roots)) < 2:
        root = roots[0] if roots else None
        return Workspace(path, root=root, cache=cache, config=config, background=background)
    return Workspaces(roots, cache=cache, config=config, background=background)
