"""Where a query may look: a folder, path globs, a language, a kind of content; decided inside retrieval.

The index proposes only what is allowed, so a small scope is never crowded out by a large tree around it.
"""

from __future__ import annotations

import fnmatch
import re
from collections.abc import Iterable, Mapping
from typing import NamedTuple

from findling.model.languages import is_document
from findling.model.rows import FileRow
from findling.model.types import Query
from findling.search.ranking.priors import path_flags
from findling.store.protocols import Index

FEW = 3000
"""Up to this many files all their vectors are compared."""


class Scope(NamedTuple):
    """The ``allowed`` entries and their contents, ``blobs``; both None when nothing restricts."""

    allowed: frozenset[int] | None = None
    blobs: frozenset[int] | None = None

    def has(self, entry: int) -> bool:
        """Whether an entry of the manifest is in the scope."""
        return self.allowed is None or entry in self.allowed

    @property
    def few(self) -> frozenset[int] | None:
        """The allowed entries where they are few enough to be looked at one by one."""
        return self.allowed if self.allowed is not None and len(self.allowed) <= FEW else None

    def keep(self, reader: Index, proposals: Mapping[int, float] | Iterable[int], most: int) -> list[int]:
        """The first ``most`` proposals that belong to the manifest and the scope.

        Proposals with a score are put in its order, equals by path: ids tell how the index came about.
        """
        wanted = list(dict.fromkeys(proposals))
        if self.allowed is not None:
            wanted = [entry for entry in wanted if entry in self.allowed]
        scores = proposals if isinstance(proposals, Mapping) else dict.fromkeys(wanted, 0.0)
        wanted.sort(key=lambda entry: -scores[entry])
        known: dict[int, FileRow] = {}
        kept: list[int] = []
        for start in range(0, len(wanted), most):
            some = wanted[start : start + most]
            if len(kept) >= most and (scores is not proposals or scores[some[0]] < scores[kept[most - 1]]):
                break  # none of these comes before those that there are
            known.update(reader.files(some))
            kept += [entry for entry in some if entry in known]
        if scores is proposals:
            kept.sort(key=lambda entry: (-scores[entry], known[entry].path))
        return kept[:most]


EVERYWHERE = Scope()


def lies_in(path: str, folder: str) -> bool:
    """Whether a path is a folder or a file, or lies in it; '' is the root. Both are relative to the root."""
    return not folder or path == folder or path.startswith(f"{folder}/")


def is_scoped(query: Query) -> bool:
    """Whether a query has filters."""
    return bool(query.path_globs or query.language or query.kind)


def resolve(reader: Index, query: Query, scope_path: str) -> Scope:
    """The files that a query may look at."""
    if not (scope_path or is_scoped(query)):
        return EVERYWHERE
    matches = glob_matcher(query.path_globs)
    allowed: dict[int, int] = {}
    for file in reader.all_files(prefix=scope_path):
        if _allows(file, query) and matches(file.path):
            allowed[file.entry_id] = file.blob_id
    exact = reader.file_at(scope_path) if scope_path and not allowed else None
    if exact is not None and _allows(exact, query):
        allowed[exact.entry_id] = exact.blob_id
    return Scope(frozenset(allowed), frozenset(allowed.values()))


def _allows(file: FileRow, query: Query) -> bool:
    if query.language and file.language != query.language:
        return False
    return is_of_kind(query.kind, file.path, file.language, file.kind)


def is_of_kind(wanted: str | None, path: str, language: str, kind: str) -> bool:
    """Whether a file, whose content has this language and kind, is of those that a question is restricted to."""
    if wanted == "tests":
        return "test" in path_flags(path)
    return wanted is None or is_document(path, language, kind) == (wanted == "docs")


def glob_matcher(globs: Iterable[str]):  # type: ignore[no-untyped-def]
    """A test for paths.

    A glob without ``/`` matches the name in any folder, one with ``/`` the path from the root; ``!`` in front
    excludes. ``*``, ``?`` and ``[…]`` stay within a name, ``**`` spans folders. What names a folder, without a
    wildcard or with ``/`` at its end, stands for all files in it. ``{a,b}`` is either.
    """
    wanted: list[re.Pattern[str]] = []
    unwanted: list[re.Pattern[str]] = []
    for glob in globs:
        into = unwanted if glob.startswith("!") else wanted
        into += (re.compile(_translate(each)) for each in _alternatives(glob.removeprefix("!")))

    def matches(path: str) -> bool:
        if any(pattern.fullmatch(path) for pattern in unwanted):
            return False
        return not wanted or any(pattern.fullmatch(path) for pattern in wanted)

    return matches


_BRACES = re.compile(r"\{([^{}]*,[^{}]*)\}")
_MOST_ALTERNATIVES = 64


def _alternatives(glob: str) -> list[str]:
    """A glob for each way to choose among what stands in braces; past some number they mean themselves."""
    found = [glob]
    while (braces := _BRACES.search(found[0])) and len(found) * (braces[1].count(",") + 1) <= _MOST_ALTERNATIVES:
        found = [
            f"{each[: at.start()]}{choice}{each[at.end() :]}"
            for each in found
            if (at := _BRACES.search(each)) is not None
            for choice in at[1].split(",")
        ]
    return found


_GLOB_MARK = re.compile(r"\*+|\[!?\]?[^\]]*\]|.", re.DOTALL)


def _translate(glob: str) -> str:
    glob = glob.removeprefix("./")
    anchored = "/" in glob.rstrip("/")
    *folders, last = glob.strip("/").split("/")
    # of folders; between two stretches may stand any others
    stretches: list[list[str]] = [[]] if anchored else [[], []]
    for folder in folders:
        if folder != "**":
            stretches[-1].append(f"{_translate_name(folder)}/")
        elif stretches[-1] or len(stretches) == 1:
            stretches.append([])
    pattern = "".join(stretches[0])
    for place, stretch in enumerate(stretches[1:], 2):
        named = "".join(stretch)
        # before further free folders the first fit is as good as any: without that, many ** take for ever
        pattern += f"(?>(?:[^/]+/)*?{named})" if place < len(stretches) else f"(?:[^/]+/)*{named}"
    inside = "(?:/.*)?" if glob.endswith("/") or not any(char in glob for char in "*?[") else ""
    return f"(?s:{pattern}{_translate_name(last)}{inside})"


def _translate_name(glob: str) -> str:
    pieces, stars = [""], []
    for mark in _GLOB_MARK.findall(glob):
        if mark.startswith("*"):
            stars.append("[^/]*" if mark == "*" else ".*")
            pieces.append("")
        elif mark == "?":
            pieces[-1] += "[^/]"
        elif len(mark) > 1:
            translated = fnmatch.translate(mark)
            pieces[-1] += "(?!/)" + translated[translated.index(":") + 1 : translated.rindex(")")]
        else:
            pieces[-1] += re.escape(mark)
    pattern = pieces[0]
    for place, (star, piece) in enumerate(zip(stars, pieces[1:], strict=True)):
        # when the next star reaches as far, the first fit is as good as any: without it, many stars take for ever
        settled = place + 1 < len(stars) and stars[place + 1] in (star, ".*")
        pattern += f"(?>{star}?{piece})" if settled else star + piece
    return pattern
