"""Files of judged queries and of answers, line by line, checked. Asks nothing and scores nothing.

Two forms of query file, told apart by their keys:

* *files* (``query_id``, ``category``, ``language``): a target is a file, or a file and a range of lines.
* *spans* (``id``, ``set``, ``kind``): a target is a range of lines. The set ``no_answer`` has none.

In a run each line has ``results`` and names its query, as ``query_id`` or as ``id``.
"""

from __future__ import annotations

import json
from collections.abc import Iterator, Mapping
from pathlib import Path
from typing import Any, Final, TypeVar

from msgspec import Struct

from findling.model.errors import InvalidInput, NotFound

#: The set of queries whose answer does not exist.
NO_ANSWER: Final = "no_answer"

#: No answer takes longer, in milliseconds; what says so is no measurement.
MOST_MS: Final = 1e9

_FORMS: Final = (
    "A line has query_id, repo, query, category, language, relevant; or id, repo, query, set, kind, relevant."
)


class Target(Struct, frozen=True):
    """Lines are 1-based and inclusive; None where the whole file is meant."""

    path: str
    start_line: int | None
    end_line: int | None


class Judged(Struct, frozen=True):
    """A query with its targets. ``groups`` are the headings under which it is reported, such as its kind.

    ``by_file``: which rule its judgments were made for (see `scoring`).
    """

    id: str
    repo: str
    text: str
    targets: tuple[Target, ...]
    groups: tuple[str, ...]
    by_file: bool

    @property
    def has_rank(self) -> bool:
        """Whether an answer's order can be measured: not where no right answer exists."""
        return self.by_file or bool(self.targets)


class Result(Struct, frozen=True):
    """Without lines it stands for the whole file."""

    path: str
    start_line: int | None = None
    end_line: int | None = None


class Answer(Struct, frozen=True):
    """Results in order, the best first. ``low_confidence``, ``confidence`` (in [0, 1]) and ``took_ms`` are None where
    the tool does not say."""

    results: tuple[Result, ...]
    low_confidence: bool | None = None
    confidence: float | None = None
    took_ms: float | None = None


def load_queries(path: Path) -> list[Judged]:
    """The queries of a file, in order, all of one form. Raises InvalidInput that names the line, and NotFound."""
    queries: list[Judged] = []
    lines_of: dict[str, int] = {}
    for number, line in _objects(path):
        try:
            query = _judged(line)
            if query.id in lines_of:
                raise _Malformed(f"the id {query.id!r} is that of line {lines_of[query.id]}")
            if queries and query.by_file != queries[0].by_file:
                raise _Malformed("it is of the other form than the lines before it, and each form has its own rule")
        except _Malformed as error:
            raise InvalidInput(f"{path} line {number}: {error}.", remedy=_FORMS) from error
        lines_of[query.id] = number
        queries.append(query)
    return queries


def load_run(path: Path) -> dict[str, Answer]:
    """Answers by the id of their query. Raises InvalidInput that names the line, and NotFound."""
    run: dict[str, Answer] = {}
    for number, line in _objects(path):
        try:
            run[_text(line, "query_id" if line.get("query_id") else "id")] = answer_of(line)
        except _Malformed as error:
            raise InvalidInput(f"{path} line {number}: {error}.") from error
    return run


def answer_of(line: Mapping[str, Any]) -> Answer:
    """What a line of a run says."""
    results = tuple(
        Result(_plain_path(_text(found, "path")), *_lines(found)) for found in _list_of_objects(line, "results")
    )
    low_confidence = line.get("low_confidence")
    if low_confidence is not None and not isinstance(low_confidence, bool):
        raise _Malformed("low_confidence is neither true nor false")
    return Answer(results, low_confidence, _number(line, "confidence", 1.0), _number(line, "took_ms", MOST_MS))


class _Malformed(ValueError):
    """What is wrong with a line, in words that follow its number."""


def _objects(path: Path) -> Iterator[tuple[int, dict[str, Any]]]:
    """(line number, object) of each line that is not blank."""
    try:
        with path.open("rb") as file:
            for number, data in enumerate(file, 1):
                if not data.strip():
                    continue
                try:
                    line = json.loads(data.decode("utf-8-sig" if number == 1 else "utf-8"))
                except (ValueError, RecursionError) as error:
                    raise InvalidInput(f"{path} line {number} is not JSON: {error}.", remedy=_FORMS) from error
                if not isinstance(line, dict):
                    raise InvalidInput(f"{path} line {number} is not a JSON object.", remedy=_FORMS)
                yield number, line
    except FileNotFoundError as error:
        raise NotFound(f"There is no file {str(path)!r}.", remedy="Check the path.") from error
    except OSError as error:
        raise InvalidInput(f"{path} cannot be read: {error.strerror or error}.") from error


def _judged(line: Mapping[str, Any]) -> Judged:
    by_file = "query_id" in line
    name = _text(line, "query_id" if by_file else "id")
    repo, text = _text(line, "repo"), _text(line, "query")
    targets = tuple(
        Target(_plain_path(_text(target, "path")), *_lines(target)) for target in _list_of_objects(line, "relevant")
    )
    if by_file:
        groups = (f"kind: {_text(line, 'category')}", f"language: {_text(line, 'language')}")
        return Judged(name, repo, text, targets, groups, by_file=True)
    chosen, kind = _text(line, "set"), _text(line, "kind")
    groups = (f"set: {chosen}", f"kind: {chosen}/{kind}")
    if chosen == NO_ANSWER:
        return Judged(name, repo, text, (), groups, by_file=False)
    if not targets:
        raise _Malformed(f"relevant is empty, and its set is {chosen!r} instead of {NO_ANSWER!r}")
    if any(target.start_line is None for target in targets):
        raise _Malformed("a target has no lines")
    return Judged(name, repo, text, targets, groups, by_file=False)


_Value = TypeVar("_Value")


def _number(line: Mapping[str, Any], key: str, most: float) -> float | None:
    """A number from 0 to ``most``; None where there is none."""
    value = line.get(key)
    if value is None:
        return None
    if not isinstance(value, (int, float)) or isinstance(value, bool) or not 0 <= value <= most:
        raise _Malformed(f"{key} is no number from 0 to {most:g}")
    return float(value)


def _text(line: Mapping[str, Any], key: str) -> str:
    value = _typed(line, key, str, "a text")
    if not value.strip():
        raise _Malformed(f"{key} is blank")
    return value


def _list_of_objects(line: Mapping[str, Any], key: str) -> list[dict[str, Any]]:
    values = _typed(line, key, list, "a list")
    if not all(isinstance(value, dict) for value in values):
        raise _Malformed(f"{key} holds something that is no object")
    return values


def _typed(line: Mapping[str, Any], key: str, kind: type[_Value], words: str) -> _Value:
    if key not in line:
        raise _Malformed(f"{key} is missing")
    value = line[key]
    if not isinstance(value, kind):
        raise _Malformed(f"{key} is not {words}")
    return value


def _lines(place: Mapping[str, Any]) -> tuple[int | None, int | None]:
    """The first and the last line; both None without a first, and one line without a last in a result."""
    start, end = place.get("start_line"), place.get("end_line")
    for value in (start, end):
        if value is not None and (not isinstance(value, int) or isinstance(value, bool)):
            raise _Malformed("a line number is not a whole number")
    return start, end


def _plain_path(path: str) -> str:
    path = path.replace("\\", "/")
    while path.startswith("./"):
        path = path[2:]
    return path
