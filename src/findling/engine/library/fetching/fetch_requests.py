"""What a fetching job is told: checked when it is asked for, and again by the process that does it. Plain values.

Names come from elsewhere, of files, branches and repositories: here it says what may become part of a path.
"""

from __future__ import annotations

import re
from typing import TYPE_CHECKING, Final, Literal
from urllib.parse import unquote, urlsplit

from msgspec import Struct, convert

from findling.model.errors import FetchRefused, InvalidInput, UrlRefused
from findling.model.text_encodings import is_text
from findling.outbound.addresses import target_of

if TYPE_CHECKING:
    from findling.config import Config

INCLUDED: Final = ("*.md", "*.txt", "*.json", "*.rst")
EXCLUDED: Final = (".git", "node_modules", "vendor", "dist", "build", "target", ".venv", "__pycache__")
"""Left out whatever else is."""

MAX_PATTERNS: Final = 100
MAX_PATTERN: Final = 200
MAX_FILE_MB: Final = 1_000
DEFAULT_FILE_MB: Final = 10


class FileRequest(Struct, frozen=True, tag_field="type", tag="fetch_file"):
    """``max_bytes`` of the file."""

    url: str
    filename: str
    overwrite: bool = True
    max_bytes: int = DEFAULT_FILE_MB << 20
    index: bool = True

    @property
    def type(self) -> Literal["fetch_file"]:
        return "fetch_file"

    @property
    def name(self) -> str:
        return self.filename


class RepoRequest(Struct, frozen=True, tag_field="type", tag="fetch_repo"):
    """``branch``: a branch, tag or commit; '' for ``main``, else what the server has checked out."""

    url: str
    branch: str = ""
    include: tuple[str, ...] = INCLUDED
    exclude: tuple[str, ...] = ()
    remove_comments: bool = False
    line_numbers: bool = True

    @property
    def type(self) -> Literal["fetch_repo"]:
        return "fetch_repo"

    @property
    def name(self) -> str:
        return repository_name(self.url)


Request = FileRequest | RepoRequest


def checked(request: Request, config: Config) -> Request:
    """The request as it is carried out. Raises `FetchRefused` and `InvalidInput`; no name is resolved."""
    if not config.fetch.enabled:
        raise FetchRefused("Fetching is switched off.", remedy="fetch.enabled in the user's configuration allows it.")
    if isinstance(request, FileRequest):
        target_of(request.url, config.fetch.allowed_hosts)
        check_filename(request.filename)
        if not 1 <= request.max_bytes <= MAX_FILE_MB << 20:
            raise InvalidInput(f"The size limit must be between 1 byte and {MAX_FILE_MB} MB.")
        return request
    url, named = split_branch(request.url)
    target = target_of(url, config.fetch.allowed_hosts)
    if target.scheme != "https" and not target.permitted:
        raise UrlRefused("Repositories are fetched over https only.")
    if "?" in target.path:
        raise UrlRefused("The URL of a repository cannot have a query.")
    branch = request.branch or named
    if branch:
        check_branch(branch)
    for patterns in (request.include, request.exclude):
        if len(patterns) > MAX_PATTERNS or any(not p.strip() or len(p) > MAX_PATTERN for p in patterns):
            raise InvalidInput(f"There may be {MAX_PATTERNS} patterns of 1 to {MAX_PATTERN} characters.")
        if not all(map(is_text, patterns)):
            raise InvalidInput("A pattern has a byte in it that is not UTF-8.", remedy="Write '?' for the character.")
    exclude = tuple(dict.fromkeys((*EXCLUDED, *request.exclude)))
    return RepoRequest(
        url.rstrip("/"), branch, request.include or INCLUDED, exclude, request.remove_comments, request.line_numbers
    )


def read_request(value: object) -> Request:
    """The inverse of `msgspec.to_builtins`. Raises `msgspec.ValidationError`."""
    request: Request = convert(value, FileRequest | RepoRequest)
    return request


