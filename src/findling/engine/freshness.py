"""Keeping fresh: before a question the disk is looked at within a bounded time, and what changed is taken in if that
is quick and wanted. Says how fresh what will be searched is, and why it is not fresh.
"""

from __future__ import annotations

import os
import time
from collections.abc import Callable, Iterable, Mapping, Sequence, Set
from contextlib import AbstractContextManager, nullcontext, suppress
from pathlib import Path
from typing import TYPE_CHECKING, NamedTuple

from msgspec import Struct

from findling import reading, sources
from findling.embedding import BUNDLED
from findling.engine import parts
from findling.engine.refs import RefStore, up_to_date
from findling.engine.store import CHECK_PAUSE, WRITER_WAIT_S, OpenStore
from findling.model import errors
from findling.model.plurals import count
from findling.model.types import Freshness, IndexReport, OnProgress, Progress, TreeState
from findling.store import local as stored
from findling.store.local.schema import FAILED, UNREAD

if TYPE_CHECKING:
    from findling.engine.first_answers import FirstAnswer
    from findling.reading.pool import Worker
    from findling.sources.looking import Changes
    from findling.sources.selection import Found

CHECK_S = 0.05
"""Time for looking at the disk before a question, in a large tree that was looked at whole a moment ago."""

WHOLE_CHECK_S = 1.0
"""Time for looking at a large tree otherwise; 63,000 files take about half of it."""

SMALL_TREE = 12_000
SMALL_CHECK_S = 1.5

UNREAD_PAUSE_S = 60.0
"""How long a file that cannot be read is left alone: each try is a run of the indexer."""

SYNC_S = 1.0
"""Time for taking in changes before a question is answered."""

SYNC_FILES = 300
"""More changes than this are taken in by a run over the whole folder, which the next question continues."""

FEW_FILES, FEW_BYTES = 100, 600_000
"""A folder with no more files and text than this is indexed before the first answer; a larger one is scanned."""

LISTING_S = 3.0
"""Time for listing a folder before a first answer: some 200,000 files. What is not listed by then is not searched."""

LEAST_LISTING_S = 1.0
"""What it has even where all of a question's time went before it."""

LONG_RUN_S = 2.0
"""After a run that took longer, the disk is looked at again before the index is called fresh."""

ROUNDS = 3
"""Runs for one question at most."""

OFF = "semantic.auto_index is false"

DISK_FULL = "the disk that holds the index is full"

LOOK_AGAIN: tuple[Freshness, str] = ("stale", "files change faster than they are indexed")
"""Everything was taken in, but by a long run, during which files may have changed: look again."""

BUSY: tuple[Freshness, str] = ("syncing", "another process is indexing")

NOT_CHECKED: tuple[Freshness, str] = ("stale", "there was no time to look at every file")

NOT_ASKED: tuple[Freshness, str] = ("stale", "files were not checked for changes, as asked")

BUSY_WAIT_S = 0.5
"""How long a question waits for another that takes a few files in; a long run is not worth waiting for."""


class Question(Struct, frozen=True):
    """What a question wants of its index. ``embed``: whether it needs vectors; ``text_only``: it does not even wait for
    those of an index that is begun. ``look_at_all``: however long it takes to look at all files. ``wait_s``: how long
    it may wait for indexing; 0 looks at nothing, None waits for everything. ``progress`` is told how far that is.

    What is not indexed yet is read for it (`OpenStore.first_answer`): of the files ``within`` which it may be about
    those likeliest for the ``query``, ``to_the_letter`` or by its words, and in any case ``files``. Without a query
    what is like the first of these is likely, or like what stands at its ``line``.
    """

    query: str = ""
    embed: bool = True
    text_only: bool = False
    look_at_all: bool = False
    within: Callable[[str], bool] = lambda _: True
    to_the_letter: bool = False
    files: Sequence[str] = ()
    line: int | None = None
    wait_s: float | None = 1.5
    progress: OnProgress | None = None

    @property
    def asks(self) -> bool:
        """Whether there is something to read for."""
        return bool(self.query or self.files)


