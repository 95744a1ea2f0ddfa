"""`findling eval`: judged queries answered into files, how good the answers are, whether another setting does better.

The queries are a file's, or made from the history of a repository. Must not know how answers are scored or made.
"""

from __future__ import annotations

import json
import signal
import sys
import tempfile
from collections.abc import Callable, Collection, Iterator, Mapping, Sequence
from contextlib import ExitStack, contextmanager
from pathlib import Path
from typing import TYPE_CHECKING, Any, NamedTuple

from msgspec.structs import replace

from findling.config import Config, Root
from findling.engine import Engine
from findling.evaluation import plots as pictures
from findling.evaluation.from_history import Sample, from_history
from findling.evaluation.judged import Answer, Judged, load_queries, load_run
from findling.evaluation.run import (
    MODE,
    Corpus,
    RunFile,
    Setting,
    ask,
    check_embedder,
    configured,
    is_setting,
    kept_index,
    nothing_above,
    of_repositories,
    open_apart,
    parse,
)
from findling.evaluation.run import corpora as corpora_of
from findling.evaluation.scoring import compare, evaluate
from findling.faces.cli.outcome import FOUND, NOTHING
from findling.faces.cli.terminal import words
from findling.faces.cli.terminal.json import to_json
from findling.faces.cli.terminal.safe import write_line
from findling.model.errors import InvalidInput
from findling.model.reports import Compared, Report
from findling.model.typed_paths import as_path
from findling.model.types import Mode
from findling.search.query import MAX_QUERY, shortened

if TYPE_CHECKING:
    from argparse import Namespace

    from findling.faces.cli.session import Session


QUESTIONS, RUN, REPORT, CORPORA = "questions.jsonl", "run.jsonl", "report.json", "corpora"


class _Asked(NamedTuple):
    """The answers of one setting or of one file of a run."""

    name: str
    run: Mapping[str, Answer]


class _How(NamedTuple):
    """How one repository is asked in one setting. ``config`` None: as the repository is configured. ``apart``: with an
    index of its own, so that the index of other settings stays as it is; ``kept`` is the folder of one that stays."""

    config: Config | None = None
    apart: bool = False
    kept: Path | None = None


def run(args: Namespace, session: Session) -> int:
    return _judged(args, session) if args.from_history is None else _from_history(args, session)


# --- queries of a file --------------------------------------------------------------------------------------------


def _judged(args: Namespace, session: Session) -> int:
    file, out, folder = as_path(args.queries), as_path(args.run), as_path(args.corpora)
    if file is None:
        raise InvalidInput("QUERIES is missing.", remedy="Name a file of judged queries, or give --from-history.")
    if out is None:
        raise InvalidInput("--run is missing.", remedy="Name the file to write the answers to.")
    if args.out or args.keep_copy:
        raise InvalidInput(
            "--out and --keep-copy are for --from-history.", remedy="Use --run, and --plots for pictures."
        )
    plots = as_path(args.plots)
    if plots is not None and not pictures.available():
        raise InvalidInput(f"--plots: {pictures.NOT_INSTALLED}.", remedy=pictures.INSTALL)
    queries = of_repositories(load_queries(file), args.repos)
    if not queries:
        session.notes([f"there are no queries in {file}"])
        return NOTHING
    reported, others = _settings(args)
    if folder is None:
        found = _read_runs(out, others)
        root = Path.cwd()
    else:
        corpora = corpora_of(folder, queries)
        checked = _Checked(session)
        plan = {
            (setting.text, corpus.name): checked.how(setting, corpus.root, kept=args.cache)
            for setting in others
            if not isinstance(setting, Path)
            for corpus in corpora
        }
        found = _ask_all(args, session, corpora, out, reported, others, plan.get, not_over=file)
        root = folder.resolve()
        session.notes(_cut(queries))
    report = _report(queries, found, [])
    session.view(Root(root, "")).evaluation(_with_pictures(report, plots) if plots is not None else report)
    return FOUND


def _cut(queries: Sequence[Judged]) -> list[str]:
    """A note about queries that were cut because they are too long."""
    cut = [query.id for query in queries if shortened(query.text)[1]]
    if not cut:
        return []
    others = f" and {len(cut) - 1} more" if len(cut) > 1 else ""
    return [f"only the first {MAX_QUERY:,} characters of {cut[0]}{others} were searched for"]


