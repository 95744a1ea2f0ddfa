"""Views of a PostgreSQL store as a search sees them (`protocols.Index`), in few round trips.

Every method names what it needs; what is not known yet goes to the database together with all that `ahead` said would
be asked next, in one pipeline of one read-only transaction. What was read is remembered until the snapshot ends;
contents, which never change under their ids, for longer, within a bound.
"""

from __future__ import annotations

from array import array
from collections.abc import Callable, Collection, Hashable, Iterable, Iterator, Mapping, Sequence, Set
from contextlib import contextmanager
from operator import itemgetter
from typing import TYPE_CHECKING, Any, Final, Generic, NamedTuple, TypeVar

from findling.model import errors, term_rows
from findling.model.reading import ChunkRow, Use
from findling.model.rows import DefinedNames, FileRow, ManifestRow, ModelRow, SymbolRow, squashed, symbol_rows
from findling.model.text_encodings import CONVERTED
from findling.store import parts
from findling.store.postgresql import beside
from findling.store.postgresql.database import Rows, Statement
from findling.store.postgresql.described import Listed, Models
from findling.store.protocols import (
    ANY,
    CHUNK_BITS,
    FILE_UNIT,
    Ask,
    Engine,
    Frequencies,
    Index,
    OnlyThese,
    VectorRows,
    proposed,
    rounded,
)

if TYPE_CHECKING:
    import numpy as np
    from numpy.typing import NDArray

    from findling.model.trigram_plan import TrigramPlan
    from findling.store.postgresql.database import Connection, Database

FIELDS: Final = {"body": 0, "context": 1, "path": 2}
"""The number that stands for each field in the tables."""

_CONTENTS = 2_000
"""How many contents are remembered between questions; each takes some 7 kB."""

_MOST = 1_000_000
"""In place of no limit."""

_MORE, _MOST_BESIDE = 4, 16_384
"""How many times as many an engine beside the store is asked for where too few of its rows counted, and how many at the
most; then PostgreSQL proposes."""

_NEARLY = 1 - 1e-5
"""Such an engine adds up weights in 32 bits."""

_OURS = "view_id = ANY(%s::bigint[])"

_FILE = (
    "e.entry_id, e.content_id, e.path, c.language, c.kind, c.size, c.lines, c.generated, c.body_terms, c.name_terms, "
    "c.encoding, e.view_id "
)
_FROM = "FROM entries e JOIN contents c USING (content_id) "

_FEW = 400
"""So many files of a pattern come with their rows at once; of more, whoever needs them asks."""

_READ_NEXT = 100
"""Of so many contents the uses are brought with the definitions, which whoever asks for a name in them reads next."""

_Key = TypeVar("_Key", bound=Hashable)
_Value = TypeVar("_Value")
_Number = TypeVar("_Number", int, float)


class View(NamedTuple):
    """A collection as one ref of it. ``name`` stands before its paths, '' for nothing; ``owner`` is '' for all."""

    collection: str
    ref: str
    owner: str = ""
    name: str = ""

    @property
    def key(self) -> tuple[str, str, str]:
        """As the table has it."""
        return self.owner, self.collection, self.ref


class _Totals(NamedTuple):
    """What is known of the views as a whole."""

    manifest: ManifestRow | None
    generation: str
    models: Sequence[ModelRow]
    skipped: Mapping[str, int]
    symbols: int
    size: int
    late_s: float = 0.0
    """How far a replica is behind its primary server."""
    behind: int = 0
    """Views that an engine beside the store does not have as they are."""
    missing: tuple[View, ...] = ()
    """Views that were never published, or that the user may not see."""


class _Proposal(NamedTuple):
    """What proposes rows: ``weights`` of (field, term), or the ``bits`` of a vector by a model."""

    kind: str
    most: int
    weights: tuple[tuple[tuple[str, str], float], ...] = ()
    bits: str = ""
    model_id: int = 0


class _Beside(NamedTuple):
    """What an engine beside the store proposed, the best first, and the rows of it that count, with their numbers."""

    found: Sequence[tuple[int, float]]
    rows: Rows


class _Known(Generic[_Key, _Value]):
    """What is known by key, and which keys are on their way."""

    def __init__(self, ask: Callable[[list[_Key]], Iterable[Statement]]) -> None:
        self.found: dict[_Key, _Value] = {}
        self.coming: dict[_Key, None] = {}
        self.ask = ask


class _Record(NamedTuple):
    """The parts of a reading that ranking asks for, packed."""

    terms: bytes
    symbols: bytes
    chunks: bytes


_GONE = _Record(b"", parts.NOTHING, parts.NOTHING)


class _Unknown(Exception):
    """What is asked within `PostgresIndex.bring` has to be brought first."""


