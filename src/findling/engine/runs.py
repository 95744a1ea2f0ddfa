"""Writing: a run of the indexer, and vectors: behind it, or made again on demand. Decides nothing about when."""

from __future__ import annotations

import os
import time
from collections.abc import Iterator, Sequence
from contextlib import AbstractContextManager, contextmanager, nullcontext
from functools import partial
from typing import TYPE_CHECKING, Literal

from msgspec import Struct
from msgspec.structs import replace

from findling import reading
from findling.embedding import BUNDLED, takes_documents
from findling.engine import parts
from findling.engine.store import WRITER_WAIT_S, OpenStore
from findling.model import errors
from findling.model.errors import EmbedderUnavailable, IndexBusy
from findling.model.types import IndexReport, OnProgress, SkippedFile, TreeState
from findling.store import local as stored
from findling.store.local import soundness
from findling.store.local.lock import WriterLock
from findling.store.local.schema import CutOtherwise, IndexDamaged

if TYPE_CHECKING:
    from findling.embedding import Embedder, Fingerprint
    from findling.engine.embedding_pass import EmbeddedFile
    from findling.engine.jobs import RunningJob
    from findling.reading.pool import Worker


FAILED_SHOWN = 5
"""The most files with failed passages that a report names, one sentence each."""


def run(
    store: OpenStore,
    *,
    paths: Sequence[str] | None,
    embed: bool,
    progress: OnProgress | None,
    wait_s: float,
    deadline: float | None = None,
    unlisted: Sequence[SkippedFile] | None = None,
    tree: TreeState | None = None,
) -> IndexReport:
    """Take in ``paths`` (None: the whole root) and then, with ``embed``, their vectors.

    The others as for `Indexer.sync`. Where the configuration cuts files otherwise by now, everything is taken in anew.
    Raises `IndexBusy` and the index's errors.
    """
    if not store.directory.exists():
        store.repair()  # it may come to lie elsewhere, and the job's record with it
    with (
        parts.index_jobs.running_job(store, progress, whole=paths is None) as job,
        _turn("runs", store, job, deadline),
    ):
        at_once = embed and deadline is None
        with _worker_for(store, paths, vectors=at_once) as ahead:
            store.repair()
            if store.start_over_if_cut_otherwise(wait_s) or store.begins_anew:
                paths = None  # what was to be taken in besides is gone with the old index
            vectors = _made_at_once(store) if at_once and paths is None else None

            def take_in(ahead: Worker | None) -> IndexReport:
                indexer = _indexer(store, job, embed=embed, vectors=vectors, ahead=ahead)
                return indexer.sync(paths=paths, deadline=deadline, wait_s=wait_s, unlisted=unlisted, tree=tree)

            try:
                report = take_in(ahead)
            except CutOtherwise:
                # A second time the error is raised: two processes that disagree would cut all files again and again.
                store.close_if_replaced()
                if store.start_over_if_cut_otherwise(wait_s):
                    paths = None
                report = take_in(None)
        store.begins_anew = False
        if paths is None and report.complete:
            soundness.forget_older(store.directory)
        if vectors is not None and report.embedded:
            save_bits(store, vectors, wait_s)
        done: list[EmbeddedFile] = []
        if embed and (deadline is None or time.monotonic() < deadline):
            files_only = paths is not None and all((store.root / path).is_file() for path in paths)
            done, _ = add_vectors(store, job, wait_s, deadline, paths if files_only else None)
    embedded = sum(file.chunks for file in done)
    notes = tuple(f"{file.path}: {file.problem}" for file in done if file.failed)
    if len(notes) > FAILED_SHOWN:
        notes = (*notes[:FAILED_SHOWN], f"The same applies to {len(notes) - FAILED_SHOWN:,} more files.")
    return replace(report, embedded=report.embedded + embedded, notes=(*report.notes, *notes))


def _turn(
    what: Literal["runs", "embedding"], store: OpenStore, job: RunningJob, deadline: float | None
) -> AbstractContextManager[bool]:
    """A place among those that do the same, waited for until ``deadline`` (monotonic seconds); False where none came
    free. A question takes its files in without one: it takes a moment."""
    recipe = store.configuration.recipe
    turns = recipe.turns.get(what) if recipe else None
    if turns is None or (what == "runs" and deadline is not None):
        return nullcontext(True)
    return turns.taken(lambda: job.waits() and (deadline is None or time.monotonic() < deadline))


