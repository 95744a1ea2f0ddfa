"""What can be typed: one table of commands with their operands and options, and the parser that reads it.

Must not know what a command does. Every command has a parser of its own, built only when it is called: the
command line's start is a budget. Errors are raised as InvalidInput, never printed here.
"""

from __future__ import annotations

import argparse
import math
from collections.abc import Callable, Sequence
from typing import Final, NamedTuple, NoReturn

from findling.errors import InvalidInput

# Places worth reading in one answer; a program that wants more pages through --path and --language.
MAX_LIMIT: Final = 1000
# A run can then also be used to study what came just below the ten that are scored.
MIN_EVAL_LIMIT: Final = 20
# A page of context on each side of a line; more is reading the file.
MAX_CONTEXT: Final = 200
MAX_TOKENS: Final = 10_000_000
# How long a first search may index before it answers with what it has.
DEFAULT_WAIT_S: Final = 1.5
MAX_WAIT_S: Final = 86_400.0


class Operand(NamedTuple):
    """A positional argument. ``arity``: "1", "?" (may be left out) or "*" (any number; the last operand only)."""

    name: str
    metavar: str
    arity: str
    help: str


class Command(NamedTuple):
    summary: str
    operands: tuple[Operand, ...]
    add_options: Callable[[argparse.ArgumentParser], None]


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
    namespace, rest = parser.parse_known_args(before)
    for word in rest:
        if word.startswith("-") and word != "-":
            parser.error(f"unknown option {word!r} (operands that begin with a dash go after --)")
    _assign(parser, command.operands, [*rest, *operands], namespace)
    namespace.command = name
    return namespace


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


# --- kinds of value -------------------------------------------------------------------------------------------


def _whole(low: int, high: int) -> Callable[[str], int]:
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
    if not 0 <= value <= MAX_WAIT_S:
        raise argparse.ArgumentTypeError(
            f"{text!r} is neither 'all' nor a number of seconds from 0 to {MAX_WAIT_S:.0f}"
        )
    return value


def _setting(text: str) -> tuple[str, str]:
    key, equals, value = text.partition("=")
    if not equals or not key.strip():
        raise argparse.ArgumentTypeError(f"{text!r} is not KEY=VALUE")
    return key.strip(), value


# --- options that several commands share -----------------------------------------------------------------------


def _root_options(parser: argparse.ArgumentParser) -> None:
    parser.add_argument("--root", metavar="DIR", help="take DIR as the root, instead of finding it from PATH")
    parser.add_argument("--cache", action="store_true", help="keep the index in the user's cache folder")


def _roots_option(parser: argparse.ArgumentParser) -> None:
    parser.add_argument(
        "--root",
        action="append",
        default=[],
        metavar="DIR",
        help="take DIR as the root, instead of finding it from PATH; of several, the first part of a path is the name",
    )


def _library_options(parser: argparse.ArgumentParser) -> None:
    parser.add_argument(
        "--name", metavar="NAME", help="add: what to call the collection (else after its folder); fetch: the file"
    )
    parser.add_argument("--branch", metavar="NAME", help="fetch: a branch, tag or commit of a repository (else main)")
    parser.add_argument("--include", metavar="GLOB", action="append", help="fetch: only these files (may be repeated)")
    parser.add_argument("--exclude", metavar="GLOB", action="append", help="fetch: none of these (may be repeated)")
    parser.add_argument("--max-mb", metavar="N", type=_whole(1, 1000), help="fetch: at most so many megabytes (10)")
    parser.add_argument(
        "--remove-comments", action="store_true", help="fetch: leave comments out of a repository's bundle"
    )
    _json_option(parser)


def _json_option(parser: argparse.ArgumentParser) -> None:
    parser.add_argument(
        "--json", action="store_true", help="print one JSON object, with the field names of the Python API"
    )


def _limit_option(parser: argparse.ArgumentParser, default: int) -> None:
    parser.add_argument(
        *("-n", "--limit"),
        type=_whole(1, MAX_LIMIT),
        default=default,
        metavar="N",
        help=f"at most N places ({default})",
    )


def _language_option(parser: argparse.ArgumentParser) -> None:
    parser.add_argument("-l", "--language", metavar="LANG", help="only files in this language, such as python")


def _ref_option(parser: argparse.ArgumentParser) -> None:
    parser.add_argument("--ref", metavar="REF", help="a branch, tag or commit, instead of what is on disk")


def _glob_option(parser: argparse.ArgumentParser) -> None:
    parser.add_argument(
        "--path",
        dest="path_globs",
        action="append",
        default=[],
        metavar="GLOB",
        help="only paths that match, such as 'src/**' or '*.md'; may be repeated",
    )


# --- the commands ---------------------------------------------------------------------------------------------


