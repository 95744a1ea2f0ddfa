"""Answers as plain text: what a pipe gets, and a terminal that wants no colours. The shape is stable.

    search, similar   path:start-end  symbol     ("-" where there is no symbol; [channel,channel] with --explain)
                    begin data 5f0a9c3e12d47b86    (in a pipe, where a model may read it, once: text of files follows)
                    10  a line of a place that is shown in full, with its number
                        … 12 lines                 (left out)
                      called by path:12  a line      (what belongs to it: also calls, overrides, the same in, ...;
                                                      ":12" alone is of the same file)
                      and 2 more, 5 uses in tests
                    end data 5f0a9c3e12d47b86      (behind the last place; the number is another one in each answer)
                      by title, trace at line 12         (what of a pasted text led there)
                      and 11 translations and 1 copy     (files that stand under this one)
                      also 40-48 A section, 90-95
                      rank 1.2500, then one indented line for each reason (--explain)
                    one line for each file, or a block for what is shown in full, with an empty line around it; where
                    code and documents are two groups, "== code ==" or "== docs ==" before each; last, for a question
                    about a flow, "== calls that connect these places ==" and an indented line for each step; then with
                    --explain "confidence 0.97; ..." and an indented line for each fact behind it; then the
                    command that shows whole what is shown in part, and other good places: "whole definitions: ..."
    grep              path:line:text; -o: a line for each match
                      with context path-line-text, too, and "--" between groups
                      with -W or --heading: path, then line:text and line-text, an empty line between files
    grep -c           path:lines    --count-matches   path:occurrences    -l, -L   path
    symbol            path:start-end  kind  name  signature     (then the text, as of a place; it has the signature)
                        then [begins with] or [contains] where NAME is only a part of the name, and [last part only]
                        where what stands before it is another
                      path:line:column  ref  enclosing  text    ("write" for "ref" where the line assigns to it)
                      last, where text is cut, "lines left out: findling symbol path:start-end ..."
    callers           the definition, as symbol shows it; then path:line  grade  kind  enclosing  text  [why]
    callees           the same; then path:line  grade  kind  name  "line N"  text  [why], path:line being where it leads
    impact            as callers, with [step N: uses ...]; then path:line  test  name  "N steps", and
                      path:line  document  name  text; of changes first path:line  gone  name  signature
    trace             path:line  name  "called in line N"  [grade: why], a line for each call
    map               folder/  "N files, N definitions"  languages  names; then == entry points ==, path:line  text, and
                      == central definitions ==, as symbol shows them
    index, sync, status, why   key: value
    config            key: value  [where it came from]
    library           key: value, an empty line between collections
    doctor            ✓ name: words (○ off, ✗ broken), what to do about it indented under it
    eval              tables, an empty line between them, columns apart by two spaces or more; then sentences

Line breaks in paths are made visible so that the shape holds, and every control character in places that are shown in
full; ``terminal=True`` does so everywhere, and shows of a very long line only what is around its first match. A pipe
gets every line whole.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from secrets import token_hex
from typing import TYPE_CHECKING, Final, TextIO

from findling.faces.cli.terminal import words
from findling.faces.cli.terminal.lines import (
    Line,
    as_they_come,
    body_lines,
    byte_columns,
    is_block,
    printed_lines,
    shortened,
)
from findling.faces.cli.terminal.safe import one_line, visible
from findling.model.types import EntryPoint, Relations

if TYPE_CHECKING:
    from findling.config import Loaded
    from findling.engine.library.search import LibraryResult
    from findling.faces.cli.terminal.lines import Places
    from findling.model.reports import Diagnosis, Explanation, Report
    from findling.model.types import (
        EdgeResult,
        FileMatches,
        GrepStream,
        Hit,
        IndexReport,
        MapResult,
        Reason,
        SearchResult,
        Status,
        Step,
        SymbolHit,
        SymbolResult,
        TraceResult,
    )

_NONE: Final = "-"


class PlainView:
    """What is printed is decided here, for terminals too; `PrettyView` changes how a row, a body and a match look."""

    def __init__(self, out: TextIO, places: Places, *, terminal: bool = False, repeated: str = "") -> None:
        """``repeated``: the PATH and options that a suggested command has to repeat."""
        self._repeated = repeated
        self._columns = 0
        """How long a suggested command may be, 0 for any length."""
        self._out = out
        self._places = places
        self._terminal = terminal
        self._content = visible if terminal else str
        self._label = visible if terminal else one_line
        self._mark = "" if terminal else token_hex(8)
        """A file cannot contain it, because it is drawn after the file was written."""
        self._in_data = False

    def search(self, result: SearchResult, *, explain: bool) -> None:
        before: Hit | None = None
        for group, hits in result.in_groups():
            if group:
                self._data(begins=False)
                if before is not None:
                    self._line("")
                self._line(words.heading(group))
                before = None
            if not self._terminal and not explain and any(hit.body for hit in hits[:-1]):  # files come before text
                for hit in hits:
                    (self._place if hit.body else self._hit)(hit, explain)
                before = hits[-1]
                hits = tuple(hit for hit in hits if hit.body)
            for hit in hits:
                if before is not None and (is_block(before, explain) or is_block(hit, explain)):
                    self._line("")
                self._hit(hit, explain)
                before = hit
        self._data(begins=False)
        self._chain(result.chain)
        if explain and result.hits:
            self._line("")
            self._line(words.how_sure(result))
            self._reasons(result.evidence.reasons)
        if further := words.further_look(result, self._repeated, self._columns):
            self._line("")
            self._line(self._label(further))

    def grep(self, found: GrepStream, *, shape: str, groups: bool, headed: bool) -> None:
        for position, file in enumerate(as_they_come(found, self._out)):
            if shape in ("files", "without"):
                self._row(file.path)
            elif shape in ("count", "matches"):
                self._row(file.path, str(file.line_count if shape == "count" else file.occurrences))
            elif shape == "vimgrep":
                path = self._label(self._places.shown(file.path))
                for match in file.lines:
                    for column in byte_columns(match):
                        self._line(f"{path}:{match.line}:{column}:{self._content(match.text)}")
            else:
                lines = printed_lines(file, groups=groups, only=shape == "only")
                self._matches(file, lines, gap=position > 0 and (groups or headed), headed=headed)

    def passages(self, found: LibraryResult) -> None:
        for position, passage in enumerate(found.passages):
            if position:
                self._line("")
            marks = [f"{passage.score:.2f}"]
            self._row(passage.file_path, "", passage.collection, " › ".join(passage.headings), marks=marks)
            self._body([Line(0, text) for text in passage.content.splitlines()], Relations(), passage.file_path)
        self._data(begins=False)

    def symbols(self, results: Sequence[SymbolResult]) -> None:
        for result in results:
            for found in result.definitions:
                self._definition(found, words.match_of(found, result.name))
                self._body(list(body_lines(found)), found.related, found.path)
            for use in result.references:
                self._data(begins=False)
                at = f"{use.line}:{use.column}"
                why = [use.why] if use.why else []
                kind = ["write" if use.writes else "ref", *([use.grade] if use.grade else ())]
                self._row(use.path, at, *kind, use.enclosing, code=use.text.strip(), marks=why)
        self._data(begins=False)
        if further := words.symbols_look(results, self._places.shown, self._repeated):
            self._line(self._label(further))

    def edges(self, result: EdgeResult) -> None:
        for found in result.definitions:
            self._definition(found)
        for lost in result.gone:
            self._row(lost.path, str(lost.line), "gone", lost.enclosing, code=lost.text)
        self._edges(result)
        for test in result.tests:
            steps = words.count(test.depth, "step")
            marks = [words.graded(test)] if words.graded(test) else []
            self._row(test.path, str(test.line), "test", test.name, code=steps, marks=marks)
        for place in result.documents:
            self._row(place.path, str(place.line), "document", place.enclosing, code=place.text)

    def trace(self, result: TraceResult) -> None:
        if not result.steps:
            for found in (*result.origins, *result.goals):
                self._definition(found)
        for step in result.steps:
            at = [f"called in line {step.called_at}"] if step.called_at else []
            marks = [words.graded(step)] if words.graded(step) else []
            self._row(step.path, str(step.line), step.name, *at, marks=marks)
        for end in result.ends:
            self._row(end.path, str(end.line), "ends here", end.enclosing, code=end.text, marks=[end.why])

    def project_map(self, result: MapResult) -> None:
        for part in result.parts:
            holds = f"{words.count(part.files, 'file')}, {words.count(part.definitions, 'definition')}"
            self._row(part.path, "", holds, ", ".join(part.languages), code=", ".join(part.names))
        for title, rows in (("entry points", result.entry_points), ("central definitions", result.central)):
            if rows:
                self._line("")
                self._line(words.heading(title))
            for row in rows:
                if isinstance(row, EntryPoint):
                    self._row(row.path, str(row.line), code=row.text)
                else:
                    self._definition(row)

    def _edges(self, result: EdgeResult) -> None:
        for edge in result.edges:
            marks = [edge.why] if edge.why else []
            marks += [f"step {edge.step}: uses {edge.target}"] if edge.step > 1 else []
            kind = (edge.grade, edge.kind)
            if result.direction == "callers":
                self._row(edge.path, str(edge.line), *kind, edge.enclosing, code=edge.text, marks=marks)
            else:
                there = (*kind, edge.target, f"line {edge.line}")
                self._row(edge.target_path, str(edge.target_line), *there, code=edge.text, marks=marks)

    def report(self, report: IndexReport) -> None:
        self._pairs(
            ("root", report.root),
            ("store", report.store),
            ("indexed", words.report_line(report)),
        )

    def status(self, status: Status, *, skipped: bool) -> None:
        self._pairs(*words.status_rows(status))
        for file in status.skipped if skipped else ():
            self._line(f"skipped: {self._label(words.skipped_line(file, self._places.shown))}")

    def config(self, loaded: Loaded) -> None:
        for key, value, origin in words.config_rows(loaded):
            self._line(f"{key}: {self._label(value)}  [{self._label(origin)}]")

    def explanation(self, found: Explanation) -> None:
        self._pairs(*words.explanation_rows(found, self._places.shown))

    def diagnosis(self, diagnosis: Diagnosis) -> None:
        for check in diagnosis.checks:
            self._line(self._label(words.check_line(check)))
            if check.remedy:
                self._line(f"  {self._label(check.remedy)}")

    def evaluation(self, report: Report) -> None:
        for position, table in enumerate(words.tables(report)):
            if position:
                self._line("")
            rows = [[self._label(cell) for cell in row] for row in (table.heading, *table.rows)]
            widths = [max(map(len, column)) for column in zip(*rows, strict=True)]
            for row in rows:
                cells = [cell.ljust(width) for cell, width in zip(row, widths, strict=True)]
                self._line("  ".join(cells).rstrip())
        for position, line in enumerate(words.lines(report)):
            self._line(self._label(line) if position else f"\n{self._label(line)}")

    def records(self, blocks: Sequence[Sequence[tuple[str, str]]], value: Mapping[str, object]) -> None:
        for position, block in enumerate(blocks):
            if position:
                self._line("")
            self._pairs(*block)

    def _place(self, hit: Hit, explain: bool) -> None:
        warning = "changed since it was indexed" if hit.stale else ""
        lines = words.span(hit.start_line, hit.end_line)
        marks = [",".join(hit.sources)] if explain else []
        self._row(hit.path, lines, words.symbol_of(hit), marks=marks, warning=warning)

    def _hit(self, hit: Hit, explain: bool) -> None:
        self._place(hit, explain)
        self._body(list(body_lines(hit)), hit.related, hit.path)
        if hit.parts:
            self._beside(f"by {', '.join(hit.parts)}")
        if hit.folded:
            self._beside(hit.folded)
        if hit.others and (explain or (hit.body and hit.group == "docs")):  # of code, the last line names them
            self._beside(f"also {words.others(hit.others)}")
        if explain:
            self._beside(f"rank {hit.rank_value:.4f}")
            self._reasons(hit.reasons)

    def _reasons(self, reasons: Sequence[Reason]) -> None:
        for reason in reasons:
            self._beside(f"  {reason.value:+9.4f}  {reason.signal}  {reason.words}".rstrip())

    def _definition(self, found: SymbolHit, match: str = "") -> None:
        name = found.qualified_name or found.name
        lines = words.span(found.start_line, found.end_line)
        code = None if found.body else found.signature  # the body begins with it
        self._row(found.path, lines, found.kind, name, code=code, marks=[match] if match else [])

    def _chain(self, chain: Sequence[Step]) -> None:
        if chain:
            self._line("")
            self._line(words.heading("calls that connect these places"))
            for text in words.steps(chain, self._places.shown):
                self._beside(text)

    # --- how it looks: what `PrettyView` has in another form ---------------------------------------------------------

    def _row(
        self,
        path: str,
        position: str = "",
        *fields: str,
        code: str | None = None,
        marks: Sequence[str] = (),
        warning: str = "",
    ) -> None:
        """One place: where it is, what it is, its ``code`` ("" where it should have some), remarks in brackets."""
        where = self._label(self._places.shown(path)) + (f":{position}" if position else "")
        named = [self._label(field) or _NONE for field in (*fields, *(() if code is None else (code,)))]
        self._line("  ".join([where, *named, *(f"[{self._label(mark)}]" for mark in marks), *filter(None, (warning,))]))

    def _matches(self, file: FileMatches, lines: Iterable[Line], *, gap: bool, headed: bool) -> None:
        """The lines of a file that match. ``gap``: another file stands above it; ``headed``: the path stands above
        them, and not in each."""
        path = self._label(self._places.shown(file.path))
        if gap:
            self._line("" if headed else "--")
        if headed:
            self._line(path)
        for line in lines:
            mark = ":" if line.spans else "-"
            text = self._content(shortened(line) if self._terminal else line.text)
            where = str(line.number) if headed else f"{path}{mark}{line.number}"
            self._line("--" if line.number == 0 else f"{where}{mark}{text}")

    def _body(self, lines: Sequence[Line], related: Relations, path: str) -> None:
        """The lines of a place, and what belongs to it, which is lines of files as well."""
        if not lines:
            return
        self._data(begins=True)
        width = max(len(str(line.number)) for line in lines)
        for line in lines:
            self._line(f"{line.number or '':>{width}}  {visible(line.text)}".rstrip())
        for text in words.related(related, path, self._places.shown):
            self._beside(text)

    def _data(self, *, begins: bool) -> None:
        """Marks where text of files begins, and where the last of it ends."""
        if self._mark and begins != self._in_data:
            self._line(f"{'begin' if begins else 'end'} data {self._mark}")
            self._in_data = begins

    def _beside(self, text: str) -> None:
        """A further line below a place."""
        self._line(f"  {self._label(text)}")

    def _pairs(self, *pairs: tuple[str, str]) -> None:
        for key, value in pairs:
            self._line(f"{key}: {self._label(value)}")

    def _line(self, text: str) -> None:
        self._out.write(text + "\n")
