"""The sentences around an answer: what it is worth, what was left out, what to do next. Text only, no styles."""

from __future__ import annotations

import re
import shlex
from collections import Counter
from collections.abc import Callable, Collection, Iterable, Iterator, Mapping, Sequence
from typing import TYPE_CHECKING, NamedTuple

from findling import config, model
from findling.model import types
from findling.model.plurals import count as count
from findling.model.secrets import MASK, WHAT_MASKS_ARE
from findling.model.types import (
    Absent,
    Coverage,
    EdgeResult,
    GrepResult,
    Hit,
    IndexReport,
    MapResult,
    Relations,
    Role,
    SearchResult,
    SkippedFile,
    Span,
    Status,
    Step,
    SymbolHit,
    SymbolResult,
    TraceResult,
    mark_of,
    sync_helps,
)
from findling.search import DOCUMENTED, lines_of
from findling.search.graph.file_names import TYPES
from findling.search.ranking.priors import path_flags

if TYPE_CHECKING:
    from findling.config import Loaded
    from findling.model.reports import (
        Check,
        Compared,
        Estimate,
        Evaluation,
        Explanation,
        FlagScores,
        Reliability,
        Report,
        Scores,
    )


NOTHING_FOUND = "nothing found"
NO_USE = "no certain, likely or possible use found"

NOT_HERE = (*types.UNREAD, "lfs_pointer", "not_checked_out")
"""Reasons to leave a file out that nobody chose for what is in it."""

_MARKS: Mapping[str, str] = {"ok": "✓", "off": "○", "broken": "✗"}
_MATCHES: Mapping[str, str] = {"exact": "", "prefix": "begins with", "part": "contains"}
_UNITS = ("B", "kB", "MB", "GB", "TB")


def asked(paths: Sequence[str], globs: Sequence[str], languages: Sequence[str], *, tests: bool = True) -> list[str]:
    """The conditions that a file must meet to be searched, in words."""
    what = [f"lies in {' or '.join(paths)}"] if paths else []
    what += [f"matches {' or '.join(globs)}"] if globs else []
    wanted = [name for name in languages if not name.startswith("!")]
    what += [f"is {' or '.join(wanted)}"] if wanted else []
    what += [f"is not {name.removeprefix('!')}" for name in languages if name.startswith("!")]
    return what if tests else [*what, "is not a test (--no-tests)"]


def nothing_in_scope(asked: Sequence[str], left_out: Sequence[SkippedFile], shown: Callable[[str], str]) -> str:
    """``asked``: what a file would have to do, such as "lies in docs". The rule is that of the first file left out."""
    text = f"{NOTHING_FOUND}: no file {' and '.join(asked)}"
    if not left_out:
        return text
    more = f" and {count(len(left_out) - 1, 'other')}" if len(left_out) > 1 else ""
    return f"{text}; left out: {shown(left_out[0].path)}, {left_out[0].rule}{more}"


def heading(group: str) -> str:
    """The line before the places of a group."""
    return f"== {group} =="


ROLES: Mapping[Role, str] = {
    "overrides": "overrides",
    "overridden_by": "overridden by",
    "inherited_by": "inherited by",
    "called_by": "called by",
    "passed_by": "passed on by",
    "used_by": "used by",
    "written_by": "written by",
    "decorated_by": "decorated by",
    "inherits": "inherits",
    "calls": "calls",
    "same_in": "the same in",
}


def related(found: Relations, path: str, shown: Callable[[str], str]) -> Iterator[str]:
    """A line for each thing that belongs to a definition, and one for what is not listed. ``path``: the definition's,
    which is not repeated."""
    for each in found.found:
        yield f"{ROLES[each.role]} {'' if each.path == path else shown(each.path)}:{each.line}  {each.marked}"
    left = [f"{found.more} more"] if found.more else []
    left += [count(found.in_tests, "use") + " in tests"] if found.in_tests else []
    if left:
        yield f"and {', '.join(left)}{' at least' if found.cut else ''}"


