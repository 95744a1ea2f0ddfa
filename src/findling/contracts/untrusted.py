"""Which text of an answer is data, whoever wrote it: that of files and of servers, names and paths included.

In JSON a field is what such a text cannot get out of, so an answer lists those fields by name in ``untrusted``. A text
block that is no JSON is an `UntrustedText`, which a transport marks beside the text. Pure; knows no tool.
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any, get_args

from findling.model.types import Role

FIELD = "untrusted"

ROLES: tuple[str, ...] = get_args(Role)
"""Fields of `symbols.related`."""

FIELDS = frozenset(
    (
        *("path", "p", "file_path", "filePath", "docPath", "filename", "id", "symbol_id", "further", "led_by"),
        *("name", "qualified_name", "scope", "signature", "pattern", "tags"),
        *(
            "snippet",
            "body",
            "chain",
            *ROLES,
            "text",
            "uses",
            "why",
            "gone",
            "tests",
            "documents",
            "content",
            "chunkText",
            "preview",
            "excerpt",
            "ex",
            "answer",
        ),
        *("title", "t", "header", "headings", "nextSteps"),
    )
)
"""Names of the fields in which a file's or a server's text may stand."""


class UntrustedText(str):
    """A text block that is a file's or a server's text, or has some in it."""

    __slots__ = ()


def marked(facts: dict[str, Any]) -> dict[str, Any]:
    """The answer with the names of its fields that hold such text; the same where none does."""
    found = sorted({name for name, value in _fields(facts) if name in FIELDS and _has_text(value)})
    return {**facts, FIELD: found} if found else facts


def _fields(value: Any) -> Iterator[tuple[str, Any]]:
    if isinstance(value, dict):
        yield from value.items()
        for inner in value.values():
            yield from _fields(inner)
    elif isinstance(value, list):
        for inner in value:
            yield from _fields(inner)


def _has_text(value: Any) -> bool:
    return bool(value) and (isinstance(value, str) or (isinstance(value, list) and isinstance(value[0], str)))
