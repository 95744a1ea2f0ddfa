"""Reads the files of a commit from git's objects, without a checkout.

git decides nothing about what is indexed. Nothing is fetched: a file whose object is not in the clone cannot be read,
and is reported.
"""

from __future__ import annotations

import hashlib
import os
import re
import shlex
import stat
from collections.abc import Iterable, Mapping
from pathlib import Path
from typing import Literal, NamedTuple, Self

from findling.config import roots
from findling.config.roots import is_bare as is_bare
from findling.model import errors
from findling.model.types import SkippedFile
from findling.outbound.files import NotRead, read_regular_file
from findling.outbound.git import GitDialogue, GitOutput, run_git
from findling.sources.ignore_rules import OWN_IGNORE_FILES, IgnoreTree, RuleSet
from findling.sources.selection import DiscoveryOptions, Found, Selection, find_git_top
from findling.sources.tracked import why_it_failed

LIST_TIMEOUT_S = 60.0
"""Enough for the trees of a commit with a million files on a cold disk."""

_IGNORE_BYTES = 1 << 20
"""The most bytes that are read of an ignore file, as on disk."""

FILE_MODES = (b"100644", b"100755", b"100664")
LINK, _SUBMODULE = b"120000", b"160000"

_UNKNOWN = NotRead("not_found", "git knows no such file")
_NO_ANSWER = NotRead("unreadable", "git cannot read it: it may be missing from a partial or shallow clone")

_CONFIG_BYTES = 1 << 20

_SHOWN_ID, _SHOWN_NAMES = 12, 3
"""How much of a commit's id an error shows, and how many of its names."""

ObjectFormat = Literal["sha1", "sha256"]


def git_arguments(root: Path) -> list[str]:
    """The arguments that git needs before its command: for a bare repository, where it is."""
    return ["--git-dir", os.fspath(root)] if is_bare(root) else []


def objects_changed_at(root: Path) -> float:
    """When the repository of a folder last got objects, in seconds of the clock; 0 where that is unknown."""
    common = _common_folder(root)
    if common is None:
        return 0.0
    try:
        with os.scandir(common / "objects") as entries:  # new ones lie in folders of theirs, or in packs
            return max((entry.stat().st_mtime for entry in entries), default=0.0)
    except OSError:
        return 0.0


def object_format(root: Path) -> ObjectFormat | None:
    """The hash that the repository of a folder names contents by; None without a repository, or where it is unknown.

    Read from the repository's own configuration, the only one that may set it. Asking git would take a process.
    """
    common = _common_folder(root)
    read = read_regular_file(common, "config", _CONFIG_BYTES) if common else None
    if read is None or isinstance(read, NotRead):
        return None
    name = _named_format(read[1])
    return "sha1" if name == b"sha1" else "sha256" if name == b"sha256" else None


def _common_folder(root: Path) -> Path | None:
    """The folder in which a repository keeps what all of its work trees share."""
    if is_bare(root):
        return root
    top = find_git_top(os.path.realpath(root))
    folders = roots.git_folders(Path(top)) if top is not None else None
    return folders[1] if folders else None


def _named_format(config: bytes) -> bytes:
    """The last value of ``extensions.objectformat`` in a configuration, in small letters."""
    name, section = b"sha1", b""
    for line in config.split(b"\n"):
        line = line.strip().lower()
        if line.startswith(b"["):
            section, _, line = line[1:].partition(b"]")
        key, _, value = line.partition(b"=")
        if section.strip() == b"extensions" and key.strip() == b"objectformat":
            name = value.partition(b"#")[0].partition(b";")[0].strip().strip(b'"')
    return name


def content_id(data: bytes, form: ObjectFormat) -> bytes:
    """git's id of a content."""
    digest = hashlib.new(form, b"blob %d\0" % len(data), usedforsecurity=False)
    digest.update(data)
    return digest.digest()


def staged(root: Path) -> dict[str, bytes]:
    """Tracked path -> git's id of the content that is staged for it; {} where git gives no answer."""
    output = run_git(["ls-files", "-z", "--stage"], cwd=root, timeout_s=LIST_TIMEOUT_S)
    rows = (row.partition(b"\t") for row in output.stdout.split(b"\0")[:-1]) if output.ok else ()
    return {os.fsdecode(path): bytes.fromhex(facts.split()[1].decode("ascii")) for facts, _, path in rows}


