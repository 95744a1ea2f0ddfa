"""Filling one view of a PostgreSQL store: all in one transaction, so that a question sees what was before or all of
what is published, and a writer that dies leaves nothing.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Collection, Iterable, Iterator, Mapping, Sequence
from contextlib import suppress
from functools import cache
from typing import TYPE_CHECKING, Any, Final, LiteralString, NamedTuple, Self

from findling.model import errors, term_rows, tokenizer
from findling.model.reading import Reading
from findling.model.rows import squashed
from findling.store import parts
from findling.store.lengths import MEANS, filled_up, part
from findling.store.postgresql.reader import FIELDS, View, is_storable

if TYPE_CHECKING:
    from findling.model.reading import Coding
    from findling.store.postgresql.database import Connection, Cursor, Database

_BATCH: Final = 200
"""Files that are sent together, with all that belongs to them."""

_MANY: Final = 100
"""With so many new files or more, the tables are analysed again for the query planner."""

_FETCHED: Final = 1_000
"""Rows that are read together to count their terms."""


class Known(NamedTuple):
    """A file of the view: its entry, the SHA-256 of its content, and what proves it unchanged."""

    entry_id: int
    hash: bytes
    size: int
    stamp: int


class ViewWriter:
    """Holds a view until `close`; nothing of it is seen before `publish`.

    ``recipe``: how files are cut, read and masked; a view that another recipe filled has every file read again.
    ``ending`` is called at the end of the transaction that publishes, and may raise: then nothing is published. Raises
    `IndexBusy` where another program writes the view, and the store's errors.
    """

    def __init__(
        self, database: Database, view: View, recipe: str, ending: Callable[[Connection], None] = lambda _: None
    ) -> None:
        self._database = database
        self._ending = ending
        self._db: Connection = database.connect()
        try:
            with database.failures():
                self._open(view, recipe)
        except BaseException:
            self._db.close()
            raise

    def _open(self, view: View, recipe: str) -> None:
        self._execute("BEGIN")
        name = "\n".join(view.key)
        if not self._value("SELECT pg_try_advisory_xact_lock(hashtextextended(%s, 0))", name):
            raise errors.IndexBusy(
                f"Another program is writing {view.collection!r} ({view.ref}) in {self._database.url}.",
                remedy="Wait until it has ended.",
            )
        self._execute("SET LOCAL statement_timeout = 0")
        row = None
        while row is None:  # whoever deletes it is waited for, and waits for what is written from now on
            insert = "INSERT INTO views (owner, collection, ref) VALUES (%s, %s, %s) ON CONFLICT DO NOTHING"
            self._execute(insert, view.key)
            row = self._execute(
                "SELECT view_id, recipe, generation FROM views WHERE (owner, collection, ref) = (%s, %s, %s) "
                "FOR KEY SHARE",
                view.key,
            ).fetchone()
        self.view_id: int = row[0]
        self._recipe = recipe
        self.generation: int = row[2]
        rows = self._execute(
            "SELECT e.path, e.entry_id, c.hash, e.size, e.stamp FROM entries e JOIN contents c USING (content_id) "
            "WHERE e.view_id = %s",
            (self.view_id,),
        )
        self._known = {path: Known(*values) for path, *values in rows}
        contents = self._execute("SELECT hash, language, content_id FROM contents WHERE view_id = %s", (self.view_id,))
        self._contents: dict[tuple[bytes, str], int] = {(row[0], row[1]): row[2] for row in contents}
        skipped = self._execute("SELECT path, size, stamp FROM skipped WHERE view_id = %s", (self.view_id,))
        self.dropped_vectors = False
        """Whether `drop_vectors` found some."""
        self._skipped: dict[str, tuple[int, int]] = {row[0]: (row[1], row[2]) for row in skipped}
        self._ids: dict[str, Iterator[int]] = {}
        self._new: dict[int, None] = {}
        """Entries that this run made, which are not counted yet."""
        self._gone: list[int] = []
        self._counts: Counter[int] = Counter()
        self._embedded: set[int] = set()
        """Models of which this run made vectors."""
        self._embedded_later = False
        """Whether some of these are of entries of an earlier run."""
        self._buffers: dict[str, list[str | tuple[Any, ...]]] = {}
        self._buffered = 0
        self._staged: set[str] = set()
        """Tables that have a temporary one of the same columns."""
        self._copies: list[tuple[int, int, str]] = []
        """(content that was copied, entry, path) of files the vectors of which may be copied, too."""
        self.changed = False
        if row[1] != recipe:
            self.empty()

    def _execute(self, sql: LiteralString | bytes, values: Sequence[Any] | Mapping[str, Any] | None = None) -> Cursor:
        """Ask one statement; the database's errors become findling's."""
        with self._database.failures():
            return self._db.execute(sql, values)

    def _value(self, sql: str, *values: Any) -> Any:
        row = self._execute(sql.encode(), values).fetchone()
        return row[0] if row else None

    def empty(self) -> None:
        """Begin with nothing."""
        self.changed = True
        self.remove(list(self._known))
        self._send()
        self._forget_contents()
        self._execute("DELETE FROM skipped WHERE view_id = %s", (self.view_id,))
        self._skipped.clear()

    # --- files ----------------------------------------------------------------------------------------------------

    @property
    def files(self) -> int:
        return len(self._known)

    def states(self) -> dict[str, tuple[int, int]]:
        """path -> (size, stamp) of every file that was listed, those left out included."""
        return {**self._skipped, **{path: (known.size, known.stamp) for path, known in self._known.items()}}

    def known(self, path: str) -> Known | None:
        return self._known.get(path)

    def touch(self, path: str, size: int, stamp: int) -> None:
        """Note that a file has the same content under another state."""
        known = self._known[path]
        self._known[path] = known._replace(size=size, stamp=stamp)
        self._execute("UPDATE entries SET size = %s, stamp = %s WHERE entry_id = %s", (size, stamp, known.entry_id))
        self.changed = True

    def put(self, path: str, size: int, stamp: int, digest: bytes, reading: Reading, text: bytes) -> int:
        """Let a content stand at a path, in place of what stood there; the entry. ``text``: UTF-8, secrets masked.
        A content that the view has is not sent again."""
        self.remove([path])
        self._unskip(path)
        content = self._contents.get((digest, reading.language))
        if content is None:
            content = self._contents[digest, reading.language] = self._put_content(digest, reading, text)
        return self._put_entry(path, size, stamp, digest, content)

    def _put_entry(self, path: str, size: int, stamp: int, digest: bytes, content: int) -> int:
        entry = self._id("entries", "entry_id")
        self._add("entries", (entry, self.view_id, content, path, size, stamp))
        words = tokenizer.path_terms(path)
        length = filled_up(len(words))
        for term, count in Counter(words).items():
            if is_storable(term):
                self._add("path_postings", (self.view_id, term, entry, part(count, length, MEANS["path"])))
        self._known[path] = Known(entry, digest, size, stamp)
        self._new[entry] = None
        self._buffered += 1
        if self._buffered >= _BATCH:
            self._send()
        return entry

    def copied(self, files: Sequence[tuple[str, int, int, bytes, str]]) -> set[str]:
        """Let contents that a collection in the store has stand here, too, without being read again: of (path, size,
        stamp, hash, language) of files those paths that were found. Vectors come along where the path is the same."""
        wanted = {(row[3], row[4]) for row in files} - self._contents.keys()
        found = self._execute(
            "SELECT DISTINCT ON (c.hash, c.language) c.hash, c.language, c.content_id "
            "FROM unnest(%s::bytea[], %s::text[]) AS asked(hash, language) JOIN contents c USING (hash, language) "
            "JOIN views v USING (view_id) WHERE v.owner = '' AND v.recipe = %s",
            ([digest for digest, _ in wanted], [language for _, language in wanted], self._recipe),
        ).fetchall()
        ids = {row[2]: self._id("contents", "content_id") for row in found}
        self._stage("postings")
        made = self._execute(_COPY_CONTENTS, {"view": self.view_id, "old": list(ids), "new": list(ids.values())})
        there = {row[0] for row in made}  # one may have gone since
        copies = {(row[0], row[1]): row[2] for row in found if ids[row[2]] in there}
        self._contents.update({key: ids[old] for key, old in copies.items()})
        placed: set[str] = set()
        for path, size, stamp, digest, language in files:
            if (content := self._contents.get((digest, language))) is not None:
                self.remove([path])
                self._unskip(path)
                entry = self._put_entry(path, size, stamp, digest, content)
                placed.add(path)
                if (old := copies.get((digest, language))) is not None:
                    self._copies.append((old, entry, path))
        return placed

    def _copy_vectors(self) -> None:
        old, entries, paths = map(list, zip(*self._copies, strict=True))
        self._copies = []
        rows = self._execute(_COPY_VECTORS, {"view": self.view_id, "old": old, "entries": entries, "paths": paths})
        self._embedded.update(row[0] for row in rows)

    def _put_content(self, digest: bytes, reading: Reading, text: bytes) -> int:
        content = self._id("contents", "content_id")
        names = [symbol.name for symbol in reading.symbols]
        keys = {tokenizer.term_key(tokenizer.whole_term(name)) for name in names}
        self._add(
            "contents",
            (
                content,
                self.view_id,
                digest,
                reading.language,
                reading.kind,
                sum(chunk.end_byte - chunk.start_byte for chunk in reading.chunks) if reading.body_terms else 0,
                reading.lines,
                len(reading.chunks),
                len(reading.symbols),
                reading.encoding,
                reading.generated,
                reading.body_terms,
                reading.name_terms,
                reading.problem.replace("\0", ""),
                list(memoryview(reading.trigrams).cast("I")),
                sorted(keys),
                reading.terms,
                parts.pack(reading.symbols),
                parts.pack(reading.chunks),
                parts.pack_uses(reading.uses),
                text,
            ),
        )
        self._buffers.setdefault("postings", []).extend(self._postings(content, reading.documents))
        for name in sorted(filter(is_storable, {squashed(name) for name in names})):
            self._add("definitions", (self.view_id, name, content))
        return content

    def _postings(self, content: int, documents: Sequence[tuple[str, str]]) -> Iterator[str]:
        """Lines for COPY: each term of a content with the chunks that have it, and what it adds to their score. What
        it adds most to comes first."""
        found: dict[tuple[str, int], list[tuple[float, str, int]]] = {}
        for ordinal, texts in enumerate(documents):
            for field, text in zip(("body", "context"), texts, strict=True):
                words = text.split()
                length = filled_up(len(words))
                for term, count in Counter(words).items():
                    held = found.setdefault((term, FIELDS[field]), [])
                    held.append((*_part_of(count, length, field), ordinal))
        for (term, number), held in found.items():
            if is_storable(term):
                held.sort()
                written = term.replace("\\", "\\\\")
                chunks = ",".join(str(ordinal) for _, _, ordinal in held)
                numbers = ",".join(text for _, text, _ in held)
                yield f"{self.view_id}\t{written}\t{number}\t{content}\t{{{chunks}}}\t{{{numbers}}}\n"

    def skip(self, path: str, size: int, stamp: int, reason: str, detail: str) -> None:
        """Note that a file is left out, and why; what stood at its path goes."""
        self.remove([path])
        if not is_storable(path):
            return  # PostgreSQL cannot store such a name
        self._execute(
            "INSERT INTO skipped VALUES (%s, %s, %s, %s, %s, %s) ON CONFLICT (view_id, path) DO UPDATE SET "
            "size = excluded.size, stamp = excluded.stamp, reason = excluded.reason, detail = excluded.detail",
            (self.view_id, path, size, stamp, reason, detail.replace("\0", "")),
        )
        self._skipped[path] = (size, stamp)
        self.changed = True

    def _unskip(self, path: str) -> None:
        if self._skipped.pop(path, None) is not None:
            self._execute("DELETE FROM skipped WHERE (view_id, path) = (%s, %s)", (self.view_id, path))

    def remove(self, paths: Collection[str]) -> int:
        """Let nothing stand at paths; how many files went."""
        for path in paths:
            self._unskip(path)
        gone = [known.entry_id for path in paths if (known := self._known.pop(path, None)) is not None]
        if not self._new.keys().isdisjoint(gone):
            self._send()  # what this run made must be there to be deleted
        self._gone += gone
        self.changed = self.changed or bool(gone)
        return len(gone)

    def _delete_gone(self) -> None:
        counted = [entry for entry in self._gone if self._new.pop(entry, False) is False]  # the others never were
        self._count_units(counted, -1)
        self._counts.subtract(self._terms_of(counted))
        self._execute("DELETE FROM entries WHERE entry_id = ANY(%s::bigint[])", (self._gone,))
        self._gone = []

    # --- vectors --------------------------------------------------------------------------------------------------

    def model(self, fingerprint: str, name: str, dimensions: int, coding: Coding, row_bytes: int, *, docs: bool) -> int:
        """The number of a model's vectors in the store."""
        self._execute(
            "INSERT INTO models (fingerprint, name, dimensions, coding, row_bytes, docs) "
            "VALUES (%s, %s, %s, %s, %s, %s) ON CONFLICT DO NOTHING",
            (fingerprint, name, dimensions, coding, row_bytes, docs),
        )
        return int(self._value("SELECT model_id FROM models WHERE fingerprint = %s", fingerprint))

    def drop_vectors(self, model_id: int, which: Callable[[str], bool]) -> None:
        """Delete a model's vectors of the files at paths that an earlier run left."""
        wanted = (known.entry_id for path, known in self._known.items() if which(path))
        gone = [entry for entry in wanted if entry not in self._new]
        self.dropped_vectors = bool(gone)
        for table in ("vectors", "bits") if gone else ():
            sql = f"DELETE FROM {table} WHERE entry_id = ANY(%s::bigint[]) AND model_id = %s"
            self._execute(sql.encode(), (gone, model_id))

    def lacking(self, model_id: int, *, docs: bool) -> list[int]:
        """The entries that lack a model's vectors; without ``docs`` documents are left out."""
        self._send()
        kinds = "" if docs else "AND c.kind <> 'docs' "
        sql = (
            "SELECT entry_id FROM entries e JOIN contents c USING (content_id) "
            f"WHERE e.view_id = %s AND chunk_count > 0 {kinds}"
            "AND NOT EXISTS (SELECT FROM vectors v WHERE v.entry_id = e.entry_id AND v.model_id = %s) ORDER BY 1"
        )
        return [row[0] for row in self._execute(sql.encode(), (self.view_id, model_id))]

    def read(self, entries: Sequence[int]) -> list[tuple[int, str, str, str, bytes, bytes, bytes]]:
        """(entry, path, language, encoding, symbols, chunks, text) of entries, packed as they are kept."""
        rows = self._execute(
            "SELECT e.entry_id, e.path, c.language, c.encoding, c.symbols, c.chunks, c.text "
            "FROM entries e JOIN contents c USING (content_id) WHERE e.entry_id = ANY(%s::bigint[])",
            (list(entries),),
        )
        return [(row[0], row[1], row[2], row[3], row[4], row[5], row[6]) for row in rows]

    def put_vectors(self, model_id: int, entry_id: int, data: bytes, dimensions: int, coding: Coding) -> None:
        """The vectors of an entry's chunks in their order, as `vector_codes` has them."""
        import numpy as np

        from findling.model import vector_codes

        self._embedded_later = self._embedded_later or entry_id not in self._new
        self._add("vectors", (self.view_id, model_id, entry_id, data))
        signs = np.unpackbits(vector_codes.sign_bits(data, dimensions, coding), axis=1, count=dimensions)
        digits = (signs + ord("0")).astype(np.uint8)
        for ordinal, row in enumerate(digits):
            self._add("bits", (self.view_id, model_id, entry_id, ordinal, row.tobytes().decode("ascii")))
        self._embedded.add(model_id)
        self.changed = True

    # --- publishing -----------------------------------------------------------------------------------------------

    def publish(self) -> int:
        """Let everything be seen at once; the number of the generation, a new one where anything changed."""
        with self._database.failures():
            self._send()
            made = len(self._new)
            self._insert_postings()
            if self.changed:
                self._count()
                self._forget_contents()
                self.generation += 1
                self._execute(_TOTALS, (self.generation, self._recipe, self.view_id))
                self._execute(_EMBEDDED, {"view": self.view_id, "now": list(self._embedded)})
                if self._embedded_later:
                    self._execute("UPDATE views SET proposed_entry = 0 WHERE view_id = %s", (self.view_id,))
            self._ending(self._db)
            self._execute("COMMIT")
        if made >= _MANY:  # until the database analyses them by itself, it plans for empty tables
            with suppress(errors.IndexUnavailable):  # all is published by now: without it questions are only slower
                self._execute("SET statement_timeout = 0")
                self._execute(f"ANALYZE {', '.join(_ORDER)}, frequencies, term_counts".encode())
        return self.generation

    def _count(self) -> None:
        """Bring the statistics up to date with the entries that came and went."""
        new = list(self._new)
        self._count_units(new, 1)
        for start in range(0, len(new), _FETCHED):
            self._counts.update(self._terms_of(new[start : start + _FETCHED]))
        self._new.clear()
        changed = [(self.view_id, term, files) for term, files in self._counts.items() if files]
        self._execute("CREATE TEMP TABLE counted (LIKE term_counts) ON COMMIT DROP")
        self._copy("counted", changed)
        self._execute(
            "INSERT INTO term_counts SELECT * FROM counted ON CONFLICT (view_id, term) DO UPDATE "
            "SET files = term_counts.files + excluded.files"
        )
        self._execute("DELETE FROM term_counts WHERE view_id = %s AND files <= 0", (self.view_id,))
        self._execute("DELETE FROM frequencies WHERE view_id = %s AND units <= 0", (self.view_id,))

    def _count_units(self, entries: Sequence[int], sign: int) -> None:
        if entries:
            self._execute(_COUNT_UNITS, {"entries": list(entries), "sign": sign, "view": self.view_id})

    def _terms_of(self, entries: Sequence[int]) -> Counter[int]:
        """How many of some entries have each term key."""
        found: Counter[int] = Counter()
        rows = self._execute(
            "SELECT c.terms FROM entries e JOIN contents c USING (content_id) WHERE e.entry_id = ANY(%s::bigint[])",
            (list(entries),),
        )
        for (data,) in rows:
            found.update(term_rows.keys(term_rows.unpack(data)))
        return found

    def _forget_contents(self) -> None:
        """Delete the contents that stand at no path any more."""
        rows = self._execute(
            "DELETE FROM contents c WHERE view_id = %s AND NOT EXISTS (SELECT FROM entries e "
            "WHERE e.content_id = c.content_id) RETURNING hash, language",
            (self.view_id,),
        )
        for digest, language in rows:
            self._contents.pop((digest, language), None)

    # --- sending --------------------------------------------------------------------------------------------------

    def _id(self, table: str, column: str) -> int:
        """A new id, reserved in blocks."""
        found = next(self._ids.get(table, iter(())), None)
        if found is None:
            rows = self._execute(
                "SELECT nextval(pg_get_serial_sequence(%s, %s)) FROM generate_series(1, %s)", (table, column, _BATCH)
            )
            self._ids[table] = iter([row[0] for row in rows.fetchall()])
            found = next(self._ids[table])
        return found

    def _add(self, table: str, row: tuple[Any, ...]) -> None:
        self._buffers.setdefault(table, []).append(row)

    def _send(self) -> None:
        """Send what was added, what is referred to before what refers to it."""
        self.changed = self.changed or bool(self._buffers)
        with self._database.failures():
            if self._gone:
                self._delete_gone()
            for table in _ORDER:
                if rows := self._buffers.pop(table, None):
                    self._insert(table, rows)
            if self._copies:
                self._copy_vectors()
        self._buffered = 0

    def _insert(self, table: str, rows: Iterable[str | tuple[Any, ...]]) -> None:
        """Rows by COPY, which cannot write into a table with row security: by way of a table of this connection's.
        Postings stay there until `publish`."""
        self._stage(table)
        self._copy(f"staged_{table}", rows)
        if table != "postings":
            self._execute(f"INSERT INTO {table} SELECT * FROM staged_{table}".encode())
            self._execute(f"TRUNCATE staged_{table}".encode())

    def _stage(self, table: str) -> None:
        if table not in self._staged:
            self._execute(f"CREATE TEMP TABLE staged_{table} (LIKE {table}) ON COMMIT DROP".encode())
            self._staged.add(table)

    def _insert_postings(self) -> None:
        """All postings of this run in the order in which questions read them: those of a term lie together."""
        if "postings" in self._staged:
            self._execute(
                "INSERT INTO postings SELECT s.* FROM staged_postings s JOIN contents USING (content_id) "
                "ORDER BY s.term, s.field, s.content_id"
            )

    def _copy(self, table: str, rows: Iterable[str | tuple[Any, ...]]) -> None:
        with self._db.cursor().copy(f"COPY {table} FROM STDIN".encode()) as copy:
            for row in rows:
                if isinstance(row, str):
                    copy.write(row)
                else:
                    copy.write_row(row)

    def close(self) -> None:
        """Give the view up; what was not published is as if it had never been."""
        self._database.give_up(self._db)

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *_: object) -> None:
        self.close()


