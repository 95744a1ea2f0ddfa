"""What can be typed: the table of commands with their operands and options (``commands.json``), and the parser of it.

Must not know what a command does. Every command has a parser of its own, built only when it is called: the
command line's start is a budget. Errors are raised as InvalidInput, never printed here.
"""

from __future__ import annotations

import argparse
import json
import math
import os
import re
from collections.abc import Callable, Mapping, Sequence
from typing import Any, Final, NamedTuple, NoReturn

from findling.model.errors import InvalidInput

_MAX_WAIT_S: Final = 86_400.0


class Operand(NamedTuple):
    """A positional argument. ``arity``: "1", "?" (may be left out) or "*" (any number; the last operand only).
    ``choices``: the only values that it takes."""

    name: str
    metavar: str
    arity: str
    help: str
    choices: Sequence[str] | None = None


class Option(NamedTuple):
    """An option: its spellings, and the keyword arguments of argparse's `add_argument`."""

    spellings: tuple[str, ...]
    about: Mapping[str, Any]


class Command(NamedTuple):
    """``run``: the module beside this one that is loaded to run it, and its function. ``preset``: what is not typed."""

    summary: str
    run: str
    operands: tuple[Operand, ...]
    options: tuple[Option, ...]
    preset: Mapping[str, Any] = {}


# --- kinds of value -------------------------------------------------------------------------------------------


def _whole(bounds: str) -> Callable[[str], int]:
    """Such as ``1 to 1000``."""
    low, high = map(int, bounds.split(" to "))

    def convert(text: str) -> int:
        try:
            value = int(text)
        except ValueError:
            value = low - 1
        if not low <= value <= high:
            raise argparse.ArgumentTypeError(f"{text!r} is not a whole number from {low} to {high}")
        return value

    return convert


def _wait(text: str) -> float | None:
    """Seconds, or None for "all"."""
    if text == "all":
        return None
    try:
        value = float(text)
    except ValueError:
        value = math.nan
    if not 0 <= value <= _MAX_WAIT_S:
        raise argparse.ArgumentTypeError(
            f"{text!r} is neither 'all' nor a number of seconds from 0 to {_MAX_WAIT_S:.0f}"
        )
    return value


def _glob(text: str) -> str:
    if not text:
        raise argparse.ArgumentTypeError("an empty pattern matches nothing")
    return text


def _duration(text: str) -> float:
    """Seconds."""
    value = re.fullmatch(r"(\d{1,6})([smhd])", text.strip())
    seconds = int(value[1]) * {"s": 1, "m": 60, "h": 3600, "d": 86_400}[value[2]] if value else 0
    if not seconds:
        raise argparse.ArgumentTypeError(f"{text!r} is not a time such as 30s, 10m, 2h or 1d")
    return float(seconds)


def _setting(text: str) -> tuple[str, str]:
    key, equals, value = text.partition("=")
    if not equals or not key.strip():
        raise argparse.ArgumentTypeError(f"{text!r} is not KEY=VALUE")
    return key.strip(), value


def _names(text: str) -> list[str]:
    names = [name.strip() for name in text.split(",") if name.strip()]
    if not names:
        raise argparse.ArgumentTypeError(f"{text!r} has no name in it")
    return names


_KINDS: Final[Mapping[str, Callable[[str], Any]]] = {
    "wait": _wait,
    "duration": _duration,
    "glob": _glob,
    "setting": _setting,
    "names": _names,
    "not": "!{}".format,
}


# --- the table ------------------------------------------------------------------------------------------------


def _read() -> tuple[dict[str, Command], tuple[Option, ...]]:
    with open(f"{os.path.dirname(__file__)}/commands.json", "rb") as file:  # noqa: PTH120, PTH123 - pathlib takes longer
        table = json.load(file)
    shared = table["shared"]
    commands = {
        name: Command(
            row["summary"],
            row["run"],
            tuple(Operand(**shared[each] if isinstance(each, str) else each) for each in row["operands"]),
            tuple(_option(**shared[each] if isinstance(each, str) else each) for each in row["options"]),
            row.get("preset", {}),
        )
        for name, row in table["commands"].items()
    }
    return commands, tuple(_option(**row) for row in table["every"])


def _option(usage: str, many: bool = False, **about: Any) -> Option:
    """``usage``: its spellings and what stands behind them, such as ``-n --limit N``; with nothing behind, it is a
    switch, unless there are ``choices`` or another action. ``many``: it may be repeated."""
    words = usage.split()
    spellings = tuple(word for word in words if word.startswith("-"))
    if len(spellings) < len(words):
        about["metavar"] = words[-1]
    elif "choices" not in about:
        about.setdefault("action", "store_true")
    if many:
        about |= {"action": "append", "default": []}
    if kind := about.get("type"):
        about["type"] = _KINDS.get(kind) or _whole(kind)
    return Option(spellings, about)


COMMANDS, OWN_OPTIONS = _read()
"""By name the commands, and the options that each of them has besides."""


# --- reading what was typed -----------------------------------------------------------------------------------


_NO_CHOICE = re.compile(r"invalid choice: '(?P<given>.*)' \(choose from (?P<choices>.*)\)$", re.DOTALL)
"""How argparse says that a value is none of those that an option takes."""


