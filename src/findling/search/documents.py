"""Which documents a question is about: a plan, a path prefix, tags; and the order that plans and agents have.

Works on rows of the index; reads no files (tags come through a callable).
"""

from __future__ import annotations

import posixpath
import re
from collections.abc import Callable, Iterable
from dataclasses import dataclass

from findling.model.errors import InvalidInput
from findling.model.remembered import remembered
from findling.model.rows import FileRow
from findling.search.front_matter import normal_tag
from findling.search.scope import lies_in

PLANS = "plans"
"""The folder of plans; each is a folder in it whose name begins with the plan's number."""

_NUMBERED = re.compile(r"([0-9]{1,9})(?:[-_. ].*)?$", re.DOTALL)
_DIGITS = re.compile(r"([0-9]{1,18})")

TagsOf = Callable[[FileRow], frozenset[str]]


@dataclass(frozen=True, slots=True)
class DocumentScope:
    """What narrows a question. ``prefix`` is of paths relative to the root; all of ``tags`` must be a document's."""

    plan: str = ""
    prefix: str = ""
    tags: frozenset[str] = frozenset()

    @classmethod
    def of(
        cls, *, plan: str | None = None, prefix: str | None = None, tags: Iterable[str] = (), root: str = ""
    ) -> DocumentScope:
        """From arguments as they are given. Raises `InvalidInput` for a prefix that leads out of the root."""
        return cls(
            plan=(plan or "").strip().strip("/"),
            prefix=confined(prefix, root) if prefix else "",
            tags=frozenset(tag for tag in map(normal_tag, tags) if tag),
        )

    def allows_path(self, path: str) -> bool:
        """Whether plan and prefix allow a path; says nothing of tags."""
        return (not self.plan or in_plan(path, self.plan)) and path.startswith(self.prefix)

    def of_files(self, files: Iterable[FileRow], tags_of: TagsOf) -> list[FileRow]:
        """Those of ``files`` that the scope allows; tags are asked for last, for what is left."""
        kept = list(files)
        if self.plan:
            kept = [file for file in kept if in_plan(file.own_path, self.plan)]
        if self.prefix:
            kept = _below(kept, self.prefix)
        if self.tags:
            kept = [file for file in kept if self.tags <= tags_of(file)]
        return kept


def in_plan(path: str, plan: str) -> bool:
    """Whether a path lies in ``plans/0004-*/``: ``plan`` is ``4``, ``0004`` or ``0004-feature-name``.

    A plan without a number is the folder of that name.
    """
    folder, _, rest = path.partition("/")
    name, slash, _ = rest.partition("/")
    if folder != PLANS or not slash:
        return False
    wanted, found = _NUMBERED.match(plan), _NUMBERED.match(name)
    if wanted is None or found is None:
        return name == plan
    return int(wanted[1]) == int(found[1])


def confined(prefix: str, root: str = "") -> str:
    """A path prefix relative to the root, '' for the root itself. An end with ``/`` stays.

    An absolute one must lie in ``root``. Raises `InvalidInput`.
    """
    given = prefix.strip()
    if given.startswith("/") and root:
        base = root.rstrip("/")
        if given.rstrip("/") != base and not given.startswith(f"{base}/"):
            raise _outside(prefix)
        given = given[len(base) :].lstrip("/") or "."
    normal = posixpath.normpath(given.lstrip("/") or ".")
    if normal == ".." or normal.startswith("../"):
        raise _outside(prefix)
    if normal == ".":
        return ""
    return f"{normal}/" if given.endswith("/") else normal


def _outside(prefix: str) -> InvalidInput:
    return InvalidInput(f"Parameter `pathPrefix` leads out of the root: {prefix[:200]}.")


def _below(files: list[FileRow], prefix: str) -> list[FileRow]:
    """What a prefix names: a folder or a file where there is one of that name, else whatever begins so."""
    name = prefix.rstrip("/")
    inside = [file for file in files if lies_in(file.path, name)]
    if inside or prefix.endswith("/"):
        return inside
    return [file for file in files if file.path.startswith(prefix)]


@remembered(20_000)
def prefix_order(path: str) -> tuple[tuple[str | int, ...], str]:
    """A key for the order of paths in which numbers count as numbers: plan 9 before plan 10, agent 2 before 11.

    Numbers of equal length are in the order of the paths themselves.
    """
    pieces = _DIGITS.split(path)  # text and numbers by turns, text first
    return tuple(int(piece) if place % 2 else piece for place, piece in enumerate(pieces)), path
