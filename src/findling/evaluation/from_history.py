"""Judged questions from a repository's own past: a commit's subject asks for the files that it changed, a comment for
the definition below it. Writes a copy of the repository without those comments, to be indexed instead.

The comments are taken out through the parser, line breaks stay, so that places in the copy are places in the
repository. A question whose words still stand together in a file of the copy is not asked. What a repository holds is
data: git runs through `findling.outbound.git`, parsers in a process that may be lost, links are not followed.
"""

from __future__ import annotations

import errno
import os
import random
import re
from collections import Counter
from collections.abc import Iterable, Iterator, Mapping, Sequence
from pathlib import Path
from typing import Any, Final, NamedTuple

from msgspec import Struct

from findling.model.errors import InvalidInput, NotFound, StorageFull
from findling.model.languages import language_of
from findling.model.marks import looks_secret
from findling.model.plurals import count
from findling.model.types import OnProgress, Progress
from findling.outbound.files import NotRead, RootFiles
from findling.outbound.git import GitOutput, run_git
from findling.reading.pool import DocFinder
from findling.reading.syntax_docs import Documented, without
from findling.search.analysis import WEAK_WORDS
from findling.search.ranking.priors import path_flags
from findling.search.vocabulary import STOP_WORDS
from findling.sources.discovery import discover
from findling.sources.git_objects import git_arguments
from findling.sources.ignore_rules import ALL_IGNORE_FILES
from findling.sources.selection import DiscoveryOptions

# --- history ------------------------------------------------------------------------------------------------------
# The git history of a folder: its commits, and the present names of the files that each changed.
#
# git runs through `findling.outbound.git`: bounded in time and output, without a shell, and with everything off that a
# repository's own configuration could start. Knows nothing of questions.

LOG_S: Final = 60.0
"""Time for reading the history; of a large repository with a cold disk the newest commits come well within it."""

MOST_COMMITS: Final = 5_000
FEWER_COMMITS: Final = 500
"""How many commits are read, and how many if that took too long."""

MAX_OUTPUT: Final = 128 * 1024 * 1024
RENAMES_COMPARED: Final = 200
"""Files of one commit among which renames are looked for; a commit that moves more is a mass change anyway."""

_STATUS = re.compile(rb"[AMDTUXB]|[RC]\d*")
_HEADER = b"\x01"
_OUT_OF_MEMORY = re.compile(rb"out of memory|cannot allocate memory", re.IGNORECASE)


class Commit(NamedTuple):
    """``paths`` has what each changed file was called after it, and what it is called at present: None for one that is
    gone, or was another file then."""

    id: str
    subject: str
    paths: Mapping[str, str | None]


class _Change(NamedTuple):
    status: str
    old: str
    new: str


def commits(root: Path) -> list[Commit]:
    """The commits without merges that changed something below a folder, the newest first; paths from there.

    Raises NotFound where no repository is, InvalidInput where git cannot read it.
    """
    output = _log(root, MOST_COMMITS)
    if output.status in ("timed_out", "too_large"):
        output = _log(root, FEWER_COMMITS)
    if output.status == "failed" and _OUT_OF_MEMORY.search(output.stderr):
        output = _log(root, FEWER_COMMITS, renames=False)  # files too large to be compared were moved
    if not output.ok:
        words = output.stderr.decode("utf-8", "replace").strip().split("\n")[0][:200]
        if output.status == "missing" or "not a git repository" in words:
            raise NotFound(f"{root} has no history: {words or 'git is not installed'}.", remedy="Name a git work tree.")
        raise InvalidInput(f"git cannot read the history of {root}: {words or output.status}.")
    return list(_at_present(_parsed(output.stdout)))


