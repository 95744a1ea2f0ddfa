"""Which licence a repository and its folders are under, as their licence files say. Pure.

A folder counts as permissive when every licence file in it is recognised as a permissive licence and speaks of no
other; a folder without licence files of its own is under those of the folder above. What offers a choice between a
permissive and a copyleft licence, cannot be read or is not recognised does not count: what cannot be told for certain
is left out.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Mapping
from typing import NamedTuple

from findling.model.languages import language_of

RESTRICTED, UNKNOWN, UNREADABLE = "copyleft or restricted", "unknown", "unreadable"
SILENT = ""
"""Of a copyright line, or a pointer to other files: it says nothing by itself."""

_SILENT_CHARS = 600
"""Longer texts say more than who wrote it and where its licence is."""

_NAME = re.compile(r"licen[cs]e|^copying|[-_.]copying(\.\w+)?$|^copyright", re.IGNORECASE)
_PAGE = re.compile(r"\.(md|mdx|rst|adoc|html?)\b", re.IGNORECASE)
_PAGE_NAME = re.compile(r"^((un)?licen[cs]e|copying|copyright)\b|licen[cs]e\.\w+$", re.IGNORECASE)
"""Below the root, a ``licenses.md`` or ``0044-license-names.md`` is a text about licences."""
_COPYRIGHT_NAME = re.compile(r"(^|/)copyright[^/]*$", re.IGNORECASE)
_DOCUMENTATION = re.compile(r"(?:.*?/)?(docs?|documentation)(?=/)", re.IGNORECASE)
_FOLDER = re.compile(r"LICEN[CS]ES?")
"""In capitals as REUSE has it: the texts of what stands beside it. A ``licenses`` holds those of bundled works."""

_SPACE = re.compile(r"[\s*#>\"'“”`|]+")

_LINKING_EXCEPTION = re.compile(r"licensed under the gplv2 \( ?combined software ?\).{0,300}?conditions of the gplv2")
"""The LLVM exception to Apache-2.0 grants more, where the other side is under the GPL."""

_COMMONS = re.compile(r"creative commons")

_RESTRICTED = tuple(
    re.compile(text)
    for text in (
        r"gnu (\w+ ){0,3}public licen",
        r"\b(?<!compatible with )(?<!compatible with the )[al]?gpl(?!s?[- ]?compatib)",
        r"mozilla public|\bmpl\b",
        r"eclipse public|\bepl[ -]",
        r"common development and distribution|\bcddl",
        r"european union public|\beupl",
        r"open software licen|\bcecill|reciprocal (public )?licen|open database licen|open font licen|qt public licen",
        r"how to obtain complete source code",  # Sleepycat
        r"(business|functional|sustainable) (source|use) licen|\bfsl-|\bbusl|fair source|competing use",
        r"server side public|\bsspl|elastic licen|confluent community|polyform|prosperity public|parity public",
        r"commons clause",
        r"\bcc[- ]by|attribution[- ](sharealike|noncommercial|noderiv|\d\.0)|share-?alike",
        r"(?<!commercial or )(?<!commercial and )non-?commercial|no commercial|not for commercial",
        r"(personal|educational|academic|internal|evaluation) (use|purposes?) only|only for \w+ (use|purpose)",
        r"hippocratic|human rights|not evil|do no harm|ethical source|\b996\W?icu",
        r"proprietary|confidential|all rights reserved\.? no part|\bdo not (copy|distribute|use)",
        r"\b(?<!or )(may|must|shall|can) ?not (?!include works that remain|be construed"
        r"|use this file except in compliance|be used (to|in adv|in conn)|be misrepresented|be removed or altered"
        r"|be called|be subject to revocation|invalidate the|claim|be held|be liable|apply)",
    )
)
"""In any part of a text; the last is a prohibition that permissive licences don't have."""

