"""``findling grep``: ripgrep's letters -> the engine's exact search -> view, notes, exit status."""

from __future__ import annotations

import os
import sys
from collections.abc import Callable, Container, Sequence
from contextlib import ExitStack
from functools import partial
from typing import TYPE_CHECKING, Any, Final

from msgspec.structs import replace

from findling import engine, search
from findling.faces.cli import terminal
from findling.faces.cli.outcome import ERROR, FOUND, NOTHING
from findling.faces.cli.terminal import words
from findling.model.errors import FindlingError, InvalidInput
from findling.model.typed_paths import lies_in

if TYPE_CHECKING:
    from argparse import Namespace
    from pathlib import Path

    from findling.engine import Engine
    from findling.faces.cli.session import Session
    from findling.faces.cli.terminal.json import EventCounts
    from findling.search import Grep

SHOWN_COLUMNS: Final = 100
MAX_COLUMNS: Final = 1_000_000
"""Of a line, the matches that are marked, and those that are kept where each of them is printed."""


def grep(args: Namespace, session: Session) -> int:
    """Of several roots one after another, in the order in which they were named."""
    paths = [args.pattern, *args.paths] if args.patterns and args.pattern is not None else args.paths
    patterns = args.patterns or [args.pattern]
    if args.show_secrets and (args.json or args.json_events or not session.terminal):
        raise InvalidInput("--show-secrets is for your eyes: it works on a terminal only.", remedy="Leave it out.")
    around = (args.context, args.before_context, args.after_context)
    if _shape(args) == "vimgrep" and (args.replace is not None or any(around)):
        raise InvalidInput(
            "--vimgrep prints the matching lines as they are: -r, -A, -B and -C do not go with it.",
            remedy="Leave one of them out.",
        )
    if patterns == [None]:
        raise InvalidInput("REGEX is missing.", remedy="See 'findling grep --help'.")
    with ExitStack() as stack:
        failed: dict[str, FindlingError] = {}
        at = {path or ".": path for path in paths or [_here(args)]}
        below = engine.of_each(at, lambda path: [*stack.enter_context(session.every(path)).values()], failed)
        opened = [each for engines in below.values() for each in engines]
        if failed and args.json:  # which has no place for it
            raise next(iter(failed.values()))
        roots = {each.root: each for each in opened}
        if args.json and len(roots) > 1:
            raise InvalidInput(
                "--json works for one project at a time.", remedy="Name paths of one, or use --json-events."
            )
        found, not_asked = 0, 0
        counts: list[EventCounts] = []

        def ask(each: Engine) -> None:
            nonlocal found, not_asked
            if session.reader_left or (found and args.quiet):
                return
            if args.limit and found >= args.limit:
                not_asked += 1
                return
            scopes = [other.scope for other in opened if other.root == each.root]
            name = session.places(each).shown("") if len(roots) > 1 else ""
            found += _grep(args, session, each, patterns, scopes, paths, name, roots, found, counts)

        named = {session.places(each).shown(""): each for each in roots.values()}
        engine.of_each(named, ask, failed)
        if counts:
            with session.printing():
                terminal.write_summary(sys.stdout, counts)
        session.note_problems(failed)
        if not_asked and not args.quiet:
            session.notes([f"{words.count(not_asked, 'project')} not searched; see --limit"])
        if len(roots) > 1 and not (found or args.quiet):
            session.notes([words.NOTHING_FOUND])
    if failed and not (found and args.quiet):
        return ERROR  # as ripgrep has it
    return FOUND if found else NOTHING


def _here(args: Namespace) -> str | None:
    """The current folder, unless another root is named."""
    return "." if args.root is None or lies_in(os.path.realpath(args.root), ".") else None