class RefFiles:
    """The files of a commit below a folder of its work tree, as `outbound.files.Files`. Their times are 0. For one
    thread; `close` ends the two git processes that answer."""

    def __init__(self, root: Path, commit: str, git_ids: Mapping[str, bytes] | None = None) -> None:
        """``git_ids``: git's ids of the paths that will be read, where they are known, which is quicker."""
        self._root = root
        self._git_ids = git_ids or {}
        self._before = f"{commit}:{prefix(root)}"
        self._asked: dict[str, GitDialogue] = {}

    def read(self, path: str, max_bytes: int) -> tuple[os.stat_result, bytes] | NotRead:
        found = self._find(path)
        if isinstance(found, NotRead):
            return found
        name, size = found
        if size > max_bytes:
            return NotRead("too_large", f"longer than {max_bytes} bytes")
        try:
            self._ask("--batch", name)
            return _status(size), self._asked["--batch"].exactly(size + 1)[:-1]
        except (OSError, ValueError):
            self.close()
            return _NO_ANSWER

    def status(self, path: str) -> os.stat_result | NotRead:
        """The status of a path, which has only its length: a commit never changes."""
        found = self._find(path)
        return found if isinstance(found, NotRead) else _status(found[1])

    def _find(self, path: str) -> tuple[bytes, int] | NotRead:
        """git's id and the length in bytes of what stands at a path."""
        if "\n" in path or "\0" in path:
            return NotRead("not_found", "its name has a line break or a NUL in it, and git is asked line by line")
        listed = self._git_ids.get(path)
        try:
            header = self._ask("--batch-check", listed.hex().encode() if listed else os.fsencode(self._before + path))
            if len(header) == 3 and header[1] == b"blob":
                return header[0], int(header[2])
        except (OSError, ValueError):
            self.close()  # git also ends when a partial clone lacks the object
            return _NO_ANSWER
        return _NO_ANSWER if listed else _UNKNOWN  # the tree names it, so it is missing

    def _ask(self, how: str, name: bytes) -> list[bytes]:
        if how not in self._asked:
            self._asked[how] = GitDialogue([*git_arguments(self._root), "cat-file", how], cwd=self._root)
        self._asked[how].say(name)
        return self._asked[how].line().split(b" ")

    def close(self) -> None:
        while self._asked:
            self._asked.popitem()[1].close()

    def __del__(self) -> None:
        self.close()

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *_: object) -> None:
        """Nothing: it may be used again, until `close`."""


def _status(size: int) -> os.stat_result:
    return os.stat_result((stat.S_IFREG | 0o644, 0, 0, 1, 0, 0, size, 0, 0, 0), {"st_mtime_ns": 0, "st_ctime_ns": 0})


def prefix(root: Path) -> str:
    """A folder's path from the top of its work tree, with a slash at its end; '' for the top."""
    if is_bare(root):
        return ""  # a bare repository may lie in the work tree of another one
    real = os.path.realpath(root)
    top = find_git_top(real)
    below = os.path.relpath(real, top) if top is not None else "."
    return "" if below == "." else below.replace(os.sep, "/") + "/"


def holds(root: Path, commit: str, path: str) -> bool:
    """Whether a commit has a file or folder at a path from ``root``; True where git cannot say."""
    name = f"{commit}:{prefix(root)}{path}"
    output = run_git([*git_arguments(root), "cat-file", "-e", name], cwd=root)
    return output.status != "failed" or _lacks_objects(output)


# --- a commit's files ---------------------------------------------------------------------------------------------


class Tree(NamedTuple):
    """A commit's files that are to be indexed, git's ids of their contents, and the files that are left out."""

    files: list[Found]
    git_ids: dict[str, bytes]
    skipped: list[SkippedFile]


class Listed(NamedTuple):
    """What git says of a path of a commit. ``size`` is None where the content is not in the clone."""

    mode: bytes
    git_id: str
    size: int | None


def list_tree(root: Path, commit: str, options: DiscoveryOptions) -> Tree:
    """The files of a commit in a folder, judged as tracked files on disk are. Raises `RefNotIndexed`."""
    every = listed(root, commit)
    selection = Selection(os.path.realpath(root), options)
    skipped: list[SkippedFile] = []
    with RefFiles(root, commit) as own:
        rules = _own_rules(root, own, every)
        places = {path: selection.tracked_place(path, rules) for path in every}
        own.close()
    files: list[Found] = []
    git_ids: dict[str, bytes] = {}
    for path, file in every.items():
        skip = places[path] or _left_out(path, file, options.limit(path)) or selection.by_name(path)
        if skip is not None:
            skipped.append(skip)
            continue
        files.append((path, file.size or 0, 0))
        git_ids[path] = bytes.fromhex(file.git_id)
    if options.most_files is not None and len(files) > options.most_files:
        files.sort()
        for path, _, _ in files[options.most_files :]:
            skipped.append(SkippedFile(path, "too_many", f"more than {options.most_files:,} files"))
            del git_ids[path]
        files = files[: options.most_files]
    return Tree(files, git_ids, skipped)


