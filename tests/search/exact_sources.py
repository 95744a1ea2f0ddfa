"""Files to search that need no store: held in memory, or lying in a plain folder."""

from __future__ import annotations

import os
from array import array
from collections.abc import Iterable, Iterator, Mapping
from pathlib import Path

from findling.model.text_encodings import TextFilter, as_utf8
from findling.model.trigram_plan import TrigramPlan
from findling.outbound.files import RootFiles
from findling.reading.prepare import file_trigrams
from findling.search.exact import FileRef, Scope
from findling.search.indexed_files import read_indexed


class MemorySource:
    """Files given as bytes."""

    def __init__(self, files: Mapping[str, bytes], *, ruled_out: bool = False) -> None:
        """``files``: path to content. A file's blob id is its place in path order. ``ruled_out``: trigrams rule files
        out, as an index does; else every file is a candidate."""
        self._contents = {path: as_utf8(files[path]) for path in sorted(files)}
        self.refs = [FileRef(path, number, len(data)) for number, (path, data) in enumerate(self._contents.items())]
        self._codes = [codes_of(data) for data in self._contents.values()] if ruled_out else None

    def candidate_files(self, plan: TrigramPlan, scope: Scope) -> Iterable[FileRef]:
        return in_scope(candidates(self.refs, self._codes, plan), scope)

    def read(self, ref: FileRef, of_use: TextFilter | None = None) -> bytes | None:
        data = self._contents.get(ref.path)
        return data if data is None else as_utf8(data, of_use=of_use)


class FolderSource:
    """The regular files of a folder, listed once; symbolic links and ``.git`` are left out."""

    def __init__(self, root: Path, *, max_file_size: int) -> None:
        self._files = RootFiles(root)
        self._max_file_size = max_file_size
        self._codes: list[set[int]] | None = None
        found = sorted(_regular_files(os.fspath(root), ""))
        self.refs = [
            FileRef(path, number, size)
            for number, (path, size) in enumerate(item for item in found if item[1] <= max_file_size)
        ]

    def rule_out(self) -> None:
        """From now on the trigrams that the files have at this moment rule them out."""
        self._codes = [codes_of(self.read(ref) or b"") for ref in self.refs]

    def candidate_files(self, plan: TrigramPlan, scope: Scope) -> Iterable[FileRef]:
        self._files.close()  # folders may have been replaced since the last search
        return in_scope(candidates(self.refs, self._codes, plan), scope)

    def read(self, ref: FileRef, of_use: TextFilter | None = None) -> bytes | None:
        return read_indexed(self._files, ref.path, self._max_file_size, of_use=of_use)


def codes_of(data: bytes) -> set[int]:
    return set(array("I", file_trigrams(data)))


def candidates(refs: list[FileRef], codes: list[set[int]] | None, plan: TrigramPlan) -> Iterable[FileRef]:
    """The refs that their trigrams do not rule out, in order."""
    return refs if codes is None else (ref for ref, own in zip(refs, codes, strict=True) if plan.holds(own))


def in_scope(refs: Iterable[FileRef], scope: Scope) -> Iterable[FileRef]:
    """Only refs of the scope's language and paths; kinds are not known here."""
    if not scope.languages and scope.within is None:
        return refs
    return (
        ref for ref in refs if scope.allows_language(ref.language) and (scope.within is None or scope.within(ref.path))
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
