"""The index on disk as a search sees it (`protocols.Index`): one committed generation of a manifest in one store.

What is read is remembered within a bound, so that a process that answers many queries touches the disk only for what
is new to it: of contents and entries always, as they never change, of a manifest until the next generation.
"""

from __future__ import annotations

from array import array
from collections.abc import Callable, Collection, Iterable, Iterator, Mapping, Sequence, Set
from contextlib import contextmanager, suppress
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING, Any, TypeVar

import apsw

from findling.config.roots import LIVE
from findling.model import term_rows
from findling.model.reading import ChunkRow, Use
from findling.model.rows import DefinedNames, FileRow, ManifestRow, SymbolRow, squashed, symbol_rows
from findling.model.text_encodings import UTF8
from findling.model.types import TreeState
from findling.store import parts
from findling.store.local import connections, fulltext, fulltext_files, layout, schema
from findling.store.local.models import Models
from findling.store.local.schema import DATABASE, FULLTEXT, batches
from findling.store.protocols import ANY, Frequencies, Index, OnlyThese, VectorRows, proposed

if TYPE_CHECKING:
    import numpy as np
    from numpy.typing import NDArray

    from findling.model.trigram_plan import TrigramPlan
    from findling.store.local.dense import DenseIndex


# --- listed -------------------------------------------------------------------------------------------------------
# What the last listing of a manifest's folder gave: every file's state, what was left out and why.
#
# For whoever compares an index with the disk, and for reports; a search asks none of it.


class Listed:
    """What the last listing gave, for one generation of a manifest (`IndexReader.listed`). Use within
    the reader's snapshot."""

    def __init__(self, db: apsw.Connection, manifest_id: int) -> None:
        self._db = db
        self._manifest_id = manifest_id
        self._known: dict[str, tuple[int, int]] | None = None
        self._tree: tuple[bytes, int, TreeState] | None = None
        """As it was read last, packed and unpacked."""
        self._unlisted: frozenset[tuple[str, str]] | None = None

    def _value(self, sql: str, *values: Any) -> Any:
        return schema.scalar(self._db, sql, *values)

    def known_files(self) -> dict[str, tuple[int, int]]:
        """path -> (size, `files.stamp_of`) of every file listed, those skipped for their content included.

        Remembered, as every question compares it with the disk: not to be changed.
        """
        if self._known is None:
            known: dict[str, tuple[int, int]] = {}
            for sql in (schema.SKIPPED_STATES, schema.FILE_STATES):
                for path, size, mtime_ns in self._db.execute(sql, (self._manifest_id,)):
                    known[path] = (size, mtime_ns)
            self._known = known
        return self._known

    def git_ids(self) -> set[bytes]:
        """git's ids of all contents in the index, whatever the manifest."""
        return {row[0] for row in self._db.execute("SELECT git_id FROM blobs WHERE git_id IS NOT NULL")}

    def tree(self) -> TreeState | None:
        """What the listing depended on that the manifest comes from; None where that is not known.

        A manifest with another number of files by now, or a record that is damaged, only costs a listing.
        """
        packed = self._value("SELECT value FROM meta WHERE key=?", schema.tree_key(self._manifest_id))
        if packed is None:
            return None
        if self._tree is None or self._tree[0] != packed:
            try:
                self._tree = (packed, *parts.tree(packed))
            except (ValueError, TypeError):
                return None
        _, files, tree = self._tree
        return tree if files == len(self.known_files()) else None

    def state_of(self, path: str) -> tuple[int, int] | None:
        """(size, `files.stamp_of`) that the index knows of a path."""
        row = self._db.execute(
            "SELECT m.size, m.mtime_ns FROM entries e CROSS JOIN manifest_files m USING (entry_id) "
            "WHERE m.manifest_id=? AND e.path=?",
            (self._manifest_id, path),
        ).fetchone()
        return (row[0], row[1]) if row else None

    def skipped(self) -> list[tuple[str, str, str]]:
        """(path, reason, detail) of every file that was left out."""
        return list(
            self._db.execute(
                "SELECT path, reason, detail FROM skipped_files WHERE manifest_id=? ORDER BY path", (self._manifest_id,)
            )
        )

    def unlisted(self) -> frozenset[tuple[str, str]]:
        """(path, reason) of the files that listing leaves out."""
        if self._unlisted is None:
            sql = "SELECT path, reason FROM skipped_files WHERE manifest_id=? AND mtime_ns=?"
            self._unlisted = frozenset(self._db.execute(sql, (self._manifest_id, schema.UNLISTED)))
        return self._unlisted

    @property
    def any_unread(self) -> bool:
        """Whether there are files that could not be read."""
        sql = "SELECT 1 FROM skipped_files WHERE manifest_id=? AND mtime_ns=? LIMIT 1"
        return self._value(sql, self._manifest_id, schema.UNREAD) is not None

    def skipped_counts(self) -> dict[str, int]:
        return dict(
            self._db.execute(
                "SELECT reason, count(*) FROM skipped_files WHERE manifest_id=? GROUP BY reason ORDER BY 2 DESC, 1",
                (self._manifest_id,),
            )
        )

    def totals(self) -> dict[str, int]:
        """Sums over the manifest for a status report: symbols and bytes."""
        symbols = (
            "SELECT total(b.symbols) FROM manifest_files m JOIN entries e USING (entry_id) "
            "JOIN blobs b USING (blob_id) WHERE m.manifest_id=?"
        )
        return {
            "symbols": int(self._value(symbols, self._manifest_id)),
            "bytes": int(self._value("SELECT total(size) FROM manifest_files WHERE manifest_id=?", self._manifest_id)),
        }

    def languages(self) -> dict[str, int]:
        """Files per language."""
        return dict(
            self._db.execute(
                "SELECT b.language, count(*) FROM manifest_files m JOIN entries e USING (entry_id) "
                "JOIN blobs b USING (blob_id) WHERE m.manifest_id=? GROUP BY 1 ORDER BY 2 DESC, 1",
                (self._manifest_id,),
            )
        )


