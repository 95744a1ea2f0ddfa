"""The recipe of fetching a repository: which commit, its objects, its files, one bundle, the index.

Everything lies in one folder of the library's: git's objects, the files, the bundle. Fetching again brings what is new
and touches only what changed.
"""

from __future__ import annotations

import hashlib
import json
import os
import re
import time
from collections.abc import Callable, Iterable, Iterator, Sequence
from contextlib import ExitStack, contextmanager
from pathlib import Path
from typing import TYPE_CHECKING, Any, Final

from msgspec import Struct, to_builtins

from findling.config.options import Fetch
from findling.engine.jobs import RunningJob
from findling.engine.library.collections import REPOSITORIES, Quota, fetched_quota, size_of
from findling.engine.library.fetching.fetch_requests import RepoRequest, is_commit, is_short_commit
from findling.engine.library.fetching.repo_tree import Tree, write_tree
from findling.engine.library.results import indexing_result
from findling.engine.small_files import Turns, failure, make_folder, read_json, write_json
from findling.model.errors import FetchRefused, FindlingError, InvalidInput, NetworkError
from findling.model.format_names import format_of
from findling.model.languages import language_of
from findling.outbound.addresses import Target, addresses_of, target_of
from findling.outbound.credentials import NO_CREDENTIALS, Credentials
from findling.outbound.fetch import located
from findling.outbound.git import GitOutput, GitServer, run_git, start_git
from findling.reading.decoding import Decoded, decode
from findling.reading.pool import CommentFinder
from findling.store.local.layout import LOCK, discard

if TYPE_CHECKING:
    from findling.engine.library.library import Library


_REFS: Final = "/info/refs?service=git-upload-pack"
FILES: Final = "files"
STATE: Final = "files.json"
BUNDLE: Final = "bundle.json"
"""What the bundle was made of."""


MAX_OBJECTS_BYTES: Final = 1 << 30
"""What git may bring from a server; its folder is looked at while it does."""

FETCH_S: Final = 1800.0
_ASK_S: Final = 60.0
_POLL_S: Final = 0.1
_LOOK_S: Final = 1.0
"""Between two looks at how much git has written."""

_OLDEST_GIT: Final = (2, 37)
"""The first that can be told which address to connect to."""

RECEIVED, WRITTEN, BUNDLED = 60, 75, 80
"""Percent when git is done, when the files are there, when the bundle is."""

_RECEIVING = re.compile(rb"Receiving objects:\s+(\d{1,3})%")
_BUNDLE_BYTES: Final = 16_000_000
_NOT_FOR_PEOPLE = re.compile(r"[^\x20-\x7e]+")


class _Commit(Struct, frozen=True):
    """``branch``: what the commit was found by; ``ref``: what to fetch; ``id``: what the server says that it is."""

    branch: str
    ref: str
    id: str


def run(library: Library, job: RunningJob, request: RepoRequest, fetching: Fetch, turns: Turns) -> dict[str, Any]:
    """Fetch, write, bundle and index; the job's result. Raises what goes wrong; a first fetch that fails leaves
    nothing."""
    home = home_of(library.directory, request)
    with ExitStack() as roles:
        roles.enter_context(turns.taken(job.waits))
        require_git(library.directory)
        target = target_of(_repository_url(request.url, fetching.allowed_hosts), fetching.allowed_hosts)
        take(roles, home, job)
        files = os.path.realpath(home / FILES)
        sweep(library.directory, lambda: [files, *(row.path for row in library.collections())])
        try:
            result = _brought(library, job, request, target, home, fetched_quota(library.directory, fetching))
        except BaseException:
            if files not in [row.path for row in library.collections()]:
                empty(home)
            raise
        pack(home)
        return result


def _brought(
    library: Library, job: RunningJob, request: RepoRequest, target: Target, home: Path, quota: Quota
) -> dict[str, Any]:
    branch, commit, tree = _files(job, request, target, home, quota)
    folder = home / FILES
    about = f"Source: {target.shown}, {branch}, commit {commit}. Files: {len(tree.files)}."
    bundle, kept = _bundled(home, request, about, tree, job)
    result: dict[str, Any] = {
        "filesProcessed": len(tree.files),
        "repoName": request.name,
        "branch": branch,
        "commit": commit,
        "path": os.fspath(folder),
        "bundlePath": os.fspath(bundle),
        **tree.facts(),
    }
    if kept and request.remove_comments:
        result["commentsKept"] = kept[:100]
    return {**result, **_indexed(library, job, request, folder, commit)}


