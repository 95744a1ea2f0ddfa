"""Plans and carries out changes to an agent's settings, with a backup beside the file, which is replaced atomically.

Removing restores the original file, unless it was changed since: then only the entry is removed.
"""

from __future__ import annotations

import os
import stat
from collections.abc import Callable
from contextlib import suppress
from pathlib import Path
from typing import Final, Literal

from msgspec import Struct

from findling.faces.install import settings_text
from findling.faces.install.agents import ENTRY, Agent, command
from findling.model.errors import FileAccess

BACKUP: Final = ".before-findling"
"""Behind the name of a file: as it was before findling was put into it."""

MOST_BYTES: Final = 64_000_000
TOML: Final = ".toml"
HINT_FILES: Final = ("AGENTS.md", "CLAUDE.md")

State = Literal["add", "update", "there", "remove", "absent", "unsupported", "left_alone"]
TO_DO: Final = ("add", "update", "remove")


class Change(Struct, frozen=True):
    """``file`` from ``before`` to ``after`` (None: there is none). ``entry`` is what is added; ``why`` says why a file
    is left alone."""

    agent: str
    file: Path | None
    state: State
    before: bytes | None = None
    after: bytes | None = None
    entry: str = ""
    why: str = ""

    @property
    def is_to_do(self) -> bool:
        return self.state in TO_DO


def planned(agent: Agent, project: Path | None, *, remove: bool = False) -> Change:
    """The change that adds findling to the agent's settings, or removes it. Changes nothing yet."""
    file = agent.file(project)
    if file is None:
        return Change(agent.name, None, "unsupported", why="it has no project settings")
    keys, toml = (*agent.keys, ENTRY), file.suffix == TOML
    server = agent.server(command(shared=project is not None))

    def put(text: str) -> str:
        return settings_text.with_entry(text, keys, server, toml=toml)

    def take(text: str) -> str:
        return settings_text.without_entry(text, keys, toml=toml)

    return _change(agent.name, file, project, put, take, remove)


def entry(agent: Agent) -> str:
    """The text that belongs into the user's settings, without the rest of the file."""
    file = agent.file(None)
    assert file is not None, "every agent has settings of the user"
    server = agent.server(command(shared=False))
    return settings_text.with_entry("", (*agent.keys, ENTRY), server, toml=file.suffix == TOML).strip()


def planned_hint(project: Path, *, remove: bool = False) -> list[Change]:
    """The same for the lines that agents read before they work in a project: in AGENTS.md, and in CLAUDE.md if it is
    there."""
    files = [project / name for name in HINT_FILES if name == HINT_FILES[0] or (project / name).exists()]
    put, take = settings_text.with_hint, settings_text.without_hint
    return [_change(file.name, file, project, put, take, remove) for file in files]


def _change(
    name: str,
    file: Path,
    project: Path | None,
    put: Callable[[str], str],
    take: Callable[[str], str],
    remove: bool,
) -> Change:
    try:
        if project is not None and not file.resolve().is_relative_to(project.resolve()):
            return Change(name, file, "left_alone", why="it is a link that leads out of the project")
        before = _read(file)
        text = (before or b"").decode()
        with_it, without_it = put(text), take(text)
        after = with_it.encode()
    except (OSError, ValueError) as error:
        said = error.strerror if isinstance(error, OSError) else str(error)
        return Change(name, file, "left_alone", why=f"it cannot be read ({said})")
    if not remove:
        state: State = "there" if before is not None and with_it == text else "add" if without_it == text else "update"
        return Change(name, file, state, before, after, put("").strip())
    if before is None or without_it == text:
        return Change(name, file, "absent", before, before)
    with suppress(OSError, ValueError):  # a backup that is gone, or that nothing can be put into any more
        kept = _read(_backup(file))
        if put((kept or b"").decode()) == text:
            return Change(name, file, "remove", before, kept)
    return Change(name, file, "remove", before, without_it.encode())


def carry_out(change: Change) -> None:
    """Write it. Raises `FileAccess`, and then the file is as it was."""
    assert change.file is not None
    file, backup = change.file.resolve(), _backup(change.file)
    try:
        if _read(file) != change.before:
            raise FileAccess(
                f"{change.file} was changed in the meantime; nothing was written to it.", remedy="Try again."
            )
        if change.state == "add" and change.before is not None:
            _write(backup, change.before, file)
        if change.after is None:
            file.unlink()
        else:
            file.parent.mkdir(parents=True, exist_ok=True)
            _write(file, change.after, file)
        if change.state == "remove":
            backup.unlink(missing_ok=True)
    except OSError as error:
        raise FileAccess(
            f"{change.file} cannot be written: {error.strerror or error}.", remedy="Check its permissions."
        ) from error


def _backup(file: Path) -> Path:
    real = file.resolve()
    return real.with_name(real.name + BACKUP)


def _read(file: Path) -> bytes | None:
    """What is in it; None where there is no such file. Raises OSError, and ValueError for what no agent has written."""
    try:
        with file.open("rb") as opened:
            if not stat.S_ISREG(os.fstat(opened.fileno()).st_mode):
                raise ValueError("it is not a regular file")
            data = opened.read(MOST_BYTES + 1)
    except FileNotFoundError:
        return None
    if len(data) > MOST_BYTES:
        raise ValueError("it is too large")
    return data


def _write(file: Path, data: bytes, like: Path) -> None:
    """Whole or not at all, with the rights of the file ``like`` if there is one: it may hold somebody's keys."""
    partial = file.with_name(f".{file.name}.{os.getpid()}.tmp")
    try:
        with partial.open("xb") as opened:
            with suppress(FileNotFoundError):
                partial.chmod(stat.S_IMODE(like.stat().st_mode))
            opened.write(data)
            opened.flush()
            os.fsync(opened.fileno())
        partial.replace(file)
    except BaseException:
        partial.unlink(missing_ok=True)
        raise