def _grep(
    args: Namespace,
    session: Session,
    opened: Engine,
    patterns: Sequence[str],
    scopes: Sequence[str],
    paths: Sequence[str],
    name: str,
    roots: Container[Path],
    before: int,
    counts: list[EventCounts],
) -> int:
    """Search below some folders and files of one root; how many lines were found, or files where only these are asked
    for. ``name``: stands before its notes, '' where it is the only root; of several it is not told which have nothing.
    ``roots``: all that are searched. ``before``: what was found in others, which share the limit.
    ``counts`` takes in what the events come to."""
    options = _options(args, patterns) | {"paths": [] if "" in scopes else scopes}
    options["test_definitions"] = bool(paths or args.path_globs or options["paths"])
    if options["limit"]:
        options["limit"] -= before
    grep_stream: Callable[..., Grep] = partial(opened.grep_stream, patterns, **options)
    groups = bool(options["before"] or options["after"] or args.definitions)
    places = session.places(opened)
    shown = places.shown
    with grep_stream(**_matching(args.path_globs, places.from_current)) as found, session.printing():
        if args.quiet:
            if next(iter(found), None) is not None:
                return 1
            if not found.totals.counts_exact:
                raise FindlingError("Not all files could be searched, and there is no match in those that were.")
            return 0
        if args.json_events:
            counts.append(terminal.write_events(sys.stdout, found, shown))
        else:
            headed = args.definitions if args.heading is None else args.heading
            session.view(opened).grep(found, shape=_shape(args), groups=groups, headed=headed)
    totals = found.totals
    totals = replace(totals, skipped=engine.without_known(totals.skipped, opened.root, roots))
    nothing = words.NOTHING_FOUND
    asked = words.asked(paths, args.path_globs, args.languages, tests=not args.no_tests)
    if asked and not (totals.files_searched or totals.total_files or args.json):
        skipped = totals.skipped if paths or args.path_globs else ()
        nothing = words.nothing_in_scope(asked, skipped, shown)
        deeper = [f"{glob}*" for glob in args.path_globs if glob.endswith("/*")]
        if deeper and grep_stream(**_matching(deeper, places.from_current)).searchable.files:
            nothing += f"; {' and '.join(deeper)} would include subfolders"
    elif len(patterns) == 1 and not args.inverted and (args.fixed or search.is_plain(patterns[0])):
        nothing = words.absent_text(patterns[0], totals)
    notes = words.grep_notes(totals, nothing=nothing, cut=not (totals.counts_exact or session.reader_left))
    session.notes([f"{name}: {note}" for note in notes if note != nothing] if name else notes)
    return totals.total_lines if options["shape"] == "lines" else totals.total_files


def _options(args: Namespace, patterns: Sequence[str]) -> dict[str, Any]:
    """What the letters ask of `Engine.grep_stream`, but for where to search."""
    shape = _shape(args)
    around = args.context or 0
    all_columns = shape in ("only", "vimgrep") or args.replace is not None or args.json_events
    return {
        "literal": args.fixed,
        "ignore_case": args.case == "ignore" or (args.case == "smart" and not any(map(str.isupper, "".join(patterns)))),
        "word": args.word,
        "inverted": args.inverted,
        "multiline": args.multiline,
        "language": args.languages,
        "tests": not args.no_tests,
        "before": around if args.before_context is None else args.before_context,
        "after": around if args.after_context is None else args.after_context,
        "definitions": args.definitions,
        "limit": 1 if args.quiet else args.limit,
        "stop_at_limit": args.quiet,
        "per_file": args.max_count,
        "replacement": args.replace,
        "shape": {"lines": "lines", "only": "lines", "vimgrep": "lines", "without": "without"}.get(shape, "counts"),
        "spans": MAX_COLUMNS if all_columns else SHOWN_COLUMNS,
        "offsets": args.json_events,
        "sort": args.sort,
        "show_secrets": args.show_secrets,
    }


def _shape(args: Namespace) -> str:
    """What is printed of each file: the first of these that was asked for. Lines of matches that span some are counted
    as matches."""
    if args.without:
        return "without"
    if args.count_matches or (args.count and (args.only_matching or args.multiline)):
        return "matches"
    if args.count:
        return "count"
    if args.files:
        return "files"
    if args.vimgrep:
        return "vimgrep"
    return "only" if args.only_matching else "lines"


def _matching(globs: Sequence[str], from_current: Callable[[str], str]) -> dict[str, Any]:
    """The option of `Engine.grep_stream` by which globs match paths from the current folder."""
    if not globs:
        return {}
    matches = search.glob_matcher(globs)
    return {"within": lambda path: matches(from_current(path))}