@contextmanager
def files_of(
    directory: Path, job: RunningJob, request: RepoRequest, fetching: Fetch, known: str = ""
) -> Iterator[tuple[Path, str]]:
    """The folder with the files of a repository, below ``directory``, and their commit. Within the block nobody else
    changes the folder or empties it. Where the commit is ``known``, nothing is brought or written."""
    home = home_of(directory, request)
    make_folder(directory)
    require_git(directory)
    credentials = Credentials(fetching.credentials)
    url = _repository_url(request.url, fetching.allowed_hosts, credentials)
    target = target_of(url, fetching.allowed_hosts)
    with ExitStack() as roles:
        take(roles, home, job)
        quota = fetched_quota(directory, fetching)
        _, commit, _ = _files(job, request, target, home, quota, credentials.header_for(target), known)
        pack(home)
        yield home / FILES, commit


def _files(
    job: RunningJob,
    request: RepoRequest,
    target: Target,
    home: Path,
    quota: Quota,
    authorization: str = "",
    known: str = "",
) -> tuple[str, str, Tree]:
    """The branch, the commit, and what of it stands in the folder of files by now."""
    objects = home / OBJECTS
    make_folder(objects)
    if not (objects / "HEAD").exists():
        _ok(run_git(["init", "--quiet", "--bare", "--template=", "."], cwd=objects), "git cannot create a repository")
    addresses = addresses_of(target)
    server = GitServer(target.scheme, target.host, target.port, addresses, authorization)  # type: ignore[arg-type]
    job.check()
    job.progress(2)
    wanted = _choose(server, target, objects, request, job)
    if known and wanted.id == known:
        return wanted.branch, known, Tree()
    job.progress(5)
    commit = _receive(server, target, objects, wanted, job, quota)
    job.progress(RECEIVED)
    tree = write_tree(
        objects,
        commit,
        home / FILES,
        home / STATE,
        request.include,
        request.exclude,
        quota,
        _share(job, RECEIVED, WRITTEN),
    )
    return wanted.branch, commit, tree


def _bundled(home: Path, request: RepoRequest, about: str, tree: Tree, job: RunningJob) -> tuple[Path, list[str]]:
    """The bundle of the files, made anew where it would be another; and the paths whose comments stayed in it."""
    bundle = home / f"{request.name.replace('/', '-')}.md"
    made_of = json.dumps([about, request.remove_comments, request.line_numbers, tree.files], sort_keys=True)
    key = hashlib.sha256(made_of.encode("utf-8", "surrogateescape")).hexdigest()
    try:
        known = read_json(home / BUNDLE, _BUNDLE_BYTES)
    except ValueError:
        known = None  # damaged: the bundle is made anew
    if bundle.is_file() and isinstance(known, dict) and known.get("key") == key:
        return bundle, [str(path) for path in known.get("kept", ())]
    kept = write_bundle(
        bundle,
        request.name,
        about,
        home / FILES,
        list(tree.files),
        remove_comments=request.remove_comments,
        line_numbers=request.line_numbers,
        step=_share(job, WRITTEN, BUNDLED),
    )
    write_json(home / BUNDLE, {"key": key, "kept": kept})
    return bundle, kept


def _repository_url(url: str, allowed_hosts: tuple[str, ...], credentials: Credentials = NO_CREDENTIALS) -> str:
    """Where the repository is now. Redirects are followed here, where each is looked at, and not by git."""
    found = located(f"{url}{_REFS}", allowed_hosts=allowed_hosts, credentials=credentials)
    place = found.partition("?")[0]
    if not place.endswith(_REFS.partition("?")[0]):
        raise NetworkError(f"There is no repository at {target_of(url, allowed_hosts).shown}.")
    return place.removesuffix(_REFS.partition("?")[0])