_WRITTEN = "SELECT key, value FROM meta WHERE key IN ('generation', 'only_vectors')"

_FILE = (
    "SELECT m.entry_id, e.blob_id, e.path, b.language, b.kind, b.size, b.lines, b.generated, "
    f"b.body_terms, b.name_terms, nullif(b.encoding, '{UTF8}') "
    "FROM manifest_files m CROSS JOIN entries e USING (entry_id) JOIN blobs b USING (blob_id) "
)
"""The columns that `_file` takes."""

_FILE_FROM_ENTRY = _FILE.replace(
    "FROM manifest_files m CROSS JOIN entries e USING (entry_id)",
    # CROSS: from the few entries of a content or a path, not from the manifest's many files
    "FROM entries e CROSS JOIN manifest_files m USING (entry_id)",
)

_MANIFEST = (
    "SELECT manifest_id, complete, pending, synced_at, files, chunks, "
    "body_terms, name_terms, counts, wanted FROM manifests WHERE root=? AND ref=?"
)

# What is remembered between queries, and how much memory each takes.
_FILES = 6_000  # rows of entries, 1 kB
_CONTENTS = 2_000  # terms and names of contents, 7 kB
_CHUNK_LISTS = 500  # 8 kB; only what is shown needs them
_SYMBOL_LISTS = 100  # 30 kB; only what is shown needs them
_USE_LISTS = 200  # 40 kB; only questions about callers need them
_DERIVED = 10_000  # `IndexReader.derived`, 0.3 kB

_FEW = 3_000
"""Up to so many entries the text index is asked for them by id; a longer list costs more than it saves."""

_MOST_SPREAD = 20
"""How many times more proposals than wanted are taken at first, at most, where few of the files are searched."""

_AT_ONCE = 100
"""Contents whose definitions are looked through together."""

_Value = TypeVar("_Value")


