"""Several roots in one place: a workspace for each, and one that stands for all of them. Must not know any tool."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING, cast

from findling.contracts.joint import JointEngine, JointJobs, of_each
from findling.contracts.root_names import check_roots, name_roots
from findling.contracts.workspace import Workspace
from findling.model.errors import FindlingError

if TYPE_CHECKING:
    from findling.config import Config
    from findling.engine import Engine
    from findling.engine.index_jobs import IndexJobs
    from findling.engine.library import Library
    from findling.model.typed_paths import StrPath
    from findling.model.types import Progress


class Workspaces(Workspace):
    """All of several roots. ``by_name`` are the workspaces of each; their names are the first part of every path.
    ``folders`` are the same roots by name, whether or not they can be opened.

    It is given to the handlers of tools that search everywhere: what these ask of an engine, a view and jobs is asked
    of every root (`joint`). Tools about one file or one index get the workspace of one root instead (`several`).

    ``problems`` are the roots that cannot answer, with what is wrong; more may be found while a question is asked.
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
        self.problems: dict[str, FindlingError] = {}
        self._joint: JointEngine | None = None

    def at(self, ref: str | None) -> Workspaces:
        """As `Workspace.at`, of the roots that have the ref. Raises what a root says when none has it."""
        absent: dict[str, FindlingError] = {}
        found = of_each({name: partial(root.at, ref) for name, root in self.by_name.items()}, absent)
        return _Some(self, found, absent=absent)

    def opened(self) -> Workspaces:
        """The roots that can be opened, for one call. Raises what is wrong with one when none can."""
        problems: dict[str, FindlingError] = {}
        found = of_each({name: partial(_open, root) for name, root in self.by_name.items()}, problems)
        return _Some(self, found, absent=self.absent, problems=problems)

    @property
    def roots(self) -> Sequence[Workspace]:
        return list(self.by_name.values())

    @property
    def engine(self) -> Engine:
        """Raises `errors.RootError` of any root."""
        if self._joint is None:
            self._joint = JointEngine(self.by_name, self.problems)
        return cast("Engine", self._joint)  # as far as the handlers go that search everywhere

    @property
    def config(self) -> Config:
        """The first root's: where one decision is made for all, it is made there."""
        return self.roots[0].config

    @property
    def jobs(self) -> IndexJobs:
        return cast("IndexJobs", JointJobs(self.by_name))

    def finish_in_background(self, ref: str) -> None:
        for workspace in self.roots:
            workspace.finish_in_background(ref)

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
        self._joint = None
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
        problems: Mapping[str, FindlingError] | None = None,
    ) -> None:
        self.__dict__.update(base.__dict__)
        self._base = base
        self.by_name = found
        self.absent, self.problems = absent, dict(problems or {})
        self._joint = None

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
