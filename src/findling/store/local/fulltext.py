"""The text index: words and trigrams, derived from the tables. The only module that imports tantivy.

It *proposes* candidates; their order in an answer is decided by `findling.search.ranking`. A document is a chunk
(``body`` and ``context``: its breadcrumb and the names it defines) or a file (``path``, and ``trigrams`` of its whole
text). Documents carry a unit id (`protocols.CHUNK_BITS`). Nothing is stored in it but that id; text comes from the
files themselves.
"""

from __future__ import annotations

import base64
import math
import re
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from pathlib import Path
from typing import TYPE_CHECKING, Any

import msgspec
import tantivy

from findling.model import errors
from findling.store import lengths
from findling.store.local import fulltext_files, layout
from findling.store.local.schema import IndexDamaged, full
from findling.store.protocols import CHUNK_BITS, Frequencies, is_settled, rounded

if TYPE_CHECKING:
    from findling.model.trigram_plan import TrigramPlan

_HEAP_BYTES = 64_000_000
"""Memory of the writer before it writes a segment; more makes fewer segments, this keeps a run under its budget."""

_SMALL_HEAP_BYTES = 16_000_000
"""For a run of a few files: allocating less is faster."""

_TOKENIZER = "terms"

_FILLING = "\x01"
"""A term that no text has and nobody asks for."""

_COUNTED_ONE_BY_ONE = 70_000
"""Up to so many documents, some 50,000 of them passages and files, those that hold a term are counted where the
library counts others too: up to a millisecond for a new term. Among more, a few files' earlier versions change hardly
anything."""

_REMEMBERED = 20_000
"""Terms whose count is remembered until the index changes."""


def _schema() -> tantivy.Schema:
    builder = tantivy.SchemaBuilder()
    builder.add_unsigned_field("unit", stored=False, indexed=False, fast=True)
    builder.add_unsigned_field("entry", stored=False, indexed=True, fast=False)
    for field in ("body", "context", "path"):
        builder.add_text_field(field, stored=False, tokenizer_name=_TOKENIZER, index_option="freq")
    builder.add_text_field("trigrams", stored=False, tokenizer_name=_TOKENIZER, index_option="basic")
    return builder.build()


def _open(directory: Path) -> tantivy.Index:
    index = tantivy.Index.open(str(directory))
    analyzer = tantivy.TextAnalyzerBuilder(tantivy.Tokenizer.whitespace()).build()
    index.register_tokenizer(_TOKENIZER, analyzer)
    return index


def create(directory: Path, identity: bytes) -> None:
    """Make an empty text index in place of whatever is there, so that readers find one from the first moment."""
    with _typed(directory, identity):
        remove(directory)
        directory.mkdir(parents=True, exist_ok=True)
        tantivy.Index(_schema(), path=str(directory), reuse=False)
        fulltext_files.write_down(directory, identity)


def remove(directory: Path) -> None:
    """Delete the text index; it is derived, so nothing is lost."""
    layout.discard(directory)


@contextmanager
def _typed(directory: Path, identity: bytes | None = None) -> Iterator[None]:
    """Failures of the library leave as findling's own; so does its panicking over data that it cannot make sense of.

    ``identity``: of the tables, where the files may be looked at to tell what has failed.
    """
    try:
        yield
    except (ValueError, OSError, OverflowError) as error:
        raise _map_error(error, directory, identity) from error
    except BaseException as error:
        if type(error).__name__ != _PANIC:
            raise
        raise IndexDamaged(f"The text index at {directory} is damaged.") from error


_PANIC = "PanicException"
"""The class has no module to import it from, and is no `Exception`."""


def _filling(length: int) -> str:
    return f" {_FILLING}" * length


