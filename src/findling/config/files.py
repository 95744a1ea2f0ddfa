"""Which configuration files there are, in order, and reading them.

A file is bounded in size and must be a regular one; one of the project's must also lie in the root once links are
followed. What cannot be read is an error where the user named the file, otherwise a warning.
"""

from __future__ import annotations

import os
import stat
from collections.abc import Iterator, Mapping
from pathlib import Path
from typing import Final

from findling.config.sources import Source, SourceKind
from findling.model.errors import ConfigError

CONFIG_VARIABLE: Final = "FINDLING_CONFIG"
PROJECT_FILES: Final = (
    "findling.toml",
    ".findling/config.toml",
    ".findling/config.json",
    ".repo_search/config.json",
)
USER_FILES: Final = ("config.toml", "config.json")

# A file with every option and a comment on each has 10 kB.
_MAX_BYTES: Final = 256 * 1024


def of_files(root: Path, environ: Mapping[str, str], named: Path | None) -> Iterator[Source]:
    """The files that exist, the strongest first: the named one (else FINDLING_CONFIG's), the project's, the user's.

    Raises ConfigError for a named file that cannot be read, and for any that does not parse.
    """
    if named is None and environ.get(CONFIG_VARIABLE):
        named = Path(environ[CONFIG_VARIABLE])
    candidates: list[tuple[SourceKind, Path]] = [("named", named)] if named is not None else []
    candidates += [("project", root / name) for name in PROJECT_FILES]
    folder = user_folder(environ)
    candidates += [("user", folder / name) for name in USER_FILES] if folder is not None else []
    for kind, path in candidates:
        source = Source(kind, path)
        text, problem = _read(path, inside=root if kind == "project" else None)
        if problem and kind == "named":
            raise ConfigError(
                f"The configuration file {str(path)!r} cannot be used: {problem}.", remedy="Check the path."
            )
        if problem and problem != _ABSENT:
            source.warnings.append(f"{path}: not read: {problem}.")
        if problem != _ABSENT:
            source.read(text)
            yield source


def user_folder(environ: Mapping[str, str]) -> Path | None:
    """``~/.config/findling``, or where XDG_CONFIG_HOME says; None without a home folder."""
    base = environ.get("XDG_CONFIG_HOME", "")
    if os.path.isabs(base):  # noqa: PTH117 - the specification ignores a relative one
        return Path(base) / "findling"
    home = environ.get("HOME") or environ.get("USERPROFILE") or ""
    return Path(home) / ".config" / "findling" if os.path.isabs(home) else None  # noqa: PTH117


_ABSENT: Final = "there is no such file"


def _read(path: Path, *, inside: Path | None) -> tuple[str, str]:
    """The text of a file, and what is wrong with it ("" if nothing)."""
    try:
        real = os.path.realpath(path, strict=True)
        if inside is not None and not Path(real).is_relative_to(os.path.realpath(inside)):
            return "", "it is a link that leads out of the project"
        if not stat.S_ISREG(os.stat(real).st_mode):  # noqa: PTH116 - and a pipe is never opened: it would block
            return "", "it is no regular file"
        with open(real, "rb") as file:  # noqa: PTH123
            data = file.read(_MAX_BYTES + 1)
    except (FileNotFoundError, NotADirectoryError):
        return "", _ABSENT
    except OSError as error:
        return "", error.strerror or str(error)
    if len(data) > _MAX_BYTES:
        return "", f"it is larger than {_MAX_BYTES // 1024} kB"
    try:
        return data.decode("utf-8-sig"), ""
    except UnicodeDecodeError:
        return "", "it is not UTF-8"