def _left_out(path: str, file: Listed, max_bytes: int) -> SkippedFile | None:
    if "\n" in path:
        return SkippedFile(path, "undecodable_name", "its name has a line break, and git is asked line by line")
    if file.mode == _SUBMODULE:
        return SkippedFile(
            path, "nested_repository", f"a submodule at {file.git_id[:12]}: its files are not in this one"
        )
    if file.mode == LINK:
        return SkippedFile(path, "symlink_inside", "a symbolic link; links are not followed")
    if file.mode not in FILE_MODES:
        return SkippedFile(path, "not_a_file", f"git keeps it with the mode {file.mode.decode('ascii', 'replace')}")
    if file.size is not None and file.size > max_bytes:
        return SkippedFile(path, "too_large", f"{file.size:,} bytes, the limit is {max_bytes:,}")
    return None


def listed(root: Path, commit: str) -> dict[str, Listed]:
    """What a commit has below a folder, by path, links and submodules too. Raises `RefNotIndexed`."""
    bare = git_arguments(root)
    # A partial clone lacks contents, and git fails to give their sizes: then ask without sizes.
    for sizes in (["-l"], []):
        output = run_git([*bare, "ls-tree", "-r", "-z", *sizes, commit], cwd=root, timeout_s=LIST_TIMEOUT_S)
        if output.ok:
            return _parse(output)
        if output.status != "failed":
            break  # too much, or too slow, would be so again
    raise _not_listed(root, commit, output)


def check_listable(root: Path, commit: str) -> None:
    """Make sure that git can list a commit's files, by reading all of its trees. Raises `RefNotIndexed`."""
    words = ["ls-tree", "-r", "-z", "--name-only", commit]
    output = run_git([*git_arguments(root), *words], cwd=root, timeout_s=LIST_TIMEOUT_S)
    if not output.ok:
        raise _not_listed(root, commit, output)


def _lacks_objects(output: GitOutput) -> bool:
    return b"promisor remote" in output.stderr or b"lazy fetching disabled" in output.stderr


def _not_listed(root: Path, commit: str, output: GitOutput) -> errors.RefNotIndexed:
    """The error for a commit whose trees git cannot read."""
    name = _with_names(root, commit)
    if not _lacks_objects(output):
        return errors.RefNotIndexed(
            f"git cannot list the files of {name}: {why_it_failed(output)}.",
            remedy="'git fsck' says what is wrong with a repository.",
        )
    git = f"git -C {shlex.quote(os.fspath(root))}"
    return errors.RefNotIndexed(
        f"This partial clone lacks objects of {name}: its folders cannot be listed, and nothing is fetched unasked.",
        remedy=f"'{git} rev-list --objects --no-walk {commit[:_SHOWN_ID]}' fetches what it holds; "
        f"'{git} fetch --refetch --no-filter', or a full clone, fetches everything.",
    )


def _with_names(root: Path, commit: str) -> str:
    """A commit for people, with branches and tags that stand for it."""
    words = ["for-each-ref", "--points-at", commit, "--format=%(refname:short)"]
    kinds = ["refs/heads", "refs/tags", "refs/remotes"]
    listed = run_git([*git_arguments(root), *words, *kinds], cwd=root)
    names = listed.stdout.decode("utf-8", "replace").split() if listed.ok else []
    told = f" ({', '.join(names[:_SHOWN_NAMES])})" if names else ""
    return f"commit {commit[:_SHOWN_ID]}{told}"


def _parse(output: GitOutput) -> dict[str, Listed]:
    found: dict[str, Listed] = {}
    for row in output.stdout.split(b"\0"):
        if row:
            facts, _, name = row.partition(b"\t")
            mode, _, git_id, *size = facts.split()
            number = int(size[0]) if size and size[0].isdigit() else None
            found[os.fsdecode(name)] = Listed(mode, git_id.decode("ascii"), number)
    return found


class _CommittedRules(IgnoreTree):
    """The ignore files of a commit."""

    def __init__(self, root: Path, files: RefFiles, folders: Iterable[str]) -> None:
        super().__init__(os.fspath(root), OWN_IGNORE_FILES, folders=frozenset(folders))
        self._files = files

    def read_rules(self, path: str) -> RuleSet | None:
        read = self._files.read(path, _IGNORE_BYTES)
        return None if isinstance(read, NotRead) else RuleSet.from_text(os.fsdecode(read[1]), path)


def _own_rules(root: Path, files: RefFiles, paths: Iterable[str]) -> IgnoreTree | None:
    folders = {path.rpartition("/")[0] for path in paths if path.rpartition("/")[2] in OWN_IGNORE_FILES}
    return _CommittedRules(root, files, folders) if folders else None


