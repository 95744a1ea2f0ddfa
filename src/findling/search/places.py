"""From ranked files to places: the best chunk of each, what encloses it, the lines to show, what else is there."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence, Set
from functools import partial
from typing import NamedTuple

from findling.model.reading import ChunkRow
from findling.model.rows import FileRow, SymbolRow
from findling.model.types import Channel, Hit, Query, Span
from findling.search.analysis import QueryTerms, is_compound
from findling.search.body import CALLABLE, LINES, NOTHING, Body, make_body, whole
from findling.search.ranking import formula, ranked_file, sides
from findling.search.ranking.ranked_file import RankedFile
from findling.search.readings import Reading
from findling.search.snippet import Snippet, make_snippet
from findling.store.protocols import Index

MAX_OTHERS = 3
OTHER_SHARE = 0.6
"""A further chunk is worth naming when its value is at least this share of the best one's."""

MAX_PARTS = 6
"""Of a file that is shown at length: its places beside the best one."""

HEAD = 10
"""Lines that are shown of a long type whose first line is a passage of its own: that line alone says its name again."""

OF_HEAD = 0.5
"""What the words before all definitions are worth beside others: names that are imported tell little of a file."""

TEST_MODULES = frozenset(("test", "tests"))
"""What languages call a module that keeps a file's tests beside what they test."""


def hits(
    reader: Index,
    read_lines: Callable[[FileRow], Sequence[str] | None],
    terms: QueryTerms,
    ranked: Sequence[RankedFile],
    proposed: Mapping[Channel, Set[int]],
    query: Query,
    readings: Mapping[int, Mapping[int, Reading]],
) -> list[tuple[Hit, Callable[[], Body]]]:
    """One hit per ranked file, in their order, and what makes its body: few are shown with theirs. ``readings``: entry
    -> what was read of its places."""
    return [
        _hit(reader, read_lines, terms, item, proposed, query, readings.get(item.file.entry_id, {})) for item in ranked
    ]


class Place(NamedTuple):
    """The place of a file that is shown: one of its chunks, or the definition in it that was asked for, or its
    beginning where the file itself was (``is_file``). ``named`` is that definition, else what encloses the chunk;
    ``others`` are further good places, ``parts`` what is worth showing of the file beside it, where no line of it is
    what was asked for."""

    start_line: int
    end_line: int
    chunk: ChunkRow
    definition: SymbolRow | None
    named: SymbolRow | None
    others: tuple[Span, ...]
    parts: tuple[tuple[int, int], ...]
    is_file: bool = False

    @property
    def name(self) -> str:
        """Its own, or the nearest heading; '' for a file."""
        if self.is_file:
            return ""
        return self.named.name if self.named else (self.chunk.headings[-1] if self.chunk.headings else "")

    @property
    def qualified_name(self) -> str:
        if self.is_file:
            return ""
        return self.named.qualified_name if self.named else " > ".join(self.chunk.headings)


_NOTHING_READ: Mapping[int, Reading] = {}


