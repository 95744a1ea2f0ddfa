"""Reading vectors: which models made some, which files lack theirs, the vectors themselves (`vector_codes`)."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from pathlib import Path
from typing import Any, NamedTuple

from findling.config.roots import LIVE
from findling.model.codings import FLOAT16, FOUR_BITS, HASH_BYTES, Coding, row_bytes
from findling.model.rows import ManifestRow
from findling.store import connections, schema
from findling.store.manifest_reader import ManifestReader, batches
from findling.store.protocols import VectorRows
from findling.store.schema import DATABASE


class Model(NamedTuple):
    """A model that made vectors."""

    model_id: int
    name: str
    dimensions: int


class VectorReader(ManifestReader):
    """Reads the vectors of a manifest's files."""

    def __init__(self, directory: Path, root: str, ref: str = LIVE) -> None:
        super().__init__(directory, root, ref)
        self._vectors: dict[int, bytes] = {}
        self._vectors_of = -1
        self._embedded: dict[int, int] = {}

    def _forget_vectors(self) -> None:
        super()._forget_vectors()
        self._vectors.clear()
        self._embedded.clear()

    # --- models ---------------------------------------------------------------------------------------------

    def latest_fingerprint(self) -> str | None:
        """The id of the embedder that made the newest vectors; None when there are none."""
        with connections.rows_of(self._directory / DATABASE):
            latest = self.latest_model()
            found = self.model(latest) if latest is not None else None
            return found[0] if found else None

    def model_id(self, fingerprint: str) -> int | None:
        found = self._value("SELECT model_id FROM models WHERE fingerprint=?", fingerprint)
        return None if found is None else int(found)

    def model(self, model_id: int) -> tuple[str, int] | None:
        """A model's fingerprint and how many dimensions its vectors have."""
        row = self._db.execute("SELECT fingerprint, dimensions FROM models WHERE model_id=?", (model_id,)).fetchone()
        return (str(row[0]), int(row[1])) if row else None

    def coding(self, model_id: int) -> Coding:
        """How a model's vectors are kept."""
        found = self._value("SELECT coding FROM models WHERE model_id=?", model_id)
        if found not in (FOUR_BITS, FLOAT16):
            raise ValueError("a model whose vectors are kept in an unknown way")
        return FLOAT16 if found == FLOAT16 else FOUR_BITS

    def vector_count(self, model_id: int) -> int:
        """Vectors of a model that the table holds, of whatever manifest."""
        sql = (
            "SELECT total(length(v.data) / d.row_bytes) FROM vectors v, models d "
            "WHERE d.model_id = v.model_id AND v.model_id=?"
        )
        return int(self._value(sql, model_id))

    def latest_model(self, *, docs: bool = True) -> int | None:
        """The model that was used last to make vectors, without ``docs`` other than of documents; None for none."""
        code = "" if docs else "JOIN entries e ON e.entry_id=v.entry_id AND NOT e.docs "
        sql = f"SELECT model_id FROM vectors v {code}WHERE model_id>0 ORDER BY vector_id DESC LIMIT 1"
        found = self._value(sql)
        return None if found is None else int(found)

    def latest_model_of_documents(self) -> int | None:
        """Of the models that are to make vectors of documents, the one that was used last; None for none."""
        sql = "SELECT model_id FROM vectors JOIN models USING (model_id) WHERE docs ORDER BY vector_id DESC LIMIT 1"
        found = self._value(sql)
        return None if found is None else int(found)

    def models(self, name: str | None = None) -> list[Model]:
        """All models, or those with this name or fingerprint's id."""
        sql = "SELECT model_id, name, dimensions FROM models WHERE ? IS NULL OR ? IN (name, fingerprint) ORDER BY 1"
        return [Model(int(row[0]), str(row[1]), int(row[2])) for row in self._db.execute(sql, (name, name))]

    # --- which files have some ------------------------------------------------------------------------------

    def embedded_chunks(self, model_id: int | None) -> int:
        """Chunks of the manifest that have a vector of the model; all, when none is missing that should have one."""
        if model_id is None or self.manifest is None:
            return 0
        if model_id not in self._embedded:
            self._embedded[model_id] = self._count_embedded(model_id, self.manifest)
        return self._embedded[model_id]

    def _count_embedded(self, model_id: int, manifest: ManifestRow) -> int:
        all_kinds = bool(self._value("SELECT docs FROM models WHERE model_id=?", model_id))
        everything = self._value("SELECT count(*) FROM vectors WHERE model_id=?", model_id)
        if everything == self._value("SELECT count(*) FROM entries"):  # of whatever manifest
            return manifest.chunks
        if all_kinds:
            # What is missing is little, mostly: the files that were just written.
            missing = (
                "SELECT total(b.chunks) FROM (SELECT m.entry_id FROM manifest_files m WHERE m.manifest_id=? "
                "EXCEPT SELECT v.entry_id FROM vectors v WHERE v.model_id=?) "
                "CROSS JOIN entries USING (entry_id) CROSS JOIN blobs b USING (blob_id)"
            )
            return manifest.chunks - int(self._value(missing, self._manifest_id, model_id))
        if not self.count_unembedded(model_id):
            return manifest.chunks
        return int(
            self._value(
                "SELECT total(length(v.data) / d.row_bytes) FROM manifest_files m JOIN vectors v USING (entry_id) "
                "JOIN models d USING (model_id) WHERE m.manifest_id=? AND v.model_id=?",
                self._manifest_id,
                model_id,
            )
        )

    def unembedded(
        self, model_id: int, paths: Sequence[str] | None = None, *, failed_too: bool = False, docs: bool = True
    ) -> list[tuple[int, int, str, bytes]]:
        """Files that lack vectors, as they were taken in: (entry id, blob id, path, SHA-256 of the content).

        So those come first that the first question was likely to be about. ``paths``: only among these.
        ``failed_too``: also those some of whose texts could not be embedded. ``docs``: documents too.
        """
        manifest = self._manifest_id
        if failed_too:
            whole = f"AND NOT instr(v.text_hashes, zeroblob({HASH_BYTES:d}))"
            lacking = f"NOT EXISTS (SELECT 1 FROM vectors v WHERE v.entry_id=m.entry_id AND v.model_id=? {whole})"
        elif paths is not None:
            lacking = "NOT EXISTS (SELECT 1 FROM vectors v WHERE v.entry_id=m.entry_id AND v.model_id=?)"
        else:  # a third of the time that looking each file up takes
            every = f"SELECT entry_id FROM manifest_files WHERE manifest_id={manifest:d}"
            lacking = f"m.entry_id IN ({every} EXCEPT SELECT v.entry_id FROM vectors v WHERE v.model_id=?)"
        # A path has few entries; left alone, SQLite goes through all files of the manifest for each.
        joined = "manifest_files m JOIN entries e" if paths is None else "entries e CROSS JOIN manifest_files m"
        sql = (
            f"SELECT m.entry_id, e.blob_id, e.path, b.hash FROM {joined} "
            f"USING (entry_id) JOIN blobs b USING (blob_id) WHERE m.manifest_id=? AND {lacking} "
            f"{'' if docs else 'AND NOT e.docs '}"
        )
        if paths is None:
            order = "ORDER BY m.entry_id"
            return list(self._db.execute(sql + order, (manifest, model_id)))
        found: list[Any] = []
        for path in paths:
            found += self._db.execute(sql + "AND e.path=?", (manifest, model_id, path))
        return found

    def count_unembedded(self, model_id: int) -> int:
        """Number of files that lack vectors which they should have."""
        every = "SELECT m.entry_id FROM manifest_files m "
        if not self._value("SELECT docs FROM models WHERE model_id=?", model_id):
            every += "JOIN entries e ON e.entry_id=m.entry_id AND NOT e.docs "
        # A third of the time that looking each file up takes.
        sql = (
            f"SELECT count(*) FROM ({every} WHERE m.manifest_id=? "
            "EXCEPT SELECT v.entry_id FROM vectors v WHERE v.model_id=?)"
        )
        return int(self._value(sql, self._manifest_id, model_id))

    # --- vectors --------------------------------------------------------------------------------------------

    def vectors(self, entry_ids: Iterable[int], model_id: int) -> VectorRows | None:
        """The vectors of entries; None when none has any."""
        stored = self.stored_vectors(entry_ids, model_id)
        found = self.model(model_id)
        if not stored or found is None:
            return None
        import numpy as np

        from findling.model import vector_codes

        dimensions, coding = found[1], self.coding(model_id)
        size = row_bytes(dimensions, coding)
        offsets = np.cumsum([0, *(len(data) // size for data in stored.values())])
        return VectorRows(list(stored), offsets, vector_codes.decode(b"".join(stored.values()), dimensions, coding))

    def stored_vectors(self, entry_ids: Iterable[int], model_id: int) -> dict[int, bytes]:
        """As they are kept (`vector_codes`), one after the other in chunk order; entries without are absent."""
        if model_id != self._vectors_of:
            self._vectors.clear()
            self._vectors_of = model_id
        found = self._remember(
            self._vectors,
            entry_ids,
            lambda ids: self._db.execute(
                f"SELECT entry_id, data FROM vectors WHERE model_id={model_id:d} AND entry_id IN ({ids})"
            ),
        )
        return {entry_id: data for entry_id, data in found.items() if data}

    def with_vectors(self, entry_ids: Iterable[int], model_id: int) -> set[int]:
        """Those of these entries that have vectors, of whatever manifest."""
        found: set[int] = set()
        for ids in batches(entry_ids):
            sql = f"SELECT entry_id FROM vectors WHERE model_id={model_id:d} AND entry_id IN ({ids})"
            found.update(row[0] for row in self._db.execute(sql))
        return found

    def live_vectors(self, model_id: int) -> Iterator[tuple[int, int, int, bytes]]:
        """(vector id, entry id, seconds since 1970, vectors) of the manifest's files, by path."""
        return iter(
            self._db.execute(
                "SELECT v.vector_id, v.entry_id, v.created_at, v.data FROM manifest_files m "
                "JOIN entries e USING (entry_id) JOIN vectors v USING (entry_id) "
                "WHERE m.manifest_id=? AND v.model_id=? ORDER BY e.path",
                (self._manifest_id, model_id),
            )
        )

    def vectors_after(self, vector_id: int, model_id: int) -> Iterator[tuple[int, int, bytes]]:
        """(vector id, entry id, vectors) written after a given row, in order of writing."""
        return iter(
            self._db.execute(
                "SELECT vector_id, entry_id, data FROM vectors WHERE vector_id>? AND model_id=? ORDER BY vector_id",
                (vector_id, model_id),
            )
        )

    def text_hashes(self, path: str, model_id: int) -> Iterator[tuple[bytes, bytes]]:
        """(hashes, vectors) of all entries at a path, to carry over what did not change, and those that are begun."""
        return iter(
            self._db.execute(
                "SELECT v.text_hashes, v.data FROM entries e JOIN vectors v USING (entry_id) "
                "WHERE e.path=? AND v.model_id IN (?, ?)",
                (path, model_id, schema.begun(model_id)),
            )
        )
