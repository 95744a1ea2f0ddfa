"""What can be typed: one table of commands with their operands and options, and the parser that reads it.

Must not know what a command does. Every command has a parser of its own, built only when it is called: the
command line's start is a budget. Errors are raised as InvalidInput, never printed here.
"""

from __future__ import annotations

import argparse
import math
from collections.abc import Callable, Mapping, Sequence
from typing import Any, Final, NamedTuple, NoReturn

from findling import model
from findling.model.errors import InvalidInput

# Places worth reading in one answer; a program that wants more pages through --path and --language.
MAX_LIMIT: Final = 1000
# A run can then also be used to study what came just below the ten that are scored.
MIN_EVAL_LIMIT: Final = 20
# Of each kind: with fewer intervals are wide, and more take minutes.
EVAL_QUESTIONS: Final = 100
MAX_EVAL_QUESTIONS: Final = 5000
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


class Option(NamedTuple):
    """An option: its spellings, and what argparse has to know of it."""

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


def _glob(text: str) -> str:
    if not text:
        raise argparse.ArgumentTypeError("an empty pattern matches nothing")
    return text


def _setting(text: str) -> tuple[str, str]:
    key, equals, value = text.partition("=")
    if not equals or not key.strip():
        raise argparse.ArgumentTypeError(f"{text!r} is not KEY=VALUE")
    return key.strip(), value


def _names(text: str) -> list[str]:
    names = [name.strip() for name in text.split(",") if name.strip()]
    if not names:
        raise argparse.ArgumentTypeError(f"{text!r} names nothing")
    return names


# --- kinds of option ------------------------------------------------------------------------------------------


def _option(usage: str, help: str, **about: Any) -> Option:
    """``usage``: its spellings and what stands behind them, such as ``-n --limit N``; with nothing behind, it is a
    switch, unless there are ``choices`` or another action."""
    words = usage.split()
    spellings = tuple(word for word in words if word.startswith("-"))
    if len(spellings) < len(words):
        about["metavar"] = words[-1]
    elif "choices" not in about:
        about.setdefault("action", "store_true")
    return Option(spellings, {"help": help, **about})


def _many(usage: str, help: str, **about: Any) -> Option:
    """One that may be repeated."""
    return _option(usage, help, **{"action": "append", "default": [], **about})


def _limit(default: int) -> Option:
    return _option("-n --limit N", f"at most N places ({default})", type=_whole(1, MAX_LIMIT), default=default)


# --- what several commands share ------------------------------------------------------------------------------

_PATH: Final = Operand(
    "path", "PATH", "?", "a folder or file to search in; the project around the current folder if left out"
)
_ROOT: Final = _option("--root DIR", "take DIR as the root, instead of finding it from PATH")
_ROOTS: Final = _many(
    "--root DIR",
    "take DIR as the root, instead of finding it from PATH; of several, the first part of a path is the name",
)
_CACHE: Final = _option("--cache", "keep the index in the user's cache folder")
_JSON: Final = _option("--json", "print one JSON object, with the field names of the Python API")
_JSON_OF_ROOT: Final = (_JSON, _ROOT, _CACHE)
_LANGUAGE: Final = _option("-l --language LANG", "only files in this language, such as python")
_REF: Final = _option(
    "--ref REF", "a branch, tag or commit, instead of what is on disk (which the name of the checked-out branch means)"
)
_EXPLAIN: Final = _option("--explain", "show what each place's rank is made of")
_MODE: Final = _option("--mode", "which ways of searching to use (auto)", choices=model.MODES, default="auto")


# --- the commands ---------------------------------------------------------------------------------------------

