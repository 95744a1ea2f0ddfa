"""Why a file or folder is indexed or not: what the rules say of it on disk, beside what the index knows of it.

Looks, and changes nothing.
"""

from __future__ import annotations

import os
import stat
from collections import Counter
from collections.abc import Mapping
from pathlib import Path
from typing import TYPE_CHECKING, NamedTuple

from msgspec.structs import replace

from findling import reading
from findling.engine.refs import RefStore
from findling.engine.remote.store import RemoteStore
from findling.engine.shown import is_as_indexed
from findling.engine.state import unmentioned
from findling.engine.store import OpenStore
from findling.model import errors
from findling.model.format_names import format_of
from findling.model.marks import classify
from findling.model.reports import NOT_YET, Explanation
from findling.model.rows import FileRow
from findling.model.types import SkippedFile
from findling.sources.discovery import walked_instead
from findling.sources.looking import read_file
from findling.sources.named_paths import look_at
from findling.sources.selection import DiscoveryOptions, Found, Selection, is_text, shown
from findling.sources.tracked import listing_problem, not_checked_out
from findling.store.local import soundness
from findling.store.local.reader import IndexReader
from findling.store.local.schema import IndexDamaged

if TYPE_CHECKING:
    from findling.store.postgresql import PostgresIndex

# ruff: noqa: PTH118, PTH119, PTH120 - plain strings, as in selection

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
    "lfs_pointer": "'git lfs pull' gets its content.",
    "not_checked_out": "'git sparse-checkout disable' brings all files, 'git sparse-checkout add FOLDER' those of one.",
    "minified": "Index the source that it was made from.",
    "undecodable_name": "Rename it.",
    "unknown_encoding": "Convert it to UTF-8, or declare its encoding in its first lines.",
    "not_found": "Check the path.",
    "outside_root": "Name another root with --root, or leave --root out.",
    "failed": "'findling index' tries it again.",
    NOT_YET: "The next search indexes it; 'findling index' does so now.",
    CHANGED: "The next search updates it; 'findling sync' does so now.",
}
_MISSING: Mapping[str, str] = {
    "no_grammar": "none: this language is not parsed",
    "timeout": "none: parsing it took too long",
    "too_many_symbols": "not all: it has more than the limit per file",
    "parse_error": "some may be missing: its syntax has errors, or is of another dialect",
    "not_parsed": "none: it is too large to parse",
}
_NO_INDEX = "this folder has no index yet"
_BUILT_ANEW = "its index cannot be used and must be rebuilt"
_LEAVING = "it is still in the index; the next search removes it"


def explain(store: OpenStore, path: str) -> Explanation:
    """See `Explanation`. ``path``: absolute, or relative to the root. Raises `ConfigError`."""
    if isinstance(store, RemoteStore) and not store.is_of_disk:
        with store.for_one_answer():
            return _whole(_listed(store, path), store)
    if isinstance(store, RefStore):
        return _whole(_listed(store, path), store)
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
                skipped = [SkippedFile(*row) for row in reader.listed.skipped()]
                found = _folder(verdict, known, skipped)
            else:
                found = _file(store, verdict, reader)
    return _whole(found, store)


def _whole(found: Explanation, store: OpenStore) -> Explanation:
    """An explanation with its root, what helps, and notes."""
    remedy = _REMEDIES.get(found.reason, "")
    if isinstance(store, RemoteStore) and found.reason in (NOT_YET, CHANGED, "failed"):
        remedy = "'findling index' with the same store publishes it."
    return replace(found, root=str(store.root), remedy=remedy, notes=store.take_notes())


def _listed(store: RefStore | RemoteStore, path: str) -> Explanation:
    """What the index alone says, of a commit or of what was published: what stands on disk is something else."""
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
        skipped = [SkippedFile(*row) for row in reader.listed.skipped()]
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
            return _not_indexed(SkippedFile(inside, NOT_YET, "this commit is not completely indexed yet"))
    holder = "what was published" if isinstance(store, RemoteStore) else "the commit"
    return _not_indexed(SkippedFile(inside, "not_found", f"{holder} holds no such file or folder"))


