"""Files of judged queries and of answers, line by line, checked. Asks nothing and scores nothing.

Two forms of query file, told apart by their keys:

* *files* (``query_id``, ``category``, ``language``): a target is a file, or a file and a range of lines.
* *spans* (``id``, ``set``, ``kind``): a target is a range of lines. The set ``no_answer`` has none.

In a run each line has ``results`` and names its query, as ``query_id`` or as ``id``.
"""

from __future__ import annotations

from codecs import BOM_UTF8
from collections.abc import Iterator
from pathlib import Path
from typing import Annotated, Any, Final, TypeAlias

import msgspec
from msgspec import Meta, Struct

from findling.model.errors import InvalidInput, NotFound

#: The set of queries whose answer does not exist.
NO_ANSWER: Final = "no_answer"

#: No answer takes longer, in milliseconds; what says so is no measurement.
MOST_MS: Final = 1e9

_FORMS: Final = (
    "A line has query_id, repo, query, category, language, relevant; or id, repo, query, set, kind, relevant."
)


_Words: TypeAlias = Annotated[str, Meta(pattern=r"\S")]


class Place(Struct, frozen=True):
    """A file, or lines of one: what a query is about, or a result. Lines are 1-based and inclusive; without them the
    whole file is meant."""

    path: _Words
    start_line: int | None = None
    end_line: int | None = None

    def __post_init__(self) -> None:
        msgspec.structs.force_setattr(self, "path", _plain_path(self.path))


class Judged(Struct, frozen=True):
    """A query with its targets. ``groups`` are the headings under which it is reported, such as its kind.

    ``by_file``: which rule its judgments were made for (see `scoring`).
    """

    id: str
    repo: str
    text: str
    targets: tuple[Place, ...]
    groups: tuple[str, ...]
    by_file: bool

    @property
    def has_rank(self) -> bool:
        """Whether an answer's order can be measured: not where no right answer exists."""
        return self.by_file or bool(self.targets)


class Answer(Struct, frozen=True):
    """Results in order, the best first. ``low_confidence``, ``confidence`` (in [0, 1]) and ``took_ms`` are None where
    the tool does not say."""

    results: tuple[Place, ...]
    low_confidence: bool | None = None
    confidence: Annotated[float, Meta(ge=0, le=1)] | None = None
    took_ms: Annotated[float, Meta(ge=0, le=MOST_MS)] | None = None


# --- the lines as they are written -------------------------------------------------------------------------------


class _ByFile(Struct):
    query_id: _Words
    repo: _Words
    query: _Words
    category: _Words
    language: _Words
    relevant: tuple[Place, ...]


class _BySpan(Struct):
    id: _Words
    repo: _Words
    query: _Words
    set: _Words
    kind: _Words
    relevant: tuple[Place, ...]


class _Named(Struct):
    """Enough of a line to tell which of the two forms it has, and which query it names."""

    query_id: str | None = None
    id: str | None = None


def load_queries(path: Path) -> list[Judged]:
    """The queries of a file, in order, all of one form. Raises InvalidInput that names the line, and NotFound."""
    queries: list[Judged] = []
    lines_of: dict[str, int] = {}
    for number, data in _lines(path):
        try:
            query = _judged(data)
            if query.id in lines_of:
                raise ValueError(f"line {lines_of[query.id]} has the same id, {query.id!r}")
            if queries and query.by_file != queries[0].by_file:
                raise ValueError("it has the other form than the lines before it; a file may have only one")
        except (ValueError, RecursionError) as error:
            raise InvalidInput(f"{path} line {number}: {error}.", remedy=_FORMS) from error
        lines_of[query.id] = number
        queries.append(query)
    return queries


def load_run(path: Path) -> dict[str, Answer]:
    """Answers by the id of their query. Raises InvalidInput that names the line, and NotFound."""
    run: dict[str, Answer] = {}
    for number, data in _lines(path):
        try:
            line = msgspec.json.decode(data, type=_Named)
            name = line.query_id or line.id
            if not name:
                raise ValueError("it names no query: query_id or id is missing")
            run[name] = msgspec.json.decode(data, type=Answer)
        except (ValueError, RecursionError) as error:
            raise InvalidInput(f"{path} line {number}: {error}.") from error
    return run


def answer_of(line: dict[str, Any]) -> Answer:
    """What a line of a run says. Raises ValueError."""
    return msgspec.convert(line, Answer)


def _lines(path: Path) -> Iterator[tuple[int, bytes]]:
    """(line number, text) of each line that is not blank."""
    try:
        with path.open("rb") as file:
            for number, data in enumerate(file, 1):
                if data.strip():
                    yield number, data.removeprefix(BOM_UTF8) if number == 1 else data
    except FileNotFoundError as error:
        raise NotFound(f"There is no file {str(path)!r}.", remedy="Check the path.") from error
    except OSError as error:
        raise InvalidInput(f"{path} cannot be read: {error.strerror or error}.") from error


def _judged(data: bytes) -> Judged:
    if msgspec.json.decode(data, type=_Named).query_id is not None:
        file = msgspec.json.decode(data, type=_ByFile)
        groups = (f"kind: {file.category}", f"language: {file.language}")
        return Judged(file.query_id, file.repo, file.query, file.relevant, groups, by_file=True)
    span = msgspec.json.decode(data, type=_BySpan)
    groups = (f"set: {span.set}", f"kind: {span.set}/{span.kind}")
    targets = () if span.set == NO_ANSWER else span.relevant
    if span.set != NO_ANSWER and not targets:
        raise ValueError(f"relevant is empty, and its set is {span.set!r} instead of {NO_ANSWER!r}")
    if any(target.start_line is None for target in targets):
        raise ValueError("a target has no lines")
    return Judged(span.id, span.repo, span.query, targets, groups, by_file=False)


def _plain_path(path: str) -> str:
    path = path.replace("\\", "/")
    while path.startswith("./"):
        path = path[2:]
    return path