def steps(chain: Sequence[Step], shown: Callable[[str], str]) -> Iterator[str]:
    """A line for each step of a chain of calls, indented by its depth."""
    for each in chain:
        at = f"  (called in line {each.called_at})" if each.called_at else ""
        yield f"{'  ' * each.depth}{each.name}  {shown(each.path)}:{each.line}{at}{mark_of(each.grade)}"


_LOOK = "whole definitions: findling symbol "
_LEFT_OUT = "lines left out: findling symbol "
_PLAIN_NAME = re.compile(r"[\w.:$#@]+")
_PLAIN_PLACE = re.compile(r"[\w./@+][\w./@+-]*:\d+-\d+")
MOST_FURTHER, FEW_FURTHER = 6, 3
"""Names that a further look is for; where they are fewer, functions of places with a line alone are among them."""


def further_look(result: SearchResult, repeated: str = "", columns: int = 0) -> str:
    """How to see whole what an answer shows in part or only names, '' where that is nothing: a command to copy.

    ``repeated``: the PATH and options by which it asks the same index as the command that was typed. ``columns``: of
    several names only as many as a line of this length has room for; 0 for any.
    """
    shown = {hit.path: {line for line, _ in lines_of(hit.body)} for hit in result.hits if hit.body}
    code = [hit for hit in result.hits if hit.group == "code" and hit.name]
    names: dict[str, None] = {}
    for hit in code:
        missing = hit.body and not shown[hit.path].issuperset(range(hit.start_line, hit.end_line + 1))
        if missing or (0 in shown.get(hit.path, ()) and hit.kind in TYPES):
            names[hit.qualified_name] = None
    names |= {step.name: None for step in result.chain if step.line not in shown.get(step.path, ())}
    for hit in code:
        for span in hit.others if hit.body else ():
            if span.symbol and span.start_line not in shown[hit.path]:
                names[span.symbol] = None
    for hit in code:
        if len(names) < FEW_FURTHER and not hit.body and hit.kind not in TYPES and "test" not in path_flags(hit.path):
            names[hit.qualified_name] = None
    plain = [name for name in names if _PLAIN_NAME.fullmatch(name)]
    for most in range(min(len(plain), MOST_FURTHER), 1, -1):
        command = _command(_LOOK, plain[:most], repeated)
        if len(command) <= columns or not columns:
            return command
    return _command(_LOOK, plain[:1], repeated)


def _command(begin: str, operands: Iterable[str], repeated: str) -> str:
    """The command with these operands, '' without any. Callers leave out those that need more than letters: a
    repository may call a file or a definition anything, and the command may be run as it stands."""
    quoted = [shlex.quote(operand) for operand in operands]
    return begin + " ".join([*quoted, *([repeated] if repeated else [])]) if quoted else ""


def symbols_look(results: Sequence[SymbolResult], shown: Callable[[str], str], repeated: str = "") -> str:
    """The command that prints the lines that are left out of the definitions' text, '' where none is. ``shown``: a path
    as it is typed here; ``repeated``: as in `further_look`."""
    left = {
        f"{shown(hit.path)}:{first}-{last}": None
        for result in results
        for hit in result.definitions
        if hit.body
        for first, last in _lines_missing(hit)
    }
    return _command(_LEFT_OUT, filter(_PLAIN_PLACE.fullmatch, left), repeated)


def _lines_missing(hit: SymbolHit) -> Iterator[tuple[int, int]]:
    """The (first, last) lines of each part of a definition that its text lacks, but for its documentation."""
    before, documented = hit.start_line - 1, False
    for line, text in (*lines_of(hit.body), (hit.end_line + 1, "")):
        if hit.start_line <= line <= hit.end_line + 1:
            if line > before + 1 and not documented:
                yield before + 1, line - 1
            before = line
        documented = text.endswith(DOCUMENTED) and not line


