"""What is in a folder beside its index: files that are not read yet, and those that are left out.

For what must not be called absent before it was looked for everywhere. Lists and reads only when asked.
"""

from __future__ import annotations

import re
import time
from collections.abc import Collection, Mapping, Sequence
from dataclasses import replace
from functools import cached_property

from findling import sources
from findling.engine.refs import RefStore
from findling.engine.searched import OpenCollection
from findling.engine.store import OpenStore
from findling.model import errors
from findling.model.format_names import format_of
from findling.model.text_encodings import as_utf8
from findling.model.types import SkippedFile
from findling.outbound.files import NotRead

_PRESENT = frozenset(("not_found", "outside_root", "no_files"))
"""Reasons of what is not there at all."""


class UnreadFiles:
    """Of one store, for one question, within its index's snapshot. ``current``: the index has every file as it is."""

    def __init__(self, store: OpenStore, *, current: bool, may_list: bool) -> None:
        """``may_list``: whether the folder may be listed."""
        self._store = store
        self._current = current
        self._may_list = may_list

    @cached_property
    def _paths(self) -> list[str] | None:
        """The files that the index does not have as they are; None where nobody can tell."""
        if self._current:
            return []
        if not self._may_list:
            return None
        store = self._store
        try:
            if isinstance(store, RefStore):
                listed = sources.list_tree(store.root, store.ref.commit_id, store.configuration.wanted).files
            else:
                listed = sources.discovery.discover(store.root, store.configuration.wanted).files
        except errors.RefNotIndexed:
            return None
        known = self._known
        return [path for path, size, stamp in listed if known.get(path) != (size, stamp)]

    @cached_property
    def _known(self) -> Mapping[str, tuple[int, int]]:
        """(size, `files.stamp_of`) of what the index on disk has, by path."""
        return self._store.reader.known_files() if self._store.exists else {}

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
        with self._store.new_files() as files:
            for path in self._paths:
                if time.monotonic() > until or format_of(path):
                    return None  # a document's text is not known before it is converted
                read = files.read(path, most)
                if not isinstance(read, NotRead) and pattern.search(as_utf8(read[1])):
                    return True
        return False

    def left_out(self, path: str) -> SkippedFile | None:
        """Why a path is there and not searched; None where that is not so."""
        end = f"/{path.lstrip('/')}"
        for known, reason, detail in self._store.reader.skipped() if self._store.exists else ():
            if f"/{known.rstrip('/')}".endswith(end):
                return SkippedFile(known, reason, detail)
        if isinstance(self._store, RefStore) or not self._may_list or path.startswith("/"):
            return None
        looked = sources.look_at(self._store.root, [path], None, self._store.configuration.wanted)
        return next((file for file in looked.skipped if file.reason not in _PRESENT), None)


class UnreadOfAll:
    """The same of several collections, whose names stand before their paths."""

    def __init__(self, collections: Sequence[tuple[OpenCollection, UnreadFiles]]) -> None:
        self._collections = collections

    def files(self) -> int | None:
        every = [unread.files() for _, unread in self._collections]
        known = [number for number in every if number is not None]
        return sum(known) if len(known) == len(every) else None

    def paths(self) -> Collection[str]:
        return [each.path(path) for each, unread in self._collections for path in unread.paths()]

    def hold(self, pattern: re.Pattern[bytes], until: float) -> bool | None:
        every = [unread.hold(pattern, until) for _, unread in self._collections]
        return True if any(every) else None if None in every else False

    def left_out(self, path: str) -> SkippedFile | None:
        for each, unread in self._collections:
            inner = path.removeprefix(f"{each.name}/") if each.name else path
            if (found := unread.left_out(inner)) is not None:
                return replace(found, path=each.path(found.path))
        return None