class PostgresIndex:
    """Implements `protocols.Index`. For one thread. ``views``: what is searched. ``engine``: proposes wherever it has
    all of the views; ``notes`` are told where it could not."""

    def __init__(
        self,
        database: Database,
        views: Sequence[View],
        *,
        engine: Engine | None = None,
        notes: list[str] | None = None,
    ) -> None:
        self.derived: dict[int, array[int]] = {}
        self._database = database
        self._views = list(views)
        self._engine = engine
        self._notes = notes if notes is not None else []
        self._store = ""
        """How the engine calls this store."""
        self._connection: Connection | None = None
        self._depth = 0
        self._recording = self._trying = False
        self._numbers: dict[int, View] | None = None
        self._named: dict[int, View] = {}
        """The views by id; ``_numbers`` is None where they are to be looked for."""
        self._totals: _Known[None, _Totals] = _Known(self._ask_totals)
        self._counts: _Known[int, int] = _Known(self._ask_counts)
        self._name_counts: _Known[int, None] = _Known(self._ask_name_counts)
        """Contents the names of which are in `_counts`."""
        self._frequencies: _Known[tuple[str, str], int] = _Known(self._ask_frequencies)
        self._files: _Known[int, FileRow | None] = _Known(self._ask_files)
        self._at: _Known[str, FileRow | None] = _Known(self._ask_at)
        self._owners: _Known[int, list[FileRow]] = _Known(self._ask_owners)
        self._records: _Known[int, _Record] = _Known(self._ask_records)
        self._uses: _Known[int, bytes] = _Known(self._ask_uses)
        self._texts: _Known[int, bytes | None] = _Known(self._ask_texts)
        self._vectors: _Known[tuple[int, int], bytes] = _Known(self._ask_vectors)
        self._defining: _Known[tuple[str, int], list[int]] = _Known(self._ask_defining)
        """The contents that define a name, as many as are wanted."""
        self._beside: _Known[_Proposal_Key, _Beside | None] = _Known(self._ask_beside)
        self._lists: _Known[_Statement_Key, Rows] = _Known(self._ask_lists)
        self._every: tuple[_Known[Any, Any], ...] = (
            self._totals,
            self._counts,
            self._name_counts,
            self._frequencies,
            self._files,
            self._at,
            self._owners,
            self._records,
            self._uses,
            self._texts,
            self._vectors,
            self._defining,
            self._beside,
            self._lists,
        )
        self._chunks: dict[int, list[ChunkRow]] = {}
        self._symbols: dict[int, list[SymbolRow]] = {}

    # --- round trips ----------------------------------------------------------------------------------------------

    @contextmanager
    def snapshot(self) -> Iterator[None]:
        """Everything inside is of one transaction, which begins with the first thing asked. May be nested."""
        self._depth += 1
        try:
            yield
        except BaseException:
            if self._depth == 1:
                self._leave(failed=True)
            raise
        else:
            if self._depth == 1:
                self._leave(failed=False)
        finally:
            self._depth -= 1

    def _leave(self, *, failed: bool) -> None:
        connection, self._connection = self._connection, None
        if connection is not None:
            (self._database.drop if failed else self._database.end)(connection)
        self.forget()

    def forget(self) -> None:
        """Forget what was read, all but the totals and, within a bound, contents."""
        for known in self._every:
            known.coming.clear()
            of_contents = known in (self._records, self._uses, self._texts)  # which stay what they are
            if known is not self._totals and (not of_contents or len(known.found) > _CONTENTS):
                known.found.clear()
        self._chunks.clear()
        self._symbols.clear()
        if len(self.derived) > _CONTENTS:
            self.derived.clear()

    def ahead(self, *asks: Callable[[Index], object]) -> None:
        before, self._recording = self._recording, True  # what is asked ahead may itself say what comes next
        try:
            for ask in asks:
                ask(self)
        finally:
            self._recording = before

    def bring(self, *asks: Callable[[Index], object]) -> None:
        left = self._unanswered(asks)
        if left and self._trying:
            raise _Unknown
        while left:
            self._go()
            left = self._unanswered(left)

    def _unanswered(self, asks: Iterable[Callable[[Index], object]]) -> list[Callable[[Index], object]]:
        """Those of some functions that ask what is not known; that will come with the next trip."""
        left = []
        before, self._trying = self._trying, True
        try:
            for ask in asks:
                try:
                    ask(self)
                except _Unknown:
                    left.append(ask)
        finally:
            self._trying = before
        return left

    def _bring(self, known: _Known[_Key, Any], keys: Iterable[_Key], *more: _Known[_Key, Any]) -> None:
        """Make sure that keys are known, in ``more`` as well; within `ahead` only that they will be. Within `bring`
        whoever asks what is not known begins again later."""
        wanted, lacks = list(dict.fromkeys(keys)), False
        for each in (known, *more):
            if lacking := [key for key in wanted if key not in each.found]:
                lacks = True
                each.coming.update(dict.fromkeys(lacking))
        if lacks and not self._recording:
            if self._trying:
                raise _Unknown
            self._go()

    def _go(self) -> None:
        """One round trip: everything that waits, in one pipeline."""
        assert self._depth, "everything is asked within a snapshot"
        if self._connection is None:
            if len(self._ids) < len(self._views):  # one may have come
                self._find_views()
            self._totals.coming[None] = None
            if beside := self._beside.coming:  # what it may be asked is known after a first trip
                self._beside.coming = {}
                self._go()
                self._beside.coming = beside
        statements: list[Statement] = []
        for known in self._every:
            coming, known.coming = known.coming, {}
            statements += known.ask(list(coming)) if coming else ()
        if self._connection is None:
            self._connection = self._database.begin(statements, list(self._numbers or ()))
        else:
            self._database.ask(self._connection, statements)

    # --- the views ------------------------------------------------------------------------------------------------

    def _find_views(self) -> None:
        """The ids of the views, which stay while a view exists: asked once."""
        self._numbers = {}
        try:
            self._database.end(self._database.begin([Statement(_VIEWS, self._names_of_views(), self._note_views)]))
        except BaseException:
            self._numbers = None
            raise

    def _names_of_views(self) -> tuple[list[str], list[str], list[str]]:
        owners, collections, refs = zip(*(view.key for view in self._views), strict=True)
        return list(owners), list(collections), list(refs)

    def _note_views(self, rows: Rows) -> None:
        by_name = {view.key: view for view in self._views}
        self._numbers = self._named = {row[0]: by_name[row[1:4]] for row in rows}

    @property
    def _ids(self) -> list[int]:
        if self._numbers is None:
            self._find_views()
        return list(self._numbers or ())

    def _ask_totals(self, _: list[None]) -> Iterator[Statement]:
        self._totals.found.clear()
        found: list[Rows] = []
        before = self._ids

        def take(rows: Rows) -> None:
            found.append(rows)
            if len(found) == 4:
                self._totals.found[None] = self._totals_of(*found)
                if [row[0] for row in found[0]] != before:
                    self._numbers = None  # the next snapshot looks for them anew

        if self._engine is not None and not self._store:

            def name(rows: Rows) -> None:
                self._store = rows[0][0]

            yield Statement(beside.NAME, (), name)
        yield Statement(_VIEWS, self._names_of_views(), take)
        yield Statement(
            "SELECT m.model_id, m.fingerprint, m.name, m.dimensions, m.coding, m.docs, "
            "sum(e.chunks)::bigint FROM models m JOIN embedded e USING (model_id) WHERE e.view_id = ANY(%s::bigint[]) "
            "GROUP BY m.model_id ORDER BY max(e.made_at)",
            (before,),
            take,
        )
        yield Statement(
            "SELECT reason, count(*) FROM skipped WHERE view_id = ANY(%s::bigint[]) GROUP BY 1 ORDER BY 2 DESC, 1",
            (before,),
            take,
        )
        yield Statement(_LATE, (), take)

    def _totals_of(self, views: Rows, models: Rows, skipped: Rows, late: Rows) -> _Totals:
        manifest = None
        published = [row for row in views if row[4]]
        if published:
            manifest = ManifestRow(
                manifest_id=1,
                complete=True,
                pending=0,
                synced_at=min(row[5] for row in published),
                files=sum(row[6] for row in published),
                chunks=sum(row[7] for row in published),
                body_terms=sum(row[8] for row in published),
                name_terms=sum(row[9] for row in published),
                counts=0,
                wanted="",
            )
        return _Totals(
            manifest,
            " ".join(f"{row[0]}:{row[4]}" for row in views),
            [ModelRow(*row) for row in models],
            dict(skipped),
            sum(row[10] for row in published),
            sum(row[11] for row in published),
            late[0][0],
            sum(row[12] != row[4] for row in published),
            tuple(view for view in self._views if view.key not in {tuple(row[1:4]) for row in published}),
        )

    @property
    def totals(self) -> _Totals:
        """Of the snapshot, or after it of the last one."""
        if self._depth and self._connection is None and not self._recording:
            self._go()  # what is known is the last snapshot's
        if self._depth or None in self._totals.found:
            self._bring(self._totals, [None])
            return self._totals.found.get(None, _NO_TOTALS)
        with self.snapshot():
            return self.totals

    @property
    def manifest(self) -> ManifestRow | None:
        return self.totals.manifest

    @property
    def models(self) -> Models:
        return Models(self)

    @property
    def listed(self) -> Listed:
        return Listed(self)

    def latest_fingerprint(self) -> str | None:
        """The id of the model that made the newest vectors; None without any."""
        models = self.totals.models
        return models[-1].fingerprint if models else None

    def left_out(self) -> list[tuple[str, str, str]]:
        """(path, reason, detail) of every file that was left out."""
        rows = self._list(f"SELECT path, reason, detail, view_id FROM skipped WHERE {_OURS}", (tuple(self._ids),))
        return sorted((self._outer(path, view), reason, detail) for path, reason, detail, view in rows)

    def languages(self) -> dict[str, int]:
        """Files per language."""
        sql = f"SELECT c.language, count(*) {_FROM}WHERE e.{_OURS} GROUP BY 1 ORDER BY 2 DESC, 1"
        return dict(self._list(sql, (tuple(self._ids),)))

    # --- what stands where ----------------------------------------------------------------------------------------

    def _row(self, row: Sequence[Any]) -> FileRow:
        view_id, encoding = row[11], row[10]
        values: tuple[Any, ...] = (*row[:10], CONVERTED if encoding == CONVERTED else None)  # else it is kept as UTF-8
        file = FileRow(*values)
        name = self._named[view_id].name
        return file._replace(path=self._outer(file.path, view_id), collection=name) if name else file

    def _outer(self, path: str, view_id: int) -> str:
        """A path as an answer has it."""
        name = self._named[view_id].name
        return f"{name}/{path}" if name else path

    def _ask_files(self, ids: list[int]) -> Iterator[Statement]:
        def take(rows: Rows) -> None:
            self._files.found.update(dict.fromkeys(ids))
            self._note_files(rows)

        sql = f"SELECT {_FILE}{_FROM}WHERE e.entry_id = ANY(%s::bigint[]) AND e.view_id = ANY(%s::bigint[])"
        yield Statement(sql, (ids, self._ids), take)

    def _note_files(self, rows: Iterable[Sequence[Any]]) -> list[FileRow]:
        files = [self._row(row) for row in rows]
        self._files.found.update((file.entry_id, file) for file in files)
        self._at.found.update((file.path, file) for file in files)
        return files

    def files(self, entry_ids: Iterable[int]) -> dict[int, FileRow]:
        wanted = list(entry_ids)
        self._bring(self._files, wanted)
        found = self._files.found
        return {entry: file for entry in wanted if (file := found.get(entry)) is not None}

    def _inner(self, path: str) -> tuple[list[int], list[str]]:
        """The views that may have a path, and what each calls it."""
        found = [
            (number, path.removeprefix(f"{view.name}/") if view.name else path)
            for number, view in self._named.items()
            if not view.name or path.startswith(f"{view.name}/")
        ]
        return [number for number, _ in found], [own for _, own in found]

    def _ask_at(self, paths: list[str]) -> Iterator[Statement]:
        _ = self._ids
        views: list[int] = []
        own: list[str] = []
        for path in filter(is_storable, paths):
            in_views, called = self._inner(path)
            views += in_views
            own += called

        def take(rows: Rows) -> None:
            self._at.found.update(dict.fromkeys(paths))
            self._note_files(rows)

        sql = (
            f"SELECT {_FILE}FROM unnest(%s::bigint[], %s::text[]) AS asked(view_id, path) "
            "JOIN entries e ON e.view_id = asked.view_id AND e.path = asked.path JOIN contents c USING (content_id)"
        )
        yield Statement(sql, (views, own), take)

    def file_at(self, path: str) -> FileRow | None:
        self._bring(self._at, [path])
        return self._at.found.get(path)

    def state_at(self, path: str) -> tuple[int, int] | None:
        """Size and stamp of a file on the disk that it was published from."""
        if (file := self.file_at(path)) is None:
            return None
        rows = self._list("SELECT size, stamp FROM entries WHERE entry_id = %s", (file.entry_id,))
        return (rows[0][0], rows[0][1]) if rows else None

    def _ask_owners(self, ids: list[int]) -> Iterator[Statement]:
        def take(rows: Rows) -> None:
            self._owners.found.update((content, []) for content in ids)
            for file in self._note_files(rows):
                self._owners.found[file.blob_id].append(file)

        sql = f"SELECT {_FILE}{_FROM}WHERE e.content_id = ANY(%s::bigint[]) AND e.view_id = ANY(%s::bigint[])"
        yield Statement(sql, (ids, self._ids), take)

    def files_of_blobs(self, blob_ids: Iterable[int]) -> list[FileRow]:
        wanted = set(blob_ids)
        self._bring(self._owners, wanted)
        found = [file for content in wanted for file in self._owners.found.get(content, ())]
        return sorted(found, key=lambda file: file.path)

    def all_files(self, *, prefix: str = "") -> Iterator[FileRow]:
        views, own = self._ids, [""] * len(self._ids)
        if prefix:
            pairs = [
                (
                    number,
                    "" if prefix == view.name else f"{prefix.removeprefix(f'{view.name}/') if view.name else prefix}/",
                )
                for number, view in self._named.items()
                if not view.name or f"{prefix}/".startswith(f"{view.name}/")
            ]
            views, own = [number for number, _ in pairs], [folder for _, folder in pairs]
        rows = self._list(
            f"SELECT {_FILE}FROM unnest(%s::bigint[], %s::text[]) AS asked(view_id, folder) "
            "JOIN entries e ON e.view_id = asked.view_id AND e.path >= asked.folder "
            "AND e.path < asked.folder || chr(1114111) JOIN contents c USING (content_id)",
            (tuple(views), tuple(own)),
        )
        return iter(sorted(self._note_files(rows), key=lambda file: file.path))

    def listing(self) -> list[FileRow]:
        return list(self.all_files())

    def paths_ending(self, tail: str) -> list[str]:
        if not is_storable(tail):
            return []
        rows = self._list(
            f"SELECT {_FILE}{_FROM}WHERE e.entry_id IN (SELECT ending(%s::bigint[], %s, %s))",
            (tuple(self._ids), tail[::-1], f"{tail[::-1]}\U0010ffff"),
        )
        return sorted(file.path for file in self._note_files(rows))

    # --- lists, each asked by its statement -----------------------------------------------------------------------

    def _ask_lists(self, keys: list[_Statement_Key]) -> Iterator[Statement]:
        for key in keys:
            sql, values = key

            def take(rows: Rows, key: _Statement_Key = key) -> None:
                self._lists.found[key] = rows

            yield Statement(sql, [list(value) if isinstance(value, tuple) else value for value in values], take)

    def _list(self, sql: str, values: tuple[Any, ...]) -> Rows:
        """The rows of a statement; none within `ahead`. ``values``: arrays as tuples."""
        key = (sql, values)
        self._bring(self._lists, [key])
        return self._lists.found.get(key, [])

    # --- what is in it --------------------------------------------------------------------------------------------

    def _ask_records(self, ids: list[int]) -> Iterator[Statement]:
        def take(rows: Rows) -> None:
            self._records.found.update(dict.fromkeys(ids, _GONE))
            self._records.found.update((row[0], _Record(*row[1:])) for row in rows)

        sql = (
            f"SELECT content_id, terms, symbols, chunks FROM contents WHERE content_id = ANY(%s::bigint[]) AND {_OURS}"
        )
        yield Statement(sql, (ids, self._ids), take)

    def _ask_name_counts(self, ids: list[int]) -> Iterator[Statement]:
        """How many files have each term that is a name defined by these contents."""

        def take(rows: Rows) -> None:
            self._name_counts.found.update(dict.fromkeys(ids))
            self._counts.found.update(rows)

        views = self._ids
        sql = (
            f"SELECT term, sum(files)::bigint FROM term_counts WHERE {_OURS} AND term = ANY(ARRAY("
            f"SELECT DISTINCT unnest(name_keys) FROM contents WHERE content_id = ANY(%s::bigint[]) AND {_OURS})) "
            "GROUP BY term"
        )
        yield Statement(sql, (views, ids, views), take)

    def _record(self, blob_id: int) -> _Record:
        self._bring(self._records, [blob_id])
        return self._records.found.get(blob_id, _GONE)

    def terms(self, blob_ids: Iterable[int]) -> dict[int, Sequence[int]]:
        """With them come the counts of the names that the contents define: ranking asks for those next."""
        wanted = list(blob_ids)
        self._bring(self._records, wanted, self._name_counts)
        found = {blob_id: self._records.found.get(blob_id, _GONE) for blob_id in wanted}
        return {blob_id: term_rows.unpack(record.terms) for blob_id, record in found.items() if record is not _GONE}

    def defined_names(self, blob_ids: Iterable[int]) -> dict[int, DefinedNames]:
        wanted = list(blob_ids)
        self._bring(self._records, wanted)
        found = {blob_id: self._records.found.get(blob_id, _GONE).symbols for blob_id in wanted}
        return {
            blob_id: DefinedNames.of(parts.symbols(data)) for blob_id, data in found.items() if data != parts.NOTHING
        }

    def chunks(self, blob_id: int) -> list[ChunkRow]:
        record = self._record(blob_id)
        if blob_id not in self._chunks:
            if self._recording:
                return []
            self._chunks[blob_id] = parts.chunks(record.chunks)
        return self._chunks[blob_id]

    def symbols(self, blob_id: int) -> list[SymbolRow]:
        record = self._record(blob_id)
        if blob_id not in self._symbols:
            if self._recording:
                return []
            self._symbols[blob_id] = symbol_rows(blob_id, parts.symbols(record.symbols))
        return self._symbols[blob_id]

    def _ask_uses(self, ids: list[int]) -> Iterator[Statement]:
        def take(rows: Rows) -> None:
            self._uses.found.update(dict.fromkeys(ids, parts.NOTHING))
            self._uses.found.update(rows)

        sql = (
            "SELECT content_id, uses FROM contents WHERE content_id = ANY(%s::bigint[]) AND view_id = ANY(%s::bigint[])"
        )
        yield Statement(sql, (ids, self._ids), take)

    def uses(self, blob_id: int) -> Sequence[Use]:
        self._bring(self._uses, [blob_id], self._records)  # the definitions are asked for with them
        return parts.uses(self._uses.found.get(blob_id, parts.NOTHING))

    def mentioning(self, blob_ids: Iterable[int], name: str) -> set[int]:
        wanted, marks = sorted(blob_ids), parts.marks_of(name)
        if len(wanted) <= _READ_NEXT:
            self._bring(self._uses, wanted, self._records)
            found = {blob_id: self._uses.found.get(blob_id, parts.NOTHING) for blob_id in wanted}
            return {blob_id for blob_id, uses in found.items() if any(mark in uses for mark in marks)}
        sql = (
            "SELECT content_id FROM contents WHERE content_id = ANY(%s::bigint[]) AND view_id = ANY(%s::bigint[]) "
            "AND (position(%s::bytea IN uses) > 0 OR position(%s::bytea IN uses) > 0 "
            "OR position(%s::bytea IN uses) > 0)"
        )
        values = (tuple(wanted), tuple(self._ids), *marks)
        return {row[0] for row in self._list(sql, values)}

    def taken_apart(self, blob_id: int) -> tuple[int, int, str]:
        """How many chunks and symbols a content has, and what kept the others from being found (`Reading.problem`)."""
        sql = "SELECT chunk_count, symbol_count, problem FROM contents WHERE content_id = %s"
        ((chunks, symbols, problem),) = self._list(sql, (blob_id,))
        return int(chunks), int(symbols), str(problem)

    def _ask_texts(self, ids: list[int]) -> Iterator[Statement]:
        def take(rows: Rows) -> None:
            self._texts.found.update(dict.fromkeys(ids))
            self._texts.found.update(rows)

        sql = (
            "SELECT content_id, text FROM contents WHERE content_id = ANY(%s::bigint[]) AND view_id = ANY(%s::bigint[])"
        )
        yield Statement(sql, (ids, self._ids), take)

    def doc_text(self, blob_id: int) -> bytes | None:
        self._bring(self._texts, [blob_id])
        return self._texts.found.get(blob_id)

    def _ask_vectors(self, keys: list[tuple[int, int]]) -> Iterator[Statement]:
        for model in {model for model, _ in keys}:
            entries = [entry for of_model, entry in keys if of_model == model]

            def take(rows: Rows, model: int = model, entries: list[int] = entries) -> None:
                self._vectors.found.update(((model, entry), b"") for entry in entries)
                self._vectors.found.update(((model, entry), data) for entry, data in rows)

            sql = f"SELECT entry_id, data FROM vectors WHERE entry_id = ANY(%s::bigint[]) AND model_id = %s AND {_OURS}"
            yield Statement(sql, (entries, model, self._ids), take)

    def packed_vectors(self, entry_ids: Iterable[int], model_id: int) -> dict[int, bytes]:
        """The vectors of entries as they are kept (`vector_codes`), in chunk order; entries without are absent."""
        wanted = list(entry_ids)
        self._bring(self._vectors, [(model_id, entry) for entry in wanted])
        return {entry: data for entry in wanted if (data := self._vectors.found.get((model_id, entry)))}

    def embedded_entries(self, model_id: int) -> list[tuple[int, int, int]]:
        """(entry, content, seconds since 1970 when their view's were made) of files with a model's vectors, by path."""
        rows = self._list(
            "SELECT e.path, e.view_id, e.entry_id, e.content_id, extract(epoch FROM made_at)::bigint FROM vectors v "
            "JOIN entries e USING (entry_id) JOIN embedded m ON m.view_id = e.view_id AND m.model_id = v.model_id "
            "WHERE v.view_id = ANY(%s::bigint[]) AND v.model_id = %s",
            (tuple(self._ids), model_id),
        )
        return [(row[2], row[3], row[4]) for row in sorted(rows, key=lambda row: self._outer(row[0], row[1]))]

    def lacking_vectors(self, model: ModelRow) -> int:
        """How many files lack vectors of a model which they should have."""
        kinds = "" if model.docs else "AND c.kind <> 'docs' "
        sql = (
            f"SELECT count(*) {_FROM}WHERE e.{_OURS} AND c.chunk_count > 0 {kinds}"
            "AND NOT EXISTS (SELECT FROM vectors v WHERE v.entry_id = e.entry_id AND v.model_id = %s)"
        )
        return int(self._list(sql, (tuple(self._ids), model.model_id))[0][0])

    def vectors(self, entry_ids: Iterable[int], model_id: int) -> VectorRows | None:
        return parts.unpacked_vectors(self.packed_vectors(entry_ids, model_id), self.models.get(model_id))

    # --- proposals ------------------------------------------------------------------------------------------------

    def _ask_counts(self, keys: list[int]) -> Iterator[Statement]:
        def take(rows: Rows) -> None:
            self._counts.found.update(dict.fromkeys(keys, 0))
            self._counts.found.update(rows)

        sql = f"SELECT term, sum(files)::bigint FROM term_counts WHERE {_OURS} AND term = ANY(%s::int[]) GROUP BY term"
        yield Statement(sql, (self._ids, keys), take)

    def term_counts(self, keys: Iterable[int]) -> dict[int, int]:
        wanted = list(keys)
        self._bring(self._counts, wanted)
        return {key: self._counts.found.get(key, 0) for key in wanted}

    def _ask_frequencies(self, keys: list[tuple[str, str]]) -> Iterator[Statement]:
        names = {number: name for name, number in FIELDS.items()}

        def take(rows: Rows) -> None:
            self._frequencies.found.update(dict.fromkeys(keys, 0))
            self._frequencies.found.update(((names[field], term), units) for field, term, units in rows)

        sql = (
            "SELECT field, term, sum(units)::bigint FROM frequencies "
            "WHERE view_id = ANY(%s::bigint[]) AND (term, field) IN (SELECT * FROM unnest(%s::text[], %s::smallint[])) "
            "GROUP BY field, term"
        )
        terms, fields = [term for _, term in keys], [FIELDS[field] for field, _ in keys]
        yield Statement(sql, (self._ids, terms, fields), take)

    def frequencies(self, wanted: Iterable[tuple[str, str]]) -> Frequencies:
        asked = [key for key in wanted if is_storable(key[1])]
        self._bring(self._frequencies, asked)
        manifest = self.manifest
        units = manifest.files + manifest.chunks if manifest else 0
        return Frequencies(units, {key: count for key in asked if (count := self._frequencies.found.get(key, 0))})

    def lexical(
        self, weights: Mapping[tuple[str, str], float], limit: int, allowed: Set[int] | None = None
    ) -> list[tuple[int, float]]:
        """Each unit's parts times the weights; passages and paths are added up apart, as no unit has both."""
        most = limit + 1 if limit > 0 else 0
        ordered: list[tuple[int, float]] = []
        for kind, of_paths in ((beside.WORDS, False), (beside.PATHS, True)):
            chosen = [(key, weight) for key, weight in weights.items() if (key[0] == "path") == of_paths]
            chosen = [each for each in chosen if is_storable(each[0][1])]
            if chosen and most:
                ordered += self._best(_Proposal(kind, most, tuple(chosen)), allowed)
        ordered = sorted(rounded(ordered), key=lambda pair: (-pair[1], pair[0]))
        return self._proposed(ordered, limit, allowed)

    def nearest(
        self, query: NDArray[np.float32], model_id: int, limit: int, allowed: Set[int] | None = None
    ) -> list[tuple[int, int]]:
        if limit <= 0:
            return []
        bits = "".join(["1" if positive else "0" for positive in (query >= 0).tolist()])
        proposal = _Proposal(beside.bits_of(model_id), limit + 1, bits=bits, model_id=model_id)
        ordered = sorted(self._best(proposal, allowed), key=lambda pair: (pair[1], pair[0]))
        return self._proposed(ordered, limit, allowed)

    def _best(self, proposal: _Proposal, allowed: Set[int] | None) -> list[tuple[int, Any]]:
        """(unit, number) of what a proposal proposes; nothing within `ahead`."""
        if self._engine is None or allowed is not None:  # who names entries has few, or has read their list
            among = None if allowed is None else tuple(sorted(allowed))
            return self._scored(self._list(*_statement(proposal, self._ids, allowed=among)))
        wanted = proposal.most
        while wanted <= _MOST_BESIDE:
            self._bring(self._beside, [(proposal, wanted)])
            if self._recording:
                return []
            if (found := self._beside.found[proposal, wanted]) is None:
                break
            numbers = self._scored(found.rows)
            if len(found.found) < wanted or _is_whole(proposal, found.found, numbers):
                return numbers
            wanted *= _MORE
        return self._scored(self._list(*_statement(proposal, self._ids)))

    def _ask_beside(self, keys: list[_Proposal_Key]) -> Iterator[Statement]:
        """What an engine beside the store proposes, asked now, and with it the rows of that which the store has: it
        has the last word. Where the engine cannot be asked, PostgreSQL proposes."""
        for key, found in zip(keys, self._found_beside(keys), strict=True):
            if found is None:
                self._beside.found[key] = None
                yield from self._ask_lists([_statement(key[0], self._ids)])
                continue

            def take(rows: Rows, key: _Proposal_Key = key, found: Sequence[tuple[int, float]] = found) -> None:
                self._beside.found[key] = _Beside(found, rows)

            sql, values = _statement(key[0], self._ids, found=found)
            yield Statement(sql, [list(value) if isinstance(value, tuple) else value for value in values], take)

    def _found_beside(self, keys: list[_Proposal_Key]) -> Sequence[Sequence[tuple[int, float]] | None]:
        assert self._engine is not None
        totals = self._totals.found[None]
        if totals.behind:
            said = f"Milvus does not have what was published last ({totals.behind} of {len(self._views)} collections)"
        else:
            asks = [
                Ask(
                    proposal.kind,
                    beside.packed(proposal.bits)
                    if proposal.bits
                    else {(FIELDS[field], term): weight for (field, term), weight in proposal.weights},
                    self._ids,
                    wanted,
                )
                for proposal, wanted in keys
            ]
            try:
                return self._engine.find(self._store, asks) if self._ids else [[] for _ in asks]
            except errors.IndexUnavailable as error:
                said = "Milvus does not answer" if self._database.user else error.message.rstrip(".")
        note = f"{said}; PostgreSQL proposed instead."
        if note not in self._notes:
            self._notes.append(note)
        return [None] * len(keys)

    def _scored(self, rows: Rows) -> list[tuple[int, Any]]:
        """(unit, number) of rows of files, each once, that end with their ordinals and the numbers of these."""
        self._note_files(row[:-2] for row in rows)
        return [
            (row[0] << CHUNK_BITS | ordinal, number)
            for row in rows
            for ordinal, number in zip(row[-2], row[-1], strict=True)
        ]

    @staticmethod
    def _proposed(
        ordered: list[tuple[int, _Number]], limit: int, allowed: Set[int] | None
    ) -> list[tuple[int, _Number]]:
        def own(entries: Set[int]) -> Set[int]:
            return entries if allowed is None else allowed & entries

        return proposed(lambda wanted: ordered[:wanted], own, limit, 1)

    def names(self) -> Collection[str]:
        rows = self._list(
            "SELECT DISTINCT name FROM definitions WHERE view_id = ANY(%s::bigint[])", (tuple(self._ids),)
        )
        return [row[0] for row in rows]

    def named(self, squashed: Iterable[str], limit: int, only: OnlyThese = ANY) -> list[SymbolRow]:
        wanted = tuple(filter(is_storable, dict.fromkeys(squashed)))
        if not wanted:
            return []
        if len(wanted) == 1 and only == ANY:
            key = (wanted[0], limit)
            self._bring(self._defining, [key])
            rows = [(content, self._records.found[content].symbols) for content in self._defining.found.get(key, ())]
            return self._symbols_of(rows, wanted[0].__eq__, limit, only)
        return self._defined("name = ANY(%s::text[])", (wanted,), frozenset(wanted).__contains__, limit, only)

    def named_like(self, squashed: str, *, prefix: bool, limit: int, only: OnlyThese = ANY) -> list[SymbolRow]:
        if not is_storable(squashed):
            return []
        if prefix:
            bounds = (squashed, f"{squashed}\U0010ffff")
            return self._defined(
                "name >= %s AND name < %s", bounds, lambda name: name.startswith(squashed), limit, only
            )
        return self._defined("strpos(name, %s) > 0", (squashed,), lambda name: squashed in name, limit, only)

    def _defined(
        self,
        condition: str,
        values: tuple[Any, ...],
        fits: Callable[[str], bool],
        limit: int,
        only: OnlyThese,
    ) -> list[SymbolRow]:
        known = only.blobs if isinstance(only.blobs, Set) else None
        among = "AND content_id = ANY(%s::bigint[]) " if known is not None else ""
        rows = self._list(
            "SELECT content_id, symbols FROM contents WHERE content_id IN ("
            f"SELECT content_id FROM definitions WHERE {_OURS} AND {condition} {among}) ORDER BY hash LIMIT %s",
            (
                tuple(self._ids),
                *values,
                *((tuple(sorted(known)),) if known is not None else ()),
                limit if only.kind is None and (only.blobs is None or known is not None) else _MOST,
            ),
        )
        return self._symbols_of(rows, fits, limit, only)

    def _ask_defining(self, keys: list[tuple[str, int]]) -> Iterator[Statement]:
        """With them come their records and where they stand, which is asked next."""
        for limit in {limit for _, limit in keys}:
            names = [name for name, most in keys if most == limit]
            defining = (
                "unnest(%s::text[]) AS asked(name) CROSS JOIN LATERAL (SELECT content_id, hash FROM contents WHERE "
                f"content_id IN (SELECT content_id FROM definitions WHERE {_OURS} AND name = asked.name) "
                "ORDER BY hash LIMIT %s) AS held"
            )
            of_any = f"IN (SELECT held.content_id FROM {defining})"
            values = (names, self._ids, limit)

            def take(rows: Rows, names: list[str] = names, limit: int = limit) -> None:
                found = self._defining.found
                found.update(((name, limit), []) for name in names)
                for name, content, _ in sorted(rows, key=itemgetter(2)):
                    found[name, limit].append(content)

            def take_owners(rows: Rows) -> None:
                owners: dict[int, list[FileRow]] = {}
                for file in self._note_files(rows):
                    owners.setdefault(file.blob_id, []).append(file)
                self._owners.found.update(owners)

            yield Statement(f"SELECT asked.name, held.content_id, held.hash FROM {defining}", values, take)
            yield Statement(
                f"SELECT content_id, terms, symbols, chunks FROM contents WHERE content_id {of_any}",
                values,
                lambda rows: self._records.found.update((row[0], _Record(*row[1:])) for row in rows),
            )
            sql = f"SELECT {_FILE}{_FROM}WHERE e.content_id {of_any} AND e.{_OURS}"
            yield Statement(sql, (*values, self._ids), take_owners)

    @staticmethod
    def _symbols_of(
        rows: Iterable[Sequence[Any]], fits: Callable[[str], bool], limit: int, only: OnlyThese
    ) -> list[SymbolRow]:
        """The definitions in contents that are asked for by name."""
        found: list[SymbolRow] = []
        for content, data in rows:
            if only.blobs is not None and content not in only.blobs:
                continue
            found += [
                SymbolRow(content, position, *symbol)
                for position, symbol in enumerate(parts.symbols(data))
                if only.kind in (None, symbol.kind) and fits(_squashed(symbol.name))
            ]
            if len(found) >= limit:
                break
        return found

    # --- patterns -------------------------------------------------------------------------------------------------

    def containing(self, plan: TrigramPlan) -> Collection[int]:
        views = tuple(self._ids)
        condition, values = _holding(plan, views)

        def asked(*columns: str) -> _Statement_Key:
            read = "".join(f", CASE WHEN n <= {_READ_NEXT} AND c.kind = 'code' THEN c.{each} END" for each in columns)
            return (
                "WITH e AS MATERIALIZED (SELECT entry_id, content_id, path, view_id FROM entries e "
                f"WHERE e.{_OURS} AND {condition}), few AS (SELECT count(*) AS n FROM e) "
                f"SELECT {_FILE}{read} FROM e JOIN contents c USING (content_id), few WHERE n <= {_FEW} "
                "UNION ALL "
                f"SELECT entry_id{', NULL' * (11 + len(columns))} FROM e, few WHERE n > {_FEW}",
                (views, *values),
            )

        key = asked("uses", "terms", "symbols", "chunks")  # what whoever asks for uses of a name reads next
        if not (with_parts := self._trying or key in self._lists.found):
            key = asked()
        rows = self._list(*key)
        self._note_files(row[:12] for row in rows if row[1] is not None)
        for _, content, *_, uses, terms, symbols, chunks in rows if with_parts else ():
            if uses is not None:
                self._uses.found[content] = uses
                self._records.found[content] = _Record(terms, symbols, chunks)
        return list(map(itemgetter(0), rows))


