"""Which files a question is about: resolves the names and paths that users type. Searches nothing."""

from __future__ import annotations

import os
import re
import time
from collections import Counter
from collections.abc import Callable, Sequence
from contextlib import suppress
from pathlib import Path
from typing import TYPE_CHECKING

from msgspec.structs import replace

from findling import model, search, sources
from findling.config import roots
from findling.engine.refs import RefStore
from findling.model import errors
from findling.model.languages import language_of
from findling.model.plurals import count
from findling.model.types import Query, SkippedFile
from findling.search.scope import glob_matcher, is_of_kind, lies_in

if TYPE_CHECKING:
    from findling.engine.searched import Searched
    from findling.engine.store import OpenStore
    from findling.model.typed_paths import StrPath


NOTHING_CHECKED_OUT = "This is a bare repository, in which nothing is checked out: name a branch or tag ('--ref')."

_NAME_BYTES = 255
"""The longest name in a path that file systems allow."""

_PATH_CHARS = 3_000
"""The longest path; systems allow some 4,000 bytes together with the root's."""


def nothing_here(store: OpenStore, files: int) -> list[str]:
    """Sentences for the user of a folder that is no work tree and has no indexed ``files``."""
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
    """The indexed paths that a typed path may mean: from the working directory first, then from the root."""
    found: list[str] = []
    for base in (Path.cwd(), root):
        with suppress(errors.InvalidInput):
            found.append(relative(root, os.fspath(base / path)))
    return found


def may_be_asked(
    folder: str, *, path_globs: Sequence[str] = (), language: str | None = None, kind: str | None = None
) -> Callable[[str], bool]:
    """A test for paths: whether a question with these filters can be about the file, judged by its name."""
    matches, wanted = glob_matcher(path_globs), language_id(language)

    def may(path: str) -> bool:
        if not lies_in(path, folder) or not matches(path):
            return False
        if wanted is None and kind is None:
            return True
        found = language_of(path)
        return wanted in (None, found.id) and is_of_kind(kind, path, found.id, found.kind)

    return may


# --- unmatched ----------------------------------------------------------------------------------------------------
# Questions whose filters match no file: says so, and suggests the nearest filter.

_COMMONEST = 2
"""So many languages are named if no file has the one that was asked for."""

_MOST_PATH_CHARS = 300
"""Longer paths are not compared with others."""

_LISTING_S = 1.0
"""The time for listing a folder whose index is not complete."""

_FOLDERS = 6
"""So many folders are named if none is like the one that was asked for."""


def paths_like(store: OpenStore, path: str) -> list[str]:
    """The files nearest to a path that does not exist, the best first; none if it exists or is not a path.

    If the index is not complete, the folder is listed as well, as far as there is time.
    """
    if len(path) > _MOST_PATH_CHARS or os.path.lexists(store.root / path):
        return []
    known, is_whole = set[str](), False
    if store.exists:
        with store.reader.snapshot():
            known = {file.path for file in store.reader.listing()}
            is_whole = (manifest := store.reader.manifest) is not None and manifest.complete
    if not is_whole and not store.lasting:
        listed = sources.discovery.Stream(store.root, store.configuration.wanted, time.monotonic() + _LISTING_S)
        known.update(found for found, _, _ in listed)
    return [near for likeness, near in search.nearest_paths(path, known) if likeness >= search.AS_GOOD]


def no_file_fits(searched: Searched, query: Query) -> str:
    """Why nothing can be found with a question's filters, and what is nearest to them; '' where a file passes them, or
    where not all files are known. Within the index's snapshot."""
    path_globs, language, kind = query.path_globs, query.language, query.kind
    folder = searched.folder
    filters = [f"lies in {folder}"] if folder else []
    filters += [f"matches {' or '.join(path_globs)}"] if path_globs else []
    filters += [f"is {language}"] if language else []
    filters += [f"counts as {kind}"] if kind else []
    if not filters or not (files := searched.listing()):
        return ""

    def fit(globs: Sequence[str]) -> bool:
        return any(
            lies_in(file.path, folder) and matches(file.path)
            for matches in [glob_matcher(globs)]
            for file in files
            if language in (None, file.language) and is_of_kind(kind, file.path, file.language, file.kind)
        )

    if fit(path_globs):
        return ""
    which = "file" if any(store.first_answer for store in searched.stores) else "indexed file"
    told = f"No {which} {' and '.join(filters)}"
    skipped = _left_out(searched, path_globs) if folder or path_globs else []
    deeper = [f"{glob}*" for glob in path_globs if glob.endswith("/*")]
    if skipped:
        more = f" and {count(len(skipped) - 1, 'other')}" if len(skipped) > 1 else ""
        told += f"; left out: {skipped[0].path}, {skipped[0].rule}{more}"
    elif deeper and fit(deeper):
        told += f"; {' and '.join(deeper)} would include subfolders"
    elif near := _nearest_of(path_globs, [file.path for file in files]):
        told += f"; nearest: {', '.join(near)}"
    elif path_globs and (folders := sorted({file.path.split("/")[0] for file in files if "/" in file.path})):
        told += f"; folders here: {', '.join(folders[:_FOLDERS])}{', …' if len(folders) > _FOLDERS else ''}"
    elif language and not path_globs:
        known = Counter(file.language for file in files if lies_in(file.path, folder))
        told += f"; most are {' and '.join(str(name) for name, _ in known.most_common(_COMMONEST))}" if known else ""
    return f"{told}."


def _left_out(searched: Searched, path_globs: Sequence[str]) -> list[SkippedFile]:
    """The files in the scope and these globs that are not indexed, and why."""
    found: list[SkippedFile] = []
    for each in searched.collections:
        store = each.store
        rows = store.reader.listed.skipped() if store.exists else ()
        skipped = [SkippedFile(*row) for row in rows if lies_in(row[0], each.folder)]
        if not skipped and each.folder and not store.lasting:
            skipped = list(sources.look_at(store.root, [each.folder], None, store.configuration.wanted).skipped or ())
        found += [replace(file, path=each.path(file.path)) for file in skipped]
    matches = glob_matcher(path_globs)
    return [file for file in found if matches(file.path.rstrip("/"))]


def _nearest_of(path_globs: Sequence[str], files: Sequence[str]) -> list[str]:
    """Files and folders that are like the fixed beginnings of globs."""
    asked = [re.split(r"[*?\[{]", glob, maxsplit=1)[0].rstrip("/") for glob in path_globs if not glob.startswith("!")]
    found = [near for each in asked if each for near in search.nearest_paths(each, search.with_folders(files))]
    return list(dict.fromkeys(path for _, path in sorted(found, key=lambda near: (-near[0], near[1]))))[
        : search.NEAREST
    ]
