"""Why a file or folder is indexed or not: what the rules say of it on disk, beside what the index knows of it.

Looks, and changes nothing.
"""

from __future__ import annotations

import os
from collections import Counter
from collections.abc import Mapping
from dataclasses import replace
from typing import TYPE_CHECKING

from findling.engine.as_indexed import is_as_indexed
from findling.engine.explained_paths import content_refusal, from_root, judge
from findling.engine.refs import RefStore
from findling.engine.state import unmentioned
from findling.engine.store import OpenStore
from findling.model import errors
from findling.model.marks import classify
from findling.model.reports import NOT_YET, Explanation
from findling.model.types import SkippedFile
from findling.sources.discovery import walked_instead
from findling.sources.git_listing import listing_problem
from findling.store import soundness
from findling.store.schema import IndexDamaged

if TYPE_CHECKING:
    from findling.engine.explained_paths import Verdict
    from findling.model.rows import FileRow
    from findling.store.reader import IndexReader

CHANGED = "changed"
NO_FILES = "no_files"

_REMEDIES: Mapping[str, str] = {
    "hidden": "Set index.hidden, or let git track it.",
    "ignored": "Remove that line, or add one below it that takes the file back (!...); a file that git tracks is "
    "indexed although .gitignore names it.",
    "default_ignored": "Let git track it, or name it with --root.",
    "excluded": "Change index.exclude; 'findling config' says where it is set.",
    "not_included": "Change index.include; 'findling config' says where it is set.",
    "nested_repository": "Search that repository by itself: name it as PATH.",
    "symlink_inside": "Links are not followed; ask about what it leads to.",
    "symlink_outside": "Links are not followed; name the folder that it leads to as PATH.",
    "unreadable": "Change its permissions.",
    "too_large": "Raise index.max_file_bytes.",
    "secret": "Left out on purpose. If it holds no secret, give it another name or take the key out.",
    "minified": "Index the source that it was made from.",
    "undecodable_name": "Rename it.",
    "unknown_encoding": "Convert it to UTF-8, or declare its encoding in its first lines.",
    "not_found": "Check the path.",
    "outside_root": "Name another root with --root, or leave --root out.",
    "failed": "'findling index' tries it again.",
    NOT_YET: "The next search takes it in, or 'findling index' now.",
    CHANGED: "The next search takes the change in, or 'findling sync' now.",
}
_MISSING: Mapping[str, str] = {
    "no_grammar": "none: its language is not taken apart",
    "timeout": "none: taking it apart took too long",
    "too_many_symbols": "not all: it has more than are kept of a file",
    "parse_error": "some may be missing: its syntax has errors, or is of another dialect",
    "not_parsed": "none: it is too large to be taken apart",
}
_NO_INDEX = "this folder has no index yet"
_BUILT_ANEW = "its index cannot be used and has to be built anew"
_LEAVING = "it is still in the index; the next search takes it out"


def explain(store: OpenStore, path: str) -> Explanation:
    """See `Explanation`. ``path``: absolute, or relative to the root. Raises `ConfigError`."""
    if isinstance(store, RefStore):
        found = _in_commit(store, path)
        return replace(found, root=str(store.root), remedy=_REMEDIES.get(found.reason, ""), notes=store.take_notes())
    verdict = judge(store.root, path, store.configuration.wanted)
    if verdict.is_folder and (verdict.refusal is None or verdict.refusal.reason == NO_FILES):
        prefix = "" if verdict.path == "." else f"{verdict.path}/"
        more = unmentioned(store, verdict.left_out)
        verdict.left_out.extend(skip for skip in more if skip.path.startswith(prefix))
    if problem := "" if store.configuration.wanted.files else listing_problem(os.path.realpath(store.root)):
        store.notes.append(walked_instead(problem))
    reader = _reader(store)
    if reader is None:
        found = _folder(verdict, set(), []) if verdict.is_folder else _file(store, verdict, None)
    else:
        with reader.snapshot():
            if verdict.is_folder:
                prefix = "" if verdict.path == "." else verdict.path
                known = {file.path for file in reader.all_files(prefix=prefix)}
                skipped = [SkippedFile(*row) for row in reader.skipped()]
                found = _folder(verdict, known, skipped)
            else:
                found = _file(store, verdict, reader)
    return replace(found, root=str(store.root), remedy=_REMEDIES.get(found.reason, ""), notes=store.take_notes())