def _log(root: Path, most: int, *, renames: bool = True) -> GitOutput:
    return run_git(
        [
            *git_arguments(root),
            *("-c", "log.showRoot=true"),  # else the first commit has no files
            "log",
            f"--max-count={most}",
            "--no-merges",
            "--no-show-signature",  # it would start whatever the repository calls gpg
            "--no-ext-diff",
            "--no-textconv",
            "--no-color",
            "--no-notes",
            "--encoding=UTF-8",
            "--name-status",
            *(("--find-renames", f"-l{RENAMES_COMPARED}") if renames else ("--no-renames",)),
            "--relative",
            "-z",
            "--format=%x01%H %s",
            "HEAD",
            "--",
            ".",
        ],
        cwd=root,
        timeout_s=LOG_S,
        max_output=MAX_OUTPUT,
        little_memory=True,  # the files that are compared are read as a whole
    )


def _parsed(data: bytes) -> Iterator[tuple[str, str, list[_Change]]]:
    """(id, subject, changes) of each commit, in git's order."""
    fields = iter(data.split(b"\0"))
    commit: tuple[str, str, list[_Change]] | None = None
    for field in fields:
        word = field.lstrip(b"\n")
        if word.startswith(_HEADER):
            if commit is not None:
                yield commit
            name, _, subject = word[len(_HEADER) :].partition(b" ")
            commit = (name.decode("ascii", "replace"), subject.decode("utf-8", "replace"), [])
        elif commit is not None and _STATUS.fullmatch(word):
            status = word[:1].decode("ascii")
            old = os.fsdecode(next(fields, b""))
            new = os.fsdecode(next(fields, b"")) if status in "RC" else old
            commit[2].append(_Change(status, old, new))
    if commit is not None:
        yield commit


def _at_present(history: Iterator[tuple[str, str, list[_Change]]]) -> Iterator[Commit]:
    """From the newest to the oldest: what came to each name since then is known when a commit is reached."""
    now: dict[str, str | None] = {}
    for name, subject, changes in history:
        paths = {change.new: None if change.status == "D" else now.get(change.new, change.new) for change in changes}
        yield Commit(name, subject, paths)
        now.update(_before(changes, now))


def _before(changes: list[_Change], now: Mapping[str, str | None]) -> dict[str, str | None]:
    """What the names mean in the commits before: a new file had none, a renamed one another."""
    names: dict[str, str | None] = {}
    for change in changes:
        if change.status in "ARCD":
            names[change.new] = None
    for change in changes:
        if change.status == "R":
            names[change.old] = now.get(change.new, change.new)
    return names


# --- questions ----------------------------------------------------------------------------------------------------
# Questions made from sentences that people wrote: commit subjects and first sentences of comments. Pure.
#
# A sentence that asks for nothing (a release, a typo fix, a name in other words) gives no question.

MIN_WORDS: Final = 3
"""Meaningful words that a question needs; with fewer any file would match."""

MAX_WORDS: Final = 30
MAX_CHARACTERS: Final = 300
"""Longer ones are no subject and no first sentence, but text that was never broken."""

MAX_LOOKED_AT: Final = 2 * MAX_CHARACTERS
"""The longest text that is looked at: the time of the patterns grows with the square of its length."""

_PREFIX = re.compile(r"^(?:\[[^\]]{1,40}\]\s*)+|^[a-z]{2,12}(?:\([^)]{1,40}\))?!?:\s+")
"""``[parser]``, ``fix(parser):``: what kind of change it is."""

_REFERENCE = re.compile(
    r"\s*\((?>(?:see|closes?|fix(?:es)?|refs?|pr|gh|issue)?[\s:]*(?:[\w.-]+/[\w.-]+)?(?:#|GH-|!)\d+[\s,;]*)+\)|"
    r"\s*\b(?:closes?|fix(?:es|ed)?|refs?|resolves?|see)\b:?\s+(?:#|GH-)\d+|\s*(?:#|GH-)\d+\b|^[A-Z][A-Z0-9]+-\d+:?\s*|"
    r"[\s,.]*\bGitHub (?:issue|PR) #?\d+|\s*\[(?:skip[ -]ci|ci[ -]skip)\]",
    re.IGNORECASE,
)
"""Numbers of issues and requests: no index knows them. One of a list is read in one way only: whoever writes subjects
must not choose how long that takes."""