def require_git(directory: Path) -> None:
    said = run_git(["version"], cwd=directory)
    found = re.search(rb"(\d+)\.(\d+)", said.stdout)
    if not said.ok or found is None:
        raise FindlingError("There is no git on this machine.", remedy="Install git, 2.37 or later.")
    if (int(found[1]), int(found[2])) < _OLDEST_GIT:
        raise FindlingError("git is older than 2.37.", remedy="Install a newer git.")


def _choose(server: GitServer, target: Target, objects: Path, request: RepoRequest, job: RunningJob) -> _Commit:
    """Which commit is meant. Raises `InvalidInput` when the server has no such branch."""
    asked = request.branch
    if asked and is_commit(asked):
        return _Commit(asked, asked, asked)
    patterns = [f"refs/heads/{asked or 'main'}", f"refs/tags/{asked or 'main'}"]
    said = _ask(
        ["--git-dir=.", "ls-remote", "--symref", "--end-of-options", _git_url(target), "HEAD", *patterns],
        server,
        target,
        objects,
        job,
        _ASK_S,
    )
    refs: dict[str, str] = {}
    head = ""
    for line in said.stdout.decode("utf-8", "replace").split("\n"):
        first, _, ref = line.partition("\t")
        if first.startswith("ref: ") and ref == "HEAD":
            head = first.removeprefix("ref: ")
        elif ref:
            refs[ref] = first
    for pattern in patterns:
        if pattern in refs:
            return _Commit(asked or "main", pattern, refs[pattern])
    if not asked and "HEAD" in refs:
        return _Commit(head.removeprefix("refs/heads/") or "HEAD", "HEAD", refs["HEAD"])
    if not asked:
        raise NetworkError(f"There is no repository at {target.shown}, or an empty one.")
    hint = "Give the whole id of a commit." if is_short_commit(asked) else "Name one of its branches or tags."
    raise InvalidInput(f"{target.shown} has no branch or tag called {asked!r}.", remedy=hint)


