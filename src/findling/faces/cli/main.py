"""The command line's outer shell: it chooses the command and reports failures. Must not know what commands do.

Exit status: 0 found, 1 nothing found, 2 error, 130 interrupted. Answers go to stdout, everything else to stderr; a
failure is one line. FINDLING_DEBUG=1 shows the traceback as well. Only what the typed command needs is imported.
"""

from __future__ import annotations

import gc
import os
import sys
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import contextmanager, suppress
from importlib import import_module
from typing import TYPE_CHECKING, Final

from findling import __version__, config, engine, outbound
from findling.faces import cli
from findling.faces.cli import terminal
from findling.faces.cli.outcome import ERROR, FOUND
from findling.model.errors import FileAccess, FindlingError, InvalidInput

if TYPE_CHECKING:
    from argparse import Namespace
    from pathlib import Path

    from findling.engine import Engine

    OpenEngine = Callable[..., Engine]
    Run = Callable[[Namespace, cli.Session], int]

INTERRUPTED: Final = 130

_PRINTING: Final = ("findling.faces.cli.terminal", "findling.faces.cli.session", "findling.faces.cli.main", "rich.")
"""The modules that write to stdout, beside the commands."""

STORE_VARIABLE: Final = "FINDLING_STORE"
COLLECTION_VARIABLE: Final = "FINDLING_COLLECTION"
SERVERS: Final = ("serve", "ui")
GARBAGE_THRESHOLD: Final = 300_000
"""New objects between two runs of the garbage collector, in a process that answers one command. With Python's default,
imports take a tenth longer, and so does comparing 60,000 files with the disk; neither leaves garbage in cycles."""


def main(argv: Sequence[str] | None = None, *, open_engine: OpenEngine | None = None) -> int:
    """Run one command and return the exit status. ``argv`` without the program's name; None takes sys.argv."""
    arguments = list(sys.argv[1:] if argv is None else argv)
    os.environ.setdefault("OPENBLAS_NUM_THREADS", "1")  # nothing here multiplies matrices; starting threads for it
    if not arguments or arguments[0] not in SERVERS:  # makes importing numpy take a third longer
        gc.set_threshold(GARBAGE_THRESHOLD)
    _open_closed_streams()
    try:
        status = _run(arguments, open_engine or _open_engine)
        sys.stdout.flush()
    except FindlingError as error:
        _fail(error, as_json="--json" in arguments)
        return ERROR
    except BrokenPipeError:
        terminal.silence(sys.stdout)  # The reader has seen enough: head, or a pager that was left.
        return FOUND
    except KeyboardInterrupt:
        _tell("findling: interrupted")
        return INTERRUPTED
    except SystemExit:
        raise
    except BaseException as error:  # noqa: BLE001 - the outermost seam: a defect is one line for people, too
        _fail(_outermost(error), as_json="--json" in arguments)
        return ERROR
    finally:
        if argv is None:
            gc.freeze()  # else Python collects garbage twice at exit, which takes a tenth of a short command
    return status


def _open_closed_streams() -> None:
    """Open /dev/null for each standard stream that the caller closed. Otherwise the next file that is opened, perhaps
    one of the index, would get its descriptor and what is printed."""
    for name, mode in (("stdin", "r"), ("stdout", "w"), ("stderr", "w")):
        if getattr(sys, name) is None:
            stream = open(os.devnull, mode, encoding="utf-8")  # noqa: PTH123, SIM115 - for the whole process
            os.set_inheritable(
                stream.fileno(), True
            )  # also for child processes, whose pipes would otherwise get this descriptor
            setattr(sys, name, stream)


def _open_engine(
    path: Path | None, *, root: Path | None, cache: bool, ref: str | None = None, file_alone: bool = False
) -> Engine:
    opened = engine.Engine.open(path, root=root, cache=cache, ref=ref, file_alone=file_alone)
    if opened.log_level:
        outbound.to_stderr(opened.log_level)
    return opened


