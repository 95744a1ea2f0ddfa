"""Which channels a query asks and which signals count. Pure."""

from __future__ import annotations

from dataclasses import dataclass

from findling.search.ranking import Evidence, formula
from findling.types import Channel, Intent, Mode

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
_SYMBOL_SIGNALS = frozenset(("definition", "file", "stem", "test", "example", "legacy", "platform", "generated"))


@dataclass(frozen=True, slots=True)
class Plan:
    """``channels`` to ask; ``priors``: whether tests, examples and the like are held back unless asked for."""

    mode: Mode
    intent: Intent
    channels: frozenset[Channel]
    priors: bool

    def signals(self, evidence: Evidence) -> frozenset[str]:
        """The signals that count, given what the channels could do."""
        if self.mode == "semantic":
            return _SEMANTIC_SIGNALS
        if self.mode == "symbol":
            return _SYMBOL_SIGNALS
        return formula.WITH_VECTORS if evidence.cosines else formula.TEXT_ONLY


def plan(mode: Mode, intent: Intent) -> Plan:
    """``auto`` asks every channel that helps; the other modes ask what they are named after."""
    return Plan(mode, intent, _CHANNELS[mode], priors=mode != "semantic")