@cache
def _part_of(count: int, length: int, field: str) -> tuple[float, str]:
    """What a term adds to a unit's score: its place among others, the highest first, and how it is written."""
    found = part(count, length, MEANS[field])
    return -found, repr(found)


_ORDER: Final = (
    "contents",
    "postings",
    "definitions",
    "entries",
    "path_postings",
    "vectors",
    "bits",
)

# One statement each: a content that goes meanwhile is copied with all that belongs to it, or not at all.
_COPY_CONTENTS: Final = """
WITH asked AS (SELECT * FROM unnest(%(old)s::bigint[], %(new)s::bigint[]) AS asked(old, new)), made AS (
  INSERT INTO contents (content_id, view_id, hash, language, kind, size, lines, chunk_count, symbol_count, encoding,
    generated, body_terms, name_terms, problem, trigrams, name_keys, terms, symbols, chunks, uses, text)
  SELECT new, %(view)s, hash, language, kind, size, lines, chunk_count, symbol_count, encoding, generated, body_terms,
    name_terms, problem, trigrams, name_keys, terms, symbols, chunks, uses, text
  FROM asked JOIN contents ON content_id = old RETURNING content_id
), posted AS (
  INSERT INTO staged_postings (view_id, term, field, content_id, ordinals, parts)
  SELECT %(view)s, term, field, new, ordinals, parts FROM asked JOIN postings ON content_id = old
), defined AS (
  INSERT INTO definitions (view_id, name, content_id)
  SELECT %(view)s, name, new FROM asked JOIN definitions ON content_id = old
)
SELECT content_id FROM made
"""

