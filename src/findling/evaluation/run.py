"""Asks an engine judged queries and writes the answers to a file. Does not know how an engine is opened."""

from __future__ import annotations

import errno
import hashlib
import json
import os
import re
from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager
from pathlib import Path
from typing import TYPE_CHECKING, Any, Final, NamedTuple, TextIO, cast

from msgspec import Struct

from findling.config import OPTIONS, Config, find_root, load, make_store, store_location
from findling.config.option import Option
from findling.config.sources import NAMES, of_flags
from findling.engine import Engine, open_chosen
from findling.evaluation.judged import Answer, Judged, answer_of
from findling.model.collection import of_folder
from findling.model.errors import ConfigError, FindlingError, InvalidInput, NotFound, StorageFull
from findling.model.types import LOW_CONFIDENCE, MODES, Mode, OnProgress, Progress, SearchResult

if TYPE_CHECKING:
    from types import TracebackType


# --- settings -----------------------------------------------------------------------------------------------------
# Settings to compare, as they are typed: a mode and options on top of a repository's own configuration.
#
# The configuration's loader checks names and values. Must not know how answers are made or scored.

MODE: Final = "mode"

FILES: Final = "index."
"""The prefix of the options that say which files are indexed."""

_CUTS: Final = frozenset(
    f"semantic.{name}" for name in ("chunk_size", "chunk_overlap", "chunk_max_lines", "chunk_overlap_lines")
)
_BY_MEANING: Final = frozenset(
    {
        *("semantic.enabled", "semantic.ollama_url", "semantic.timeout_ms", "semantic.max_retries"),
        *("semantic.external_provider_enabled", "semantic.allow_code_payload_to_external"),
        *(key for key in OPTIONS if key.startswith("semantic.embedding.")),
    }
)
DECIDES: Final = _BY_MEANING | _CUTS | frozenset(key for key in OPTIONS if key.startswith(FILES))
"""The options that `Engine.search` obeys; the others are the tools', the library's or the server's."""

_BY_VARIABLE: Final = {option.environment: option.spellings[-1] for option in OPTIONS.values() if option.environment}
"""By environment variable the spelling that an option is read under; the one that chooses a provider, where there is
one."""

_KEY: Final = re.compile(r"[A-Za-z_][\w.-]*", re.ASCII)
_NEXT: Final = re.compile(rf",(?=\s*{_KEY.pattern}\s*=)", re.ASCII)
_PLAIN_NAME: Final = re.compile(r"[a-z0-9._,=-]+")
# Enough to recognise a setting in a list of files; those that are cut alike have other hashes.
_NAME_CHARS: Final = 60
_HASH_CHARS: Final = 8
_KEY_CHARS: Final = 16


class Setting(Struct, frozen=True):
    """``text`` is what was typed; ``options`` has values by the names that the loader knows, ``keys`` are the options
    that they mean. Without any it is another mode of what is reported."""

    text: str
    mode: Mode
    options: Mapping[str, str]
    keys: frozenset[str] = frozenset()

    @property
    def file_part(self) -> str:
        """The part of a file name that identifies its run: short, without separators, and unique for each text even on
        file systems that ignore case."""
        text = self.text.removeprefix(f"{MODE}=") if not self.options else self.text
        if len(text) <= _NAME_CHARS and _PLAIN_NAME.fullmatch(text):
            return text
        readable = re.sub(r"[^A-Za-z0-9._,=]+", "-", text)[:_NAME_CHARS].strip("-.")
        return f"{readable}-{hashlib.sha256(text.encode('utf-8', 'surrogatepass')).hexdigest()[:_HASH_CHARS]}"


def is_setting(text: str) -> bool:
    """Whether ``text`` is a setting and no file: it begins with ``mode=`` or an option, or is KEY=VALUE and no such
    file exists."""
    key, equals, _ = text.partition("=")
    key = key.strip()
    if key == MODE or key in NAMES or key in _BY_VARIABLE:
        return bool(equals)
    return bool(equals) and _KEY.fullmatch(key) is not None and not os.path.lexists(text)


def parse(text: str, mode: Mode) -> Setting:
    """KEY=VALUE, or several with commas between; ``mode`` where none is typed. A comma that no KEY= follows belongs to
    the value, and so does a second ``=``.

    Raises ConfigError for a name that is no option; InvalidInput for a mode that there is none of, for one name twice,
    and for an option that changes no answer.
    """
    options: dict[str, str] = {}
    given: set[str] = set()
    for part in _NEXT.split(text):
        name, _, value = part.partition("=")
        name = name.strip()
        name = _BY_VARIABLE.get(name, name)
        key = NAMES[name].key if name in NAMES else name
        if key in given:
            raise InvalidInput(f"{name} is given twice.", remedy="Give --compare once for each setting.")
        given.add(key)
        if name != MODE:
            options[name] = value
        elif value not in MODES:
            raise InvalidInput(f"There is no mode {value!r}.", remedy=f"There are: {', '.join(MODES)}.")
        else:
            mode = cast("Mode", value)
    for option, name, _ in of_flags(options).settings.values():
        _check_decides(option, name)
    return Setting(text, mode, options, frozenset(given - {MODE}))


def _check_decides(option: Option, name: str) -> None:
    if option.unused:
        raise InvalidInput(f"{name} changes no answer: {option.unused}.")
    if option.key not in DECIDES:
        raise InvalidInput(
            f"{name} does not change the answers of 'findling search'.",
            remedy="These do: mode, index.*, semantic.chunk_*, semantic.enabled, semantic.embedding.*.",
        )


def configured(setting: Setting, root: Path) -> tuple[Config, list[str]]:
    """The configuration of ``root`` with the setting's options on top, as on a command line, and what the loader warns
    of that it does not without them.

    Raises ConfigError for a wrong value.
    """
    loaded = load(root, flags=setting.options)
    config = loaded.config
    if setting.keys & _BY_MEANING and config.semantic.enabled is not False and config.embedder_blocked:
        raise ConfigError(
            "command line: the external embedder may not be called.",
            remedy="semantic.external_provider_enabled and semantic.allow_code_payload_to_external have to be true.",
        )
    known = load(root).warnings
    return loaded.config, [warning for warning in loaded.warnings if warning not in known]


def check_embedder(setting: Setting, config: Config) -> None:
    """Raises EmbedderUnavailable where the setting is about the model and its model does not answer: what is asked
    without it would say nothing about it."""
    if setting.keys & _BY_MEANING and config.semantic.enabled is not False:
        open_chosen(config, None)


def index_name(config: Config) -> str:
    """The same for two configurations whose answers are the same."""
    attributes = {key: OPTIONS[key].attribute for key in DECIDES}
    values = {key: getattr(getattr(config, group), name) for key, (group, name) in attributes.items()}
    return hashlib.sha256(json.dumps(values, sort_keys=True).encode()).hexdigest()[:_KEY_CHARS]


def kept_index(root: Path, config: Config) -> Path:
    """The folder in the user's cache for an index of ``root`` as ``config`` wants it, beside that of the reported
    setting; need not exist."""
    folder = store_location(find_root(None, root=root).root, cache=True, create=False).directory
    return folder.with_name(f"{folder.name}-{index_name(config)}")


def open_apart(root: Path, directory: Path, config: Config) -> Engine:
    """The engine for exactly ``root`` with an index of its own in ``directory``, which is made if need be."""
    make_store(directory)
    return Engine(of_folder(find_root(None, root=root).root, directory), config=config)


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
    engine: Engine, queries: Sequence[Judged], *, mode: Mode, limit: int, progress: OnProgress
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
