"""Asks an engine judged queries and writes the answers to a file. Does not know how an engine is opened."""

from __future__ import annotations

import errno
import json
import os
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from pathlib import Path
from typing import TYPE_CHECKING, Any, Final, NamedTuple

from findling.evaluation.judged import Answer, Judged, answer_of
from findling.model.errors import FindlingError, InvalidInput, NotFound, StorageFull
from findling.model.types import LOW_CONFIDENCE, Progress

if TYPE_CHECKING:
    from types import TracebackType
    from typing import TextIO

    from findling.engine import Engine
    from findling.model.types import Mode, SearchResult

#: More than is scored, so that a run can also be used to study what came just below.
LIMIT: Final = 20

_CEILINGS: Final = "GIT_CEILING_DIRECTORIES"


class Corpus(NamedTuple):
    """A repository and what is asked of it."""

    name: str
    root: Path
    queries: Sequence[Judged]


def of_repositories(queries: Sequence[Judged], names: Sequence[str]) -> list[Judged]:
    """The queries of these repositories, all without a name. Raises InvalidInput for one that nothing asks about."""
    known = {query.repo for query in queries}
    for name in names:
        if name not in known:
            raise InvalidInput(f"No query asks about {name!r}.", remedy=f"There are: {', '.join(sorted(known))}.")
    return [query for query in queries if not names or query.repo in names]


def corpora(folder: Path, queries: Sequence[Judged]) -> list[Corpus]:
    """The queries by their repositories, the folders ``folder``/repo, in the order in which they are first named.

    Raises NotFound for folders that are not there, InvalidInput for names that lead out of ``folder``.
    """
    if not os.path.isdir(folder):  # noqa: PTH112 - whatever it is called
        raise NotFound(f"There is no folder {str(folder)!r}.", remedy="Check --corpora.")
    by_repo: dict[str, list[Judged]] = {}
    for query in queries:
        by_repo.setdefault(query.repo, []).append(query)
    for name in by_repo:
        if not _is_plain(name):
            raise InvalidInput(f"{name!r} is not the name of a folder in {folder}.", remedy="Check the queries' repo.")
    missing = [name for name in by_repo if not os.path.isdir(folder / name)]  # noqa: PTH112
    if missing:
        asked = sum(len(by_repo[name]) for name in missing)
        raise NotFound(
            f"{folder} has no folder {', '.join(missing)} (queries about it: {asked}).",
            remedy="Put the repositories there, or choose others with --repo.",
        )
    return [Corpus(name, folder / name, asked) for name, asked in by_repo.items()]


def _is_plain(name: str) -> bool:
    parts = name.split("/")
    return not any(part in ("", os.curdir, os.pardir) or "\\" in part or "\0" in part for part in parts)


@contextmanager
def nothing_above(root: Path) -> Iterator[None]:
    """Within this context git repositories above ``root`` do not affect which of its files are indexed."""
    before = os.environ.get(_CEILINGS)
    os.environ[_CEILINGS] = os.pathsep.join(filter(None, (str(root.resolve().parent), before)))
    try:
        yield
    finally:
        if before is None:
            del os.environ[_CEILINGS]
        else:
            os.environ[_CEILINGS] = before


def ask(
    engine: Engine, queries: Sequence[Judged], *, mode: Mode, limit: int, progress: Callable[[Progress], None]
) -> Iterator[dict[str, Any]]:
    """One line of a run per query. The index is taken as it is: bring it up to date before."""
    for done, query in enumerate(queries):
        progress(Progress("answering", done, len(queries)))
        yield run_line(query, engine.search(query.text, limit=limit, mode=mode, wait_s=0.0))


def run_line(query: Judged, result: SearchResult, low_confidence: float = LOW_CONFIDENCE) -> dict[str, Any]:
    """The answer as the command line shows it: one entry per file, without the places folded under it."""
    return {
        "repo": query.repo,
        "query_id": query.id,
        "id": query.id,
        "query": query.text,
        "results": [
            {"path": hit.path, "start_line": hit.start_line, "end_line": hit.end_line, "score": hit.score}
            for hit in result.hits
        ],
        "low_confidence": not result.hits or result.confidence < low_confidence,
        "confidence": result.confidence,
        "took_ms": result.took_ms,
    }


class RunFile:
    """A run being written: each line is in the file at once, so that an interrupted run keeps what it has.

    Raises InvalidInput when ``path`` cannot be written, or is the file of queries ``not_over``; StorageFull.
    """

    def __init__(self, path: Path, *, not_over: Path) -> None:
        self.answers: dict[str, Answer] = {}
        self._path = path
        try:
            if os.path.exists(path) and path.samefile(not_over):  # noqa: PTH110 - whatever it is called
                raise InvalidInput(f"{path} is the file of queries.", remedy="Write the run to another file.")
            self._file: TextIO = path.open("w", encoding="utf-8")
        except OSError as error:
            raise self._failure(error) from error

    def __enter__(self) -> RunFile:
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        try:
            self._file.close()
        except OSError as failure:
            if error is None:
                raise self._failure(failure) from failure

    def write(self, line: dict[str, Any]) -> None:
        self.answers[line["id"]] = answer_of(line)
        try:
            self._file.write(json.dumps(line, ensure_ascii=False) + "\n")
            self._file.flush()
        except OSError as error:
            raise self._failure(error) from error

    def _failure(self, error: OSError) -> FindlingError:
        if error.errno == errno.ENOSPC:
            return StorageFull(f"No room for {self._path}.", remedy="Free some space.")
        return InvalidInput(f"{self._path} cannot be written: {error.strerror or error}.", remedy="Check --run.")
