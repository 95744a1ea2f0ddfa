"""The head of a document between two rules: its fields, its tags and its title. Pure; reads no files.

YAML as heads of documents use it (scalars, lists in brackets or by dashes, one level) and TOML. What is not
well-formed is no field; nothing in a head is ever run or resolved.
"""

from __future__ import annotations

import re
import tomllib
from collections.abc import Iterable, Mapping
from typing import Any

from msgspec import Struct

HEAD_CHARS = 16_000
"""A head ends within this much text, else the first line is a rule."""

TAG_FIELDS = ("tags", "tag")

_HEAD = re.compile(r"\ufeff?(---|\+\+\+)[ \t]*\r?\n((?:[^\n]*\n)*?)(?:\1|\.\.\.)[ \t]*(?:\r?\n|\Z)")
_FIELD = re.compile(r"([A-Za-z_](?:[\w .-]*[\w.-])?)[ \t]*:(?:[ \t]+(.*))?$")
_ITEM = re.compile(r"[ \t]*-[ \t]+(.*)$")
_PIECE = re.compile(r"\"((?:[^\"\\]|\\.)*)\"|'((?:[^']|'')*)'|([^,\[\]\s\"'][^,\[\]]*)")


class FrontMatter(Struct, frozen=True):
    """``fields``: values by name as written there, a list for each. ``end``: where the document itself begins."""

    fields: Mapping[str, tuple[str, ...]] = {}
    end: int = 0

    @property
    def tags(self) -> frozenset[str]:
        """As `normal_tag` writes them."""
        found: set[str] = set()
        for name in TAG_FIELDS:
            for value in self.fields.get(name, ()):
                found.update(_split_tags(value))
        return frozenset(found)

    @property
    def title(self) -> str:
        return " ".join(" ".join(self.fields.get("title", ())).split())


def front_matter(text: str) -> FrontMatter:
    """The head of a document; one without fields when it has none."""
    found = _HEAD.match(text, 0, HEAD_CHARS)
    if found is None or not (":" in found[2] or "=" in found[2]):
        return FrontMatter()
    fields = _toml(found[2]) if found[1] == "+++" else _yaml(found[2])
    return FrontMatter(fields, found.end())


def normal_tag(tag: str) -> str:
    """The spelling under which tags are compared: without ``#`` in front and without regard to case."""
    return tag.strip().lstrip("#").strip().casefold()


def _split_tags(value: str) -> Iterable[str]:
    """Tags of one string: between commas; between blanks where each begins with ``#``."""
    pieces = value.split(",")
    if len(pieces) == 1 and all(piece.startswith("#") for piece in value.split()):
        pieces = value.split()
    return (tag for piece in pieces if (tag := normal_tag(piece)))


def _toml(text: str) -> dict[str, tuple[str, ...]]:
    try:
        values: Mapping[str, Any] = tomllib.loads(text.replace("\r\n", "\n"))
    except (tomllib.TOMLDecodeError, RecursionError):
        return {}
    fields = {name.lower(): _strings(value) for name, value in values.items()}
    terms = values.get("taxonomies")
    if isinstance(terms, Mapping):
        fields = {name.lower(): _strings(value) for name, value in terms.items()} | fields
    return fields


def _strings(value: Any) -> tuple[str, ...]:
    if isinstance(value, list):
        return tuple(str(item) for item in value if not isinstance(item, dict | list))
    return () if isinstance(value, Mapping) else (str(value),)


def _yaml(text: str) -> dict[str, tuple[str, ...]]:
    fields: dict[str, tuple[str, ...]] = {}
    name = ""
    unclosed = ""
    for line in text.splitlines():
        if unclosed:  # a list in brackets over several lines
            unclosed += " " + _without_comment(line)
            if "]" in line:
                fields[name], unclosed = _inline(unclosed), ""
            continue
        if found := _ITEM.match(line):
            if name and (value := _inline(_without_comment(found[1]), whole=True)):
                fields[name] = (*fields[name], *value)
        elif found := _FIELD.match(line):
            name = found[1].lower()
            value_text = _without_comment(found[2] or "")
            if value_text.startswith("[") and "]" not in value_text:
                unclosed, fields[name] = value_text, ()
            else:
                fields[name] = _inline(value_text, whole=not value_text.startswith("["))
        elif line[:1] not in ("", " ", "\t", "#"):
            name = ""
    return fields


def _inline(text: str, *, whole: bool = False) -> tuple[str, ...]:
    """The values of a list in brackets, or the one value of a scalar (``whole``)."""
    text = text.strip()
    if whole:
        found = _PIECE.fullmatch(text) if text[:1] in "\"'" else None
        value = _unquoted(found) if found else text
        return (value,) if value and value not in ("|", ">", "|-", ">-", "null", "~", "{}") else ()
    return tuple(value for piece in _PIECE.finditer(text.strip("[]")) if (value := _unquoted(piece)))


def _unquoted(piece: re.Match[str]) -> str:
    if piece[1] is not None:
        return piece[1].replace('\\"', '"').replace("\\\\", "\\")
    if piece[2] is not None:
        return piece[2].replace("''", "'")
    return piece[3].strip()


def _without_comment(text: str) -> str:
    """A value without the comment behind it; a ``#`` inside quotes, or right after a word, is no comment."""
    text = text.strip()
    if text[:1] in "\"'":
        return text
    found = re.search(r"(?:^|\s)#(?:\s|$)", text)
    return text[: found.start()].rstrip() if found else text
