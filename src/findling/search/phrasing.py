"""What a question says without the marks and courtesies around it, so that they change no answer. Pure."""

from __future__ import annotations

import re

_BEFORE = re.compile(
    r"[¿¡]?(?:(?:hi|hello|hey)[,!.]*\s+(?=(?:can|could|give|find|please|show|tell|will|would)\b))?"
    r"(?:(?:(?:can|could|would|will) you\s+)?(?:"
    r"(?:please,?\s+)?(?:show|tell|give|find)\s+me\b(?:\s+please\b)?[\s:,]+"
    r"|please(?:[:,]\s+|\s+(?=(?:explain|find|how|list|show|what|when|where|which|who|why)\b))"
    r"))?[¿¡]?",
    re.IGNORECASE,
)
"""Begins what somebody asks politely. A program's message may begin with "Please" as well, so a mark or a verb of
asking has to follow."""

_AFTER = re.compile(
    r"(?:[,;.!?]*\s+(?:please|pls)|[,;.!?]\s*\s(?:thanks(?: a lot| in advance)?|thank you(?: very much)?|thx))?"
    r"[\s.!?？。！…]*$",
    re.IGNORECASE,
)

_LONGEST_END = 80
"""Characters at the end that are looked at: more than a courtesy takes."""


def without_form(text: str) -> str:
    """The text without an end mark and without "please show me" and "thanks"; as it is where nothing else is said."""
    text = text.strip()
    end = max(0, len(text) - _LONGEST_END)
    found = _AFTER.search(text, end)
    kept = text[: found.start()] if found else text
    begins = _BEFORE.match(kept)
    said = kept[begins.end() :] if begins else kept
    return said.strip() or text
