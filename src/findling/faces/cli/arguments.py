"""What can be typed: one table of commands with their operands and options, and the parser that reads it.

Must not know what a command does. Every command has a parser of its own, built only when it is called: the
command line's start is a budget. Errors are raised as InvalidInput, never printed here.
"""

from __future__ import annotations

import argparse
from collections.abc import Callable, Sequence
from typing import Final, NamedTuple, NoReturn

from findling.faces.cli.command_options import (
    config_options,
    doctor_options,
    embed_options,
    eval_options,
    export_options,
    export_vectors_options,
    grep_options,
    index_options,
    library_options,
    search_options,
    serve_options,
    similar_options,
    status_options,
    stop_options,
    symbol_options,
    sync_options,
    tool_options,
    why_options,
)
from findling.model.errors import InvalidInput


class Operand(NamedTuple):
    """A positional argument. ``arity``: "1", "?" (may be left out) or "*" (any number; the last operand only)."""

    name: str
    metavar: str
    arity: str
    help: str


class Command(NamedTuple):
    """``run``: the module beside this one that is loaded to run it, and its function."""

    summary: str
    operands: tuple[Operand, ...]
    add_options: Callable[[argparse.ArgumentParser], None]
    run: str


class _Parser(argparse.ArgumentParser):
    def error(self, message: str) -> NoReturn:
        raise InvalidInput(f"{message[:1].upper()}{message[1:]}.", remedy=f"See '{self.prog} --help'.")


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
            parser.error(f"unknown option {word!r} (operands that begin with a dash go after --)")
    _assign(parser, command.operands, [*rest, *operands], namespace)
    namespace.command = name
    return namespace


def _with_dashes(parser: _Parser, words: list[str]) -> list[str]:
    """The words with what follows an option's letter joined to it where it begins with a dash, as in ``-e -x``: its
    value, whatever it looks like."""
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
    operands = " ".join(_usage(operand) for operand in command.operands)
    parser = _Parser(
        prog=f"findling {name}",
        usage=f"findling {name} {operands} [options]".replace("  ", " "),
        description=command.summary + ".",
        epilog="\n".join(f"{operand.metavar:<12}{operand.help}" for operand in command.operands),
        formatter_class=argparse.RawDescriptionHelpFormatter,
        allow_abbrev=False,
    )
    command.add_options(parser)
    parser.add_argument("--config", metavar="FILE", help="read FILE before the project's and your own configuration")
    return parser


def _usage(operand: Operand) -> str:
    return {"1": operand.metavar, "?": f"[{operand.metavar}]", "*": f"[{operand.metavar}...]"}[operand.arity]


def _assign(parser: _Parser, operands: tuple[Operand, ...], words: list[str], namespace: argparse.Namespace) -> None:
    rest = list(words)
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
    if rest:
        hint = " (put several words in quotes)" if operands and operands[0].name in ("query", "pattern") else ""
        parser.error(f"unexpected argument {rest[0]!r}{hint}")


_PATH: Final = Operand(
    "path", "PATH", "?", "a folder or file to search in; the project around the current folder if left out"
)

