"""Answers from the index as it is, once it was made fresh.

What must not be called absent is looked for in the files that the index lacks, too. Must not write, and not decide when
to.
"""

from __future__ import annotations

import re
import time
from collections import Counter
from collections.abc import Collection, Container, Iterator, Mapping, Sequence
from functools import cached_property
from typing import TYPE_CHECKING

from msgspec.structs import replace

from findling import reading, search, sources
from findling.engine import parts
from findling.engine import scope as scopes
from findling.engine.freshness import Freshened
from findling.engine.refs import RefStore
from findling.engine.scope import no_file_fits
from findling.engine.searched import OpenCollection, Searched, coverage_of_names, not_searched
from findling.engine.state import coverage, joined_coverage
from findling.model import errors, types
from findling.model.format_names import format_of
from findling.model.plurals import count
from findling.model.text_encodings import as_utf8
from findling.model.types import (
    Answer,
    Confidence,
    EmbedderProblem,
    Meaning,
    Mode,
    Query,
    SearchResult,
    Skip,
    SkippedFile,
)
from findling.outbound.files import NotRead
from findling.search import siblings
from findling.search.graph.file_names import VALUES
from findling.search.query import WITHOUT_VECTORS
from findling.search.ranking.priors import path_flags

if TYPE_CHECKING:
    from findling.engine.questions import Target
    from findling.search.searcher import Found, Searcher
    from findling.sources import selection
    from findling.store.protocols import Index

_FAILURES: Mapping[str, Skip] = {"timeout": "slow", "unreachable": "down"}
"""The reason that an answer gives when the embedder fails, by the reason of the failure."""


MOST_CALLERS = 10
"""Callers that are listed of a definition that was asked for by name."""

NOT_RELATED = "Of a shared store an answer does not show what calls its places; ask for one by its name to see it."

WHOLE_TYPE = 120
"""Lines of a type that is shown whole, so that what is asked for of it need not be shown again."""

RELATED_PART, RELATED_CHARS = 4, 1_600
"""What belongs to the definitions of a name takes so many characters at most, and this part of the room for texts; of
several names together."""

WITH_DECLARATIONS = ("c", "cpp", "typescript", "tsx")
"""Languages that may declare a function apart from its body."""

_COMMENT = re.compile(r"//[^\n]*|/\*.*?\*/", re.DOTALL)

SHOWN_OF_A_NAME, MANY_OF_A_NAME = 6, 12
"""Definitions of one name that are shown with their text; from so many on each has a line, and none its text."""

SORTED_USES = 10_000
"""Uses of a name that are put in order before the first ones are answered: pages of them then fit together."""


