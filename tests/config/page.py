"""``docs/configuration.md`` with its tables made from the definition of the options.

python tests/config/page.py        (make configuration)
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from pathlib import Path

from findling.config.option import ANY, Option, allowed, in_camel_case, shown
from findling.config.options import GROUPS, OPTIONS, Group
from findling.config.sources import CONFIG_VARIABLE, PROJECT_FILES, USER_FILES

PAGE = Path(__file__).parents[2] / "docs" / "configuration.md"

_MADE = re.compile(r"(<!-- made: ([\w ]+) -->\n).*?(\n<!-- end -->)", re.DOTALL)


def configuration_page() -> str:
    """The page, each of its made parts anew."""
    made = {"order": _order(), "held back": _held_back(), "variables": _variables(), "options": _options()}
    return _MADE.sub(lambda part: f"{part[1]}{made[part[2]]}{part[3]}", PAGE.read_text("utf-8"))


def _order() -> str:
    order = [
        "options of the command line",
        "environment variables (below)",
        f"the file that `--config FILE` names, else `{CONFIG_VARIABLE}`",
        *(f"`{name}` in the project" for name in PROJECT_FILES),
        *(f"`~/.config/findling/{name}` (or below `XDG_CONFIG_HOME`)" for name in USER_FILES),
        "the default",
    ]
    return "\n".join(f"{number}. {words}" for number, words in enumerate(order, 1))


def _held_back() -> str:
    rows = [f"| `{option.key}` | {option.project.words} |" for option in OPTIONS.values() if option.project is not ANY]
    return "\n".join(["| option | a project's own file |", "|---|---|", *rows])


def _variables() -> str:
    rows = [f"| `{option.environment}` | `{option.key}` |" for option in OPTIONS.values() if option.environment]
    return "\n".join(["| variable | option |", "|---|---|", f"| `{CONFIG_VARIABLE}` | a configuration file |", *rows])


def _options() -> str:
    return "\n\n".join("\n".join(_section(group)) for group in GROUPS)


def _section(group: Group) -> Iterator[str]:
    about = (group.made.__doc__ or "").split("\n\n")[0].strip().replace("``", "`")
    yield from (f"## `{group.section}`", "", about, "")
    yield from ("| option | default | values | what it does |", "|---|---|---|---|")
    for option in OPTIONS.values():
        if option.attribute[0] == group.name:
            yield _row(option, group.section)


def _row(option: Option, section: str) -> str:
    name = f"`{option.key.removeprefix(f'{section}.')}`"
    others = [name for name in option.spellings if name not in (option.key, in_camel_case(option.key))]
    default = f"`{shown(option.default)}`" if option.default is not None else option.unset
    values = allowed(option) + (", clamped" if option.clamped else "")
    values = values if not option.choices else f"`{values}`"
    help = option.help + (f" Not used: {option.unused}." if option.unused else "")
    if others:
        help += f" Also: {', '.join(f'`{spelling}`' for spelling in others)}."
    return f"| {name} | {default} | {values} | {help} |"


if __name__ == "__main__":
    PAGE.write_text(configuration_page(), "utf-8")
