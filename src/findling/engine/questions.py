"""The questions that can be asked of one folder or of several.

Each question goes the same way: first the index of each folder is brought up to date, then all of them answer as one.
"""

from __future__ import annotations

import os
from abc import ABC, abstractmethod
from collections.abc import Callable, Sequence
from typing import TYPE_CHECKING, Any, Final, NamedTuple, TypedDict, TypeVar, Unpack, cast

from msgspec.structs import replace

from findling import search
from findling.engine import parts
from findling.engine.freshness import Freshened, Question
from findling.engine.scope import language_id, may_be_asked
from findling.model import errors, types
from findling.model.languages import language_of
from findling.model.types import (
    Answer,
    Coverage,
    EdgeResult,
    Freshness,
    MapResult,
    Mode,
    OnProgress,
    Query,
    SearchResult,
    SymbolResult,
    TraceResult,
)
from findling.search.scope import lies_in

if TYPE_CHECKING:
    from findling.engine.answers import Answers
    from findling.engine.edges import Direction
    from findling.model.typed_paths import StrPath
    from findling.search.documents import DocumentAnswer, DocumentQuery


MOST_STEPS: Final = 10
"""The most steps along callers that an impact can be asked for."""

_Answer = TypeVar("_Answer")


class Target(NamedTuple):
    """A file, or a ``line`` of it, at the first known of the paths ``meant``. Where none is known, it may have a name
    that only looks as if a line followed, and be at one of those ``named``."""

    meant: Sequence[str]
    line: int | None
    named: Sequence[str] = ()


class Waiting(TypedDict, total=False):
    """What every question can be given. ``ref``: a branch, tag or commit to search instead of the folder on disk.
    ``wait_s`` (1.5 unless given) bounds the indexing before the answer: 0 answers from what is there, None waits for
    all. ``progress`` is told how far indexing is, and may raise `errors.Cancelled`."""

    ref: str | None
    wait_s: float | None
    progress: OnProgress | None


class SymbolOptions(Waiting, total=False):
    """What `Questions.symbols` can be asked besides a name."""

    references: bool
    kind: str | None
    language: str | None
    limit: int
    offset: int
    body_chars: int


class EdgeOptions(Waiting, total=False):
    """What `Questions.callers`, `Questions.callees` and `Questions.impact` can be asked besides a name."""

    tests: bool
    language: str | None
    limit: int