class Answers:
    """Answers from one collection or several."""

    def __init__(self, searched: Searched) -> None:
        self.searched = searched
        self._searcher: Searcher | None = None
        self._resolver: tuple[str, Index, search.Resolver] | None = None

    def ask(self, query: Query, fresh: Freshened, target: Target | None = None) -> Answer:
        """The answer to a validated query; with `Query.like` what is like ``target``."""
        begun = time.monotonic()
        with self.searched.answer():
            if target is None:
                unread = self._unread(fresh)
                found = self._open_searcher().search(query, unread=unread, scope_path=self.searched.folder)
            else:
                found = self._like(query, target)
            no_file = ""
            if not found.hits:
                with self.searched.index.snapshot():
                    no_file = no_file_fits(self.searched, query)
            meaning = self._meaning(query, found)
            confidence = search.judge(found)
            result = self._result(
                query, found, confidence, fresh, meaning, relate=query.bodies == "auto" and not query.like
            )
        if no_file:
            result = replace(result, notes=(*result.notes, no_file))
        return Answer(
            query=query,
            result=result,
            grounds=found.grounds[: len(result.hits)],
            second=(found.hits[1], found.grounds[1]) if len(found.hits) > 1 else found.second,
            intent_confidence=found.intent.confidence,
            intent_hint=found.intent.hint,
            ran=found.ran,
            meaning=meaning,
            confidence=confidence,
            text_confidence=found.text_confidence,
            no_file=no_file,
            timings_ms={"freshness": (begun - fresh.started) * 1000, "search": (time.monotonic() - begun) * 1000},
            generation=self.searched.generation,
        )

    def _unread(self, fresh: Freshened) -> UnreadOfAll:
        return UnreadOfAll([UnreadFiles(each, fresh) for each in self.searched.collections])

    def _meaning(self, query: Query, found: Found) -> Meaning:
        """What became of the semantic side of a question."""
        if query.mode in WITHOUT_VECTORS:
            return Meaning()
        problem, opened = self.searched.problem, self.searched.opened
        lacks = "not searched" if query.mode == "semantic" else "searched by words, not by meaning"
        skip = found.skip
        if found.failed is not None:
            skip = _FAILURES.get(found.failed.reason, "failed")
        elif problem is not None and skip in ("no_vectors", "nothing"):
            skip = problem.kind
        return Meaning(
            ran="semantic" in found.ran,
            by_words=tuple(f"{name}: {lacks}: {why}." for name, why in self.searched.without_meaning().items()),
            skipped=skip,
            ratio=found.ratio,
            problem=problem,
            model_version=opened.version if opened else None,
            note=_note_of(problem, query.mode),
            failure=found.failed.message if found.failed is not None else "",
        )

    def _like(self, query: Query, target: Target) -> Found:
        """The places that are like a target. Raises `NotFound`, and `EmbedderUnavailable` where nothing can be
        compared."""
        index, line = self.searched.index, target.line
        with index.snapshot():
            file = next(filter(None, map(index.file_at, target.meant)), None)
            if file is None:
                file, line = next(filter(None, map(index.file_at, target.named)), None), None
        if file is None:
            raise self._not_indexed(query.text, target.meant)
        found = self._open_searcher().similar(file, line=line, query=query)
        semantics = self.searched.stores[self.searched.owner(file)[0]].semantics
        if not found.hits and semantics.problem:
            semantics.required()
        return found

    def _not_indexed(self, target: str, meant: Sequence[str]) -> errors.NotFound:
        """The error for a file that no collection has, with what to do in the one that its path leads to."""
        every = self.searched.collections
        leads = (each for path in meant for each in every if path.startswith(each.path("")))
        store = next(leads, every[0]).store
        with store.index.snapshot():
            manifest = store.index.manifest
        yet, remedy = "", "Name an indexed file; `findling status --skipped` says why one may be left out."
        if nothing := scopes.nothing_here(store, manifest.files if manifest else 0):
            remedy = nothing[0]
        elif manifest is None or not manifest.complete:
            yet, remedy = " yet", "Run 'findling index' to finish it."
        return errors.NotFound(f"{target} is not in the index of {store.root}{yet}.", remedy=remedy)

    def _result(
        self,
        query: Query,
        found: Found,
        confidence: Confidence,
        fresh: Freshened,
        meaning: Meaning,
        *,
        relate: bool = False,
    ) -> SearchResult:
        """``relate``: with what belongs to the places that are shown in full; their files are still open then."""
        notes = [
            *query.notes,
            *self.searched.take_notes(),
            *([meaning.note] if meaning.note else ()),
            *meaning.by_words,
            *found.notes,
        ]
        every = [coverage(store) for store in self.searched.stores]
        far = any(store.shared for store in self.searched.stores)  # what belongs to a place takes more round trips
        if far and relate and found.hits and found.hits[0].group == "code":
            notes.append(NOT_RELATED)
        notes += not_searched(self.searched, every)
        index = self.searched.index
        with index.snapshot():
            return search.make_result(
                query,
                found,
                confidence,
                joined_coverage(every, self.searched.roots),
                *self.searched.freshness(fresh),
                notes,
                fresh.started,
                self.searched.stale,
                self._relating(index) if relate and found.hits and not far else None,
            )

    def _relating(self, index: Index, **more: int) -> search.Relating:
        """What finds what belongs to places. What names mean is kept until something is indexed."""
        generation, known = self.searched.generation, self._resolver
        shared = any(store.shared for store in self.searched.stores)  # others may be allowed more
        if known is None or known[:2] != (generation, index) or known[2].is_full or shared:
            known = self._resolver = (generation, index, search.Resolver(index, self.searched.lines))
        return search.Relating(index, self.searched.lines, resolver=known[2], **more)

    def file_symbols(self, path: str) -> search.FileSymbols | None:
        """The definitions of a file of one collection; None when it is not in the index."""
        (store,) = self.searched.stores
        if not store.searchable:
            return None
        store.close_if_replaced()
        index = store.index
        with index.snapshot():
            file = index.file_at(path)
            if file is None:
                return None
            return search.FileSymbols(file.path, file.language, tuple(index.symbols(file.blob_id)))

    def symbols(
        self,
        name: str,
        fresh: Freshened,
        *,
        references: bool,
        kind: str | None,
        language: str | None,
        limit: int,
        offset: int = 0,
        as_lines: bool = False,
    ) -> types.SymbolResult:
        """Definitions of a name, and its uses, as for `Questions.symbols`. ``language`` is an id. ``as_lines``: as
        for `search.definitions`."""
        reader, unread = self.searched.index, self._unread(fresh)
        with reader.snapshot():
            definitions = search.definitions(
                reader,
                name,
                kind=kind,
                language=language,
                folder=self.searched.folder,
                limit=offset + limit,
                as_lines=as_lines,
            )
            found = definitions.found[offset:]
            end = max(0, offset - definitions.total) + limit  # of the uses that are given
            uses = search.References((), 0)
            if references:
                source = self.searched.every_file()
                with_uses = frozenset((*reading.syntax.supported_languages(), reading.syntax.NOTEBOOK))
                most = max(end, SORTED_USES)
                uses = search.references(
                    source, name, reading.syntax.references, languages=with_uses, language=language, limit=most
                )
            absent: tuple[types.Absent, ...] = ()
            no_file = ""
            if not definitions.total and not uses.total and not definitions.note:
                absent = self._absent_name(name, language, unread)
                no_file = no_file_fits(self.searched, Query(name, language=language))
            every = [coverage_of_names(each) for each in self.searched.collections]
            covered = joined_coverage(every, self.searched.roots)
            if uses.unread:  # files that could not be read when they were asked for the name
                skipped = Counter(covered.skipped) + Counter({"unreadable": len(uses.unread)})
                covered = replace(covered, skipped=dict(skipped.most_common()))
        other_uses: tuple[str, ...] = ()
        if uses.found and definitions.found and not definitions.unqualified:
            uses, other_uses = self._meant(definitions.found[0], name, uses, fresh, language)
        notes = (*self.searched.take_notes(), *not_searched(self.searched, every))
        if definitions.unqualified:
            notes += (f"No {name!r} is defined under just this name; found {definitions.unqualified!r}.",)
        total = definitions.total
        if definitions.cut:
            notes += (f"Only the first {total:,} definitions of names like {name!r} were looked at; there are more.",)
        notes += (*other_uses, *uses.notes, *filter(None, (definitions.note, no_file)))
        freshness, stale_reason = self.searched.freshness(fresh)
        return types.SymbolResult(
            name=name,
            definitions=tuple(found),
            references=tuple(sorted(uses.found, key=lambda use: (use.path, use.line))[end - limit : end]),
            total_definitions=total,
            total_references=uses.total,
            truncated=definitions.cut or total > offset + len(found) or uses.total > end or uses.cut,
            freshness=freshness,
            completeness="partial" if covered.is_partial else "complete",
            coverage=covered,
            took_ms=(time.monotonic() - fresh.started) * 1000,
            notes=notes,
            stale_reason=stale_reason,
            absent=absent,
            generation=self.searched.generation,
        )

    def _meant(
        self, first: types.SymbolHit, name: str, uses: search.References, fresh: Freshened, language: str | None
    ) -> tuple[search.References, tuple[str, ...]]:
        """Of the uses of a word those that can mean its ``first`` definition and its equals, with their grades, where
        the name says more than that word; and a note on the others. All uses where not all could be graded. Nothing
        follows assignments, so these are kept without a grade where the definition is a field or a constant, as is what
        stands in its own class."""
        if first.match != "exact" or name == first.name:
            return uses, ()
        found = parts.edges.meant_by(self.searched, name, fresh, language=language)
        if found is None:
            return uses, ()
        meant, is_all = found
        graded = [(use, meant.get((use.path, use.line))) for use in uses.found]
        if not is_all or uses.total > len(uses.found):
            every = (use if edge is None else replace(use, grade=edge.grade, why=edge.why) for use, edge in graded)
            said = f"Too many uses of {first.name!r} to grade them all: those without a grade may mean {name!r} or not."
            return replace(uses, found=tuple(every)), (said,)
        own = f"{first.qualified_name.rpartition('.')[0]}."
        kept = tuple(
            replace(use, grade=edge.grade, why=edge.why) if edge is not None else use
            for use, edge in graded
            if edge is not None or (first.kind in VALUES and (use.writes or use.enclosing.startswith(own)))
        )
        more = uses.total - len(kept)
        bare = first.name
        said = f"{count(more, 'use')} of {bare!r} left out: not known to mean {name!r}. Ask for {bare!r} to see all."
        return replace(uses, found=kept, total=len(kept)), (said,) if more else ()

    def with_bodies(self, results: Sequence[types.SymbolResult], most: int) -> list[types.SymbolResult]:
        """The same answers; the first exact definitions of each name get their text and what belongs to them. All are
        whole where ``most`` characters hold them, else the short ones are and the others get equal shares."""
        index = self.searched.index
        bodies: dict[tuple[str, int], search.Body] = {}
        with index.snapshot(), self.searched.answer():
            relating = self._relating(index, most_callers=MOST_CALLERS)
            aside = frozenset(hit for result in results for hit in self._aside(result.definitions))
            chosen = [hit for result in results for hit in _to_show(result.definitions, aside)]
            for result in results:
                for hit in _to_show(result.definitions, aside):
                    if any(_holds(other, hit) and other.end_line - other.start_line < WHOLE_TYPE for other in chosen):
                        continue
                    file = index.file_at(hit.path)
                    lines = self.searched.lines(file) if file else None
                    if file and lines:
                        bodies[hit.path, hit.line] = search.definition_body(lines, index.symbols(file.blob_id), hit)
            related_chars = min(most // RELATED_PART, RELATED_CHARS) // max(1, len(results))
            texts = dict(zip(bodies, _texts(list(bodies.values()), most), strict=True))

            index.bring(*(lambda _, hit=hit: relating.of_hit(hit, related_chars) for hit in chosen))
            shown = {(path, number) for (path, _), text in texts.items() for number, _ in search.lines_of(text)}

            def told(hit: types.SymbolHit) -> types.SymbolHit:
                text = texts.get((hit.path, hit.line), "")
                is_definition = text and hit.kind != types.LINES_KIND
                related = search.but_for(relating.of_hit(hit, related_chars), shown) if is_definition else hit.related
                return replace(hit, body=text, related=related)

            return [
                replace(result, definitions=tuple(map(told, sorted(result.definitions, key=aside.__contains__))))
                for result in results
            ]

    def _aside(self, definitions: Sequence[types.SymbolHit]) -> Iterator[types.SymbolHit]:
        """Of the exact definitions of a name those that stand below the others, without text: functions without a body
        where another of the same name has one, and old or vendored copies where there is a current one."""
        exact = [hit for hit in definitions if hit.match == "exact" and hit.kind != types.LINES_KIND]
        if len(exact) < 2:
            return
        index = self.searched.index
        bare = {
            hit
            for hit in exact
            if hit.language in WITH_DECLARATIONS
            and (file := index.file_at(hit.path)) is not None
            and _is_bare(hit, self.searched.lines(file) or ())
        }
        with_body = {hit.qualified_name for hit in exact if hit not in bare}
        current = [hit for hit in exact if not _is_old(hit.path) and "test" not in path_flags(hit.path)]
        known = {(hit.qualified_name, hit.path.rpartition("/")[2]) for hit in current}
        names = {hit.qualified_name for hit in current}
        for hit in exact:
            is_copy = siblings.is_copy(hit.path) and (hit.qualified_name, hit.path.rpartition("/")[2]) in known
            is_old = "legacy" in path_flags(hit.path) and hit.qualified_name in names
            if is_copy or is_old or (hit in bare and hit.qualified_name in with_body):
                yield hit

    def absent(self, text: str, fresh: Freshened) -> tuple[types.Absent, ...]:
        """The names, paths and texts in a question that occur in no file, neither code nor documents. Empty where that
        is not known."""
        if not all(store.searchable for store in self.searched.stores):
            return ()
        with self.searched.part():
            return self._open_searcher().absent(text, unread=self._unread(fresh), scope_path=self.searched.folder)

    def absent_name(self, name: str, language: str | None, fresh: Freshened) -> tuple[types.Absent, ...]:
        """Says that a name occurs in no file; nothing where it does, or where nobody can tell."""
        unread = self._unread(fresh)
        with self.searched.index.snapshot():
            return self._absent_name(name, language, unread)

    def _absent_name(self, name: str, language: str | None, unread: UnreadOfAll) -> tuple[types.Absent, ...]:
        searched = self.searched
        with searched.answer():
            scope = search.resolve(searched.index, Query(name, language=language), searched.folder)
            return search.Absence(searched.index, searched.lines, searched.files, unread, scope).of_name(name)

    def _open_searcher(self) -> search.Searcher:
        index = self.searched.index
        if self._searcher is None or self._searcher.index is not index:
            self._searcher = search.Searcher(
                index,
                self.searched.lines,
                semantic=self.searched.channel,
                exact_files=self.searched.files,
            )
        return self._searcher


def _to_show(definitions: Sequence[types.SymbolHit], aside: Container[types.SymbolHit] = ()) -> list[types.SymbolHit]:
    """The definitions that are shown with their text: exact ones or the only one, none that stands in another or
    ``aside``, and tests only where there is nothing else; none where they are too many to be what was meant."""
    exact = [hit for hit in definitions if (hit.match == "exact" or len(definitions) == 1) and hit not in aside]
    chosen = [hit for hit in exact if "test" not in path_flags(hit.path)] or exact
    outer = [hit for hit in chosen if not any(_holds(other, hit) for other in chosen)]
    return [] if len(outer) > MANY_OF_A_NAME else outer[:SHOWN_OF_A_NAME]


def _is_old(path: str) -> bool:
    return siblings.is_copy(path) or "legacy" in path_flags(path)


def _is_bare(hit: types.SymbolHit, lines: Sequence[str]) -> bool:
    """Whether a function is declared without a body, in a language that has its body elsewhere."""
    if hit.kind not in ("fn", "method"):
        return False
    text = _COMMENT.sub("", "\n".join(lines[hit.line - 1 : hit.end_line]))
    behind = re.search(rf"\b{re.escape(hit.name)}\s*[(<]([^;{{]*?)(=>|[;{{])", text)
    return behind is not None and behind[2] == ";"


def _holds(outer: types.SymbolHit, inner: types.SymbolHit) -> bool:
    inside = outer.start_line <= inner.start_line and inner.end_line <= outer.end_line
    return inside and outer.path == inner.path and outer.line != inner.line


def _texts(bodies: Sequence[search.Body], most: int) -> list[str]:
    """The text of each, of ``most`` characters in all: what the short ones leave is for the long ones."""
    texts = [body.text(len(body.worth), most) for body in bodies]
    for turn, place in enumerate(sorted(range(len(texts)), key=lambda place: len(texts[place]))):
        share = most // (len(texts) - turn)
        if len(texts[place]) > share:
            texts[place] = bodies[place].text(len(bodies[place].worth), share)
        most -= len(texts[place])
    return texts


def _note_of(problem: EmbedderProblem | None, mode: Mode) -> str:
    """The note on a problem with the embedder, '' for none."""
    if problem is None:
        return ""
    said = f"{problem.message} Run 'findling embed'." if problem.kind == "mismatch" else problem.message
    return said if mode == "semantic" else f"{said} Only text and names were searched."


_PRESENT = frozenset(("not_found", "outside_root", "no_files"))
"""Reasons that mean: there is no such file."""


# --- what the index lacks -------------------------------------------------------------------------------------------


class UnreadFiles:
    """The files that the index of one collection lacks, for one question, within the index's snapshot. A question that
    is not to look at the disk takes a whole index as it is."""

    def __init__(self, collection: OpenCollection, fresh: Freshened) -> None:
        self.collection = collection
        self._store = collection.store
        self._fresh = fresh
        self._may_list = fresh.wait_s != 0

    @cached_property
    def _paths(self) -> list[str] | None:
        """New and changed files; None where nobody can tell."""
        store, first = self._store, self._store.first_answer
        if store.shared is not None:  # what was published is all there is
            return []
        if first is None and (self._fresh.freshness == "fresh" or not self._may_list):
            manifest = store.index.manifest
            if manifest is not None and manifest.complete and not manifest.pending:
                return []
        if not self._may_list or (first is not None and first.cut):
            return None
        listed: Sequence[selection.Found]
        try:
            if first is not None and first.of_all:
                listed = first.found
            elif isinstance(store, RefStore):
                listed = sources.list_tree(store.root, store.ref.commit_id, store.configuration.wanted).files
            else:
                listed = sources.discovery.discover(store.root, store.configuration.wanted).files
        except errors.RefNotIndexed:
            return None
        known = self._known
        return [path for path, size, stamp in listed if known.get(path) != (size, stamp)]

    @cached_property
    def _known(self) -> Mapping[str, tuple[int, int]]:
        """(size, `files.stamp_of`) of each file in the index on disk, by path."""
        return self._store.reader.listed.known_files() if self._store.exists else {}

    def files(self) -> int | None:
        """How many files the index lacks and does not count; None where nobody can tell."""
        if self._paths is None:
            return None
        counted = self._store.first_answer is not None  # it has gone through all of them
        return 0 if counted else sum(path not in self._known for path in self._paths)

    def paths(self) -> Collection[str]:
        return self._paths or ()

    def hold(self, pattern: re.Pattern[bytes], until: float) -> bool | None:
        """Whether one of them has a text; None where nobody can tell, or not until then (monotonic seconds)."""
        if self._paths is None:
            return None
        most = self._store.configuration.wanted.max_bytes

        def occurs(text: bytes) -> bool:
            return pattern.search(text) is not None

        with self._store.new_files() as files:
            for path in self._paths:
                if time.monotonic() > until or format_of(path):
                    return None  # a document's text is not known before it is converted
                read = files.read(path, most)
                if not isinstance(read, NotRead) and pattern.search(as_utf8(read[1], of_use=occurs)):
                    return True
        return False

    def left_out(self, path: str) -> SkippedFile | None:
        """Why a file that exists is not searched; None for any other path."""
        end = f"/{path.lstrip('/')}"
        for known, reason, detail in self._store.reader.listed.skipped() if self._store.exists else ():
            if f"/{known.rstrip('/')}".endswith(end):
                return SkippedFile(known, reason, detail)
        if self._store.lasting or not self._may_list or path.startswith("/"):
            return None
        looked = sources.look_at(self._store.root, [path], None, self._store.configuration.wanted)
        return next((file for file in looked.skipped or () if file.reason not in _PRESENT), None)


class UnreadOfAll:
    """As `UnreadFiles`, for several collections, whose names stand before their paths."""

    def __init__(self, every: Sequence[UnreadFiles]) -> None:
        self._every = every

    def files(self) -> int | None:
        every = [unread.files() for unread in self._every]
        known = [number for number in every if number is not None]
        return sum(known) if len(known) == len(every) else None

    def paths(self) -> Collection[str]:
        return [unread.collection.path(path) for unread in self._every for path in unread.paths()]

    def hold(self, pattern: re.Pattern[bytes], until: float) -> bool | None:
        every = [unread.hold(pattern, until) for unread in self._every]
        return True if any(every) else None if None in every else False

    def left_out(self, path: str) -> SkippedFile | None:
        for unread in self._every:
            each = unread.collection
            if (found := unread.left_out(each.inner(path))) is not None:
                return replace(found, path=each.path(found.path))
        return None
