"""What a model wants to stand before a text: its task prefixes, by the model's name. Pure.

A model that was trained with prefixes finds much less without them, and no server adds them. The scheme's name is part
of the fingerprint, so that vectors made with other prefixes are never compared.
"""

from __future__ import annotations

import re
from dataclasses import dataclass
from typing import Final


@dataclass(frozen=True, slots=True)
class Prefixes:
    """``scheme`` names them; raise the number in it when a text changes."""

    scheme: str
    query: str = ""
    document: str = ""


NONE: Final = Prefixes("none")

_SENTENCES: Final = "Represent this sentence for searching relevant passages: "

_BY_NAME: Final[tuple[tuple[str, Prefixes], ...]] = (
    (r"nomic-?embed-?code", Prefixes("nomic-code-1", "Represent this query for searching relevant code: ")),
    (r"nomic-?embed", Prefixes("nomic-1", "search_query: ", "search_document: ")),
    (r"mxbai-?embed", Prefixes("mxbai-1", _SENTENCES)),
    (r"snowflake-arctic-embed", Prefixes("arctic-1", _SENTENCES)),
    (r"bge-m3", NONE),
    (r"bge-.*(zh|multilingual)", NONE),
    (r"bge-", Prefixes("bge-1", _SENTENCES)),
    (r"multilingual-e5.*instruct", NONE),
    (r"(^|[-_/])e5-", Prefixes("e5-1", "query: ", "passage: ")),
    (r"embedding-?gemma", Prefixes("embeddinggemma-1", "task: search result | query: ", "title: none | text: ")),
    (
        r"qwen3-embedding",
        Prefixes(
            "qwen3-1",
            "Instruct: Given a web search query, retrieve relevant passages that answer the query\nQuery: ",
        ),
    ),
)
"""The first that a name holds; names come with and without their owner, in any case."""


def prefixes_of(model: str) -> Prefixes:
    """By the model's name, such as ``nomic-embed-text:latest`` or ``BAAI/bge-small-en-v1.5``."""
    name = model.lower()
    return next((prefixes for pattern, prefixes in _BY_NAME if re.search(pattern, name)), NONE)