_Statement_Key = tuple[str, tuple[Any, ...]]
_Proposal_Key = tuple[_Proposal, int]
"""With how many rows an engine is asked for."""


def _statement(
    proposal: _Proposal,
    views: Sequence[int],
    *,
    allowed: tuple[int, ...] | None = None,
    found: Sequence[tuple[int, float]] | None = None,
) -> _Statement_Key:
    """The best rows by a proposal: files with the ordinals of their units and the numbers of these. ``allowed``: of
    these entries only. ``found``: of what an engine proposed only."""
    among: tuple[tuple[int, ...], ...] = ()
    ids, only = tuple(views), ""
    if proposal.bits:
        if found is not None:
            return (
                f"SELECT {_FILE}, array_agg(best.ordinal), array_agg(best.distance) "
                "FROM unnest(%s::bigint[], %s::int[], %s::int[]) AS best(entry_id, ordinal, distance) "
                f"JOIN entries e USING (entry_id) JOIN contents c USING (content_id) WHERE e.{_OURS} "
                "GROUP BY e.entry_id, c.content_id",
                (
                    tuple(unit >> CHUNK_BITS for unit, _ in found),
                    tuple(unit & FILE_UNIT for unit, _ in found),
                    tuple(int(distance) for _, distance in found),
                    ids,
                ),
            )
        if allowed is not None:
            only, among = "AND entry_id = ANY(%s::bigint[]) ", (allowed,)
        return (
            "WITH best AS (SELECT entry_id, ordinal, bit_count(bits # %s::varbit)::int AS distance FROM bits "
            f"WHERE view_id = ANY(%s::bigint[]) AND model_id = %s {only}ORDER BY 3, 1, 2 LIMIT %s) "
            f"SELECT {_FILE}, array_agg(best.ordinal), array_agg(best.distance) FROM best "
            "JOIN entries e USING (entry_id) JOIN contents c USING (content_id) GROUP BY e.entry_id, c.content_id",
            (proposal.bits, ids, proposal.model_id, *among, proposal.most),
        )
    terms = tuple(term for (_, term), _ in proposal.weights)
    weights = tuple(weight for _, weight in proposal.weights)
    if found is not None:
        among = (tuple(dict.fromkeys(unit >> CHUNK_BITS for unit, _ in found)),)
    elif allowed is not None:
        among = (allowed,)
    if proposal.kind == beside.PATHS:
        if among:
            only = "AND p.entry_id = ANY(%s::bigint[]) "
        return (
            "WITH best AS (SELECT p.entry_id, sum(p.part * asked.weight) AS score "
            "FROM unnest(%s::text[], %s::float8[]) AS asked(term, weight) "
            f"JOIN path_postings p ON p.view_id = ANY(%s::bigint[]) AND p.term = asked.term {only}"
            "GROUP BY 1 ORDER BY 2 DESC, 1 LIMIT %s) "
            f"SELECT {_FILE}, ARRAY[{FILE_UNIT}], ARRAY[best.score] FROM best JOIN entries e USING (entry_id) "
            "JOIN contents c USING (content_id)",
            (terms, weights, ids, *among, proposal.most),
        )
    if found is not None:
        only = "AND p.content_id = ANY(%s::bigint[]) "
    elif allowed is not None:
        only = "AND p.content_id IN (SELECT content_id FROM entries WHERE entry_id = ANY(%s::bigint[])) "
    return (
        f"{best_units('postings', f'p.view_id = ANY(%s::bigint[]) {only}')} "
        f"SELECT {_FILE}, array_agg(best.ordinal), array_agg(best.score) FROM best "
        "JOIN entries e USING (content_id) JOIN contents c USING (content_id) "
        f"WHERE e.{_OURS} GROUP BY e.entry_id, c.content_id",
        (
            tuple(FIELDS[field] for (field, _), _ in proposal.weights),
            terms,
            weights,
            ids,
            *among,
            *(proposal.most,) * 3,
            ids,
        ),
    )


