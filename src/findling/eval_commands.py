"""`findling eval`: judged queries answered into files, how good the answers are, whether another setting does better.

The queries are a file's, or made from the history of a repository. Must not know how answers are scored or made.
"""

from __future__ import annotations

import json
import shutil
import signal
import sys
import tempfile
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import replace
from pathlib import Path
from typing import TYPE_CHECKING, Any, Final, NamedTuple, cast

from findling.errors import InvalidInput
from findling.terminal import words
from findling.terminal.json import to_json
from findling.terminal.safe import write_line
from findling.typed_paths import as_path
from findling.types import MODES

if TYPE_CHECKING:
    from argparse import Namespace

    from findling.config import Config
    from findling.engine import Engine
    from findling.evaluation.judged import Answer, Judged
    from findling.evaluation.run import Corpus
    from findling.reports import Report
    from findling.session import Session
    from findling.types import Mode

FOUND: Final = 0
NOTHING: Final = 1

MODE: Final = "mode="
"""How a setting to compare with is told from the file of a run."""

QUESTIONS, RUN, REPORT, CORPORA = "questions.jsonl", "run.jsonl", "report.json", "corpora"
RELIABILITY, LATENCY = "reliability", "latency"
PICTURES = (".svg", ".png")


class _Asked(NamedTuple):
    """What one setting, or one file, answers."""

    name: str
    run: Mapping[str, Answer]


def run(args: Namespace, session: Session) -> int:
    if args.from_history is not None:
        return _from_history(args, session)
    return _judged(args, session)


# --- queries of a file --------------------------------------------------------------------------------------------


def _judged(args: Namespace, session: Session) -> int:
    from findling.evaluation import run as judged_run
    from findling.evaluation.judged import load_queries
    from findling.roots import Root

    file, out, folder = as_path(args.queries), as_path(args.run), as_path(args.corpora)
    if file is None:
        raise InvalidInput("QUERIES is missing.", remedy="Name a file of judged queries, or give --from-history.")
    if out is None:
        raise InvalidInput("--run is missing.", remedy="Name the file to write the answers to.")
    if args.out or args.keep_copy:
        raise InvalidInput(
            "--out and --keep-copy are for --from-history.", remedy="Use --run, and --plots for pictures."
        )
    queries = judged_run.of_repositories(load_queries(file), args.repos)
    if not queries:
        session.notes([f"there are no queries in {file}"])
        return NOTHING
    others = _others(args.compare)
    if folder is None:
        found = _read_runs(out, others)
        root = Path.cwd()
    else:
        corpora = judged_run.corpora(folder, queries)
        found = _ask_all(args, session, corpora, out, others, not_over=file)
        root = folder.resolve()
    plots = as_path(args.plots)
    report = _report(queries, found, [])
    session.view(Root(root, "")).evaluation(_with_pictures(report, plots) if plots is not None else report)
    return FOUND


def _others(compare: Sequence[str]) -> list[str]:
    """What was typed behind each --compare. Raises InvalidInput for a mode that there is none of."""
    for text in compare:
        if text.startswith(MODE) and text[len(MODE) :] not in MODES:
            raise InvalidInput(f"There is no mode {text[len(MODE) :]!r}.", remedy=f"There are: {', '.join(MODES)}.")
    return list(dict.fromkeys(compare))


def _read_runs(run_file: Path, others: Sequence[str]) -> list[_Asked]:
    """Runs that are there already, the reported one first."""
    from findling.evaluation.judged import load_run

    settings = [text for text in others if text.startswith(MODE)]
    if settings:
        raise InvalidInput(f"{settings[0]} is a setting, and nothing is asked without --corpora.", remedy="Name a run.")
    return [_Asked(path.name, load_run(path)) for path in (run_file, *map(Path, others))]


def _ask_all(
    args: Namespace,
    session: Session,
    corpora: Sequence[Corpus],
    out: Path,
    others: Sequence[str],
    *,
    not_over: Path,
    config: Config | None = None,
) -> list[_Asked]:
    """The answers of the setting that is reported, written to ``out``, then those of the others: of a setting written
    beside it, of a file read."""
    from findling.evaluation.judged import load_run
    from findling.evaluation.run import RunFile

    known = {text: load_run(Path(text)) for text in others if not text.startswith(MODE)}
    found: list[_Asked] = []
    for setting in (f"{MODE}{args.mode}", *others):
        if setting in known:
            found.append(_Asked(Path(setting).name, known[setting]))
            continue
        target = out if not found else out.with_name(f"{out.stem}.{setting.removeprefix(MODE)}{out.suffix}")
        with RunFile(target, not_over=not_over) as lines:
            for corpus in corpora:
                with _engine(args, session, corpus, config) as engine:
                    said = _ask(args, session, engine, corpus, cast("Mode", setting.removeprefix(MODE)), lines.write)
                write_line(sys.stderr, said if not others else f"{setting}: {said}")
        found.append(_Asked(setting, lines.answers))
    return found


@contextmanager
def _engine(args: Namespace, session: Session, corpus: Corpus, config: Config | None) -> Iterator[Engine]:
    from findling.engine import Engine
    from findling.evaluation.run import nothing_above

    with nothing_above(corpus.root):
        opened = session.open_root(corpus.root) if config is None else Engine.open(root=corpus.root, config=config)
        with opened as engine:
            yield engine