_TRIVIAL = re.compile(
    r"^(?:fixup|squash|amend)!|^(?:wip|merge|revert|bump|release|releasing|prepare|preparing|version|v?\d+(?:\.\d+)+|"
    r"start version|initial commit|typos?|nits?|lint(?:ing)?|(?:re)?format(?:ting)?|whitespace|clean(?:ing)? ?up|"
    r"address(?:ed)? (?:the )?review|apply (?:suggestions|.{0,30} fixes)|(?:up)?grade dependenc\w*|"
    r"(?:add |update )(?:the |missing )?(?:change ?log|readme|copyright|licen[cs]e|dependenc\w*|deps|lock|submodule|"
    r"version|translations?|authors|contributors|pre-commit)|change ?log|"
    r"(?:fix|correct)(?:e[sd])? (?:a |all |some )?(?:typos?|spelling|grammar|lint|formatting|ci)|"
    r"run (?:black|ruff|prettier|gofmt|pre-commit)|auto(?:matic)?[- ])\b|"
    r"\bpre-commit (?:auto)?update|\bdependabot\b|\brenovate\b",
    re.IGNORECASE,
)
"""Changes that are about no place: what they say is said of any file."""

_NOT_SAID = re.compile(
    r"^(?:todo|fixme|xxx|hack|note|deprecated|copyright|licensed?|spdx|see\b|@|\{?@?inheritdoc|eslint|noqa|nolint|"
    r"auto-?generated|variant:|usage:|examples?:|returns?:|args:|param)",
    re.IGNORECASE,
)
_MARKUP = re.compile(
    r"\{@\w+\s+([^}]{1,80})\}|:\w+:`~?([^`]{1,80})`|\[([^\]]{1,80})\]\([^)]{0,200}\)|\[\[?([^\]]{1,80})\]\]?"
)
_SENTENCE = re.compile(
    r"(?<=[\w)\]`'\"])(?<!\be\.g)(?<!\bi\.e)(?<!\betc)(?<!\bvs)[.!?:;](?:\s|$)|\s@\w|\s:param\b|\s-\s?[Pp]arameters?\b|\s#+\s|```|\n"
)
_CODE = re.compile(r"[{}=<>|\\]|\w\(.*\)|;$|::|->|[-=~*_]{4,}")
_WORD = re.compile(r"\w+")
_PLAIN = re.compile(r"[a-z]+")


def of_subject(subject: str) -> str | None:
    """The question that a commit's subject is, None for one that asks for no place."""
    subject = " ".join(subject.split())
    if len(subject) > MAX_LOOKED_AT:
        return None
    text = _PREFIX.sub("", _REFERENCE.sub("", subject).strip(), count=1).strip()
    if _TRIVIAL.search(text) or _TRIVIAL.search(subject.strip()):
        return None
    return _question(text)


def of_comment(doc: str, name: str) -> str | None:
    """The question that the first sentence of a definition's comment is; None where it says little, or the name.

    A name at its beginning (``Parse reads ...``) is left out.
    """
    doc = doc[:MAX_LOOKED_AT]
    text = _MARKUP.sub(lambda found: next(filter(None, found.groups()), ""), doc).replace("`", "").strip()
    text = _SENTENCE.split(text, maxsplit=1)[0].strip()
    if text.startswith(name) and not text[len(name) : len(name) + 1].isalnum():
        text = text[len(name) :].lstrip(" :-–—,()").removeprefix("is ").removeprefix("are ").strip()
    if _NOT_SAID.match(text) or _CODE.search(text):
        return None
    words = _WORD.findall(text)
    if not _PLAIN.fullmatch(name) and name.lower() in (word.lower() for word in words):
        return None  # the name is in the index, and then nothing else is asked
    return _question(text)


def _question(text: str) -> str | None:
    text = " ".join(text.split()).rstrip(" .,:;")
    words = [word.lower() for word in _WORD.findall(text)]
    saying = {word for word in words if len(word) > 1 and word not in STOP_WORDS and word not in WEAK_WORDS}
    if len(saying) < MIN_WORDS or len(words) > MAX_WORDS or len(text) > MAX_CHARACTERS:
        return None
    return text if text.isprintable() else None