def how_sure(result: SearchResult) -> str:
    """The confidence, and whether words and meaning agree, where both were asked."""
    agree = result.evidence.agree
    beside = "" if agree is None else f"; words and meaning {'' if agree else 'do not '}put the same file first"
    return f"confidence {result.confidence:.2f}{beside}"


UNSURE = "nothing here looks like an answer"

LACKING = 2
"""Words that the first file lacks, of which an unsure answer speaks."""


def search_notes(result: SearchResult, *, how_to_finish: str = "", doubted: bool = False) -> list[str]:
    """``doubted``: whether to say that an answer is unsure. That, and what is known to be absent, are the last notes,
    because the last lines are still on the screen."""
    notes = []
    if not result.hits and not result.is_absent:
        no_page = f"{count(result.total, 'file')} matched; there is no such page"
        notes.append(no_page if result.offset and result.total else NOTHING_FOUND)
    notes += list(result.notes)
    if any(MASK in f"{hit.snippet}{hit.body}{hit.signature}" for hit in result.hits):
        notes.append(WHAT_MASKS_ARE)
    if not result.coverage.scanned:  # a note of the answer says it already
        notes += _freshness(result)
    if result.unfinished and not result.coverage.scanned:
        notes.append(
            f"the index is partial: {_missing(result.coverage)}{f'; {how_to_finish}' if how_to_finish else ''}"
        )
    if doubted and result.hits and result.low_confidence:
        words = " and ".join(map(repr, result.lacking[:LACKING]))
        notes.append(f"{UNSURE}{f'; the first result lacks {words}' if words else ''}")
    return notes + absent_notes(result.absent, result.coverage)


def absent_notes(absent: Sequence[Absent], coverage: Coverage | None = None) -> list[str]:
    """A note for each text that is known not to occur; with ``coverage`` the last one counts the files not searched."""
    notes = [each.words for each in absent]
    left_out = _not_searched(coverage.skipped, found=False) if coverage is not None else []
    if notes and left_out:
        notes[-1] += f" ({left_out[0]})"
    return notes


def _state_of_index(result: SymbolResult | EdgeResult | TraceResult | MapResult) -> list[str]:
    """Whether the index is whole and fresh; nothing where a note of the answer says it already."""
    if result.coverage.scanned:
        return []
    partial = ["the index is partial; 'findling index' finishes it"] if result.coverage.unfinished else []
    return partial + _freshness(result)


def _freshness(result: SearchResult | SymbolResult | EdgeResult | TraceResult | MapResult) -> list[str]:
    if result.freshness == "stale":
        reason = f" ({result.stale_reason})" if result.stale_reason else ""
        helps = "; 'findling sync' checks everything" if sync_helps(result.stale_reason) else ""
        return [f"the index may be out of date{reason}{helps}"]
    return ["the index is being brought up to date"] if result.freshness == "syncing" else []


def stopped(jobs: int) -> str:
    """What `findling stop` has done."""
    return f"{count(jobs, 'run')}; what is indexed already stays" if jobs else "nothing: no indexing is running here"


def grep_notes(totals: GrepResult, *, cut: bool, nothing: str = NOTHING_FOUND) -> list[str]:
    """``totals``: with or without the files. ``cut``: the search stopped early, which nobody asked for."""
    notes = [] if totals.total_files else [nothing]
    notes += list(totals.notes)
    if cut:
        notes.append("not all occurrences are listed, and the counts are lower bounds")
    notes += _not_searched(Counter(file.reason for file in totals.skipped), found=totals.total_files > 0)
    return notes


def absent_text(text: str, totals: GrepResult) -> str:
    """The note for a literal text that was not found."""
    if not (totals.counts_exact and totals.files_searched):
        return NOTHING_FOUND
    return f"{text!r} does not occur in the {count(totals.files_searched, 'file')} searched"