def build_anew(store: OpenStore, *, embed: bool, progress: OnProgress | None) -> IndexReport:
    """Take in everything, beside the index of ``store`` (`rebuilding`), and let it take that one's place.

    Raises `StorageFull` where there is less room than the index takes, `IndexBusy` and the index's errors; with each
    of them the index is as it was.
    """
    store.close()
    soundness.clear_left(store.directory)
    store.check_room()
    with (
        parts.index_jobs.running_job(store, progress, whole=True) as job,
        soundness.beside(store.directory, wait_s=WRITER_WAIT_S) as folder,
    ):
        fresh = OpenStore(replace(store.collection, index=str(folder)))
        fresh.configuration = store.configuration
        try:
            report = run(fresh, paths=None, embed=embed, progress=job, wait_s=WRITER_WAIT_S)
            problem = (fresh.semantics.problem,) if fresh.semantics.problem else ()
        except IndexDamaged as error:  # of the new one: no reason to do away with the old one
            raise errors.IndexUnavailable(error.message) from error
        finally:
            fresh.close()
        soundness.take_place(store.directory, folder, wait_s=WRITER_WAIT_S)
    store.damage, store.begins_anew = "", False
    return replace(report, store=str(store.directory), notes=(*fresh.take_notes(), *report.notes, *problem))


@contextmanager
def _worker_for(store: OpenStore, paths: Sequence[str] | None, *, vectors: bool) -> Iterator[Worker | None]:
    """A worker that starts while the indexer is imported, where contents most likely are new: some of ``paths``, or all
    of a folder's that has no index. ``vectors``: it makes these, too, of a whole folder."""
    begins = paths is None and not store.exists
    if not begins and not any(os.path.lexists(store.root / path) for path in paths or ()):
        yield None
        return
    with reading.start_ahead(
        store.configuration.limits, vectors=vectors and begins and _made_at_once(store) is not None
    ) as worker:
        yield worker


def _indexer(
    store: OpenStore, job: RunningJob, *, embed: bool, vectors: Fingerprint | None, ahead: Worker | None = None
) -> parts.indexer.Indexer:
    configuration = store.configuration
    return parts.indexer.Indexer(
        store.root,
        store.directory,
        options=configuration.wanted,
        on_progress=job,
        workers=configuration.workers,
        limits=configuration.limits,
        manifest_key=store.manifest_key,
        meanwhile=partial(_open_to_embed, store) if embed and vectors is None else None,
        ahead=ahead,
        vectors=vectors,
    )


def _made_at_once(store: OpenStore) -> Fingerprint | None:
    """The bundled model, if it makes the vectors and no turn has to be waited for: then worker processes embed what
    they read."""
    recipe = store.configuration.recipe
    if recipe is not None and "embedding" in recipe.turns:
        return None
    expected = store.semantics.expected()
    return expected if expected is not None and expected.provider == BUNDLED else None


def _open_to_embed(store: OpenStore) -> None:
    """Import and open the embedder early, unless opening it asks another program or server."""
    if store.semantics.expected() is not None:
        _ = parts.embedding_pass  # loaded now, for the one who embeds
        store.semantics.embedder()


def add_vectors(
    store: OpenStore,
    job: RunningJob,
    wait_s: float,
    deadline: float | None,
    paths: Sequence[str] | None = None,
    *,
    on_demand: bool = False,
    anew: bool = False,
) -> tuple[list[EmbeddedFile], EmbedderUnavailable | None]:
    """Make the vectors that are missing, in the files ``paths`` or in all. Gives the files that were looked at, and the
    error of an embedder that gave up on the way.

    ``on_demand``: somebody asked for vectors. Then passages that could not be embedded are tried again, no turn is
    waited for, and `EmbedderUnavailable` is raised without an embedder. ``anew``: even where nothing changed.
    """
    store.close_if_replaced()
    semantics = store.semantics
    passes: list[tuple[Embedder, Sequence[str] | None]] = []
    apart, every = semantics.for_documents(), set[str]()
    if apart is not None:
        documents = documents_to_embed(store, apart, paths, failed_too=on_demand, anew=anew)
        if documents:
            passes.append((apart, documents))  # quick, so first
        every.update(documents_to_embed(store, apart, paths, anew=True))
    if on_demand:
        if paths is None or not every.issuperset(paths):
            passes.append((semantics.required(), paths))
    else:
        fingerprint = semantics.expected()
        if fingerprint is None and (embedder := semantics.embedder()) is not None:
            fingerprint = embedder.fingerprint
        lacks = fingerprint is not None and _lacks_vectors(store, fingerprint, paths)
        if lacks and (embedder := semantics.embedder()) is not None:
            passes.append((embedder, paths))
    done: list[EmbeddedFile] = []
    problem: EmbedderUnavailable | None = None
    for embedder, among in passes:
        with nullcontext(True) if on_demand else _turn("embedding", store, job, deadline) as mine:
            if not mine:  # text and names are searched; `Semantics.problem` says why not more
                continue
            try:
                parts.embedding_pass.embed(
                    lambda: stored.IndexWriter(store.directory, wait_s=wait_s),
                    store.on_disk,
                    store.source,
                    embedder,
                    max_bytes=store.configuration.wanted.max_bytes,
                    paths=among,
                    deadline=deadline,
                    on_progress=job,
                    anew=anew,
                    failed_too=on_demand,
                    on_file=done.append,
                )
            except EmbedderUnavailable as error:
                problem = error
            save_bits(store, embedder.fingerprint, wait_s)
    return done, problem


