"""Definitions and uses of a name, listed rather than ranked: exact spelling, then beginnings, then parts."""

from __future__ import annotations

import re
import time
from collections.abc import Callable, Collection, Iterable, Sequence
from itertools import chain, islice
from typing import Literal

from msgspec import Struct

from findling.model import tokenizer
from findling.model.errors import InvalidInput
from findling.model.languages import language_of
from findling.model.plurals import count
from findling.model.rows import FileRow, SymbolRow
from findling.model.text_encodings import is_text
from findling.model.types import LINES_KIND, SYMBOL_KINDS, Reference, SymbolHit
from findling.search import asked_path
from findling.search.exact import ExactSource, FileRef, Scope
from findling.search.graph.file_names import VALUES
from findling.search.nearest import AS_GOOD, NEAREST, nearest_paths
from findling.search.patterns import compile_pattern
from findling.search.ranking.priors import only_declares, path_flags
from findling.search.scope import lies_in
from findling.store.protocols import Index, OnlyThese

_MOST_EXACT = 100_000
_MOST_DEFINITIONS = 5_000
"""Definitions of just the name that are looked at, and of names that only begin with it or contain it."""

REFERENCES_S = 10.0
"""Time for parsing the files that mention a name; a common word is in thousands."""

FILE_S = 1.0
"""Processor time for the uses in one file."""

_TEXT = 200
_BEFORE_USE = 60
"""Characters of a use's line, and how many of them stand before it where the line is longer: a whole notebook may be
one line."""

_ASSIGNED = re.compile(
    r"""(?:["']?\])?(?:(?P<type>:\s*\w[^=(){}]{0,80})?(?P<plain>\s*=(?![=>~]))|\+\+|--"""
    r"""|\s*(?:[-+*/%&|^:?]|\*\*|//|<<|>>|&&|\|\||\?\?)=(?![=>~])|(?:,\s*[\w.*]+){1,9}\s*=(?![=>~]))"""
)
_DECLARED = re.compile(
    r"\s*(?:(?:let|var|val|const|pub|mut|static|readonly|private|public|protected)\s+)*(?:self\.|this\.)?\Z"
)
"""What stands before a name that is declared with its type."""

_IN_CALL = re.compile(r"(?<!\bif)(?<!\bfor)(?<!\bwhile)(?<=[\w\])])\((?:[^()]|\([^()]*\))*\Z")
"""What stands before a keyword argument: the bracket of a call, and arguments."""

_SEPARATORS = re.compile(r"::?|->|[.#/\\]")
_LINES = re.compile(r"\d{1,7}(?:-\d{1,7})?")
_ORDER = {"exact": 0, "prefix": 1, "part": 2}


class FileSymbols(Struct, frozen=True):
    """A file's definitions in order; ``parent`` of each is a place in the list."""

    path: str
    language: str
    symbols: tuple[SymbolRow, ...]


FindReferences = Callable[[bytes, str, str, float], Sequence[tuple[int, int, str]]]
"""(text, language, name) -> (line, column, enclosing symbol) of each use."""


class References(Struct, frozen=True):
    """Uses of a name; ``total`` is exact unless ``cut``.

    ``in_time``: whether all files were read. ``slow``: files that were searched in part only. ``unread``: files that
    could not be read.
    """

    found: tuple[Reference, ...]
    total: int
    in_time: bool = True
    slow: tuple[str, ...] = ()
    unread: tuple[str, ...] = ()

    @property
    def cut(self) -> bool:
        return bool(self.slow) or not self.in_time

    @property
    def notes(self) -> tuple[str, ...]:
        """What is missing, a sentence each."""
        notes: list[str] = []
        if self.slow:
            others = f" and {count(len(self.slow) - 1, 'more file')}" if len(self.slow) > 1 else ""
            notes.append(f"{self.slow[0]}{others} took too long to parse: not all uses in it were found.")
        if not self.in_time:
            notes.append(f"Not all files were read within {REFERENCES_S:.0f} s: there may be more uses.")
        return tuple(notes)