def grep_total(result: GrepResult) -> str:
    found = f"{count(result.total_occurrences, 'occurrence')} on {count(result.total_lines, 'line')}"
    least = "" if result.counts_exact else "at least "
    return f"{least}{found} in {count(result.total_files, 'file')} ({result.took_ms:.0f} ms)"


def symbol_notes(result: SymbolResult, *, references_asked: bool, nothing: str = NOTHING_FOUND) -> list[str]:
    notes = [] if result.definitions or result.references or result.absent else [nothing]
    notes += list(result.notes)
    if any(MASK in f"{hit.signature}{hit.body}" for hit in result.definitions):
        notes.append(WHAT_MASKS_ARE)
    if len(result.definitions) < result.total_definitions:
        notes.append(f"{len(result.definitions)} of {count(result.total_definitions, 'definition')} shown; see --limit")
    if len(result.references) < result.total_references:
        more = "see --limit" if references_asked else "see --refs and --limit"
        notes.append(f"{len(result.references)} of {count(result.total_references, 'use')} shown; {more}")
    if not result.absent:
        notes += _not_searched(result.coverage.skipped, found=bool(result.definitions or result.references))
    notes += _state_of_index(result)
    return notes + absent_notes(result.absent, result.coverage)


def graded(step: Step) -> str:
    """The words for how sure a step is; '' if it is certain."""
    return mark_of(step.grade, step.why).strip(" []")


def graph_notes(result: TraceResult | MapResult) -> list[str]:
    notes = list(result.notes)
    if isinstance(result, types.MapResult) and result.truncated:
        notes.append("not everything fits; --max-tokens N sets how much is shown")
    return notes + _state_of_index(result)


def edge_notes(result: EdgeResult) -> list[str]:
    notes = [NOTHING_FOUND if not result.definitions else NO_USE]
    if result.edges or result.notes or result.absent or result.gone:
        notes = []
    notes += list(result.notes)
    total = sum(result.totals.values()) - result.in_tests
    if len(result.edges) < total:
        notes.append(f"{len(result.edges)} of {count(total, 'use')} shown; see --limit")
    cut = (
        (result.definitions, result.total_definitions, ""),
        (result.gone, result.total_gone, " that are gone"),
        (result.tests, result.total_tests, " in tests"),
    )
    for shown, every, which in cut:
        if len(shown) < every:
            notes.append(f"{every - len(shown):,} more definitions{which} not shown; see --limit")
    if result.in_tests:
        notes.append(f"{count(result.in_tests, 'use')} in tests not listed; --tests lists them")
    return notes + _state_of_index(result) + absent_notes(result.absent, result.coverage)


def match_of(found: SymbolHit, asked: str) -> str:
    """How a definition's name matches the one that was ``asked`` for, '' where it is just that name."""
    if found.match == "part":
        parts = re.findall(r"\w+", asked)
        if parts and model.squash(parts[-1]) == model.squash(found.name):
            return "last part only"  # what encloses it is not what was named before it
    return _MATCHES[found.match]


def report_line(report: IndexReport) -> str:
    changes = f"{report.changed} changed, {report.removed} removed"
    if not (report.bytes_read or report.embedded):
        return f"{count(report.files, 'file')} ({changes}); checked in {seconds(report.took_ms)}"
    parts = [count(report.chunks, "chunk"), count(report.symbols, "symbol"), f"{report.embedded} embedded"]
    speed = f"{size(report.bytes_read)} read in {seconds(report.took_ms)}"
    return f"{count(report.files, 'file')} ({changes}), {', '.join(parts)}; {speed}"