class IndexReader:
    """Reads one root's manifest in one store. Not to be shared between threads.

    `listed` has what the last listing of the folder gave, `models` which files have vectors.
    """

    def __init__(self, directory: Path, root: str, ref: str = LIVE) -> None:
        self.directory = directory
        before = layout.file_id(directory / DATABASE)  # another may take its place from here on
        self._db, self._only_now = connections.connect_to_read(directory / DATABASE)
        self.identity = schema.identity(self._db)
        self._inode = before or layout.file_id(directory / DATABASE)
        self._root, self._ref = root, ref
        self.generation = -1
        self._contents = -1
        """As ``generation``, but the same after writing only vectors."""
        # the same in every generation
        self._files: dict[int, FileRow] = {}
        self._terms: dict[int, Sequence[int]] = {}
        self._names: dict[int, DefinedNames] = {}
        self._chunks: dict[int, list[ChunkRow]] = {}
        self._symbols: dict[int, list[SymbolRow]] = {}
        self._uses: dict[int, list[Use]] = {}
        self.derived: dict[int, array[int]] = {}
        """Numbers that others work out from a content's definitions."""
        # derived indexes, brought to a generation when it is read
        self._text: fulltext.FulltextReader | None = None
        self._dense: dict[int, tuple[DenseIndex, int]] = {}
        """By model its sign bits, and the generation that they are of."""
        self._forget()

    def _forget(self) -> None:
        """Forget what belongs to a generation."""
        self._forget_vectors()
        self._manifest: ManifestRow | None = None
        self._listed: Listed | None = None
        self._listing: list[FileRow] | None = None
        self._in_manifest: dict[int, None] = {}
        """Entries that the manifest is known to have."""
        self._others: list[int] | None = None
        self._crowding: float | None = None
        self._counts: dict[int, int] = {}
        if len(self.derived) > _DERIVED:
            self.derived.clear()

    def _forget_vectors(self) -> None:
        """Forget what depends on vectors or on the text index."""
        self._models: Models | None = None
        if self._text is not None:
            self._check_text(self.directory / FULLTEXT)
            self._text.reload()

    @contextmanager
    def snapshot(self) -> Iterator[None]:
        """Everything read inside belongs to one generation."""
        try:
            with connections.rows_of(self.directory / DATABASE):
                self._db.execute("BEGIN")
                written: dict[Any, Any] = dict(self._db.execute(_WRITTEN))
                generation = int(written.get("generation") or 0)
                contents = generation - int(written.get("only_vectors") or 0)
                if contents != self._contents:
                    self._forget()
                elif generation != self.generation:
                    self._forget_vectors()
                self.generation, self._contents = generation, contents
                yield
        finally:
            with suppress(apsw.Error):  # nothing was written, and what went wrong was said above
                if self._db.in_transaction:
                    self._db.execute("COMMIT")

    def ahead(self, *asks: Callable[[Index], object]) -> None:
        """Nothing to do: every question is answered from this machine."""

    def bring(self, *asks: Callable[[Index], object]) -> None:
        """As `ahead`."""

    @property
    def chunking(self) -> str | None:
        """The sizes that the files were cut by, '' for the default ones; None while there are none.

        Within a snapshot.
        """
        filled = self._value("SELECT 1 FROM entries LIMIT 1") is not None
        return schema.chunking(self._db) if filled else None

    def close(self) -> None:
        self._db.close()
        self._text = None

    def latest_fingerprint(self) -> str | None:
        """The id of the embedder that made the newest vectors; None when there are none. Needs no snapshot."""
        with connections.rows_of(self.directory / DATABASE):
            latest = self.models.latest()
            model = None if latest is None else self.models.get(latest)
            return model.fingerprint if model else None

    @property
    def replaced(self) -> bool:
        """Whether another file stands where this one was opened (the store was deleted, or built anew), or may soon."""
        return self._only_now or layout.file_id(self.directory / DATABASE) != self._inode

    @property
    def fulltext(self) -> fulltext.FulltextReader:
        """Raises `IndexUnavailable` when it is missing or damaged; then the store must be built anew."""
        directory = self.directory / FULLTEXT
        if self._text is None:
            self._check_text(directory)
            self._text = fulltext.FulltextReader(directory)
        elif fulltext_files.is_damaged(directory):
            self._check_text(directory)
        return self._text

    def _check_text(self, directory: Path) -> None:
        if not fulltext_files.usable(directory, self.identity, read=True):
            raise schema.TextIndexLost(f"The text index at {directory} is missing or damaged.")

    @property
    def listed(self) -> Listed:
        if self._listed is None:
            self._listed = Listed(self._db, self._manifest_id)
        return self._listed

    @property
    def models(self) -> Models:
        if self._models is None:
            self._models = Models(self._db, self.manifest, self.directory, self.identity)
        return self._models

    def _value(self, sql: str, *values: Any) -> Any:
        return schema.scalar(self._db, sql, *values)

    def _remember(
        self,
        cache: dict[int, _Value],
        most: int,
        ids: Iterable[int],
        read: Callable[[str], Iterable[tuple[int, _Value]]],
    ) -> dict[int, _Value]:
        """The values of some ids, in their order; those not in ``cache`` are read. ``most``: how many the cache
        keeps."""
        wanted = list(ids)
        missing = [key for key in wanted if key not in cache]
        found = cache
        if missing and len(cache) + len(missing) > most:
            found = {key: cache[key] for key in wanted if key in cache}
            cache.clear()
        for some in batches(missing):
            new = dict(read(some))
            cache.update(new)
            if found is not cache:
                found.update(new)
        return {key: found[key] for key in wanted if key in found}

    # --- what stands where ----------------------------------------------------------------------------------

    @property
    def manifest(self) -> ManifestRow | None:
        """None when this root was never indexed."""
        if self._manifest is None:
            row = self._db.execute(_MANIFEST, (self._root, self._ref)).fetchone()
            self._manifest = ManifestRow(row[0], bool(row[1]), *row[2:]) if row else None
        return self._manifest

    @property
    def _manifest_id(self) -> int:
        manifest = self.manifest
        return manifest.manifest_id if manifest else -1

    @property
    def crowding(self) -> float:
        """Entries of the store for each of the manifest's: 1 where it holds nothing else. Proposals come from all."""
        if self._crowding is None:
            files = self.manifest.files if self.manifest else 0
            self._crowding = self._value("SELECT count(*) FROM entries") / files if files else 1.0
        return self._crowding

    def others(self) -> list[int]:
        """The store's entries that the manifest does not have: earlier versions, other branches and work trees."""
        if self._others is None:
            sql = "SELECT entry_id FROM entries EXCEPT SELECT entry_id FROM manifest_files WHERE manifest_id=?"
            self._others = [row[0] for row in self._db.execute(sql, (self._manifest_id,))]
        return self._others

    def own(self, entry_ids: Set[int]) -> Set[int]:
        """Those of the entries that belong to the manifest."""
        for ids in batches(entry_ids - self._in_manifest.keys()):
            sql = f"SELECT entry_id FROM manifest_files WHERE manifest_id=? AND entry_id IN ({ids})"
            self._in_manifest.update((row[0], None) for row in self._db.execute(sql, (self._manifest_id,)))
        return entry_ids & self._in_manifest.keys()

    def files(self, entry_ids: Iterable[int]) -> dict[int, FileRow]:
        """Those of the entries that belong to the manifest."""
        wanted = list(entry_ids)
        known = self.own(set(wanted))
        return self._remember(self._files, _FILES, [key for key in wanted if key in known], self._read_files)

    def _read_files(self, ids: str) -> Iterator[tuple[int, FileRow]]:
        for row in self._db.execute(_FILE + f"WHERE m.manifest_id=? AND m.entry_id IN ({ids})", (self._manifest_id,)):
            yield row[0], _file(row)

    def all_files(self, *, prefix: str = "") -> Iterator[FileRow]:
        """Every file of the manifest in path order, those under a folder only when ``prefix`` names one."""
        if prefix:
            sql = _FILE_FROM_ENTRY + "WHERE m.manifest_id=? AND e.path >= ? AND e.path < ? ORDER BY e.path"
            rows = self._db.execute(sql, (self._manifest_id, f"{prefix}/", f"{prefix}0"))
        else:
            rows = self._db.execute(_FILE + "WHERE m.manifest_id=? ORDER BY e.path", (self._manifest_id,))
        for row in rows:
            yield _file(row)

    def file_at(self, path: str) -> FileRow | None:
        sql = _FILE_FROM_ENTRY + "WHERE m.manifest_id=? AND e.path=?"
        try:
            row = self._db.execute(sql, (self._manifest_id, path)).fetchone()
        except UnicodeEncodeError:  # the path is not Unicode, and no such file is ever indexed
            return None
        return _file(row) if row else None

    def paths_ending(self, tail: str) -> list[str]:
        """Every path of the manifest that ends with ``tail``, in order."""
        sql = (
            "SELECT e.path FROM entries e CROSS JOIN manifest_files m USING (entry_id) "
            "WHERE m.manifest_id=? AND substr(e.path, ?)=? ORDER BY e.path"
        )
        return [row[0] for row in self._db.execute(sql, (self._manifest_id, -len(tail), tail))]

    def files_of_blobs(self, blob_ids: Iterable[int]) -> list[FileRow]:
        """The manifest's files with these contents, in path order."""
        found: list[FileRow] = []
        for ids in batches(blob_ids):
            sql = _FILE_FROM_ENTRY + f"WHERE e.blob_id IN ({ids}) AND m.manifest_id=?"
            found += [_file(row) for row in self._db.execute(sql, (self._manifest_id,))]
        found.sort(key=lambda row: row.path)
        return found

    def listing(self) -> list[FileRow]:
        """Every file of the manifest in path order, remembered: for questions that may touch any of them."""
        if self._listing is None:
            self._listing = list(self.all_files())
        return self._listing

    # --- what is in it --------------------------------------------------------------------------------------

    def terms(self, blob_ids: Iterable[int]) -> dict[int, Sequence[int]]:
        """Term rows (`term_rows`) by blob."""

        def read(ids: str) -> Iterator[tuple[int, Sequence[int]]]:
            for blob_id, data in self._db.execute(f"SELECT blob_id, terms FROM readings WHERE blob_id IN ({ids})"):
                yield blob_id, term_rows.unpack(data)

        return self._remember(self._terms, _CONTENTS, blob_ids, read)

    def chunks(self, blob_id: int) -> list[ChunkRow]:
        """A content's chunks in order."""
        return self._unpacked(self._chunks, _CHUNK_LISTS, blob_id, "chunks", parts.chunks)

    def symbols(self, blob_id: int) -> list[SymbolRow]:
        """A content's definitions in order."""
        return self._unpacked(
            self._symbols, _SYMBOL_LISTS, blob_id, "symbols", lambda data: symbol_rows(blob_id, parts.symbols(data))
        )

    def uses(self, blob_id: int) -> list[Use]:
        """Where names are used in a content, in order."""
        return self._unpacked(self._uses, _USE_LISTS, blob_id, "uses", parts.uses)

    def mentioning(self, blob_ids: Iterable[int], name: str) -> set[int]:
        """Those of some contents whose uses may have a name."""
        found: set[int] = set()
        for ids in batches(blob_ids):
            holds = "instr(uses, ?) OR instr(uses, ?) OR instr(uses, ?)"
            sql = f"SELECT blob_id FROM readings WHERE blob_id IN ({ids}) AND ({holds})"
            found.update(row[0] for row in self._db.execute(sql, parts.marks_of(name)))
        return found

    def _unpacked(
        self, cache: dict[int, _Value], most: int, blob_id: int, part: str, unpack: Callable[[bytes], _Value]
    ) -> _Value:
        """A part of a reading; as of an empty one where the content is gone."""
        if blob_id not in cache:
            if len(cache) >= most:
                cache.clear()
            packed = self._value(f"SELECT {part} FROM readings WHERE blob_id=?", blob_id)
            cache[blob_id] = unpack(packed or parts.NOTHING)
        return cache[blob_id]

    def defined_names(self, blob_ids: Iterable[int]) -> dict[int, DefinedNames]:
        """Names and kinds of contents' definitions, in less room than `symbols`. Without any: absent."""

        def read(ids: str) -> Iterator[tuple[int, DefinedNames]]:
            for blob_id, data in self._packed_symbols(ids):
                if data != parts.NOTHING:
                    yield blob_id, DefinedNames.of(parts.symbols(data))

        return self._remember(self._names, _CONTENTS, blob_ids, read)

    def _packed_symbols(self, ids: str) -> Iterable[tuple[int, bytes]]:
        return self._db.execute(f"SELECT blob_id, symbols FROM readings WHERE blob_id IN ({ids})")

    def doc_text(self, blob_id: int) -> bytes | None:
        """The text of a converted document, UTF-8; None of others, whose text is their file's."""
        text = self._value("SELECT text FROM readings WHERE blob_id=?", blob_id)
        if text is not None and not isinstance(text, bytes):
            raise TypeError("a document's text is no text")
        return text

    def taken_apart(self, blob_id: int) -> tuple[int, int, str]:
        """How many chunks and symbols a content has, and what kept the others from being found (`Reading.problem`)."""
        sql = "SELECT chunks, symbols, problem FROM blobs WHERE blob_id=?"
        ((chunks, symbols, problem),) = self._db.execute(sql, (blob_id,))
        return int(chunks), int(symbols), str(problem)

    def vectors(self, entry_ids: Iterable[int], model_id: int) -> VectorRows | None:
        """See `Records.vectors`."""
        return self.models.decoded(entry_ids, model_id)

    # --- proposals ------------------------------------------------------------------------------------------

    def term_counts(self, keys: Iterable[int]) -> dict[int, int]:
        """Files of the manifest that have a term, by term key; 0 for none."""
        keys = list(keys)
        found = {key: 0 for key in keys if key not in self._counts}
        under = f"{self._manifest_id:d}, {self.manifest.counts if self.manifest else 0:d}"
        for ids in batches(found):
            found.update(
                self._db.execute(
                    "SELECT term, sum(files) FROM term_counts "
                    f"WHERE counted_under IN ({under}) AND term IN ({ids}) GROUP BY term"
                )
            )
        self._counts.update(found)
        return {key: self._counts[key] for key in keys}

    def frequencies(self, wanted: Iterable[tuple[str, str]]) -> Frequencies:
        """See `Proposals.frequencies`: earlier versions of files and other manifests do not count."""
        units = self.manifest.files + self.manifest.chunks if self.manifest else 0
        return self.fulltext.frequencies(wanted, units, self.others, self.crowding)

    def lexical(
        self, weights: Mapping[tuple[str, str], float], limit: int, allowed: Set[int] | None = None
    ) -> list[tuple[int, float]]:
        """See `Proposals.lexical`. Few entries are asked for by id, and so compete among themselves only."""
        entries = sorted(allowed) if allowed is not None and len(allowed) <= _FEW else None

        def find(wanted: int) -> list[tuple[int, float]]:
            return self.fulltext.search(weights, wanted, entries)

        share = 1 if entries is not None else self._share(allowed)
        return proposed(find, partial(self._searched, allowed), limit, share)

    def nearest(
        self, query: NDArray[np.float32], model_id: int, limit: int, allowed: Set[int] | None = None
    ) -> list[tuple[int, int]]:
        """See `Proposals.nearest`."""
        return self._bits(model_id).nearest(query, limit, partial(self._searched, allowed), self._share(allowed))

    def _searched(self, allowed: Set[int] | None, entry_ids: Set[int]) -> Set[int]:
        return self.own(entry_ids) if allowed is None else allowed & entry_ids

    def _share(self, allowed: Set[int] | None) -> int:
        """One in how many proposals is likely to be searched, up to a bound."""
        files = self.manifest.files if self.manifest else 0
        share = 1.0 if allowed is None else max(1, files) / max(1, len(allowed))
        return min(_MOST_SPREAD, max(1, round(share * self.crowding)))

    def _bits(self, model_id: int) -> DenseIndex:
        """The sign bits of a model's vectors, as they are in the generation that this reader sees."""
        known = self._dense.get(model_id)
        if known is None:
            from findling.store.local.dense import DenseIndex

            index = DenseIndex(self.models, model_id)
        else:
            index, generation = known
            if generation != self.generation:
                index.refresh(self.models)
        self._dense[model_id] = index, self.generation
        return index

    def named(self, squashed: Iterable[str], limit: int, only: OnlyThese = ANY) -> list[SymbolRow]:
        """Definitions whose squashed name is one of these, in the manifest's contents; at most about ``limit``."""
        wanted = list(dict.fromkeys(squashed))
        marks = ",".join("?" * len(wanted))
        fits = set(wanted).__contains__
        return self._defined(f"d.squashed IN ({marks})", wanted, fits, limit, only) if wanted else []

    def names(self) -> Collection[str]:
        """The squashed names that the manifest's contents define, each once."""
        return [
            row[0] for row in self._db.execute(f"SELECT DISTINCT d.squashed FROM definitions d WHERE 1 {self._ours}")
        ]

    def named_like(self, squashed: str, *, prefix: bool, limit: int, only: OnlyThese = ANY) -> list[SymbolRow]:
        """Definitions whose squashed name begins with (``prefix``) or contains a text; at most about ``limit``."""
        if prefix:
            bounds = (squashed, squashed + "\U0010ffff")
            return self._defined(
                "d.squashed >= ? AND d.squashed < ?", bounds, lambda name: name.startswith(squashed), limit, only
            )
        return self._defined("instr(d.squashed, ?) > 0", (squashed,), lambda name: squashed in name, limit, only)

    def _defined(
        self, condition: str, values: Sequence[str], fits: Callable[[str], bool], limit: int, only: OnlyThese
    ) -> list[SymbolRow]:
        most = f"LIMIT {limit:d}" if only == ANY else ""
        sql = (
            "SELECT DISTINCT d.blob_id, b.hash FROM definitions d CROSS JOIN blobs b USING (blob_id) "
            f"WHERE {condition} {self._ours} ORDER BY b.hash {most}"
        )
        blobs: list[int] = [row[0] for row in self._db.execute(sql, values)]
        if only.blobs is not None:
            blobs = [blob_id for blob_id in blobs if blob_id in only.blobs]
        found: list[SymbolRow] = []
        for start in range(0, len(blobs), _AT_ONCE):
            ids = ",".join([f"{blob_id:d}" for blob_id in blobs[start : start + _AT_ONCE]])
            packed = dict(self._packed_symbols(ids))
            for blob_id in blobs[start : start + _AT_ONCE]:
                found += [
                    SymbolRow(blob_id, position, *symbol)
                    for position, symbol in enumerate(parts.symbols(packed[blob_id]))
                    if only.kind in (None, symbol.kind) and fits(squashed(symbol.name))
                ]
                if len(found) >= limit:
                    return found
        return found

    @property
    def _ours(self) -> str:
        """The condition that a name ``d`` belongs to the manifest; nothing where the store holds nothing else."""
        if self.crowding == 1:
            return ""
        return (
            # CROSS: from the content's few entries; left alone, SQLite goes through the whole manifest each time.
            "AND EXISTS (SELECT 1 FROM entries e CROSS JOIN manifest_files m USING (entry_id) "
            f"WHERE e.blob_id = d.blob_id AND m.manifest_id = {self._manifest_id:d})"
        )

    def containing(self, plan: TrigramPlan) -> Collection[int]:
        """See `Patterns.containing`."""
        return self.own(self.fulltext.containing(plan))


def _file(row: Any) -> FileRow:
    values: list[Any] = [*row]
    values[7] = bool(values[7])
    return FileRow(*values)
