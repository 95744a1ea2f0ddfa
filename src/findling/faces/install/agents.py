"""The coding agents that findling can be added to: how to detect one, where its servers are configured, and what an
entry looks like there. The table is `agents.json`; docs/agents.md says what each row was checked against.
"""

from __future__ import annotations

import os
import shutil
import sys
from collections.abc import Sequence
from pathlib import Path
from typing import Any, Final

import msgspec
from msgspec import Struct

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
