"""How far text alone answers a query: what its lists, names, paths and words say of each place. Pure.

What is made here is not the order of an answer, but what it is worth: how sure text is, and a score that means the
same from one question to the next.
"""

from __future__ import annotations

import math
import re
from collections.abc import Mapping, Sequence
from typing import NamedTuple

from findling.model import tokenizer
from findling.model.remembered import remembered
from findling.model.types import Intent

LIST_WEIGHTS: Mapping[Intent, Mapping[str, float]] = {
    "symbol": {"symbol": 3, "keyword": 1, "file": 0},
    "path": {"symbol": 0, "keyword": 0, "file": 3},
    "error": {"symbol": 0, "keyword": 3, "file": 1},
    "natural_language": {"symbol": 2, "keyword": 2, "file": 1},
}
"""How much a rank among definitions, texts and names of files says about a query of this intent."""

EXACT, QUALIFIED, IN_PATH = 5.0, 2.0, 1.0
"""The query is the name or the path; stands in the qualified name; stands in the path."""

TERMS, PHRASE = 2.5, 0.75
"""All of the query's words stand in the text; they stand there as they were typed."""

_WORD = re.compile(r"\w+")


def squash(value: float) -> float:
    """Evidence from 0 up to [0, 1): x / (x + 1); 0 for what is not a positive number."""
    return value / (value + 1.0) if math.isfinite(value) and value > 0 else 0.0


class Evidence(NamedTuple):
    """What of a hit depends on the query. ``rank`` is its weighted reciprocal rank over the lists."""

    rank: float = 0.0
    exact: float = 0.0
    qualified: float = 0.0
    path: float = 0.0
    text: float = 0.0

    @property
    def confidence(self) -> float:
        """In [0, 1): without the text match, which a question has with anything."""
        return squash(self.rank + self.exact + self.qualified + self.path)

    @property
    def score(self) -> float:
        """In [0, 1)."""
        return squash(self.rank + self.exact + self.qualified + self.path + self.text)


RRF_K = 60
"""The constant of reciprocal rank fusion (Cormack, Clarke, Büttcher 2009): how little a rank at the top counts more."""


def reciprocal_rank_fusion(lists: Mapping[str, Sequence[str]], weights: Mapping[str, float]) -> dict[str, float]:
    """Σ weight / (`RRF_K` + rank) over the lists, rank from 1; a list without weight counts 1, one of 0 not."""
    scores: dict[str, float] = {}
    for name, items in lists.items():
        weight = weights.get(name, 1.0)
        for rank, item in enumerate(dict.fromkeys(items if weight > 0 else ()), 1):
            scores[item] = scores.get(item, 0.0) + weight / (RRF_K + rank)
    return scores


def rank_parts(intent: Intent, lists: Mapping[str, Sequence[str]]) -> dict[str, float]:
    """Each path's weighted reciprocal rank over the lists symbol, keyword and file; a list without weight counts when
    the others found nothing."""
    return reciprocal_rank_fusion(lists, LIST_WEIGHTS[intent]) or reciprocal_rank_fusion(lists, {})


def evidence(
    query: str, *, rank: float, name: str, qualified_name: str, path: str, text: str, ignore: frozenset[str]
) -> Evidence:
    """How a hit answers a query. ``text`` is all that is known of it; ``ignore`` are words that say nothing."""
    core = core_name(query)
    qualified = _dotted(qualified_name)
    lower_path = path.lower()
    exact = bool(core) and (
        core in (name.lower(), qualified, lower_path)
        or qualified.endswith(f".{core}")
        or lower_path.endswith(f"/{core.lstrip('/')}")
    )
    return Evidence(
        rank=rank,
        exact=EXACT if exact else 0.0,
        qualified=QUALIFIED if core and core in qualified else 0.0,
        path=IN_PATH if core and core in lower_path else 0.0,
        text=(TERMS * shared_terms(query, text, ignore) + phrase(query, text)) if text else 0.0,
    )


_DECLARED = re.compile(
    r"(?:fn|func|def|struct|enum|trait|impl|class|function|interface|type|const|method|module|macro)\s+(\S+)",
    re.IGNORECASE,
)


def core_name(query: str) -> str:
    """The name or path that a query is, in lower case: without quotes, call brackets and the word that declares it."""
    text = query.strip().strip("\"'`").strip()
    declared = _DECLARED.fullmatch(text)
    text = declared[1] if declared else text
    text = text.removesuffix("()").removeprefix("$this->").lstrip("$@").lower()
    return text if "/" in text or "\\" in text else _dotted(text)


def _dotted(name: str) -> str:
    return name.lower().replace("::", ".").replace("->", ".").replace("#", ".")


def phrase(query: str, text: str) -> float:
    """`PHRASE` where a text holds the query as it was typed."""
    return PHRASE if query.strip().lower() in text.lower() else 0.0


def shared_terms(query: str, text: str, ignore: frozenset[str]) -> float:
    """The share of the query's terms that a text has, in any of their forms: "classified" and ``classify``."""
    wanted = _wanted(query, ignore)
    return len(wanted & _stems(text)) / len(wanted) if wanted else 0.0


@remembered(2)
def _wanted(query: str, ignore: frozenset[str]) -> frozenset[str]:
    """The stems of a query's terms, which each hit is compared with."""
    every = words(query)
    return frozenset(tokenizer.stem(word) for word in (every - ignore) or every)


def _stems(text: str) -> set[str]:
    return {stem for word in set(tokenizer.words(text)) for stem in _stems_of(word)}


@remembered(20_000)
def _stems_of(word: str) -> tuple[str, ...]:
    """The stems of a word and of its parts: files repeat theirs."""
    return tuple({tokenizer.stem(part) for part in (word.lower(), *tokenizer.parts(word))})


def words(text: str) -> set[str]:
    """The words of a text in lower case, but single letters."""
    return {word for word in _WORD.findall(text.lower()) if len(word) > 1}
