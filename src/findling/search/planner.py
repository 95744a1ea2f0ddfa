"""Which channels a query asks and which signals count. Pure."""

from __future__ import annotations

import re
from typing import NamedTuple

from findling.model.types import Channel, Intent, Mode
from findling.search.intent import quotation
from findling.search.ranking import formula
from findling.search.ranking.ranker import Evidence

_ALL: frozenset[Channel] = frozenset(("keyword", "symbol", "semantic"))
_CHANNELS: dict[Mode, frozenset[Channel]] = {
    "auto": _ALL,
    "hybrid": _ALL,
    "keyword": frozenset(("keyword",)),
    "symbol": frozenset(("symbol",)),
    "semantic": frozenset(("semantic",)),
    "exact": frozenset(("exact",)),
}
_SEMANTIC_SIGNALS = frozenset(("window",))
_SYMBOL_SIGNALS = formula.OF_NAMES

QUOTED = re.compile(r"[\"`\u201c]([^\"`\u201d]{0,200})[\"`\u201d]")
_MIN_QUOTED = 3
_IN_NO_LINE = re.compile(r"[\n\0\ud800-\udfff]")
CODE = re.compile(
    r"\w{1,60}(?:::~?\w{1,60}){1,4}|"  # Backup::transfer
    r"[A-Z][A-Z0-9]{0,30}(?:_[A-Z0-9]{1,30}){2,10}|"  # A_LONG_CONSTANT
    r"[a-z]\w{0,40}(?:\.[a-z][\w-]{0,40}){2,6}"  # tool.coverage.run
)
"""Queries that are a piece of code, or a key of a configuration. A mere name is none: its definition is wanted."""

LABEL = re.compile(
    r"^[^\S\n]*(?:[\w.]{0,100}\b[A-Z]\w*|(?i:error|exception|panic|fatal|warning))(?:\[[^\[\]\s]*\])?:\s+", re.MULTILINE
)
"""What is put before a message: its class, its level. The source has it elsewhere, if at all."""

PLACEHOLDER = re.compile(
    r"[\n\0\ud800-\udfff]|Traceback \([^)\n]{0,100}\):|(?:0x)?\d[\w.:]*|[/\\]\S+|"
    r"'[^']{0,200}'|<[^>]{0,200}>|%\w|\{[^}]{0,200}\}"
)
"""What a running program puts into a message: numbers, paths, quoted values. The source holds none of them,
nor what is no text."""

_MIN_MESSAGE, _MAX_MESSAGE = 8, 200
"""Shorter pieces of a message stand everywhere; of longer ones the beginning says enough."""


class Plan(NamedTuple):
    """``channels`` to ask; ``priors``: whether tests, examples and the like are held back unless asked for.

    ``exact_text``: what is also looked for to the letter, '' for nothing. ``is_code``: that is the whole query.
    """

    mode: Mode
    intent: Intent
    channels: frozenset[Channel]
    priors: bool
    exact_text: str = ""
    is_code: bool = False

    def signals(self, evidence: Evidence) -> frozenset[str]:
        """The signals that count, given what the channels could do."""
        if self.mode == "semantic":
            return _SEMANTIC_SIGNALS
        if self.mode == "symbol":
            return _SYMBOL_SIGNALS
        return formula.WITH_VECTORS if evidence.cosines else formula.TEXT_ONLY


def plan(mode: Mode, intent: Intent, text: str) -> Plan:
    """``auto`` asks every channel that helps; the other modes ask what they are named after."""
    is_code = mode == "auto" and CODE.fullmatch(text) is not None
    exact_text = ""
    if mode == "exact" or is_code:
        exact_text = text
    elif mode == "auto":
        exact_text = literal_part(text, intent)
    return Plan(mode, intent, _CHANNELS[mode], priors=mode != "semantic", exact_text=exact_text, is_code=is_code)


def literal_part(text: str, intent: Intent) -> str:
    """What of a query probably stands in the source as it is: a quotation, or the fixed part of an error message."""
    for inside in (quotation(text.strip()), *(quoted[1].strip() for quoted in QUOTED.finditer(text))):
        if len(inside) >= _MIN_QUOTED and not _IN_NO_LINE.search(inside):
            return inside
    if intent != "error":
        return ""
    pieces = [piece.strip(" :,.;()[]") for piece in PLACEHOLDER.split(LABEL.sub("", text))]
    longest = max(pieces, key=len, default="")
    return longest[:_MAX_MESSAGE].rstrip() if len(longest) >= _MIN_MESSAGE else ""