class Freshened(NamedTuple):
    """How fresh what is searched is, and why not fresher; when the question came (monotonic seconds), and how long it
    may wait (None: as long as it takes)."""

    freshness: Freshness
    stale_reason: str
    started: float
    wait_s: float | None


def freshen(store: OpenStore, asked: Question) -> tuple[Freshness, str]:
    """Index what is new if that is quick; the freshness of what will be searched, and why it is not fresh.

    Raises `IndexNotReady` where there is no index and a
    question may not make it, `IndexUnavailable` where there is one that it may not build anew.
    """
    store.first_answer = None
    if store.shared is not None:  # what was published last is what is searched
        return "fresh", ""
    for _ in range(ROUNDS):
        store.waiting = ()
        try:
            found = _freshen(store, asked)
        except errors.StorageFull as error:
            nothing, may_scan = nothing_indexed(store), asked.wait_s is not None and asked.asks
            if nothing and not may_scan:
                raise
            if may_scan and (nothing or _known_files(store)[0] is None):
                store.notes.append(str(error))
                began = time.monotonic()
                lacks = _not_indexed(store, began)
                _answer_first(store, lacks.files, asked, began, cut=lacks.cut)
            found = "stale", DISK_FULL
        if found is not LOOK_AGAIN:
            break
    _go_through_waiting(store, asked)
    return found


def _go_through_waiting(store: OpenStore, asked: Question) -> None:
    """Scan the changed files that there was no time to index, so that the answer has them, too."""
    if store.first_answer is not None or not asked.asks or not store.waiting or nothing_indexed(store):
        return
    if left := _lacking(store, store.waiting):
        _answer_first(store, left, asked, time.monotonic())


def _after(began: float) -> tuple[Freshness, str]:
    """The freshness after a complete run that began then (monotonic seconds)."""
    return ("fresh", "") if time.monotonic() - began < LONG_RUN_S else LOOK_AGAIN


def _freshen(store: OpenStore, asked: Question) -> tuple[Freshness, str]:
    wait_s, progress = asked.wait_s, asked.progress
    if isinstance(store, RefStore):
        return _freshen_ref(store, asked)
    if not store.configuration.auto_index:
        return _only_look(store, None if asked.look_at_all and wait_s != 0 else wait_s)
    if wait_s == 0:
        store.ready_to_read()
        return NOT_ASKED
    store.ready()
    started = time.monotonic()
    known, tree = _known_files(store)
    if known is None:
        return _first_run(store, asked)
    store.kept = None
    changes, changed = _look(store, known, tree, None if asked.look_at_all else wait_s)
    unlisted = changes.skipped if changes.complete else None
    same = True
    if unlisted is not None:
        with store.on_disk.snapshot():
            same = {(file.path, file.reason) for file in unlisted} == store.on_disk.listed.unlisted()
    embed = asked.embed and store.semantics.mismatch() is None
    deadline = None if wait_s is None else started + SYNC_S
    if not changed and same:
        began = time.monotonic()
        if changes.tree is not None:
            _note_tree(store, changes.tree)
        if embed:
            fill_in_vectors(store, progress, deadline)
        return _after(began) if changes.complete else NOT_CHECKED
    wanted = set(changed)
    store.waiting = [file for file in (*changes.added, *changes.changed) if file[0] in wanted]
    many = len(changed) > SYNC_FILES  # then what is left over must be remembered, as after a first run
    began = time.monotonic()
    try:
        report = parts.runs.run(
            store,
            paths=None if many else changed,
            embed=embed,
            progress=progress,
            wait_s=writer_wait_s(None if wait_s is None else started + wait_s, BUSY_WAIT_S),
            deadline=deadline,
            unlisted=unlisted,
            tree=changes.tree,
        )
    except errors.IndexBusy:
        return BUSY
    if embed and report.complete and not many:  # a file that is written all the time must not keep the others waiting
        fill_in_vectors(store, progress, deadline)
    if report.complete:
        store.waiting = ()
        return _after(began) if changes.complete else NOT_CHECKED
    if many:  # those that the run over the whole root had no time for
        with store.reader.snapshot():
            manifest = store.reader.manifest
    left = len(changed) if not many else manifest.pending if manifest else 0
    return "stale", f"{count(left, 'file')} changed"