_COPY_VECTORS: Final = """
WITH asked AS (
  SELECT DISTINCT ON (new) new, entry_id AS old
  FROM unnest(%(old)s::bigint[], %(entries)s::bigint[], %(paths)s::text[]) AS asked(content_id, new, path)
  JOIN entries USING (content_id, path)
), made AS (
  INSERT INTO vectors (view_id, model_id, entry_id, data)
  SELECT %(view)s, model_id, new, data FROM asked JOIN vectors ON entry_id = old RETURNING model_id
), signed AS (
  INSERT INTO bits (view_id, model_id, entry_id, ordinal, bits)
  SELECT %(view)s, model_id, new, ordinal, bits FROM asked JOIN bits ON entry_id = old
)
SELECT DISTINCT model_id FROM made
"""

_COUNT_UNITS: Final = """
INSERT INTO frequencies (view_id, term, field, units)
SELECT %(view)s, term, field, %(sign)s * sum(units) FROM (
  SELECT p.term, p.field, cardinality(p.ordinals) AS units
  FROM entries e JOIN postings p USING (content_id) WHERE e.entry_id = ANY(%(entries)s::bigint[])
  UNION ALL
  SELECT term, 2, 1 FROM path_postings WHERE entry_id = ANY(%(entries)s::bigint[])
) AS counted GROUP BY term, field
ON CONFLICT (view_id, term, field) DO UPDATE SET units = frequencies.units + excluded.units
"""