_GREP_OPTIONS: Final = (
    _many(
        "-e --regexp REGEX", "what to look for; then all operands are paths; of several, any may match", dest="patterns"
    ),
    _option("-F --fixed-strings --fixed", "REGEX is plain text", dest="fixed"),
    *(
        _option(letters, what, dest="case", action="store_const", const=case, default="sensitive")
        for letters, case, what in (
            ("-i --ignore-case", "ignore", "upper and lower case are the same"),
            ("-s --case-sensitive", "sensitive", "upper and lower case differ, as they do by default"),
            ("-S --smart-case", "smart", "they are the same where REGEX has no upper case"),
        )
    ),
    _option("-w --word-regexp --word", "whole words only", dest="word"),
    _option("-v --invert-match", "lines that do not match", dest="inverted"),
    _option("-U --multiline", "matches may span lines; (?s) lets . match a line break"),
    *(
        _option(f"{spellings} N", f"show N lines {where} each match", type=_whole(0, MAX_CONTEXT))
        for spellings, where in (
            ("-A --after-context", "after"),
            ("-B --before-context", "before"),
            ("-C --context", "around"),
        )
    ),
    _option(
        "-W --function-context", "show the whole definition around each match, once, by syntax", dest="definitions"
    ),
    _option("-c --count", "print the number of matching lines of each file"),
    _option("--count-matches", "print the number of occurrences in each file"),
    _option("-l --files-with-matches", "print only the paths of files with a match", dest="files"),
    _option("-L --files-without-match", "print the paths of the others", dest="without"),
    _option("-o --only-matching", "print only what matches, a line for each"),
    _option("-r --replace TEXT", "print TEXT in place of each match ($1: a group); changes no file"),
    _option("-q --quiet", "print nothing; the exit status tells"),
    _option("-m --max-count N", "at most N lines of each file", type=_whole(1, 2**31), default=0),
    _option("--limit N", "at most N lines in all (0: all)", type=_whole(0, 2**31), default=0),
    _option("-n --line-number", "accepted; line numbers are always shown"),
    _option("--color", "colours (auto: on a terminal)", choices=("auto", "always", "never", "ansi"), default="auto"),
    _many(
        "-g --glob --path GLOB",
        "only paths that match, such as '*.{ts,tsx}' or 'src/**'; none with '!' before it; may be repeated",
        dest="path_globs",
        type=_glob,
    ),
    _many(
        "-t --type --language LANG",
        "only files in this language, such as py or markdown; may be repeated",
        dest="languages",
    ),
    _option(
        "-T --type-not LANG",
        "no files in this language; may be repeated",
        dest="languages",
        action="append",
        type="!{}".format,
    ),
    _option(
        "--sort",
        "the order of files: by path, or those changed last at the end (path)",
        choices=("path", "modified", "none"),
        default="path",
    ),
    _REF,
    _JSON,
    _option("--json-events", "print what ripgrep's --json prints, one event a line"),
    _ROOT,
    _CACHE,
)

_EVAL_OPTIONS: Final = (
    _option("--corpora DIR", "the folder of the repositories; without it --run is read instead of written"),
    _option("--run OUT", "write the answers here, a line for each"),
    _option(
        "--from-history PATH",
        "instead of QUERIES: make them from a repository's commits and comments, and ask them of a copy without these "
        "comments",
        nargs="?",
        const="",
    ),
    _option("--out DIR", "--from-history: write questions, answers, numbers, pictures here"),
    *(
        _option(
            f"--{name} N",
            f"--from-history: at most N questions from {what} ({EVAL_QUESTIONS})",
            type=_whole(0, MAX_EVAL_QUESTIONS),
            default=EVAL_QUESTIONS,
        )
        for name, what in (("commits", "commits"), ("comments", "comments above definitions"))
    ),
    _option("--seed N", "--from-history: another N, another sample (7)", type=_whole(0, 2**31), default=7),
    _option("--keep-copy", "--from-history: leave the copy in DIR/corpora"),
    _many(
        "--compare KEY=VALUE[,...]|RUN",
        "also ask in another setting: mode=MODE, or options as 'findling config' names them, such as "
        "semantic.chunk_size=1000,semantic.chunk_overlap=100, with an index of its own; or read an older run; compare "
        "query by query; may be repeated. A comma that no KEY= follows, and a second =, belong to the value; a file "
        "whose name begins like an option is ./NAME",
    ),
    _option("--plots DIR", "draw reliability, and quality against time, as SVG and PNG"),
    _many("--repo NAME", "only the queries of this repository; may be repeated", dest="repos"),
    _MODE,
    _option(
        "-n --limit N",
        f"at most N files for each query ({MIN_EVAL_LIMIT})",
        type=_whole(MIN_EVAL_LIMIT, MAX_LIMIT),
        default=MIN_EVAL_LIMIT,
    ),
    _option("--cache", "keep the indexes in the user's cache folder, those of other settings too"),
    _JSON,
)