_PERMISSIVE = (
    ("Apache-2.0", "apache license version 2.0, january 2004"),
    ("Apache-2.0", "licensed under the apache license version 2.0"),
    ("MIT", "permission is hereby granted, free of charge, to any person obtaining a copy of this software and"),
    ("BSL-1.0", "boost software license - version 1.0"),
    ("ISC", "permission to use, copy, modify, and/or distribute this software for any purpose with or without fee"),
    ("ISC", "permission to use, copy, modify, and distribute this software for any purpose with or without fee"),
    ("BSD", "redistribution and use in source and binary forms, with or without modification, are permitted"),
    ("Zlib", "this software is provided as-is, without any express or implied warranty. in no event will the"),
    ("Zlib", "this software is provided as is , without any express or implied warranty. in no event will the"),
    ("Unlicense", "this is free and unencumbered software released into the public domain"),
    (
        "PostgreSQL",
        "permission to use, copy, modify, and distribute this software and its documentation for any purpose",
    ),
    ("Unicode", "permission is hereby granted, free of charge, to any person obtaining a copy of data files and any"),
    (
        "Unicode",
        "permission is hereby granted, free of charge, to any person obtaining a copy of the unicode data files",
    ),
    ("CC0-1.0", "cc0 1.0 universal"),
)

_POINTER = re.compile(
    r"(licensed|available) under .*\b(mit|apache|bsd|isc|unlicense|zlib|boost|licenses found in)\b"
    r"|include\W+(\.\./)+licen[cs]e"
)
_COPYRIGHT_LINE = re.compile(r"(?!.*(licen|permi|reserv|distrib|\buse))(copyright|\(c\)|©|\d{4})[^.;:]*\.?")


class Licence(NamedTuple):
    """``name`` as the usual short names, joined by " AND "; ``permissive`` when all of it is."""

    name: str
    permissive: bool


def governed_folder(path: str) -> str | None:
    """The folder ('' is the root) that the file at ``path`` states the licence of; None when it is no licence file."""
    parent, _, name = path.rpartition("/")
    above, _, folder = parent.rpartition("/")
    if _FOLDER.fullmatch(folder):
        return None if "trademark" in name.lower() else above
    language = language_of(name)
    if name.startswith(".") or not _NAME.search(name) or (language is not None and language.kind != "docs"):
        return None  # a list of headers to check, or code about licences
    return None if parent and _PAGE.search(name) and not _PAGE_NAME.search(name) else parent


def identify(text: str) -> str:
    """The licence of a text, as its usual short name: of a permissive one, `RESTRICTED`, `UNKNOWN` or `SILENT`."""
    plain = _SPACE.sub(" ", text).lower().replace("apache license, version", "apache license version").strip()
    plain = _LINKING_EXCEPTION.sub("", plain)
    if any(pattern.search(plain) for pattern in _RESTRICTED):
        return RESTRICTED
    if "cc0 1.0 universal" not in plain and _COMMONS.search(plain):
        return RESTRICTED
    for name, phrase in _PERMISSIVE:
        if phrase in plain:
            return name
    short = len(plain) <= _SILENT_CHARS
    return SILENT if short and (_POINTER.search(plain) or _COPYRIGHT_LINE.fullmatch(plain)) else UNKNOWN


def licences(files: Mapping[str, str | None]) -> dict[str, Licence]:
    """The licence of each folder that states one, from the texts of licence files by path; None is an unreadable one.

    Files that are no licence files count for nothing."""
    found: dict[str, set[str]] = {}
    for path, text in files.items():
        folder = governed_folder(path)
        if folder is None:
            continue
        name = UNREADABLE if text is None else identify(text)
        if name == UNKNOWN and folder and _COPYRIGHT_NAME.search(path):
            name = SILENT  # who has it, or how a page shows that
        manual = _DOCUMENTATION.match(path)
        if name == RESTRICTED and manual and _PAGE.search(path):
            folder = manual.group(0)  # such a page of a manual, in whatever chapter it stands, speaks for all of it
        found.setdefault(folder, set()).add(name)
    permissive = {name for name, _ in _PERMISSIVE}
    return {
        folder: Licence(" AND ".join(sorted(names - {SILENT})), names - {SILENT} <= permissive)
        for folder, names in found.items()
        if names != {SILENT}
    }


def stating_folder(path: str, stated: Iterable[str]) -> str:
    """The nearest of the folders ``stated`` above the file at ``path``; '', the root, when there is none."""
    folder = path.rpartition("/")[0]
    while folder and folder not in stated:
        folder = folder.rpartition("/")[0]
    return folder