def _search_options(parser: argparse.ArgumentParser) -> None:
    from findling.types import MODES

    _limit_option(parser, 10)
    _language_option(parser)
    _glob_option(parser)
    parser.add_argument("--kind", choices=("code", "docs"), help="only code, or only documents")
    parser.add_argument("--mode", choices=MODES, default="auto", help="which ways of searching to use (auto)")
    parser.add_argument(
        "--max-tokens", type=_whole(1, MAX_TOKENS), metavar="N", help="pack the answer into about N tokens"
    )
    parser.add_argument("--explain", action="store_true", help="show what each place's rank is made of")
    parser.add_argument(
        "--wait",
        type=_wait,
        default=DEFAULT_WAIT_S,
        metavar="SECONDS",
        help=f"how long to index before answering ({DEFAULT_WAIT_S}); 'all' finishes first",
    )
    parser.add_argument(
        "--no-sync", action="store_true", help="answer from the index as it is, without looking for changes"
    )
    _ref_option(parser)
    _json_option(parser)
    _root_options(parser)


def _grep_options(parser: argparse.ArgumentParser) -> None:
    parser.add_argument("-F", "--fixed", action="store_true", help="REGEX is plain text")
    parser.add_argument("-i", "--ignore-case", action="store_true", help="upper and lower case are the same")
    parser.add_argument("-w", "--word", action="store_true", help="whole words only")
    parser.add_argument(
        *("-C", "--context"), type=_whole(0, MAX_CONTEXT), default=0, metavar="N", help="show N lines around each match"
    )
    parser.add_argument("-n", "--line-number", action="store_true", help="accepted; line numbers are always shown")
    parser.add_argument("--limit", type=_whole(0, 2**31), default=0, metavar="N", help="at most N lines (0: all)")
    shape = parser.add_mutually_exclusive_group()
    shape.add_argument("--count", action="store_true", help="print the number of occurrences in each file")
    shape.add_argument("--files", action="store_true", help="print only the paths of files with a match")
    _language_option(parser)
    _glob_option(parser)
    _ref_option(parser)
    _json_option(parser)
    _root_options(parser)


def _symbol_options(parser: argparse.ArgumentParser) -> None:
    from findling.types import SYMBOL_KINDS

    parser.add_argument("--refs", action="store_true", help="also list where the name is used")
    parser.add_argument("--kind", choices=SYMBOL_KINDS, metavar="KIND", help=f"one of {', '.join(SYMBOL_KINDS)}")
    _language_option(parser)
    _limit_option(parser, 50)
    _ref_option(parser)
    _json_option(parser)
    _root_options(parser)


def _similar_options(parser: argparse.ArgumentParser) -> None:
    _limit_option(parser, 10)
    parser.add_argument("--explain", action="store_true", help="show what each place's rank is made of")
    _ref_option(parser)
    _json_option(parser)
    _root_options(parser)


def _index_options(parser: argparse.ArgumentParser) -> None:
    parser.add_argument(
        "--force",
        action="store_true",
        help=(
            "build everything again, even what has not changed; with --ref only its list of files, not the contents "
            "that are indexed already"
        ),
    )
    parser.add_argument("--no-embed", action="store_true", help="text and symbols only, no vectors")
    _ref_option(parser)
    _json_option(parser)
    _root_options(parser)


def _sync_options(parser: argparse.ArgumentParser) -> None:
    _json_option(parser)
    _root_options(parser)


def _embed_options(parser: argparse.ArgumentParser) -> None:
    parser.add_argument("--force", action="store_true", help="make all vectors again, even of what has not changed")
    _json_option(parser)
    _root_options(parser)


def _export_options(parser: argparse.ArgumentParser) -> None:
    parser.add_argument("--model", metavar="NAME", help="only the vectors of this model")
    parser.set_defaults(json=True)  # there is no other form
    _root_options(parser)


def _status_options(parser: argparse.ArgumentParser) -> None:
    parser.add_argument("--skipped", action="store_true", help="list every file that is not indexed, and why")
    _ref_option(parser)
    _json_option(parser)
    _root_options(parser)


def _why_options(parser: argparse.ArgumentParser) -> None:
    _json_option(parser)
    _root_options(parser)


def _doctor_options(parser: argparse.ArgumentParser) -> None:
    parser.add_argument("--config", metavar="FILE", help="read FILE before the project's and your own files")
    _json_option(parser)
    _root_options(parser)


def _eval_options(parser: argparse.ArgumentParser) -> None:
    from findling.types import MODES

    parser.add_argument("--corpora", required=True, metavar="DIR", help="required: the folder of the repositories")
    parser.add_argument("--run", required=True, metavar="OUT", help="required: write the answers here, a line for each")
    parser.add_argument(
        "--repo",
        dest="repos",
        action="append",
        default=[],
        metavar="NAME",
        help="only the queries of this repository; may be repeated",
    )
    parser.add_argument("--mode", choices=MODES, default="auto", help="which ways of searching to use (auto)")
    parser.add_argument(
        *("-n", "--limit"),
        type=_whole(MIN_EVAL_LIMIT, MAX_LIMIT),
        default=MIN_EVAL_LIMIT,
        metavar="N",
        help=f"at most N files for each query ({MIN_EVAL_LIMIT})",
    )
    parser.add_argument("--cache", action="store_true", help="keep the indexes in the user's cache folder")
    _json_option(parser)