COMMANDS: Final[dict[str, Command]] = {
    "search": Command(
        "Find places by text, name and meaning",
        "commands:search",
        (Operand("query", "QUERY", "1", "words, a name, a path, an error or a question; - reads stdin"), _PATH),
        (
            _limit(10),
            _LANGUAGE,
            _many(
                "--path GLOB",
                "only paths that match, such as 'src/**' or '*.md'; may be repeated",
                dest="path_globs",
                type=_glob,
            ),
            _option(
                "--kind", "only code, or only documents (includes notebooks and web pages)", choices=("code", "docs")
            ),
            _MODE,
            _option(
                "--max-tokens N",
                "print at most N tokens (of four characters): places first, then snippets, then bodies",
                type=_whole(1, MAX_TOKENS),
            ),
            _EXPLAIN,
            _option(
                "--wait SECONDS",
                f"how long to index before answering ({DEFAULT_WAIT_S}); 'all' finishes first",
                type=_wait,
                default=DEFAULT_WAIT_S,
            ),
            _option("--no-sync", "answer from the index as it is, without looking for changes"),
            _REF,
            *_JSON_OF_ROOT,
        ),
    ),
    "grep": Command(
        "Find every occurrence of a regular expression, with exact counts",
        "grep_command:grep",
        (
            Operand(
                "pattern",
                "REGEX",
                "?",
                "a regular expression in Python's syntax (\\d, \\w, \\b; no [[:digit:]]); with -F plain text",
            ),
            Operand("paths", "PATH", "*", "folders and files to search in; the current folder if left out"),
        ),
        _GREP_OPTIONS,
    ),
    "symbol": Command(
        "Find the definitions of a name, and where it is used",
        "commands:symbol",
        (
            Operand(
                *("name", "NAME", "1"),
                "a function, class, method, constant..., such as retry or Client.retry; names that begin with it or "
                "contain it come after it, marked so",
            ),
            _PATH,
        ),
        (
            _option("--refs", "also list where the name is used"),
            _option("--kind KIND", f"one of {', '.join(model.SYMBOL_KINDS)}", choices=model.SYMBOL_KINDS),
            _LANGUAGE,
            _limit(50),
            _REF,
            *_JSON_OF_ROOT,
        ),
    ),
    "similar": Command(
        "Find what is like a file, or like the piece of it at a line",
        "commands:similar",
        (Operand("target", "FILE[:LINE]", "1", "a file of the index, with a line of it or without"),),
        (_limit(10), _EXPLAIN, _REF, *_JSON_OF_ROOT),
    ),
    "index": Command(
        "Build the index of a folder, or bring it up to date",
        "commands:index",
        (_PATH,),
        (
            _option(
                "--force",
                "build everything again, even what has not changed; with --ref only its list of files, not the "
                "contents that are indexed already",
            ),
            _option("--no-embed", "text and symbols only, no vectors"),
            _REF,
            *_JSON_OF_ROOT,
        ),
    ),
    "sync": Command(
        "Bring the named files of the index up to date, or all that changed",
        "commands:sync",
        (
            Operand(
                *("files", "FILE", "*"),
                "files that changed, appeared or vanished; all of the project if left out.\n"
                "            The exit status is 1 where one that is named could not be taken in: it was never\n"
                "            there, cannot be read, or a rule leaves it out. Deleted files\n"
                "            are removed from the index.",
            ),
        ),
        _JSON_OF_ROOT,
    ),
    "embed": Command(
        "Make the vectors of a folder that are missing, for searching by meaning",
        "embed_commands:embed",
        (_PATH,),
        (_option("--force", "make all vectors again, even of what has not changed"), *_JSON_OF_ROOT),
    ),
    "export": Command(
        "Write the passages of a folder and their vectors as plain SQLite tables",
        "embed_commands:export",
        (_PATH,),
        (
            _option(
                "--sqlite FILE",
                "the database to write: a new file, or an older export, which it replaces once it is whole",
                required=True,
            ),
            *_JSON_OF_ROOT,
        ),
    ),
    "export-vectors": Command(
        "Print every vector of the index, one line of JSON each",
        "embed_commands:export_vectors",
        (_PATH,),
        (_option("--model NAME", "only the vectors of this model"), _ROOT, _CACHE),
        {"json": True},  # there is no other form
    ),
    "status": Command(
        "Show what the index covers, and what it leaves out",
        "commands:status",
        (_PATH,),
        (_option("--skipped", "list every file that is not indexed, and why"), _REF, *_JSON_OF_ROOT),
    ),
    "stop": Command(
        "End what is being indexed in the background; what was taken in stays", "commands:stop", (_PATH,), _JSON_OF_ROOT
    ),
    "why": Command(
        "Tell whether a file is indexed, and if not, which rule leaves it out",
        "commands:why",
        (Operand("file", "FILE", "1", "a file or folder; it need not be there"),),
        _JSON_OF_ROOT,
    ),
    "doctor": Command(
        "Check what findling needs, and say what to do about what is missing",
        "commands:doctor",
        (Operand("path", "PATH", "?", "the folder whose index and configuration are looked at"),),
        _JSON_OF_ROOT,
    ),
    "eval": Command(
        "Answer judged queries, or some made from a repository's history, and print how good the answers are",
        "eval_commands:run",
        (Operand("queries", "QUERIES", "?", "a file with one judged query a line, in either of two forms"),),
        _EVAL_OPTIONS,
        {"root": None},
    ),
    "serve": Command(
        "Serve the tools to an agent, over MCP on stdin and stdout or HTTP",
        "commands:serve",
        (_PATH,),
        (
            _option(
                "--tools NAMES",
                "families (code, docs, library, repo) or single tools, separated by commas; all if left out",
                type=_names,
            ),
            _option("--allow-delete", "also serve the tools that delete"),
            _ROOTS,
            _CACHE,
            _option("--http [HOST:]PORT", "serve over HTTP instead, to this machine alone unless HOST is another"),
            _option("--token-file FILE", "HTTP: ask for the token in FILE (else: in FINDLING_HTTP_TOKEN)"),
            _many("--allow-host NAME", "HTTP: also answer requests addressed to NAME; may be repeated"),
            _many(
                "--allow-origin ORIGIN", "HTTP: also answer pages of ORIGIN, such as https://a.example; may be repeated"
            ),
        ),
        {"json": False},
    ),
    "tool": Command(
        "Call one tool as an agent would, and print its answer as JSON",
        "commands:tool",
        (
            Operand("name", "NAME", "1", "a tool, such as search_code"),
            Operand("arguments", "JSON", "?", "its arguments, such as '{\"query\": \"retry\"}'; '-' reads stdin"),
            _PATH,
        ),
        (_ROOTS, _CACHE),
        {"json": True},
    ),
    "library": Command(
        "Add folders and files to the library, fetch more, list, refresh and remove them",
        "library_commands:run",
        (
            Operand(
                *("action", "ACTION", "1"),
                "add PATH, fetch URL, list, status [NAME], refresh [NAME], remove NAME, jobs or cancel JOB",
            ),
            Operand("subject", "PATH|URL|NAME", "?", "the folder or file to add, the URL to fetch, or a name"),
        ),
        (
            _option("--name NAME", "add: what to call the collection (else after its folder); fetch: the file"),
            _option("--branch NAME", "fetch: a branch, tag or commit of a repository (else main)"),
            _many("--include GLOB", "fetch: only these files (may be repeated)", default=None),
            _many("--exclude GLOB", "fetch: none of these (may be repeated)", default=None),
            _option("--max-mb N", "fetch: at most so many megabytes (10)", type=_whole(1, 1000)),
            _option("--remove-comments", "fetch: leave comments out of a repository's bundle"),
            _JSON,
        ),
    ),
    "config": Command(
        "Show every option, its value, and where it came from",
        "commands:configuration",
        (_PATH,),
        (
            _many(
                "--set KEY=VALUE",
                "decide an option, such as semantic.mode=off; may be repeated",
                dest="settings",
                type=_setting,
            ),
            _JSON,
            _ROOT,
        ),
    ),
}


# --- reading what was typed -----------------------------------------------------------------------------------


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
    for option in command.options:
        parser.add_argument(*option.spellings, **option.about)
    parser.set_defaults(**command.preset)
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