def _freshen_ref(store: RefStore, asked: Question) -> tuple[Freshness, str]:
    """As `freshen`. A commit never changes: once indexed as a whole it is fresh for good.

    Raises `RefNotIndexed` where it is not indexed and a question may not do that or git cannot list it,
    `IndexNotReady` where nothing is and there is no time.
    """
    wait_s = asked.wait_s
    auto_index, may_write = store.configuration.auto_index, store.may_begin_anew(wait_s)
    if may_write:
        store.ready()
    elif store.exists or auto_index:
        store.ready_to_read()
    if (store.exists or auto_index) and up_to_date(store):
        if asked.embed and may_write:
            fill_in_vectors(store, asked.progress, None if wait_s is None else time.monotonic() + SYNC_S)
        return "fresh", ""
    if not auto_index:
        raise errors.RefNotIndexed(
            f"{store.ref.name!r} is not indexed, and {OFF}.",
            remedy=f"Run 'findling index --ref {store.ref.name}'.",
        )
    if wait_s == 0:
        return "stale", f"not all files of {store.ref.name} are indexed yet"
    return _first_run(store, asked)


def writer_wait_s(deadline: float | None, most_s: float) -> float:
    """How long a question that is to be answered by then (monotonic seconds) waits for another writer."""
    return WRITER_WAIT_S if deadline is None else max(0.0, min(most_s, deadline - time.monotonic()))


def _only_look(store: OpenStore, wait_s: float | None) -> tuple[Freshness, str]:
    """The freshness where questions may not index anything."""
    if store.exists:
        store.ready_to_read()
    if nothing_indexed(store):
        raise errors.IndexNotReady(f"{store.root} is not indexed, and {OFF}.", remedy="Run 'findling index'.")
    if wait_s == 0:
        return NOT_ASKED
    known, tree = _known_files(store)
    if known is None:
        return "stale", f"not all files are indexed as they should be, and {OFF}"
    changes, changed = _look(store, known, tree, wait_s)
    if changed:
        return "stale", f"{count(len(changed), 'file')} changed, and {OFF}"
    return ("fresh", "") if changes.complete else NOT_CHECKED


def nothing_indexed(store: OpenStore) -> bool:
    """Whether nothing is indexed yet."""
    if not store.exists:
        return True
    store.ready()
    with store.reader.snapshot():
        return store.reader.manifest is None


def _known_files(store: OpenStore) -> tuple[dict[str, tuple[int, int]] | None, TreeState | None]:
    """path -> (size, `files.stamp_of`) of what is indexed, None where a run over the whole root must come first; and
    what the listing depended on that this comes from, where that is known."""
    if not store.exists:  # opening it would make it, and wait for whoever holds the writer's lock
        return None, None
    reader = store.reader
    with reader.snapshot():
        manifest = reader.manifest
        if manifest is None or not manifest.complete or store.cut_otherwise:
            return None, None
        return reader.listed.known_files(), reader.listed.tree()


def _note_tree(store: OpenStore, tree: TreeState) -> None:
    """Write down what a listing depended on that found nothing new: else every question lists everything, too. Where
    that cannot be now (another process writes, nobody may, or the disk is full), the next question tries again."""
    with suppress(errors.IndexBusy, errors.IndexUnavailable, errors.StorageFull):
        writer = stored.IndexWriter(store.directory)
        try:
            writer.note_tree(writer.manifest(*store.manifest_key), tree)
        finally:
            writer.close()


def _look(
    store: OpenStore, known: Mapping[str, tuple[int, int]], tree: TreeState | None, wait_s: float | None
) -> tuple[Changes, list[str]]:
    """What differs on disk, and the paths of it to look at."""
    started = time.monotonic()
    ended, cost = store.last_look
    budget: float | None = CHECK_S
    if wait_s is None:
        budget = None
    elif len(known) <= SMALL_TREE:
        budget = SMALL_CHECK_S
    elif started - ended >= CHECK_PAUSE * cost:
        budget = WHOLE_CHECK_S
    changes, wanted = None, store.configuration.wanted
    if tree is not None:
        heard = store.heard(tree.folders)
        if store.unchanged is not known:
            heard = None
        changes = sources.looking.look_again(store.root, known, wanted, tree, budget, heard=heard)
    if changes is None:
        changes = sources.discovery.check(store.root, known, wanted, budget)
    store.unchanged = known if changes == sources.looking.AS_IT_WAS else None
    _note(store, changes.notes)
    if budget != CHECK_S:
        now = time.monotonic()
        store.last_look = (now, now - started)
    paths = to_look_at(store.root, changes, known)
    tried = _tried_lately(store, set(paths).difference(changes.removed), known)
    return changes, [path for path in paths if path not in tried] if tried else paths