def _config_options(parser: argparse.ArgumentParser) -> None:
    parser.add_argument("--config", metavar="FILE", help="read FILE before the project's and your own files")
    parser.add_argument(
        "--set",
        dest="settings",
        action="append",
        default=[],
        type=_setting,
        metavar="KEY=VALUE",
        help="decide an option, such as semantic.mode=off; may be repeated",
    )
    _json_option(parser)
    parser.add_argument("--root", metavar="DIR", help="take DIR as the root, instead of finding it from PATH")


def _serve_options(parser: argparse.ArgumentParser) -> None:
    parser.add_argument(
        "--tools",
        type=_names,
        metavar="NAMES",
        help="families (code, docs, library, repo) or single tools, separated by commas; all if left out",
    )
    parser.add_argument("--allow-delete", action="store_true", help="also serve the tools that delete")
    _roots_option(parser)
    parser.add_argument("--cache", action="store_true", help="keep the index in the user's cache folder")
    parser.add_argument(
        "--http", metavar="[HOST:]PORT", help="serve over HTTP instead, to this machine alone unless HOST is another"
    )
    parser.add_argument(
        "--token-file", metavar="FILE", help="HTTP: ask for the token in FILE (else: in FINDLING_HTTP_TOKEN)"
    )
    for option, metavar, what in (
        ("--allow-host", "NAME", "HTTP: also answer requests addressed to NAME; may be repeated"),
        ("--allow-origin", "ORIGIN", "HTTP: also answer pages of ORIGIN, such as https://a.example; may be repeated"),
    ):
        parser.add_argument(option, action="append", default=[], metavar=metavar, help=what)
    parser.set_defaults(json=False)


def _tool_options(parser: argparse.ArgumentParser) -> None:
    _roots_option(parser)
    parser.add_argument("--cache", action="store_true", help="keep the index in the user's cache folder")
    parser.set_defaults(json=True)


def _names(text: str) -> list[str]:
    names = [name.strip() for name in text.split(",") if name.strip()]
    if not names:
        raise argparse.ArgumentTypeError(f"{text!r} names nothing")
    return names


_PATH: Final = Operand(
    "path", "PATH", "?", "a folder or file to search in; the project around the current folder if left out"
)

COMMANDS: Final[dict[str, Command]] = {
    "search": Command(
        "Find places by text, name and meaning",
        (Operand("query", "QUERY", "1", "words, a name, a path, an error message or a question"), _PATH),
        _search_options,
    ),
    "grep": Command(
        "Find every occurrence of a regular expression, with exact counts",
        (Operand("pattern", "REGEX", "1", "a regular expression, or plain text with -F"), _PATH),
        _grep_options,
    ),
    "symbol": Command(
        "Find the definitions of a name, and where it is used",
        (Operand("name", "NAME", "1", "a function, class, method, constant..., such as retry or Client.retry"), _PATH),
        _symbol_options,
    ),
    "similar": Command(
        "Find what is like a file, or like the piece of it at a line",
        (Operand("target", "FILE[:LINE]", "1", "a file of the index, with a line of it or without"),),
        _similar_options,
    ),
    "index": Command("Build the index of a folder, or bring it up to date", (_PATH,), _index_options),
    "sync": Command(
        "Bring the named files of the index up to date, or all that changed",
        (Operand("files", "FILE", "*", "files that changed, appeared or vanished; all of the project if left out"),),
        _sync_options,
    ),
    "embed": Command(
        "Make the vectors of a folder that are missing, for searching by meaning", (_PATH,), _embed_options
    ),
    "export-vectors": Command("Print every vector of the index, one line of JSON each", (_PATH,), _export_options),
    "status": Command("Show what the index covers, and what it leaves out", (_PATH,), _status_options),
    "why": Command(
        "Tell whether a file is indexed, and if not, which rule leaves it out",
        (Operand("file", "FILE", "1", "a file or folder; it need not be there"),),
        _why_options,
    ),
    "doctor": Command(
        "Check what findling needs, and say what to do about what is missing",
        (Operand("path", "PATH", "?", "the folder whose index and configuration are looked at"),),
        _doctor_options,
    ),
    "eval": Command(
        "Answer judged queries, write the answers and print how good they are",
        (Operand("queries", "QUERIES", "1", "a file with one judged query a line, in either of two forms"),),
        _eval_options,
    ),
    "serve": Command("Serve the tools to an agent, over MCP on stdin and stdout or HTTP", (_PATH,), _serve_options),
    "tool": Command(
        "Call one tool as an agent would, and print its answer as JSON",
        (
            Operand("name", "NAME", "1", "a tool, such as search_code"),
            Operand("arguments", "JSON", "?", "its arguments, such as '{\"query\": \"retry\"}'; '-' reads stdin"),
            _PATH,
        ),
        _tool_options,
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
        _library_options,
    ),
    "config": Command("Show every option, its value, and where it came from", (_PATH,), _config_options),
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
