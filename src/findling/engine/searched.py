"""The collections that a question searches, one or several, as one index and one set of files.

A file's text is read through the collection that has it. Must not know what is asked, nor decide what is fresh.
"""

from __future__ import annotations

import shlex
from collections import Counter, deque
from collections.abc import Iterator, Sequence
from contextlib import ExitStack, contextmanager
from functools import cached_property
from typing import TYPE_CHECKING, NamedTuple

from msgspec import Struct
from msgspec.structs import replace

from findling.engine.refs import RefStore
from findling.engine.scope import nothing_here
from findling.engine.semantics import KeptChannel
from findling.engine.shown import ShownText
from findling.engine.state import coverage, coverage_of, joined_coverage
from findling.engine.store import OpenStore
from findling.model.languages import language_of
from findling.model.plurals import count
from findling.model.rows import FileRow
from findling.model.text_encodings import TextFilter
from findling.model.types import Coverage, EmbedderProblem, Freshness, SkippedFile
from findling.search.scope import lies_in
from findling.store.joined import JoinedIndex, Part
from findling.store.protocols import Index

if TYPE_CHECKING:
    from pathlib import Path

    from findling.embedding import Embedder, Fingerprint
    from findling.engine.freshness import Freshened
    from findling.model.trigram_plan import TrigramPlan
    from findling.search.exact import ExactSource, FileRef, Scope
    from findling.search.semantic import SemanticChannel


class ListedFile(NamedTuple):
    """A file that a question may be about. Of one that is not indexed yet, language and kind are as its name tells."""

    path: str
    language: str
    kind: str


class OpenCollection(Struct, frozen=True):
    """A collection's store, which is opened on first use. ``name`` stands before its paths in an answer; '' adds
    nothing."""

    store: OpenStore
    name: str = ""

    @property
    def folder(self) -> str:
        """The only folder of it that is searched, '' for all."""
        return self.store.collection.folder

    def path(self, path: str) -> str:
        return f"{self.name}/{path}" if self.name else path

    def inner(self, path: str) -> str:
        """A path of an answer as the collection has it."""
        return path.removeprefix(f"{self.name}/") if self.name else path

    def said(self, note: str) -> str:
        """A note about this collection, with its name in front."""
        return f"{self.name}: {note}" if self.name else note