def folded(text: str) -> str:
    """Words alone, in lower case, one space between: by this a sentence is recognised under any comment markers."""
    return " ".join(_WORD.findall(text.lower()))


MASS_CHANGE: Final = 10
"""A commit that changes more files is not about one place."""

MIN_PRESENT: Final = 0.5
"""The share of the files that a commit is about that must still be there, so that the question still has its answer."""

PER_FILE: Final = 2
"""Comments of one file that are asked about; else large files would be most of the sample."""

SPARE: Final = 1.5
"""How many times the wanted number of comments is collected, because some turn out to be repeated elsewhere."""

MAX_PARSED_BYTES: Final = 1 << 19
MAX_COMPARED_BYTES: Final = 1 << 20
"""Longer files are data: no comments are sought in them, no sentences looked for."""

MAX_COPY_FILES: Final = 200_000
MAX_COPY_BYTES: Final = 4 * 1024**3
"""Limits of a copy; of a larger repository only a folder can be asked about."""

_KINDS: Final = frozenset(("fn", "method", "class", "struct", "enum", "trait", "interface", "type_alias"))
_UNASKED: Final = frozenset(("test", "example", "generated", "changes", "legacy"))
_DIGITS: Final = 12


class Sample(NamedTuple):
    """How many questions of each kind at most, and what decides which."""

    commits: int = 100
    comments: int = 100
    seed: int = 7


class History(Struct, frozen=True):
    """``lines`` are judged queries of the form by files (`findling.evaluation.judged`); ``said`` are sentences for
    people: what the sample was taken from, what was left out and why."""

    repo: str
    root: Path
    lines: tuple[Mapping[str, Any], ...]
    said: tuple[str, ...]


class _Asked(NamedTuple):
    path: str
    text: str
    documented: Documented


_Listed = tuple[str, int, int]
"""A file's path, its size and when it was changed."""


def from_history(
    root: Path,
    wanted: DiscoveryOptions,
    into: Path,
    sample: Sample,
    *,
    below: str = "",
    but: Path | None = None,
    progress: OnProgress = lambda _: None,
) -> History:
    """Questions about ``root``, or the folder ``below`` it, and its copy in the new folder ``into``/name; paths are
    from ``root`` in both. What lies in ``but`` is not copied: earlier questions, which would be found in place of their
    answers.

    Raises NotFound without a history, InvalidInput for a root that is too large and for a folder that is there
    already or lies in the root, StorageFull.
    """
    real = Path(os.path.realpath(root))
    if not (real / below).is_dir():
        raise InvalidInput(f"{real / below} is not a folder.", remedy="Name a folder.")
    if into.resolve().is_relative_to(real):
        raise InvalidInput(f"{into} lies inside {real}, which will be copied.", remedy="Name a folder outside of it.")
    listed = _copied(sorted(discover(root, wanted).files), real, below, but)
    size = sum(size for _, size, _ in listed)
    if len(listed) > MAX_COPY_FILES or size > MAX_COPY_BYTES:
        raise InvalidInput(
            f"{real / below} has {len(listed):,} files with {size:,} bytes, too much to copy.",
            remedy="Name a subfolder, or leave out data files with index.exclude.",
        )
    paths = [path for path, _, _ in listed]
    random_ = random.Random(sample.seed)  # noqa: S311 - the same sample each time is what is wanted
    asked_of_commits, said = _of_commits(_commits(real, below), frozenset(paths), sample.commits, random_)
    repo = real.name or "repository"
    target = into / repo
    with RootFiles(root) as files:
        comments, seen = _comments(files, paths, sample.comments, random_, progress)
        elsewhere = _copy(files, listed, comments, target, progress)
    kept = [asked for asked in comments if asked.text not in elsewhere][: sample.comments]
    looked_at = f"comments: {len(kept)} in {count(seen, 'file')} that were looked at"
    said += (f"{looked_at}; left out: {len(elsewhere)} repeated elsewhere",)
    lines = [_commit_line(repo, commit, text, found) for commit, text, found in asked_of_commits]
    lines += [_comment_line(repo, asked) for asked in kept]
    if not lines:
        raise NotFound(f"The history of {root} gives no usable questions: {'; '.join(said)}.")
    return History(repo, target, tuple(lines), said)


