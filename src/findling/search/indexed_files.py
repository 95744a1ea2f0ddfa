"""The indexed files as a source for exact search: the index rules files out, the disk is what is read.

Of documents that were converted (PDF and the like) the index has the only text.
"""

from __future__ import annotations

import errno
from collections.abc import Callable, Iterable, Iterator

from findling.model.rows import FileRow
from findling.model.text_encodings import CONVERTED, UTF8, TextFilter, as_utf8
from findling.model.trigram_plan import TrigramPlan
from findling.outbound.files import Files, NotRead
from findling.search.exact import FileRef, Scope
from findling.search.scope import lies_in
from findling.store.protocols import Index

_MANY = 400
"""From this many candidates on, going through the remembered listing is quicker than asking for each."""


def read_indexed(
    files: Files, path: str, max_bytes: int, encoding: str = UTF8, of_use: TextFilter | None = None
) -> bytes | None:
    """A file's text in the form that was indexed; None when no such file stands there any more.

    ``encoding``: what it was read by then. For ``of_use`` see `as_utf8`. Raises OSError when it cannot be read or is
    longer than ``max_bytes`` bytes.
    """
    read = files.read(path, max_bytes)
    if not isinstance(read, NotRead):
        return as_utf8(read[1], encoding, of_use)
    if read.reason in ("unreadable", "too_large"):
        raise OSError(errno.EFBIG if read.reason == "too_large" else errno.EIO, read.detail)
    return None


def indexed_text(reader: Index, files: Files, file: FileRow, *, max_bytes: int) -> bytes | None:
    """The text of a file of the manifest as it is by now, in the form that was indexed; None where there is none.

    Of a document that was converted it is the index's own. Within the reader's snapshot.
    """
    if file.converted:
        return reader.doc_text(file.blob_id)
    try:
        return read_indexed(files, file.path, max_bytes, file.other_encoding or UTF8)
    except OSError:
        return None


class IndexedFiles:
    """Files of the reader's manifest below ``folder`` ('' for all). Use within the reader's snapshot.

    ``lasting``: they cannot vanish, as a commit's cannot; one that is not there could not be read.
    """

    def __init__(self, reader: Index, files: Files, folder: str, *, max_bytes: int, lasting: bool = False) -> None:
        self._reader = reader
        self._files = files
        self._folder = folder
        self._max_bytes = max_bytes
        self._lasting = lasting
        self._encodings: dict[int, str] = {}
        """The encodings of candidates that are not UTF-8, by content."""

    def candidate_files(self, plan: TrigramPlan, scope: Scope) -> Iterable[FileRef]:
        self._files.close()  # folders may have been replaced since the last question
        allowed = self._filter(scope)
        for file in self._candidates(plan):
            if allowed(file):
                if file.other_encoding is not None:
                    self._encodings[file.blob_id] = file.other_encoding
                yield FileRef(file.path, file.blob_id, file.size, file.language)

    def read(self, ref: FileRef, of_use: TextFilter | None = None) -> bytes | None:
        encoding = self._encodings.get(ref.blob_id, UTF8)
        if encoding == CONVERTED:
            return self._reader.doc_text(ref.blob_id)
        data = read_indexed(self._files, ref.path, self._max_bytes, encoding, of_use)
        if data is None and self._lasting:
            raise OSError(errno.EIO, "its content is missing or damaged")
        return data

    def _candidates(self, plan: TrigramPlan) -> Iterator[FileRow]:
        reader = self._reader
        if plan.admits_everything:
            yield from reader.listing()
            return
        wanted = reader.containing(plan)
        if len(wanted) > _MANY:
            among = frozenset(wanted)
            yield from (file for file in reader.listing() if file.entry_id in among)
        else:
            yield from sorted(reader.files(wanted).values(), key=lambda file: file.path)

    def _filter(self, scope: Scope) -> Callable[[FileRow], bool]:
        in_scope, folder = scope.path_filter(), self._folder

        def allowed(file: FileRow) -> bool:
            if not lies_in(file.path, folder) or not in_scope(file.path):
                return False
            return not scope.languages or scope.allows_language(file.language)

        return allowed