def _ask(
    args: Namespace,
    session: Session,
    engine: Engine,
    corpus: Corpus,
    mode: Mode,
    write: Callable[[dict[str, Any]], None],
) -> str:
    """Index a repository, answer its queries into the run; what there is to say of it."""
    from findling.evaluation.run import ask

    with session.progress() as progress:
        report = engine.index(progress=progress)
        for line in ask(engine, corpus.queries, mode=mode, limit=args.limit, progress=progress):
            write(line)
    session.notes([f"{corpus.name}: {note}" for note in report.notes])
    asked = words.count(len(corpus.queries), "query")
    return f"{corpus.name}: {words.count(report.files, 'file')}, indexed in {words.seconds(report.took_ms)}; {asked}"


# --- queries from a repository's own history ----------------------------------------------------------------------


def _from_history(args: Namespace, session: Session) -> int:
    from findling.evaluation.from_history import Sample, from_history
    from findling.evaluation.judged import load_queries
    from findling.evaluation.run import Corpus
    from findling.roots import Root

    for option in ("queries", "corpora", "run", "repos", "plots"):
        if getattr(args, option):
            raise InvalidInput("--from-history makes its own queries, answers and corpora.", remedy="Give --out alone.")
    out = as_path(args.out)
    if out is None:
        raise InvalidInput("--out is missing.", remedy="Name the folder to write questions, answers and numbers to.")
    others = _others(args.compare)
    with session.open(args.from_history or None) as engine:
        root, below, wanted, config = engine.root, engine.scope, engine.wanted, engine.config
    # No git lists the copy: what is wanted was copied, and all of it counts.
    config = replace(config, index=replace(config.index, hidden=True, include=(), exclude=()))
    made = [out / name for name in (QUESTIONS, RUN, REPORT)]
    _make_folder(out)
    sample = Sample(args.commits, args.comments, args.seed)
    kept = out / CORPORA
    with _scratch(kept if args.keep_copy else None) as into:
        with session.progress() as progress:
            history = from_history(root, wanted, into, sample, below=below, but=out, progress=progress)
        _write(made[0], "".join(f"{json.dumps(line, ensure_ascii=False)}\n" for line in history.lines))
        queries = load_queries(made[0])
        corpus = Corpus(history.repo, history.root, queries)
        found = _ask_all(args, session, [corpus], made[1], others, not_over=made[0], config=config)
    report = _with_pictures(_report(queries, found, history.said, made), out)
    _write(made[2], json.dumps(to_json(report), ensure_ascii=False, indent=1) + "\n")
    session.view(Root(root, "")).evaluation(report)
    return FOUND


@contextmanager
def _scratch(kept: Path | None) -> Iterator[Path]:
    """Where the copy is made: a folder that stays, or one that is gone afterwards, also after SIGTERM."""
    if kept is not None:
        yield kept
        return
    folder = Path(tempfile.mkdtemp(prefix="findling-eval-"))
    before = signal.signal(signal.SIGTERM, _leave)
    try:
        yield folder
    finally:
        shutil.rmtree(folder, ignore_errors=True)
        signal.signal(signal.SIGTERM, before)


def _leave(number: int, _: object) -> None:
    sys.exit(128 + number)


# --- what is made of the answers ----------------------------------------------------------------------------------


def _report(
    queries: Sequence[Judged], found: Sequence[_Asked], said: Sequence[str], written: Sequence[Path] = ()
) -> Report:
    from findling.evaluation.scoring import compare, evaluate
    from findling.reports import Compared, Report

    first, *others = found
    compared = [
        Compared(other.name, evaluate(queries, other.run), compare(queries, first.run, other.run)) for other in others
    ]
    return Report(first.name, evaluate(queries, first.run), tuple(compared), tuple(map(str, written)), tuple(said))


def _with_pictures(report: Report, folder: Path) -> Report:
    """The same, with what was drawn of it in a folder."""
    from findling.evaluation import plots

    _make_folder(folder)
    written = [*report.written]
    if report.evaluation.reliability:
        written += _draw(folder / RELIABILITY, plots.reliability(report.evaluation.reliability))
    points = plots.points(report)
    if points:
        written += _draw(folder / LATENCY, plots.latency(points))
    return replace(report, written=tuple(written))


def _draw(path: Path, picture: str) -> list[str]:
    """A picture in each of `PICTURES`; which files that are."""
    from findling.evaluation.png import png

    drawn = [_write(path.with_suffix(PICTURES[0]), picture)]
    return [*drawn, _write(path.with_suffix(PICTURES[1]), png(picture))]


def _make_folder(folder: Path) -> None:
    try:
        folder.mkdir(parents=True, exist_ok=True)
    except OSError as error:
        raise InvalidInput(f"{folder} cannot be made: {error.strerror or error}.", remedy="Name another.") from error


def _write(path: Path, data: str | bytes) -> str:
    try:
        path.write_bytes(data.encode("utf-8") if isinstance(data, str) else data)
    except OSError as error:
        raise InvalidInput(f"{path} cannot be written: {error.strerror or error}.") from error
    return str(path)
