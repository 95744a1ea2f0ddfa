"""What is nearest to a name or a path that does not occur: by its letters. Pure."""

from __future__ import annotations

import re
from collections.abc import Callable, Collection
from difflib import SequenceMatcher, get_close_matches
from heapq import nsmallest

from findling.search.ranking.priors import OF_PLACES, path_flags

NEAREST = 3
"""Names, paths or lines that are shown beside what does not occur."""

ALIKE, AS_GOOD = 0.7, 0.85
"""How much of their letters two names, paths or messages share at least: names and paths to be shown; all three to be
taken for a slip of the pen."""

_COMPARED = 400
"""Names or paths that are compared letter by letter; the others have other letters or lengths."""

TESTS_BEHIND = 0.1
"""How much more alike the path of a test or an example has to be than another one, unless one was asked for."""

_FOUND = 3 * NEAREST
"""Names of which those are shown that stand in the scope."""


def nearest_paths(asked: str, known: Collection[str]) -> list[tuple[float, str]]:
    """(likeness, path) of the paths nearest to one that is not among them, the best first."""
    asked = asked.lower().strip("/")
    parts = asked.count("/") + 1

    def end(path: str) -> str:
        """As many parts of a path as were asked for."""
        return "/".join(path.lower().split("/")[-parts:])

    name = f"/{asked.rpartition('/')[2]}"
    same = sorted(path for path in known if f"/{path.lower()}".endswith(name))
    alike = dict.fromkeys(same, AS_GOOD if len(same) == 1 else ALIKE)
    for likeness, near in most_alike(asked, known, end):
        alike[near] = max(likeness, alike.get(near, 0.0))
    for_tests = path_flags(asked) & OF_PLACES

    def order(near: str) -> tuple[float, str]:
        behind = 0.0 if for_tests else TESTS_BEHIND * bool(path_flags(near) & OF_PLACES)
        return behind - alike[near], near

    first = nsmallest(NEAREST, alike, key=order)
    return [(alike[near], near) for near in first]


def with_folders(paths: Collection[str]) -> set[str]:
    """Paths of files and of all the folders that they lie in."""
    return {*paths, *(path[: slash.start()] for path in paths for slash in re.finditer("/", path))}


def most_alike(asked: str, known: Collection[str], shown: Callable[[str], str]) -> list[tuple[float, str]]:
    """(likeness, which) of those that share most letters with what was asked for, the best first. ``shown``: what of
    each is compared."""
    letters = set(asked)
    likely = nsmallest(
        _COMPARED,
        (
            (len(letters.symmetric_difference(text)) + abs(len(text) - len(asked)), text, each)
            for each in known
            if (text := shown(each))
        ),
    )
    by_text = {text: each for _, text, each in reversed(likely)}
    near = get_close_matches(asked, list(by_text), _FOUND, ALIKE)
    return [(SequenceMatcher(a=text, b=asked, autojunk=False).ratio(), by_text[text]) for text in near]