class Questions(ABC):
    """`engine.Engine` asks one folder, `engines.Engines` several."""

    @property
    def scope(self) -> str:
        """The folder that is searched, from the root, '' for all."""
        return ""

    @abstractmethod
    def at(self, ref: str | None) -> Questions:
        """What a branch, tag or commit holds. Raises `RefNotIndexed`."""

    @abstractmethod
    def paths_meant(self, path: str) -> list[str]:
        """The paths, as answers have them, that a path typed by the user may mean."""

    @abstractmethod
    def never_indexed(self) -> Coverage:
        """The coverage of an answer while nothing is indexed yet."""

    @abstractmethod
    def freshen(self, asked: Question) -> tuple[Freshness, str]:
        """As `refresh`, for a question of any kind."""

    @abstractmethod
    def answered(self, asked: Question, answer: Callable[[Answers, Freshened], _Answer]) -> _Answer:
        """What ``answer`` makes of the index, after it was brought up to date as far as the question has time."""

    def _asked(
        self,
        asked: Question,
        answer: Callable[[Answers, Freshened], _Answer],
        *,
        ref: str | None = None,
        **waiting: Any,
    ) -> _Answer:
        searched = self if ref is None else self.at(ref)
        return searched.answered(replace(asked, **waiting), answer)

    def refresh(self, **asked: Any) -> tuple[Freshness, str]:
        """Bring the index up to date as a question does first, within its time: how fresh the index is then, and why
        not fresher. ``asked``: the fields of a `freshness.Question`."""
        return self.freshen(Question(**asked))

    def ask(self, query: Query, *, ref: str | None = None, progress: OnProgress | None = None) -> Answer:
        """All that is known of what a query asks: the places that answer it and what speaks for each, what was asked by
        meaning and why not, how sure and how fresh the answer is. Every other way of searching is a form of this.

        ``ref``: as for `search`. Raises `InvalidInput` and the index's errors; with `Query.like` also `NotFound` for a
        file that is not indexed, and `EmbedderUnavailable` where nothing can be compared.
        """
        query = search.validate(query)
        query = replace(query, mode="semantic") if query.like else search.taken_from_text(query)
        if query.language is not None:
            query = replace(query, language=language_id(query.language))
        target: Target | None = None
        if query.like:
            path, line = search.split_target(query.text)
            target = Target(self.paths_meant(path), line, self.paths_meant(query.text) if line is not None else ())
            asked = Question(files=[*target.meant, *target.named], line=line, look_at_all=query.look_at_all)
        else:
            asked = Question(
                query.text,
                embed=search.needs_vectors(query),
                look_at_all=query.look_at_all,
                within=may_be_asked(self.scope, path_globs=query.path_globs, language=query.language, kind=query.kind),
                to_the_letter=query.mode == "exact",
            )
        return self._asked(
            asked,
            lambda answers, fresh: answers.ask(query, fresh, target),
            ref=ref,
            wait_s=query.wait_s,
            progress=progress,
        )

    def search(
        self,
        text: str,
        *,
        limit: int = 10,
        offset: int = 0,
        mode: str = "auto",
        language: str | None = None,
        path_globs: Sequence[str] = (),
        kind: str | None = None,
        max_tokens: int | None = None,
        explain: bool = False,
        ref: str | None = None,
        wait_s: float | None = 1.5,
        look_at_all: bool = False,
        progress: OnProgress | None = None,
    ) -> SearchResult:
        """The places that answer ``text``, best first, without the first ``offset``. Raises `InvalidInput` and the
        index's errors.

        Of a text of more than 100,000 characters the beginning is searched for, which a note says.

        ``wait_s`` bounds the indexing that may go before: 0 answers at once from what is there (without an index it
        raises `IndexNotReady`), None waits for all.
        ``look_at_all``: all files are looked at before, however many there are.
        ``ref``: a branch, tag or commit to search instead of the folder on disk (see `at`), as in every question.
        """
        query = types.Query(
            text,
            limit,
            cast("Mode", mode),
            language,
            tuple(path_globs),
            cast("Any", kind),
            max_tokens,
            explain,
            wait_s,
            look_at_all,
            offset=offset,
        )
        return self.ask(query, ref=ref, progress=progress).result

    def similar(
        self,
        target: StrPath,
        *,
        limit: int = 10,
        explain: bool = False,
        ref: str | None = None,
        wait_s: float | None = 1.5,
        progress: OnProgress | None = None,
    ) -> SearchResult:
        """What is like a file, or like the place at ``FILE:LINE``. Raises `NotFound` when it is not indexed."""
        query = Query(os.fspath(target), limit, explain=explain, wait_s=wait_s, like=True)
        return self.ask(query, ref=ref, progress=progress).result

    def symbols(self, name: str, **options: Unpack[SymbolOptions]) -> SymbolResult:
        """Definitions of a name; where there is none, of those that begin with it, then of those that contain it.

        With ``references`` also its uses in code. The definitions, then the uses, are one list, whose first ``offset``
        entries are left out; of each kind at most ``limit`` are given. ``body_chars``: exact definitions come with
        their text, with line numbers, up to so many characters; then ``FILE:12-30`` can be asked for as well and means
        these lines. Raises `InvalidInput`.
        """
        (found,) = self.symbols_of([name], **options)
        return found

    def symbols_of(
        self,
        names: Sequence[str],
        *,
        references: bool = False,
        kind: str | None = None,
        language: str | None = None,
        limit: int = 50,
        offset: int = 0,
        body_chars: int = 0,
        **waiting: Unpack[Waiting],
    ) -> list[SymbolResult]:
        """As `symbols`, of several names, with one look at the disk; ``body_chars`` bounds the texts of all."""
        if offset < 0:
            raise errors.InvalidInput(f"offset must be 0 or more, not {offset}.")
        wanted = {
            "references": references,
            "kind": kind,
            "language": language_id(language),
            "limit": limit,
            "offset": offset,
            "as_lines": bool(body_chars) and kind is None,
        }

        def answer(answers: Answers, fresh: Freshened) -> list[SymbolResult]:
            found = [answers.symbols(name, fresh, **cast("Any", wanted)) for name in names]
            return answers.with_bodies(found, body_chars) if body_chars else found

        asked = _by_names(" ".join(names), may_be_asked(self.scope, language=language))
        return self._asked(asked, answer, **waiting)

    def ask_documents(self, query: DocumentQuery, **waiting: Unpack[Waiting]) -> DocumentAnswer:
        """What documents answer to a query, how fresh the index is, and what of the query occurs in no file."""

        def within(path: str) -> bool:
            own = language_of(path).kind == "docs" and query.scope.allows_path(path) and lies_in(path, self.scope)
            return query.code_too or own

        def answer(answers: Answers, fresh: Freshened) -> DocumentAnswer:
            # First: `without_meaning` tells later of the channel opened last, which must be that of the documents.
            absent = answers.absent(query.text, fresh) if query.text else ()
            return replace(parts.documents.ask(answers.searched, query, fresh), absent=absent)

        asked = Question(query.text, embed=query.by_meaning, within=within, files=query.files, line=query.line)
        found = self._asked(asked, answer, **waiting)
        return replace(found, pending=self.never_indexed().pending_files) if found.found is None else found

    def callers(self, name: str, **options: Unpack[EdgeOptions]) -> EdgeResult:
        """Where a definition is used: calls, types, bases, decorators and reads of it, each with how sure it is that
        this definition is meant. ``tests``: uses in tests are listed as well as counted. Raises `InvalidInput`."""
        return self._edges("callers", name, **options)

    def callees(self, name: str, **options: Unpack[EdgeOptions]) -> EdgeResult:
        """What a definition uses of the project; as `callers`."""
        return self._edges("callees", name, **options)

    def impact(
        self, name: str = "", *, since: str | None = None, steps: int = 3, **options: Unpack[EdgeOptions]
    ) -> EdgeResult:
        """What a change of a definition can reach: its callers, theirs, and so on for 1 to 10 ``steps``, the nearest
        first; the tests that reach it, and documents that mention it. Uses that are only possible, and tests, are not
        followed further. With ``since`` (a branch, tag or commit) instead of a name: of all definitions whose lines on
        disk differ from it. Raises `InvalidInput`, and `RefNotIndexed` for what is no commit."""
        if not 1 <= steps <= MOST_STEPS:
            raise errors.InvalidInput(f"steps must be between 1 and {MOST_STEPS}, not {steps}.")
        if bool(name) == (since is not None):
            raise errors.InvalidInput("Either a name or a commit to compare with is needed, not both.")
        return self._edges("callers", name, steps=steps, since=since, **options)

    def trace(self, origin: str, goal: str, *, language: str | None = None, **waiting: Unpack[Waiting]) -> TraceResult:
        """The shortest known way of calls from one definition to another, each call with how sure it is. Raises
        `InvalidInput`."""
        known = language_id(language)

        def answer(answers: Answers, fresh: Freshened) -> TraceResult:
            return parts.edges.trace(answers.searched, origin, goal, fresh, language=known)

        return self._asked(_by_names(f"{origin} {goal}", may_be_asked("", language=language)), answer, **waiting)

    def map(self, folder: str = "", *, max_tokens: int = 1_000, **waiting: Unpack[Waiting]) -> MapResult:
        """What a project, or a ``folder`` of it, is made of: its parts, entry points and central definitions, in about
        so many tokens. Raises `InvalidInput`."""
        if max_tokens < 1:
            raise errors.InvalidInput(f"max_tokens must be at least 1, not {max_tokens}.")

        def answer(answers: Answers, fresh: Freshened) -> MapResult:
            return parts.edges.project(answers.searched, folder, max_tokens, fresh)

        return self._asked(_by_names("main", may_be_asked("")), answer, **waiting)

    def _edges(
        self,
        direction: Direction,
        name: str,
        *,
        tests: bool = False,
        language: str | None = None,
        limit: int = 50,
        steps: int = 0,
        since: str | None = None,
        **waiting: Unpack[Waiting],
    ) -> EdgeResult:
        known = language_id(language)

        def answer(answers: Answers, fresh: Freshened) -> EdgeResult:
            searched, how = answers.searched, {"language": known, "tests": tests, "limit": limit, "steps": steps}
            if since is not None:
                return parts.edges.impact_of_changes(searched, since, fresh, **cast("Any", how))
            found = parts.edges.edges(searched, direction, name, fresh, **cast("Any", how))
            return found if found.definitions else replace(found, absent=answers.absent_name(name, known, fresh))

        return self._asked(_by_names(name, may_be_asked("", language=language)), answer, **waiting)


def _by_names(text: str, within: Callable[[str], bool]) -> Question:
    """A question that is answered from names, without vectors."""
    return Question(text, embed=False, text_only=True, within=within)
