"""One command's surroundings: the engine for what was typed, which view prints the answer, where notes and progress go.

Must not know any command.
"""

from __future__ import annotations

import os
import shlex
import shutil
import sys
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from typing import TYPE_CHECKING

from findling import engine
from findling.faces.cli import terminal
from findling.faces.cli.outcome import FOUND, NOTHING
from findling.faces.cli.terminal import words
from findling.faces.cli.terminal.lines import Places, current_folder
from findling.faces.cli.terminal.progress import ProgressDisplay, show_progress
from findling.faces.cli.terminal.safe import is_terminal, make_encodable, silence, wants_style, write_line
from findling.model.errors import FindlingError, InvalidInput, NotFound, RootError
from findling.model.typed_paths import CHECK, as_path, lies_in, nearest_folder

if TYPE_CHECKING:
    from argparse import Namespace
    from pathlib import Path

    from findling.config.roots import Root
    from findling.engine import Engine, Repositories
    from findling.faces.cli.main import OpenEngine
    from findling.faces.cli.terminal import JsonView, PlainView, PrettyView


PROMPT_LINES = 7
"""Lines of the screen that an answer leaves free: for the typed command, the command that shows more, the count of
files, a note, and the next prompt."""


class Session:
    """The streams of one command: which view prints its answer, and where notes and progress go."""

    def __init__(self, args: Namespace, open_engine: OpenEngine) -> None:
        for stream in (sys.stdout, sys.stderr):
            make_encodable(stream)
        self._args = args
        self._open_engine = open_engine
        self.terminal = is_terminal(sys.stdout)
        self.reader_left = False
        """Whether whoever reads stdout has left before the end."""
        color = getattr(args, "color", "auto")
        self._pretty = wants_style(sys.stdout, os.environ) if color == "auto" else color != "never"

    def open(self, path: str | None, *, file_alone: bool = False) -> Engine:
        """The engine for what was typed as PATH, with --root and --cache. ``file_alone``: as for `Engine.open`."""
        root = self._args.root
        ref = getattr(self._args, "ref", None)
        try:
            if path and ref is not None:  # where it has to be: it need not be on disk
                return self._open_engine(as_path(path), root=as_path(root), cache=self._args.cache, ref=ref)
            alone = {"file_alone": True} if file_alone and path and os.path.isfile(path) else {}  # noqa: PTH113 - a Path would cost the start
            return self._open_engine(as_path(path), root=as_path(root), cache=self._args.cache, **alone)
        except (RootError, NotFound) as error:
            query = getattr(self._args, "query", None) or getattr(self._args, "pattern", None)
            if query and path and error.remedy == CHECK and not os.path.lexists(path):
                error.remedy = f"{error.remedy} Put quotes around a query of several words.".strip()
            raise

    @contextmanager
    def asked(self, path: str | None, *, file_alone: bool = True) -> Iterator[Engine | Repositories]:
        """What a question about PATH is asked of: its project, or all repositories in it where it is a folder of some.
        What could not be searched is noted at the end. ``file_alone``: as for `Engine.open`."""
        with self._open_folder(path, file_alone=file_alone) as opened:
            several = engine.repositories_of(opened)
            if several is None:
                yield opened
                return
            with several:
                yield several
                self.note_problems(several.problems)
                if several.left_out:
                    left = words.count(several.left_out, "repository")
                    self.notes([f"{left} more in this folder not searched; to search one, name it as PATH"])

    @contextmanager
    def every(self, path: str | None) -> Iterator[Mapping[str, Engine]]:
        """By name the projects that PATH means, at the ref that was typed: one, or all repositories in it and the files
        beside them."""
        with self.asked(path, file_alone=False) as opened:
            found = opened.at(getattr(self._args, "ref", None))
            yield found.engines if isinstance(found, engine.Repositories) else {"": found}

    def _open_folder(self, path: str | None, *, file_alone: bool) -> Engine:
        """As `open`; a folder of repositories is not opened at the ref, which only they have."""
        if path and getattr(self._args, "ref", None) is not None and os.path.isdir(path):  # noqa: PTH112 - a Path would cost the start
            opened = self._open_engine(as_path(path), root=as_path(self._args.root), cache=self._args.cache)
            if engine.repositories_of(opened) is not None:
                return opened
        return self.open(path, file_alone=file_alone)

    def note_problems(self, problems: Mapping[str, FindlingError]) -> None:
        """What could not be asked, by name, and why."""
        self.notes([f"{name}: {error}" for name, error in problems.items()])

    def open_with(self, file: str) -> Engine:
        """The index that FILE is in, or would be: that of its folder's root, unless only the current folder has one.

        Its folder counts, not the file: a link is looked up where it lies, and of a deleted file the folder usually
        stays.
        """
        own = self.open(nearest_folder(file))
        if own.store_dir.is_dir() or (own.root / ".git").exists():
            return own
        try:
            here = self.open(None)  # its index may lie in the cache, where nothing in the folder tells of it
        except RootError:
            return own
        return here if here.store_dir.is_dir() and lies_in(here.root, file) else own

    def open_for(self, file: str) -> Engine:
        """The index that FILE is expected in: that of the current folder's project if it has one, else FILE's own.

        In a folder of repositories, that of the repository which FILE lies in; for the folder itself its own.
        """
        here: Engine | None = None
        try:
            here = self.open(None)
            if os.path.realpath(file) == str(here.root):
                return here
            if lies_in(here.root, file) and (several := engine.repositories_of(here)) is not None:
                with several:
                    found, _ = several.of(several.paths_meant(os.path.abspath(file))[0])  # noqa: PTH100 - a link is itself
                return self.open_root(found.root)
            if self._args.root is not None or (here.store_dir.is_dir() and lies_in(here.root, file)):
                return here
            return self.open(nearest_folder(file))
        except RootError:  # a folder that is nobody's project
            return self.open(nearest_folder(file)) if here is None else here

    def open_root(self, root: Path) -> Engine:
        """The engine for exactly this folder."""
        return self._open_engine(None, root=root, cache=self._args.cache)

    def view(self, searched: Engine | Repositories | Root) -> JsonView | PlainView | PrettyView:
        if self._args.json:
            return terminal.JsonView(sys.stdout, searched.root)
        if self._pretty:
            return terminal.PrettyView(sys.stdout, self.places(searched), repeated=self._repeated())
        return terminal.PlainView(sys.stdout, self.places(searched), terminal=self.terminal, repeated=self._repeated())

    def _repeated(self) -> str:
        """What was typed that says which index is asked, as it stands in a command. Not --store: its URL may have a
        password."""
        path = getattr(self._args, "path", None)
        repeated = [path if os.path.lexists(path) else f"./{path}"] if path else []  # else it would be a name
        for option in ("root", "collection", "ref", "config"):
            value = getattr(self._args, option, None)
            repeated += [f"--{option}={value}"] if value else []
        return shlex.join([*repeated, *(["--cache"] if getattr(self._args, "cache", False) else [])])

    @property
    def screen_lines(self) -> int | None:
        """How many lines of an answer are seen at once; None where nobody looks at a screen."""
        if not self.terminal or self._args.json:
            return None
        return max(0, shutil.get_terminal_size().lines - PROMPT_LINES)

    @contextmanager
    def printing(self) -> Iterator[None]:
        """A reader who has seen enough (head, a pager that was left) ends what is printed inside, and nothing else."""
        try:
            yield
            sys.stdout.flush()
        except BrokenPipeError:
            silence(sys.stdout)
            self.reader_left = True

    def show(
        self,
        searched: Engine | Repositories | Root,
        write: Callable[[JsonView | PlainView | PrettyView], None],
        notes: Sequence[str] = (),
        *,
        found: object = True,
    ) -> int:
        """Have the view of what was asked ``write`` an answer, then its notes. The exit status: whether anything was
        ``found``."""
        with self.printing():
            write(self.view(searched))
        self.notes(notes)
        return FOUND if found else NOTHING

    def places(self, searched: Engine | Repositories | Root) -> Places:
        return Places(searched.root, current_folder())

    def progress(self) -> ProgressDisplay:
        return show_progress(sys.stderr, os.environ)

    def notes(self, notes: Sequence[str]) -> None:
        """Sentences for people, one a line. JSON carries what they say in fields of its own."""
        if self._args.json:
            return
        sys.stdout.flush()
        try:
            for note in notes:
                write_line(sys.stderr, f"note: {note}")
        except OSError:  # an answer is no worse for notes that nobody can read
            silence(sys.stderr)

    def agreed(self, question: str, does: str) -> bool:
        """Whether somebody at a terminal says yes. ``does``: what ``--yes`` does without asking, as a verb.

        Raises `InvalidInput` where there is no terminal to ask on.
        """
        if not is_terminal(sys.stdin):
            raise InvalidInput(
                f"Nothing was changed: there is no terminal to ask on. ({question})",
                remedy=f"--yes {does} without asking, --dry-run only shows.",
            )
        write_line(sys.stderr, f"{question} [y/N] ")
        sys.stderr.flush()
        return sys.stdin.readline().strip().lower() in ("y", "yes")