class Definitions(Struct, frozen=True):
    """``total`` counts all there are, unless ``cut``: then there are more. ``unqualified`` is the last part of the name
    where only that was found. ``note``: why there is nothing in the lines that were asked for."""

    found: list[SymbolHit]
    total: int
    unqualified: str = ""
    cut: bool = False
    note: str = ""


def _which_file(reader: Index, path: str, files: Sequence[FileRow]) -> str:
    """Why a path does not say which file is meant, with those that it may mean."""
    if files:
        return f"{count(len(files), 'file')} have a path that ends with {path}: {_listed(file.path for file in files)}."
    known = [file.path for file in reader.listing()]
    near = [like for likeness, like in nearest_paths(path, known) if likeness >= AS_GOOD]
    return f"No file that is searched has the path {path}." + (f" Did you mean {_listed(near)}?" if near else "")


def _listed(paths: Iterable[str]) -> str:
    return ", ".join(islice(paths, NEAREST))


def definitions(
    reader: Index,
    name: str,
    *,
    kind: str | None,
    language: str | None,
    folder: str,
    limit: int,
    file_end: str = "",
    as_lines: bool = False,
) -> Definitions:
    """The first ``limit`` definitions of a name, best match first, those in tests last, declarations for type checkers
    after what they declare, then by path and line; where there is none, of names that begin with it or contain it.

    Raises `InvalidInput`.

    ``name`` may be qualified by what encloses it (``Outer.inner``, ``Outer::inner``) and by the folders and the file
    that it lies in (``package.module.Outer.inner``), or by a path or its end (``core/engine.py:Outer.inner``), which
    is ``file_end`` then; ``core/engine.py:12`` and ``:12-30`` are the definitions in these lines, with
    ``as_lines`` the second are these lines themselves. Where nothing is so
    qualified, the name may be inherited or re-exported: then the definitions of its last part are found, as matches in
    ``part`` only. Spellings of one name match (``fooBar`` and ``foo_bar``), after the exact one.
    """
    if kind is not None and kind not in SYMBOL_KINDS:
        raise InvalidInput(f"kind must be one of {', '.join(SYMBOL_KINDS)}, not {kind!r}.")
    path, _, rest = name.rpartition(":")
    if not file_end and rest and re.search(r"[./]", path):
        path = path.rstrip(":").removeprefix("./")
        if _LINES.fullmatch(rest):
            files = [
                file
                for file in (asked_path.meant(path, reader) if is_text(path) else ())
                if lies_in(file.path, folder) and language in (None, file.language)
            ]
            if len(files) != 1:
                return Definitions([], 0, note=_which_file(reader, path, files))
            (file,) = files
            path = file.path
            first, *others = sorted(map(int, rest.split("-")))
            if first > file.lines or not (others or [first])[-1]:
                return Definitions([], 0, note=f"{path} has {count(file.lines, 'line')}; it has no line {rest}.")
            if others and as_lines:
                return Definitions([_lines_hit(reader, file, first, others[-1])], 1)
            found = _at_lines(reader, file, (first, *others), kind)
            note = "" if found else f"No {kind or 'definition'} is in line {rest} of {path}."
            return Definitions(found[:limit], len(found), note=note)
        here = definitions(reader, rest, kind=kind, language=language, folder=folder, limit=limit, file_end=f"/{path}")
        if here.found and not here.unqualified:
            return here
    *scope, last = _parts(name)
    squashed = tokenizer.squash(last)

    def counts(file: FileRow) -> bool:
        wanted = language is None or file.language == language
        return wanted and lies_in(file.path, folder) and f"/{file.path}".endswith(file_end)

    blobs = None
    if folder or language is not None:
        own = reader.file_at(folder) if folder else None
        blobs = {file.blob_id for file in chain(reader.all_files(prefix=folder), [own] if own else ()) if counts(file)}
    only = OnlyThese(blobs, kind)
    qualifiers = [tokenizer.squash(part) for part in scope]

    def placed(symbols: Iterable[SymbolRow]) -> list[tuple[SymbolRow, FileRow, _Match]]:
        """Wherever they stand, with how they match."""
        unique = {(symbol.blob_id, symbol.position): symbol for symbol in symbols}.values()
        files: dict[int, list[FileRow]] = {}
        for file in reader.files_of_blobs({symbol.blob_id for symbol in unique}):
            if counts(file):
                files.setdefault(file.blob_id, []).append(file)
        return [
            (symbol, file, _match(symbol.squashed, squashed))
            for symbol in unique
            for file in files.get(symbol.blob_id, ())
        ]

    exact = reader.named([squashed], _MOST_EXACT + 1, only)
    cut = len(exact) > _MOST_EXACT
    just_this = placed(exact)
    found_at = [at for at in just_this if _qualifies(qualifiers, *at)]
    unqualified = ""
    if not found_at:  # what is nearest: it begins with the name, or contains it
        alike = [
            reader.named_like(squashed, prefix=prefix, limit=_MOST_DEFINITIONS + 1, only=only)
            for prefix in (True, False)
        ]
        cut = cut or max(map(len, alike)) > _MOST_DEFINITIONS
        found_at = [at for at in placed(chain(*alike)) if at[2] != "exact" and _qualifies(qualifiers, *at)]
    if not found_at and just_this:
        found_at = [(symbol, file, "part") for symbol, file, _ in just_this]
        unqualified = last
    found_at.sort(
        key=lambda at: (
            at[0].name != last,
            _ORDER[at[2]],
            "test" in path_flags(at[1].path),
            only_declares(at[1].path),
            at[1].path,
            at[0].name_line,
        )
    )
    hits = []
    for symbol, file, match in found_at[:limit]:
        hits.append(symbol_hit(symbol, file, match))
    return Definitions(hits, len(found_at), unqualified, cut)


