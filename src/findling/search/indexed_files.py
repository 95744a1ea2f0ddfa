"""The indexed files as a source for exact search: the index rules files out, the disk is what is read.

Of documents that were converted (PDF and the like) the index has the only text.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator

from findling.files import Files
from findling.search.exact import FileRef, Scope
from findling.search.exact_sources import read_indexed
from findling.search.scope import glob_matcher
from findling.store.reader import IndexReader
from findling.store.rows import FileRow
from findling.store.trigram_plan import TrigramPlan

_MANY = 400
"""From this many candidate contents on, going through the remembered listing is quicker than asking for each."""


class IndexedFiles:
    """Files of the reader's manifest below ``folder`` ('' for all). Use within the reader's snapshot."""

    def __init__(self, reader: IndexReader, files: Files, folder: str, *, max_bytes: int) -> None:
        self._reader = reader
        self._files = files
        self._folder = folder
        self._max_bytes = max_bytes
        self._converted: set[int] = set()

    def candidate_files(self, plan: TrigramPlan, scope: Scope) -> Iterable[FileRef]:
        self._files.close()  # folders may have been replaced since the last question
        allowed = self._filter(scope)
        for file in self._candidates(plan):
            if allowed(file):
                if file.converted:
                    self._converted.add(file.blob_id)
                yield FileRef(file.path, file.blob_id, file.size, file.language)

    def read(self, ref: FileRef) -> bytes | None:
        if ref.blob_id in self._converted:
            return self._reader.doc_text(ref.blob_id)
        return read_indexed(self._files, ref.path, self._max_bytes)

    def _candidates(self, plan: TrigramPlan) -> Iterator[FileRow]:
        reader = self._reader
        if plan.admits_everything:
            yield from reader.listing()
            return
        wanted = set(reader.trigrams.candidates(plan))
        wanted.update(reader.uncovered_blobs())
        if len(wanted) > _MANY:
            yield from (file for file in reader.listing() if file.blob_id in wanted)
        else:
            yield from reader.files_of_blobs(wanted)

    def _filter(self, scope: Scope) -> Callable[[FileRow], bool]:
        matches = glob_matcher(scope.path_globs)
        folder = self._folder

        def allowed(file: FileRow) -> bool:
            if folder and file.path != folder and not file.path.startswith(f"{folder}/"):
                return False
            if scope.language is not None and file.language != scope.language:
                return False
            if scope.kind is not None and (file.kind == "docs") != (scope.kind == "docs"):
                return False
            return not scope.path_globs or matches(file.path)

        return allowed
