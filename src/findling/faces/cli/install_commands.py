"""`findling install` and `uninstall`: what would be written into settings of coding agents is shown, then asked for."""

from __future__ import annotations

import os
import sys
from argparse import Namespace
from collections.abc import Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Final

from findling.config import find_root
from findling.config.roots import Root
from findling.faces import install as agents
from findling.faces.cli.outcome import ERROR, FOUND, NOTHING
from findling.faces.cli.terminal.safe import write_line
from findling.model.errors import FileAccess, InvalidInput, RootError
from findling.model.plurals import count
from findling.model.typed_paths import as_path

if TYPE_CHECKING:
    from findling.faces.cli.session import Session
    from findling.faces.install import Agent, Change


_WORDS: Final = {
    "add": "findling is added",
    "update": "findling's entry is updated",
    "there": "findling is already there",
    "remove": "findling is removed",
    "absent": "nothing to remove",
    "unsupported": "left out",
    "left_alone": "left alone",
}


def install(args: Namespace, session: Session) -> int:
    """Tell agents of findling."""
    chosen = _chosen(args.agents)
    if args.print:
        for agent in chosen:
            _print_entry(f"{agent.name}, {_shown(agent.file(None))}:", agents.entry(agent))
        return FOUND
    return _change(args, session, chosen, remove=False, hint=args.hint)


def uninstall(args: Namespace, session: Session) -> int:
    """Take out what `install` has put in."""
    everybody = agents.known()
    return _change(args, session, _chosen(args.agents) if args.agents else everybody, remove=True, hint=True)


def _chosen(names: Sequence[str]) -> list[Agent]:
    """Those that were named, else those that are on this machine."""
    table = {agent.id: agent for agent in agents.known()}
    for name in names:
        if name not in table:
            raise InvalidInput(f"There is no agent {name!r}.", remedy=f"Known agents: {', '.join(table)}.")
    found = [table[name] for name in dict.fromkeys(names)] or [agent for agent in table.values() if agent.is_here]
    if not found:
        raise InvalidInput(
            "No coding agent was found on this machine.", remedy=f"Name one with --agent: {', '.join(table)}."
        )
    return found


def _change(args: Namespace, session: Session, chosen: Sequence[Agent], *, remove: bool, hint: bool) -> int:
    here = _project(args, wanted=args.project or (hint and not remove))
    project = here.root if args.project else None
    changes = [agents.planned(agent, project, remove=remove) for agent in chosen]
    if hint and here.root.is_dir():
        changes += agents.planned_hint(here.root, remove=remove)
    if remove and not args.agents:
        changes = [change for change in changes if change.state in ("remove", "left_alone")]
    wanted = [change for change in changes if change.is_to_do]
    if not args.json:
        with session.printing():
            for change in changes:
                _print(change)
    failed = any(change.state == "left_alone" for change in changes)
    agreed = (
        bool(wanted)
        and not args.dry_run
        and (args.yes or session.agreed(f"Write {count(len(wanted), 'file')}?", "writes"))
    )
    written = 0
    for change in wanted if agreed else ():
        try:
            agents.carry_out(change)
            written += 1
        except FileAccess as error:  # the others are no worse for it
            failed = True
            session.notes([str(error)])
    if remove and not changes:
        whose = "the project" if args.project else "this machine"
        session.notes([f"nothing to remove: no coding agent of {whose} has findling in its settings"])
    if wanted:
        session.notes([_done(written, remove=remove) if written else "nothing was written"])
    if args.json:
        session.view(here).records([], {"changes": [_facts(change) for change in changes], "written": written > 0})
    return ERROR if failed else FOUND if changes else NOTHING


def _project(args: Namespace, *, wanted: bool) -> Root:
    """The project that is meant; where none is wanted, and the current folder lies in none, that folder."""
    try:
        return find_root(as_path(args.path))
    except RootError:
        if wanted or args.path:
            raise
        return Root(Path.cwd(), "")


def _print(change: Change) -> None:
    where = f"{change.agent}, {_shown(change.file)}" if change.file else change.agent
    said = f"{_WORDS[change.state]}: {change.why}" if change.why else _WORDS[change.state]
    _print_entry(f"{where}: {said}", change.entry if change.state in ("add", "update") else "")


def _print_entry(heading: str, entry: str) -> None:
    write_line(sys.stdout, heading)
    for line in entry.splitlines():
        write_line(sys.stdout, f"    {line}")


def _facts(change: Change) -> dict[str, str | None]:
    file = None if change.file is None else os.fspath(change.file)
    return {"agent": change.agent, "file": file, "state": change.state, "why": change.why or None}


def _shown(file: Path | None) -> str:
    home = Path.home()
    return "" if file is None else f"~/{file.relative_to(home)}" if file.is_relative_to(home) else os.fspath(file)


def _done(written: int, *, remove: bool) -> str:
    what = "findling was removed" if remove else "restart the agent to see findling's tools"
    return f"{count(written, 'file')} written; {what}"