def _receive(server: GitServer, target: Target, objects: Path, wanted: _Commit, job: RunningJob, quota: Quota) -> str:
    """Bring the commit's objects; its full name."""
    size = size_of(objects)
    looked = time.monotonic()

    def look() -> None:
        nonlocal size
        before, size = size, size_of(objects)
        if size > MAX_OBJECTS_BYTES:
            raise FetchRefused(f"The repository has more than {MAX_OBJECTS_BYTES:,} bytes.")
        quota.take(size - before)

    def tell(said: bytes) -> None:
        nonlocal looked
        if time.monotonic() - looked > _LOOK_S:
            look()
            looked = time.monotonic()
        found = _RECEIVING.findall(said[-4096:])
        if found:
            job.progress(5 + int(found[-1]) * (RECEIVED - 5) // 100)

    _ask(
        [
            *("--git-dir=.", "fetch", "--progress", "--depth=1", "--no-tags", "--no-recurse-submodules", "--force"),
            *("--no-write-fetch-head", "--no-auto-maintenance", "--end-of-options", _git_url(target)),
            f"+{wanted.ref}:refs/findling/fetched",
        ],
        server,
        target,
        objects,
        job,
        FETCH_S,
        tell,
    )
    look()
    found = run_git(["--git-dir=.", "rev-parse", "--verify", "refs/findling/fetched^{commit}"], cwd=objects)
    commit = _ok(found, "What was fetched is no commit").stdout.decode("ascii", "replace").strip()
    if not is_commit(commit):
        raise FindlingError("git does not say which commit it fetched.")
    return commit


def _ask(
    args: list[str],
    server: GitServer,
    target: Target,
    objects: Path,
    job: RunningJob,
    timeout_s: float,
    tell: Callable[[bytes], None] = lambda _: None,
) -> GitOutput:
    """Run git against the server, with an eye on the clock and whether the job is still wanted; ``tell`` is given what
    it says meanwhile, and may raise."""
    with start_git(args, cwd=objects, timeout_s=timeout_s, server=server) as git:
        until = time.monotonic() + timeout_s
        while not git.finished and time.monotonic() < until:
            job.check()
            tell(git.said())
            time.sleep(_POLL_S)
        out = git.wait()
    if out.ok:
        return out
    if out.status == "missing":
        raise FindlingError("There is no git on this machine.", remedy="Install git, 2.37 or later.")
    if out.status == "timed_out":
        raise NetworkError(f"{target.host} takes too long.")
    raise NetworkError(f"git could not fetch {target.shown}: {_said(out)}")


def _git_url(target: Target) -> str:
    return target.shown  # without query, and credentials were refused


def _said(out: GitOutput) -> str:
    """The first and the last complaint, which may be the server's and git's, for people."""
    lines = [line for line in out.stderr.decode("utf-8", "replace").replace("\r", "\n").split("\n") if line.strip()]
    fatal = [line for line in lines if line.startswith(("fatal:", "error:", "remote:"))] or lines or [out.status]
    return "; ".join(_NOT_FOR_PEOPLE.sub(" ", line).strip()[:300] for line in dict.fromkeys((fatal[0], fatal[-1])))


def _ok(out: GitOutput, problem: str) -> GitOutput:
    if not out.ok:
        raise FindlingError(f"{problem}: {_said(out)}")
    return out


def _share(job: RunningJob, begin: int, end: int) -> Callable[[float], None]:
    def step(done: float) -> None:
        job.check()
        job.progress(begin + int((end - begin) * done))

    return step


def _indexed(library: Library, job: RunningJob, request: RepoRequest, folder: Path, commit: str) -> dict[str, Any]:
    origin = {"type": "repository", "commit": commit, "request": to_builtins(request)}
    name = request.name.replace("/", "-")
    collection = library.enlist(folder, name, origin)
    done = library.refresh(collection.name, progress=job.indexing(BUNDLED), fetch=False)[0]
    if done.report is None:
        raise FindlingError(done.problem)
    return {"collection": collection.name, "indexing": indexing_result(done.report)}


OBJECTS: Final = "objects.git"

PACKS: Final = 10
"""Packs of objects: each fetch brings one, and most of what older ones hold is of commits that are gone."""

_PACKING_S: Final = 120.0
_PACKING: Final = ("core.bigFileThreshold=16m", "pack.windowMemory=64m", "pack.threads=1")
"""What somebody else committed may unpack to anything: git holds little of it in memory."""


# --- the folder of a repository -------------------------------------------------------------------------------------


def home_of(directory: Path, request: RepoRequest) -> Path:
    """The same repository at the same branch is always in the same folder."""
    slug = re.sub(r"[^a-z0-9]+", "-", request.name.lower()).strip("-")[:60] or "repository"
    digest = hashlib.sha256(f"{request.url}#{request.branch}".encode()).hexdigest()[:12]
    return directory / REPOSITORIES / f"{slug}-{digest}"


def take(roles: ExitStack, home: Path, job: RunningJob) -> None:
    """Be the only one that fetches this repository, and go on from what an interrupted fetch left whole: one that was
    killed leaves files half-written, and its git locks, too, which the next one would respect for ever."""
    roles.enter_context(Turns(home, 1).taken(job.waits))
    objects = home / OBJECTS
    packs = objects / "objects" / "pack"
    locks = (*objects.glob("*.lock"), *(objects / "refs").rglob("*.lock"), objects / "gc.pid", *packs.glob("*.keep"))
    half = (*home.glob("*.tmp"), *packs.glob("tmp_*"), *packs.glob(".tmp-*"))
    for path in (*half, *locks):
        path.unlink(missing_ok=True)


def pack(home: Path) -> None:
    """Forget the objects of commits that are gone, once there are many. Where git fails, they stay."""
    objects = home / OBJECTS
    if len(list((objects / "objects" / "pack").glob("*.pack"))) > PACKS:
        options = [word for value in _PACKING for word in ("-c", value)]
        run_git([*options, "--git-dir=.", "gc", "--quiet", "--prune=now"], cwd=objects, timeout_s=_PACKING_S)


def empty(home: Path) -> None:
    """Delete what is in it; for whoever holds its role, which stays."""
    for path in _contents(home):
        discard(path)


def sweep(directory: Path, used: Callable[[], Iterable[str]]) -> None:
    """Empty the folders that no collection (``used`` gives their paths, links resolved) is in, and that nobody is
    fetching into."""
    folder = Path(os.path.realpath(directory / REPOSITORIES))
    for home in folder.iterdir() if folder.is_dir() else ():
        if home.is_symlink() or not home.is_dir() or _is_in(home, used()) or not _contents(home):
            continue
        with Turns(home, 1).taken(lambda: False) as mine:  # else it is on its way
            if mine and not _is_in(home, used()):  # what was being fetched a moment ago is a collection now
                empty(home)


def _is_in(home: Path, paths: Iterable[str]) -> bool:
    return any(Path(path).is_relative_to(home) for path in paths)


def _contents(home: Path) -> list[Path]:
    return [path for path in home.iterdir() if not path.name.startswith(LOCK)]


# --- repo bundle --------------------------------------------------------------------------------------------------
# All files of a fetched repository as one Markdown file: a heading and a fenced block each, with the file's own line
# numbers, with or without its comments.

MAX_BYTES: Final = 200 << 20
"""Of the bundle; what does not fit is named in it."""

_TICKS = re.compile("`{3,}")


def write_bundle(
    target: Path,
    title: str,
    about: str,
    folder: Path,
    paths: Sequence[str],
    *,
    remove_comments: bool,
    line_numbers: bool,
    step: Callable[[float], None],
) -> list[str]:
    """Write the bundle at once, over an older one; the paths whose comments could not be told from the rest.

    ``paths`` are relative to ``folder``. Files that are no text are named only.
    """
    partial = target.with_name(f".{target.name}.{os.getpid()}.tmp")
    kept: list[str] = []
    written = 0
    try:
        with CommentFinder() as finder, partial.open("w", encoding="utf-8", newline="\n") as out:
            out.write(f"# {_inline(title)}\n\n{about}\n")
            for done, path in enumerate(paths, 1):
                step(done / len(paths))
                text = _text(folder / path, path)
                if text is None or written > MAX_BYTES:
                    why = "Not text." if text is None else "Left out: the bundle is too long."
                    out.write(f"\n## {_inline(path)}\n\n{why}\n")
                    continue
                spans = finder.spans(path, text.encode()) if remove_comments else []
                if spans is None:
                    kept.append(path)
                block = _block(path, text, spans or [], line_numbers=line_numbers)
                out.write(block)
                written += len(block)
        partial.replace(target)
    except OSError as error:
        raise failure(error, target) from error
    finally:
        partial.unlink(missing_ok=True)
    return kept


def _text(file: Path, path: str) -> str | None:
    if format_of(path):
        return None
    decoded = decode(file.read_bytes())
    if not isinstance(decoded, Decoded):
        return None
    return decoded.text.encode("utf-8", "replace").decode()


def _block(path: str, text: str, spans: Sequence[tuple[int, int]], *, line_numbers: bool) -> str:
    lines = numbered(text, spans)
    width = len(str(lines[-1][0])) if lines else 1
    body = "\n".join(f"{number:>{width}}  {line}".rstrip() if line_numbers else line for number, line in lines)
    fence = "`" * max(3, 1 + max((len(ticks) for ticks in _TICKS.findall(text)), default=0))
    language = language_of(path, text[:4096].encode()).id
    return f"\n## {_inline(path)}\n\n{fence}{language}\n{body}\n{fence}\n"


def numbered(text: str, spans: Sequence[tuple[int, int]]) -> list[tuple[int, str]]:
    """The lines of a text with their numbers (from 1), without the bytes in ``spans``; lines that held nothing else
    are left out."""
    raw = text.encode()
    kept = bytearray()
    touched: set[int] = set()
    at = 0
    for start, end in spans:
        kept += raw[at:start]
        breaks = raw.count(b"\n", start, end)
        first = kept.count(b"\n") + 1
        touched.update(range(first, first + breaks + 1))
        kept += b"\n" * breaks
        at = end
    kept += raw[at:]
    lines = kept.decode("utf-8", "replace").split("\n")
    if lines and not lines[-1]:
        lines.pop()
    found: list[tuple[int, str]] = []
    for number, line in enumerate(lines, 1):
        if number in touched and not line.strip():
            continue
        line = line.removesuffix("\r")
        found.append((number, line.rstrip() if number in touched else line))
    return found


def _inline(text: str) -> str:
    return "".join(char if char.isprintable() else "?" for char in text)
