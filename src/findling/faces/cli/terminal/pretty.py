"""Answers for a terminal: highlighted matches, links, tables. The only view that imports rich.

Few colours, all from the terminal's own sixteen, so that they read on light and dark grounds; every string from
outside is made visible first and never parsed as markup.
"""

from __future__ import annotations

from io import StringIO
from typing import TYPE_CHECKING, Final, TextIO

from rich.console import Console
from rich.table import Table
from rich.text import Text

from findling.faces.cli.terminal import words
from findling.faces.cli.terminal.lines import Line, as_they_come, body_lines, is_block, printed_lines
from findling.faces.cli.terminal.plain import PlainView
from findling.faces.cli.terminal.safe import is_terminal, visible

if TYPE_CHECKING:
    from collections.abc import Sequence

    from findling.faces.cli.terminal.lines import Places
    from findling.model.types import EdgeResult, GrepStream, Hit, SearchResult, SymbolResult

_PATH: Final = "bold"
_NAME: Final = "cyan"
_QUIET: Final = "dim"
_MATCH: Final = "bold red"

# Room kept to the left of the first match when a line is too long to show whole.
_LEAD_COLUMNS: Final = 30
# Where the width is unknown (styles forced into a pipe) nothing is cut.
_UNLIMITED: Final = 1_000_000
_TAB_COLUMNS: Final = 4


