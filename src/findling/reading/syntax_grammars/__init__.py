"""The table of languages whose definitions can be read from a syntax tree: language id -> grammar table."""

from __future__ import annotations

from collections.abc import Mapping

from findling.reading.syntax_grammars import data, functional, managed, native, scripting, web
from findling.reading.syntax_grammars.model import Grammar

GRAMMARS: Mapping[str, Grammar] = {
    **data.GRAMMARS,
    **functional.GRAMMARS,
    **managed.GRAMMARS,
    **native.GRAMMARS,
    **scripting.GRAMMARS,
    **web.GRAMMARS,
}