def best_units(postings: str, where: str) -> str:
    """The beginning of a statement: `best` has the content_id, ordinal and score of the best units by their words.

    Its values: fields, terms and weights of what is asked, those of ``where``, and three times how many are wanted.
    To add up every weight of a common word takes most of a question's time, so a file is first judged by its best unit
    for each word, which comes first in each posting: no unit of the file scores more than the sum of these. The units
    of the files with the highest sums are scored; then those of the files whose sum reaches the last wanted score. What
    is found is the same as by all (threshold algorithm: Fagin, Lotem and Naor, 2003).
    """

    def units(files: str) -> str:
        return (
            "SELECT content_id, ordinal, sum(part * weight) AS score FROM (SELECT content_id, unnest(ordinals) AS "
            f"ordinal, unnest(parts) AS part, weight FROM held WHERE content_id IN ({files})) AS unit GROUP BY 1, 2"
        )

    first = units("SELECT content_id FROM front")
    # the sums are rounded in another order than the scores
    rest = units(
        "SELECT content_id FROM files WHERE most >= coalesce((SELECT (1 - 1e-9) * score FROM likely "
        "ORDER BY score DESC OFFSET %s - 1 LIMIT 1), 0) EXCEPT SELECT content_id FROM front"
    )
    return (
        "WITH held AS MATERIALIZED (SELECT p.content_id, p.ordinals, p.parts, asked.weight "
        "FROM unnest(%s::smallint[], %s::text[], %s::float8[]) AS asked(field, term, weight) "
        f"JOIN {postings} p ON p.term = asked.term AND p.field = asked.field AND {where}), "
        "files AS MATERIALIZED (SELECT content_id, sum(parts[1] * weight) AS most FROM held GROUP BY 1), "
        "front AS MATERIALIZED (SELECT content_id FROM files ORDER BY most DESC, content_id LIMIT %s), "
        f"likely AS MATERIALIZED ({first}), best AS ("
        f"SELECT * FROM likely UNION ALL {rest} ORDER BY score DESC, content_id, ordinal LIMIT %s)"
    )


