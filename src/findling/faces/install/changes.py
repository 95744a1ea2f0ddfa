"""Plans and carries out changes to an agent's settings, with a backup beside the file, which is replaced atomically.

Removing restores the original file, unless it was changed since: then only the entry is removed.
"""

from __future__ import annotations

import os
import shutil
import stat
import sys
from collections.abc import Callable, Sequence
from contextlib import suppress
from pathlib import Path
from typing import Any, Final, Literal

import msgspec
from msgspec import Struct

from findling.faces.install import settings_text
from findling.model.errors import FileAccess

# --- agents -------------------------------------------------------------------------------------------------------
# The coding agents that findling can be added to: how to detect one, where its servers are configured, and what an
# entry looks like there. The table is `agents.json`; docs/agents.md says what each row was checked against.

ENTRY: Final = "findling"
"""What findling's server is called everywhere."""


class Agent(Struct, frozen=True, forbid_unknown_fields=True):
    """``signs`` are files and folders that only a machine with the agent has, ``programs`` its commands. ``user`` and
    ``project`` are files that it reads, the usual one first; without ``project`` it has no project settings.
    ``keys`` lead to the servers, ``entry`` is one of them. ``tools``: the families that fit. ``source``: where all
    this is said.
    """

    id: str
    name: str
    signs: tuple[str, ...]
    user: tuple[str, ...]
    keys: tuple[str, ...]
    entry: dict[str, Any]
    source: str
    project: tuple[str, ...] = ()
    programs: tuple[str, ...] = ()
    tools: str = "code"

    @property
    def is_here(self) -> bool:
        return any(_place(sign).exists() for sign in self.signs) or any(map(shutil.which, self.programs))

    def file(self, project: Path | None) -> Path | None:
        """The file that is changed, of the user or of a project: the first that there is, else the usual one. None
        where the agent has none."""
        files = [project / name for name in self.project] if project is not None else list(map(_place, self.user))
        return next((file for file in files if os.path.lexists(file)), files[0] if files else None)

    def server(self, program: Sequence[str]) -> dict[str, Any]:
        """The entry that starts ``program``."""
        command, *first = program
        args = [*first, "serve", "--tools", self.tools]
        filled = {"COMMAND": command, "ARGS": args, "BOTH": [command, *args]}
        return {key: filled.get(value, value) if isinstance(value, str) else value for key, value in self.entry.items()}


def known() -> list[Agent]:
    """Every agent of the table."""
    return msgspec.json.decode(Path(__file__).with_name("agents.json").read_bytes(), type=list[Agent])


def command(*, shared: bool) -> tuple[str, ...]:
    """What starts findling. ``shared``: in a file that others may get as well, so by its name alone; else by its path,
    since an agent that is no child of a shell may have another PATH."""
    if shared:
        return (ENTRY,)
    beside = Path(sys.executable).with_name(ENTRY + Path(sys.executable).suffix)
    found = shutil.which(ENTRY) or (str(beside) if beside.exists() else None)
    return (found,) if found else (sys.executable, "-m", ENTRY)


def _place(text: str) -> Path:
    """A path of the table. ``{apps}`` is where this system's programs keep their settings, ``{xdg}`` where those do
    that keep them in one place on every system."""
    home = Path.home()
    xdg = Path(os.environ.get("XDG_CONFIG_HOME") or home / ".config")
    roaming = Path(os.environ.get("APPDATA") or home / "AppData" / "Roaming")
    apps = {"darwin": home / "Library" / "Application Support", "win32": roaming}.get(sys.platform, xdg)
    zed = roaming / "Zed" if sys.platform == "win32" else xdg / "zed"
    return Path(text.format(apps=apps, xdg=xdg, zed=zed)).expanduser()


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