_TOTALS: Final = """
UPDATE views SET generation = %s, published_at = now(), recipe = %s,
  (files, chunks, body_terms, name_terms, symbols, bytes) = (
    SELECT count(*), coalesce(sum(chunk_count), 0), coalesce(sum(body_terms), 0), coalesce(sum(name_terms), 0),
      coalesce(sum(symbol_count), 0), coalesce(sum(e.size), 0)
    FROM entries e JOIN contents c USING (content_id) WHERE e.view_id = views.view_id)
WHERE view_id = %s
"""

_EMBEDDED: Final = """
WITH counted AS (
  SELECT v.model_id, sum(octet_length(v.data) / m.row_bytes) AS chunks
  FROM vectors v JOIN models m USING (model_id) WHERE v.view_id = %(view)s GROUP BY 1
), gone AS (
  DELETE FROM embedded WHERE view_id = %(view)s AND NOT model_id IN (SELECT model_id FROM counted)
)
INSERT INTO embedded (view_id, model_id, chunks) SELECT %(view)s, model_id, chunks FROM counted
ON CONFLICT (view_id, model_id) DO UPDATE SET chunks = excluded.chunks, made_at =
  CASE WHEN embedded.model_id = ANY(%(now)s::int[]) THEN now() ELSE embedded.made_at END
"""
