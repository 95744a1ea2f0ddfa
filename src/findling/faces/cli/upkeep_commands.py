"""`findling clear`, which deletes indexes; and what a shell and `man` want to know: `findling completions`, `man`."""

from __future__ import annotations

import argparse
import sys
from collections.abc import Iterator
from typing import TYPE_CHECKING, Any, Final

from findling import __version__
from findling.engine import indexes
from findling.faces.cli import terminal
from findling.faces.cli.arguments import COMMANDS, OWN_OPTIONS, Command, Option, usage
from findling.faces.cli.outcome import ERROR, FOUND, NOTHING
from findling.faces.cli.terminal import words
from findling.faces.cli.terminal.safe import write_line
from findling.model.errors import FindlingError, InvalidInput
from findling.model.plurals import count

if TYPE_CHECKING:
    from argparse import Namespace

    from findling.engine import Engine
    from findling.engine.indexes import KnownIndex
    from findling.faces.cli.session import Session


_WAIT_S: Final = 5.0
"""For a run that was asked to stop."""

_FILES: Final = frozenset(("file", "files", "path", "paths", "target", "names", "subject", "queries"))
"""Operands that a shell completes with files."""


# --- deleting indexes -----------------------------------------------------------------------------------------


def clear(args: Namespace, session: Session) -> int:
    """Say what would be freed, ask, and delete."""
    if args.path and (args.all or args.gone):
        raise InvalidInput("PATH cannot be combined with --all or --gone.", remedy="Leave one of them out.")
    if args.all or args.gone:
        chosen = [index for index in indexes.known() if args.all or index.is_orphan]
    else:
        with session.every(args.path) as every:
            for engine in every.values():  # one that is shared is asked alone
                if engine.shared_store:
                    return _clear_published(args, session, engine)
            found = [indexes.of(engine.store_dir, engine.root) for engine in every.values()]
        chosen = [index for index in found if index is not None]
    total = words.size(sum(index.bytes for index in chosen))
    if not args.json:
        with session.printing():
            for index in chosen:
                gone = ", which is gone" if index.is_orphan else ""
                write_line(sys.stdout, f"{words.size(index.bytes):>8}  {index.directory}: index of {index.root}{gone}")
    freed = 0
    failures: list[str] = []
    deleted: list[KnownIndex] = []
    asked = f"Delete {count(len(chosen), 'index')}, {total}?"
    agreed = bool(chosen) and not args.dry_run and (args.yes or session.agreed(asked, "deletes"))
    for index in chosen if agreed else ():
        try:
            _stop_jobs(index, session)
            freed += indexes.delete(index, wait_s=_WAIT_S)
            deleted.append(index)
        except FindlingError as error:  # the others can go all the same
            failures.append(str(error))
    said = "there is no index to delete"
    if chosen:
        said = f"{count(len(deleted), 'index')} deleted, {words.size(freed)} freed" if agreed else "nothing was deleted"
    if args.json:
        rows = [
            {
                "index": str(one.directory),
                "root": str(one.root),
                "bytes": one.bytes,
                "deleted": one in deleted,
            }
            for one in chosen
        ]
        terminal.write_json(sys.stdout, {"indexes": rows, "freed": freed, "problems": failures})
    session.notes([*failures, said])
    return ERROR if failures else FOUND if chosen else NOTHING


def _clear_published(args: Namespace, session: Session, engine: Engine) -> int:
    """Delete a folder's own view from its shared store, or the collection that is named on the command line."""
    if not args.collection:  # what is configured to be asked is not named to be deleted
        engine.check_updates()
    what = f"collection {args.collection}" if args.collection else f"index of {engine.root}"
    is_there = engine.status().indexing_status != "not_indexed"
    asked = f"Delete the {what} from {engine.shared_store}?"
    agreed = is_there and not args.dry_run and (args.yes or session.agreed(asked, "deletes"))
    deleted = agreed and engine.delete_published()
    said = f"the {what} is {'deleted' if deleted else 'left as it is'}" if is_there else f"there is no {what}"
    value = {"index": engine.shared_store, "deleted": deleted}
    return session.show(engine, lambda view: view.records([[("index", said)]], value), found=is_there)


