"""One root's store as an engine holds it: opened when needed, repaired when damaged, closed when replaced.

Must not know what is asked of it or when it is written.
"""

from __future__ import annotations

import os
import shutil
import time
from collections.abc import Callable, Iterable, Mapping, Sequence
from contextlib import AbstractContextManager, nullcontext
from pathlib import Path
from typing import TYPE_CHECKING, ClassVar, TypeVar

from msgspec.structs import replace

from findling import search, sources
from findling.config import roots
from findling.engine import parts
from findling.engine.configuration import Configuration, Recipe
from findling.engine.semantics import Semantics
from findling.model import errors
from findling.model.typed_paths import is_text
from findling.outbound.files import Files, RootFiles
from findling.store.local import layout, soundness
from findling.store.local.layout import DATABASE
from findling.store.local.reader import IndexReader
from findling.store.local.schema import READ_OTHERWISE, IndexDamaged, TextIndexLost
from findling.store.protocols import Index, KeptIndex

if TYPE_CHECKING:
    from findling.config import Config
    from findling.engine.first_answers import FirstAnswer, Kept
    from findling.engine.remote.store import RemoteStore
    from findling.model.collection import Collection, Ref
    from findling.sources.selection import Found

WRITER_WAIT_S = 30.0
"""How long a command that was asked to index waits for another process that does."""

CHECK_PAUSE = 10
"""After a whole look at a large tree, the next one waits for this many times as long as it took."""

REPLACED_AGAIN = 3
"""How often work is repeated when another process replaces the index meanwhile."""

_Result = TypeVar("_Result")

_MEGABYTE = 1_000_000

_INDEX_IT = "Run 'findling index'."

FIRST_LOOK_S = 0.5
"""Opening a store counts as a whole look at the disk that took this long. So a command that answers one question about
a large tree spends only a moment on looking, and a server soon looks at all of it."""


