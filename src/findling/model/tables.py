"""How answers show themselves in a Python session or a notebook: as lines, as a table, as a data frame."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING, Any

from msgspec import to_builtins

from findling.model.errors import InvalidInput

if TYPE_CHECKING:
    import pandas as pd  # type: ignore[import-untyped]

_SHOWN_ROWS = 20
_SHOWN_CHARS = 80
"""The most characters of a table's line."""


class _Fields:
    """Has fields, as every `msgspec.Struct`."""

    __slots__ = ()

    def to_dict(self) -> dict[str, Any]:
        """All fields, as dicts, lists and scalars that JSON knows."""
        fields: dict[str, Any] = to_builtins(self, str_keys=True, enc_hook=dict)
        return fields


class Row(_Fields):
    """A place in a file: ``path`` and lines, and what it is called."""

    __slots__ = ()

    @property
    def place(self) -> str:
        """Where it stands, as ``path:line`` or ``path:first-last``."""
        fields = {name: getattr(self, name, None) for name in ("path", "line", "start_line", "end_line")}
        first, last = fields["start_line"] or fields["line"], fields["end_line"]
        if first is None:
            return str(fields["path"])
        return f"{fields['path']}:{first}-{last}" if last and last != first else f"{fields['path']}:{first}"

    def __repr__(self) -> str:
        known = {name: getattr(self, name, None) for name in ("qualified_name", "name", "grade", "score")}
        name = known["qualified_name"] or known["name"]
        words = [repr(self.place), *([f"name={name!r}"] if name else [])]
        words += [f"{key}={known[key]!r}" for key in ("grade", "score") if known[key] is not None]
        return f"{type(self).__name__}({', '.join(words)})"

    def _repr_html_(self) -> str:
        """For notebooks; whatever stands in a repository is shown as text."""
        return f"<table><tr>{_cells(self)}</tr></table>"


class Table(_Fields):
    """An answer with rows."""

    __slots__ = ()

    @property
    def rows(self) -> Sequence[Row]:
        """The rows, in the answer's order."""
        raise NotImplementedError

    @property
    def heading(self) -> str:
        """One line that says what the answer is."""
        raise NotImplementedError

    def to_frame(self) -> pd.DataFrame:
        """A pandas data frame of the rows, a column for each of their fields. Raises `InvalidInput` without pandas."""
        try:
            import pandas as pd
        except ImportError as error:
            from findling.model.installing import install_command

            raise InvalidInput("to_frame needs pandas.", remedy=f"Run: {install_command('pandas')}") from error
        return pd.DataFrame([row.to_dict() for row in self.rows])

    def __repr__(self) -> str:
        lines = [f"<{type(self).__name__}: {self.heading}>"]
        lines += [f"  {_line(row)}" for row in self.rows[:_SHOWN_ROWS]]
        return "\n".join([*lines, *([f"  … {left} more"] if (left := len(self.rows) - _SHOWN_ROWS) > 0 else [])])

    def _repr_html_(self) -> str:
        """For notebooks; whatever stands in a repository is shown as text."""
        from html import escape

        rows = "".join(f"<tr><td>{number}</td>{_cells(row)}</tr>" for number, row in enumerate(self.rows, 1))
        return f"<table><caption>{escape(self.heading)}</caption>{rows}</table>"


def _cells(row: Row) -> str:
    """A row's place, what it is, and its score or grade, as cells of an HTML table."""
    from html import escape

    place, about = escape(row.place), escape(_about(row))
    return f"<td><code>{place}</code></td><td><code>{about}</code></td><td>{_number(row)}</td>"


def _line(row: Row) -> str:
    return f"{row.place}  {_about(row)}".rstrip()


def _about(row: Row) -> str:
    for name in ("signature", "qualified_name", "name", "text"):
        if value := getattr(row, name, ""):
            return str(value).strip()[:_SHOWN_CHARS]
    return ""


def _number(row: Row) -> str:
    score = getattr(row, "score", None)
    return getattr(row, "grade", "") if score is None else f"{score:.2f}"