def _settings(args: Namespace) -> tuple[Setting, list[Setting | Path]]:
    """The setting that is reported, and each --compare as a setting or the file of a run. Raises as `parse`."""
    texts = dict.fromkeys(args.compare)
    reported = parse(f"{MODE}={args.mode}", args.mode)
    return reported, [parse(text, args.mode) if is_setting(text) else Path(text) for text in texts]


class _Checked:
    """Checks all settings before the first query is asked: their configuration, and that their model answers."""

    def __init__(self, session: Session) -> None:
        self._session = session
        self._answering: list[Config] = []
        self._said: set[str] = set()

    def how(self, setting: Setting, root: Path, *, kept: bool) -> _How:
        """How ``root`` is asked; with ``kept`` its index stays in the user's cache. Raises what `configured` and
        `check_embedder` do."""
        if not setting.options:
            return _How()
        config, warnings = configured(setting, root)
        if config not in self._answering:
            check_embedder(setting, config)
            self._answering.append(config)
        new = [said for warning in warnings if (said := f"{setting.text}: {warning}") not in self._said]
        self._said.update(new)
        self._session.notes(new)
        return _How(config, apart=True, kept=kept_index(root, config) if kept else None)


def _read_runs(run_file: Path, others: Sequence[Setting | Path]) -> list[_Asked]:
    """Runs that are there already, the reported one first."""
    paths = [run_file]
    for other in others:
        if not isinstance(other, Path):
            raise InvalidInput(
                f"{other.text} is a setting, and settings need --corpora.", remedy="Name the file of an older run."
            )
        paths.append(other)
    return [_Asked(path.name, load_run(path)) for path in paths]


def _ask_all(
    args: Namespace,
    session: Session,
    corpora: Sequence[Corpus],
    out: Path,
    reported: Setting,
    others: Sequence[Setting | Path],
    how: Callable[[tuple[str, str]], _How | None],
    *,
    not_over: Path,
) -> list[_Asked]:
    """The answers of the setting that is reported, written to ``out``, then those of the others: of a setting written
    beside it, of a file read. ``how`` a repository is asked is known by the setting's text and the repository's name;
    None is as `_How()`."""
    known = {path: load_run(path) for path in others if isinstance(path, Path)}
    found: list[_Asked] = []
    for setting in (reported, *others):
        if isinstance(setting, Path):
            found.append(_Asked(setting.name, known[setting]))
            continue
        target = out if not found else out.with_name(f"{out.stem}.{setting.file_part}{out.suffix}")
        with RunFile(target, not_over=not_over) as lines:
            for corpus in corpora:
                with _engine(session, corpus, how((setting.text, corpus.name)) or _How()) as engine:
                    name = corpus.name if not others else f"{setting.text}: {corpus.name}"
                    said = _ask(args, session, engine, name, corpus.queries, setting.mode, lines.write)
                write_line(sys.stderr, said)
        found.append(_Asked(setting.text, lines.answers))
    return found


@contextmanager
def _engine(session: Session, corpus: Corpus, how: _How) -> Iterator[Engine]:
    with ExitStack() as stack:
        stack.enter_context(nothing_above(corpus.root))
        if how.config is None:
            opened = session.open_root(corpus.root)
        elif how.apart:
            opened = open_apart(corpus.root, stack.enter_context(_scratch(how.kept)), how.config)
        else:
            opened = Engine.open(root=corpus.root, config=how.config)
        yield stack.enter_context(opened)


def _ask(
    args: Namespace,
    session: Session,
    engine: Engine,
    name: str,
    queries: Sequence[Judged],
    mode: Mode,
    write: Callable[[dict[str, Any]], None],
) -> str:
    """Index a repository and write the answers to its queries; gives a sentence about it, which is called ``name``."""
    with session.progress() as progress:
        report = engine.index(progress=progress)
        for line in ask(engine, queries, mode=mode, limit=args.limit, progress=progress):
            write(line)
    session.notes([f"{name}: {note}" for note in report.notes])
    asked = words.count(len(queries), "query")
    return f"{name}: {words.count(report.files, 'file')}, indexed in {words.seconds(report.took_ms)}; {asked}"


# --- queries from a repository's own history ----------------------------------------------------------------------


