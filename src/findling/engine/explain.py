"""Why a file or folder is indexed or not: what the rules say of it on disk, beside what the index knows of it.

Looks, and changes nothing.
"""

from __future__ import annotations

import os
import stat
from collections import Counter
from pathlib import Path
from typing import NamedTuple

import msgspec
from msgspec.structs import replace

from findling import reading
from findling.engine.refs import RefStore
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
from findling.store.local.schema import IndexDamaged
from findling.store.protocols import KeptIndex

# ruff: noqa: PTH118, PTH119, PTH120 - plain strings, as in selection

CHANGED = "changed"
NO_FILES = "no_files"

_WORDS = msgspec.json.decode(Path(__file__).with_name("remedies.json").read_bytes(), type=dict[str, dict[str, str]])
_REMEDIES, _MISSING = _WORDS["left_out"], _WORDS["symbols_missing"]
"""By the reason that a file is left out, or has no symbols: what to do about it, and what is said of it."""

_NO_INDEX = "this folder has no index yet"
_BUILT_ANEW = "its index cannot be used and must be rebuilt"
_LEAVING = "it is still in the index; the next search removes it"


def explain(store: OpenStore, path: str) -> Explanation:
    """See `Explanation`. ``path``: absolute, or relative to the root. Raises `ConfigError`."""
    shared = store.shared
    if isinstance(store, RefStore) or (shared is not None and not shared.is_of_disk):
        with store.for_one_answer():
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
    if store.shared is not None and found.reason in (NOT_YET, CHANGED, "failed"):
        remedy = "'findling index' with the same store publishes it."
    return replace(found, root=str(store.root), remedy=remedy, notes=store.take_notes())


def _listed(store: OpenStore, path: str) -> Explanation:
    """What the index alone says, of a commit or of what was published: what stands on disk is something else."""
    inside = from_root(store.root, path)
    if isinstance(inside, SkippedFile):
        return _left_out(inside)
    reader = _reader(store)
    if reader is None:
        return _left_out(SkippedFile(inside, NOT_YET, _BUILT_ANEW if store.exists else _NO_INDEX))
    with reader.snapshot():
        if (file := reader.file_at(inside)) is not None:
            return _wanted(inside, reader, file)
        skipped = [SkippedFile(*row) for row in reader.listed.skipped()]
        if own := next((skip for skip in skipped if skip.path.rstrip("/") == inside), None):
            return _left_out(own, inside)
        prefix = "" if inside == "." else inside
        files = sum(1 for _ in reader.all_files(prefix=prefix))
        left_out = Counter(skip.reason for skip in skipped if not prefix or skip.path.startswith(f"{prefix}/"))
        if files or left_out:
            reason = "" if files else NO_FILES
            counts = dict(left_out.most_common())
            indexed = bool(files)
            return Explanation(inside, "folder", indexed, indexed, reason=reason, files=files, left_out=counts)
        if reader.manifest is None or not reader.manifest.complete:
            return _left_out(SkippedFile(inside, NOT_YET, "this commit is not completely indexed yet"))
    holder = "what was published" if store.shared else "the commit"
    return _left_out(SkippedFile(inside, "not_found", f"{holder} holds no such file or folder"))


def _left_out(skip: SkippedFile, path: str = "", *, in_index: bool = False) -> Explanation:
    """The explanation for a file that is left out. ``path``: its path, where ``skip`` is about another file or folder
    that is left out for the same reason. ``in_index``: the index still has it."""
    detail = "; ".join(filter(None, (skip.detail, _LEAVING if in_index else "")))
    return Explanation(path or skip.path, "file", False, in_index, reason=skip.reason, detail=detail)


def _wanted(path: str, reader: KeptIndex | None, file: FileRow | None) -> Explanation:
    """The explanation for a file that is to be indexed. ``file``: its row in the index, None where it has none."""
    marks = set(classify(path)) | ({"generated"} if file is not None and file.generated else set())
    known = file is not None
    found = Explanation(path, "file", known, known, marks=tuple(sorted(marks)), files=int(known))
    if file is None or reader is None:
        return found
    chunks, symbols, problem = reader.taken_apart(file.blob_id)
    missing = _MISSING.get(problem, problem) if file.kind == "code" else ""  # prose has none to miss
    return replace(found, language=file.language, chunks=chunks, symbols=symbols, symbols_missing=missing)


def _reader(store: OpenStore) -> KeptIndex | None:
    """None without an index, or with one that is to be built anew."""
    if store.shared is not None:
        return store.reader
    if not store.exists:
        return None
    store.close_if_replaced()
    try:
        if problem := soundness.problem(store.directory):
            raise IndexDamaged(problem)
        return store.reader
    except errors.IndexUnavailable as error:
        damaged = isinstance(error, IndexDamaged)
        store.notes.append(f"{error.message} {store.begun_anew_by} rebuilds it." if damaged else str(error))
        return None


def _file(store: OpenStore, verdict: Verdict, reader: KeptIndex | None) -> Explanation:
    path, refusal = verdict.path, verdict.refusal
    askable = refusal is None or refusal.reason not in ("outside_root", "undecodable_name")
    known = reader.file_at(path) if reader is not None and askable else None
    unchanged = False
    if refusal is None:
        _, size, stamp = verdict.found[0]
        unchanged = is_as_indexed(reader.listed.state_of(path) if reader is not None else None, size, stamp)
        refusal = None if unchanged else _refusal_of_content(store, path, reader)
    if refusal is not None:
        return _left_out(refusal, path, in_index=known is not None)
    reason, detail = "", ""
    if known is None:
        reason = "" if unchanged else NOT_YET
        detail = "it is new since the index was brought up to date"
        if reader is None and store.exists:
            detail = _BUILT_ANEW
        elif reader is None or reader.manifest is None:
            detail = _NO_INDEX
    elif not unchanged:
        reason, detail = CHANGED, "it changed since it was indexed"
    return replace(_wanted(path, reader, known), reason=reason, detail=detail, masked=_masks(store, path))


def _masks(store: OpenStore, path: str) -> tuple[tuple[int, str], ...]:
    """Where secrets are masked in a file that is text as it is."""
    read = read_file(store.root, path, store.configuration.wanted.limit(path))
    if isinstance(read, SkippedFile) or format_of(path):
        return ()
    decoded = reading.admit(path, read[1])
    return () if isinstance(decoded, SkippedFile) else decoded.masks


def _refusal_of_content(store: OpenStore, path: str, reader: KeptIndex | None) -> SkippedFile | None:
    """What reading the file brings up; for one whose worker died, what the index remembers."""
    if reader is not None:
        for known, reason, detail in reader.listed.skipped():
            if known == path and reason == "failed":
                return SkippedFile(path, reason, detail)
    return content_refusal(store.root, path, store.configuration.wanted)


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
    skipped = looked.skipped or []
    refusal = _refusal(relative, is_folder, looked.files, skipped)
    return Verdict(relative, is_folder, refusal, looked.files, skipped if is_folder else [])


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