def _is_whole(proposal: _Proposal, found: Sequence[tuple[int, float]], numbers: Sequence[tuple[int, Any]]) -> bool:
    """Whether nothing that an engine did not propose can be among the best: the last of these is no worse than the last
    that it proposed. Where all are equal, their ids decide, and it does not go by these."""
    ordered = sorted((number for _, number in numbers), reverse=not proposal.bits)[: proposal.most]
    if len(ordered) < proposal.most or ordered[0] == ordered[-1]:
        return False
    last = found[-1][1]
    return bool(ordered[-1] <= last) if proposal.bits else ordered[-1] >= last * _NEARLY


_NO_TOTALS = _Totals(None, "", (), {}, 0, 0)

_LATE = (
    "SELECT CASE WHEN pg_is_in_recovery() AND (pg_last_wal_receive_lsn() IS DISTINCT FROM pg_last_wal_replay_lsn() "
    "OR NOT EXISTS (SELECT FROM pg_stat_wal_receiver)) "
    "THEN extract(epoch FROM clock_timestamp() - "
    "coalesce(pg_last_xact_replay_timestamp(), pg_postmaster_start_time())) ELSE 0 END::float8"
)
"""How many seconds a replica is behind: one that has all, or is no replica, is not."""

_VIEWS = (
    "SELECT view_id, owner, collection, ref, generation, coalesce(to_char(published_at AT TIME ZONE 'UTC', "
    "'YYYY-MM-DD\"T\"HH24:MI:SS\"Z\"'), ''), files, chunks, body_terms, name_terms, symbols, bytes, "
    "proposed FROM visible(%s::text[], %s::text[], %s::text[]) ORDER BY view_id"
)


def _holding(plan: TrigramPlan, views: tuple[int, ...]) -> tuple[str, list[Any]]:
    """The condition on a content's trigrams that a plan is, and its values."""
    codes = tuple(sorted(plan.codes))
    every = plan.kind == "all"
    conditions: list[str] = []
    values: list[Any] = []
    if codes:
        conditions.append(f"e.content_id IN (SELECT holding(%s::bigint[], %s::int[], {every}))")
        values += [views, codes]
    for part in plan.parts:
        condition, more = _holding(part, views)
        conditions.append(condition)
        values += more
    if not conditions:
        return ("true" if every else "false"), []
    return f"({(' AND ' if every else ' OR ').join(conditions)})", values


def is_storable(text: str) -> bool:
    """Whether the database can hold a text: it knows no zero character and no half of a surrogate pair."""
    return "\0" not in text and (text.isascii() or not any("\ud800" <= char <= "\udfff" for char in text))


_squashed = squashed
"""The function, where a parameter has its name."""