def _at_lines(reader: Index, file: FileRow, lines: Sequence[int], kind: str | None) -> list[SymbolHit]:
    """The innermost definitions of a kind that have one of a file's ``lines``, from the first to the last of these;
    values only where there is nothing else."""
    of_kind = [row for row in reader.symbols(file.blob_id) if kind in (None, row.kind)]
    there = [row for row in of_kind if row.start_line <= lines[-1] and row.end_line >= lines[0]]
    there = [row for row in there if row.kind not in VALUES] or there
    parents = {row.parent for row in there}
    return [symbol_hit(row, file, "exact") for row in there if row.position not in parents]


def _lines_hit(reader: Index, file: FileRow, first: int, last: int) -> SymbolHit:
    """Lines of a file as if they were a definition, called after the one that they are part of."""
    first = max(1, min(first, file.lines))
    around = [row for row in reader.symbols(file.blob_id) if row.start_line <= first <= row.end_line]
    name = max(around, key=lambda row: row.start_line).qualified_name if around else file.path.rpartition("/")[2]
    last = max(first, min(last, file.lines))
    return SymbolHit(file.path, first, first, last, name, LINES_KIND, name, file.language, "", "exact")


def _parts(name: str) -> list[str]:
    """A possibly qualified name taken apart; at least one part. Raises `InvalidInput`."""
    parts = [part.strip("()*&") for part in _SEPARATORS.split(name.strip())]
    named = [part for part in parts if tokenizer.squash(part)]
    if not named:
        raise InvalidInput(f"{name!r} contains no name.", remedy="Give the name of a function, class, constant, ….")
    return named