COMMANDS: Final[dict[str, Command]] = {
    "search": Command(
        "Find places by text, name and meaning",
        (Operand("query", "QUERY", "1", "words, a name, a path, an error message or a question"), _PATH),
        search_options,
        "commands:search",
    ),
    "grep": Command(
        "Find every occurrence of a regular expression, with exact counts",
        (
            Operand(
                "pattern",
                "REGEX",
                "?",
                "a regular expression in Python's syntax (\\d, \\w, \\b; no [[:digit:]]); with -F plain text",
            ),
            Operand("paths", "PATH", "*", "folders and files to search in; the current folder if left out"),
        ),
        grep_options,
        "grep_command:grep",
    ),
    "symbol": Command(
        "Find the definitions of a name, and where it is used",
        (
            Operand(
                *("name", "NAME", "1"),
                "a function, class, method, constant..., such as retry or Client.retry; names that begin with it or "
                "contain it come after it, marked so",
            ),
            _PATH,
        ),
        symbol_options,
        "commands:symbol",
    ),
    "similar": Command(
        "Find what is like a file, or like the piece of it at a line",
        (Operand("target", "FILE[:LINE]", "1", "a file of the index, with a line of it or without"),),
        similar_options,
        "commands:similar",
    ),
    "index": Command("Build the index of a folder, or bring it up to date", (_PATH,), index_options, "commands:index"),
    "sync": Command(
        "Bring the named files of the index up to date, or all that changed",
        (
            Operand(
                *("files", "FILE", "*"),
                "files that changed, appeared or vanished; all of the project if left out.\n"
                "            The exit status is 1 where one that is named could not be taken in: it was never\n"
                "            there, cannot be read, or a rule leaves it out. Deleted files\n"
                "            are removed from the index.",
            ),
        ),
        sync_options,
        "commands:sync",
    ),
    "embed": Command(
        "Make the vectors of a folder that are missing, for searching by meaning",
        (_PATH,),
        embed_options,
        "embed_commands:embed",
    ),
    "export": Command(
        "Write the passages of a folder and their vectors as plain SQLite tables",
        (_PATH,),
        export_options,
        "embed_commands:export",
    ),
    "export-vectors": Command(
        "Print every vector of the index, one line of JSON each",
        (_PATH,),
        export_vectors_options,
        "embed_commands:export_vectors",
    ),
    "status": Command(
        "Show what the index covers, and what it leaves out", (_PATH,), status_options, "commands:status"
    ),
    "stop": Command(
        "End what is being indexed in the background; what was taken in stays", (_PATH,), stop_options, "commands:stop"
    ),
    "why": Command(
        "Tell whether a file is indexed, and if not, which rule leaves it out",
        (Operand("file", "FILE", "1", "a file or folder; it need not be there"),),
        why_options,
        "commands:why",
    ),
    "doctor": Command(
        "Check what findling needs, and say what to do about what is missing",
        (Operand("path", "PATH", "?", "the folder whose index and configuration are looked at"),),
        doctor_options,
        "commands:doctor",
    ),
    "eval": Command(
        "Answer judged queries, or some made from a repository's history, and print how good the answers are",
        (Operand("queries", "QUERIES", "?", "a file with one judged query a line, in either of two forms"),),
        eval_options,
        "eval_commands:run",
    ),
    "serve": Command(
        "Serve the tools to an agent, over MCP on stdin and stdout or HTTP", (_PATH,), serve_options, "commands:serve"
    ),
    "tool": Command(
        "Call one tool as an agent would, and print its answer as JSON",
        (
            Operand("name", "NAME", "1", "a tool, such as search_code"),
            Operand("arguments", "JSON", "?", "its arguments, such as '{\"query\": \"retry\"}'; '-' reads stdin"),
            _PATH,
        ),
        tool_options,
        "commands:tool",
    ),
    "library": Command(
        "Add folders and files to the library, fetch more, list, refresh and remove them",
        (
            Operand(
                *("action", "ACTION", "1"),
                "add PATH, fetch URL, list, status [NAME], refresh [NAME], remove NAME, jobs or cancel JOB",
            ),
            Operand("subject", "PATH|URL|NAME", "?", "the folder or file to add, the URL to fetch, or a name"),
        ),
        library_options,
        "library_commands:run",
    ),
    "config": Command(
        "Show every option, its value, and where it came from", (_PATH,), config_options, "commands:configuration"
    ),
}


def overview() -> str:
    """The help text of the program as a whole."""
    rows = [(f"{name} {' '.join(_usage(o) for o in c.operands)}", c.summary) for name, c in COMMANDS.items()]
    width = max(len(left) for left, _ in rows) + 2
    table = "\n".join(f"  {left:<{width}}{right}" for left, right in rows)
    return (
        "findling: local search over code and documents, by exact text, by name and by meaning.\n\n"
        f"Usage: findling COMMAND ...\n\nCommands:\n{table}\n\n"
        "  findling COMMAND --help  its options\n"
        "  findling --version\n\n"
        "The first search of a folder indexes it; nothing leaves this machine\n"
        "unless your own configuration allows it.\n"
        "Exit status: 0 found, 1 nothing found, 2 error.\n"
    )
