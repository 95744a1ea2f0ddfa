"""Refs: finds the commit that a branch or tag names, opens its store, and tells whether it is fresh. The branch that is
checked out is searched as the folder on disk, not as a ref. Knows no answers.
"""

from __future__ import annotations

import os
import re
from collections.abc import Sequence
from functools import cached_property
from pathlib import Path
from typing import TYPE_CHECKING, Final

from msgspec.structs import replace

from findling import outbound, sources
from findling.config import roots
from findling.engine.store import WRITER_WAIT_S, OpenStore
from findling.model import errors
from findling.model.collection import Ref
from findling.outbound.files import Files
from findling.store import local as stored

if TYPE_CHECKING:
    from findling.sources.git_objects import RefFiles

MAX_REF_CHARS: Final = 300
"""No branch or tag has a longer name."""

_COMMIT = re.compile(r"[0-9a-f]{40}(?:[0-9a-f]{24})?")
_SHOWN_NAMES = 3
_NAMES_BYTES = 4_000_000
"""Bytes of branch and tag names that are read to suggest one for a name that does not exist."""

_COMPARED_NAMES = 500
"""How many of these names are compared letter by letter; comparing 50,000 would take three seconds."""


# --- names --------------------------------------------------------------------------------------------------------


def find_ref(root: Path, asked: str | None) -> Ref | None:
    """The ref that ``asked`` names. None means the folder on disk: for None, ``live`` and the branch that is checked
    out.

    Raises `RefNotIndexed` for what is no branch, tag or commit here.
    """
    if asked is None or asked in (roots.LIVE, roots.checked_out(root)):
        return None
    if sources.find_git_top(os.path.realpath(root)) is None and not roots.is_bare(root):
        raise errors.RefNotIndexed(
            f"There is no ref {asked[:MAX_REF_CHARS]!r}: {root} is not in a git repository.",
            remedy="Leave the ref out.",
        )
    words = ["-c", "core.warnAmbiguousRefs=true", *sources.git_arguments(root), "rev-parse", "--verify"]
    output = outbound.run_git([*words, "--end-of-options", f"{checked(asked)}^{{commit}}"], cwd=root)
    commit = output.stdout.strip().decode("ascii", "replace")
    if output.ok and _COMMIT.fullmatch(commit):
        return Ref(asked, commit, ambiguous=b"is ambiguous" in output.stderr)
    if output.status not in ("ok", "failed") or output.dubious_ownership:
        raise errors.RefNotIndexed(f"git cannot say what {asked!r} is: {sources.why_it_failed(output)}.")
    raise _unknown(root, asked)


def checked(asked: str) -> str:
    """A name that a ref may have. Raises `InvalidInput` for another."""
    if not asked or len(asked) > MAX_REF_CHARS or not asked.isprintable() or asked.startswith("-"):
        raise errors.InvalidInput(
            f"{asked[:MAX_REF_CHARS]!r} is not the name of a ref.", remedy="Name a branch or tag."
        )
    return asked


def committed_at(root: Path, ref: Ref) -> float:
    """When a ref's commit was made, in seconds since 1970. Raises `RefNotIndexed` where git cannot say."""
    words = ["log", "-1", "--no-show-signature", "--format=%ct", ref.commit_id, "--"]
    output = outbound.run_git([*sources.git_arguments(root), *words], cwd=root)
    seconds = output.stdout.strip()
    if not output.ok or not seconds.isdigit():
        raise errors.RefNotIndexed(f"git cannot say when {ref.name!r} was committed ({output.status}).")
    return float(seconds)


def check_scope(root: Path, ref: Ref | None, scope: str) -> None:
    """That there is something at the path ``scope`` from the root: in ``ref``'s commit, on disk for None.

    Raises `NotFound`.
    """
    if not scope or (os.path.lexists(root / scope) if ref is None else sources.holds(root, ref.commit_id, scope)):
        return
    where = f"on disk in {root}" if ref is None else f"in {ref.name}"
    raise errors.NotFound(f"There is no file or folder {scope!r} {where}.", remedy="Check the path.")


def ref_names(root: Path) -> list[str]:
    """The branches and tags that git lists, those of remotes too; none outside of a repository."""
    listed = outbound.run_git(
        [
            *sources.git_arguments(root),
            *("for-each-ref", "--format=%(refname:short)", "refs/heads", "refs/tags", "refs/remotes"),
        ],
        cwd=root,
        max_output=_NAMES_BYTES,
    )
    return listed.stdout.decode("utf-8", "replace").split() if listed.ok else []


