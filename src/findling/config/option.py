"""What one option is: its kind, default, bounds and spellings, and what a project's own file may decide about it.

Knows no particular option (``options`` defines them) and no file.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass, field, replace
from typing import Final, Literal, NamedTuple, Required, TypedDict, TypeVar, Unpack

Value = str | int | float | bool | tuple[str, ...] | None
Kind = Literal["switch", "whole", "number", "text", "url", "list", "path"]

_T = TypeVar("_T", bound=Value)
_METADATA: Final = "findling.option"


class ProjectRule(NamedTuple):
    """Which values a project's own file may set: a cloned repository must not decide where code goes.

    ``words`` complete the sentence "A project's own file ...".
    """

    allows: Callable[[Value], bool]
    words: str


ANY: Final = ProjectRule(lambda _: True, "may decide it")
NEVER: Final = ProjectRule(lambda _: False, "may not set it")
ONLY_FALSE: Final = ProjectRule(lambda value: value is False, "may only set it to false")


@dataclass(frozen=True, slots=True)
class Option:
    """One option. ``key`` is its own name; ``spellings`` are all names a file may use, that one first.

    ``choices`` are all values there are (empty: whatever the kind and the bounds allow). ``unset`` says in words what
    a default of None stands for. ``clamped``: a number out of bounds is moved to the nearer bound with a warning
    instead of being an error. ``provider``: the provider that setting the option under a spelling chooses.
    ``unused`` says why the option has no effect, if it has none.
    """

    key: str
    attribute: tuple[str, str]
    kind: Kind
    default: Value
    help: str
    spellings: tuple[str, ...]
    choices: tuple[Value, ...] = ()
    bounds: tuple[float, float] | None = None
    clamped: bool = False
    project: ProjectRule = ANY
    environment: str = ""
    unset: str = ""
    unused: str = ""
    provider: Mapping[str, str] = field(default_factory=dict)

    def names(self) -> Iterator[str]:
        """Every name that is accepted: the spellings, each in snake_case and camelCase as well."""
        for spelling in self.spellings:
            yield spelling
            yield in_snake_case(spelling)
            yield in_camel_case(spelling)


class _About(TypedDict, total=False):
    """What `option` takes over into the `Option` as it is."""

    kind: Required[Kind]
    choices: tuple[Value, ...]
    bounds: tuple[float, float]
    clamped: bool
    project: ProjectRule
    environment: str
    unset: str
    unused: str
    provider: Mapping[str, str]


def option(default: _T, help: str, *, key: str = "", also: tuple[str, ...] = (), **about: Unpack[_About]) -> _T:
    """A dataclass field that is an option. ``key`` replaces the field's name below its section, ``also`` are further
    spellings with their sections."""
    unnamed = Option(key=key, attribute=("", ""), spellings=also, default=default, help=help, **about)
    made: _T = field(default=default, metadata={_METADATA: unnamed})
    return made


def options_of(name: str, section: str, about: Mapping[str, Mapping[str, Option]]) -> Iterator[Option]:
    """The options of one group, from the metadata of its fields; ``name`` is the group's attribute in the Config."""
    for attribute, metadata in about.items():
        unnamed = metadata[_METADATA]
        key = f"{section}.{unnamed.key or attribute}"
        yield replace(unnamed, key=key, attribute=(name, attribute), spellings=(key, *unnamed.spellings))


def in_snake_case(name: str) -> str:
    return re.sub(r"(?<=[a-z0-9])([A-Z]+)", r"_\1", name).lower()


def in_camel_case(name: str) -> str:
    return re.sub(r"_([a-z])", lambda match: match[1].upper(), name)
