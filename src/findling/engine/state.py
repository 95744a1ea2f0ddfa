"""What is indexed: the coverage of an answer, and the status of the index. Looks, and changes nothing."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Iterator, Sequence
from pathlib import Path
from typing import Literal

from msgspec import Struct
from msgspec.structs import replace

from findling import sources
from findling.engine import parts, remote
from findling.engine.freshness import to_look_at
from findling.engine.refs import RefStore, unlistable, up_to_date
from findling.engine.store import OpenStore
from findling.model import errors
from findling.model.plurals import count
from findling.model.types import Coverage, IndexingStatus, IndexReport, SkippedFile, Status
from findling.store.local import layout, schema, soundness
from findling.store.local.lock import WriterLock
from findling.store.local.schema import FORMAT_VERSION, IndexDamaged
from findling.store.local.soundness import check_sqlite as check_sqlite


def coverage(store: OpenStore) -> Coverage:
    """What an answer was searched in."""
    if store.first_answer is not None:
        return store.first_answer.coverage(vectors_wanted=store.semantics.enabled and not store.semantics.problem)
    with store.reader.snapshot():
        return coverage_of(store, store.semantics.model_of_vectors())


def coverage_of(store: OpenStore, model_id: int | None) -> Coverage:
    """The same of an index, counting the vectors of a model. Within the reader's snapshot."""
    reader = store.reader
    manifest = reader.manifest
    wanted = store.semantics.enabled and not store.semantics.problem
    if manifest is None:
        return never_indexed(store, vectors_wanted=wanted)
    return Coverage(
        files=manifest.files,
        chunks=manifest.chunks,
        embedded_chunks=reader.models.embedded_chunks(model_id),
        pending_files=manifest.pending,
        skipped=reader.listed.skipped_counts(),
        complete=manifest.complete,
        vectors_wanted=wanted,
        missing=store.missing,
    )


def never_indexed(store: OpenStore, *, vectors_wanted: bool = False) -> Coverage:
    """What an answer was searched in where nothing is indexed yet: pending are the files that a commit has, or those
    that a run has found."""
    if isinstance(store, RefStore):
        pending = store.file_count
    else:
        job = parts.index_jobs.active_job(store)
        pending = job.pending if job else 0
    return Coverage(pending_files=pending, vectors_wanted=vectors_wanted)


def joined_coverage(every: Iterable[Coverage], roots: Iterable[Path]) -> Coverage:
    """The coverage of several collections together. ``roots``: their folders; one that lies in another is left out
    there, and searched all the same."""
    found = list(every)
    if len(found) == 1:
        return found[0]
    skipped: Counter[str] = Counter()
    for each in found:
        skipped.update(each.skipped)
    folders = set(roots)
    skipped["nested_repository"] -= sum(not folders.isdisjoint(folder.parents) for folder in folders)
    skipped = +skipped
    return replace(
        found[0],
        files=sum(each.files for each in found),
        chunks=sum(each.chunks for each in found),
        embedded_chunks=sum(each.embedded_chunks for each in found),
        pending_files=sum(each.pending_files for each in found),
        skipped=dict(skipped),
        complete=all(each.complete for each in found),
        scanned=sum(each.scanned for each in found),
        only_scanned=sum(each.only_scanned for each in found),
        missing=tuple(name for each in found for name in each.missing),
        vectors_wanted=any(each.vectors_wanted for each in found),
    )


class Health(Struct, frozen=True):
    """What is wrong with what answers rest on. ``gone``: why nothing can be asked: there is no folder any more, or the
    shared store does not answer. ``tables`` and ``text_index`` in words, '' for nothing. ``schema``: whether this
    version can read the index, if there is one."""

    gone: errors.FindlingError | None
    tables: str
    text_index: str
    schema: Literal["compatible", "reindex_required", "corrupt_manifest"]
    format_version: int = FORMAT_VERSION
    """Of the indexes that this version reads and writes."""

    @property
    def readable(self) -> bool:
        return self.schema == "compatible"

    @property
    def problem(self) -> str:
        """The first of what is wrong."""
        return str(self.gone or "") or self.tables or self.text_index


def health(store: OpenStore) -> Health:
    """Looks at what is on disk, and changes nothing."""
    if (shared := store.shared) is not None:
        silent = shared.problem()
        words = str(silent or "")
        return Health(silent, words, words, "compatible", shared.schema_version)
    gone = None
    if not store.root.is_dir():
        gone = errors.RootError(f"There is no folder {str(store.root)!r} any more.", remedy="Check the path.")
    try:
        problem = soundness.problem(store.directory)
    except errors.IndexNewer as error:
        return Health(gone, str(error), "", "reindex_required")
    except errors.FindlingError as error:
        return Health(gone, str(error), "", "corrupt_manifest")
    if not problem:
        return Health(gone, "", "", "compatible")
    readable: Literal["reindex_required", "corrupt_manifest"] = (
        "reindex_required" if soundness.is_older(store.directory) else "corrupt_manifest"
    )
    if problem.startswith("The text index"):
        return Health(gone, "", problem, readable)
    return Health(gone, problem, "", readable)