def _qualifies(qualifiers: Sequence[str], symbol: SymbolRow, file: FileRow, match: _Match) -> bool:
    """Whether squashed names say where a symbol is: the last of its scope, or all of that after parts of the path.

    Folders qualify just the name itself: too much lies below a folder that is called as the project is.
    """
    if not qualifiers:
        return True
    enclosing = [tokenizer.squash(part) for part in symbol.scope.split(".")] if symbol.scope else []
    if enclosing[-len(qualifiers) :] == qualifiers:
        return True
    outer = len(qualifiers) - len(enclosing)
    if match != "exact" or outer <= 0 or qualifiers[outer:] != enclosing:
        return False
    *folders, _ = file.path.split("/")
    parts = iter([tokenizer.squash(part) for part in (*folders, tokenizer.path_stem(file.path))])
    return all(part in parts for part in qualifiers[:outer])  # in this order: each search goes on after the last


_Match = Literal["exact", "prefix", "part"]


def _match(have: str, want: str) -> _Match:
    return "exact" if have == want else "prefix" if have.startswith(want) else "part"


def symbol_hit(symbol: SymbolRow, file: FileRow, match: _Match) -> SymbolHit:
    """A definition as it is told."""
    return SymbolHit(
        path=file.path,
        line=symbol.name_line,
        start_line=symbol.start_line,
        end_line=symbol.end_line,
        name=symbol.name,
        kind=symbol.kind,
        qualified_name=symbol.qualified_name,
        language=file.language,
        signature=symbol.signature or symbol.name,
        match=match,
    )


def references(
    source: ExactSource,
    name: str,
    find: FindReferences,
    *,
    languages: Collection[str],
    language: str | None,
    limit: int,
) -> References:
    """Uses of exactly this name in code: the index says which files hold it, their syntax trees which are uses.

    ``languages``: ids of those that ``find`` has uses of, notebooks and pages with scripts among them; files in others
    are not read. ``language``: only files in this one.
    """
    last = _parts(name)[-1]
    pattern = compile_pattern(last, literal=True, ignore_case=False, word=True)
    scope = Scope(languages=() if language is None else (language,))
    files: Iterable[FileRef] = source.candidate_files(pattern.plan, scope)
    until = time.monotonic() + REFERENCES_S
    found: list[Reference] = []
    slow: list[str] = []
    unread: list[str] = []
    total = 0
    needle = last.encode()
    for file in files:
        written_in = file.language or language_of(file.path).id
        if written_in not in languages:
            continue
        if time.monotonic() > until:
            return References(tuple(found), total, False, tuple(slow), tuple(unread))
        try:
            data = source.read(file, lambda text: needle in text)
        except OSError:  # it became unreadable since it was indexed
            unread.append(file.path)
            continue
        if not isinstance(data, bytes) or needle not in data:
            continue
        lines: list[str] | None = None
        began = time.thread_time()
        uses = find(data, written_in, last, FILE_S)
        if time.thread_time() - began >= FILE_S:
            slow.append(file.path)
        for line, column, enclosing in uses:
            total += 1
            if len(found) < limit:
                if lines is None:
                    lines = data.decode("utf-8", "replace").split("\n")
                whole = lines[line - 1] if line <= len(lines) else ""
                assigned = writes(whole[:column], whole[column + len(last) :])
                found.append(Reference(file.path, line, column, _around(whole, column), enclosing, writes=assigned))
    return References(tuple(found), total, slow=tuple(slow), unread=tuple(unread))


def writes(before: str, after: str) -> bool:
    """Whether a use of a name seems to assign to it, by what stands before and after it on its line. A keyword argument
    and a parameter's default assign to nothing that others can see."""
    before, found = before[-_TEXT:], _ASSIGNED.match(after[:_TEXT])
    if found is None or (found["type"] and not _DECLARED.match(before)):
        return False
    if not found["plain"] or before.endswith((".", "->", "::")):
        return True
    return not _IN_CALL.search(before) and (bool(before.strip()) or not after.rstrip().endswith(","))


def _around(line: str, column: int) -> str:
    """A line, or the part of a long one in which a use stands."""
    if len(line) > _TEXT and column > _TEXT - _BEFORE_USE:
        line = line[column - _BEFORE_USE :]
    return line.strip()[:_TEXT]
