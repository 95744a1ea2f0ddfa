"""The commands about who uses what: callers, callees, impact, trace and map. Must not know how edges are found."""

from __future__ import annotations

from collections.abc import Callable
from typing import TYPE_CHECKING

from findling.faces.cli.terminal import words
from findling.model.errors import InvalidInput
from findling.model.typed_paths import inside
from findling.model.types import EdgeResult

if TYPE_CHECKING:
    from argparse import Namespace

    from findling.engine import Engine
    from findling.faces.cli.session import Session


def callers(args: Namespace, session: Session) -> int:
    return _edges(args, session, lambda engine, **asked: engine.callers(args.name, tests=args.tests, **asked))


def callees(args: Namespace, session: Session) -> int:
    return _edges(args, session, lambda engine, **asked: engine.callees(args.name, **asked))


def impact(args: Namespace, session: Session) -> int:
    if args.diff is not None and args.path is not None:
        raise InvalidInput(
            "Either a name is given or --diff, not both.", remedy="With --diff give at most a folder or a file."
        )
    if args.diff is not None and args.name is not None:
        args.path, args.name = args.name, None  # with --diff the one operand is a folder
    if args.diff is None and args.name is None:
        raise InvalidInput("No name is given.", remedy="Name a definition, or compare with a commit: --diff [REF].")

    def ask(engine: Engine, **asked: object) -> EdgeResult:
        return engine.impact(args.name or "", since=args.diff, steps=args.steps, tests=args.tests, **asked)  # type: ignore[arg-type]

    return _edges(args, session, ask)


def _edges(args: Namespace, session: Session, ask: Callable[..., EdgeResult]) -> int:
    with session.asked(args.path) as opened:
        engine = opened.at(args.ref)
        with session.progress() as progress:
            result = ask(engine, language=args.language, limit=args.limit, progress=progress)
        found = result.edges or result.tests or result.gone
        return session.show(engine, lambda view: view.edges(result), words.edge_notes(result), found=found)


def trace(args: Namespace, session: Session) -> int:
    with session.asked(args.path) as opened:
        engine = opened.at(args.ref)
        with session.progress() as progress:
            result = engine.trace(args.origin, args.goal, language=args.language, progress=progress)
        return session.show(engine, lambda view: view.trace(result), words.graph_notes(result), found=result.steps)


def project_map(args: Namespace, session: Session) -> int:
    with session.asked(args.path) as opened:
        engine = opened.at(args.ref)
        folder = inside(engine.root, args.path) if args.path and args.ref is None else ""
        if engine.scope:  # the search is limited to that folder already
            folder = ""
        with session.progress() as progress:
            result = engine.map(folder, max_tokens=args.max_tokens, progress=progress)
        notes = words.graph_notes(result)
        return session.show(engine, lambda view: view.project_map(result), notes, found=result.files)