class FulltextWriter:
    """Adds and deletes documents; nothing is visible before `commit`. One writer per directory at a time.

    ``large`` says that many files are coming.
    """

    def __init__(self, directory: Path, identity: bytes, *, large: bool) -> None:
        with _typed(directory, identity):
            for left in directory.glob(".tmp*"):  # of a writer that was killed; there is no other one now
                left.unlink(missing_ok=True)
            self._index = _open(directory)
            self._writer = self._index.writer(heap_size=_HEAP_BYTES if large else _SMALL_HEAP_BYTES, num_threads=1)
        self._identity = identity
        self._directory = directory

    def add(
        self, entry_id: int, chunks: Iterable[tuple[int, str, str]], file_unit: int, path: str, trigrams: bytes
    ) -> None:
        """The documents of an entry: ``chunks`` as (unit id, body, context), the file by its path's terms and its
        trigrams (`Reading.trigrams`), and those that give all of them the mean lengths (`lengths.filler`)."""
        texts = [(unit_id, {"body": body, "context": context}) for unit_id, body, context in chunks]
        texts.append((file_unit, {"path": path}))
        totals = dict.fromkeys(lengths.MEANS, 0)
        with _typed(self._directory, self._identity), self._cause():
            for unit_id, fields in texts:
                whole = {}
                for field, text in fields.items():
                    length = len(text.split())
                    wanted = lengths.filled_up(length)
                    totals[field] += wanted
                    whole[field] = text + _filling(wanted - length)
                if unit_id == file_unit:
                    whole["trigrams"] = _words_of(trigrams)
                self._add(unit_id, entry_id, whole)
            for filler in lengths.filler(len(texts), totals):
                self._add(file_unit, entry_id, {field: _filling(length) for field, length in filler.items()})

    def _add(self, unit_id: int, entry_id: int, fields: Mapping[str, str]) -> None:
        document = tantivy.Document()
        document.add_unsigned("unit", unit_id)
        document.add_unsigned("entry", entry_id)
        for field, text in fields.items():
            if text:
                document.add_text(field, text)
        self._writer.add_document(document)

    def delete(self, entry_ids: Iterable[int]) -> None:
        # by query: deletion by term takes a Python int for a signed number and then finds nothing
        doomed = list(entry_ids)
        if doomed:
            with _typed(self._directory, self._identity), self._cause():
                wanted = tantivy.Query.term_set_query(self._index.schema, "entry", doomed)
                self._writer.delete_documents_by_query(wanted)

    @contextmanager
    def _cause(self) -> Iterator[None]:
        """A thread behind it may not have been able to write a segment; what it met only a commit tells, and fails."""
        try:
            yield
        except ValueError as error:
            if any(sign in str(error) for sign in _DIED_SIGNS):
                self._writer.commit()
            raise

    def commit(self) -> None:
        """Make everything visible and durable. Raises `StorageFull` or `IndexUnavailable`."""
        with _typed(self._directory, self._identity):
            self._writer.commit()
            fulltext_files.write_down(self._directory, self._identity)

    def close(self, *, merge: bool = False) -> None:
        """``merge``: wait for the merging of segments that goes on in the background, then drop unused files."""
        try:
            if merge:
                with _typed(self._directory, self._identity):
                    self._writer.garbage_collect_files()
                    self._writer.wait_merging_threads()
                    fulltext_files.write_down(self._directory, self._identity)
        finally:
            del self._writer


def _map_error(error: Exception, directory: Path, identity: bytes | None) -> errors.FindlingError:
    text = str(error)
    if any(sign in text for sign in _FULL_SIGNS):
        return full(directory.parent)
    if isinstance(error, PermissionError) or "PermissionDenied" in text:
        return errors.IndexUnavailable(
            f"The text index at {directory} cannot be used: {text}", remedy="Check the folder's permissions."
        )
    failed = _SYSTEM_ERROR.search(text)
    if failed and (number := int(failed[1] or failed[2])) not in fulltext_files.OF_WHAT_IS_THERE:
        return fulltext_files.unavailable(directory, number)
    if (
        any(sign in text for sign in _DIED_SIGNS)
        and identity is not None
        and fulltext_files.usable(directory, identity)
    ):
        return fulltext_files.unavailable(directory, None)
    return IndexDamaged(f"The text index at {directory} cannot be used: {text}")


_SYSTEM_ERROR = re.compile(r"\bOs \{ code: (\d+)|\(os error (\d+)\)")

_DIED_SIGNS = ("was killed", "in a thread", "updater killed", "thread panicked")
"""A thread of the library's met an error, and another one says no more than that."""

_FULL_SIGNS = ("No space left", "StorageFull", "QuotaExceeded", "Disk quota", "FileTooLarge", "File too large")