def _in_commit(store: RefStore, path: str) -> Explanation:
    """Of a commit only its manifest is asked: what stands on disk is something else, and the commit never changes."""
    inside = from_root(store.root, path)
    if isinstance(inside, SkippedFile):
        return _not_indexed(inside)
    reader = _reader(store)
    if reader is None:
        return _not_indexed(SkippedFile(inside, NOT_YET, _BUILT_ANEW if store.exists else _NO_INDEX))
    with reader.snapshot():
        if (file := reader.file_at(inside)) is not None:
            marks = set(classify(inside)) | ({"generated"} if file.generated else set())
            found = Explanation(inside, "file", True, True, language=file.language, marks=tuple(sorted(marks)), files=1)
            return _with_parts(found, reader, file)
        skipped = [SkippedFile(*row) for row in reader.skipped()]
        if own := next((skip for skip in skipped if skip.path.rstrip("/") == inside), None):
            return _not_indexed(replace(own, path=inside))
        prefix = "" if inside == "." else inside
        files = sum(1 for _ in reader.all_files(prefix=prefix))
        left_out = Counter(skip.reason for skip in skipped if not prefix or skip.path.startswith(f"{prefix}/"))
        if files or left_out:
            reason = "" if files else NO_FILES
            counts = dict(left_out.most_common())
            indexed = bool(files)
            return Explanation(inside, "folder", indexed, indexed, reason=reason, files=files, left_out=counts)
        if reader.manifest is None or not reader.manifest.complete:
            return _not_indexed(SkippedFile(inside, NOT_YET, "this commit is not indexed as a whole yet"))
    return _not_indexed(SkippedFile(inside, "not_found", "the commit holds no such file or folder"))


def _not_indexed(skip: SkippedFile) -> Explanation:
    return Explanation(skip.path, "file", False, False, reason=skip.reason, detail=skip.detail)


def _reader(store: OpenStore) -> IndexReader | None:
    """None without an index, or with one that is to be built anew."""
    if not store.exists:
        return None
    store.close_if_replaced()
    try:
        if problem := soundness.problem(store.directory):
            raise IndexDamaged(problem)
        return store.reader
    except errors.IndexUnavailable as error:
        damaged = isinstance(error, IndexDamaged)
        store.notes.append(f"{error.message} {store.begun_anew_by} builds it anew." if damaged else str(error))
        return None


def _file(store: OpenStore, verdict: Verdict, reader: IndexReader | None) -> Explanation:
    path = verdict.path
    known = reader.file_at(path) if reader is not None and not _unaskable(verdict) else None
    if verdict.refusal is None:
        _, size, stamp = verdict.found[0]
        state = reader.state_of(path) if reader is not None else None
        unchanged = is_as_indexed(state, size, stamp)
        refusal = None if unchanged else _refusal_of_content(store, path, reader)
        if refusal is None:
            marks = set(classify(path)) | ({"generated"} if known is not None and known.generated else set())
            changed = "" if unchanged else "it changed since it was indexed"
            found = Explanation(
                path=path,
                kind="file",
                indexed=known is not None,
                in_index=known is not None,
                reason="" if unchanged else NOT_YET if known is None else CHANGED,
                detail=_waiting(store, reader) if known is None else changed,
                language=known.language if known is not None else "",
                marks=tuple(sorted(marks)),
                files=int(known is not None),
            )
            return _with_parts(found, reader, known) if reader is not None and known is not None else found
    else:
        refusal = verdict.refusal
    detail = "; ".join(filter(None, (refusal.detail, _LEAVING if known is not None else "")))
    return Explanation(
        path=path, kind="file", indexed=False, in_index=known is not None, reason=refusal.reason, detail=detail
    )


def _with_parts(found: Explanation, reader: IndexReader, file: FileRow) -> Explanation:
    chunks, symbols, problem = reader.taken_apart(file.blob_id)
    missing = _MISSING.get(problem, problem) if file.kind == "code" else ""  # prose has none to miss
    return replace(found, chunks=chunks, symbols=symbols, symbols_missing=missing)


def _unaskable(verdict: Verdict) -> bool:
    """Whether the index cannot have heard of such a path."""
    return verdict.refusal is not None and verdict.refusal.reason in ("outside_root", "undecodable_name")


def _refusal_of_content(store: OpenStore, path: str, reader: IndexReader | None) -> SkippedFile | None:
    """What reading the file brings up; for one whose worker died, what the index remembers."""
    if reader is not None:
        for known, reason, detail in reader.skipped():
            if known == path and reason == "failed":
                return SkippedFile(path, reason, detail)
    return content_refusal(store.root, path, store.configuration.wanted)


def _waiting(store: OpenStore, reader: IndexReader | None) -> str:
    if reader is None and store.exists:
        return _BUILT_ANEW
    if reader is None or reader.manifest is None:
        return _NO_INDEX
    return "it is new since the index was brought up to date"


def _folder(verdict: Verdict, known: set[str], skipped: list[SkippedFile]) -> Explanation:
    """``known``: the indexed files in it; ``skipped``: all that the index knows to be left out."""
    wanted = {path for path, _, _ in verdict.found}
    by_content = [skip for skip in skipped if skip.path in wanted and skip.path not in known]
    left_out = Counter(skip.reason for skip in (*verdict.left_out, *by_content) if skip.reason != NO_FILES)
    refusal = verdict.refusal
    staying = known & wanted
    missing = len(wanted - known) - len(by_content)
    reason, detail = "", ""
    if refusal is not None:
        reason = refusal.reason
        detail = "; ".join(filter(None, (refusal.detail, _LEAVING if known else "")))
    elif not staying:
        reason = NOT_YET if missing else NO_FILES
        detail = "" if missing else "none of its files is to be indexed, as their contents show"
    return Explanation(
        path=verdict.path,
        kind="folder",
        indexed=bool(staying),
        in_index=bool(known),
        reason=reason,
        detail=detail,
        files=len(known),
        waiting=missing,
        left_out=dict(left_out.most_common()),
    )