def _from_history(args: Namespace, session: Session) -> int:
    for option in ("queries", "corpora", "run", "repos", "plots"):
        if getattr(args, option):
            raise InvalidInput("--from-history makes its own queries, answers and corpora.", remedy="Give only --out.")
    out = as_path(args.out)
    if out is None:
        raise InvalidInput("--out is missing.", remedy="Name the folder to write questions, answers and numbers to.")
    reported, others = _settings(args)
    with session.open(args.from_history or None) as engine:
        root, below, wanted, config = engine.root, engine.scope, engine.wanted, engine.config
    checked = _Checked(session)
    plan = {reported.text: _How(_of_copy(config))}
    for setting in others:
        if not isinstance(setting, Path):
            asked = checked.how(setting, root, kept=False)
            plan[setting.text] = asked._replace(config=_of_copy(asked.config or config, setting.keys))
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
        found = _ask_all(
            args, session, [corpus], made[1], reported, others, lambda asked: plan[asked[0]], not_over=made[0]
        )
    report = _report(queries, found, history.said, made)
    if pictures.available():
        report = _with_pictures(report, out)
    else:
        session.notes([f"{pictures.NOT_INSTALLED}: {pictures.INSTALL}"])
    _write(made[2], json.dumps(to_json(report), ensure_ascii=False, indent=1) + "\n")
    session.view(Root(root, "")).evaluation(report)
    return FOUND


def _of_copy(config: Config, typed: Collection[str] = ()) -> Config:
    """The configuration for a copy. It holds only wanted files and git does not list it, so all of it is indexed, but
    for ``typed`` options that exclude files. Raises InvalidInput for options that have no effect on a copy."""
    if "index.hidden" in typed:
        raise InvalidInput(
            "index.hidden has no effect on the copy: it decides what is copied.",
            remedy="Configure it, or ask about the repository itself with --corpora.",
        )
    index = config.index
    include = index.include if "index.include" in typed else ()
    exclude = index.exclude if "index.exclude" in typed else ()
    return replace(config, index=replace(index, hidden=True, include=include, exclude=exclude))


@contextmanager
def _scratch(kept: Path | None) -> Iterator[Path]:
    """A folder for a copy or an index: ``kept``, or a temporary one that is deleted at the end, also after SIGTERM."""
    if kept is not None:
        yield kept
        return
    before = signal.signal(signal.SIGTERM, _leave)
    try:
        with tempfile.TemporaryDirectory(prefix="findling-eval-", ignore_cleanup_errors=True) as folder:
            yield Path(folder)
    finally:
        signal.signal(signal.SIGTERM, before)


def _leave(number: int, _: object) -> None:
    sys.exit(128 + number)


# --- what is made of the answers ----------------------------------------------------------------------------------


def _report(
    queries: Sequence[Judged], found: Sequence[_Asked], said: Sequence[str], written: Sequence[Path] = ()
) -> Report:
    first, *others = found
    compared = [
        Compared(other.name, evaluate(queries, other.run), compare(queries, first.run, other.run)) for other in others
    ]
    return Report(first.name, evaluate(queries, first.run), tuple(compared), tuple(map(str, written)), tuple(said))


def _with_pictures(report: Report, folder: Path) -> Report:
    """The same report, with the pictures that were drawn into a folder."""
    _make_folder(folder)
    drawn: dict[str, dict[str, bytes]] = {}
    if report.evaluation.reliability:
        drawn["reliability"] = pictures.reliability(report.evaluation.reliability)
    if points := pictures.points(report):
        drawn["latency"] = pictures.latency(points)
    written = [_write(folder / f"{name}{form}", data) for name, forms in drawn.items() for form, data in forms.items()]
    return replace(report, written=(*report.written, *written))


def _make_folder(folder: Path) -> None:
    try:
        folder.mkdir(parents=True, exist_ok=True)
    except OSError as error:
        raise InvalidInput(
            f"{folder} cannot be created: {error.strerror or error}.", remedy="Name another folder."
        ) from error


def _write(path: Path, data: str | bytes) -> str:
    try:
        path.write_bytes(data.encode("utf-8") if isinstance(data, str) else data)
    except OSError as error:
        raise InvalidInput(f"{path} cannot be written: {error.strerror or error}.") from error
    return str(path)