def _unknown(root: Path, asked: str) -> errors.RefNotIndexed:
    from difflib import get_close_matches

    names = ref_names(root)
    if asked in names:
        return errors.RefNotIndexed(f"{asked!r} does not name a commit here.", remedy="Name a branch or tag.")
    near = get_close_matches(asked, _likely(asked, names), _SHOWN_NAMES)
    near += [name for name in names if name.rpartition("/")[2] == asked and name not in near]
    hint = f"Did you mean {' or '.join(near[:_SHOWN_NAMES])}?" if near else "'git branch -a' and 'git tag' list those."
    shallow = outbound.run_git([*sources.git_arguments(root), "rev-parse", "--is-shallow-repository"], cwd=root)
    if shallow.stdout.strip() == b"true":
        hint += " This clone is shallow: older commits are not in it ('git fetch --unshallow' gets them)."
    return errors.RefNotIndexed(f"There is no branch, tag or commit {asked!r} in this clone.", remedy=hint)


def _likely(asked: str, names: Sequence[str]) -> Sequence[str]:
    """The names to compare letter by letter: those with about the same letters and length as ``asked``."""
    if len(names) <= _COMPARED_NAMES:
        return names
    from heapq import nsmallest

    letters = set(asked)
    return nsmallest(
        _COMPARED_NAMES, names, key=lambda name: len(letters.symmetric_difference(name)) + abs(len(name) - len(asked))
    )


# --- the store ----------------------------------------------------------------------------------------------------


class RefStore(OpenStore):
    """The store of a commit; it has the configuration and the place of ``base``, its folder's store."""

    lasting = True
    ref: Ref

    def __init__(self, base: OpenStore, ref: Ref) -> None:
        super().__init__(replace(base.collection, ref=ref))
        self.ref = ref
        self.configuration = base.configuration
        self.on_close.append(self._end_git)

    @property
    def manifest_key(self) -> tuple[str, str]:
        # One for all work trees: what a commit holds does not depend on where it is asked for.
        return str(roots.index_owner(self.root)), self.ref.commit_id

    @cached_property
    def _files(self) -> RefFiles:
        return self.new_files()

    @cached_property
    def file_count(self) -> int:
        """How many files of the commit are to be indexed; 0 where git cannot list them. As slow as listing them."""
        try:
            return len(sources.list_tree(self.root, self.ref.commit_id, self.configuration.wanted).files)
        except errors.RefNotIndexed:
            return 0  # indexing tells why

    def new_files(self) -> sources.RefFiles:
        return sources.RefFiles(self.root, self.ref.commit_id)

    @property
    def source(self) -> Path | Files:
        return self._files

    def open_files(self) -> Files:
        return self._files

    def forget(self) -> None:
        """Take the commit's files out of the index, so that the next run makes its manifest anew."""
        writer = stored.IndexWriter(self.directory, wait_s=WRITER_WAIT_S)
        try:
            writer.forget_manifest(writer.manifest(*self.manifest_key))
            writer.commit()
        finally:
            writer.close()

    def _end_git(self) -> None:
        self._files.close()


# --- freshness ----------------------------------------------------------------------------------------------------


def up_to_date(store: RefStore) -> bool:
    """Whether all files of the commit that the configuration asks for are indexed, except those whose objects git still
    lacks."""
    reader = store.reader
    with reader.snapshot():
        manifest = reader.manifest
        return (
            manifest is not None
            and manifest.complete
            and manifest.wanted == store.configuration.wanted.id
            and not store.cut_otherwise
            and not (reader.listed.any_unread and _objects_came(store.root, manifest.synced_at))
        )


def unlistable(store: RefStore) -> str:
    """A sentence on why git cannot list the commit's files and what helps; '' if it can. As slow as listing them."""
    try:
        sources.check_listable(store.root, store.ref.commit_id)
    except errors.RefNotIndexed as error:
        return str(error)
    return ""


def _objects_came(root: Path, synced_at: str) -> bool:
    """Whether the repository got new objects since, which may be the missing ones."""
    from datetime import datetime

    return sources.objects_changed_at(root) > datetime.fromisoformat(synced_at).timestamp()