class FulltextReader:
    """Ranks documents by weighted BM25 as of when it was opened. Safe to use while a writer commits."""

    def __init__(self, directory: Path) -> None:
        with _typed(directory):
            self._index = _open(directory)
            self._index.config_reader("manual")
            self._schema = self._index.schema
            self._searcher = self._index.searcher()
        self._directory = directory
        self._documents: int | None = None
        self._counts: _Counts | None = None

    def reload(self) -> None:
        with _typed(self._directory):
            self._index.reload()
            self._searcher = self._index.searcher()
        self._documents = self._counts = None

    def search(
        self, weights: Mapping[tuple[str, str], float], limit: int, entries: Sequence[int] | None = None
    ) -> list[tuple[int, float]]:
        """The best ``limit`` units as (unit id, sum), best first, ties by unit id.

        ``weights``: what a term in a field counts, by (field, term), its rarity included: the library's own idf, which
        counts deleted documents and those of other manifests too, is taken out of its BM25. ``entries`` restricts to
        those entries.
        """
        if not weights or limit <= 0:
            return []
        with _typed(self._directory):
            query = tantivy.Query
            clauses: list[tuple[tantivy.Occur, tantivy.Query]] = []
            held: dict[tuple[str, str], float] = {}
            unsure = 0.0
            for (field, term), weight in weights.items():
                if holding := self._searcher.doc_freq(field, term):
                    clause = query.term_query(self._schema, field, term, "freq")
                    idf = _idf(max(self._written, holding), holding)
                    clauses.append((tantivy.Occur.Should, query.boost_query(clause, weight / idf)))
                    held[field, term] = weight
                    unsure += _OF_IDF * weight / idf
            if not clauses:
                return []
            wanted = query.boolean_query(clauses)
            if entries is not None:
                allowed = query.term_set_query(self._schema, "entry", list(entries))
                wanted = query.boolean_query(
                    [(tantivy.Occur.Must, wanted), (tantivy.Occur.Must, query.boost_query(allowed, 0.0))]
                )

            def settled(score: float) -> bool:
                return is_settled(score, _ULP * (unsure + (_OF_TERM + len(held)) * score))

            for more in _MORE:
                found: Any = self._searcher.search(wanted, more * limit, count=False).hits
                if len(found) < more * limit or settled(found[-1][0]):
                    break
            units = self._searcher.fast_field_values("unit", [address for _, address in found]) if found else []
            exact = _Exact(self._searcher, self._schema, held)
            ranked = rounded(
                (int(unit), score if settled(score) else exact.score(address))
                for unit, (score, address) in zip(units, found, strict=True)
                if unit is not None
            )
            ranked.sort(key=lambda pair: (-pair[1], pair[0]))
            return ranked

    def containing(self, plan: TrigramPlan) -> set[int]:
        """The entries whose text has the trigrams that a plan asks for, whatever manifest they are of."""
        with _typed(self._directory):
            wanted = tantivy.Query.all_query() if plan.admits_everything else self._with_trigrams(plan)
            found: Any = self._searcher.search(wanted, max(1, self._searcher.num_docs), count=False).hits
            units = self._searcher.fast_field_values("unit", [address for _, address in found]) if found else []
        return {int(unit) >> CHUNK_BITS for unit in units if unit is not None}

    def _with_trigrams(self, plan: TrigramPlan) -> tantivy.Query:
        query, occur = tantivy.Query, tantivy.Occur.Must if plan.kind == "all" else tantivy.Occur.Should
        terms = [query.term_query(self._schema, "trigrams", _word_of(code), "basic") for code in plan.codes]
        return query.boolean_query([(occur, each) for each in (*terms, *map(self._with_trigrams, plan.parts))])

    def frequencies(
        self, wanted: Iterable[tuple[str, str]], units: int, beside: Callable[[], Sequence[int]], crowding: float
    ) -> Frequencies:
        """How many of the ``units`` that are searched hold terms, by (field, term). ``beside``: entries whose documents
        do not count. In a large index they do; then the units are ``crowding`` times as many, as its documents are."""
        with _typed(self._directory):
            few = self._written <= _COUNTED_ONE_BY_ONE
            if self._counts is None:
                self._counts = _Counts(self._searcher, self._schema, self._written, beside() if few else None)
            return Frequencies(units if few else round(units * crowding), self._counts.of(wanted))

    @property
    def _written(self) -> int:
        """The documents that the library counts, deleted ones among them."""
        if self._documents is None:
            self._documents = fulltext_files.documents(self._directory)
        return self._documents