def _none_of(given: str, choices: Sequence[str]) -> str:
    from difflib import get_close_matches

    close = get_close_matches(given, choices, n=1)
    return f"{given!r} is none of {', '.join(choices)}{f'; did you mean {close[0]!r}?' if close else ''}"


class _Parser(argparse.ArgumentParser):
    def error(self, message: str) -> NoReturn:
        if wrong := _NO_CHOICE.search(message):
            given, choices = wrong["given"], re.findall(r"'([^']*)'", wrong["choices"])
            message = message[: wrong.start()] + _none_of(given, choices)
        end = "" if message.endswith("?") else "."
        raise InvalidInput(f"{message[:1].upper()}{message[1:]}{end}", remedy=f"See '{self.prog} --help'.")


def parse(name: str, arguments: Sequence[str]) -> argparse.Namespace:
    """The typed arguments of the command ``name``, one of COMMANDS. Raises InvalidInput.

    Operands and options may be mixed in any order; after ``--`` everything is an operand. Prints help and raises
    SystemExit(0) for ``--help``.
    """
    command = COMMANDS[name]
    parser = _build(name, command)
    before, operands = list(arguments), []
    if "--" in before:
        cut = before.index("--")
        before, operands = before[:cut], before[cut + 1 :]
    before = _with_dashes(parser, before)
    namespace, rest = parser.parse_known_args(before)
    for word in rest:
        if word.startswith("-") and word != "-":
            parser.error(f"unknown option {word!r}{_meant(parser, word)} (operands that begin with a dash go after --)")
    _assign(parser, command, [*rest, *operands], namespace)
    namespace.command = name
    return namespace


def _meant(parser: _Parser, word: str) -> str:
    from difflib import get_close_matches

    close = get_close_matches(word.partition("=")[0], parser._option_string_actions, n=1)
    return f", did you mean {close[0]!r}?" if close and len(word) > len("-x") else ""


def _with_dashes(parser: _Parser, words: list[str]) -> list[str]:
    """The words, with an option's letter and its value joined where the value begins with a dash: ``-e -x`` becomes
    ``-e-x``, which argparse does not take for another option."""
    options = parser._option_string_actions
    joined: list[str] = []
    for word in words:
        before = joined[-1] if joined else ""
        action = options.get(before) if len(before) == 2 else None
        takes_text = action is not None and action.nargs is None and action.type is None and not action.choices
        if takes_text and word.startswith("-") and word != "-":
            joined[-1] += word
        else:
            joined.append(word)
    return joined


def _build(name: str, command: Command) -> _Parser:
    operands = " ".join(usage(operand) for operand in command.operands)
    parser = _Parser(
        prog=f"findling {name}",
        usage=f"findling {name} {operands} [options]".replace("  ", " "),
        description=command.summary + ".",
        epilog="\n".join(f"{operand.metavar:<11} {operand.help}" for operand in command.operands),
        formatter_class=argparse.RawDescriptionHelpFormatter,
        allow_abbrev=False,
    )
    for option in (*command.options, *OWN_OPTIONS):
        parser.add_argument(*option.spellings, **option.about)
    parser.set_defaults(**command.preset)
    return parser


def usage(operand: Operand) -> str:
    """How an operand is written in a line of usage."""
    return {"1": operand.metavar, "?": f"[{operand.metavar}]", "*": f"[{operand.metavar}...]"}[operand.arity]


def _assign(parser: _Parser, command: Command, words: list[str], namespace: argparse.Namespace) -> None:
    rest, operands = list(words), command.operands
    for operand in operands:
        if operand.arity == "*":
            setattr(namespace, operand.name, rest)
            rest = []
        elif rest:
            setattr(namespace, operand.name, rest.pop(0))
        elif operand.arity == "?":
            setattr(namespace, operand.name, None)
        else:
            parser.error(f"{operand.metavar} is missing")
        value = getattr(namespace, operand.name)
        if operand.choices and value is not None and value not in operand.choices:
            parser.error(f"{operand.metavar} {_none_of(value, operand.choices)}")
    if rest:
        hint = " (put several words in quotes)" if operands and operands[0].name in ("query", "pattern") else ""
        if isinstance(getattr(namespace, "root", None), list):
            hint = " (for several folders: --root A --root B)"
        parser.error(f"unexpected argument {rest[0]!r}{hint}")


def overview() -> str:
    """The help text of the program as a whole."""
    rows = [(f"{name} {' '.join(usage(o) for o in c.operands)}", c.summary) for name, c in COMMANDS.items()]
    width = max(len(left) for left, _ in rows) + 2
    table = "\n".join(f"  {left:<{width}}{right}" for left, right in rows)
    return (
        "findling: local search over code and documents, by exact text, by name and by meaning.\n\n"
        f"Usage: findling COMMAND ...\n\nCommands:\n{table}\n\n"
        "  findling help COMMAND    its options\n"
        "  findling --version\n\n"
        "The first search of a folder indexes it; nothing leaves this machine\n"
        "unless your own configuration allows it.\n"
        "Exit status: 0 found, 1 nothing found, 2 error.\n"
    )
