"""Definitions found by text alone, for languages with braces whose preprocessor or novelties defeat the grammar.

Used only where a tree has errors, and only for what the tree did not show. Knows no tree.
"""

from __future__ import annotations

from findling.ingest.syntax_grammars.model import Grammar
from findling.ingest.syntax_walk import Found


def dialect(text: bytes, language: str) -> str:
    return language


def add_missing(found: Found, text: bytes, table: Grammar) -> Found:
    return found