def _note(store: OpenStore, notes: Iterable[str]) -> None:
    """Keep the notes of a listing for the next answer, each once."""
    store.notes += [
        note for note in notes if note.startswith(sources.discovery.WALKED_INSTEAD) and note not in store.notes
    ]


def _tried_lately(store: OpenStore, paths: Set[str], known: Mapping[str, tuple[int, int]]) -> set[str]:
    """The files that could not be read a moment ago although their permissions allow it, as when a disk fails."""
    now = time.monotonic()
    unread = {path for path in paths if known.get(path, (0, 0))[1] == UNREAD}
    lately = {path for path in unread if now < store.unread_until.get(path, now)}
    store.unread_until.update(dict.fromkeys(unread - lately, now + UNREAD_PAUSE_S))
    return lately


def to_look_at(root: Path, changes: Changes, known: Mapping[str, tuple[int, int]]) -> list[str]:
    """The paths to look at: what could not be read last time only when it can be now, and what failed only when it
    is another file by now."""
    listed = [
        path
        for path, size, stamp in (*changes.added, *changes.changed)
        if (before := known.get(path, (0, 0))) != (size, FAILED - stamp)
        and (before[1] != UNREAD or os.access(root / path, os.R_OK))
    ]
    return [*listed, *changes.removed]


def _first_run(store: OpenStore, asked: Question) -> tuple[Freshness, str]:
    """Index what is missing if it is little or somebody waits for it. Otherwise the question is answered by a scan of
    the files, and the index is finished in the background."""
    began, wait_s = time.monotonic(), asked.wait_s
    tell = asked.progress or (lambda _: None)
    tell(Progress("listing", 0, 0))
    report: IndexReport | None = None
    scans = wait_s is not None and asked.asks
    if scans and store.exists:  # else what was read by other rules would count as indexed, and nothing be scanned
        try:
            store.start_over_if_cut_otherwise(writer_wait_s(began + (wait_s or 0.0), BUSY_WAIT_S))
        except errors.IndexBusy:
            return BUSY
    with _reader_beside(store, asked) if scans else nullcontext() as worker:
        lacks = _not_indexed(store, began) if scans else None
        # What is indexed by a recipe nobody finishes in the background.
        if lacks is None or lacks.is_little or store.configuration.recipe is not None:
            if worker is not None:
                worker.end()
            deadline = None if wait_s is None else began + wait_s
            most_s = WRITER_WAIT_S if nothing_indexed(store) else BUSY_WAIT_S
            with suppress(errors.IndexBusy):
                report = parts.runs.run(
                    store,
                    paths=None,
                    embed=not asked.text_only or wait_s is not None,
                    progress=asked.progress,
                    wait_s=writer_wait_s(deadline, most_s),
                    deadline=deadline,
                )
                _note(store, report.notes)
                if report.complete:
                    return _after(began)
        if lacks is not None:
            _note(store, lacks.notes)
            tell(Progress("indexing", 0, len(lacks.files)))
            lacking = _lacking(store, lacks.files)
            first = _answer_first(store, lacking, asked, began, worker, cut=lacks.cut)
            try:
                first.goes_on = parts.index_jobs.start(store)
            except errors.StorageFull as error:  # nobody could finish the index now
                store.notes.append(str(error))
                return "stale", DISK_FULL
            return "syncing" if first.goes_on or store.finished_here else "stale", "the index is not ready"
    if report is None:
        return BUSY
    parts.index_jobs.start(store)
    return "stale", "not all files are indexed yet"