def _not_indexed(skip: SkippedFile) -> Explanation:
    return Explanation(skip.path, "file", False, False, reason=skip.reason, detail=skip.detail)


def _reader(store: OpenStore) -> IndexReader | PostgresIndex | None:
    """None without an index, or with one that is to be built anew."""
    if isinstance(store, RemoteStore):
        return store.remote
    if not store.exists:
        return None
    store.close_if_replaced()
    try:
        if problem := soundness.problem(store.directory):
            raise IndexDamaged(problem)
        return store.on_disk
    except errors.IndexUnavailable as error:
        damaged = isinstance(error, IndexDamaged)
        store.notes.append(f"{error.message} {store.begun_anew_by} rebuilds it." if damaged else str(error))
        return None


def _file(store: OpenStore, verdict: Verdict, reader: IndexReader | PostgresIndex | None) -> Explanation:
    path = verdict.path
    known = reader.file_at(path) if reader is not None and not _unaskable(verdict) else None
    if verdict.refusal is None:
        _, size, stamp = verdict.found[0]
        state = reader.listed.state_of(path) if reader is not None else None
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
            found = replace(found, masked=_masks(store, path))
            return _with_parts(found, reader, known) if reader is not None and known is not None else found
    else:
        refusal = verdict.refusal
    detail = "; ".join(filter(None, (refusal.detail, _LEAVING if known is not None else "")))
    return Explanation(
        path=path, kind="file", indexed=False, in_index=known is not None, reason=refusal.reason, detail=detail
    )


def _masks(store: OpenStore, path: str) -> tuple[tuple[int, str], ...]:
    """Where secrets are masked in a file that is text as it is."""
    read = read_file(store.root, path, store.configuration.wanted.limit(path))
    if isinstance(read, SkippedFile) or format_of(path):
        return ()
    decoded = reading.admit(path, read[1])
    return () if isinstance(decoded, SkippedFile) else decoded.masks


def _with_parts(found: Explanation, reader: IndexReader | PostgresIndex, file: FileRow) -> Explanation:
    chunks, symbols, problem = reader.taken_apart(file.blob_id)
    missing = _MISSING.get(problem, problem) if file.kind == "code" else ""  # prose has none to miss
    return replace(found, chunks=chunks, symbols=symbols, symbols_missing=missing)


def _unaskable(verdict: Verdict) -> bool:
    """Whether the index cannot have heard of such a path."""
    return verdict.refusal is not None and verdict.refusal.reason in ("outside_root", "undecodable_name")


def _refusal_of_content(store: OpenStore, path: str, reader: IndexReader | PostgresIndex | None) -> SkippedFile | None:
    """What reading the file brings up; for one whose worker died, what the index remembers."""
    if reader is not None:
        for known, reason, detail in reader.listed.skipped():
            if known == path and reason == "failed":
                return SkippedFile(path, reason, detail)
    return content_refusal(store.root, path, store.configuration.wanted)


def _waiting(store: OpenStore, reader: IndexReader | PostgresIndex | None) -> str:
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
        detail = "" if missing else "none of its files can be indexed, because of their contents"
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


# --- one path, judged as listing and reading would judge it: no rule of its own -------------------------------------


class Verdict(NamedTuple):
    """``path`` is relative to the root, "." for the root itself.

    ``refusal``: why it is not wanted as a whole, None when it is. ``found`` are the wanted files: itself, or those in
    the folder; ``left_out`` is what is not wanted in the folder, without what git itself ignores there.
    """

    path: str
    is_folder: bool
    refusal: SkippedFile | None
    found: list[Found]
    left_out: list[SkippedFile]