# --- diffs --------------------------------------------------------------------------------------------------------
# Which lines of which files differ from a commit, as git tells.

DIFF_BYTES = 64 << 20
"""A longer one is no change that anybody looks at by definitions."""

_HUNK = re.compile(rb"@@ -(\d+)(?:,(\d+))? \+(\d+)(?:,(\d+))? @@")
_ESCAPE = re.compile(rb'\\(?:([0-7]{3})|(["\\abfnrtv]))')
_ESCAPES = {b"a": b"\a", b"b": b"\b", b"f": b"\f", b"n": b"\n", b"r": b"\r", b"t": b"\t", b"v": b"\v"}

_PLAIN_NAME = re.compile(rb"[\w.+-]+")
"""Of a filter: what git takes as a key on its command line, which ends at the first sign of equality."""

Lines = tuple[int, int]
"""The first and the last."""


class ChangedFile(NamedTuple):
    """``now``: its lines on disk that are new or stand where some were taken out; ``before``: the lines of the commit
    that are gone."""

    path: str
    now: list[Lines]
    before: list[Lines]


def changed_lines(root: Path, commit: str) -> list[ChangedFile]:
    """The files of a work tree below ``root`` that differ from a commit: those that git tracks. Raises
    `RefNotIndexed`."""
    words = ["diff", "--no-ext-diff", "--no-textconv", "--no-color", "--no-renames", "--relative", "-U0"]
    words = [*_without_filters(root), *words, "--ignore-submodules=all"]
    ends = ["--src-prefix=a/", "--dst-prefix=b/", "--end-of-options", commit, "--", "."]
    output = run_git([*git_arguments(root), *words, *ends], cwd=root, max_output=DIFF_BYTES)
    if not output.ok:
        raise errors.RefNotIndexed(
            f"git cannot compare {root} with {commit}: {why_it_failed(output)}.",
            remedy="Name a commit, branch or tag of this repository.",
        )
    return _parsed(output.stdout)


def _without_filters(root: Path) -> list[str]:
    """Options that keep git from running the programs which a repository's configuration names for the contents of its
    work tree. Raises `RefNotIndexed` where one has a name that cannot be written as an option."""
    output = run_git([*git_arguments(root), "config", "-z", "--name-only", "--get-regexp", r"^filter\."], cwd=root)
    if output.status not in ("ok", "failed") or output.returncode not in (0, 1):  # 1: there is none
        raise errors.RefNotIndexed(
            f"git cannot read the configuration of {root}: {why_it_failed(output)}.", remedy="Check it with git config."
        )
    names = {key.split(b".", 1)[1].rpartition(b".")[0] for key in output.stdout.split(b"\0") if key}
    if odd := sorted(name for name in names if not _PLAIN_NAME.fullmatch(name)):
        raise errors.RefNotIndexed(
            f"The repository's configuration has a filter named {os.fsdecode(odd[0])!r}, which could run a program.",
            remedy="If you do not know it, take it out: "
            f"git config --remove-section {shlex.quote(os.fsdecode(b'filter.' + odd[0]))}",
        )
    return [
        word
        for name in sorted(map(os.fsdecode, names))
        for value in ("clean=", "process=", "required=false")
        for word in ("-c", f"filter.{name}.{value}")
    ]


def _parsed(diff: bytes) -> list[ChangedFile]:
    """The files of a diff without context. Only lines that are no content are looked at."""
    files: dict[str, ChangedFile] = {}
    at: ChangedFile | None = None
    content = 0
    old = ""
    for line in diff.split(b"\n"):
        if content and line[:1] in (b"+", b"-"):
            content -= 1
        elif line.startswith(b"--- "):
            old = _path(line[4:])
        elif line.startswith(b"+++ "):
            path = _path(line[4:]) or old
            at = files.setdefault(path, ChangedFile(path, [], []))
        elif at is not None and (hunk := _HUNK.match(line)):
            first, gone, there, came = (int(number) if number else 1 for number in hunk.groups())
            content = gone + came
            if gone:
                at.before.append((first, first + gone - 1))
            at.now.append((there, there + came - 1) if came else (there, there))
    return list(files.values())


def _path(written: bytes) -> str:
    """A file's path; '' for none. git quotes names with special characters."""
    written = written.rstrip(b"\t")
    if written.startswith(b'"'):
        written = _ESCAPE.sub(_unescaped, written[1:-1])
    return "" if written == b"/dev/null" else os.fsdecode(written[2:])


def _unescaped(match: re.Match[bytes]) -> bytes:
    octal, letter = match.groups()
    return bytes([int(octal, 8) & 0xFF]) if octal else _ESCAPES.get(letter, letter)
