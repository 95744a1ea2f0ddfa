"""How long chunks are: of documents, of code, of everything in one index. Knows no text."""

from __future__ import annotations

from msgspec import Struct
from msgspec.structs import replace

SPLIT_LEVEL = 3
"""Headings down to this level begin a section."""


class DocLimits(Struct, frozen=True):
    """Sizes in characters. ``overlap`` must be smaller than ``max_chars``."""

    max_chars: int = 2000
    overlap: int = 200

    def __post_init__(self) -> None:
        if not 0 <= self.overlap < self.max_chars:
            raise ValueError("overlap must be at least 0 and smaller than max_chars")


DOCS = DocLimits()


class CodeLimits(Struct, frozen=True):
    """Sizes in characters, counted from the first to the last character of a chunk."""

    merge_chars: int = 750
    """Neighbouring pieces are joined up to here: about the size that retrieval was measured best with."""
    max_chars: int = 2000
    """A symbol or block up to here stays whole; no chunk but a window of lines is longer."""
    fixed_lines: int = 50
    """Window of lines for text without structure."""
    fixed_overlap: int = 10
    """Lines that two neighbouring windows share."""
    fixed_chars: int = 4000
    """A window is cut shorter than ``fixed_lines`` lines here: 50 lines of 80 characters."""
    tiny_chars: int = 80
    """A shorter rest (a bare class line, a lone closing bracket) joins a neighbour: about one line of code."""


DEFAULT = CodeLimits()

DATA = CodeLimits(merge_chars=1500)
"""Larger pieces for data files, which are long and rarely looked for."""

_LINE_CHARS = DEFAULT.fixed_chars // DEFAULT.fixed_lines
"""Characters a line in a full window; windows of more or fewer lines are cut in proportion."""


class ChunkLimits(Struct, frozen=True):
    """How everything in one index is cut: documents in characters, code without structure in lines.

    ``overlap_lines`` must be smaller than ``max_lines``. ``pages``: of a web page what people read of
    it, not its source.
    """

    docs: DocLimits = DOCS
    max_lines: int = DEFAULT.fixed_lines
    overlap_lines: int = DEFAULT.fixed_overlap
    pages: bool = False

    def __post_init__(self) -> None:
        if not 0 <= self.overlap_lines < self.max_lines:
            raise ValueError("overlap_lines must be at least 0 and smaller than max_lines")

    @property
    def code(self) -> CodeLimits:
        return replace(DEFAULT, **self._lines())

    @property
    def data(self) -> CodeLimits:
        return replace(DATA, **self._lines())

    @property
    def id(self) -> str:
        """A text that tells these limits from others; '' for the default ones."""
        if self == ChunkLimits():
            return ""
        sizes = f"{self.docs.max_chars} {self.docs.overlap} {self.max_lines} {self.overlap_lines}"
        return f"{sizes} pages" if self.pages else sizes

    @classmethod
    def from_id(cls, text: str) -> ChunkLimits:
        """The limits whose `id` is ``text``. Raises ValueError for a text that is no id."""
        if not text:
            return cls()
        sizes, pages, _ = text.partition(" pages")
        max_chars, overlap, max_lines, overlap_lines = map(int, sizes.split())
        return cls(DocLimits(max_chars, overlap), max_lines, overlap_lines, bool(pages))

    def _lines(self) -> dict[str, int]:
        return {
            "fixed_lines": self.max_lines,
            "fixed_overlap": self.overlap_lines,
            "fixed_chars": self.max_lines * _LINE_CHARS,
        }