class OpenStore:
    """A collection's store as it is open: its reader, embedder and notes. For one thread.

    The index may move to the user's cache folder when the root turns out not to be writable, but not where there is a
    ``recipe``. ``notes`` are sentences for the next answer. ``lasting``: what is indexed cannot vanish from where it
    was read.
    """

    lasting: ClassVar[bool] = False
    ref: Ref | None = None
    """What is searched in place of the files on disk."""
    late: str = ""
    """How what is searched lags behind what was published, and what helps; '' where it does not."""
    missing: tuple[str, ...] = ()
    """The collections asked for that are not there, or not for this user to see. Nothing tells these apart."""

    def __init__(self, collection: Collection, *, recipe: Recipe | None = None, config: Config | None = None) -> None:
        self.collection = collection
        self.root = collection.root
        self.notes: list[str] = []
        self._taken: tuple[str, ...] = ()
        self.configuration = Configuration(self.root, self.notes, recipe, config)
        self.semantics = Semantics(self)
        self.on_close: list[Callable[[], None]] = [self.semantics.forget_opened]
        """Called when the reader is closed, to drop what depends on it."""
        self._reader: IndexReader | None = None
        self.last_look = (time.monotonic(), FIRST_LOOK_S)
        """When a question last had the time to compare all files with the disk (monotonic seconds), and how long it
        took."""
        self.unchanged: Mapping[str, tuple[int, int]] | None = None
        """The indexed files when the last look found nothing changed."""
        self.listens = False
        """Whether the system's notices of changed files are used; worth it only for a process that stays."""
        self.finished_here = False
        """Whether whoever has opened this indexes what a question leaves out."""
        self._events: sources.watching.FolderEvents | None = None
        self.unread_until: dict[str, float] = {}
        """Files that could not be read, and when (monotonic seconds) a question may try again."""
        self.begins_anew = False
        """Whether the old index was removed and no run has covered all files since."""
        self.first_answer: FirstAnswer | None = None
        """What the question is answered from while the index is not ready."""
        self.waiting: Sequence[Found] = ()
        """Files that a question found new or changed and could not take in."""
        self.kept: Kept | None = None
        """What was read for earlier questions, while the index is not ready."""
        self.damage = ""
        """The damage that a question found in the open index and was not allowed to repair."""

    @property
    def shared(self) -> RemoteStore | None:
        """This store, where it is one that machines share: each question to its index is a round trip. None for an
        index on this machine."""
        return None

    @property
    def directory(self) -> Path:
        """Where the index lies; the folder need not exist yet."""
        return self.collection.directory

    @property
    def reader(self) -> KeptIndex:
        """The index, opened when it is not open. Raises the index's errors."""
        return self.on_disk

    @property
    def on_disk(self) -> IndexReader:
        """As `reader`, for what only an index on this machine's disk has."""
        if self._reader is None:
            self._reader = IndexReader(self.directory, *self.manifest_key)
        return self._reader

    @property
    def index(self) -> Index:
        """What questions search: the index on disk, with what was read of files that it does not have yet."""
        return self.first_answer.index if self.first_answer else self.reader

    @property
    def generation(self) -> str:
        """Names what a question is answered from: the index, the commit of it that was read last, the ref, and the
        files that were read beside it. Another name wherever one of them is another."""
        first = self.first_answer
        reader = first.indexed if first else self.on_disk
        indexed = f"{reader.identity.hex()}:{reader.generation}" if reader else ""
        beside = sorted(first.states.items()) if first else ""
        return f"{indexed}:{self.manifest_key[1]}:{beside}"

    @property
    def searchable(self) -> bool:
        """Whether there is anything to answer from."""
        return self.exists or self.first_answer is not None

    def state_of(self, path: str) -> tuple[int, int] | None:
        """(size, `files.stamp_of`) of a file when it was read for the index or for this question."""
        first = self.first_answer
        if first is not None and (path in first.states or not self.exists):
            return first.states.get(path)
        return self.reader.listed.state_of(path)

    @property
    def manifest_key(self) -> tuple[str, str]:
        """The root and ref that the manifest stands under."""
        return str(self.root), roots.LIVE

    @property
    def source(self) -> Path | Files:
        """Where a pass over the indexed files reads them: a folder is opened anew for each, as it may be replaced."""
        return self.root

    def open_files(self) -> Files:
        """The indexed files, for this store's thread."""
        return self.new_files()

    def new_files(self) -> Files:
        """The indexed files, for any one thread."""
        return RootFiles(self.root)

    @property
    def exists(self) -> bool:
        """Whether anything was ever indexed here."""
        if (self.directory / DATABASE).exists():
            return True
        return soundness.comes(self.directory)

    @property
    def cut_otherwise(self) -> str:
        """Why all files are to be read again, as a sentence without its end: they were cut by other sizes than are
        wanted by now, or read by another version. Within the reader's snapshot."""
        chunking = self.on_disk.chunking
        if chunking in (None, self.configuration.chunking):
            return ""
        if chunking == READ_OTHERWISE:
            return "This version of findling reads files in another way"
        # Perhaps another process has read a newer configuration; two that disagree would cut all files by turns.
        self.configuration.read_again()
        return "" if chunking == self.configuration.chunking else "The configured sizes of passages have changed"

    def for_one_answer(self) -> AbstractContextManager[None]:
        """A block in which one question is answered; here every search is a snapshot of its own."""
        return nullcontext()

    @property
    def replaced(self) -> bool:
        """Whether the open index was replaced by another on disk."""
        return self._reader is not None and self._reader.replaced

    def close_if_replaced(self) -> None:
        """Close a replaced index; the next use opens the new one."""
        if self.replaced:
            self.close()

    def close(self) -> None:
        if self._reader is not None:
            self._reader.close()
            self._reader = None
        self.damage = ""
        self.unchanged = None
        self._stop_listening()
        for forget in self.on_close:
            forget()

    def heard(self, folders: Iterable[str]) -> set[str] | None:
        """The files in these folders that were written to since the last call; None where that is not known."""
        if not self.listens:
            return None
        try:
            if self._events is None:
                self._events = sources.watching.FolderEvents(os.path.realpath(self.root))
            return self._events.heard(folders)
        except sources.watching.CannotWatch:
            self._stop_listening()
            self.listens = False  # each question goes on looking at everything
            return None

    def _stop_listening(self) -> None:
        if self._events is not None:
            self._events.close()
            self._events = None

    def indexed_files(self, index: Index, folder: str) -> search.IndexedFiles:
        """The files of an index of this store below ``folder`` ('' for all) for an exact search."""
        most = self.configuration.wanted.max_bytes
        return search.IndexedFiles(index, self.open_files(), folder, max_bytes=most, lasting=self.lasting)

    def take_notes(self) -> tuple[str, ...]:
        self._taken = tuple(self.notes)
        self.notes.clear()
        return self._taken

    def put_notes_back(self) -> None:
        """Undo `take_notes`, for an answer that nobody sees."""
        self.notes += self._taken

    # --- soundness ------------------------------------------------------------------------------------------

    def ready(self) -> None:
        """As `repair`, when the store is not open or is not the one that was opened."""
        if self._reader is None or self._reader.replaced or self.damage:
            self.repair()

    def ready_to_read(self) -> None:
        """As `ready`, for a question that changes nothing.

        Raises `IndexNotReady` where there is no index, and `IndexUnavailable` where it has to be built anew.
        """
        self.close_if_replaced()
        if self._reader is not None and not self.damage:
            return
        if not self.exists:
            raise errors.IndexNotReady(f"{self.root} is not indexed.", remedy=_INDEX_IT)
        if problem := self.damage or soundness.problem(self.directory):
            raise self.unusable(problem)

    def mending(self, work: Callable[[], _Result], may_begin_anew: Callable[[], bool] = lambda: True) -> _Result:
        """The result of ``work``. Where it finds the index damaged, the index is removed, with a note, and the work
        repeated; or `IndexUnavailable` is raised where it may not be removed. Work is repeated as well when another
        process replaced the index meanwhile.
        """
        error: errors.IndexUnavailable | None = None
        for _ in range(REPLACED_AGAIN + 1):
            if error is not None:
                self.close()
            try:
                return work()
            except errors.IndexUnavailable as met:
                error = met
            if not self.replaced:
                break
        assert error is not None
        if not isinstance(error, IndexDamaged):
            raise error from error.__cause__
        if not may_begin_anew():
            self.damage = error.message
            raise self.unusable(error.message) from error
        self.start_over_from(error.message, seen=isinstance(error, TextIndexLost))
        return work()

    def may_begin_anew(self, wait_s: object) -> bool:
        """Whether a question that waits so long (seconds or None) for indexing may build a damaged index anew."""
        return wait_s != 0 and self.configuration.auto_index

    @property
    def begun_anew_by(self) -> str:
        """Who rebuilds the index, as the beginning of a sentence."""
        return "The next search" if self.configuration.auto_index else "'findling index'"

    def unusable(self, problem: str) -> errors.IndexUnavailable:
        """The error for a question that may not rebuild the index although ``problem`` requires it."""
        words = "It must be rebuilt, and this command changes nothing."
        return errors.IndexUnavailable(f"{problem} {words}", remedy=_INDEX_IT)

    def repair(self) -> None:
        """Make sure that the store can be written: a damaged one is removed, with a note, and built anew."""
        if not is_text(self.root):
            raise errors.IndexUnavailable(
                f"The path {str(self.root)!r} is not UTF-8, so there can be no index of this folder.",
                remedy="Rename the folder. `findling grep REGEX` needs no index.",
            )
        self.close_if_replaced()
        if not self.directory.exists():
            if not self.root.is_dir():
                raise errors.RootError(f"There is no folder {str(self.root)!r} any more.", remedy="Check the path.")
            if self.configuration.recipe is None:
                place = roots.store_location(self.root, cache=self.collection.cache).directory
                self.collection = replace(self.collection, index=str(place))
            else:
                roots.make_store(self.directory)
        if self.configuration.recipe is None:
            parts.indexes.remember(self.directory, self.root)
        soundness.clear_left(self.directory)
        if problem := self.damage:
            self.start_over_from(problem)
        elif problem := soundness.problem(self.directory):
            self._begin_anew(problem)
            soundness.mend(self.directory, wait_s=WRITER_WAIT_S)

    def start_over_from(self, damage: str, *, seen: bool = False) -> None:
        """Remove an index that turned out to be damaged while it was read, with a note, unless another process already
        has. ``seen``: the damage is one that `soundness.problem` finds by itself."""
        reader = self._reader
        self._begin_anew(damage)
        soundness.mend(
            self.directory,
            wait_s=WRITER_WAIT_S,
            met=not seen,
            unless=lambda: reader is not None and reader.replaced,
        )

    def _begin_anew(self, problem: str) -> None:
        self.close()
        self.begins_anew = True
        older = soundness.is_older(self.directory)
        self.notes.append(f"{problem.removesuffix('.')}; building a new one." if older else f"{problem} It is rebuilt.")

    def start_over_if_cut_otherwise(self, wait_s: float) -> bool:
        """Remove a store that is `cut_otherwise`, with a note; whether that was so.

        Raises `IndexBusy` when another process writes for longer than ``wait_s``.
        """
        if not self.exists:
            return False
        with self.reader.snapshot():
            empty = self.on_disk.chunking is None
            otherwise = self.cut_otherwise
        if empty:
            self.close()  # only what nobody else has open can be prepared for many files
        if not otherwise:
            return False

        def settled() -> bool:
            """Whether another process has done it meanwhile."""
            with self.reader.snapshot():
                otherwise = self.cut_otherwise
            self.close()
            return not otherwise

        self.close()
        soundness.remove(self.directory, wait_s=wait_s, unless=settled)
        self.notes.append(f"{otherwise}. The index is rebuilt.")
        return True

    def remove(self) -> None:
        """Remove everything derived, to be built anew.

        Raises `IndexBusy` when another process writes for too long, and as `check_room`.
        """
        self.close()
        self.check_room()
        soundness.remove(self.directory, wait_s=WRITER_WAIT_S)

    def check_room(self) -> None:
        """Raises `StorageFull` where there is less room than the index takes."""
        takes, free = layout.bytes_on_disk(self.directory), shutil.disk_usage(self.directory).free
        if free < takes:
            raise errors.StorageFull(
                f"Too little disk space to rebuild the index in {self.directory}: it needs "
                f"{takes / _MEGABYTE:,.1f} MB, and {free / _MEGABYTE:,.1f} MB are free. The index is left as it is.",
                remedy="Free some space; 'findling sync' updates the index with less.",
            )
