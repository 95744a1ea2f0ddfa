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
from collections import Counter
from collections.abc import Callable, Iterable, Mapping, Sequence
from pathlib import Path
from typing import Any, Final, NamedTuple

from msgspec import Struct

from findling.evaluation import history
from findling.evaluation.questions import folded, of_comment, of_subject
from findling.model.errors import InvalidInput, NotFound, StorageFull
from findling.model.languages import language_of
from findling.model.marks import looks_secret
from findling.model.plurals import count
from findling.model.types import Progress
from findling.outbound.files import NotRead, RootFiles
from findling.reading.pool import DocFinder
from findling.reading.syntax_docs import Documented, without
from findling.search.ranking.priors import path_flags
from findling.sources.discovery import discover
from findling.sources.ignore_rules import ALL_IGNORE_FILES
from findling.sources.selection import DiscoveryOptions

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


OnProgress = Callable[[Progress], None]

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


def _commits(real: Path, below: str) -> list[history.Commit]:
    """The commits that changed something below a folder, with paths from the root."""
    found = history.commits(real / below)
    if not below:
        return found

    def place(path: str) -> str:
        return f"{below}/{path}"

    return [
        commit._replace(paths={place(path): None if now is None else place(now) for path, now in commit.paths.items()})
        for commit in found
    ]


def _of_commits(
    commits: Sequence[history.Commit], known: frozenset[str], most: int, random_: random.Random
) -> tuple[list[tuple[history.Commit, str, tuple[str, ...]]], tuple[str, ...]]:
    """(commit, question, files) of a sample, newest first, and what to say of it."""
    left_out: Counter[str] = Counter()
    by_text: dict[str, list[tuple[history.Commit, str, tuple[str, ...]]]] = {}
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


def _commit_line(repo: str, commit: history.Commit, text: str, found: Sequence[str]) -> dict[str, Any]:
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