MAX_FILENAME_BYTES: Final = 200
MAX_BRANCH: Final = 250
MAX_PATH_BYTES: Final = 1_000
"""The longest path inside a repository; Linux and macOS take longer ones."""

_DEVICES = re.compile(r"(?:con|prn|aux|nul|conin\$|conout\$|com[0-9¹²³]|lpt[0-9¹²³]) *(?:\..*)?", re.IGNORECASE)
_BRANCH = re.compile(r"[^\x00-\x20\x7f~^:?*\[\\\ud800-\udfff]+")
_COMMIT = re.compile(r"[0-9a-f]{40}|[0-9a-f]{64}")
_SHORT_COMMIT = re.compile(r"[0-9a-f]{7,39}")


def part_problem(name: str) -> str:
    """Why ``name`` cannot be one part of a path on every system, '' when it can."""
    if name in ("", ".", ".."):
        return "it is not a name"
    if "/" in name or "\\" in name or ":" in name:
        return "it has a slash, a backslash or a colon in it"
    if not name.isprintable() or any(char in '<>"|?*' for char in name):
        return "it has characters that no file name may have"
    if name.endswith((".", " ")) or name.startswith(" "):
        return "it begins or ends with a space, or ends with a dot"
    if _DEVICES.fullmatch(name):
        return "it is the name of a device"
    try:
        long = len(name.encode()) > MAX_FILENAME_BYTES
    except UnicodeEncodeError:
        return "it is not valid Unicode"
    return "it is too long" if long else ""


def check_filename(name: str) -> str:
    """A name to save a download by. Raises `InvalidInput`."""
    problem = part_problem(name)
    if not problem and name.startswith("."):
        problem = "it begins with a dot"
    if problem:
        raise InvalidInput(f"{name[:80]!r} cannot be the name of a file: {problem}.", remedy="Use a plain file name.")
    return name


def filename_for(url: str) -> str:
    """A file name made from the end of a URL."""
    parts = urlsplit(url)
    own = unquote(parts.path.rstrip("/").rpartition("/")[2]) or "index"
    own = re.sub(r"[^\w.+-]+", "-", own).strip(".-")[:100] or "file"
    return own if "." in own else f"{(parts.hostname or 'page').replace(':', '-')}-{own}.html"


def path_problem(path: str) -> str:
    """Why a path from a repository is not written, '' when it is."""
    if len(path.encode("utf-8", "surrogateescape")) > MAX_PATH_BYTES:
        return "its path is too long"
    for part in path.split("/"):
        problem = part_problem(part)
        if problem:
            return problem
        if part.lower().rstrip(". ") in (".git", "git~1") or part.lower().startswith(".git\u200c"):
            return "it belongs to version control"
    return ""


def check_branch(name: str) -> str:
    """A branch, tag or commit. Raises `InvalidInput`."""
    bad = (
        not _BRANCH.fullmatch(name)
        or len(name) > MAX_BRANCH
        or name.startswith(("-", "/"))
        or name.endswith(("/", ".", ".lock"))
        or ".." in name
        or "@{" in name
        or "//" in name
    )
    if bad:
        raise InvalidInput(f"{name[:80]!r} cannot be the name of a branch, tag or commit.")
    return name


def is_commit(name: str) -> bool:
    return _COMMIT.fullmatch(name) is not None


def is_short_commit(name: str) -> bool:
    return _SHORT_COMMIT.fullmatch(name) is not None


def split_branch(url: str) -> tuple[str, str]:
    """A URL without its ``#`` and what follows, and what follows it."""
    plain, _, branch = url.partition("#")
    return plain, branch


def repository_name(url: str) -> str:
    """``owner/repo`` of a repository's URL."""
    path = [part for part in unquote(urlsplit(url).path).split("/") if part not in ("", ".", "..", ".git")]
    name = "/".join(path[-2:]).removesuffix(".git") or urlsplit(url).hostname or "repository"
    return "".join(char if char.isprintable() else "-" for char in name)[:100]