def _copied(listed: Sequence[_Listed], real: Path, below: str, but: Path | None) -> list[_Listed]:
    """Those ``below``, without the files in ``but``, and without lists of what to ignore: in the copy, of which git
    knows nothing, they would hide files that git tracks all the same."""
    apart = but.resolve() if but is not None else None
    left_out = f"{apart.relative_to(real).as_posix()}/" if apart is not None and apart.is_relative_to(real) else None
    if left_out == "./":
        raise InvalidInput(f"{but} is the folder to be copied.", remedy="Name another folder.")
    return [
        file
        for file in listed
        if file[0].startswith(f"{below}/" if below else "")
        and file[0].rpartition("/")[2] not in ALL_IGNORE_FILES
        and not (left_out is not None and file[0].startswith(left_out))
    ]


# --- commits ------------------------------------------------------------------------------------------------------


def _commits(real: Path, below: str) -> list[Commit]:
    """The commits that changed something below a folder, with paths from the root."""
    found = commits(real / below)
    if not below:
        return found

    def place(path: str) -> str:
        return f"{below}/{path}"

    return [
        commit._replace(paths={place(path): None if now is None else place(now) for path, now in commit.paths.items()})
        for commit in found
    ]


def _of_commits(
    commits: Sequence[Commit], known: frozenset[str], most: int, random_: random.Random
) -> tuple[list[tuple[Commit, str, tuple[str, ...]]], tuple[str, ...]]:
    """(commit, question, files) of a sample, newest first, and what to say of it."""
    left_out: Counter[str] = Counter()
    by_text: dict[str, list[tuple[Commit, str, tuple[str, ...]]]] = {}
    for commit in commits:
        text = of_subject(commit.subject)
        about = answers(list(commit.paths))
        now = [commit.paths[path] for path in about]
        present = tuple(dict.fromkeys(path for path in now if path is not None and path in known))
        if text is None:
            left_out["trivial"] += 1
        elif len(commit.paths) > MASS_CHANGE:
            left_out["that change many files"] += 1
        elif not present or len(present) < MIN_PRESENT * len(about):
            left_out["whose files are gone or not indexed"] += 1
        else:
            by_text.setdefault(folded(text), []).append((commit, text, present))
    once = [found[0] for found in by_text.values() if len(found) == 1]
    left_out["with a repeated subject"] += sum(len(found) for found in by_text.values() if len(found) > 1)
    chosen = _sample(once, most, random_)
    reasons = ", ".join(f"{number} {reason}" for reason, number in left_out.most_common() if number)
    return chosen, (f"commits: {len(chosen)} of {len(commits)}; left out: {reasons or 'none'}",)


def answers(paths: Sequence[str]) -> tuple[str, ...]:
    """Of the files that a commit changed those that it is about: code before documents, neither tests nor lists of
    changes, unless there is nothing else."""
    plain = [path for path in paths if not path_flags(path) & _UNASKED]
    code = [path for path in plain if language_of(path).kind == "code"]
    no_lists = [path for path in paths if "changes" not in path_flags(path)]
    return tuple(code or plain or no_lists or paths)


def _sample(items: Sequence[Any], most: int, random_: random.Random) -> list[Any]:
    """At most so many of them, in their order."""
    return [items[at] for at in sorted(random_.sample(range(len(items)), min(most, len(items))))]


def _commit_line(repo: str, commit: Commit, text: str, found: Sequence[str]) -> dict[str, Any]:
    return _line(repo, f"commit:{commit.id[:_DIGITS]}", text, "commit", [{"path": path} for path in found])