def choose(reader: Index, terms: QueryTerms, item: RankedFile, read: Mapping[int, Reading] = _NOTHING_READ) -> Place:
    """The best place of a ranked file; ``read``: what was read of some of its chunks, by ordinal. Reads no file."""
    chunks = reader.chunks(item.file.blob_id)
    if item.values.get("asked_path") and not item.exact_line:
        first = chunks[0] if chunks else _of_no_chunk(item)
        return Place(1, max(1, min(item.file.lines, LINES)), first, None, None, (), (), is_file=True)
    symbols = reader.symbols(item.file.blob_id)
    values = chunk_values(item, chunks, symbols, tests_wanted="test" in terms.wants)
    if _is_head(item, chunks, symbols) and len(values) > 1:
        values[0] = values.get(0, 0.0) * OF_HEAD
    best = next(iter(_in_order(values, read)), 0)
    chunk = chunks[best] if chunks else _of_no_chunk(item)
    definition = _definition_in(item, chunk)
    start, end = whole(symbols, chunk.start_line, chunk.end_line)
    if definition is not None:
        start, end = whole(symbols, definition.start_line, definition.end_line)
        if end - start >= LINES and definition.kind not in CALLABLE:
            end = min(end, chunk.end_line if chunk.end_line > start else start + HEAD - 1)
    further = [ordinal for ordinal in _in_order(values, read) if not start <= chunks[ordinal].start_line <= end]
    others = _others(values, values.get(best, 0.0), further, chunks, symbols)
    asked = [each.symbol for each in item.definitions if each.fit == 1 and is_compound(each.asked)]
    lines = [(symbol.start_line, symbol.end_line) for symbol in asked if not start <= symbol.name_line <= end]
    if not (item.exact_line or item.asked_line):
        lines += [(chunks[at].start_line, chunks[at].end_line) for at in further]
    beside = tuple(dict.fromkeys(whole(symbols, *each) for each in lines))[:MAX_PARTS]
    named = definition or _enclosing(symbols, chunk)
    return Place(start, end, chunk, definition, named, others, beside)


def _is_head(item: RankedFile, chunks: Sequence[ChunkRow], symbols: Sequence[SymbolRow]) -> bool:
    """Whether a file's first passage stands before all definitions: imports and a licence, but for a docstring."""
    first = min((symbol.start_line for symbol in symbols), default=0)
    is_code = item.file.kind == "code" and item.file.language != "python"
    return is_code and bool(chunks) and chunks[0].end_line < first


def _of_no_chunk(item: RankedFile) -> ChunkRow:
    return ChunkRow(1, max(1, item.file.lines), 0, 0, "fixed", -1, ())


def _hit(
    reader: Index,
    read_lines: Callable[[FileRow], Sequence[str] | None],
    terms: QueryTerms,
    item: RankedFile,
    proposed: Mapping[Channel, Set[int]],
    query: Query,
    read: Mapping[int, Reading],
) -> tuple[Hit, Callable[[], Body]]:
    file = item.file
    place = choose(reader, terms, item, read)
    start, end, named = place.start_line, place.end_line, place.named
    lines = read_lines(file)
    snippet = Snippet(start, "", ())
    body = partial(Body, *NOTHING)
    signature = (named.signature or named.name) if named else ""
    if lines is not None:
        anchor = 1 if place.is_file else None if place.definition is None else place.definition.name_line
        if start <= item.exact_line <= end:
            anchor = item.exact_line
        snippet = make_snippet(lines, start, end, terms.terms.keys(), anchor_line=anchor)
        body = partial(make_body, lines, reader.symbols(file.blob_id), start, end, place.parts, snippet, terms.terms)
    hit = Hit(
        path=file.path,
        start_line=start,
        end_line=end,
        score=formula.exposed(item.rank_value, item.use),
        rank_value=item.rank_value,
        kind=_kind(place, file),
        language=file.language,
        group=sides.group(item),
        translations=item.translations,
        copies=item.copies,
        name=place.name,
        qualified_name=place.qualified_name,
        signature=signature,
        snippet=snippet.text,
        snippet_start_line=snippet.start_line,
        matches=snippet.matches,
        sources=tuple(channel for channel in _CHANNELS if file.entry_id in proposed.get(channel, ())),
        others=place.others,
        reasons=item.reasons if query.explain else (),
    )
    return hit, body


def _kind(place: Place, file: FileRow) -> str:
    if place.is_file:
        return "file"
    return place.named.kind if place.named else "section" if file.kind == "docs" else place.chunk.kind


def text_of(lines: Sequence[str] | None, start: int, end: int, most: int) -> str:
    """The first ``most`` lines of a place, '' without any."""
    return "\n".join(lines[start - 1 : min(end, start - 1 + most)]) if lines is not None else ""


_CHANNELS: tuple[Channel, ...] = ("keyword", "symbol", "exact", "semantic")