def report_notes(report: IndexReport, *, named: Collection[str] = (), shown: Callable[[str], str] = str) -> list[str]:
    """``named``: the paths that a run was asked for, empty for all; each that is not indexed gets a note of its own.
    ``shown`` writes a path."""
    notes = list(report.notes)
    if report.files == 0 and not named:
        notes.append(f"there is nothing to index in {report.root}")
    failed = [file for file in report.failed if file.path in named]
    notes += [f"not indexed: {skipped_line(file, shown)}" for file in not_taken_in(report, named) if file not in failed]
    rest = [file for file in (*report.skipped, *report.failed) if file.path.rstrip("/") not in named]
    if rest:
        notes.append(f"left out: {_left_out(rest)} ('findling status --skipped' lists them)")
    notes += [f"failed: {skipped_line(file, shown)} (not in the index now)" for file in report.failed]
    return notes


def not_taken_in(report: IndexReport, named: Collection[str]) -> list[SkippedFile]:
    """The ``named`` paths that a run should have indexed and did not; without deleted files, which it removed."""
    told = [file for file in (*report.skipped, *report.failed) if file.path.rstrip("/") in named]
    missing = sum(file.reason == "not_found" for file in told)
    if report.removed < missing:
        return told
    # they were indexed before and are deleted: removing them is what was asked for
    return [file for file in told if file.reason != "not_found"]


def skipped_line(file: SkippedFile, shown: Callable[[str], str]) -> str:
    words = types.reason_words(file.reason)
    return f"{shown(file.path)}  {words}{f'  {file.detail}' if file.detail else ''}"


def status_rows(status: Status) -> list[tuple[str, str]]:
    """The rows of a status, in order; those without a value are left out."""
    coverage = status.coverage
    vectors = f"{coverage.embedded_chunks:,} of {count(coverage.chunks, 'chunk')}"
    share = f" ({status.bytes_on_disk / status.bytes_indexed:.2f} of the text)" if status.bytes_indexed else ""
    rows: Iterable[tuple[str, str]] = (
        ("root", status.root),
        ("store", status.store),
        ("state", f"{status.indexing_status}, {status.freshness}"),
        ("files", f"{coverage.files:,}{f', {coverage.pending_files:,} pending' if coverage.pending_files else ''}"),
        ("chunks", f"{coverage.chunks:,}"),
        ("symbols", f"{status.symbols:,}"),
        ("vectors", f"{vectors}{f' by {status.model}' if status.model else ''}"),
        ("text", size(status.bytes_indexed)),
        ("on disk", size(status.bytes_on_disk) + share if status.bytes_on_disk else ""),
        ("updated", status.last_indexed_at),
        ("languages", by_count(status.languages)),
        ("left out", _left_out(status.skipped, status.coverage.skipped)),
        ("format", f"{status.schema_version or ''}"),
    )
    if status.indexing_status in ("failed", "not_indexed"):  # then it counts nothing
        rows = [row for row in rows if row[0] in ("root", "store", "state", "on disk", "format")]
    return [(key, value) for key, value in rows if value] + [("note", note) for note in status.notes]


def _left_out(files: Iterable[SkippedFile], counts: Mapping[str, int] | None = None) -> str:
    """The counts by reason, those of ``files`` if there are no others; a folder counts once, whatever is in it."""
    files = list(files)
    folders = sum(file.path.endswith("/") for file in files)
    words = by_reason(Counter(file.reason for file in files) if counts is None else counts)
    return f"{words} ({count(folders, 'whole folder')}, each counted as one)" if folders else words


def config_rows(loaded: Loaded) -> list[tuple[str, str, str]]:
    """Every option: key, value and where it came from, in the order of the definition; then which keys are set."""
    rows = []
    for key, origin in loaded.origins.items():
        option = config.OPTIONS[key]
        value = config.shown(origin.value) or f"({option.unset})"
        rows.append((key, f"{value} (not used: {option.unused})" if option.unused else value, origin.place))
    for variable, is_set in loaded.keys_set().items():
        rows.append((variable, "set, and never shown" if is_set else "not set", "environment"))
    return rows