# --- comments -----------------------------------------------------------------------------------------------------


def _comments(
    files: RootFiles, paths: Iterable[str], most: int, random_: random.Random, progress: OnProgress
) -> tuple[list[_Asked], int]:
    """Questions from comments of files in a random order, more than are wanted; and how many files were looked at."""
    order = [path for path in paths if not path_flags(path) & _UNASKED and language_of(path).kind == "code"]
    random_.shuffle(order)
    found: dict[str, _Asked] = {}
    repeated: set[str] = set()
    seen = 0
    with DocFinder() as finder:
        for path in order if most else ():
            if len(found) - len(repeated) >= SPARE * most:
                break
            progress(Progress("reading", min(len(found), most), most))
            text = _text(files, path)
            if text is None:
                continue
            seen += 1
            asked = [
                _Asked(path, question, documented)
                for documented in finder.documented(path, text) or ()
                if documented.kind in _KINDS and (question := of_comment(documented.doc, documented.name)) is not None
            ]
            for one in _sample(asked, PER_FILE, random_):
                if one.text in found:
                    repeated.add(one.text)
                found[one.text] = one
    return [asked for text, asked in found.items() if text not in repeated], seen


def _text(files: RootFiles, path: str) -> bytes | None:
    """The bytes of a file whose offsets are those of its text: UTF-8 without a mark; None of any other."""
    read = files.read(path, MAX_PARSED_BYTES)
    if isinstance(read, NotRead) or read[1].startswith(b"\xef\xbb\xbf") or looks_secret(read[1], path):
        return None
    try:
        read[1].decode("utf-8")
    except UnicodeDecodeError:
        return None
    return read[1]


def _comment_line(repo: str, asked: _Asked) -> dict[str, Any]:
    documented = asked.documented
    target = {"path": asked.path, "start_line": documented.start_line, "end_line": documented.end_line}
    return _line(repo, f"comment:{asked.path}:{documented.start_line}", asked.text, "comment", [target])


def _line(repo: str, name: str, text: str, category: str, relevant: list[dict[str, Any]]) -> dict[str, Any]:
    return {
        "query_id": name,
        "repo": repo,
        "query": text,
        "category": category,
        "language": language_of(relevant[0]["path"]).id,
        "relevant": relevant,
    }


# --- the copy -----------------------------------------------------------------------------------------------------


def _copy(
    files: RootFiles,
    listed: Sequence[_Listed],
    comments: Sequence[_Asked],
    target: Path,
    progress: OnProgress,
) -> set[str]:
    """Copy the files without those comments; the questions that still stand in one of them."""
    masks: dict[str, list[tuple[int, int]]] = {}
    for asked in comments:
        masks.setdefault(asked.path, []).extend(asked.documented.spans)
    sentences = {asked.text: folded(asked.text) for asked in comments}
    found: set[str] = set()
    try:
        target.mkdir(parents=True)
        for done, (path, size, _) in enumerate(listed):
            progress(Progress("copying", done, len(listed)))
            read = files.read(path, size)
            if isinstance(read, NotRead) or looks_secret(read[1], path):
                continue  # it changed or went since it was listed; or it is not to be indexed, so neither to be copied
            data = without(read[1], masks.get(path, ()))
            copy = target / path
            copy.parent.mkdir(parents=True, exist_ok=True)
            copy.write_bytes(data)
            if len(data) <= MAX_COMPARED_BYTES and len(found) < len(sentences):
                words = f" {folded(data.decode('utf-8', 'replace'))} "
                found |= {text for text, sentence in sentences.items() if f" {sentence} " in words}
    except FileExistsError as error:
        raise InvalidInput(f"{target} is there already.", remedy="Name another folder, or remove it.") from error
    except OSError as error:
        if error.errno == errno.ENOSPC:
            raise StorageFull(f"No room for a copy in {target}.", remedy="Free some space, or set TMPDIR.") from error
        raise InvalidInput(f"{target} cannot be written: {error.strerror or error}.") from error
    return found
