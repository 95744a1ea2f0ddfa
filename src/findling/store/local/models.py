"""Which models made vectors, which files lack theirs, and the vectors as they are kept (`vector_codes`)."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from pathlib import Path
from typing import Any

import apsw

from findling.model.reading import FLOAT16, FOUR_BITS, HASH_BYTES
from findling.model.rows import ManifestRow, ModelRow
from findling.store.local import schema
from findling.store.local.schema import batches
from findling.store.parts import unpacked_vectors
from findling.store.protocols import VectorRows

_REMEMBERED = 6_000
"""Files whose vectors are kept between queries, some 10 kB each."""


class Models:
    """Of one generation of a manifest (`IndexReader.models`). Use within the reader's snapshot.

    ``directory`` and ``identity``: of the store.
    """

    def __init__(self, db: apsw.Connection, manifest: ManifestRow | None, directory: Path, identity: bytes) -> None:
        self._db = db
        self._manifest = manifest
        self._manifest_id = manifest.manifest_id if manifest else -1
        self.directory = directory
        self.identity = identity
        self._models: dict[int, ModelRow | None] = {}
        self._stored: dict[tuple[int, int], bytes] = {}
        self._embedded: dict[int, int] = {}

    def _value(self, sql: str, *values: Any) -> Any:
        return schema.scalar(self._db, sql, *values)

    # --- models ---------------------------------------------------------------------------------------------

    def get(self, model_id: int) -> ModelRow | None:
        if model_id not in self._models:
            found = [model for model in self.every() if model.model_id == model_id]
            self._models[model_id] = found[0] if found else None
        return self._models[model_id]

    def every(self, name: str | None = None) -> list[ModelRow]:
        """All models, or those with this name or fingerprint. Raises `ValueError` where one keeps its vectors in an
        unknown way."""
        sql = (
            "SELECT model_id, fingerprint, name, dimensions, coding, docs FROM models "
            "WHERE ? IS NULL OR ? IN (name, fingerprint) ORDER BY 1"
        )
        rows: Iterator[Any] = self._db.execute(sql, (name, name))
        found = [ModelRow(*row)._replace(docs=bool(row[-1])) for row in rows]
        if any(model.coding not in (FOUR_BITS, FLOAT16) for model in found):
            raise ValueError("a model whose vectors are kept in an unknown way")
        return found

    def id_of(self, fingerprint: str) -> int | None:
        found = self._value("SELECT model_id FROM models WHERE fingerprint=?", fingerprint)
        return None if found is None else int(found)

    # --- which files have vectors ---------------------------------------------------------------------------

    def vector_count(self, model_id: int) -> int:
        """Vectors of a model that the table holds, of whatever manifest."""
        sql = (
            "SELECT total(length(v.data) / d.row_bytes) FROM vectors v, models d "
            "WHERE d.model_id = v.model_id AND v.model_id=?"
        )
        return int(self._value(sql, model_id))

    def latest(self, *, docs: bool = True) -> int | None:
        """The model that was used last to make vectors, without ``docs`` other than of documents; None for none."""
        code = "" if docs else "JOIN entries e ON e.entry_id=v.entry_id AND NOT e.docs "
        sql = f"SELECT model_id FROM vectors v {code}WHERE model_id>0 ORDER BY vector_id DESC LIMIT 1"
        found = self._value(sql)
        return None if found is None else int(found)

    def latest_of_documents(self) -> int | None:
        """Of the models that are to make vectors of documents, the one that was used last; None for none."""
        sql = "SELECT model_id FROM vectors JOIN models USING (model_id) WHERE docs ORDER BY vector_id DESC LIMIT 1"
        found = self._value(sql)
        return None if found is None else int(found)

    def embedded_chunks(self, model_id: int | None) -> int:
        """Chunks of the manifest that have a vector of the model; all, when none is missing that should have one."""
        if model_id is None or self._manifest is None:
            return 0
        if model_id not in self._embedded:
            self._embedded[model_id] = self._count_embedded(model_id, self._manifest)
        return self._embedded[model_id]

    def _count_embedded(self, model_id: int, manifest: ManifestRow) -> int:
        model = self.get(model_id)
        everything = self._value("SELECT count(*) FROM vectors WHERE model_id=?", model_id)
        if everything == self._value("SELECT count(*) FROM entries"):  # of whatever manifest
            return manifest.chunks
        if model is not None and model.docs:
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
        model = self.get(model_id)
        if model is None or not model.docs:
            every += "JOIN entries e ON e.entry_id=m.entry_id AND NOT e.docs "
        # A third of the time that looking each file up takes.
        sql = (
            f"SELECT count(*) FROM ({every} WHERE m.manifest_id=? "
            "EXCEPT SELECT v.entry_id FROM vectors v WHERE v.model_id=?)"
        )
        return int(self._value(sql, self._manifest_id, model_id))

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

    # --- vectors --------------------------------------------------------------------------------------------

    def decoded(self, entry_ids: Iterable[int], model_id: int) -> VectorRows | None:
        """The vectors of entries; None when none has any."""
        return unpacked_vectors(self.stored(entry_ids, model_id), self.get(model_id))

    def stored(self, entry_ids: Iterable[int], model_id: int) -> dict[int, bytes]:
        """As they are kept (`vector_codes`), one after the other in chunk order; entries without are absent."""
        wanted = list(entry_ids)
        if len(self._stored) > _REMEMBERED:
            self._stored.clear()
        for ids in batches(entry_id for entry_id in wanted if (model_id, entry_id) not in self._stored):
            sql = f"SELECT entry_id, data FROM vectors WHERE model_id={model_id:d} AND entry_id IN ({ids})"
            self._stored.update({(model_id, row[0]): row[1] for row in self._db.execute(sql)})
        return {entry_id: data for entry_id in wanted if (data := self._stored.get((model_id, entry_id)))}