class PrettyView(PlainView):
    """As plain text, but for what is found: its places are links, and what matches is highlighted."""

    def __init__(self, out: TextIO, places: Places) -> None:
        super().__init__(out, places, terminal=True)
        self._console = _console(out, styled=True, width=None if is_terminal(out) else _UNLIMITED)

    def search(self, result: SearchResult, *, explain: bool) -> None:
        super().search(result, explain=explain)
        if result.hits:
            self._print(Text())
            places = str(len(result.hits))
            if result.offset:
                places = f"{result.offset + 1} to {result.offset + len(result.hits)}"
            shown = f"{places} of {words.count(result.total, 'file')}, {words.seconds(result.took_ms)}"
            self._print(Text(shown, _QUIET))

    def length(self, result: SearchResult, *, explain: bool) -> int:
        """The characters that `search` prints, its styles apart."""
        printed = StringIO()
        shown = self._console
        self._console = _console(printed, styled=False, width=shown.width)
        try:
            self.search(result, explain=explain)
        finally:
            self._console = shown
        return len(printed.getvalue())

    def grep(self, found: GrepStream, *, shape: str, groups: bool) -> None:
        for position, file in enumerate(as_they_come(found, self._console.file)):
            heading = self._link(file.path)
            if shape in ("files", "without"):
                self._print(heading)
            elif shape in ("count", "matches"):
                self._print(heading.append(f"  {file.line_count if shape == 'count' else file.occurrences}"))
            else:
                if position:
                    self._print(Text())
                self._print(heading)
                width = len(str(file.lines[-1].line + len(file.lines[-1].after))) if file.lines else 0
                for line in printed_lines(file, groups=groups, only=shape == "only"):
                    self._print(Text("--", _QUIET) if line.number == 0 else self._numbered(line, width))
        totals = found.totals
        if totals.total_files:
            self._print(Text(words.grep_total(totals), _QUIET))

    def symbols(self, results: Sequence[SymbolResult]) -> None:
        for result in results:
            for found in result.definitions:
                text = self._link(found.path, words.span(found.start_line, found.end_line))
                text.append(f"  {visible(found.kind)}  ", _QUIET)
                text.append(visible(found.qualified_name or found.name), _NAME)
                match = words.match_of(found, result.name)
                self._print(text.append(f"  [{match}]" if match else "", _QUIET))
                if found.signature and not found.body:
                    self._print(self._cut(Text(f"    {visible(found.signature)}")))
                self._body(list(body_lines(found)))
            if result.references:
                self._print(Text(f"\n{words.count(result.total_references, 'use')}", _PATH))
            for use in result.references:
                text = self._link(use.path, f"{use.line}:{use.column}")
                text.append(f"  {visible(use.enclosing)}" if use.enclosing else "", _NAME)
                self._print(self._cut(text.append(f"  {visible(use.text.strip())}")))

    def edges(self, result: EdgeResult) -> None:
        for found in result.definitions:
            text = self._link(found.path, words.span(found.start_line, found.end_line))
            self._print(text.append(f"  {visible(found.qualified_name or found.name)}", _NAME))
        for edge in result.edges:
            callers = result.direction == "callers"
            path, line = (edge.path, edge.line) if callers else (edge.target_path, edge.target_line)
            text = self._link(path, str(line))
            text.append(f"  {visible(edge.enclosing if callers else edge.target)}", _NAME)
            text.append(f"  {edge.grade}{f': {visible(edge.why)}' if edge.why else ''}", _QUIET)
            text.append(f"  step {edge.step}: uses {visible(edge.target)}" if edge.step > 1 else "", _QUIET)
            self._print(text)
            self._print(self._cut(Text(f"    {'' if callers else f'{edge.line}  '}{visible(edge.text)}")))

    def _hit(self, hit: Hit, explain: bool) -> None:
        heading = self._link(hit.path, words.span(hit.start_line, hit.end_line))
        name = visible(words.symbol_of(hit))
        heading.append(f"  {name}" if name else "", _NAME)
        heading.append(f"  [{', '.join(hit.sources)}]", _QUIET)
        heading.append("  changed since it was indexed" if hit.stale else "", _MATCH)
        self._print(heading)
        self._body(list(body_lines(hit)))
        if hit.parts:
            self._print(Text(f"  by {visible(', '.join(hit.parts))}", _QUIET))
        if siblings := words.siblings(hit):
            self._print(Text(f"  {siblings}", _QUIET))
        if hit.others and is_block(hit, explain):
            self._print(Text(f"  also {visible(words.others(hit.others))}", _QUIET))
        if explain:
            self._print(Text(f"  rank {hit.rank_value:.4f}", _QUIET))
            for reason in hit.reasons:
                text = Text().append(f"    {reason.value:+9.4f}", _NAME)
                self._print(text.append(f"  {visible(reason.signal)}  ").append(visible(reason.words), _QUIET))

    def _gap(self) -> None:
        self._print(Text())

    def _heading(self, text: str) -> None:
        self._print(Text(text, _PATH))

    def _body(self, lines: Sequence[Line]) -> None:
        width = max((len(str(line.number)) for line in lines), default=0)
        for line in lines:
            self._print(self._numbered(line, width))

    def _link(self, path: str, position: str = "") -> Text:
        # Styles are set piece by piece: one given to the Text itself would cover what is appended.
        text = Text().append(visible(self._places.shown(path)), f"{_PATH} link {self._places.link(path)}")
        return text.append(f":{position}", _QUIET) if position else text

    def _numbered(self, line: Line, width: int) -> Text:
        body, spans = _around(line, max(1, self._console.width - width - 4))
        text = Text().append(f"  {line.number or '':>{width}}  ", _QUIET)
        content = Text(visible(body))
        for start, end in spans:
            content.stylize(_MATCH, start, end)
        content.expand_tabs(_TAB_COLUMNS)
        return self._cut(text.append_text(content))

    def _cut(self, text: Text) -> Text:
        text.truncate(self._console.width, overflow="ellipsis")
        return text

    def _pairs(self, *pairs: tuple[str, str]) -> None:
        table = Table(box=None, show_header=False, pad_edge=False)
        table.add_column(style=_QUIET, no_wrap=True)
        table.add_column(overflow="fold")
        for key, value in pairs:
            table.add_row(key, Text(visible(value)))
        self._console.print(table, soft_wrap=False)

    def _line(self, text: str) -> None:
        self._print(Text(text))

    def _print(self, text: Text) -> None:
        self._console.print(text)


def _console(out: TextIO, *, styled: bool, width: int | None) -> Console:
    return Console(
        file=out,
        force_terminal=styled,
        color_system="standard" if styled else None,
        highlight=False,
        markup=False,
        emoji=False,
        soft_wrap=True,
        width=width,
    )


def _around(line: Line, columns: int) -> tuple[str, list[tuple[int, int]]]:
    """The part of a long line that shows its first match, and the matches in it; a short line as it is."""
    first, end = line.spans[0] if line.spans else (0, 0)
    begin = 0 if end < columns else max(0, first - min(_LEAD_COLUMNS, columns // 2))
    if len(line.text) <= columns or begin == 0:
        return line.text[: columns + 1], list(line.spans)
    mark = "…"
    shift = len(mark) - begin
    stop = begin + columns
    spans = [(max(0, start + shift), end + shift) for start, end in line.spans if begin < end and start < stop]
    return mark + line.text[begin:stop], spans