def _stop_jobs(index: KnownIndex, session: Session) -> None:
    if index.root.is_dir():
        with session.open_root(index.root) as engine:
            if engine.store_dir == index.directory:
                engine.stop_jobs()


# --- for shells and man ---------------------------------------------------------------------------------------


def completions(args: Namespace, session: Session) -> int:
    """Print what makes a shell complete findling's commands, options and files."""
    import shtab

    script = shtab.complete(_whole_parser(shtab.FILE), args.shell).rstrip()
    # in zsh the script of shtab runs in `eval` alone; the README has `source`
    script = script.replace("$zsh_eval_context[-1] == eval", "$zsh_eval_context[-1] != loadautofunc")
    with session.printing():
        sys.stdout.write(f"{script}\n")
    return FOUND


def _whole_parser(files: dict[str, Any]) -> argparse.ArgumentParser:
    """One parser of all commands, with their operands: for a shell, which completes what is typed."""
    parser = argparse.ArgumentParser("findling", description="Local search over code and documents.")
    parser.add_argument("-V", "--version", action="store_true", help="print the version")
    several = parser.add_subparsers(dest="command")
    for name, command in COMMANDS.items():
        one = several.add_parser(name, help=command.summary, description=command.summary)
        for option in (*command.options, *OWN_OPTIONS):
            action = one.add_argument(*option.spellings, **{**option.about, "help": _plain(option.about["help"])})
            if option.about.get("metavar") in ("FILE", "DIR"):
                action.complete = files  # type: ignore[attr-defined]
        for operand in command.operands:
            nargs = None if operand.arity == "1" else operand.arity
            action = one.add_argument(operand.name, nargs=nargs, choices=operand.choices, help=_plain(operand.help))
            if operand.name in _FILES:
                action.complete = files  # type: ignore[attr-defined]
    return parser


def _plain(text: str) -> str:
    """Without what argparse would fill in."""
    return text.replace("%%", "%").replace("%", "%%")


def man(args: Namespace, session: Session) -> int:
    """Print the man page."""
    with session.printing():
        sys.stdout.write("\n".join(_man_page()) + "\n")
    return FOUND


def _man_page() -> Iterator[str]:
    """Its lines, in the language of ``man`` (man 7 man)."""
    yield f'.TH FINDLING 1 "" "findling {__version__}" "User Commands"'
    yield from (".SH NAME", "findling \\- local search over code and documents, by exact text, by name and by meaning")
    yield from (".SH SYNOPSIS", ".B findling", ".I COMMAND ...", ".SH COMMANDS")
    for name, command in COMMANDS.items():
        yield from _man_command(name, command)
    yield from (".SH OPTIONS OF EVERY COMMAND", *(line for option in OWN_OPTIONS for line in _man_option(option)))
    yield from (".SH EXIT STATUS", "0 found, 1 nothing found, 2 error, 130 interrupted.")
    yield from (".SH FILES", ".TP", ".I .findling/", "The index of a folder, and its configuration (config.toml).")
    yield from (".SH SEE ALSO", ".BR rg (1), .BR git-grep (1)")


def _man_command(name: str, command: Command) -> Iterator[str]:
    yield f".SS findling {_roff(' '.join((name, *map(usage, command.operands))))}"
    yield _roff(f"{command.summary}.")
    for operand in command.operands:
        yield from (".TP", f".I {_roff(operand.metavar)}", _roff(operand.help))
    for option in command.options:
        yield from _man_option(option)


def _man_option(option: Option) -> Iterator[str]:
    value = option.about.get("metavar") or "|".join(option.about.get("choices") or ())
    yield ".TP"
    yield f".B {_roff(', '.join(option.spellings))}{_roff(f' {value}') if value else ''}"
    yield _roff(option.about["help"])


def _roff(text: str) -> str:
    """Text as it is, whatever is in it: a dash stays one, and no line is taken for a request."""
    escaped = text.replace("\\", "\\e").replace("-", "\\-").replace("'", "\\(aq").replace("%%", "%")
    return f"\\&{escaped}" if escaped.startswith(".") else escaped
