"""Several roots under names: the first part of a path says which root it is in. Reads no file."""

from __future__ import annotations

import os
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import TYPE_CHECKING

from findling.contracts.model import Refusal
from findling.model.errors import InvalidInput
from findling.outbound.files import Files

if TYPE_CHECKING:
    from findling.model.typed_paths import StrPath


@dataclass(frozen=True, slots=True)
class NamedRoots:
    """What stands for the root where there are several; ``folders`` in the order they were given."""

    folders: Mapping[str, Path]
    texts: Mapping[str, Files] = field(default_factory=dict)
    """Those whose texts are not read from the folder but from a commit."""

    def __str__(self) -> str:
        return os.pathsep.join(map(str, self.folders.values()))

    def split(self, path: str) -> tuple[str, str]:
        """(name of the root, path inside it, '' for the root itself) of a path that begins with a root's name, or of
        an absolute one. Raises `Refusal` for one that is in no root."""
        if os.path.isabs(path):  # noqa: PTH117
            for name, folder in self.folders.items():
                normal = Path(os.path.normpath(path))
                for base in (folder, Path(os.path.realpath(folder))):
                    if normal.is_relative_to(base):
                        relative = normal.relative_to(base).as_posix()
                        return name, "" if relative == "." else relative
        else:
            first, _, rest = path.removeprefix("./").partition("/")
            if first in self.folders:
                return first, rest.strip("/") if rest.strip("/") else ""
        raise Refusal(
            "invalid_input", f"path must begin with the name of a root ({', '.join(self.folders)}), not be {path}"
        )


Root = Path | NamedRoots
"""Where paths of an answer start: one folder, or several under names."""


def name_roots(folders: Iterable[Path]) -> dict[str, Path]:
    """The folders by names that tell them apart, each once. Raises `InvalidInput` when one lies in another."""
    unique = list(dict.fromkeys(Path(os.path.realpath(folder)) for folder in folders))
    for inner in unique:
        for outer in unique:
            if inner != outer and inner.is_relative_to(outer):
                raise InvalidInput(f"The root {inner} lies in the root {outer}.", remedy="Give one of the two.")
    plain = [folder.name or "root" for folder in unique]
    named: dict[str, Path] = {}
    for folder, name in zip(unique, plain, strict=True):
        if plain.count(name) > 1 and folder.parent.name:
            name = f"{folder.parent.name}-{name}"
        named[_free(name, named)] = folder
    return named


def check_roots(path: StrPath | None, roots: Sequence[StrPath]) -> dict[str, Path]:
    """The roots that were typed, by name. Raises `InvalidInput` for several with a path, and as `name_roots`."""
    named = name_roots([Path(root) for root in roots])
    if path is not None and len(named) > 1:
        raise InvalidInput("PATH narrows one root, not several.", remedy="Leave out PATH or all but one --root.")
    return named


def _free(name: str, taken: Iterable[str]) -> str:
    known = set(taken)
    number, free = 1, name
    while free in known:
        number += 1
        free = f"{name}-{number}"
    return free
