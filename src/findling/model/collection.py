"""What can be searched: one value for each place whose files have an index."""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path
from typing import Any, Literal, NamedTuple

from msgspec import Struct

Kind = Literal["folder", "file"]


class Ref(NamedTuple):
    """A commit, by the name that was asked for."""

    name: str
    commit_id: str
    ambiguous: bool = False
    """The name is that of a branch and of a tag, or of more."""

    @property
    def notes(self) -> tuple[str, ...]:
        """What an answer about it has to say of the name."""
        if not self.ambiguous:
            return ()
        return (
            f"{self.name!r} names more than one ref, or begins the id of a commit; the one that git "
            "prefers is searched (tags before branches). Write heads/NAME for a branch, tags/NAME for a tag.",
        )


class Collection(Struct, frozen=True):
    """The folder of a project, or a commit of it; a folder or file of the library, the user's own or fetched; or the
    part of a shared store that a folder's questions search. A plain value: `engine.Engine` opens it.

    ``path`` is absolute; its links are resolved. ``index`` is the folder of its index. Of a folder only ``folder`` is
    searched, '' for all of it. ``ref``: the commit that is searched, None for the files on disk. ``cache``: the index
    was asked for in the user's cache folder. ``shared``: the address of the store that holds the index, '' for this
    machine.

    The library gives a collection a ``name`` and the date ``added_at``. ``removed`` are the files (relative to the
    folder) that the user took out of it. ``origin``: where it was fetched from, None for what is the user's own.
    """

    name: str
    path: str
    kind: Kind
    index: str
    added_at: str = ""
    removed: tuple[str, ...] = ()
    origin: Mapping[str, Any] | None = None
    folder: str = ""
    ref: Ref | None = None
    cache: bool = False
    shared: str = ""

    @property
    def root(self) -> Path:
        """The folder that its files' paths are relative to."""
        path = Path(self.path)
        return path if self.kind == "folder" else path.parent

    @property
    def directory(self) -> Path:
        """The folder of its index."""
        return Path(self.index)

    @property
    def exists(self) -> bool:
        """Whether its folder or file is there, and still of its kind."""
        path = Path(self.path)
        return path.is_dir() if self.kind == "folder" else path.is_file()


def of_folder(root: Path, index: Path, *, folder: str = "", cache: bool = False) -> Collection:
    """The collection of a folder of files on disk."""
    return Collection("", str(root), "folder", str(index), folder=folder, cache=cache)
