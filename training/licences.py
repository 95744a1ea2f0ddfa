"""Which licence a repository is under, as its licence files say. Pure.

A repository counts as permissive when every licence file at its root is recognised as a permissive licence. One that
offers a choice between a permissive and a copyleft licence does not: what cannot be told for certain is left out.
"""

from __future__ import annotations

import re
from collections.abc import Mapping

LICENCE_FILE = re.compile(r"(?:un)?licen[cs]e|copying|copyright|mit-license", re.IGNORECASE)
"""How the name of a licence file begins; it stands at the root."""

_HEAD_CHARS = 6000
"""Where a licence names itself; lists of bundled works stand behind."""

_SPACE = re.compile(r"[\s*#>\"'“”`|]+")

_COPYLEFT = tuple(
    re.compile(text)
    for text in (
        r"gnu (affero |lesser |library )?general public licen",
        r"\b[al]?gpl(v|-)?[23]",
        r"mozilla public licen",
        r"eclipse public licen",
        r"common development and distribution",
        r"business source licen",
        r"server side public licen",
        r"elastic licen",
        r"creative commons",
        r"attribution[- ](sharealike|noncommercial|4\.0|3\.0)",
        r"commons clause",
        r"european union public licen",
        r"all rights reserved\.? no part",
        r"sustainable use licen",
    )
)

_PERMISSIVE = (
    ("Apache-2.0", "apache license version 2.0"),
    ("Apache-2.0", "licensed under the apache license, version 2.0"),
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
    ("CC0-1.0", "cc0 1.0 universal"),
)


def identify(text: str) -> str:
    """The licence of a text, as its usual short name: of a permissive one, 'copyleft or restricted', or 'unknown'."""
    plain = _SPACE.sub(" ", text[:_HEAD_CHARS]).lower().replace("apache license, version", "apache license version")
    cc0 = "cc0 1.0 universal" in plain
    if not cc0 and any(pattern.search(plain) for pattern in _COPYLEFT):
        return "copyleft or restricted"
    for name, phrase in _PERMISSIVE:
        if phrase.replace("license, version", "license version") in plain:
            return name
    return "unknown"


def licence_of(files: Mapping[str, str]) -> tuple[str, bool]:
    """The licences of a root's licence files (name -> text) joined by " AND ", and whether all are permissive."""
    found = sorted({identify(text) for name, text in files.items() if LICENCE_FILE.match(name)})
    permissive = {name for name, _ in _PERMISSIVE}
    known = [name for name in found if name != "unknown"]
    # A COPYRIGHT or a pointer to the other files says nothing by itself.
    return " AND ".join(known) or "none found", bool(known) and all(name in permissive for name in known)