def explanation_rows(found: Explanation, shown: Callable[[str], str]) -> list[tuple[str, str]]:
    """Key and value; rows without a value are left out."""
    counts = [f"{found.files:,} indexed", f"{found.waiting:,} not indexed yet" if found.waiting else ""]
    counts.append(f"left out: {by_reason(found.left_out)}" if found.left_out else "")
    parts = f"{count(found.chunks, 'chunk')}, {count(found.symbols, 'symbol')}"
    rows = (
        (found.kind, shown(found.path)),
        ("indexed", "yes" if found.indexed else "no"),
        ("reason", types.reason_words(found.reason)),
        ("because", found.detail),
        ("language", found.language),
        ("marks", ", ".join(found.marks)),
        ("holds", parts if found.kind == "file" and found.indexed else ""),
        ("symbols", found.symbols_missing),
        ("files", "; ".join(filter(None, counts)) if found.kind == "folder" else ""),
        ("masked", ", ".join(f"line {line} ({rule})" for line, rule in found.masked)),
        ("remedy", found.remedy),
        ("root", found.root),
    )
    return [(key, value) for key, value in rows if value]


def check_line(check: Check) -> str:
    """``✓ name: words``; the mark says whether it works."""
    return f"{_MARKS[check.state]} {check.name}: {check.words}"


def symbol_of(hit: Hit) -> str:
    return hit.qualified_name or hit.name


def others(spans: Iterable[Span]) -> str:
    return ", ".join(f"{span(s.start_line, s.end_line)}{f' {s.symbol}' if s.symbol else ''}" for s in spans)


def span(start: int, end: int) -> str:
    return f"{start}-{end}"


def _not_searched(counts: Mapping[str, int], *, found: bool) -> list[str]:
    """A note on the files that are left out, ``counts`` of them by reason; none without any. Where something is found,
    only of those whose text is not here or could not be read."""
    told = {reason: number for reason, number in counts.items() if not found or reason in NOT_HERE}
    return [f"not searched: {by_reason(told)}"] if told else []


def by_reason(counts: Mapping[str, int]) -> str:
    """How many files are left out for each reason, the commonest first."""
    rows = sorted(counts.items(), key=lambda item: (-item[1], item[0]))
    return ", ".join(f"{number:,} {types.reason_words(reason, number)}" for reason, number in rows)


def by_count(counts: Mapping[str, int]) -> str:
    rows = sorted(counts.items(), key=lambda item: (-item[1], item[0]))
    return ", ".join(f"{number:,} {name}" for name, number in rows)


def size(number: float) -> str:
    """Bytes in decimal units, three digits at most."""
    for unit in _UNITS:
        if number < 1000 or unit == _UNITS[-1]:
            break
        number /= 1000
    return f"{number:.0f} {unit}" if number >= 100 or unit == "B" else f"{number:.1f} {unit}"


def seconds(milliseconds: float) -> str:
    return f"{milliseconds:.0f} ms" if milliseconds < 1000 else f"{milliseconds / 1000:.1f} s"


def _missing(coverage: Coverage) -> str:
    parts = []
    if coverage.pending_files:
        parts.append(f"{count(coverage.pending_files, 'file')} not read yet")
    without = coverage.missing_vectors
    if without > 0:
        parts.append(f"{without:,} of {count(coverage.chunks, 'chunk')} without a vector")
    return ", ".join(parts) or "not everything is indexed yet"


# --- how good answers are, as tables of words ------------------------------------------------------------------------


INTERVAL = "[95 %]"


class Table(NamedTuple):
    """``heading`` names the columns, that of the row's name first."""

    heading: list[str]
    rows: list[list[str]]


