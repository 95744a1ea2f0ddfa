"""Making vectors again on demand, for chosen files. Decides nothing about which."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING

from findling.engine import indexing
from findling.engine.runs import documents_to_embed, save_bits
from findling.engine.store import WRITER_WAIT_S, OpenStore
from findling.model.errors import EmbedderUnavailable
from findling.model.types import Progress, SkippedFile
from findling.store.writer import IndexWriter

if TYPE_CHECKING:
    from findling.embedding import Embedder
    from findling.engine.embedding_pass import EmbeddedFile


@dataclass(frozen=True, slots=True)
class VectorReport:
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


def reembed(
    store: OpenStore, paths: Sequence[str] | None, *, anew: bool, progress: Callable[[Progress], None] | None
) -> VectorReport:
    """Bring the vectors of these indexed files (None: all) up to date, or make them ``anew`` though nothing changed.

    Passages that could not be embedded are tried again. Raises `IndexBusy`, and `EmbedderUnavailable` when there is no
    embedder.
    """
    store.close_if_replaced()
    passes: list[tuple[Embedder, Sequence[str] | None]] = []
    apart = store.semantics.for_documents()
    if apart is not None:
        passes.append((apart, documents_to_embed(store, apart, paths, failed_too=True, anew=anew)))
    every = set(documents_to_embed(store, apart, paths, anew=True)) if apart is not None else set()
    if paths is None or not every.issuperset(paths):
        passes.append((store.semantics.required(), paths))
    done: list[EmbeddedFile] = []
    problem: EmbedderUnavailable | None = None
    with indexing.index_jobs.running_job(store, progress, kind="embed", whole=paths is None) as job:
        for embedder, among in passes:
            try:
                indexing.embedding_pass.embed(
                    lambda: IndexWriter(store.directory, wait_s=WRITER_WAIT_S),
                    store.reader,
                    store.source,
                    embedder,
                    max_bytes=store.configuration.wanted.max_bytes,
                    paths=among,
                    anew=anew,
                    failed_too=True,
                    on_file=done.append,
                    on_progress=job,
                )
            except EmbedderUnavailable as error:
                problem = error
            save_bits(store, embedder.fingerprint, WRITER_WAIT_S)
    touched = {file.path for file in done}
    return VectorReport(
        embedded=tuple(file.path for file in done if not file.problem),
        skipped=tuple(path for path in paths or () if path not in touched and not problem),
        failed=tuple(SkippedFile(file.path, "not_embedded", file.problem) for file in done if file.problem),
        chunks=sum(file.chunks - file.kept for file in done),
        problem=problem,
    )
