"""How long an answer may be: whole items are dropped from the end of its list, and the answer says so. Pure."""

from __future__ import annotations

import bisect
import hashlib
import json
import math
import re
from typing import Any

from msgspec import Struct

from findling.contracts.model import Arguments, Listing, Refusal
from findling.model.text_encodings import escaped
from findling.model.types import CHARS_PER_TOKEN, Answer

DEFAULT_CHARS = 30_000
"""Clients show about 40,000 to 50,000 characters of an answer, then they cut it themselves."""

CODE_MAX_BYTES = 65_536
"""No answer of the code family is longer."""

NOTICE = 300
"""Characters for saying that an answer was cut."""

TEXTS = ("body", "chunkText", "content", "snippet", "preview")
"""Fields of results that are texts, which may be cut; the others are facts."""

CUT = "..."


def dumps(facts: Any) -> str:
    """The one JSON spelling of an answer: compact, characters as they are but for those that nobody sees."""
    return escaped(json.dumps(facts, ensure_ascii=False, allow_nan=False, separators=(",", ":")))


def allowed_chars(max_tokens: int | None) -> int:
    return DEFAULT_CHARS if max_tokens is None else max_tokens * CHARS_PER_TOKEN


def tokens(text: str) -> int:
    return math.ceil(len(text) / CHARS_PER_TOKEN)


def cut_to(facts: dict[str, Any], items: str, max_tokens: int | None, *, chars: int = DEFAULT_CHARS) -> dict[str, Any]:
    """``facts`` with as many of ``facts[items]`` as fit into ``max_tokens``, what stands beside them comes on top;
    without a number all is to fit into ``chars``. The same when they do.

    The first one always stays, its text cut where even that is too long. An answer that was cut says so, of the code
    family in its metadata, of others in ``truncated`` and ``omitted``.
    """
    if not items or not facts[items]:
        return facts
    every = facts[items]
    beside = {**facts, items: []}
    room = chars - len(dumps(beside)) if max_tokens is None else max_tokens * CHARS_PER_TOKEN
    bytes_left = CODE_MAX_BYTES - len(dumps(beside).encode()) - NOTICE if "metadata" in facts else None

    def fits(count: int) -> bool:
        text = dumps(every[:count])
        return len(text) <= room and (bytes_left is None or len(text.encode()) <= bytes_left)

    fitting = bisect.bisect_left(range(1, len(every) + 1), True, key=lambda count: not fits(count))
    if fitting:
        return _with(facts, items, fitting)
    kept = _with(facts, items, 1)
    return {**kept, items: [_shortened(every[0], room)]}


def _shortened(item: Any, room: int) -> Any:
    """An item with its longest texts cut, at the end of a line where there is one, until it fits or has none."""
    while isinstance(item, dict) and len(dumps([item])) > room:
        texts = {key: item[key] for key in TEXTS if len(item.get(key, "")) > len(CUT)}
        if not texts:
            break
        longest = max(texts, key=lambda key: len(texts[key]))
        text = texts[longest]

        def too_long(chars: int, item: dict[str, Any] = item, longest: str = longest, text: str = text) -> bool:
            return len(dumps([{**item, longest: text[:chars] + CUT}])) > room

        kept = text[: max(0, bisect.bisect_left(range(len(text)), True, key=too_long) - 1)]
        item = {**item, longest: (kept.rpartition("\n")[0] or kept) + CUT}
    return item


def _with(facts: dict[str, Any], items: str, count: int) -> dict[str, Any]:
    every = facts[items]
    kept = {**facts, items: every[:count]}
    omitted = len(every) - count
    if not omitted:
        return kept
    metadata = facts.get("metadata")
    if metadata is None:
        return {**kept, "truncated": True, "omitted": omitted}
    warning = f"{omitted} of {len(every)} {items} were left out to keep the answer short; ask for fewer or narrow down."
    complete = metadata.get("result_completeness")
    kept["metadata"] = {
        **metadata,
        "result_completeness": complete if complete == "partial" else "truncated",
        "warnings": [*metadata.get("warnings", ()), warning],
    }
    return kept


# --- paging -------------------------------------------------------------------------------------------------------
# Pages of a list that is too long for one answer: the cursor that leads to the next page. Pure.
#
# A cursor is of one question, one state of what is searched and one way to order the results: pages of two orders would
# repeat places and miss others, so a cursor that does not fit is refused.

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
