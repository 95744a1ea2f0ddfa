"""Which files a question is about: names and paths as they are typed, and what lies in a folder. Searches nothing."""

from __future__ import annotations

import os
from collections.abc import Callable, Sequence
from contextlib import suppress
from pathlib import Path
from typing import TYPE_CHECKING

from findling import model
from findling.config import roots
from findling.engine.refs import RefStore
from findling.engine.store import OpenStore
from findling.model import errors
from findling.model.languages import language_of
from findling.model.rows import FileRow
from findling.search.scope import glob_matcher, is_of_kind, lies_in

if TYPE_CHECKING:
    from findling.model.typed_paths import StrPath


NOTHING_CHECKED_OUT = "This is a bare repository, in which nothing is checked out: name a branch or tag ('--ref')."

_NAME_BYTES = 255
"""Of one name in a path: file systems take no more."""

_PATH_CHARS = 3_000
"""Of a path; systems take some 4,000 bytes together with the root's."""


def nothing_here(store: OpenStore, files: int) -> list[str]:
    """What there is to say of a folder that is no work tree and of which no ``files`` are indexed."""
    return [NOTHING_CHECKED_OUT] if not files and not isinstance(store, RefStore) and roots.is_bare(store.root) else []


def language_id(name: str | None) -> str | None:
    """The id of a language by its id, name or alias. Raises `InvalidInput`."""
    if name is None:
        return None
    from difflib import get_close_matches

    found = model.find_language(name)
    if found is None:
        near = get_close_matches(name.lower(), model.LANGUAGES, 3)
        raise errors.InvalidInput(
            f"No language is called {name!r}.",
            remedy=f"Did you mean {' or '.join(near)}?" if near else "`findling status` lists those here.",
        )
    return found.id


def relative(root: Path, path: StrPath) -> str:
    """A path (absolute, or from the root) as the index writes it.

    Raises `InvalidInput` when it is not inside, and for what cannot be the path of an indexed file.
    """
    path = os.fsdecode(path)
    try:
        parts = path.encode().split(b"/")
    except UnicodeEncodeError as error:
        raise errors.InvalidInput(
            f"{path[:100]!r} is not Unicode; files with such names are not indexed.", remedy="Rename the file."
        ) from error
    if "\0" in path or len(path) > _PATH_CHARS or max(map(len, parts)) > _NAME_BYTES:
        raise errors.InvalidInput(
            f"{path[:100]!r} is not the path of a file.", remedy="Name files of the indexed folder."
        )
    absolute = Path(os.path.abspath(path)) if os.path.isabs(path) else root / path  # noqa: PTH100, PTH117
    normal = Path(os.path.normpath(absolute))
    try:
        return normal.relative_to(root).as_posix()
    except ValueError:
        try:
            return normal.resolve().relative_to(root.resolve()).as_posix()
        except ValueError as error:
            raise errors.InvalidInput(
                f"{path} is not inside {root}.", remedy="Name files of the indexed folder."
            ) from error


def paths_from(root: Path, path: str) -> list[str]:
    """What a path may mean as the index writes it: from the working directory, or else from the root."""
    found: list[str] = []
    for base in (Path.cwd(), root):
        with suppress(errors.InvalidInput):
            found.append(relative(root, os.fspath(base / path)))
    return found


def file_at(store: OpenStore, path: str) -> FileRow | None:
    """A file by its path from the working directory, or else from the root. Within the index's snapshot."""
    found = map(store.index.file_at, paths_from(store.root, path))
    return next((file for file in found if file is not None), None)


def may_be_asked(
    folder: str, *, path_globs: Sequence[str] = (), language: str | None = None, kind: str | None = None
) -> Callable[[str], bool]:
    """Whether a question with these filters may be about the file at a path, as far as its name tells."""
    matches, wanted = glob_matcher(path_globs), language_id(language)

    def may(path: str) -> bool:
        if not lies_in(path, folder) or not matches(path):
            return False
        if wanted is None and kind is None:
            return True
        found = language_of(path)
        return wanted in (None, found.id) and is_of_kind(kind, found.kind, path)

    return may