class Searched:
    """Collections opened for searching, for one thread. The index is opened on first use, and anew after a close."""

    def __init__(self, collections: Sequence[OpenCollection]) -> None:
        self.collections = tuple(collections)
        self._alone = self.collections[0] if len(self.collections) == 1 and not self.collections[0].name else None
        self._joined: JoinedIndex | None = None
        self._indexes: list[Index] = []
        self._channel = KeptChannel()
        self._asked_by: Fingerprint | None = None
        self.by_words: dict[int, str] = {}
        """Which collections the last question could not search by meaning while it did others, and why."""

    @cached_property
    def _shown(self) -> list[ShownText]:
        return [ShownText(store) for store in self.stores]

    @property
    def stores(self) -> list[OpenStore]:
        return [each.store for each in self.collections]

    def freshness(self, fresh: Freshened) -> tuple[Freshness, str]:
        """How fresh what was searched is, and why not fresher: what a replica has may be late."""
        late = next(filter(None, (store.late for store in self.stores)), "")
        return ("stale", late) if late else (fresh.freshness, fresh.stale_reason)

    @property
    def roots(self) -> list[Path]:
        return [store.root for store in self.stores]

    @property
    def folder(self) -> str:
        """The folder that is searched, '' for everything."""
        return self._alone.folder if self._alone else ""

    @property
    def index(self) -> Index:
        """Raises the index's errors."""
        return self._alone.store.index if self._alone else self._several()

    def _several(self) -> JoinedIndex:
        every = [store.index for store in self.stores]
        if self._joined is None or every != self._indexes:  # one was closed meanwhile
            parts = [Part(index, each.name) for index, each in zip(every, self.collections, strict=True)]
            self._joined, self._indexes = JoinedIndex(parts), every
        return self._joined

    def collection_of(self, entry_id: int) -> int:
        """The place of the collection that has an entry."""
        return self._joined.part_of(entry_id)[0] if self._joined else 0

    def owner(self, file: FileRow) -> tuple[int, FileRow]:
        """The place of the collection that has a file, and the file's row in that collection."""
        return self._joined.own(file) if self._joined else (0, file)

    # --- files ----------------------------------------------------------------------------------------------

    @contextmanager
    def answer(self) -> Iterator[None]:
        """A block for one question: each file is read at most once within it."""
        self.by_words.clear()
        with self.part():
            yield

    @contextmanager
    def part(self) -> Iterator[None]:
        """As `answer`, for a further part of the same question: what `without_meaning` tells of it stays."""
        with ExitStack() as entered:
            for shown in self._shown:
                entered.enter_context(shown.answer())
            yield

    @property
    def stale(self) -> set[str]:
        """Paths read since the last `answer` began whose content has changed since indexing."""
        pairs = zip(self.collections, self._shown, strict=True)
        return {each.path(path) for each, shown in pairs for path in shown.stale}

    def lines(self, file: FileRow) -> Sequence[str] | None:
        """A file's lines as they are now, None when it cannot be read."""
        at, own = self.owner(file)
        return self._shown[at].lines(own)

    def files(self) -> ExactSource:
        """All indexed files, for an exact search."""
        if self._alone:
            return self._alone.store.indexed_files(self._alone.store.index, self._alone.folder)
        of_each = [each.store.indexed_files(each.store.index, each.folder) for each in self.collections]
        return _JoinedFiles(self._several(), self.collections, of_each)

    def every_file(self) -> ExactSource:
        """As `files`, with the files that are not indexed yet."""
        from findling.engine.text_search import every_file  # most questions are not about uses

        of_each: list[ExactSource] = [
            each.store.indexed_files(each.store.reader, each.folder)
            if each.store.first_answer is None
            else every_file(each.store, each.folder)
            for each in self.collections
        ]
        return of_each[0] if self._alone else _JoinedFiles(self._several(), self.collections, of_each)

    def listing(self) -> list[ListedFile] | None:
        """The indexed files, and those that the index lacks; None where there was no time to list these. Within the
        index's snapshot."""
        found: dict[str, ListedFile] = {}
        for each in self.collections:
            if (first := each.store.first_answer) is None:
                continue
            if first.cut:
                return None
            for own, _, _ in first.listed:
                path, language = each.path(own), language_of(own)
                found[path] = ListedFile(path, language.id, language.kind)
        found |= {file.path: ListedFile(file.path, file.language, file.kind) for file in self.index.listing()}
        return list(found.values())

    # --- state ----------------------------------------------------------------------------------------------

    @property
    def generation(self) -> str:
        """Names what was searched last: each index, the commit of it that was read, and what was read beside it."""
        return " ".join(f"{each.name}={each.store.generation}" for each in self.collections)

    def coverage(self) -> Coverage:
        return joined_coverage(map(coverage, self.stores), self.roots)

    def take_notes(self) -> tuple[str, ...]:
        firsts = ((each, each.store.first_answer) for each in self.collections)
        noted = [each.said(note) for each in self.collections for note in each.store.take_notes()]
        return (*noted, *(each.said(first.note) for each, first in firsts if first is not None))

    # --- meaning --------------------------------------------------------------------------------------------

    def channel(self, *, documents: bool = False, about: str = "") -> SemanticChannel | None:
        """The vectors of one model, for questions to ``documents`` alone or to all files; None where no collection has
        any. The model is that of the collection with the path ``about``, else the one that most collections have.
        Within the index's snapshot; may open embedders."""
        if self._alone:
            semantics = self._alone.store.semantics
            return semantics.document_channel() if documents else semantics.channel()
        self.by_words.clear()
        semantics_of = [store.semantics for store in self.stores]
        embedders = [each.document_embedder() if documents else each.embedder() for each in semantics_of]
        numbers = [
            None if embedder is None else _number(store, embedder)
            for store, embedder in zip(self.stores, embedders, strict=True)
        ]
        usable = [
            (each.name, embedder)
            for each, embedder, number in zip(self.collections, embedders, numbers, strict=True)
            if embedder is not None and number is not None
        ]
        of_the_file = [embedder for name, embedder in usable if about.startswith(f"{name}/")]
        asked_by = _commonest(of_the_file or [embedder for _, embedder in usable])
        if asked_by is None:
            return None
        for at, embedder in enumerate(embedders):
            if embedder is None:
                failure = semantics_of[at].document_failure if documents else semantics_of[at].problem
                self._only_words(at, str(failure or "there is no embedding model"))
            elif embedder.fingerprint.id != asked_by.fingerprint.id:
                numbers[at] = None
                self._only_words(at, f"it has another embedding model, {embedder.fingerprint.model}")
            elif numbers[at] is None and self.stores[at].reader.models.latest() is not None:
                self._only_words(at, "its vectors are another model's")
        index = self._several()
        index.use_models(numbers)
        self._asked_by = asked_by.fingerprint
        return self._channel.of(index, asked_by, lambda _: 0)  # each part has its own number

    def _only_words(self, at: int, why: str) -> None:
        self.by_words[at] = why.rstrip(".")

    def without_meaning(self) -> dict[str, str]:
        """By name the collections in `by_words`, and why."""
        return {self.collections[at].name: why for at, why in self.by_words.items()}

    @property
    def problem(self) -> EmbedderProblem | None:
        """Why no collection can be searched by meaning (the first one's reason); None where one can. May open
        embedders."""
        every = [store.semantics.trouble() for store in self.stores]
        return every[0] if all(every) else None

    @property
    def opened(self) -> Fingerprint | None:
        """The fingerprint of the embedder that answers, None before one is opened."""
        opened = [store.semantics.opened for store in self.stores]
        return next((each for each in opened if each == self._asked_by), None) or next(filter(None, opened), None)