def _lacks_vectors(store: OpenStore, fingerprint: Fingerprint, paths: Sequence[str] | None) -> bool:
    """Whether some of the files ``paths`` (None: of all) have no vectors of an embedder."""
    reader = store.on_disk
    with reader.snapshot():
        model_id = reader.models.id_of(fingerprint.id)
        if model_id is None:
            return True
        if paths is None:
            return reader.models.count_unembedded(model_id) > 0
        return bool(reader.models.unembedded(model_id, paths, docs=takes_documents(fingerprint)))


def documents_to_embed(
    store: OpenStore, embedder: Embedder, paths: Sequence[str] | None, *, failed_too: bool = False, anew: bool = False
) -> list[str]:
    """The documents (among ``paths`` or all) that lack an embedder's vectors; with ``anew`` all."""
    reader = store.on_disk
    with reader.snapshot():
        documents = {file.path for file in reader.listing() if file.kind == "docs"}
        model_id = reader.models.id_of(embedder.fingerprint.id)
        if not anew and model_id is not None:
            documents &= {path for _, _, path, _ in reader.models.unembedded(model_id, failed_too=failed_too)}
    return sorted(documents if paths is None else documents.intersection(paths))


def save_bits(store: OpenStore, fingerprint: Fingerprint, wait_s: float) -> None:
    """Bring the file of sign bits up to date where that is worth while; a process that is writing now will do it."""
    reader = store.on_disk
    with reader.snapshot():
        model_id = reader.models.id_of(fingerprint.id)
        if model_id is None or not stored.may_be_due(reader.models, model_id):
            return
    try:
        lock = WriterLock(store.directory, wait_s=wait_s)
    except IndexBusy:
        return
    try:
        with reader.snapshot():
            stored.DenseIndex(reader.models, model_id).save()
    finally:
        lock.release()


# --- vectors on demand ----------------------------------------------------------------------------------------------


class VectorReport(Struct, frozen=True):
    """Files whose vectors were made, files that had them already, and those that lack some or all, with the reason.

    ``chunks`` were embedded. ``problem``: why the embedder gave up on the way; then files are missing in all three.
    ``notes``: what there was to say while changes were taken in before.
    """

    embedded: tuple[str, ...]
    skipped: tuple[str, ...]
    failed: tuple[SkippedFile, ...]
    chunks: int = 0
    problem: EmbedderUnavailable | None = None
    notes: tuple[str, ...] = ()


def paths_below(store: OpenStore, folder: str) -> list[str]:
    """The indexed files of a folder ('' for all), or the one that it is."""
    reader = store.reader
    with reader.snapshot():
        if not folder:
            return [file.path for file in reader.listing()]
        own = reader.file_at(folder)
        return [file.path for file in reader.all_files(prefix=folder)] or ([own.path] if own else [])


def reembed(store: OpenStore, paths: Sequence[str] | None, *, anew: bool, progress: OnProgress | None) -> VectorReport:
    """Bring the vectors of these indexed files (None: all) up to date, or make them ``anew`` though nothing changed.

    Passages that could not be embedded are tried again. Raises `IndexBusy`, and `EmbedderUnavailable` when there is no
    embedder.
    """
    with parts.index_jobs.running_job(store, progress, kind="embed", whole=paths is None) as job:
        done, problem = add_vectors(store, job, WRITER_WAIT_S, None, paths, on_demand=True, anew=anew)
    touched = {file.path for file in done}
    return VectorReport(
        embedded=tuple(file.path for file in done if not file.problem),
        skipped=tuple(path for path in paths or () if path not in touched and not problem),
        failed=tuple(SkippedFile(file.path, "not_embedded", file.problem) for file in done if file.problem),
        chunks=sum(file.chunks - file.kept for file in done),
        problem=problem,
    )