def judge(root: Path, path: str, options: DiscoveryOptions) -> Verdict:
    """``path``: absolute, or relative to the root. Only status and ignore files are read."""
    selection = Selection(os.path.realpath(root), options)
    relative = from_root(root, path)
    if isinstance(relative, SkippedFile):
        return _refused(relative)
    is_folder, impossible = _reach(selection, relative)
    if impossible is not None:
        return _refused(impossible, path=relative)
    looked = look_at(root, [relative], None, options)
    refusal = _refusal(relative, is_folder, looked.found, looked.skipped)
    return Verdict(relative, is_folder, refusal, looked.found, looked.skipped if is_folder else [])


def from_root(root: Path, path: str) -> str | SkippedFile:
    """A path (absolute, or from the root) as the index writes it, "." for the root; why it cannot be in an index."""
    real = os.path.realpath(root)
    relative = _relative(real, path)
    if relative is None:
        return SkippedFile(shown(path), "outside_root", f"it does not lie in {shown(real)}")
    if not is_text(relative):
        return SkippedFile(relative, "undecodable_name", "its name is not valid UTF-8")
    return relative


def content_refusal(root: Path, path: str, options: DiscoveryOptions) -> SkippedFile | None:
    """Why a file that listing wants is left out once it is read: unreadable, secret, binary, minified, unknown
    encoding, or what keeps a document from being converted; None when it is not."""
    read = read_file(root, path, options.limit(path))
    if isinstance(read, SkippedFile):
        return read
    if format_of(path):  # its reader may hang or crash
        with reading.WorkerPool(1) as pool:
            pool.submit([reading.Task(0, path, read[1])])
            answers = pool.collect()
        prepared: object = answers[0][1] if answers else None
    else:
        prepared = reading.prepare.prepare(path, read[1], with_syntax=False)
    return prepared if isinstance(prepared, SkippedFile) else None


def _refused(refusal: SkippedFile, *, path: str | None = None) -> Verdict:
    return Verdict(refusal.path if path is None else path, False, refusal, [], [])


def _relative(root: str, path: str) -> str | None:
    """``path`` from the root as it is written, else as its folder really is; None outside."""
    written = os.path.normpath(os.path.join(root, path))
    try:
        real = os.path.join(os.path.realpath(os.path.dirname(written)), os.path.basename(written))
    except (OSError, ValueError):
        real = written
    for name in (written, real):
        if name == root:
            return "."
        if name.startswith(root.rstrip("/") + "/"):
            return name[len(root.rstrip("/")) + 1 :]
    return None


def _reach(selection: Selection, path: str) -> tuple[bool, SkippedFile | None]:
    """Whether it is a folder, and what keeps it from being asked about."""
    parts = [] if path == "." else path.split("/")
    is_folder = True
    for depth in range(1, len(parts) + 1):
        part = "/".join(parts[:depth])
        try:
            mode = os.lstat(selection.prefix + part).st_mode
        except (FileNotFoundError, NotADirectoryError, ValueError):
            gone = SkippedFile(path, "not_found", "there is no such file or folder")
            return False, not_checked_out(selection.root, path) or gone
        except OSError as error:
            return False, SkippedFile(path, "unreadable", error.strerror or str(error))
        is_folder = stat.S_ISDIR(mode)
        if depth < len(parts) and stat.S_ISLNK(mode):
            link = selection.look(part)
            if isinstance(link, SkippedFile):
                return False, SkippedFile(path, link.reason, f"{part} is {link.detail}")
    return is_folder, None


def _refusal(path: str, is_folder: bool, found: list[Found], skipped: list[SkippedFile]) -> SkippedFile | None:
    """The rule about the path itself; for a folder without a wanted file also the one that all in it share."""
    if found:
        return None
    own = next((skip for skip in skipped if skip.path.rstrip("/") == path), None)
    if own is None and len({(skip.reason, skip.detail) for skip in skipped}) == 1:
        own = skipped[0]
    if own is None:
        words = "no file in this folder is to be indexed" if is_folder else "it was deleted while it was being read"
        return SkippedFile(path, "no_files" if is_folder else "not_found", words)
    return SkippedFile(path, own.reason, own.detail)