class IndexOnDisk(Struct, frozen=True):
    """What `findling doctor` checks. ``problem``: why the index cannot be read, '' for none. ``older``: an earlier
    version of findling wrote it. ``journal_mode``: SQLite's, '' where it does not say. ``written``: another process
    is writing it now."""

    problem: str
    older: bool = False
    journal_mode: str = ""
    written: bool = False


def index_on_disk(directory: Path) -> IndexOnDisk | None:
    """None where no index lies in a folder."""
    if not (directory / layout.DATABASE).exists():
        return None
    if problem := soundness.problem(directory):
        return IndexOnDisk(problem, older=soundness.is_older(directory))
    mode = soundness.journal_mode(directory / layout.DATABASE)
    try:
        WriterLock(directory, wait_s=0.0).release()
    except errors.IndexBusy:
        return IndexOnDisk("", journal_mode=mode, written=True)
    return IndexOnDisk("", journal_mode=mode)


UNLISTED_S = 5.0
"""For counting what git ignores: in a tree of 70,000 files it takes half a second."""


def status(store: OpenStore, *, unlisted: bool = False) -> Status:
    """The state of the index; one that cannot be read, or has to be built anew, is ``failed``.

    ``unlisted``: with what git never mentions among what is left out.
    """
    if store.shared is not None:
        return _read_status(store)
    store.notes += parts.index_jobs.told(store)
    if not store.exists:
        return _not_indexed(store)
    try:
        store.close_if_replaced()
        if problem := store.damage or soundness.problem(store.directory):
            raise IndexDamaged(problem)
        found = _read_status(store)
        return _with_unlisted(store, found) if unlisted and not isinstance(store, RefStore) else found
    except IndexDamaged as error:
        return _no_status(store, "failed", [f"{error.message} {store.begun_anew_by} rebuilds it."])
    except errors.IndexUnavailable as error:
        return _no_status(store, "failed", [str(error)])


_WORST: Sequence[IndexingStatus] = ("failed", "indexing", "not_indexed", "ready")


def together(every: Sequence[Status]) -> Status:
    """The status of several indexes: the worst state of any, the counts of all. By ``last_indexed_at`` all were; the
    first index gives what has no sum."""
    languages: Counter[str] = Counter()
    for each in every:
        languages.update(each.languages)
    coverage = joined_coverage((each.coverage for each in every), (Path(each.root) for each in every))
    dates = [each.last_indexed_at for each in every]
    return replace(
        every[0],
        indexing_status=min((each.indexing_status for each in every), key=_WORST.index),
        coverage=coverage,
        symbols=sum(each.symbols for each in every),
        languages=languages,
        last_indexed_at=min(dates) if all(dates) else "",
    )


def unanswered(store: OpenStore, problem: str) -> Status:
    """The state of an index in a shared store that does not answer."""
    return _no_status(store, "failed", [problem])


def _read_status(store: OpenStore) -> Status:
    notes: list[str] = []
    reader = store.reader
    embedder = store.semantics.embedder()
    with reader.snapshot():
        manifest = reader.manifest
        if manifest is None or (isinstance(store, RefStore) and not (manifest.complete or manifest.files)):
            return _not_indexed(store)
        # Where no embedder answers, the vectors that the index has are still there.
        model_id = reader.models.id_of(embedder.fingerprint.id) if embedder else reader.models.latest()
        totals = reader.listed.totals()
        covered = coverage_of(store, model_id)
        cut_otherwise = "" if store.shared else store.cut_otherwise
        known = reader.listed.known_files()
        found = replace(
            _no_status(store, "ready" if manifest.complete else "indexing", ()),
            coverage=covered,
            symbols=totals["symbols"],
            languages=reader.listed.languages(),
            model=embedder.fingerprint.id if embedder else "",
            bytes_indexed=totals["bytes"],
            last_indexed_at=manifest.synced_at,
            skipped=tuple(SkippedFile(*row) for row in reader.listed.skipped()),
        )
    changed = 0
    if (shared := store.shared) is not None:
        notes += [shared.late] if shared.late else []
        if shared.engine and not shared.configuration.person:  # where it is concerns no user
            notes.append(f"Milvus: {remote.said_of(shared.database, shared.engine)}")
    elif isinstance(store, RefStore):
        changed = int(not up_to_date(store))
        notes.append(f"This is {store.ref.name}: commit {store.ref.commit_id}.")
    else:
        changes = sources.discovery.check(store.root, known, store.configuration.wanted, None)
        paths = to_look_at(store.root, changes, known)
        changed = len(paths)
        notes += [note for note in changes.notes if note not in found.notes]
        notes += _waiting(store, changed, sum(path not in known for path in paths))
    if shared is None:
        notes += _unfinished(store, covered)
    if cut_otherwise:
        notes.append(f"{cut_otherwise}; {_by_whom(store)} rebuilds the index.")
    stale = changed or store.late or cut_otherwise or not manifest.complete
    problem = [store.semantics.problem] if store.semantics.problem else []
    return replace(
        found,
        freshness="stale" if stale else "fresh",
        notes=(*found.notes, *store.take_notes(), *notes, *problem),
    )