_ULP = 2.0**-23
_OF_TERM, _OF_IDF = 8, 4
"""How far off a score of the library can be, which works with 24 bits. It rounds the part of each term some eight times
and the sum once for each term. An idf is off by as much as the number under its logarithm, however small it is."""

_MORE = (1, 4, 16)
"""How many times as many documents are looked at while the last one's score is not settled: the next may be as good."""


class _Exact:
    """Scores in full precision, from the counts and lengths in the library's explanation of a score. One takes a tenth
    of a millisecond, so only those are worked out that have to be."""

    def __init__(
        self, searcher: tantivy.Searcher, schema: tantivy.Schema, weights: Mapping[tuple[str, str], float]
    ) -> None:
        self._searcher = searcher
        self._weights = list(weights.items())
        query = tantivy.Query
        terms = (query.term_query(schema, field, term, "freq") for field, term in weights)
        numbered = [(tantivy.Occur.Should, query.boost_query(term, at)) for at, term in enumerate(terms, 1)]
        self._query = query.boolean_query(numbered)  # an explanation names a term by its boost alone

    def score(self, address: tantivy.DocAddress) -> float:
        """The sum, term by term in the order of the weights, as an index in memory adds it up."""
        explained = msgspec.json.decode(self._query.explain(self._searcher, address).to_json())
        total = 0.0
        for boosted in explained["details"]:
            (field, _), weight = self._weights[int(boosted["description"].split()[1].removeprefix("x")) - 1]
            numbers = boosted["details"][0]["details"][-1]["details"]
            of = {number["description"].partition(",")[0]: int(number["value"]) for number in numbers}
            total += weight * lengths.part(of["freq"], of["dl"], lengths.MEANS[field])
        return total


class _Counts:
    """How many of the documents that are searched hold a term. The library itself counts all that were ever written to
    its segments: with the earlier versions of files, and with what was deleted until segments happen to be merged. An
    index that followed many changes would so put its answers in another order than a new one."""

    def __init__(
        self, searcher: tantivy.Searcher, schema: tantivy.Schema, written: int, others: Sequence[int] | None
    ) -> None:
        """``others``: entries whose documents do not count; None to take the library's word."""
        self._searcher = searcher
        self._schema = schema
        self._as_written = others is None or written == searcher.num_docs
        self._others = tantivy.Query.term_set_query(schema, "entry", list(others)) if others else None
        self._holding: dict[tuple[str, str], int] = {}

    def of(self, wanted: Iterable[tuple[str, str]]) -> dict[tuple[str, str], int]:
        if len(self._holding) > _REMEMBERED:
            self._holding.clear()
        found = {}
        for key in wanted:
            count = self._holding.get(key)
            if count is None:
                count = self._holding[key] = self._holders(*key)
            if count:
                found[key] = count
        return found

    def _holders(self, field: str, term: str) -> int:
        written = self._searcher.doc_freq(field, term)
        if not written or (self._as_written and self._others is None):
            return written
        holding = tantivy.Query.term_query(self._schema, field, term, "basic")
        if not self._as_written:
            written = self._count(holding)
        if self._others is None:
            return written
        both = [(tantivy.Occur.Must, holding), (tantivy.Occur.Must, self._others)]
        return written - self._count(tantivy.Query.boolean_query(both))

    def _count(self, wanted: tantivy.Query) -> int:
        found: Any = self._searcher.search(wanted, 1, count=True)
        return int(found.count)


_WORD_CHARS = 4
"""Of a trigram as a word: its three bytes in base64."""


def _word_of(code: int) -> str:
    return base64.b64encode(code.to_bytes(3, "big")).decode()


def _words_of(trigrams: bytes) -> str:
    """The words of packed codes (`file_trigrams`), as `_word_of` has each; made column by column, which takes a
    twentieth of the time."""
    count = len(trigrams) // 4
    codes = bytearray(3 * count)
    for byte in range(3):
        codes[byte::3] = trigrams[2 - byte :: 4]
    encoded = base64.b64encode(codes)
    words = bytearray(b" ") * (count * (_WORD_CHARS + 1))
    for char in range(_WORD_CHARS):
        words[char :: _WORD_CHARS + 1] = encoded[char::_WORD_CHARS]
    return words.decode()


def _idf(documents: int, holding: int) -> float:
    """As the library has it (BM25 after Robertson and Sparck Jones, never below 0)."""
    return math.log(1 + (documents - holding + 0.5) / (holding + 0.5))