def tables(report: Report) -> Iterator[Table]:
    """The scores; what stated confidence is worth, where it is known; and what is compared, if anything is."""
    evaluation = report.evaluation
    yield Table(_heading(evaluation), _rows(evaluation))
    if evaluation.reliability:
        heading = [
            "confidence",
            "answers",
            "mean stated",
            f"right at the top {INTERVAL}",
            f"in the first five {INTERVAL}",
        ]
        yield Table(heading, [_reliability(row) for row in evaluation.reliability])
    if report.compared:
        heading = [
            "",
            f"NDCG@10 {INTERVAL}",
            f"{report.name} minus it {INTERVAL}",
            "better",
            "equal",
            "worse",
            "p50",
            "p95",
        ]
        yield Table(
            heading, [[report.name, *_whole(evaluation), *_times(evaluation)], *map(_compared, report.compared)]
        )


def lines(report: Report) -> list[str]:
    """What stands under the tables."""
    evaluation = report.evaluation
    said = [*report.said]
    if evaluation.flag is not None:
        said.append(_flag(evaluation.flag))
    if evaluation.latency is not None and not report.compared:
        said.append(f"time per answer: median {evaluation.latency.p50_ms:.1f} ms, 95th percentile {_p95(evaluation)}")
    said += [f"written: {path}" for path in report.written]
    return said


def _heading(evaluation: Evaluation) -> list[str]:
    middle = ["files"] if evaluation.rule == "spans" else []
    return ["", "queries", *(f"{name} {INTERVAL}" for name in ("NDCG@10", *middle, "MRR", "recall@10")), "hit@1"]


def _rows(evaluation: Evaluation) -> list[list[str]]:
    """All queries, then each group, then each repository; the columns of `_heading`."""
    named = {"all": evaluation.all, **evaluation.groups}
    named |= {f"repository: {name}": scores for name, scores in evaluation.repositories.items()}
    return [[name, *_scores(scores, evaluation.rule)] for name, scores in named.items()]


def _scores(scores: Scores, rule: str) -> list[str]:
    middle = [scores.file_ndcg] if rule == "spans" else []
    means = [_estimate(estimate) for estimate in (scores.ndcg, *middle, scores.mrr, scores.recall)]
    return [f"{scores.queries:,}", *means, _number(scores.hit1.value)]


def _flag(flag: FlagScores) -> str:
    return (
        f"low confidence: flagged {_estimate(flag.recall)} of {count(flag.no_answer, 'query')} without an answer, "
        f"and wrongly {_estimate(flag.false_alarm)} of {count(flag.answered, 'query')} answered in the first five; "
        f"precision {_number(flag.precision)}"
    )


def _reliability(row: Reliability) -> list[str]:
    return [
        f"{row.low:.2f} to {row.high:.2f}",
        f"{row.queries:,}",
        f"{row.stated:.3f}",
        _estimate(row.hit1),
        _estimate(row.hit5),
    ]


def _whole(evaluation: Evaluation) -> list[str]:
    """The row of the reported run in the table of comparisons."""
    return [_estimate(evaluation.all.ndcg), "", "", "", ""]


def _compared(row: Compared) -> list[str]:
    found = row.comparison
    difference = "-" if found.difference.value is None else f"{found.difference.value:+.4f}"
    if found.difference.low is not None and found.difference.high is not None:
        difference += f" [{found.difference.low:+.4f}, {found.difference.high:+.4f}]"
    counts = [f"{number:,}" for number in (found.better, found.equal, found.worse)]
    return [row.name, _estimate(row.evaluation.all.ndcg), difference, *counts, *_times(row.evaluation)]


def _times(evaluation: Evaluation) -> list[str]:
    if evaluation.latency is None:
        return ["-", "-"]
    return [f"{evaluation.latency.p50_ms:.1f} ms", _p95(evaluation)]


def _p95(evaluation: Evaluation) -> str:
    return f"{evaluation.latency.p95_ms:.1f} ms" if evaluation.latency else "-"


def _estimate(estimate: Estimate) -> str:
    interval = "" if estimate.low is None else f" [{_number(estimate.low)}, {_number(estimate.high)}]"
    return f"{_number(estimate.value)}{interval}"


def _number(value: float | None) -> str:
    return "-" if value is None else f"{value:.4f}"