def _waiting(store: OpenStore, changed: int, new: int) -> Iterator[str]:
    """``changed`` files are not as they were indexed, ``new`` of them because they never were."""
    if known := changed - new:
        them = "it" if known == 1 else "them"
        files = count(known, "file")
        yield f"{files} changed since the index was brought up to date; {_by_whom(store)} updates {them}."
    if new:
        are, them = ("is", "it") if new == 1 else ("are", "them")
        yield f"{count(new, 'file')} {are} not indexed yet; {_by_whom(store)} indexes {them}."


def _unfinished(store: OpenStore, covered: Coverage) -> Iterator[str]:
    """What is missing of the files that are indexed, and that the disk has no room for it."""
    if without := covered.missing_vectors:
        chunks = count(covered.chunks, "chunk")
        yield f"{without:,} of {chunks} cannot be found by meaning yet; {_by_whom(store)} makes their vectors."
    if (without or not covered.complete) and schema.is_full(store.directory):
        yield str(schema.full(store.directory))


def _by_whom(store: OpenStore) -> str:
    """Who takes in what is not in the index, in the middle of a sentence."""
    return "the next search" if store.configuration.auto_index else "'findling index'"


def _not_indexed(store: OpenStore) -> Status:
    problem = unlistable(store) if isinstance(store, RefStore) else ""
    found = _no_status(store, "not_indexed", [problem] if problem else ())
    return replace(found, coverage=never_indexed(store))


def unmentioned(store: OpenStore, listed: Iterable[SkippedFile]) -> list[SkippedFile]:
    """What git never mentions, and ``listed`` does not: ignored files and folders, pipes and devices.

    Where there is no time for it there is none, and a note in the store.
    """
    found = sources.unlisted(store.root, UNLISTED_S)
    if found is None:
        store.notes.append("What git ignores is not counted: git did not list it in time.")
        return []
    known = {file.path for file in listed}
    return [file for file in found if file.path not in known]


def _with_unlisted(store: OpenStore, found: Status) -> Status:
    more = unmentioned(store, found.skipped)
    skipped = sorted((*found.skipped, *more), key=lambda file: file.path)
    counts = dict(Counter(file.reason for file in skipped).most_common())
    covered = replace(found.coverage, skipped=counts)
    return replace(found, skipped=tuple(skipped), coverage=covered, notes=(*found.notes, *store.take_notes()))


def with_left_out(
    store: OpenStore, report: IndexReport, paths: Sequence[str] | None, *, unlisted: bool = False
) -> IndexReport:
    """The report with all that the index leaves out by now, whatever the run looked at: what failed in the run in
    ``failed``, everything else in ``skipped``, together as `status` counts them.

    ``paths``: those of the run; then only what is left out there, and what the run says of these. ``unlisted``: as for
    `status`; what is left out beside named files takes no look at anything else.
    """
    store.close_if_replaced()
    with store.reader.snapshot():
        known = [SkippedFile(*row) for row in store.reader.listed.skipped()]
    folders = paths is None or any((store.root / path).is_dir() for path in paths)
    if unlisted and folders and not isinstance(store, RefStore):
        known += unmentioned(store, known)
    if paths is not None:
        named = set(paths)
        known = [file for file in known if named.intersection(_on_the_way(file.path))]
        told = {file.path for file in known}
        known += [file for file in report.skipped if file.path not in told]
    failed = {file.path for file in report.failed}
    known = sorted((file for file in known if file.path not in failed), key=lambda file: file.path)
    return replace(report, skipped=tuple(known))


def _on_the_way(path: str) -> Iterator[str]:
    """The path, the folders that it lies in, and the root."""
    path = path.rstrip("/")
    while path:
        yield path
        path = path.rpartition("/")[0]
    yield "."


def _no_status(store: OpenStore, indexing_status: IndexingStatus, notes: Sequence[str]) -> Status:
    shared = store.shared
    version = shared.schema_version if shared else soundness.format_of(store.directory) if store.exists else None

    return Status(
        root=str(store.root),
        store=shared.database.url if shared else str(store.directory),
        indexing_status=indexing_status,
        freshness="stale",
        schema_version=FORMAT_VERSION if version is None else version,
        coverage=Coverage(),
        symbols=0,
        languages={},
        model="",
        bytes_indexed=0,
        bytes_on_disk=0 if shared else layout.bytes_on_disk(store.directory),
        last_indexed_at="",
        notes=(*store.take_notes(), *notes),
    )