def _commonest(embedders: Sequence[Embedder]) -> Embedder | None:
    """The embedder whose model most of them have; the first of these."""
    counts = Counter(embedder.fingerprint.id for embedder in embedders)
    return max(embedders, key=lambda embedder: counts[embedder.fingerprint.id], default=None)


def _number(store: OpenStore, embedder: Embedder) -> int | None:
    """The number that a collection has for an embedder's model, None without vectors of it."""
    if (first := store.first_answer) is not None:
        return None if first.embedder is None else 0  # each of its parts has its own number
    return store.reader.models.id_of(embedder.fingerprint.id)


class _JoinedFiles:
    """The files of several collections as one source for an exact search. It takes one file of each in turn, so that a
    large collection does not crowd out a small one when time runs out."""

    def __init__(
        self, index: JoinedIndex, collections: Sequence[OpenCollection], of_each: Sequence[ExactSource]
    ) -> None:
        self._index = index
        self._collections = collections
        self._sources = of_each

    def candidate_files(self, plan: TrigramPlan, scope: Scope) -> Iterator[FileRef]:
        waiting = deque(self._of(at, plan, scope) for at in range(len(self._sources)))
        while waiting:
            each = waiting.popleft()
            if (ref := next(each, None)) is not None:
                yield ref
                waiting.append(each)

    def _of(self, at: int, plan: TrigramPlan, scope: Scope) -> Iterator[FileRef]:
        path = self._collections[at].path
        for ref in self._sources[at].candidate_files(plan, scope):
            yield replace(ref, path=path(ref.path), blob_id=self._index.outer(at, ref.blob_id))

    def read(self, ref: FileRef, of_use: TextFilter | None = None) -> bytes | SkippedFile | None:
        at, blob_id = self._index.part_of(ref.blob_id)
        path = self._collections[at].inner(ref.path)
        return self._sources[at].read(replace(ref, path=path, blob_id=blob_id), of_use)


def not_searched(searched: Searched, every: Sequence[Coverage]) -> list[str]:
    """Notes on files that should have been searched and were not."""
    pairs = zip(searched.collections, every, strict=True)
    return [each.said(note) for each, covered in pairs for note in _not_searched(each.store, covered)]


def coverage_of_names(searched: OpenCollection) -> Coverage:
    """The coverage of an answer from names. Within the reader's snapshot."""
    store, folder = searched.store, searched.folder
    if store.first_answer is not None:
        return store.first_answer.coverage(vectors_wanted=False)
    covered = replace(coverage_of(store, None), vectors_wanted=False)
    if folder and store.reader.manifest is not None:
        left_out = Counter(reason for path, reason, _ in store.reader.listed.skipped() if lies_in(path, folder))
        covered = replace(covered, skipped=dict(left_out.most_common()))
    return covered


def _not_searched(store: OpenStore, covered: Coverage) -> list[str]:
    """As `not_searched`, for one collection."""
    if nothing := nothing_here(store, covered.files):
        return nothing
    unread = covered.unread
    at_ref = f" --ref {shlex.quote(store.ref.name)}" if isinstance(store, RefStore) else ""
    status = f"'findling status --skipped{at_ref}'"
    if not covered.files and covered.skipped:
        why = ", ".join(f"{number:,} {reason.replace('_', ' ')}" for reason, number in covered.skipped.items())
        return [f"No file here can be searched ({why}); {status} lists them."]
    if not unread:
        return []
    were = "was" if unread == 1 else "were"
    return [f"{count(unread, 'file')} could not be read and {were} not searched; {status} says why."]