def chunk_values(
    item: RankedFile, chunks: Sequence[ChunkRow], symbols: Sequence[SymbolRow], *, tests_wanted: bool
) -> dict[int, float]:
    """What speaks for a file's places, by ordinal; of those that may be worth showing, at least one if it has any."""
    values = {ordinal: value for ordinal, value in item.chunk_values().items() if ordinal < len(chunks)}
    for module in symbols if item.file.kind == "code" else ():
        if module.kind != "module" or module.name not in TEST_MODULES:
            continue
        for test in values:
            if module.start_line <= chunks[test].start_line and chunks[test].end_line <= module.end_line:
                values[test] += ranked_file.TESTS_IN_CHUNK * (1 if tests_wanted else -1)
    if meant := item.exact_line or item.asked_line:
        at = _chunk_at(chunks, meant)
        if at is not None:
            values[at] = values.get(at, 0.0) + ranked_file.EXACT_IN_CHUNK
    for place in values if item.names else ():
        if 0 <= (of := chunks[place].symbol) < len(symbols):
            values[place] += ranked_file.NAME_IN_CHUNK * item.names.get(symbols[of].name, 0.0)
    for definition in item.definitions:
        line = definition.symbol.name_line
        ordinal = _chunk_at(chunks, line)
        if ordinal is not None:
            values[ordinal] = values.get(ordinal, 0.0) + ranked_file.DEFINITION_IN_CHUNK * definition.strength
    return values or ({0: 0.0} if chunks else {})


def _in_order(values: Mapping[int, float], read: Mapping[int, Reading]) -> list[int]:
    """The places of a file, the highest value first; before the others those that were read, with what their text
    tells."""
    wholes = {
        ordinal: values[ordinal] + ranked_file.PHRASE_IN_CHUNK * each.phrase + ranked_file.SAID_IN_CHUNK * each.said
        for ordinal, each in read.items()
        if ordinal in values
    }
    return sorted(values, key=lambda ordinal: (ordinal not in wholes, -wholes.get(ordinal, values[ordinal]), ordinal))


def _chunk_at(chunks: Sequence[ChunkRow], line: int) -> int | None:
    """The first chunk that touches a line."""
    for ordinal, chunk in enumerate(chunks):
        if chunk.start_line <= line <= chunk.end_line:
            return ordinal
    return None


def _definition_in(item: RankedFile, chunk: ChunkRow) -> SymbolRow | None:
    """The definition that was asked for, unless the chunk is shown for a line that it does not hold."""
    meant = item.exact_line if chunk.start_line <= item.exact_line <= chunk.end_line else 0
    for definition in item.definitions:
        symbol = definition.symbol
        if not chunk.start_line <= symbol.name_line <= chunk.end_line:
            continue
        if not meant or symbol.start_line <= meant <= symbol.end_line:
            return symbol
    return None


def _enclosing(symbols: Sequence[SymbolRow], chunk: ChunkRow) -> SymbolRow | None:
    """The symbol that a chunk is part of, or the first one that begins in it."""
    if 0 <= chunk.symbol < len(symbols):
        return symbols[chunk.symbol]
    begins = next((symbol for symbol in symbols if symbol.start_line >= chunk.start_line), None)
    return begins if begins is not None and begins.start_line <= chunk.end_line else None


def _others(
    values: Mapping[int, float],
    best: float,
    further: Sequence[int],
    chunks: Sequence[ChunkRow],
    symbols: Sequence[SymbolRow],
) -> tuple[Span, ...]:
    least = best * OTHER_SHARE
    good = sorted(
        (ordinal for ordinal in further if values[ordinal] >= least and values[ordinal] > 0),
        key=lambda ordinal: (-values[ordinal], ordinal),
    )
    spans: dict[Span, None] = {}
    for ordinal in good:
        chunk = chunks[ordinal]
        named = _enclosing(symbols, chunk)
        start, end = whole(symbols, chunk.start_line, chunk.end_line)
        spans[Span(start, end, named.qualified_name if named else " > ".join(chunk.headings[-1:]))] = None
    return tuple(spans)[:MAX_OTHERS]
