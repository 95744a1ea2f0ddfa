"""Files to search that need no store: held in memory, or lying in a plain folder."""

from __future__ import annotations

import os
from collections.abc import Iterable, Iterator, Mapping
from fnmatch import fnmatchcase
from pathlib import Path

from findling.model.text_encodings import TextFilter, as_utf8
from findling.model.trigram_plan import TrigramPlan
from findling.outbound.files import RootFiles
from findling.search.exact import FileRef, Scope
from findling.search.indexed_files import read_indexed
from findling.store.trigrams import TrigramIndex


class MemorySource:
    """Files given as bytes; with an index, its candidates are used, else every file is one."""

    def __init__(self, files: Mapping[str, bytes], index: TrigramIndex | None = None) -> None:
        """``files``: path to content. A file's blob id is its place in path order."""
        self._contents = {path: as_utf8(files[path]) for path in sorted(files)}
        self.refs = [FileRef(path, number, len(data)) for number, (path, data) in enumerate(self._contents.items())]
        self._index = index

    def candidate_files(self, plan: TrigramPlan, scope: Scope) -> Iterable[FileRef]:
        return in_scope(indexed_candidates(self.refs, self._index, plan), scope)

    def read(self, ref: FileRef, of_use: TextFilter | None = None) -> bytes | None:
        data = self._contents.get(ref.path)
        return data if data is None else as_utf8(data, of_use=of_use)


class FolderSource:
    """The regular files of a folder, listed once; symbolic links and ``.git`` are left out.

    ``index`` holds blob ids that are places in ``refs`` (path order).
    """

    def __init__(self, root: Path, *, max_file_size: int, index: TrigramIndex | None = None) -> None:
        self._files = RootFiles(root)
        self._max_file_size = max_file_size
        self._index = index
        found = sorted(_regular_files(os.fspath(root), ""))
        self.refs = [
            FileRef(path, number, size)
            for number, (path, size) in enumerate(item for item in found if item[1] <= max_file_size)
        ]

    def use(self, index: TrigramIndex) -> None:
        self._index = index

    def candidate_files(self, plan: TrigramPlan, scope: Scope) -> Iterable[FileRef]:
        self._files.close()  # folders may have been replaced since the last search
        return in_scope(indexed_candidates(self.refs, self._index, plan), scope)

    def read(self, ref: FileRef, of_use: TextFilter | None = None) -> bytes | None:
        return read_indexed(self._files, ref.path, self._max_file_size, of_use=of_use)


def indexed_candidates(refs: list[FileRef], index: TrigramIndex | None, plan: TrigramPlan) -> Iterable[FileRef]:
    """The refs (each at the place of its blob id) that the index cannot rule out, in order."""
    if index is None or plan.admits_everything:
        return refs
    candidates = index.candidates(plan)  # first: it may find a segment damaged
    uncovered = index.uncovered(range(len(refs)))
    places = sorted({*candidates, *uncovered}) if uncovered else candidates
    return (refs[place] for place in places if place < len(refs))


def in_scope(refs: Iterable[FileRef], scope: Scope) -> Iterable[FileRef]:
    """Only refs of the scope's language and paths (``*`` in a glob crosses ``/``); kinds are not known here."""
    if not scope.languages and not scope.path_globs:
        return refs
    return (
        ref
        for ref in refs
        if scope.allows_language(ref.language)
        and (not scope.path_globs or any(fnmatchcase(ref.path, glob) for glob in scope.path_globs))
    )


def _regular_files(folder: str, prefix: str) -> Iterator[tuple[str, int]]:
    try:
        with os.scandir(folder) as entries:
            for entry in entries:
                if entry.is_dir(follow_symlinks=False):
                    if entry.name != ".git":
                        yield from _regular_files(entry.path, prefix + entry.name + "/")
                elif entry.is_file(follow_symlinks=False):
                    yield prefix + entry.name, entry.stat(follow_symlinks=False).st_size
    except PermissionError:
        return
