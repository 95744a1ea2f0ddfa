"""The docs family: documents by meaning and by their words, what is like a document, answers in their own words.

What each tool takes; what it does is in a module that is loaded when it is first called, for a server lists its tools
before it needs any of them.
"""

from __future__ import annotations

from importlib import import_module
from typing import cast

from findling.contracts import parameters
from findling.contracts.model import Arguments, Call, Handler, Reply, Schema, Tool, object_schema

MAX_TAGS = 50

PLAN_ID: Schema = {
    "type": "string",
    "minLength": 1,
    "maxLength": 200,
    "description": "Only this plan: its number (4) or its folder (0004-feature-name) below plans/.",
}
PATH_PREFIX: Schema = {
    "type": "string",
    "minLength": 1,
    "maxLength": parameters.MAX_PATH,
    "description": "Only documents whose path begins so: a folder, or the beginning of a name.",
}
TAGS: Schema = {
    "type": "array",
    "items": {"type": "string", "minLength": 1, "maxLength": 200},
    "maxItems": MAX_TAGS,
    "description": "Only documents that have all of these tags in their front matter.",
}


def _late(module: str, name: str) -> Handler:
    def handler(call: Call, given: Arguments) -> Reply:
        return cast("Handler", getattr(import_module(f"findling.contracts.{module}"), name))(call, given)

    return handler


_QUERY = "A question or topic, in words."
_SEARCH = {"max_tokens": parameters.TOKENS, "ref": parameters.REF}
_SCOPE = {"planId": PLAN_ID, "pathPrefix": PATH_PREFIX}

TOOLS: tuple[Tool, ...] = (
    Tool(
        "semantic_search",
        "docs",
        "Find passages of documents by meaning, when you do not know the words that they use. Returns path, text, "
        "heading, lines and similarity of the nearest passages; meta tells what fell below the threshold.",
        object_schema(
            {
                "query": parameters.query(_QUERY),
                "limit": parameters.count(10, 100),
                "threshold": parameters.share(
                    "Leave out passages less similar than this; the configured similarityThreshold (0.7) if left out."
                ),
                **_SCOPE,
                **_SEARCH,
            },
            ("query",),
        ),
        _late("docs_meaning", "semantic_search"),
    ),
    Tool(
        "find_similar",
        "docs",
        "Find documents that are like one, or with FILE:LINE like a place in one; a source file finds code too. "
        "Returns path, similarity and beginning of each.",
        object_schema(
            {
                "docPath": parameters.path("A file relative to the root, or FILE:LINE."),
                "limit": parameters.count(5, 100),
                **_SEARCH,
            },
            ("docPath",),
        ),
        _late("docs_meaning", "find_similar"),
    ),
    Tool(
        "reindex_vectors",
        "docs",
        "Bring the vectors of documents up to date and wait for it; with force, or after the embedding model was "
        "changed, make them anew. Searching does the former by itself.",
        object_schema(
            {
                "force": parameters.flag("Make them anew even where nothing changed."),
                "pathPrefix": PATH_PREFIX,
            }
        ),
        _late("docs_reindex", "reindex_vectors"),
        writes=True,
    ),
    Tool(
        "query_docs",
        "docs",
        "Answer a question about the project in the words of its documents: short, from the passages that say it, "
        "with the sources. The first tool for how, why and where questions that documentation answers.",
        object_schema(
            {
                "query": parameters.query(_QUERY),
                "scope": {
                    **object_schema({**_SCOPE, "tags": TAGS}),
                    "description": "Only some of the documents.",
                },
                "preferSemantic": parameters.flag("Search by meaning too, where that is possible.", default=True),
                **_SEARCH,
            },
            ("query",),
        ),
        _late("docs_answer", "query_docs"),
        first=True,
    ),
    Tool(
        "search_docs",
        "docs",
        'Find documents by their words: full text with counts, the best line and an excerpt. "Quotation marks" make '
        "a phrase; nothing else is syntax. For names, options and messages; query_docs answers questions.",
        object_schema(
            {
                "query": parameters.query("Words, or a phrase in quotation marks."),
                "limit": parameters.count(20, 100),
                **_SCOPE,
                "tags": TAGS,
                "searchContent": parameters.flag("Search the text.", default=True),
                "searchFrontmatter": parameters.flag("Search the front matter."),
                "caseSensitive": parameters.flag("Capital letters count, and words are taken as they are."),
                "prettyPrint": parameters.flag("Write the names of fields out: path, title, excerpt and so on."),
                **_SEARCH,
            },
            ("query",),
        ),
        _late("docs_matches", "search_docs"),
    ),
)
