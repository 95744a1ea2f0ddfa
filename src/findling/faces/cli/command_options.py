"""What can be typed behind each command: its options, the values that they take, their bounds and their help.

Must not know what a command does, nor its operands (`arguments`). A value out of bounds is an ArgumentTypeError.
"""

from __future__ import annotations

import argparse
import math
from collections.abc import Callable
from typing import Final

from findling import model

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


def library_options(parser: argparse.ArgumentParser) -> None:
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
    parser.add_argument(
        "--ref",
        metavar="REF",
        help="a branch, tag or commit, instead of what is on disk (which the name of the checked-out branch means)",
    )


def _glob_option(parser: argparse.ArgumentParser) -> None:
    parser.add_argument(
        "--path",
        dest="path_globs",
        action="append",
        type=_glob,
        default=[],
        metavar="GLOB",
        help="only paths that match, such as 'src/**' or '*.md'; may be repeated",
    )


# --- the commands ---------------------------------------------------------------------------------------------


def search_options(parser: argparse.ArgumentParser) -> None:
    _limit_option(parser, 10)
    _language_option(parser)
    _glob_option(parser)
    parser.add_argument(
        "--kind", choices=("code", "docs"), help="only code, or only documents (includes notebooks and web pages)"
    )
    parser.add_argument("--mode", choices=model.MODES, default="auto", help="which ways of searching to use (auto)")
    parser.add_argument(
        "--max-tokens",
        type=_whole(1, MAX_TOKENS),
        metavar="N",
        help="print at most N tokens (of four characters): places first, then snippets, then bodies",
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


def grep_options(parser: argparse.ArgumentParser) -> None:
    _grep_matching(parser)
    _grep_shown(parser)
    parser.add_argument(
        *("-g", "--glob", "--path"),
        dest="path_globs",
        action="append",
        type=_glob,
        default=[],
        metavar="GLOB",
        help="only paths that match, such as '*.{ts,tsx}' or 'src/**'; none with '!' before it; may be repeated",
    )
    parser.add_argument(
        *("-t", "--type", "--language"),
        dest="languages",
        action="append",
        default=[],
        metavar="LANG",
        help="only files in this language, such as py or markdown; may be repeated",
    )
    parser.add_argument(
        *("-T", "--type-not"),
        dest="languages",
        action="append",
        type="!{}".format,
        metavar="LANG",
        help="no files in this language; may be repeated",
    )
    parser.add_argument(
        "--sort",
        choices=("path", "modified", "none"),
        default="path",
        help="the order of files: by path, or those changed last at the end (path)",
    )
    _ref_option(parser)
    _json_option(parser)
    parser.add_argument(
        "--json-events", action="store_true", help="print what ripgrep's --json prints, one event a line"
    )
    _root_options(parser)


def _grep_matching(parser: argparse.ArgumentParser) -> None:
    parser.add_argument(
        *("-e", "--regexp"),
        dest="patterns",
        action="append",
        default=[],
        metavar="REGEX",
        help="what to look for; then all operands are paths; of several, any may match",
    )
    parser.add_argument(
        *("-F", "--fixed-strings", "--fixed"), dest="fixed", action="store_true", help="REGEX is plain text"
    )
    for letters, case, what in (
        (("-i", "--ignore-case"), "ignore", "upper and lower case are the same"),
        (("-s", "--case-sensitive"), "sensitive", "upper and lower case differ, as they do by default"),
        (("-S", "--smart-case"), "smart", "they are the same where REGEX has no upper case"),
    ):
        parser.add_argument(*letters, dest="case", action="store_const", const=case, default="sensitive", help=what)
    parser.add_argument("-w", "--word-regexp", "--word", dest="word", action="store_true", help="whole words only")
    parser.add_argument("-v", "--invert-match", dest="inverted", action="store_true", help="lines that do not match")
    parser.add_argument(
        "-U", "--multiline", action="store_true", help="matches may span lines; (?s) lets . match a line break"
    )


def _grep_shown(parser: argparse.ArgumentParser) -> None:
    for letter, name, where in (("-A", "after", "after"), ("-B", "before", "before"), ("-C", "", "around")):
        option = f"--{name}-context" if name else "--context"
        parser.add_argument(
            *(letter, option), type=_whole(0, MAX_CONTEXT), metavar="N", help=f"show N lines {where} each match"
        )
    parser.add_argument(
        *("-W", "--function-context"),
        dest="definitions",
        action="store_true",
        help="show the whole definition around each match, once, by syntax",
    )
    parser.add_argument("-c", "--count", action="store_true", help="print the number of matching lines of each file")
    parser.add_argument("--count-matches", action="store_true", help="print the number of occurrences in each file")
    parser.add_argument(
        *("-l", "--files-with-matches"),
        dest="files",
        action="store_true",
        help="print only the paths of files with a match",
    )
    parser.add_argument(
        *("-L", "--files-without-match"), dest="without", action="store_true", help="print the paths of the others"
    )
    parser.add_argument("-o", "--only-matching", action="store_true", help="print only what matches, a line for each")
    parser.add_argument(
        *("-r", "--replace"), metavar="TEXT", help="print TEXT in place of each match ($1: a group); changes no file"
    )
    parser.add_argument("-q", "--quiet", action="store_true", help="print nothing; the exit status tells")
    parser.add_argument(
        *("-m", "--max-count"), type=_whole(1, 2**31), default=0, metavar="N", help="at most N lines of each file"
    )
    parser.add_argument(
        "--limit", type=_whole(0, 2**31), default=0, metavar="N", help="at most N lines in all (0: all)"
    )
    parser.add_argument("-n", "--line-number", action="store_true", help="accepted; line numbers are always shown")
    parser.add_argument(
        "--color", choices=("auto", "always", "never", "ansi"), default="auto", help="colours (auto: on a terminal)"
    )


def symbol_options(parser: argparse.ArgumentParser) -> None:
    parser.add_argument("--refs", action="store_true", help="also list where the name is used")
    parser.add_argument(
        "--kind", choices=model.SYMBOL_KINDS, metavar="KIND", help=f"one of {', '.join(model.SYMBOL_KINDS)}"
    )
    _language_option(parser)
    _limit_option(parser, 50)
    _ref_option(parser)
    _json_option(parser)
    _root_options(parser)


def similar_options(parser: argparse.ArgumentParser) -> None:
    _limit_option(parser, 10)
    parser.add_argument("--explain", action="store_true", help="show what each place's rank is made of")
    _ref_option(parser)
    _json_option(parser)
    _root_options(parser)


def index_options(parser: argparse.ArgumentParser) -> None:
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


def sync_options(parser: argparse.ArgumentParser) -> None:
    _json_option(parser)
    _root_options(parser)


def embed_options(parser: argparse.ArgumentParser) -> None:
    parser.add_argument("--force", action="store_true", help="make all vectors again, even of what has not changed")
    _json_option(parser)
    _root_options(parser)


def export_options(parser: argparse.ArgumentParser) -> None:
    parser.add_argument(
        "--sqlite",
        required=True,
        metavar="FILE",
        help="the database to write: a new file, or an older export, which it replaces once it is whole",
    )
    _json_option(parser)
    _root_options(parser)


def export_vectors_options(parser: argparse.ArgumentParser) -> None:
    parser.add_argument("--model", metavar="NAME", help="only the vectors of this model")
    parser.set_defaults(json=True)  # there is no other form
    _root_options(parser)


def status_options(parser: argparse.ArgumentParser) -> None:
    parser.add_argument("--skipped", action="store_true", help="list every file that is not indexed, and why")
    _ref_option(parser)
    _json_option(parser)
    _root_options(parser)


def stop_options(parser: argparse.ArgumentParser) -> None:
    _json_option(parser)
    _root_options(parser)


def why_options(parser: argparse.ArgumentParser) -> None:
    _json_option(parser)
    _root_options(parser)


def doctor_options(parser: argparse.ArgumentParser) -> None:
    _json_option(parser)
    _root_options(parser)


def eval_options(parser: argparse.ArgumentParser) -> None:
    parser.add_argument(
        "--corpora", metavar="DIR", help="the folder of the repositories; without it --run is read instead of written"
    )
    parser.add_argument("--run", metavar="OUT", help="write the answers here, a line for each")
    parser.add_argument(
        "--from-history",
        nargs="?",
        const="",
        metavar="PATH",
        help="instead of QUERIES: make them from a repository's commits and comments, and ask them of a copy without "
        "these comments",
    )
    parser.add_argument("--out", metavar="DIR", help="--from-history: write questions, answers, numbers, pictures here")
    for name, what in (("commits", "commits"), ("comments", "comments above definitions")):
        parser.add_argument(
            f"--{name}",
            type=_whole(0, MAX_EVAL_QUESTIONS),
            default=EVAL_QUESTIONS,
            metavar="N",
            help=f"--from-history: at most N questions from {what} ({EVAL_QUESTIONS})",
        )
    parser.add_argument(
        "--seed", type=_whole(0, 2**31), default=7, metavar="N", help="--from-history: another N, another sample (7)"
    )
    parser.add_argument("--keep-copy", action="store_true", help="--from-history: leave the copy in DIR/corpora")
    parser.add_argument(
        "--compare",
        action="append",
        default=[],
        metavar="KEY=VALUE[,...]|RUN",
        help="also ask in another setting: mode=MODE, or options as 'findling config' names them, such as "
        "semantic.chunk_size=1000,semantic.chunk_overlap=100, with an index of its own; or read an older run; compare "
        "query by query; may be repeated. A comma that no KEY= follows, and a second =, belong to the value; a file "
        "whose name begins like an option is ./NAME",
    )
    parser.add_argument("--plots", metavar="DIR", help="draw reliability, and quality against time, as SVG and PNG")
    parser.add_argument(
        "--repo",
        dest="repos",
        action="append",
        default=[],
        metavar="NAME",
        help="only the queries of this repository; may be repeated",
    )
    parser.add_argument("--mode", choices=model.MODES, default="auto", help="which ways of searching to use (auto)")
    parser.add_argument(
        *("-n", "--limit"),
        type=_whole(MIN_EVAL_LIMIT, MAX_LIMIT),
        default=MIN_EVAL_LIMIT,
        metavar="N",
        help=f"at most N files for each query ({MIN_EVAL_LIMIT})",
    )
    parser.add_argument(
        "--cache", action="store_true", help="keep the indexes in the user's cache folder, those of other settings too"
    )
    parser.set_defaults(root=None)
    _json_option(parser)


def config_options(parser: argparse.ArgumentParser) -> None:
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


def serve_options(parser: argparse.ArgumentParser) -> None:
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


def tool_options(parser: argparse.ArgumentParser) -> None:
    _roots_option(parser)
    parser.add_argument("--cache", action="store_true", help="keep the index in the user's cache folder")
    parser.set_defaults(json=True)


def _names(text: str) -> list[str]:
    names = [name.strip() for name in text.split(",") if name.strip()]
    if not names:
        raise argparse.ArgumentTypeError(f"{text!r} names nothing")
    return names
