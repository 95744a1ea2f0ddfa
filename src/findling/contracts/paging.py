"""Pages of a list that is too long for one answer: the cursor that leads to the next page. Pure.

A cursor is of one question, one state of what is searched and one way to order the results: pages of two orders would
repeat places and miss others, so a cursor that does not fit is refused.
"""

from __future__ import annotations

import hashlib
import json
import re
from typing import TYPE_CHECKING, Any

from msgspec import Struct

from findling.contracts.model import Arguments, Listing, Refusal

if TYPE_CHECKING:
    from findling.model.types import Answer

_CURSOR = re.compile(r"(\d{1,6})-([0-9a-f]{8})-([0-9a-f]{8})", re.ASCII)

_OF_THE_ANSWER = frozenset(("cursor", "max_tokens"))
"""Arguments that may differ from page to page: how long an answer may be does not change the list."""


class Page(Struct, frozen=True):
    """The page that a call asks for. ``question`` names the call; ``made_from`` what the page before it was made from,
    '' on the first page."""

    offset: int
    question: str
    made_from: str = ""


def made_from(answer: Answer, reranker: str = "none") -> str:
    """What the order of an answer's results depends on: the index, whether meaning had a part in it (an embedder may
    fail for one page only), and who reranked them."""
    meaning = answer.meaning
    by_meaning = meaning.ran and meaning.skipped in (None, "nothing")
    roots_by_words = [said.partition(": ")[0] for said in meaning.by_words]
    return json.dumps([answer.generation, by_meaning, roots_by_words, reranker])


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
            "Parameter `cursor` is stale: since the answer that gave it the index has changed, or the results are "
            "ordered another way. Ask again without it, from the first page.",
        )


def with_cursor(facts: dict[str, Any], items: str, whole_page: int, page: Page, listing: Listing) -> dict[str, Any]:
    """``facts`` with ``next_cursor`` where the list goes on. ``whole_page``: how many items the page had before any
    were cut from its end."""
    shown = len(facts[items]) if listing.shown is None else listing.shown
    if shown == whole_page:
        shown += len(facts.get("further", ()))
    end = page.offset + shown
    if not shown or end >= listing.total:
        return facts
    return {**facts, "next_cursor": f"{end}-{page.question}-{_digest(listing.made_from)}"}


def _digest(*texts: str) -> str:
    return hashlib.blake2b("\0".join(texts).encode("utf-8", "surrogatepass"), digest_size=4).hexdigest()