def _reader_beside(store: OpenStore, asked: Question) -> AbstractContextManager[Worker | None]:
    """A process that reads some of the files, where there is a second processor and nothing was read yet. It starts
    before it is known whether there is enough to read, as it takes longer than listing the files. It makes vectors,
    too, if they are the bundled model's."""
    if store.kept is not None or (os.cpu_count() or 1) == 1:
        return nullcontext()
    expected = store.semantics.expected() if asked.embed else None
    return reading.start_ahead(
        store.configuration.limits, vectors=expected is not None and expected.provider == BUNDLED
    )


def _answer_first(
    store: OpenStore,
    found: list[Found],
    asked: Question,
    began: float,
    worker: Worker | None = None,
    *,
    cut: bool | None = None,
) -> FirstAnswer:
    """Scan the files ``found``, which are not indexed, and read the likeliest of them for the question. ``cut``: there
    was no time to list all; None where these are not from a listing."""
    wanted = [file for file in found if asked.within(file[0]) or file[0] in asked.files]
    first = store.first_answer = parts.first_answers.first_answer(store, asked, wanted, began, worker)
    first.listed, first.cut = found, cut is True
    first.of_all = cut is False and len(wanted) == len(found)
    if len(wanted) < len(found):
        first.index_s = 0.0  # it is that of a part
    return first


def _lacking(store: OpenStore, found: Iterable[Found]) -> list[Found]:
    """The files that the index lacks or has in another state."""
    known = _indexed_states(store)
    return [file for file in found if known.get(file[0]) != (file[1], file[2])]


class _Lacks(NamedTuple):
    """The files that an index lacks or has in another state, and whether indexing them takes only a moment. ``cut``:
    there was no time to list all."""

    files: list[Found]
    is_little: bool
    notes: tuple[str, ...]
    cut: bool


def _not_indexed(store: OpenStore, began: float) -> _Lacks:
    """What a question that came at ``began`` (monotonic seconds) can know of it."""
    known = _indexed_states(store)
    git_ids: Mapping[str, bytes] = {}
    notes: tuple[str, ...] = ()
    cut = False
    listed: list[Found]
    if isinstance(store, RefStore):
        tree = sources.list_tree(store.root, store.ref.commit_id, store.configuration.wanted)
        listed, git_ids = tree.files, tree.git_ids
    else:
        until = max(began + LISTING_S, time.monotonic() + LEAST_LISTING_S)
        listing = sources.discovery.Stream(store.root, store.configuration.wanted, until)
        listed = list(listing)
        notes, cut = listing.notes, not listing.complete
        if store.exists and not known:  # what another work tree has of it costs next to nothing
            git_ids = sources.staged(store.root)
    lacking = [file for file in listed if known.get(file[0]) != (file[1], file[2])]
    contents: Set[bytes] = set()
    if git_ids and store.exists:
        with store.on_disk.snapshot():
            contents = store.on_disk.listed.git_ids()
    new = [size for path, size, _ in lacking if git_ids.get(path) not in contents]
    return _Lacks(lacking, not cut and len(new) <= FEW_FILES and sum(new) <= FEW_BYTES, notes, cut)


def _indexed_states(store: OpenStore) -> Mapping[str, tuple[int, int]]:
    """(size, `files.stamp_of`) of each indexed file, by path."""
    if not store.exists:
        return {}
    with store.reader.snapshot():
        return store.reader.listed.known_files()


def fill_in_vectors(store: OpenStore, progress: OnProgress | None, deadline: float | None) -> None:
    """Make the vectors that earlier questions left out, unless another process is writing."""
    embedder, reader = store.semantics.embedder(), store.reader
    apart = store.semantics.documents_apart
    if embedder is None and not apart:
        return
    with reader.snapshot():
        manifest = reader.manifest
        model_id = reader.models.id_of(embedder.fingerprint.id) if embedder else None
        whole = (
            manifest is not None and model_id is not None and reader.models.embedded_chunks(model_id) >= manifest.chunks
        )
        if manifest is None or (whole and not apart):
            return
    try:
        with parts.index_jobs.running_job(store, progress, kind="embed", whole=True) as job:
            parts.runs.add_vectors(store, job, 0.0, deadline)
    except errors.IndexBusy:
        return  # the answer's coverage says how many chunks have vectors
