"""How git is configured for a folder, as far as a listing depends on it."""

from __future__ import annotations

import os
from collections.abc import Iterable
from typing import NamedTuple

from findling.outbound.git import run_git

# ruff: noqa: PTH111, PTH118, PTH120 - plain strings, as in selection


class Setting(NamedTuple):
    """``file``: absolute, '' for a setting of the environment. ``key`` is in lower case but for names in its middle."""

    file: str
    key: str
    value: str


def git_settings(folder: str) -> list[Setting]:
    """All settings, the stronger later; none where git cannot be asked."""
    output = run_git(["config", "--list", "--show-origin", "-z"], cwd=folder)
    fields = [os.fsdecode(field) for field in output.stdout.split(b"\0")] if output.ok else []
    found: list[Setting] = []
    for origin, setting in zip(fields[::2], fields[1::2], strict=False):
        key, _, value = setting.partition("\n")
        file = os.path.join(folder, origin.removeprefix("file:")) if origin.startswith("file:") else ""
        if file or key == "core.excludesfile":  # the other settings of the environment are those that we run git with
            found.append(Setting(file, key, value))
    return found


def is_on(settings: Iterable[Setting], key: str) -> bool:
    """Whether a switch is on."""
    chosen = [setting.value.lower() for setting in settings if setting.key == key]
    return bool(chosen) and chosen[-1] in ("", "true", "yes", "on", "1")


def excludes_file(settings: Iterable[Setting]) -> str:
    """The user's own ignore file for all repositories: what git is configured to use, else its default place."""
    chosen = [setting.value for setting in settings if setting.key == "core.excludesfile"]
    return os.path.expanduser(chosen[-1]) if chosen else os.path.join(user_folder(), "ignore")


def user_folder() -> str:
    """Where the user's own files for git are."""
    base = os.environ.get("XDG_CONFIG_HOME") or os.path.join(os.path.expanduser("~"), ".config")
    return os.path.join(base, "git")


def settings_files(settings: Iterable[Setting]) -> set[str]:
    """The files that the settings stand in, and those that they name as more configuration, there or not."""
    found: set[str] = set()
    for file, key, value in settings:
        if file:
            found.add(file)
            if key.startswith(("include.", "includeif.")) and key.endswith(".path"):
                found.add(os.path.join(os.path.dirname(file), os.path.expanduser(value)))
    return found
