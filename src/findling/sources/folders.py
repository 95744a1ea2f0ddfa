"""Which folders hold nothing that people wrote: version control, installed packages, build output, caches."""

from __future__ import annotations

import os
from collections.abc import Collection, Iterable

from findling.sources.ignore_files import read_small_text

# Version control and our own store: never content, whoever tracks them.
NEVER_FOLDERS = frozenset((".git", ".findling", ".hg", ".svn", ".jj", ".bzr", "_darcs", ".pijul", "CVS"))

# Left out everywhere unless git tracks a file inside: installed packages and caches, never written by people.
_INSTALLED_FOLDERS = frozenset(
    ("node_modules", "bower_components", "jspm_packages", "__pycache__", "__pypackages__", "venv", "virtualenv",
     "site-packages", "elm-stuff", "Pods", "Carthage")
)  # fmt: skip

# Outside git, where no .gitignore need exist: build output, told from a source folder of that name by what made it.
_OUTPUT_FOLDERS: dict[str, tuple[str, ...]] = {
    "target": ("Cargo.toml", "pom.xml", "build.sbt", "project.clj"),
    "build": ("build.gradle", "build.gradle.kts", "CMakeLists.txt", "setup.py", "pyproject.toml", "package.json",
              "pubspec.yaml", "meson.build"),
    "dist": ("package.json", "pyproject.toml", "setup.py", "setup.cfg", "dist.ini"),
    "out": ("package.json", "build.gradle", "build.gradle.kts", "CMakeLists.txt"),
    "bin": (".csproj", ".fsproj", ".vbproj"),
    "obj": (".csproj", ".fsproj", ".vbproj"),
    "_build": ("mix.exs", "dune-project", "rebar.config", "conf.py"),
    "deps": ("mix.exs",),
    "zig-out": ("build.zig",),
    "coverage": ("package.json",),
}  # fmt: skip

CACHE_TAG = "CACHEDIR.TAG"
_CACHE_TAG_START = b"Signature: 8a477f597d28d172789f06886806bc55"  # bford.info/cachedir


def untracked_folder_reason(name: str) -> str | None:
    """Why a folder of this name is left out unless git tracks what is in it; None when it is not."""
    if name in _INSTALLED_FOLDERS or name.endswith(".egg-info"):
        return f"{name} holds installed packages or caches"
    return None


def output_folder_reason(name: str, siblings: Iterable[str]) -> str | None:
    """Why the folder ``name`` beside ``siblings`` is build output; None when it is not."""
    makers = _OUTPUT_FOLDERS.get(name)
    if makers is not None:
        for sibling in siblings:
            if sibling in makers or (makers[0][0] == "." and sibling.endswith(makers)):
                return f"output of {sibling}"
    return None


def marked_folder_reason(folder: str, names: Collection[str]) -> str | None:
    """Why a folder with the entries ``names`` says of itself that it is no source; None when it does not."""
    if "pyvenv.cfg" in names:
        return "a Python environment"
    if CACHE_TAG in names:
        text = read_small_text(f"{folder}/{CACHE_TAG}")
        if text is not None and os.fsencode(text[:64]).startswith(_CACHE_TAG_START):
            return f"marked as a cache by {CACHE_TAG}"
    return None
