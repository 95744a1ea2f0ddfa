"""What a fetching job is told: checked when it is asked for, and again by the process that does it. Plain values."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, Final, Literal

from findling.engine.library.fetching.fetch_names import check_branch, check_filename, repository_name, split_branch
from findling.model.errors import FetchRefused, InvalidInput
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


@dataclass(frozen=True, slots=True)
class FileRequest:
    """``max_bytes`` of the file."""

    url: str
    filename: str
    overwrite: bool = True
    max_bytes: int = DEFAULT_FILE_MB << 20
    index: bool = True

    type: Literal["fetch_file"] = "fetch_file"

    @property
    def name(self) -> str:
        return self.filename


@dataclass(frozen=True, slots=True)
class RepoRequest:
    """``branch``: a branch, tag or commit; '' for ``main``, else what the server has checked out."""

    url: str
    branch: str = ""
    include: tuple[str, ...] = INCLUDED
    exclude: tuple[str, ...] = ()
    remove_comments: bool = False
    line_numbers: bool = True

    type: Literal["fetch_repo"] = "fetch_repo"

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
        raise FetchRefused("Repositories are fetched over https only.")
    if "?" in target.path:
        raise FetchRefused("The URL of a repository has no query.")
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


_REQUESTS: Final[Mapping[str, Callable[..., Request]]] = {"fetch_file": FileRequest, "fetch_repo": RepoRequest}


def read_request(value: Mapping[str, Any]) -> Request:
    """The inverse of `dataclasses.asdict`. Raises KeyError, ValueError and TypeError."""
    facts: dict[str, Any] = {key: tuple(item) if isinstance(item, list) else item for key, item in value.items()}
    return _REQUESTS[facts.pop("type")](**facts)
