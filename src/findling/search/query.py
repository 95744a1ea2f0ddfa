"""Arguments to a `Query`: validated once, for every transport. Pure."""

from __future__ import annotations

from collections.abc import Sequence

from findling.errors import InvalidInput
from findling.types import MODES, Query

MAX_LIMIT = 1000
LINE_DIGITS = 18
"""Of the number of a line; no file has a line whose number is longer, nor one whose number begins so."""

MAX_QUERY = 100_000
"""Characters of a query that are searched for: a whole issue or log. More adds time, not meaning."""


def shortened(text: str) -> tuple[str, str]:
    """A query as far as it is searched for, and the note that it was cut; '' for one that was not."""
    if len(text) > MAX_QUERY:
        text = text.strip()
    if len(text) <= MAX_QUERY:
        return text, ""
    return text[:MAX_QUERY], f"The query has {len(text):,} characters; only the first {MAX_QUERY:,} were searched for."


def validate(
    text: str,
    *,
    limit: int = 10,
    mode: str = "auto",
    language: str | None = None,
    path_globs: Sequence[str] = (),
    kind: str | None = None,
    max_tokens: int | None = None,
    explain: bool = False,
) -> Query:
    """The query, or `InvalidInput` that names the argument and the valid values. ``language`` is a known id.

    A long text is cut, which the query notes.
    """
    text, cut = shortened(text)
    if not text.strip():
        raise InvalidInput("The query is empty.", remedy="Say what to look for.")
    if not 1 <= limit <= MAX_LIMIT:
        raise InvalidInput(f"limit must be between 1 and {MAX_LIMIT}, not {limit}.")
    if mode not in MODES:
        raise InvalidInput(f"mode must be one of {', '.join(MODES)}, not {mode!r}.")
    if kind not in (None, "code", "docs"):
        raise InvalidInput(f"kind must be code or docs, not {kind!r}.")
    if max_tokens is not None and max_tokens < 1:
        raise InvalidInput(f"max_tokens must be at least 1, not {max_tokens}.")
    return Query(
        text=text,
        limit=limit,
        mode=mode,
        language=language,
        path_globs=tuple(path_globs),
        kind="code" if kind == "code" else "docs" if kind == "docs" else None,
        max_tokens=max_tokens,
        explain=explain,
        notes=(cut,) if cut else (),
    )


def split_target(target: str) -> tuple[str, int | None]:
    """``FILE`` or ``FILE:LINE`` taken apart; a name that only looks so is the caller's to try whole.

    That there is such a line is not said: it may be 0.
    """
    path, colon, line = target.rpartition(":")
    if colon and path and line.isdecimal():
        return path, int(line[:LINE_DIGITS])
    return target, None