def _run(arguments: list[str], open_engine: OpenEngine) -> int:
    if arguments[:1] == ["help"]:
        arguments = [*arguments[1:2], "--help"]
    name = arguments[0] if arguments else ""
    if name in ("-h", "--help", "-V", "--version"):
        if name in ("-V", "--version"):
            sys.stdout.write(f"findling {__version__}\n")
        else:
            sys.stdout.write(cli.overview())
        return FOUND
    if not arguments:
        sys.stderr.write(cli.overview())
        return ERROR
    if name not in cli.COMMANDS:
        raise InvalidInput(f"There is no command {name!r}.", remedy=_instead_of(arguments))
    try:
        args = cli.parse(name, arguments[1:])
    except SystemExit:  # help was asked for, and is printed
        return FOUND
    with _configured_by(args.config, {STORE_VARIABLE: args.store, COLLECTION_VARIABLE: args.collection}):
        module, _, function = cli.COMMANDS[name].run.partition(":")
        run: Run = getattr(import_module(f"{__package__}.{module}"), function)
        return run(args, cli.Session(args, open_engine))


@contextmanager
def _configured_by(file: str | None, variables: Mapping[str, str | None]) -> Iterator[None]:
    """Put ``--config`` and the other ``variables`` into the environment, where this process and its children read
    them."""
    given = dict(variables)
    if file is not None:
        given[config.CONFIG_VARIABLE] = os.path.abspath(os.path.expanduser(file))  # noqa: PTH100, PTH111
    before = {name: os.environ.get(name) for name, value in given.items() if value is not None}
    os.environ.update({name: value for name, value in given.items() if value is not None})
    try:
        yield
    finally:
        for name, value in before.items():
            if value is None:
                del os.environ[name]
            else:
                os.environ[name] = value


def _instead_of(arguments: list[str]) -> str:
    """The command that was meant, to copy; without one like it, the search for the words that were typed."""
    import shlex
    from difflib import get_close_matches

    close = get_close_matches(arguments[0], cli.COMMANDS, n=1)
    if close:
        return f"Did you mean: {shlex.join(['findling', *close, *arguments[1:]])}"
    query = shlex.quote(" ".join(arguments))
    return f"'findling --help' lists the commands. To search: findling search {query}"


# --- failures --------------------------------------------------------------------------------------------------


def _outermost(error: BaseException) -> FindlingError:
    """An unexpected exception as an error with a message for people."""
    if isinstance(error, OSError) and _raised_by_printing(error):
        return FileAccess(
            f"The answer cannot be written to stdout: {error.strerror or error}.",
            remedy="Check that the disk it goes to has room.",
        )
    text = f"unexpected {type(error).__name__}: {error}"
    return FindlingError(text, remedy="Set FINDLING_DEBUG=1 to see where.")


def _fail(error: FindlingError, *, as_json: bool) -> None:
    if os.environ.get("FINDLING_DEBUG") == "1":
        import traceback

        traceback.print_exc()
    try:
        if as_json:
            terminal.write_json(sys.stdout, terminal.error_to_json(error))
        sys.stdout.flush()
    except OSError:  # stdout itself is what failed: a full disk, a closed pipe; stderr still says so
        terminal.silence(sys.stdout)
    _tell(f"findling: {error}")


def _tell(line: str) -> None:
    with suppress(OSError):  # where stderr cannot be written either, the exit status is all there is to say
        terminal.make_encodable(sys.stderr)
        terminal.write_line(sys.stderr, line)


def _raised_by_printing(error: OSError) -> bool:
    """Whether writing to stdout failed: the modules that print open no files."""
    trace = error.__traceback__
    module = ""
    while trace is not None:
        module = trace.tb_frame.f_globals.get("__name__", "")
        trace = trace.tb_next
    return module.startswith(_PRINTING) or module.endswith("commands")
