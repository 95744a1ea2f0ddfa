"""`findling embed`, `export` and `export-vectors`: what they do, as `commands` does for the others."""

from __future__ import annotations

import json
import sys
from typing import TYPE_CHECKING, Any, Final

from findling.faces.cli.terminal import words
from findling.model.errors import EmbedderUnavailable

if TYPE_CHECKING:
    from argparse import Namespace

    from findling.engine.runs import VectorReport
    from findling.faces.cli.session import Session

FOUND: Final = 0
NOTHING: Final = 1

_NO_VECTORS: Final = "there are no vectors; 'findling embed' makes them"


def embed(args: Namespace, session: Session) -> int:
    """Make the vectors that are missing. Without an embedder that is said, and is no failure."""
    with session.open(args.path) as engine:
        rows: list[tuple[str, str]] = [("root", str(engine.root))]
        try:
            with session.progress() as progress:
                report = engine.embed(force=args.force, progress=progress)
        except EmbedderUnavailable as error:
            rows.append(("embedded", "nothing: no embedding model answers"))
            with session.printing():
                session.view(engine).records([rows], {"available": False, "embedded": 0, "problem": str(error)})
            session.notes([str(error)])
            return FOUND
        model = engine.status().model
        rows += [("model", model), ("embedded", _line(report))]
        value: dict[str, Any] = {
            "available": report.problem is None,
            "model": model,
            "embedded": report.chunks,
            "files": len(report.embedded),
            "unchanged": len(report.skipped),
            "failed": [{"path": file.path, "error": file.detail} for file in report.failed],
        }
        if report.notes:
            value["notes"] = list(report.notes)
        if report.problem is not None:
            value["problem"] = str(report.problem)
        with session.printing():
            session.view(engine).records([rows], value)
        notes = [*report.notes, *(f"{file.path}: {file.detail}" for file in report.failed)]
        session.notes([*notes, *([str(report.problem)] if report.problem else ())])
        return FOUND


def _line(report: VectorReport) -> str:
    line = f"{words.count(report.chunks, 'chunk')} of {words.count(len(report.embedded), 'file')}"
    if report.skipped:
        line += f", {words.count(len(report.skipped), 'file')} unchanged"
    if report.failed:
        line += f", {words.count(len(report.failed), 'file')} not wholly"
    return line


def export(args: Namespace, session: Session) -> int:
    """The documented tables as a SQLite database, of the folder as it is now."""
    with session.open(args.path) as engine:
        notes = list(engine.sync().notes)
        found = engine.export(args.sqlite)
        value = {"file": args.sqlite, "embeddings": found.embeddings, "documents": found.documents}
        rows = [
            ("file", args.sqlite),
            ("embeddings", words.count(found.embeddings, "passage")),
            ("doc_embeddings", words.count(found.documents, "passage")),
        ]
        if found.repeated:
            notes.append(
                f"{words.count(found.repeated, 'passage')} of lines that another passage has a row for are left out"
            )
        notes += [f"{path} has changed since it was indexed, and is no row of doc_embeddings" for path in found.changed]
        if not found.embeddings:
            notes.append(_NO_VECTORS)
        with session.printing():
            session.view(engine).records([rows], value)
        session.notes(notes)
        return FOUND if found.embeddings else NOTHING


def export_vectors(args: Namespace, session: Session) -> int:
    """Every vector as a line of JSON on stdout."""
    with session.open(args.path) as engine:
        written = 0
        for row in engine.vectors(args.model):
            sys.stdout.write(json.dumps(row, ensure_ascii=False) + "\n")
            written += 1
        sys.stdout.flush()
        if not written:
            session.notes([_NO_VECTORS])
        return FOUND if written else NOTHING
