"""Pages of a list that is too long for one answer: the cursor that leads to the next page. Pure.

A cursor is of one question and of one state of what is searched: pages of two orders would repeat places and miss
others, so a cursor that does not fit is refused.
"""

from __future__ import annotations

import hashlib
import json
import re
from typing import Any

from msgspec import Struct

from findling.contracts.model import Arguments, Listing, Refusal

_CURSOR = re.compile(r"(\d{1,6})-([0-9a-f]{8})-([0-9a-f]{8})", re.ASCII)

_OF_THE_ANSWER = frozenset(("cursor", "max_tokens"))
"""Arguments that may differ from page to page: how long an answer may be does not change the list."""


class Page(Struct, frozen=True):
    """The page that a call asks for. ``question`` names the call; ``made_from`` what the page before it was made from,
    '' on the first page."""

    offset: int
    question: str
    made_from: str = ""


def page_of(tool: str, given: Arguments) -> Page:
    """Raises `Refusal` for a cursor that no answer gave, or that the answer to another question gave."""
    asked = {key: value for key, value in given.items() if key not in _OF_THE_ANSWER}
    question = _digest(tool, json.dumps(asked, sort_keys=True))
    cursor = given.get("cursor")
    if cursor is None:
        return Page(0, question)
    found = _CURSOR.fullmatch(cursor)
    if found is None:
        raise Refusal("invalid_input", "Parameter `cursor` must be the next_cursor of an answer.")
    if found[2] != question:
        raise Refusal(
            "invalid_input",
            "Parameter `cursor` belongs to another question: repeat the arguments of the answer that gave it; "
            "only max_tokens may differ.",
        )
    return Page(int(found[1]), question, found[3])


def check(page: Page, listing: Listing) -> None:
    """Raises `Refusal` (``cursor_stale``) where the page before was made from something else than this list."""
    if page.made_from and page.made_from != _digest(listing.made_from):
        raise Refusal(
            "cursor_stale",
            "Parameter `cursor` is stale: the index has changed since the answer that gave it. "
            "Ask again without it, from the first page.",
        )


def with_cursor(facts: dict[str, Any], items: str, whole_page: int, page: Page, listing: Listing) -> dict[str, Any]:
    """``facts`` with ``next_cursor`` where the list goes on. ``whole_page``: how many items the page had before any
    were cut from its end."""
    shown = len(facts[items])
    if shown == whole_page:
        shown += len(facts.get("further", ()))
    end = page.offset + shown
    if not shown or end >= listing.total:
        return facts
    return {**facts, "next_cursor": f"{end}-{page.question}-{_digest(listing.made_from)}"}


def _digest(*texts: str) -> str:
    return hashlib.blake2b("\0".join(texts).encode("utf-8", "surrogatepass"), digest_size=4).hexdigest()
