"""Answers for a terminal: highlighted matches, links, tables. The only view that imports rich.

Few colours, all from the terminal's own sixteen, so that they read on light and dark grounds; every string from
outside is made visible first and never parsed as markup.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from typing import Final, TextIO

from rich.console import Console
from rich.table import Table
from rich.text import Text

from findling.faces.cli.terminal import words
from findling.faces.cli.terminal.lines import Line, Places
from findling.faces.cli.terminal.plain import PlainView
from findling.faces.cli.terminal.safe import is_terminal, visible
from findling.model.types import FileMatches, GrepStream, Relations, SearchResult

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
    """The same answers with styles: places are links, and what matches is highlighted."""

    def __init__(self, out: TextIO, places: Places, *, repeated: str = "") -> None:
        super().__init__(out, places, terminal=True, repeated=repeated)
        self._console = Console(
            file=out,
            force_terminal=True,
            color_system="standard",
            highlight=False,
            markup=False,
            emoji=False,
            soft_wrap=True,
            width=None if is_terminal(out) else _UNLIMITED,
        )
        self._columns = self._console.width

    def search(self, result: SearchResult, *, explain: bool) -> None:
        super().search(result, explain=explain)
        if result.hits:
            self._line("")
            places = str(len(result.hits))
            if result.offset:
                places = f"{result.offset + 1} to {result.offset + len(result.hits)}"
            shown = f"{places} of {words.count(result.total, 'file')}, {words.seconds(result.took_ms)}"
            self._print(Text(shown, _QUIET))

    def grep(self, found: GrepStream, *, shape: str, groups: bool, headed: bool) -> None:
        super().grep(found, shape=shape, groups=groups, headed=True)
        totals = found.totals
        if totals.total_files:
            self._print(Text(words.grep_total(totals), _QUIET))

    def _row(
        self,
        path: str,
        position: str = "",
        *fields: str,
        code: str | None = None,
        marks: Sequence[str] = (),
        warning: str = "",
    ) -> None:
        """Code that makes the row too long stands below it."""
        # Styles are set piece by piece: one given to the Text itself would cover what is appended.
        text = Text().append(visible(self._places.shown(path)), f"{_PATH} link {self._places.link(path)}")
        text.append(f":{position}" if position else "", _QUIET)
        for field in filter(None, fields):
            text.append(f"  {visible(field)}", _NAME if field is fields[-1] else _QUIET)
        text.append("".join(f"  [{visible(mark)}]" for mark in marks), _QUIET)
        text.append(f"  {warning}" if warning else "", _MATCH)
        shown = visible(code or "")
        if shown and len(text) + len(shown) + 2 > self._console.width:
            self._print(text)
            text = self._cut(Text(f"    {shown}"))
        elif shown:
            text.append(f"  {shown}")
        self._print(text)

    def _matches(self, file: FileMatches, lines: Iterable[Line], *, gap: bool, headed: bool) -> None:
        if gap:
            self._line("")
        self._row(file.path)
        width = len(str(file.lines[-1].line + len(file.lines[-1].after))) if file.lines else 0
        for line in lines:
            self._print(Text("--", _QUIET) if line.number == 0 else self._numbered(line, width))

    def _body(self, lines: Sequence[Line], related: Relations, path: str) -> None:
        width = max((len(str(line.number)) for line in lines), default=0)
        for line in lines:
            self._print(self._numbered(line, width))
        for text in words.related(related, path, self._places.shown) if lines else ():
            self._beside(text)

    def _beside(self, text: str) -> None:
        self._print(Text(f"  {visible(text)}", _QUIET))

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
